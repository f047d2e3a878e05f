"""Pieces of a page: escaped text, tables that can be sorted, sections with figures. The markup itself is in templates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from atoll_analysis import palette, svg
from atoll_analysis.figures.chart import Chart

_TEMPLATES = Environment(loader=PackageLoader("atoll_analysis", "page"), autoescape=True, undefined=StrictUndefined,
                         keep_trailing_newline=True)
_PARTS = _TEMPLATES.get_template("parts.html").module


@dataclass(frozen=True)
class Cell:
    """Text of a cell, and what it is sorted by (its text if None); with a tip, as a link, or as code."""

    text: str
    key: float | None = None
    tip: str = ""    #: shown when pointed at
    href: str = ""
    code: bool = False
    style: str = ""


@dataclass(frozen=True)
class Column:
    title: str
    number: bool = False   #: right-aligned, digits below digits
    doc: str = ""          #: shown when pointed at


def number(value: float, text: str) -> Cell:
    return Cell(text, None if value != value else float(value))


def _part(name: str, *values: object) -> str:
    """A piece from its template, as plain text: pieces are put together by `+` and join()."""
    return "".join([getattr(_PARTS, name)(*values)])


def table(columns: Sequence[Column], rows: Iterable[Sequence[Cell | str]], caption: str, footer: int = 0,
          sortable: bool = True) -> str:
    """A table with a caption; the last `footer` rows stay at the end when the others are sorted."""
    lines = [[Cell(c) if isinstance(c, str) else c for _, c in zip(columns, row, strict=True)] for row in rows]
    body, foot = (lines[:-footer], lines[-footer:]) if footer else (lines, [])
    return _part("table", columns, body, foot, caption, sortable and len(body) > 1)


def figure(chart: Chart) -> str:
    return _part("figure", chart.name, Markup(svg.inline(chart)), chart.note)


def details(summary: str, *parts: str) -> str:
    return _part("details", summary, Markup("".join(parts)))


def paragraph(text: str, kind: str = "") -> str:
    return _part("paragraph", text, kind)


@dataclass(frozen=True)
class Tile:
    """One of the run's main figures."""

    value: str
    name: str
    more: str = ""


def tiles(all_tiles: Iterable[Tile]) -> str:
    return _part("tiles", list(all_tiles))


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values, as a list of definitions."""
    return _part("facts", list(pairs))


def glance(title: str, rows: Iterable[tuple[str, str, str]] = (), content: str = "",
           gaps: Iterable[tuple[str, str]] = ()) -> str:
    """What a notebook shows of something: its name, rows of name, value and meaning, other markup, and what is missing."""
    return _part("glance", title, list(rows), Markup(content), list(gaps))


def page(title: str, subtitle: str, sections: Sequence[tuple[str, str, str]], footer: str) -> str:
    """A whole document of (anchor, title, content) sections. It refers to nothing outside itself."""
    return _TEMPLATES.get_template("page.html").render(
        title=title, subtitle=subtitle, sections=sections, footer=footer, light=Markup(palette.css_variables(palette.LIGHT)),
        dark=Markup(palette.css_variables(palette.DARK)), style=Markup(_source("report.css")), script=Markup(_source("report.js")))


def _source(name: str) -> str:
    assert _TEMPLATES.loader
    return _TEMPLATES.loader.get_source(_TEMPLATES, name)[0]
