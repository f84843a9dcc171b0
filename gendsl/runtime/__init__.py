"""How programs run: executions, the traces they leave, and the operations on these."""
