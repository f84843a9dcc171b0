"""The command line, `gendsl`: one module for each group of commands, and `main` that chooses among them."""
