"""A page of docs/validation: a script writes its results between two comments and leaves the rest as it is."""

import pathlib
import re
import textwrap

BEGIN, END = "<!-- results: written by report.py -->", "<!-- end of results -->"
WIDTH = 120  # of a document's lines


def wrapped(line):
    """Rows of tables and headings stay whole, because Markdown has no way to break them."""
    if line.startswith(("|", "#")):
        return [line]
    indent = " " * len(re.match(r"(- )?", line)[0])
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def section(path: pathlib.Path, heading):
    """What the page has under a heading, with it; empty if it has none."""
    lines = path.read_text().splitlines()
    if heading not in lines:
        return []
    first = lines.index(heading)
    last = next((i for i in range(first + 1, len(lines)) if lines[i].startswith(("#", "<!--"))), len(lines))
    return lines[first:last]


def write(path: pathlib.Path, lines, begin=BEGIN, end=END):
    page = path.read_text()
    head, tail = page.split(begin)[0], page.split(end)[1]
    path.write_text(head + begin + "\n\n" + "\n".join(part for line in lines for part in wrapped(line)) + "\n" + end + tail)
