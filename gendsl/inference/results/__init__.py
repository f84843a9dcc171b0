"""What `sample` returns, and what can be asked of it: summaries, diagnoses, predictions."""
