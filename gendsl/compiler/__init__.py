"""From a user's function to the code that runs: source, fence, rewrite, build, render, in that order."""
