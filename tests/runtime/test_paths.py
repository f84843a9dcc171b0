"""Sets of paths in which a column counts as one, against sets of all the paths."""

import pytest

from gendsl import gen, normal
from gendsl.runtime.paths import ColumnPaths, PathSet, column_of, path_set
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


MANY = 1000
NO_COLUMNS = {
    "few": [("x", i) for i in range(MANY - 1)],
    "a gap": [("x", i) for i in range(MANY + 1) if i != 7],
    "another order": [("x", i) for i in (1, 0, *range(2, MANY))],
    "another head": [*(("x", i) for i in range(MANY - 1)), ("y", MANY - 1)],
    "a longer path": [*(("x", i) for i in range(MANY - 1)), ("x", MANY - 1, 0)],
    "a float": [*(("x", i) for i in range(MANY - 1)), ("x", float(MANY - 1))],
    "a bool": [("x", False), *(("x", i) for i in range(1, MANY))],
    "names": [("x", str(i)) for i in range(MANY)],
    "one component": [(i,) for i in range(MANY)],
}


def test_many_paths_that_are_a_column():
    paths = [("x", i) for i in range(3, 3 + MANY)]
    column = column_of(paths)
    assert list(column) == paths and len(column) == MANY
    assert [column[k] for k in (0, 7, MANY - 1)] == [paths[k] for k in (0, 7, MANY - 1)]
    with pytest.raises(IndexError):
        column[MANY]
    others = [("y", 1), ("mu",)]
    known = ColumnPaths(("z",), range(2))
    both = path_set([*paths, *others], [known])
    assert both.columns == [known, column] and both.single == set(others)
    assert set(both) == {*paths, *others, *known}


@pytest.mark.parametrize("name", NO_COLUMNS)
def test_many_paths_that_are_no_column(name):
    paths = NO_COLUMNS[name]
    assert column_of(paths) is None
    assert set(path_set(paths, [])) == set(paths)


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
