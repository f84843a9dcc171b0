"""The kinds of coordinates of a choice, in which Jacobians are taken; `front.coordinates` finds them."""

from __future__ import annotations

DISCRETE, NUMBER, ENTRIES, WEIGHTS, UNKNOWN, TRIANGLE = range(6)
"""None; one; one for each entry; one for each entry but the last; not known; one for each entry on and below
the diagonal of a symmetric matrix, which is copied whole: what a map computes of it is not followed."""
