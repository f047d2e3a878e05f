"""A figure that can be drawn in any palette: once for the page, once for PNG files."""

import io
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from atoll_analysis import palette
from atoll_analysis.palette import Palette
from atoll_analysis.units import tick

WIDTH = 11.0  # inches: a page on a desk, and images
NARROW = 4.4  # inches: the same page on a telephone, whose text must not become smaller
_NARROW_TITLE, _NARROW_NAME = 40, 16  # characters in a line
_NAME, _SHORT_NAME = 28, 20  # characters of a shortened name; in narrow figures
_LETTER = 0.078  # inches, on average
_IMAGE_TITLE, _IMAGE_NOTE = 115, 160  # characters in a line above and below an image


@dataclass
class Drawing:
    figure: Figure
    tips: dict[str, str] = field(default_factory=dict)  #: text shown over the artist of that gid

    def tip(self, text: str, kind: str = "tip") -> str:
        """A gid whose artist shows `text` when pointed at. A "cursor" is invisible until then."""
        gid = f"{kind}{len(self.tips)}"
        self.tips[gid] = text
        return gid


@dataclass(frozen=True)
class Chart:
    name: str                          #: of PNG files and anchors: letters and '-'
    title: str
    alt: str                           #: for those who cannot see it: what is shown and its main figures
    draw: Callable[[Palette], Drawing]  #: as wide as new_figure() makes it
    note: str = ""                     #: caption below the figure
    heading: str = ""                  #: of an image that stands alone; else the title

    def svg(self, colours: Palette, width: float = WIDTH) -> tuple[bytes, dict[str, str]]:
        """An SVG document of that many inches whose text is text, and the tips by gid."""
        with matplotlib.rc_context(_style(colours, width)):
            drawing, raw = self.draw(colours), io.BytesIO()
            settle(drawing.figure)
            # Not savefig(), which draws everything twice: the first time for layouts, and this one is settled.
            FigureCanvasSVG(drawing.figure).print_svg(raw, metadata={"Date": None})
        return raw.getvalue(), drawing.tips

    def write_image(self, path: Path) -> None:
        """PNG, PDF or SVG by the suffix, in light colours."""
        self._save(path)

    def _repr_png_(self) -> bytes:
        """For notebooks."""
        raw = io.BytesIO()
        self._save(raw, format="png")
        return raw.getvalue()

    def _save(self, to: Path | io.BytesIO, **options: str) -> None:
        with matplotlib.rc_context(_style(palette.LIGHT)):
            figure = self.draw(palette.LIGHT).figure
            settle(figure)
            high = figure.get_figheight()
            lowest = min(figure.get_tightbbox().y0 / high, 0.0)  # legends may hang below
            figure.text(0.005, 1.0 + 0.12 / high, _lines(self.heading or self.title, _IMAGE_TITLE), fontsize=11,
                        fontweight="bold", va="bottom")
            figure.text(0.005, lowest - 0.08 / high, _lines(self.note, _IMAGE_NOTE), color=palette.LIGHT.muted, va="top")
            figure.savefig(to, dpi=110, facecolor=palette.LIGHT.paper, bbox_inches="tight", pad_inches=0.12, **options)


def _lines(text: str, most: int) -> str:
    return textwrap.fill(text, most, break_on_hyphens=False, break_long_words=False)


def is_narrow() -> bool:
    """Whether what is drawn now is for a telephone: fewer ticks, legends below titles, no text in small cells."""
    return float(matplotlib.rcParams["figure.figsize"][0]) < WIDTH / 2


def new_figure(height: float) -> Figure:
    """An empty figure that lays itself out, `height` inches high and as wide as what is drawn now."""
    figure = Figure(figsize=(matplotlib.rcParams["figure.figsize"][0], height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def settle(figure: Figure) -> None:
    """Lays the figure out once and for all; matplotlib would do it again at every drawing."""
    if figure.get_layout_engine() is not None:
        figure.get_layout_engine().execute(figure)
        figure.set_layout_engine("none")


def label(axes: Axes, title: str, unit: str = "") -> None:
    """Title and unit above the panel, where they are read without turning the head."""
    _title(axes, title + (f"  ({unit})" if unit else ""), 5)


def _title(axes: Axes, text: str, pad: float) -> None:
    text = textwrap.fill(text, _NARROW_TITLE) if is_narrow() else text
    axes.set_title(text, loc="left", fontsize=10, fontweight="semibold", pad=pad)


def percent_axis(axis: Axis) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))


def count_axis(axis: Axis) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))


def legend_at(axes: Axes, inches: float, loc: str, columns: int, *handles_and_names: list[Any]) -> None:
    """A legend at the left, its corner `loc` that far above the upper or, if negative, below the lower end of the axes.
    Where that is narrow it stands between the title and the axes."""
    if is_narrow():
        legend_above(axes, *handles_and_names)
        return
    shift = ScaledTranslation(0, inches, axes.figure.dpi_scale_trans)
    axes.legend(*handles_and_names, loc=loc, bbox_to_anchor=(0, float(inches > 0)), bbox_transform=axes.transAxes + shift,
                ncol=columns, frameon=False, fontsize=9, borderpad=0, borderaxespad=0, handlelength=1.2, columnspacing=1.2)


def legend_above(axes: Axes, *handles_and_names: list[Any]) -> None:
    """A legend beside the title or, where there is no room for it, below, for which the figure grows."""
    handles, names = handles_and_names or axes.get_legend_handles_labels()
    names = [folded(str(name), 2 * _NARROW_NAME) for name in names]
    room, title = axes.figure.get_figwidth() - 0.9, axes.get_title(loc="left")
    looks: dict[str, Any] = {"frameon": False, "fontsize": 9, "borderpad": 0.1, "borderaxespad": 0.3, "handlelength": 1.2,
                             "columnspacing": 1.2}
    if not is_narrow() and sum(0.4 + _LETTER * len(name) for name in names) + 1.2 * _LETTER * len(title) < room:
        axes.legend(handles, names, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=max(len(names), 1), **looks)
        return
    lines = max((name.count("\n") + 1 for name in names), default=1)
    longest = max((len(line) for name in names for line in name.split("\n")), default=1)
    columns = max(1, int(room / (0.4 + _LETTER * longest)))
    rows = lines * -(-len(names) // columns)
    _title(axes, title, 7 + 13 * rows)  # points
    axes.figure.set_figheight(axes.figure.get_figheight() + 0.19 * rows)
    # From the left end of the figure, or names of rows would push it out at the right.
    across = blended_transform_factory(axes.figure.transFigure, axes.transAxes)
    axes.legend(handles, names, loc="lower left", bbox_to_anchor=(0.01, 1.0), bbox_transform=across, ncol=columns, **looks)


def shortened(names: Iterable[object]) -> list[str]:
    """Names that a user gave, the long ones without the middle of what all of them have, or else without their middle, which
    would take the figure's place. Enough of it stays to tell them apart."""
    whole = list(map(str, names))
    least = _SHORT_NAME if is_narrow() else _NAME
    shared = _shared([n for n in whole if len(n) > least])
    for most in range(least, max(map(len, whole), default=0)):
        for short in ([_without(shared, n, most) for n in whole], [_cut(n, most) for n in whole]):
            if len(set(short)) == len(set(whole)) and max(map(len, short)) <= most:
                return short
    return whole


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most // 2]}…{text[len(text) - (most - 1) // 2:]}"


def _parts(name: str) -> list[str]:
    """What stands between joints, each with the joint behind it."""
    return re.findall(r"[^-_ ]+[-_ ]?|[-_ ]", name)


def _shared(names: list[str]) -> set[str]:
    """Parts that all names have, but for numbers: with two keys' values they may have the same ones in other places."""
    found = set.intersection(*(set(_parts(n)) for n in names)) if names else set()
    return {part for part in found if not part[0].isdigit()}


def _without(shared: set[str], name: str, most: int) -> str:
    """The name in so many characters, if that can be by cutting shared parts, the longest first."""
    runs = [(known, "".join(parts)) for known, parts in itertools.groupby(_parts(name), key=shared.__contains__)]
    for at in sorted(range(len(runs)), key=lambda at: -len(runs[at][1])):
        known, text = runs[at]
        over = sum(len(run) for _, run in runs) - most
        if known and over > 0:
            runs[at] = known, _cut(text, max(len(text) - over, 1))
    return "".join(run for _, run in runs)


def folded(name: str, most: int = 0) -> str:
    """A name of a row or line, in narrow figures over several lines of at most so many characters if it has joints."""
    if not is_narrow():
        return name
    lines = [""]
    for part in _parts(name):
        if lines[-1] and len(lines[-1]) + len(part) > (most or _NARROW_NAME):
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _style(colours: Palette, width: float = WIDTH) -> Mapping[str, object]:
    # Titles stand at the axes' upper end. To look for ticks there, and move them up, would take a quarter of all time.
    return {"axes.titley": 1.0,
            "figure.figsize": (width, width), "font.size": 9, "font.family": "DejaVu Sans",
            "text.color": colours.ink, "axes.labelcolor": colours.muted,
            "axes.edgecolor": colours.grid, "axes.titlecolor": colours.ink, "axes.facecolor": "none",
            "figure.facecolor": "none", "xtick.color": colours.muted, "ytick.color": colours.muted,
            "xtick.labelcolor": colours.muted, "ytick.labelcolor": colours.muted, "grid.color": colours.grid,
            "grid.linewidth": 0.7, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
            "lines.linewidth": 1.4, "xtick.major.size": 0, "ytick.major.size": 0, "legend.labelcolor": colours.ink,
            "svg.fonttype": "none", "svg.hashsalt": "atoll", "path.simplify": True, "hatch.linewidth": 0.6,
            "figure.constrained_layout.h_pad": 0.05, "figure.constrained_layout.hspace": 0.03}
