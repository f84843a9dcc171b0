"""Sets of paths in which a column counts as one, against sets of all the paths."""

import pytest

from gendsl import gen, normal
from gendsl.runtime.paths import ColumnPaths, PathSet
from gendsl.runtime.watched import runs_whole


def test_they_have_the_paths_of_their_columns():
    columns = ColumnPaths(("x",), range(3)), ColumnPaths(("y",), range(2), ("z",))
    paths = PathSet([("a",), ("b", 1)], columns)
    every = {("a",), ("b", 1), ("x", 0), ("x", 1), ("x", 2), ("y", 0, "z"), ("y", 1, "z")}
    assert set(paths) == every and len(paths) == len(every)
    others = [("x",), ("x", 3), ("x", -1), ("x", 0, 0), ("y", 0), ("y", 0, "w"), ("b",), (), ("x", "0")]
    assert all(path in paths for path in every) and not any(path in paths for path in others)
    assert ("x", 1.0) in paths and ("x", True) in paths  # equal to a path of theirs
    less = paths.without({("x", 1): 0, ("a",): 0})
    assert set(less) == every - {("x", 1), ("a",)}


def test_heads_are_what_they_begin_with():
    paths = PathSet([("a",)], [ColumnPaths(("x",), range(3))])
    assert paths.heads == {"a", "x"}
    paths.add(("b", 2))
    assert paths.heads == {"a", "b", "x"}
    paths.add_column(ColumnPaths(("y", 1), range(3)))
    assert paths.heads == {"a", "b", "x", "y"}
    paths.add_column(ColumnPaths((), range(3)))  # (0,), (1,), (2,)
    assert paths.heads is None and (2,) in paths


@pytest.mark.skipif(runs_whole(), reason="the reference runtime has no columns")
def test_observations_in_columns_have_heads():
    @gen
    def model(n):
        mu = ~normal(0, 1)
        for i in range(n):
            ("x", i) @ ~normal(mu, 1)

    trace = model.generate((60,), {"x": [0.5] * 60}).trace
    assert type(trace.observed_paths) is PathSet and trace.observed_paths.heads == {"x"}
