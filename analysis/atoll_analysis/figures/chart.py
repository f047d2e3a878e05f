"""A figure that can be drawn in any palette: once for the page, once for PNG files."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import ScaledTranslation

from atoll_analysis import palette
from atoll_analysis.palette import Palette
from atoll_analysis.units import tick

WIDTH = 11.0  # inches; everything is set for this width of page


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
    draw: Callable[[Palette], Drawing]
    note: str = ""                     #: caption below the figure
    heading: str = ""                  #: of an image that stands alone; else the title

    def svg(self, colours: Palette) -> tuple[bytes, dict[str, str]]:
        """An SVG document whose text is text, and the tips by gid."""
        with matplotlib.rc_context(_style(colours)):
            drawing, raw = self.draw(colours), io.BytesIO()
            settle(drawing.figure)
            drawing.figure.savefig(raw, format="svg", metadata={"Date": None})
        return raw.getvalue(), drawing.tips

    def write_image(self, path: Path) -> None:
        """PNG, PDF or SVG by the suffix, in light colours."""
        with matplotlib.rc_context(_style(palette.LIGHT)):
            figure = self.draw(palette.LIGHT).figure
            settle(figure)
            figure.text(0.005, 1.0 + 0.12 / figure.get_figheight(), self.heading or self.title, fontsize=11,
                        fontweight="bold", va="bottom")
            figure.savefig(path, dpi=110, facecolor=palette.LIGHT.paper, bbox_inches="tight", pad_inches=0.12)


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure of `width` x `height` inches that lays itself out."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def settle(figure: Figure) -> None:
    """Lays the figure out once and for all; matplotlib would do it again at every drawing."""
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def label(axes: Axes, title: str, unit: str = "") -> None:
    """Title and unit above the panel, where they are read without turning the head."""
    axes.set_title(title + (f"  ({unit})" if unit else ""), loc="left", fontsize=10, fontweight="semibold", pad=5)


def percent_axis(axis: Axis) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))


def count_axis(axis: Axis) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))


def legend_at(axes: Axes, inches: float, loc: str, columns: int, *handles_and_names: list[Any]) -> None:
    """A legend at the left, its corner `loc` that far above the upper or, if negative, below the lower end of the axes."""
    shift = ScaledTranslation(0, inches, axes.figure.dpi_scale_trans)
    axes.legend(*handles_and_names, loc=loc, bbox_to_anchor=(0, float(inches > 0)), bbox_transform=axes.transAxes + shift,
                ncol=columns, frameon=False, fontsize=9, borderpad=0, borderaxespad=0, handlelength=1.2, columnspacing=1.2)


def legend_above(axes: Axes, *handles_and_names: list[Any], columns: int = 8) -> None:
    axes.legend(*handles_and_names, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=columns, frameon=False, fontsize=9,
                borderpad=0.1, borderaxespad=0.3, handlelength=1.2, columnspacing=1.2)


def _style(colours: Palette) -> Mapping[str, object]:
    return {"font.size": 9, "font.family": "DejaVu Sans", "text.color": colours.ink, "axes.labelcolor": colours.muted,
            "axes.edgecolor": colours.grid, "axes.titlecolor": colours.ink, "axes.facecolor": "none",
            "figure.facecolor": "none", "xtick.color": colours.muted, "ytick.color": colours.muted,
            "xtick.labelcolor": colours.muted, "ytick.labelcolor": colours.muted, "grid.color": colours.grid,
            "grid.linewidth": 0.7, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
            "lines.linewidth": 1.4, "xtick.major.size": 0, "ytick.major.size": 0, "legend.labelcolor": colours.ink,
            "svg.fonttype": "none", "svg.hashsalt": "atoll", "path.simplify": True, "hatch.linewidth": 0.6,
            "figure.constrained_layout.h_pad": 0.05, "figure.constrained_layout.hspace": 0.03}
