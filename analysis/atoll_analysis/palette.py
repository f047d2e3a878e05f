"""Colours by role. Hues are told apart with colour-blind eyes too; no meaning rests on a colour alone."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Palette:
    paper: str      #: background
    ink: str        #: text
    muted: str      #: axes, secondary text
    grid: str
    heat: str       #: of heat maps, by opacity
    on_heat: str    #: text on strong heat
    on_strong: str  #: text on c0 to c3
    on_pale: str    #: text on c4 and c5
    good: str       #: faster than the baseline
    bad: str        #: slower
    c0: str         #: categories, in this order
    c1: str
    c2: str
    c3: str
    c4: str
    c5: str
    c6: str
    c7: str

    @property
    def categories(self) -> list[str]:
        return [self.c0, self.c1, self.c2, self.c3, self.c4, self.c5, self.c6, self.c7]


# After Okabe and Ito, darkened or lightened until lines stand out from their background.
LIGHT = Palette(
    paper="#ffffff", ink="#1a2129", muted="#5b6673", grid="#dde2e8", heat="#0072b2", on_heat="#ffffff",
    on_strong="#ffffff", on_pale="#1a2129", good="#0072b2", bad="#d55e00", c0="#0072b2", c1="#d55e00", c2="#009e73",
    c3="#cc6fa8", c4="#d99a00", c5="#52aee2", c6="#4a4f55", c7="#8c6239")
DARK = Palette(
    paper="#12161b", ink="#e4e9ee", muted="#98a4b0", grid="#2b333c", heat="#1f6fa8", on_heat="#ffffff",
    on_strong="#0c1014", on_pale="#0c1014", good="#4fa8e0", bad="#f0894a", c0="#4fa8e0", c1="#f0894a", c2="#2fc59a",
    c3="#f04fb0", c4="#f2c14e", c5="#a5dcf8", c6="#c3c9d0", c7="#c49a6c")

NAMES = tuple(f.name for f in fields(Palette))
# Stand-ins that svg.py finds again and turns into var(--name), so that one drawing follows the reader's theme.
SYMBOLIC = Palette(**{name: f"#0b{at:02x}c7" for at, name in enumerate(NAMES)})


def css_variables(palette: Palette) -> str:
    return " ".join(f"--{name.replace('_', '-')}: {getattr(palette, name)};" for name in NAMES)
