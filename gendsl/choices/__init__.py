"""Choice maps: what they are, how values compare, how a run of a program consumes them."""

from gendsl.choices.choice_map import (
    MISSING,
    ChoiceMap,
    ChoiceMapLike,
    Missing,
    Structure,
    choicemap,
)
from gendsl.choices.constraints import Constraints, Exactly
from gendsl.choices.unknown import explain_unknown
from gendsl.choices.values import same_value

__all__ = [
    "MISSING",
    "ChoiceMap",
    "ChoiceMapLike",
    "Constraints",
    "Exactly",
    "Missing",
    "Structure",
    "choicemap",
    "explain_unknown",
    "same_value",
]
