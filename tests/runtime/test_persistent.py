"""Persistent vectors against lists; every version stays what it was."""

import copy
import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gendsl.runtime.persistent import PersistentVector

laws = settings(max_examples=60, deadline=None, derandomize=True)
SIZES = [0, 1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 1056, 32767, 32768, 32769, 70000]
sizes = st.one_of(st.integers(0, 200), st.sampled_from(SIZES))


class AgainstLists(RuleBasedStateMachine):
    """Each rule changes some version, not only the last one, and keeps the result."""

    @initialize(size=st.integers(0, 5000))
    def start(self, size):
        self.versions = [(PersistentVector.of(range(size)), list(range(size)))]
        self.fresh = -1

    def pick(self, data):
        return self.versions[data.draw(st.integers(max(0, len(self.versions) - 3), len(self.versions) - 1))]

    def keep(self, vector, model):
        assert len(vector) == len(model)
        self.versions.append((vector, model))

    def new(self):
        self.fresh -= 1
        return self.fresh

    @rule(data=st.data())
    def set(self, data):
        vector, model = self.pick(data)
        if model:
            i, x = data.draw(st.integers(0, len(model) - 1)), self.new()
            changed = vector.set(i, x)
            assert changed[i] == x
            self.keep(changed, [*model[:i], x, *model[i + 1 :]])

    @rule(data=st.data(), mapping=st.booleans())
    def set_many(self, data, mapping):
        vector, model = self.pick(data)
        if model:
            indices = data.draw(st.lists(st.integers(0, len(model) - 1), max_size=30))
            pairs = [(i, self.new()) for i in indices]
            model = model.copy()
            for i, x in pairs:
                model[i] = x
            self.keep(vector.set_many(dict(pairs) if mapping else iter(pairs)), model)

    @rule(data=st.data())
    def append(self, data):
        vector, model = self.pick(data)
        x = self.new()
        self.keep(vector.append(x), [*model, x])

    @rule(data=st.data(), size=st.integers(0, 300))
    def extend(self, data, size):
        vector, model = self.pick(data)
        added = [self.new() for _ in range(size)]
        self.keep(vector.extend(iter(added)), model + added)

    @rule(data=st.data())
    def truncate(self, data):
        vector, model = self.pick(data)
        size = data.draw(st.integers(0, len(model)))
        self.keep(vector.truncate(size), model[:size])

    @rule(data=st.data())
    def iterate(self, data):
        vector, model = self.pick(data)
        start = data.draw(st.integers(0, len(model) + 1))
        assert list(vector.iterate(start)) == model[start:]

    @rule(data=st.data())
    def pickle(self, data):
        vector, model = self.pick(data)
        self.keep(pickle.loads(pickle.dumps(vector)), model)

    @invariant()
    def the_last_is_right(self):
        vector, model = self.versions[-1]
        assert list(vector) == model

    def teardown(self):
        for vector, model in getattr(self, "versions", ()):
            assert list(vector) == model
            assert [vector[i] for i in range(len(model))] == model


TestAgainstLists = AgainstLists.TestCase
TestAgainstLists.settings = settings(max_examples=40, stateful_step_count=30, deadline=None, derandomize=True)


@pytest.mark.parametrize("size", SIZES)
def test_sizes_around_the_widths_of_nodes(size):
    model = list(range(size))
    vector = PersistentVector.of(model)
    assert len(vector) == size
    assert list(vector) == model == [vector[i] for i in range(size)]
    longer = vector
    for k in range(70):
        longer = longer.append(-k)
    assert list(longer) == model + [-k for k in range(70)]
    assert list(longer.truncate(size)) == model
    rng = random.Random(size)
    for _ in range(5):
        cut = rng.randint(0, size)
        assert list(vector.iterate(cut)) == model[cut:]
        assert list(vector.truncate(cut).extend([1] * 100)) == model[:cut] + [1] * 100
    assert list(vector) == model


@pytest.mark.parametrize("size", [2, 33, 1056, 40_000])
def test_two_neighbours_at_once(size):
    vector, model = PersistentVector.of(range(size)), list(range(size))
    for i in {0, 30, 31, 32, 1022, 1023, 1024, 32767, size - 2} & set(range(size - 1)):
        new = vector.set_two(i, "a", "b")
        assert list(new) == [*model[:i], "a", "b", *model[i + 2 :]]
    assert list(vector) == model
    for i in (-1, size - 1, size):
        with pytest.raises(IndexError):
            vector.set_two(i, "a", "b")


@pytest.mark.parametrize("size", SIZES)
def test_indices_outside_are_refused(size):
    vector = PersistentVector.of(range(size))
    for i in (-1, -size, -size - 1, size, size + 1, size + 64, size + 2048, 10**7):
        if size and i == 0:
            continue
        for use in (lambda v, i: v[i], lambda v, i: v.set(i, 0), lambda v, i: v.set_many([(i, 0)])):
            if not 0 <= i < size:
                with pytest.raises(IndexError):
                    use(vector, i)
    for length in (-1, size + 1):
        with pytest.raises(IndexError):
            vector.truncate(length)
    assert list(vector.iterate(size)) == []
    if size:
        with pytest.raises(IndexError):
            vector.iterate(-1)


@laws
@given(sizes, st.integers(0, 2**32))
def test_a_long_run_of_sets(size, seed):
    rng = random.Random(seed)
    vector, model = PersistentVector.of([0] * size), [0] * size
    kept = []
    for step in range(min(300, 10 * size)):
        i = rng.randrange(size)
        vector, model[i] = vector.set(i, step), step
        if step % 60 == 0:
            kept.append((vector, model.copy()))
    for old, elements in [*kept, (vector, model)]:
        assert list(old) == elements


def test_a_version_shares_all_but_a_path():
    size = 100_000
    vector = PersistentVector.of([object() for _ in range(size)])

    def lists(node, depth):
        yield id(node)
        if depth:
            for child in node:
                yield from lists(child, depth - 1)

    own = set(lists(vector._root, 3))
    for other, most in (
        (vector.set(5, None), 4),
        (vector.append(None), 4),
        (vector.set_many({5: 0, 6: 0}), 4),
    ):
        assert len(set(lists(other._root, 3)) - own) <= most


def test_elements_may_be_anything():
    vector = PersistentVector.of(["a", None, [1], (2,)])
    assert list(vector.set(1, {}).append(vector)) == ["a", {}, [1], (2,), vector]
    assert list(copy.deepcopy(vector)) == list(vector)
    assert repr(vector) == "PersistentVector.of(['a', None, [1], (2,)])"
    assert not PersistentVector.of()
