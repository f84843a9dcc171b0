"""Passes: from HIR to HIR that says the same, and is quicker.

`invariants.simplify` says which run, and in what order; `axes` finds the loops whose iterations run in lanes.
"""
