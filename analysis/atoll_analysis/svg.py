"""A drawing as an SVG element for a page: colours follow the page's theme, artists carry tooltips, nothing is external."""

import re
from xml.etree import ElementTree

from atoll_analysis import palette
from atoll_analysis.figures.chart import NARROW, WIDTH, Chart

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_VARIABLES = {getattr(palette.SYMBOLIC, name): f"var(--{name.replace('_', '-')})" for name in palette.NAMES}
_COLOUR = re.compile(r"#0b[0-9a-f]{2}c7")
_FONT = re.compile(r"font: (?:(\w+) )?([\d.]+)px [^;]*")
_TIPS = ("tip", "cursor")
_DIGITS = re.compile(r"-?\d+\.\d{2,}")


def inline(chart: Chart) -> str:
    """The chart for wide and for narrow windows, of which the page shows one."""
    return _inline(chart, WIDTH, "wide") + _inline(chart, NARROW, "narrow")


def _inline(chart: Chart, width: float, kind: str) -> str:
    """The chart as <svg>, with a role and a label for screen readers."""
    document, tips = chart.svg(palette.SYMBOLIC, width)
    root = ElementTree.fromstring(document)
    _strip(root)
    kept = _referenced(root)
    for element in root.iter():
        _restyle(element, kept, f"{chart.name}-{kind}")
        _add_tip(element, tips)
    _merge_groups(root)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib.update({"role": "img", "aria-label": chart.alt, "class": f"chart {kind}"})
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _strip(root: ElementTree.Element) -> None:
    """Drops metadata and matplotlib's style sheet, which would apply to the page, and the names' long prefixes."""
    for parent in list(root.iter()):
        for child in list(parent):
            useless = child.tag == f"{_SVG}path" and child.attrib.get("style") == "fill: none"
            if useless or child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.replace(_SVG, "")
        if link := element.attrib.pop(f"{_XLINK}href", None):
            element.set("href", link)


def _referenced(root: ElementTree.Element) -> set[str]:
    text = " ".join(value for element in root.iter() for name, value in element.attrib.items() if name != "id")
    return set(re.findall(r"#([A-Za-z_][\w-]*)", text))


def _restyle(element: ElementTree.Element, kept: set[str], prefix: str) -> None:
    """Theme colours, the page's font, two decimals; ids that mean something are made unique on the page."""
    for name, value in list(element.attrib.items()):
        if name == "id":
            continue
        value = _COLOUR.sub(lambda found: _VARIABLES[found.group()], value)
        value = _FONT.sub(lambda f: f"font-size: {f.group(2)}px" + (f"; font-weight: {f.group(1)}" if f.group(1) else ""),
                          value)
        if name in ("d", "x", "y", "width", "height"):
            value = _DIGITS.sub(lambda found: f"{float(found.group()):.1f}".removesuffix(".0"), value)
            value = re.sub(r"\s+", " ", value).strip()
        value = re.sub(r"#([A-Za-z_][\w-]*)", lambda found: f"#{prefix}-{found.group(1)}", value)
        element.set(name, value)
    own = element.attrib.get("id")
    if own in kept:
        element.set("id", f"{prefix}-{own}")
    elif own is not None and not own.startswith(_TIPS):
        del element.attrib["id"]


def _add_tip(element: ElementTree.Element, tips: dict[str, str]) -> None:
    """A <title> is shown by every browser, without scripts too."""
    if (text := tips.get(element.attrib.get("id", ""))) is not None:
        element.set("class", element.attrib.pop("id").rstrip("0123456789"))
        title = ElementTree.Element("title")
        title.text = text
        element.insert(0, title)


def _merge_groups(element: ElementTree.Element) -> None:
    """Groups that only nest are dissolved, and so is the white space between elements."""
    for child in list(element):
        _merge_groups(child)
    for at, child in reversed(list(enumerate(element))):
        if child.tag == "g" and not child.attrib:
            element.remove(child)
            for inner in reversed(list(child)):
                element.insert(at, inner)
    if element.tag not in ("text", "title", "tspan"):
        element.text = None
    element.tail = None


