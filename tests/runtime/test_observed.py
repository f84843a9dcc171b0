"""Sets of observed addresses that grow."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from gendsl.runtime.observed import GrowingPaths, extended

PATHS = st.frozensets(st.tuples(st.sampled_from("xy"), st.integers(0, 30)), max_size=8)


@given(st.lists(PATHS, max_size=12))
def test_extensions_are_unions(sets):
    paths, expected, before = frozenset(), frozenset(), []
    for more in sets:
        before.append((paths, expected))
        paths, expected = extended(paths, more), expected | more
        assert set(paths) == expected and len(paths) == len(expected)
        assert all(path in paths for path in more) and ("z", 0) not in paths
    for old, contents in before:
        assert set(old) == contents
    assert pickle.loads(pickle.dumps(paths)) == paths == expected
    assert paths <= expected | {("z", 1)} and isinstance(paths & expected, frozenset)


def test_many_extensions_have_few_parts():
    paths = frozenset()
    for t in range(2000):
        paths = extended(paths, [("y", t)])
    assert isinstance(paths, GrowingPaths) and len(paths.parts) < 15
    assert repr(paths) == "<2000 paths>" and extended(paths, [("y", 7)]) is paths
