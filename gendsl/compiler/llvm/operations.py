"""The operations of the state that texts call: the kinds of what each is given and returns."""

from __future__ import annotations

from gendsl.compiler.hir import Kind

RESULTS: dict[str, list[Kind]] = {
    "begin": [], "drawn": [], "exchange": [], "turn": [], "turn_back": [], "settle": [], "forget_drawn": [],
    "keep_observed": [], "nothing_selected": [], "go_there": [], "return_here": [],
    "is_far": ["b"], "came_back": [], "never_picked": [], "same_choices": [], "same_factors": [],
    "save": ["r"], "go_back": [], "give_up": [], "take_back": [],
    "rows": ["r"], "columns_written": ["r"], "coordinates": ["r"],
    "note_rounding": [], "log_density": ["f"], "decide": ["b"], "commit": [],
    "note_read": ["i"], "note_copied": [], "note_written": ["r"], "pairs": ["r"],
    "node": ["i"], "tell_unread": [], "tally": [],
    "ask": [], "note_site": [], "sites": ["i"], "try_again": ["i"], "release": [], "stay": [],
    "kept_part": ["f"], "keep_part": [], "keep_arrays": [], "record": ["i"],
    "keep_choices": [],
}  # fmt: skip
ARGUMENTS: dict[str, list[Kind]] = {
    "go_back": ["r"], "give_up": ["r"],
    "note_rounding": ["r"], "decide": ["f", "f", "f"], "commit": ["f"],
    "came_back": ["f", "f"],
    "note_read": ["r", "i", "i", "i"], "note_copied": ["r", "i", "r", "i", "i"],
    "note_written": ["r", "i", "i", "i"], "pairs": ["i", "i", "f"],
    "node": ["r", "i"], "tell_unread": ["r", "i"],
    "tally": ["i", "b", "f", "f", "f", "f", "i"],
    "note_site": ["r", "i"], "release": ["i"], "stay": ["f"],
    "keep_part": ["f"],
}  # fmt: skip
OFTEN = frozenset([
    "rows", "columns_written", "is_far", "came_back", "exchange", "tell_unread", "note_read", "note_copied",
    "note_written",
])  # fmt: skip
"""Those that do something for every choice that was read or written, or are called for each."""
