"""Pieces of a page: escaped text, tables that can be sorted, sections with figures. Functions rather than templates, because
nearly all of a page is tables and figures made from data, and there is one frame around them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources

from atoll_analysis import palette, svg
from atoll_analysis.figures.chart import Chart


@dataclass(frozen=True)
class Cell:
    """Text of a cell, and what it is sorted by (its text if None). `markup` is HTML to show instead of the text."""

    text: str
    key: float | None = None
    markup: str | None = None
    style: str = ""


@dataclass(frozen=True)
class Column:
    title: str
    number: bool = False   #: right-aligned, digits below digits
    doc: str = ""          #: shown when pointed at


def number(value: float, text: str) -> Cell:
    return Cell(text, None if value != value else float(value))


def table(columns: Sequence[Column], rows: Iterable[Sequence[Cell | str]], caption: str, footer: int = 0,
          sortable: bool = True) -> str:
    """A table with a caption; the last `footer` rows stay at the end when the others are sorted."""
    head = "".join(f'<th scope="col"{_class(c)}{_attribute("title", c.doc)}>{escape(c.title)}</th>' for c in columns)
    lines = [_row(columns, row) for row in rows]
    body, foot = (lines[:-footer], lines[-footer:]) if footer else (lines, [])
    kind = ' class="sortable"' if sortable and len(body) > 1 else ""
    # What scrolls can be reached by the keyboard.
    return (f'<div class="scroll" role="group" tabindex="0"{_attribute("aria-label", caption)}>'
            f'<table{kind}><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
            f'<tbody>{"".join(body)}</tbody>{"<tfoot>" + "".join(foot) + "</tfoot>" if foot else ""}</table></div>')


def _class(column: Column) -> str:
    return ' class="number"' if column.number else ""


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value, quote=True)}"' if value else ""


def _row(columns: Sequence[Column], row: Sequence[Cell | str]) -> str:
    cells = []
    for at, (column, cell) in enumerate(zip(columns, row, strict=True)):
        cell = Cell(cell) if isinstance(cell, str) else cell
        tag = 'th scope="row"' if at == 0 else "td"
        key = f' data-key="{cell.key:.12g}"' if cell.key is not None else ""
        shown = escape(cell.text) if cell.markup is None else cell.markup
        cells.append(f'<{tag}{_class(column)}{key}{_attribute("style", cell.style)}>{shown}</{tag.split()[0]}>')
    return f"<tr>{''.join(cells)}</tr>"


def figure(chart: Chart) -> str:
    note = f"<figcaption>{escape(chart.note)}</figcaption>" if chart.note else ""
    return f'<figure id="fig-{chart.name}">{svg.inline(chart)}{note}</figure>'


def section(anchor: str, title: str, *parts: str) -> str:
    return f'<section id="{anchor}" aria-labelledby="{anchor}-title"><h2 id="{anchor}-title">{escape(title)}</h2>' \
           f'{"".join(parts)}</section>'


def details(summary: str, *parts: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{_attribute('class', kind)}>{escape(text)}</p>"


@dataclass(frozen=True)
class Tile:
    """One of the run's main figures."""

    value: str
    name: str
    more: str = ""


def tiles(all_tiles: Iterable[Tile]) -> str:
    shown = "".join(f'<div class="tile"><dt>{escape(t.name)}</dt><dd><b>{escape(t.value)}</b>'
                    f'{f"<small>{escape(t.more)}</small>" if t.more else ""}</dd></div>' for t in all_tiles)
    return f'<dl class="tiles">{shown}</dl>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values, as a list of definitions."""
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{_breakable(value)}</dd>" for name, value in pairs)
    return f'<dl class="facts">{shown}</dl>'


def _breakable(text: str) -> str:
    """Options such as --set are not torn apart at their hyphens."""
    return " ".join(f'<span class="nobr">{escape(w)}</span>' if w.startswith("-") and len(w) < 40 else escape(w)
                    for w in text.split(" "))


def page(title: str, subtitle: str, sections: Sequence[tuple[str, str, str]], footer: str) -> str:
    """A whole document of (anchor, title, content) sections. It refers to nothing outside itself."""
    links = "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name, _ in sections)
    shown = "".join(section(anchor, name, content) for anchor, name, content in sections)
    style = (f":root {{ {palette.css_variables(palette.LIGHT)} }}\n"
             f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {palette.css_variables(palette.DARK)} }} }}\n"
             + _asset("report.css"))
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"/>'
            f'<meta name="color-scheme" content="light dark"/>'
            f"<title>{escape(title)}</title><style>\n{style}</style></head>\n<body><header><h1>{escape(title)}</h1>"
            f'<p>{escape(subtitle)}</p></header><nav aria-label="Contents">{links}</nav>\n<main>{shown}</main>\n'
            f"<footer>{escape(footer)}</footer><script>\n{_asset('report.js')}</script></body></html>\n")


def _asset(name: str) -> str:
    return (resources.files("atoll_analysis") / "page" / name).read_text(encoding="utf-8")
