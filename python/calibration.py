"""Is the posterior calibrated? SBC ranks and TARP coverage by the package sbi, on rows that nothing was chosen on.

    python calibration.py --seed 501 --rows 2000 --out docs/img/calibration.png    # after pip install magnetar[sbi]

Prints what the tests say and draws the figure of docs/python.md.
"""

import argparse

import magnetar
import numpy as np
import torch
from magnetar.inference import Posterior
from magnetar.sbi import calibration
from scipy.stats import binom

NAMES = ("x", "y", "heading")
BINS = 20
ROWS_AT_ONCE = 250
INK, FILL, BAND = "#1d3557", "#7a9cc6", "#d9d9d9"


def posteriors(recipe, scorer, split, rows, seed):
    """The posteriors of rows, made and scored a few hundred at a time."""
    parts = []
    for start in range(0, rows, ROWS_AT_ONCE):
        count = min(ROWS_AT_ONCE, rows - start)
        parts.append(magnetar.posterior(recipe.sample(split, start, count, seed), scorer))
    every = recipe.sample(split, 0, rows, seed)
    joined = (np.concatenate([getattr(part, name) for part in parts]) for name in ("mass", "xs", "ys"))
    return Posterior(every, scorer, *joined, parts[0].headings)


def draw(found, caption, path):
    """Ranks of each parameter and the coverage curve, each with what chance alone leaves in 99 of 100 cases."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "magnetar"})
    figure, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
    rows = len(found.ranks)
    low, high = binom.ppf((0.005, 0.995), rows, 1 / BINS)
    for number, (axis, name) in enumerate(zip(axes, NAMES, strict=False)):
        axis.axhspan(low, high, color=BAND, lw=0)
        ranks = found.ranks[:, number].numpy() / found.samples
        axis.hist(ranks, bins=BINS, range=(0, 1), color=FILL, edgecolor=INK, linewidth=0.5)
        axis.set(title=f"SBC: {name} (p = {found.ks_p[number]:.2g})", xlabel="rank of the truth", xlim=(0, 1))
        axis.set_ylim(0, 2 * rows / BINS)
    axes[0].set_ylabel(f"rows of {rows}")
    alpha, coverage = found.alpha.numpy(), found.coverage.numpy()
    levels = np.linspace(0, 1, 101)
    axes[3].fill_between(levels, *(binom.ppf(q, rows, levels) / rows for q in (0.005, 0.995)), color=BAND, lw=0)
    axes[3].plot(alpha, coverage, color=INK, lw=1.2)
    axes[3].set(title=f"TARP (p = {found.tarp_p:.2g})", xlabel="credibility", ylabel="coverage", xlim=(0, 1), ylim=(0, 1))
    figure.supxlabel(caption, fontsize=8)
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None, dpi=150)


def main():
    """Makes rows, scores them, lets sbi judge, draws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default="paper")
    parser.add_argument("--scorer", default="twin")
    parser.add_argument("--split", default="test")
    parser.add_argument("--seed", type=int, default=501)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=1000, help="samples per posterior")
    parser.add_argument("--out", metavar="FILE", help="where to draw (.svg, .png)")
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    recipe = magnetar.Recipe(given.recipe)
    scorer = magnetar.Scorer(given.scorer, recipe)
    found = calibration(posteriors(recipe, scorer, given.split, given.rows, given.seed), given.samples)
    for name, p in zip(NAMES, found.ks_p, strict=True):
        print(f"SBC {name}: KS p = {p:.3g}")
    worst = float((found.coverage - found.alpha).abs().max())
    print(f"TARP: KS p = {found.tarp_p:.3g}, largest gap {100 * worst:.2f} pp, area to curve {found.area_to_curve:+.4f}")
    if given.out:
        what = f"{given.scorer} on {given.rows} rows of {given.split} of recipe {given.recipe}, seed {given.seed}"
        draw(found, f"{what}; {given.samples} samples each. Grey: 99 % of what chance leaves of a calibrated posterior.", given.out)


if __name__ == "__main__":
    main()
