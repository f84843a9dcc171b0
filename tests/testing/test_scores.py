"""The p-values of the stationarity test: no more false alarms than stated, and no power thrown away."""

import numpy as np
import pytest

from gendsl.testing.scores import Score, compare
from gendsl.testing.stationarity import StationarityReport

SETS = 3000


def p_values(draw, repeats):
    """p-values of many right kernels, whose chains' averages are of `repeats` independent draws."""
    rng = np.random.default_rng(5)
    means = draw(rng, (SETS, 64, repeats)).mean(axis=2)
    return np.array([compare("x", row, draw(rng, (5000,))).p_value for row in means])


def rare(rng, shape):
    return (rng.random(shape) < 0.02).astype(float)


def rarer(rng, shape):
    return (rng.random(shape) < 0.005).astype(float)


def uncommon(rng, shape):
    return (rng.random(shape) < 0.1).astype(float)


def normal(rng, shape):
    return rng.standard_normal(shape)


def square(rng, shape):
    return rng.standard_normal(shape) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("draw", [rare, rarer, uncommon, normal, square])
@pytest.mark.parametrize("repeats", [1, 40])  # from chains that never move to chains that mix well
def test_false_alarms_are_as_rare_as_stated(draw, repeats):
    found = p_values(draw, repeats)
    for level in (1e-1, 1e-2, 1e-3):
        share = np.mean(found < level)
        assert share <= 1.5 * level + 4 * np.sqrt(level / SETS), (level, share)


def test_a_rare_event_that_no_chain_sees_is_no_alarm():
    fresh = rare(np.random.default_rng(1), (20_000,))
    score = compare("x", np.zeros(64), fresh)
    assert 0.01 < score.p_value <= 1.0
    assert abs(score.z) < 2


def test_a_shift_is_seen():
    rng = np.random.default_rng(2)
    fresh = normal(rng, (20_000,))
    means = normal(rng, (64, 40)).mean(axis=1) + 0.15
    score = compare("x", means, fresh)
    assert score.z > 5
    assert score.p_value < 1e-6


def test_a_common_event_that_never_happens_is_seen():
    fresh = (np.random.default_rng(3).random(20_000) < 0.6).astype(float)
    assert compare("x", np.zeros(64), fresh).p_value < 1e-8


def test_an_event_that_no_draw_sees_may_be_possible():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(2000):
        means = rarer(rng, (64, 4)).mean(axis=1)
        found.append(compare("x", means, rarer(rng, (200,))).p_value)
    assert min(found) > 1e-5


def test_an_event_that_no_draw_sees_and_many_chains_do_is_seen():
    means = np.where(np.arange(64) < 15, 0.5, 0.0)
    assert compare("x", means, np.zeros(20_000)).p_value < 1e-8


def test_without_spread():
    assert compare("x", np.ones(64), np.ones(100)).p_value == 1.0
    assert compare("x", np.zeros(64), np.ones(100)).p_value < 1e-15
    assert Score("x", 1.0, 1.0, 0.0, 1.0).z == 0.0
    assert Score("x", 2.0, 1.0, 0.0, 0.0).z == np.inf
    assert Score("x", 2.0, 1.0, 0.5, 0.04).z == 2.0


# --- the text of a report: why a z of 7 can pass -----------------------------------------------------


def skewed(rng, shape):
    return (rng.standard_normal(shape) ** 2).mean(axis=-1) ** 4


def test_a_large_z_of_a_passing_statistic_is_explained():
    """Averages that are skewed, drawn as under the null hypothesis: a z beyond -5 is no rarity."""
    rng = np.random.default_rng(1)
    scores = [compare("x", skewed(rng, (64, 5)), skewed(rng, (5000, 5))) for _ in range(1000)]
    passing = [score for score in scores if score.z < -5 and score.p_value > 1e-3]
    assert passing and all("their averages skewed" in score.note for score in passing)
    assert all(score.note == "" for score in scores if abs(score.z) < 3)
    text = str(StationarityReport((passing[0],), 0.5))
    assert f"z = {passing[0].z:+.1f}, p = {passing[0].p_value:.2g}\n    (the chains are few, or" in text


def test_a_large_z_of_what_few_chains_see_is_explained():
    fresh = rare(np.random.default_rng(1), (20_000,))
    score = compare("x", np.where(np.arange(64) < 8, 1.0, 0.0), fresh)
    assert score.z > 5 and score.p_value > 1e-3 and score.bounded
    assert "fewer than a quarter of the chains differ" in score.note
    assert "fewer than a quarter" in str(StationarityReport((score,), 0.5))


def test_a_large_z_of_a_wrong_kernel_needs_no_explanation():
    rng = np.random.default_rng(2)
    score = compare("x", normal(rng, (64, 40)).mean(axis=1) + 0.2, normal(rng, (20_000,)))
    assert score.z > 6 and score.note == ""
