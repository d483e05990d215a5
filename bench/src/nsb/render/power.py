"""The differences that a plan can detect, in lines for the terminal. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from nsb.analyse.judge import LEAST_ROUNDS, MARGINS, band
from nsb.analyse.noise import Noise
from nsb.analyse.power import equality_power, power, smallest_shift

ASSUMED = (0.03, 0.08, 0.13)
"""s of a quiet, an ordinary and a busy machine, if there is no earlier run."""


def lines(scenarios: Sequence[str], rounds: int, comparisons: int, noise: Mapping[str, tuple[Noise, str]]) -> list[str]:
    """`noise`: that of each scenario, and the run it is from; without any s is assumed."""
    if rounds < LEAST_ROUNDS:
        return [f"Fewer than {LEAST_ROUNDS} rounds: no verdict."]
    head = (
        f"Smallest effect of one of {comparisons} primary comparisons (each contender with one other in every scenario; Holm's first "
        f"step) in {rounds} rounds: exp((t₁₋α/2m + t₀.₈₀)·s/√n) − 1, the chance to find it where the twin passes, and the chance to show "
        f"two equal ones equal (within {MARGINS['ratio']:.0%}, or {MARGINS['ms']:.0f} ms). "
        "s: standard deviation of a paired ln ratio, or of ms; "
    )
    if not noise:
        head += "assumed, since no earlier run of this machine and profile tells of these scenarios in rounds enough."
        return [head, *(f"  {'':18} {_line(Noise(unit='ratio', s=s, df=0, source='rounds'), rounds, comparisons)}" for s in ASSUMED)]
    runs = sorted({run for _, run in noise.values()})
    several = len(runs) > 1
    source = "for each row from the newest run that has it" if several else f"from {runs[0]}"
    head += f"{source}: its twin, or the spread between its rounds × √2, an upper estimate; df: degrees of freedom."
    return [head, *(f"  {s:18} {_known(noise.get(s), rounds, comparisons, several)}" for s in scenarios)]


def _known(found: tuple[Noise, str] | None, rounds: int, comparisons: int, several: bool) -> str:
    """`several`: whether rows are from several runs, so that each names its own."""
    if found is None:
        return "s unknown: no earlier run of this machine and profile has it in rounds enough"
    noise, run = found
    return f"{_line(noise, rounds, comparisons)}; from {noise.source}{f' of {run}' if several else ''}, {noise.df} df"


def _line(noise: Noise, rounds: int, comparisons: int) -> str:
    shift = smallest_shift(noise.s, rounds, comparisons)
    chance = power(shift, noise.s, rounds, comparisons) if noise.s > 0 else 1.0
    found = f"{math.expm1(shift):6.1%}" if noise.unit == "ratio" else f"{shift:4.1f} ms"
    s = f"s {noise.s:.3f}" if noise.unit == "ratio" else f"s {noise.s:.2f} ms"
    return f"{s:10} finds {found} in {chance:.0%} of runs; equal shown in {equality_power(noise.s, rounds, band(noise.unit)):.0%}"
