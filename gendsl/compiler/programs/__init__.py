"""What becomes of a program in a text: its log density, its sampler, what it returned for a trace."""
