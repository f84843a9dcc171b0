"""Maps between traces: their language, their derivatives, and the checks that they are what they claim."""
