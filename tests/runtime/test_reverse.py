"""Reverse indexes against dicts of sets; every version stays what it was."""

import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gendsl.runtime.reverse import ReverseIndex

KEYS = [0, 1, "a", ("a", 3), 0.5, None, frozenset({1})]
keys = st.one_of(st.sampled_from(KEYS), st.integers(0, 100))
members = st.integers(0, 60)


def check(index, model):
    found = list(index.keys())
    assert len(found) == len(set(found))
    assert set(found) == set(model)
    for key, integers in model.items():
        array = index.get(key)
        assert array.dtype == np.int64 and not array.flags.writeable
        assert array.tolist() == sorted(integers)
        assert index.get(key) is array


class AgainstDicts(RuleBasedStateMachine):
    """Each rule changes one of the last versions, and keeps the result."""

    @initialize(pairs=st.lists(st.tuples(keys, members)))
    def start(self, pairs):
        model = {}
        for key, t in pairs:
            model[key] = model.get(key, frozenset()) | {t}
        self.versions = [(ReverseIndex.of(iter(pairs)), model)]

    def toggle(self, index, model, key, t):
        integers = model.get(key, frozenset())
        if t in integers:
            with pytest.raises(ValueError, match="already"):
                index.add(key, t)
            rest = integers - {t}
            model = {other: kept for other, kept in model.items() if other != key}
            return index.remove(key, t), (model | {key: rest} if rest else model)
        with pytest.raises(KeyError):
            index.remove(key, t)
        return index.add(key, t), model | {key: integers | {t}}

    @rule(key=keys, t=members, back=st.integers(1, 3))
    def change(self, key, t, back):
        index, model = self.versions[max(-back, -len(self.versions))]
        self.versions.append(self.toggle(index, model, key, t))

    @rule(
        key=st.sampled_from(KEYS[:2]),
        seed=st.integers(0, 2**32),
        count=st.integers(1, 150),
        read=st.booleans(),
    )
    def change_often(self, key, seed, count, read):
        index, model = self.versions[-1]
        rng = random.Random(seed)
        for _ in range(count):
            index, model = self.toggle(index, model, key, rng.randrange(200))
        if read:
            index.get(key)
        self.versions.append((index, model))

    @rule(
        seed=st.integers(0, 2**32), count=st.integers(1, 700), back=st.integers(1, 3), read=st.integers(0, 40)
    )
    def move(self, seed, count, back, read):
        """Moves of integers, some of them there and back, and now and then a look at a key."""
        index, model = self.versions[max(-back, -len(self.versions))]
        rng = random.Random(seed)
        pairs = [(key, t) for key, integers in model.items() for t in integers]
        for _ in range(count):
            if not pairs:
                break
            place = rng.randrange(len(pairs))
            was, t = pairs[place]
            now = rng.choice(KEYS[:3] if rng.random() < 0.7 else [*range(90, 130)])
            if now == was or t in model.get(now, ()):
                continue
            index = index.moved(was, now, t)
            pairs[place] = now, t
            rest = model[was] - {t}
            model = {key: integers for key, integers in model.items() if key != was or rest}
            if rest:
                model[was] = rest
            model[now] = model.get(now, frozenset()) | {t}
            if read and rng.randrange(read) == 0:
                assert index.get(now).tolist() == sorted(model[now])
        self.versions.append((index, model))

    @rule(key=keys)
    def get(self, key):
        index, model = self.versions[-1]
        assert index.get(key).tolist() == sorted(model.get(key, ()))

    @rule()
    def pickle(self):
        index, model = self.versions[-1]
        self.versions.append((pickle.loads(pickle.dumps(index)), model))

    @invariant()
    def the_keys_are_right(self):
        index, model = self.versions[-1]
        assert set(index.keys()) == set(model)

    def teardown(self):
        for index, model in getattr(self, "versions", ()):
            check(index, model)


TestAgainstDicts = AgainstDicts.TestCase
TestAgainstDicts.settings = settings(max_examples=40, stateful_step_count=25, deadline=None, derandomize=True)


@pytest.mark.slow
@pytest.mark.parametrize("universe, number", [(40, 1), (300, 3), (5000, 1), (5000, 2000), (200_000, 1)])
def test_long_runs(universe, number):
    rng = random.Random(universe)
    start = [(t % number, t) for t in range(0, universe, 2)]
    index, model = ReverseIndex.of(start), {}
    for key, t in start:
        model.setdefault(key, set()).add(t)
    kept = []
    for step in range(8000):
        t = rng.randrange(universe)
        key = rng.randrange(number)
        integers = model.setdefault(key, set())
        if t in integers:
            index = index.remove(key, t)
            integers.remove(t)
        else:
            index = index.add(key, t)
            integers.add(t)
        if step % 2000 == 1000:
            kept.append((index, {k: frozenset(s) for k, s in model.items() if s}))
    for old, then in [*kept, (index, {k: s for k, s in model.items() if s})]:
        check(old, then)


def test_long_runs_of_moves():
    """More than are noted at once, of few keys and of many, from a version that others come from, too."""
    for number in (3, 1000):
        rng = random.Random(number)
        of = [rng.randrange(number) for _ in range(5000)]
        index = ReverseIndex.of_columns([np.array(of)])
        kept = [(index, of.copy())]
        for step in range(4000):
            t, now = rng.randrange(len(of)), rng.randrange(number)
            if of[t] != now:
                index = index.moved(of[t], now, t)
                of[t] = now
            if step % 700 == 100:
                kept.append((index, of.copy()))
        kept.append((index, of))
        beside = [of.copy() for _, of in kept]
        for place, (old, _) in enumerate([*kept]):
            t = rng.randrange(5000)
            was = beside[place][t]
            beside[place][t] = number + 5
            kept.append((old.moved(was, number + 5, t), beside[place]))
        for old, then in reversed(kept):
            model = {}
            for t, key in enumerate(then):
                model.setdefault(key, set()).add(t)
            check(old, model)


def test_moves_to_keys_that_are_new_make_room_for_them():
    index = ReverseIndex.of([(0, t) for t in range(3000)])
    for t in range(1, 3000):
        index = index.moved(0, t, t)
    check(index, {t: {t} for t in range(3000)})
    for t in range(1, 3000):
        index = index.moved(t, 0, t)
    check(index, {0: set(range(3000))})


def test_a_move_of_what_is_not_there_is_found_out():
    index = ReverseIndex.of([(0, t) for t in range(100)]).moved(1, 2, 5)
    with pytest.raises(ValueError, match="didn't belong"):
        index.get(1)
    twice = ReverseIndex.of([(k, t) for k in range(2) for t in range(100)]).moved(0, 1, 5)
    with pytest.raises(ValueError, match="didn't belong"):
        twice.get(1)


def test_moves_that_are_noted_do_not_pile_up():
    index = ReverseIndex.of([(t % 5, t) for t in range(50)])
    for step in range(5000):
        t = step % 50
        index = index.moved((t + step // 50) % 5, (t + step // 50 + 1) % 5, t)
        depth, at = 0, index
        while at._made is None:
            depth, at = depth + 1, at._before
        assert depth < 1000


def test_many_threads_may_look_at_what_is_noted():
    index = ReverseIndex.of([(t % 7, t) for t in range(2000)])
    of = {t: t % 7 for t in range(2000)}
    rng = random.Random(3)
    for _ in range(400):
        t, now = rng.randrange(2000), rng.randrange(7)
        if of[t] != now:
            index = index.moved(of[t], now, t)
            of[t] = now
    expected = {key: sorted(t for t in of if of[t] == key) for key in range(7)}
    with ThreadPoolExecutor(4) as threads:
        for key, found in threads.map(lambda key: (key % 7, index.get(key % 7).tolist()), range(28)):
            assert found == expected[key]


def test_many_versions_from_one():
    """Whatever the first change of a version reorganises is right for the second one too."""
    rng = random.Random(1)
    for size in range(1, 140):
        index = ReverseIndex.of([(0, -1)])
        for t in range(size):
            index = index.add(0, t).add(t + 10**6, t)
        for _ in range(3):
            new = rng.randrange(size, 10**6)
            assert index.add(0, new).get(0).tolist() == [-1, *range(size), new]
            assert index.remove(0, size - 1).get(0).tolist() == [-1, *range(size - 1)]
            assert set(index.add(-5, 1).keys()) == {-5, 0, *range(10**6, 10**6 + size)}
        assert index.get(0).tolist() == [-1, *range(size)]
        assert index.get(-5).tolist() == []


def test_equal_keys_are_one_key():
    index = ReverseIndex.of([(1, 5), (True, 6), (1.0, 7)])
    assert list(index.keys()) == [1]
    assert index.get(1).tolist() == index.get(True).tolist() == [5, 6, 7]
    assert index.remove(1.0, 6).add(True, 8).get(1).tolist() == [5, 7, 8]


def test_nan_is_a_key_as_in_a_dict():
    nan = float("nan")
    index = ReverseIndex.of([(nan, 1)]).add(nan, 2)
    assert index.get(nan).tolist() == [1, 2]
    assert index.remove(nan, 1).get(nan).tolist() == [2]


def test_keys_with_equal_hashes_are_two_keys():
    assert hash(-1) == hash(-2)
    index = ReverseIndex.of([(-1, 1)]).add(-2, 2)
    assert index.get(-1).tolist() == [1]
    assert index.get(-2).tolist() == [2]
    assert list(index.remove(-1, 1).keys()) == [-2]


def test_what_is_not_hashable_is_no_key():
    with pytest.raises(TypeError):
        ReverseIndex.of().add([], 1)
    with pytest.raises(TypeError):
        ReverseIndex.of().get([])


def test_a_run_of_changes_keeps_no_old_arrays():
    index = ReverseIndex.of((0, t) for t in range(1000))
    for t in range(1000, 20_000):
        index = index.add(0, t).remove(0, t - 1000)
    (bucket,) = [bucket for _, bucket in index._items()]
    assert bucket.size == 1000
    assert len(bucket.base) <= 2000 and sum(map(len, bucket.levels)) <= 2000
