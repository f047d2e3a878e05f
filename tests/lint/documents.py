#!/usr/bin/env python3
"""Documents have lines of at most 120 characters, their links lead to files and headings that exist, and docs/README.md has
a link to each that is below docs.

    documents.py [ROOT]

Rows of tables, code and HTML may be longer, because they cannot be broken, and so may a line that is a single word."""

import collections
import functools
import pathlib
import re
import sys

WIDTH = 120
MADE = {".git", "build", "results"}  # folders that hold no documents of ours


def prose(text):
    """The lines that are neither code, table nor HTML, each with its number."""
    fence = code = False
    blank, content = True, 0  # content: where the text of the current list item begins
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.lstrip()
        indent = len(line) - len(bare)
        if bare.startswith("```"):
            fence = not fence
        elif not bare:
            blank = True
        elif not fence:
            if blank and indent < content:
                content = 0
            code = indent >= content + 4 and (blank or code)
            blank = False
            if code:
                continue
            if item := re.match(r" *(?:[-*+]|\d+\.) +", line):
                content = item.end()
            if not bare.startswith(("|", "<")):
                yield number, line


@functools.cache
def anchors(path):
    """What GitHub makes of the headings; the second of a name gets a number."""
    names: collections.Counter = collections.Counter()
    for _, line in prose(path.read_text()):
        if heading := re.match(r"#+ (.*)$", line):
            title = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading[1]).lower()
            names[re.sub(r"[^\w\- ]", "", title).replace(" ", "-")] += 1
    return {f"{name}-{again}" if again else name for name, times in names.items() for again in range(times)}


def links(text):
    """Targets of links and pictures, each with its line; what stands in code is none."""
    kept = {number for number, _ in prose(text)}
    lines = [line if number in kept or line.startswith("|") else "" for number, line in enumerate(text.splitlines(), 1)]
    text = re.sub(r"`[^`]*`", lambda span: re.sub(r"[^\n]", " ", span[0]), "\n".join(lines))
    for link in re.finditer(r"\]\(([^()\s]+)\)", text):
        yield text.count("\n", 0, link.end()) + 1, link[1]


def dead(page, target):
    """What is wrong with a link, or nothing."""
    if re.match(r"[a-z]+:", target):
        return ""
    name, _, anchor = target.partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists():
        return f"link to {target}: no such file"
    if anchor and (path.suffix != ".md" or anchor not in anchors(path)):
        return f"link to {target}: no such heading"
    return ""


def faults(page):
    text = page.read_text()
    for number, line in prose(text):
        if len(line) > WIDTH and " " in line.strip():
            yield number, f"{len(line)} characters, {WIDTH} are allowed: break the line"
    for number, target in links(text):
        if fault := dead(page, target):
            yield number, fault


def unlisted(root, pages):
    """Documents below docs that its index does not name."""
    index = root / "docs/README.md"
    if index.exists():
        named = {(index.parent / target).resolve() for _, target in links(index.read_text())}
        for page in pages:
            if index.parent in page.parents and page not in named | {index}:
                yield f"{page.relative_to(root)}:1: docs/README.md has no link to it"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    pages = [p for p in sorted(root.rglob("*.md")) if not MADE & set(p.relative_to(root).parts)]
    found = [f"{p.relative_to(root)}:{number}: {fault}" for p in pages for number, fault in sorted(faults(p))]
    found += unlisted(root, pages)
    print("\n".join([*found, f"{len(pages)} documents, {len(found)} faults"]))
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
