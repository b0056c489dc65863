"""Small charts as SVG text: axes, lines, bars, points. Colours are classes of the page's style sheet."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from .._utils.types import Vector

MAX_MARKS = 2000  # shapes in one picture: more cannot be distinguished, and make a page slow
MAX_NAME_LENGTH = 24  # characters of a name that are drawn; the whole name is in the tooltip
CHARACTER_WIDTH = 6.6  # of the page's font at 12 px, on average, with room to spare


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About ``count`` round numbers that cover [low, high]."""
    if not (np.isfinite(low) and np.isfinite(high)) or high <= low:
        return [low]
    raw = (high - low) / max(count, 1)
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * min((m for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999), default=10)
    first = np.ceil(low / step - 1e-9)
    return [float(t * step) + 0.0 for t in np.arange(first, np.floor(high / step + 1e-9) + 1)]


def whole_ticks(low: float, high: float, count: int = 10) -> list[float]:
    """At most about ``count`` whole numbers."""
    step = max(1, int(np.ceil((high - low) / count)))
    return [float(t) for t in range(int(np.ceil(low)), int(np.floor(high)) + 1, step)]


def shorten(name: str, length: int = MAX_NAME_LENGTH) -> str:
    """A name that fits into a picture."""
    return name if len(name) <= length else name[: length - 1] + "\N{HORIZONTAL ELLIPSIS}"


def number(value: float) -> str:
    """A tick label: at most four digits, whole numbers up to a million with all of theirs."""
    if 1e4 <= abs(value) < 1e6 and value == round(value):
        return f"{value:.0f}"
    return f"{value + 0.0:.4g}" if abs(value) > 1e-300 else "0"


def text(x: float, y: float, words: str, *, anchor: str = "start", css: str = "label", title: str = "") -> str:
    """A line of text; ``title`` is its tooltip."""
    tooltip = f"<title>{escape(title)}</title>" if title else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css}">{escape(words)}{tooltip}</text>'


@dataclass
class Chart:
    """A frame with two axes, and the shapes drawn into it.

    ``x`` and ``y`` are the ranges of the data. Shapes that carry a tooltip can be reached with the keyboard: the page
    gives them to the screen reader as well.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    description: str
    width: int = 640
    height: int = 300
    left: int = 64
    right: int = 16
    top: int = 14
    bottom: int = 46
    shapes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.x, self.y = _spread(self.x), _spread(self.y)

    def px(self, value: float) -> float:
        """The horizontal place of a value."""
        low, high = self.x
        return self.left + (value - low) / (high - low) * (self.width - self.left - self.right)

    def py(self, value: float) -> float:
        """The vertical place of a value."""
        low, high = self.y
        return self.height - self.bottom - (value - low) / (high - low) * (self.height - self.top - self.bottom)

    def axes(self, xlabel: str, ylabel: str, *, whole: bool = False, names: Sequence[str] | None = None) -> None:
        """Grid, ticks and labels; ``whole``: x counts; ``names``: the ticks of y, from the top."""
        ticks = whole_ticks(*self.x) if whole else nice_ticks(*self.x)
        floor = self.height - self.bottom
        for t in ticks:
            self.shapes.append(
                f'<line class="grid" x1="{self.px(t):.1f}" x2="{self.px(t):.1f}" y1="{self.top}" y2="{floor}"/>'
            )
            self.shapes.append(text(self.px(t), floor + 16, number(t), anchor="middle", css="tick"))
        if names is None:
            for t in nice_ticks(*self.y):
                self.shapes.append(
                    f'<line class="grid" x1="{self.left}" x2="{self.width - self.right}" '
                    f'y1="{self.py(t):.1f}" y2="{self.py(t):.1f}"/>'
                )
                self.shapes.append(text(self.left - 6, self.py(t) + 4, number(t), anchor="end", css="tick"))
        else:
            for i, name in enumerate(names):
                self.shapes.append(text(self.left - 6, self.py(-i) + 4, shorten(name), anchor="end", title=name))
        self.shapes.append(text((self.left + self.width - self.right) / 2, self.height - 8, xlabel, anchor="middle"))
        if ylabel:
            middle = (self.top + floor) / 2
            self.shapes.append(
                f'<text transform="translate(14 {middle:.1f}) rotate(-90)" text-anchor="middle" class="label">'
                f"{escape(ylabel)}</text>"
            )

    def line(self, x: Vector, y: Vector, css: str, title: str = "") -> None:
        """A line through points; it breaks at values that are not finite."""
        for run in np.ma.clump_unmasked(np.ma.masked_invalid(np.asarray(y, dtype=float))):
            points = " ".join(f"{self.px(a):.1f},{self.py(b):.1f}" for a, b in zip(x[run], y[run], strict=True))
            tooltip = f"<title>{escape(title)}</title>" if title else ""
            self.shapes.append(f'<polyline class="line {css}" points="{points}">{tooltip}</polyline>')

    def point(self, x: float, y: float, css: str, title: str = "", size: float = 3.5) -> None:
        """A dot."""
        tooltip = f"<title>{escape(title)}</title>" if title else ""
        self.shapes.append(
            f'<circle class="{css}" cx="{self.px(x):.1f}" cy="{self.py(y):.1f}" r="{size:g}">{tooltip}</circle>'
        )

    def segment(self, a: tuple[float, float], b: tuple[float, float], css: str, ident: str = "") -> None:
        """A straight line between two points of the data."""
        name = f' id="{ident}"' if ident else ""
        self.shapes.append(
            f'<line class="{css}"{name} x1="{self.px(a[0]):.1f}" y1="{self.py(a[1]):.1f}" '
            f'x2="{self.px(b[0]):.1f}" y2="{self.py(b[1]):.1f}"/>'
        )

    def bar(self, start: float, end: float, middle: float, thickness: float, css: str, title: str = "") -> None:
        """A horizontal bar from ``start`` to ``end`` at height ``middle`` of the data; thickness in pixels."""
        left, right = sorted((self.px(start), self.px(end)))
        tooltip = f"<title>{escape(title)}</title>" if title else ""
        self.shapes.append(
            f'<rect class="{css}" x="{left:.1f}" y="{self.py(middle) - thickness / 2:.1f}" '
            f'width="{max(right - left, 0.5):.1f}" height="{thickness:.1f}">{tooltip}</rect>'
        )

    def inside(self, x: Vector, y: Vector) -> tuple[Vector, Vector]:
        """The part of a straight line between two points that lies in the frame."""
        share = np.linspace(0.0, 1.0, 41)
        along, up = x[0] + share * (x[-1] - x[0]), y[0] + share * (y[-1] - y[0])
        there = (up >= self.y[0]) & (up <= self.y[1])
        return along[there], up[there]

    def area(self, x: Vector, low: Vector, high: Vector, css: str) -> None:
        """The area between two lines."""
        there = zip(x, low, strict=True)
        back = zip(x[::-1], high[::-1], strict=True)
        points = " ".join(f"{self.px(a):.1f},{self.py(b):.1f}" for a, b in (*there, *back))
        self.shapes.append(f'<polygon class="{css}" points="{points}"/>')

    def note(self, x: float, y: float, words: str, *, right: float = 0.0, down: float = 0.0, **how: str) -> None:
        """Text at a place of the data, moved by some pixels."""
        self.shapes.append(text(self.px(x) + right, self.py(y) + down, words, **how))

    def render(self) -> str:
        """The picture; screen readers get ``description``."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(self.description)}" '
            f'data-left="{self.left}" data-right="{self.width - self.right}">' + "".join(self.shapes) + "</svg>"
        )


def name_margin(names: Sequence[str]) -> int:
    """Pixels that names on the left of a picture need."""
    longest = max((len(shorten(name)) for name in names), default=0)
    return int(min(220, 18 + CHARACTER_WIDTH * longest))


def padded(values: Vector, share: float = 0.06) -> tuple[float, float]:
    """The range of finite values, with some room on both sides."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return 0.0, 1.0
    room = share * float(np.ptp(finite))
    return float(finite.min()) - room, float(finite.max()) + room


def _spread(ends: tuple[float, float]) -> tuple[float, float]:
    """A range that is not empty."""
    low, high = ends
    if high > low:
        return low, high
    room = abs(low) * 0.1 or 1.0
    return low - room, high + room
