"""What figures need before anything is drawn: themes, the pen of each policy, curves, places and text of labels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import log10
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.optimize import isotonic_regression

from driftbandit.core.types import Floats

Dash = str | tuple[float, tuple[float, ...]]
Middle = Callable[[pl.Expr], pl.Expr]
DASHES: tuple[Dash, ...] = (
    (0, (1, 1)),
    "solid",
    (0, (6, 2)),
    (0, (6, 2, 1, 2)),
    (0, (2, 2)),
    (0, (10, 2)),
    (0, (6, 2, 1, 2, 1, 2)),
    (0, (3, 1, 3, 4)),
)
MARKERS = "Dos^vPX*"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Theme:
    """Colours of a figure. The palette follows the policies' own ``pen``."""

    page: str
    text: str
    muted: str
    grid: str
    shade: str
    palette: tuple[str, ...]


# Okabe and Ito's palette; yellow is too faint on white, and black and blue on a dark page.
LIGHT = Theme(
    page="#ffffff",
    text="#1b1f24",
    muted="#57606a",
    grid="#e4e7eb",
    shade="#eef2f7",
    palette=("#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#a89a00"),
)
DARK = Theme(
    page="#14161a",
    text="#e8eaed",
    muted="#a3abb5",
    grid="#2b2f36",
    shade="#20252c",
    palette=("#f2f2f2", "#e2691b", "#4c8dff", "#00b383", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442"),
)


class Pen(NamedTuple):
    colour: str
    dash: Dash
    marker: str


def pen(entry: int, theme: Theme) -> Pen:
    """Colours repeat in a cycle, each cycle with different dashes."""
    colours, shift = len(theme.palette), entry // len(theme.palette)
    return Pen(
        theme.palette[entry % colours],
        DASHES[(entry + shift) % len(DASHES)],
        MARKERS[(entry + 3 * shift) % len(MARKERS)],
    )


def yardstick(theme: Theme) -> Pen:
    """For reference lines, which are not policies."""
    return Pen(theme.muted, (0, (4, 3)), "")


def own_pens() -> dict[str, int]:
    """The policies that declare a pen of their own (pens are not inherited), ours first."""
    from driftbandit.core.kinds import is_ours
    from driftbandit.policies import every  # a second of numba, for those who draw policies

    kinds = sorted(every().items(), key=lambda item: not is_ours(item[1]))
    return {name: entry for name, kind in kinds if (entry := vars(kind).get("pen")) is not None}


def pens_of(names: Sequence[str], theme: Theme) -> dict[str, Pen]:
    """Every policy's own pen; names without one take the free entries, in order of appearance."""
    own, owner = own_pens(), dict[int, str]()
    for name in own:
        if name in names:
            owner.setdefault(own[name], name)
    entries = {name: entry for entry, name in owner.items()}
    free: Iterator[int] = (entry for entry in count() if entry not in owner)
    return {name: pen(entries[name] if name in entries else next(free), theme) for name in dict.fromkeys(names)}


def kin_pens(names: Sequence[str], theme: Theme) -> dict[str, Pen]:
    """As above, but a name such as "RestartUCB memory=300" takes the pen of its first word, unless another name does too."""
    first = [name.partition(" ")[0] for name in names]
    known = first if len(set(first)) == len(names) else names
    return dict(zip(names, pens_of(known, theme).values(), strict=True))


def _channels(colour: str) -> Floats:
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    light = [_channels(colour) for colour in (one, other)]
    linear = [np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) for rgb in light]
    low, high = sorted(float(rgb @ [0.2126, 0.7152, 0.0722]) for rgb in linear)
    return (high + 0.05) / (low + 0.05)


def ink(colour: str, theme: Theme) -> str:
    """The colour, moved towards the text colour just far enough for text in it to be legible."""
    for share in np.linspace(0.0, 1.0, 21):
        mixed = (1 - share) * _channels(colour) + share * _channels(theme.text)
        shade = "#" + "".join(f"{round(255 * channel):02x}" for channel in mixed)
        if contrast(shade, theme.page) >= 4.5:
            return shade
    return theme.text


def spread(wanted: Sequence[float], gap: float) -> Floats:
    """The places in [0, 1] nearest to the wanted ones (least squares) that keep the gap and the order."""
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(order))
    places = np.empty(len(order))
    shifted = isotonic_regression(np.asarray(wanted, dtype=np.float64)[order] - steps).x
    places[order] = shifted.clip(0.0, max(1.0 - gap * (len(order) - 1), 0.0)) + steps
    return places


class Curve(NamedTuple):
    policy: str
    x: Floats
    mean: Floats
    std: Floats

    def low(self) -> Floats:
        """One standard deviation below the mean, but positive: a logarithmic axis has no zero."""
        low: Floats = np.maximum(self.mean - self.std, 0.1 * self.mean)
        return low

    def fitted(self, exponent: float) -> "Curve":
        """The line of this slope through the middle of the points, on logarithmic axes."""
        shape = exponent * np.log(self.x)
        return self._replace(mean=np.exp(shape + np.mean(np.log(self.mean) - shape)))


def curves_of(table: pl.DataFrame, x: str, y: str, middle: Middle = pl.Expr.mean) -> list[Curve]:
    """Mean (or another middle) and standard deviation of y at every x, policy by policy."""
    spread_of_one = pl.col(y).std().fill_null(0.0)
    points = table.group_by("policy", x, maintain_order=True).agg(mean=middle(pl.col(y)), std=spread_of_one).sort(x)
    parts = {name: points.filter(pl.col("policy") == name) for name in names_in(table, "policy")}
    return [Curve(name, *(part[key].to_numpy() for key in (x, "mean", "std"))) for name, part in parts.items()]


def curves_by_world(table: pl.DataFrame, x: str, y: str, middle: Middle = pl.Expr.mean) -> dict[str, list[Curve]]:
    return {world: curves_of(table.filter(pl.col("world") == world), x, y, middle) for world in names_in(table, "world")}


def names_in(table: pl.DataFrame, column: str) -> list[str]:
    """The distinct values, in order of appearance."""
    return table[column].unique(maintain_order=True).to_list()


def worth_seeing(curves: Sequence[Curve]) -> tuple[float, float]:
    """Limits of a logarithmic axis: without them the first hundredth of the rounds would take up half of it."""
    late = np.concatenate([curve.mean[curve.x >= 0.01 * curve.x[-1]] for curve in curves])
    high = max(float((curve.mean + curve.std).max()) for curve in curves)
    low = float(late[late > 0].min(initial=high)) or 1.0
    return 0.7 * low, 1.3 * max(high, low)


def with_commas(value: float, _: int | None = None) -> str:
    return f"{value:,.12g}".replace("-", "−")


def short(ratio: float | None) -> str:
    """About three digits; a dash where there is no number."""
    if ratio is None:
        return "–"
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:,.0f}"


def power_of_ten(value: float, _: int | None = None) -> str:
    return "10" + str(round(log10(value))).translate(SUPERSCRIPTS)
