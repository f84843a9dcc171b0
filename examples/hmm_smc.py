"""Where is the animal? A particle filter for a hidden Markov model, held against the forward algorithm.

An animal moves along a ring of places and is heard, with noise, at a post in the east and one in the north.
A filter estimates where it is at every moment, and how probable the sounds are; the forward algorithm finds
both exactly, since there are finitely many places. Three filters are compared: one draws moves from the
prior, one proposes them by the next sound, and one also moves the latest states of resampled particles.

    python examples/hmm_smc.py
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gendsl import categorical, gen, normal
from gendsl.inference import SMCRun, mh, particle_filter

# --- the model -------------------------------------------------------------------------------------

PLACES = 12
NOISE = 0.6
ANGLES = [2 * math.pi * place / PLACES for place in range(PLACES)]
EAST, NORTH = [math.cos(a) for a in ANGLES], [math.sin(a) for a in ANGLES]  # how loud at either post

START = [1 / PLACES] * PLACES
STAY, STEP = 0.4, 0.28
MOVE = [
    [STAY if i == j else STEP if (i - j) % PLACES in (1, PLACES - 1) else 0.04 / (PLACES - 3)
     for j in range(PLACES)] for i in range(PLACES)
]  # fmt: skip


@gen
def animal(moments):
    """Where it is, and what is heard, at each moment."""
    place = None
    for t in range(moments):
        place = ("place", t) @ ~categorical(START if place is None else MOVE[place])
        ("east", t) @ ~normal(EAST[place], NOISE)
        ("north", t) @ ~normal(NORTH[place], NOISE)


def likelihood(sound, place: int) -> float:
    """The density of a sound, the loudness at the two posts, at a place."""
    distance = (sound[0] - EAST[place]) ** 2 + (sound[1] - NORTH[place]) ** 2
    return math.exp(-distance / (2 * NOISE**2)) / (2 * math.pi * NOISE**2)


# --- proposals and rejuvenation --------------------------------------------------------------------


def weighed(prior, sound) -> list[float]:
    """The probability of each place once the sound is heard."""
    joint = [p * (likelihood(sound, place) + 1e-12) for place, p in enumerate(prior)]
    total = sum(joint)
    return [p / total for p in joint]


@gen
def listen(trace, sound):
    """The next place, given the last one and the next sound."""
    t = trace.args[0]
    ("place", t) @ ~categorical(weighed(MOVE[trace["place", t - 1]], sound))


@gen
def listen_first(sound):
    ("place", 0) @ ~categorical(weighed(START, sound))


LAG = 3


@gen
def reconsider(trace, sounds):
    """One of the latest places anew, given the sound there and the place before."""
    t = trace.args[0]
    s = max(0, t - LAG) + trace.args[0] % min(LAG, t)
    before = MOVE[trace["place", s - 1]] if s > 0 else START
    ("place", s) @ ~categorical(weighed(before, sounds[s]))


# --- the exact answer ------------------------------------------------------------------------------


def forward_algorithm(sounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p(place at t | sounds to t), shape (moments, places), and log p(sounds to t), shape (moments,)."""
    filtered, log_evidence = [], []
    ahead, total = START, 0.0
    for sound in sounds:
        joint = np.array([p * likelihood(sound, place) for place, p in enumerate(ahead)])
        total += math.log(joint.sum())
        filtered.append(joint / joint.sum())
        log_evidence.append(total)
        ahead = filtered[-1] @ MOVE
    return np.array(filtered), np.array(log_evidence)


# --- running it ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """What independent runs of one filter say, beside the exact answer.

    Attributes:
        name: the filter.
        runs: the runs.
        ratios: the evidence estimates over the exact evidence, shape (runs,); they have mean 1.
    """

    name: str
    runs: list[SMCRun]
    ratios: np.ndarray

    @property
    def z(self) -> float:
        """How far the mean ratio is from 1, in standard errors."""
        return float((self.ratios.mean() - 1) / self.standard_error)

    @property
    def standard_error(self) -> float:
        return float(self.ratios.std(ddof=1) / math.sqrt(len(self.ratios)))

    def filtered(self) -> np.ndarray:
        """The estimated p(place at t | sounds to t), averaged over the runs, shape (moments, places)."""
        return np.mean([run.recorded for run in self.runs], axis=0)


def simulate(moments: int = 25, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Places, shape (moments,), and sounds, shape (moments, 2), drawn from the model."""
    trace = animal.simulate((moments,), rng=seed)
    places = np.array([trace["place", t] for t in range(moments)])
    return places, np.array([(trace["east", t], trace["north", t]) for t in range(moments)])


def place_probabilities(particles) -> np.ndarray:
    """The weighted shares of the places at the latest moment."""
    places = [trace["place", trace.args[0] - 1] for trace in particles.traces]
    return np.bincount(places, particles.weights, minlength=PLACES)


def rejuvenation(sounds: np.ndarray):
    """A kernel that reconsiders one of the latest places."""
    return mh(reconsider, (sounds,))


FILTERS = ("prior", "proposal", "rejuvenated")


def run(name: str, sounds: np.ndarray, particles: int, runs: int, seed: int = 1) -> Comparison:
    """Independent runs of one filter."""
    options = {}
    if name != "prior":
        options |= {"proposal": listen, "first_proposal": listen_first}
    if name == "rejuvenated":
        options["kernel"] = rejuvenation(sounds)
    steps = [
        ((t + 1,), {("east", t): east, ("north", t): north}, ((east, north),))
        for t, (east, north) in enumerate(sounds.tolist())
    ]
    exact = forward_algorithm(sounds)[1][-1]
    rng = np.random.default_rng(seed)
    done = [
        particle_filter(animal, steps, particles, record=place_probabilities, rng=rng, **options)
        for _ in range(runs)
    ]
    return Comparison(name, done, np.exp([one.log_evidence - exact for one in done]))


def draw_figure(places, filtered, comparisons: list[Comparison], path: Path) -> None:
    """Where the animal was and where the filter thought it was; and the evidence estimates."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), width_ratios=(2, 1), layout="constrained")
    estimate = comparisons[-1].filtered()
    left.imshow(estimate.T, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=1)
    left.plot(places, "k.", markersize=6, label="where it was")
    left.plot(filtered.argmax(axis=1), "o", mfc="none", mec="C1", markersize=9, label="exactly most probable")
    left.set(xlabel="moment", ylabel="place", title="filtering probabilities, by particles")
    left.legend(ncols=2, loc="upper right", fontsize=8)
    right.axhline(1.0, color="k", lw=0.8)
    right.boxplot([c.ratios for c in comparisons], widths=0.5)
    right.set_xticks(range(1, len(comparisons) + 1), [c.name for c in comparisons])
    right.set(title="evidence estimate / exact", ylim=(0, None))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Run the three filters, compare them with the forward algorithm and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--particles", type=int, default=100)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("hmm_smc.png"))
    options = parser.parse_args()
    places, sounds = simulate()
    filtered, log_evidence = forward_algorithm(sounds)
    print(f"log evidence by the forward algorithm: {log_evidence[-1]:.4f}")
    print("evidence estimate / exact, which has mean 1, and the largest error of a filtering probability")
    comparisons = []
    for name in FILTERS:
        found = run(name, sounds, options.particles, options.runs, options.seed)
        error = np.max(np.abs(found.filtered() - filtered))
        print(
            f"  {name:<12} {found.ratios.mean():.3f} ± {found.standard_error:.3f} (z = {found.z:+.1f}), "
            f"standard deviation {found.ratios.std(ddof=1):.3f}; error {error:.3f}"
        )
        comparisons.append(found)
    try:
        draw_figure(places, filtered, comparisons, options.figure)
        print(f"figure: {options.figure.resolve()}")
    except ImportError:
        print("no figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
