"""The page, and the lines, that compare runs of one workload."""

from collections.abc import Callable, Sequence

from atoll_analysis import extent, markup, names
from atoll_analysis.comparison import Comparison, beaten, choices, keys_that_differ
from atoll_analysis.config import text
from atoll_analysis.figures import comparison as figure
from atoll_analysis.figures import overlay, roofline
from atoll_analysis.figures.chart import Chart
from atoll_analysis.markup import Cell, Column, Tile, number
from atoll_analysis.metrics import metrics
from atoll_analysis.roofline import bounds
from atoll_analysis.seal import UNSOUND
from atoll_analysis.units import fixed, grouped, joules, percent

_MOST_ROWS = 500  # of a table
_SHOWN: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("ipc", "warp instructions per cycle", fixed), ("l1.hit_rate", "L1 hit rate", percent),
    ("llc.hit_rate", "LLC hit rate", percent), ("requests.local_share", "requests with a local home", percent),
    ("load.mean_latency", "cycles per load", fixed), ("link.bytes_per_cycle", "bytes per cycle between chips", fixed),
    ("dram.bytes_per_cycle", "DRAM bytes per cycle", fixed), ("energy.total", "energy", joules))


def charts(comparison: Comparison) -> dict[str, Chart]:
    """The figures of a comparison by name."""
    found = (figure.stacks(comparison), overlay.overlay(comparison), roofline.roofline(comparison))
    return {chart.name: chart for chart in found if chart is not None}


def _signed(value: float, digits: int = 0) -> str:
    """A difference: with a sign, but for 0 and what is rounded to it."""
    text = f"{round(value, digits):+,.{digits}f}"
    return text.replace("-", "−") if text.strip("+-0.") else text[1:]


def _more(part: float, whole: float) -> str:
    """ "+12.3 %", of `whole`."""
    return f"{_signed(100 * part / whole, 1)} %" if whole else percent(part, whole)


def _most(comparison: Comparison, run: str, count: int) -> list[tuple[str, float]]:
    """The parts that separate the run's time from the baseline's most."""
    more = comparison.differences()[run]
    return [(str(part), float(more[part])) for part in more.abs().sort_values(ascending=False).index[:count] if more[part]]


def _chosen(comparison: Comparison, run: str) -> str:
    """What the run's policy chose over time, and how far it was from choosing otherwise."""
    made = choices(comparison.runs[run])
    ruled = made.groupby("choice")["ruled"].sum().sort_values(ascending=False) / comparison.runs[run].cycles
    said = ", ".join(f"{choice} {percent(float(share))} of the time" for choice, share in ruled.items())
    if "lead" in made:
        closest = made.loc[(made["lead"] - made["needed"]).abs().idxmin()]
        said += (f"; closest call, kernel {closest['kernel']}: SM-side promised {percent(float(closest['lead']))} more "
                 f"bandwidth, and {percent(float(closest['needed']))} were needed")
    return said


def _cycles(comparison: Comparison, run: str) -> str:
    """Of the run, with the clock that makes a time of them where clocks differ."""
    result = comparison.runs[run]
    return f"{grouped(result.cycles)} cycles" + (f" at {1000 * result.clock_ghz:g} MHz" if comparison.clock_note else "")


def _base_clock(comparison: Comparison, text: str) -> str:
    return f"{text}; cycles of {comparison.baseline}'s clock" if comparison.clock_note else text


def lines(comparison: Comparison) -> list[str]:
    """The answer in a few lines of text: how much faster, by what, what was chosen and whether that was right."""
    width = max(map(len, comparison.runs))
    said = [f"{comparison.baseline:<{width}}  1.00 x  {_cycles(comparison, comparison.baseline)}, the baseline"]
    for run, result in comparison.runs.items():
        if run == comparison.baseline:
            continue
        parts = ", ".join(f"{part} {_signed(cycles)}" for part, cycles in _most(comparison, run, 3)) or "as the baseline"
        said.append(f"{run:<{width}}  {fixed(comparison.speedups[run])} x  {_cycles(comparison, run)}: {parts}")
        if result.decides:
            said.append(f"{'':<{width}}          chose {_chosen(comparison, run)}")
    said += [f"{run:<{width}}  warning: {percent(loss)} slower than {best}, whose organisation is fixed"
             for run, (best, loss) in beaten(comparison).items()]
    said += [f"{run:<{width}}  warning: {UNSOUND}" for run, result in comparison.runs.items() if not result.sound]
    said += [f"warning: the workload is not whole: {what}." for what in comparison.lacking]
    said += [f"warning: {comparison.version_note}"] * bool(comparison.version_note)
    return said + [comparison.clock_note] * bool(comparison.clock_note)


def _summary(comparison: Comparison) -> str:
    shown = markup.tiles([Tile(f"{fixed(comparison.speedups[run])} x", run, _cycles(comparison, run))
                          for run in comparison.runs])
    for what in comparison.lacking:
        shown += markup.paragraph(f"The workload is not whole: {what}.", "warn")
    for what, runs in comparison.warned.items():
        who = "All runs" if len(runs) == len(comparison.runs) else ", ".join(runs)
        shown += markup.paragraph(f"{who} warned: {what}.", "warn")
    for run, result in comparison.runs.items():
        if not result.sound:
            shown += markup.paragraph(f"{run}: {UNSOUND}", "warn")
    for note in filter(None, (comparison.version_note, comparison.clock_note)):
        shown += markup.paragraph(note, "warn")
    for run, (best, loss) in beaten(comparison).items():
        shown += markup.paragraph(f"{run} is {percent(loss)} slower than {best}, whose organisation is fixed: see Decisions.", "warn")
    of = comparison.runs[comparison.baseline]  # the others are of the same work
    return shown + markup.facts([("system", str(of.provenance["system"])), ("workload", str(of.provenance["workload"])),
                                 *extent.facts(of)])


def _differences(comparison: Comparison) -> str:
    more = comparison.differences()
    columns = [Column("cycles spent on"), Column(comparison.baseline, True)]
    for run in more:
        columns += [Column(str(run), True), Column("difference", True),
                    Column("%", True, "the difference, of the baseline's run time")]
    rows: list[list[Cell | str]] = []
    whole = comparison.cycles[comparison.baseline].sum()
    for part in more.index:
        base = float(comparison.cycles.at[part, comparison.baseline])
        if base == 0 and not more.loc[part].any():
            continue
        row: list[Cell | str] = [str(part), number(base, grouped(base))]
        for run in more:
            own, difference = float(comparison.cycles.at[part, run]), float(more.at[part, run])
            row += [number(own, grouped(own)), number(difference, _signed(difference)),
                    number(difference, _more(difference, whole))]
        rows.append(row)
    caption = _base_clock(comparison, "Mean of the chips; what separates the run times most stands first")
    return markup.table(columns, rows, caption)


def _decisions(comparison: Comparison) -> str:
    shown = ""
    for run, result in comparison.runs.items():
        made = choices(result)
        if made.empty:
            continue
        values = [c for c in made.columns if c not in ("kernel", "cycle", "choice", "ruled")]
        titles = {"lead": "SM-side's lead", "needed": "lead needed"}
        columns = [Column("kernel", True), Column("cycle", True), Column("choice"), Column("ruled", True, "cycles")]
        columns += [Column(titles.get(str(v), f"{v}, GB/s predicted"), True) for v in values]
        rows: list[list[Cell | str]] = []
        for _, row in made.head(_MOST_ROWS).iterrows():
            cells: list[Cell | str] = [number(row["kernel"], str(row["kernel"])), number(row["cycle"], grouped(row["cycle"])),
                                       str(row["choice"]), number(row["ruled"], grouped(row["ruled"]))]
            cells += [number(row[v], percent(row[v]) if v in titles else grouped(row[v])) for v in values]
            rows.append(cells)
        count = "" if len(rows) == len(made) else f", the first {len(rows)} of {len(made)}"
        shown += markup.paragraph(f"{run} chose {_chosen(comparison, run)}.")
        shown += markup.table(columns, rows, f"Decisions of {run}{count}")
    return shown


def _kernels(comparison: Comparison) -> str:
    columns = [Column("kernel", True), Column("name"), *[Column(run, True) for run in comparison.runs], Column("fastest")]
    rows: list[list[Cell | str]] = []
    own = comparison.runs[comparison.baseline].kernels["name"]
    for at, cycles in comparison.kernels.head(_MOST_ROWS).iterrows():
        rows.append([number(float(at), str(at)), names.kernel(str(own[at])),
                     *[number(float(c), grouped(float(c))) for c in cycles], str(cycles.idxmin())])
    return markup.table(columns, rows, _base_clock(comparison, "Cycles of each kernel"))


def _counters(comparison: Comparison) -> str:
    values = {run: metrics(result) for run, result in comparison.runs.items()}
    rows: list[list[Cell | str]] = [
        [title, *[number(float(of[name]), form(float(of[name]))) for of in values.values()]]
        for name, title, form in _SHOWN if any(of[name] == of[name] for of in values.values())]
    return markup.table([Column("figure of merit"), *[Column(run, True) for run in values]], rows, "Whole runs", sortable=False)


def _bandwidths(comparison: Comparison) -> str:
    """How much of LLC, links and DRAM each run used."""
    columns = [Column("run"), Column("resource"), Column("used", True, "bytes per cycle, all chips, mean of the run"),
               Column("at most", True, "bytes per cycle, all chips"), Column("share", True),
               Column("instructions per byte", True, "warp instructions")]
    rows: list[list[Cell | str]] = []
    for run, result in comparison.runs.items():
        for name, of in bounds(result).iterrows():
            resource = "links, by the busiest port" if name == "links" and "link.busiest_bytes" in result.totals else str(name)
            rows.append([run, resource, number(of["used"], fixed(of["used"], 1)), number(of["most"], fixed(of["most"], 1)),
                         number(of["share"], percent(of["share"])), number(of["intensity"], f"{of['intensity']:.3g}")])
    return markup.table(columns, rows, "Bandwidths, bytes per cycle of all chips; a share is the mean of all slices and buses, "
                        "of which some may be full, and of each chip's busiest port: links count as if all ports had moved as much "
                        "as it, more than the bytes between chips") if rows else ""


def _configuration(comparison: Comparison) -> str:
    table = keys_that_differ(comparison)
    rows: list[Sequence[Cell | str]] = [[str(key), *[text(v) for v in row]] for key, row in zip(table.index, table.to_numpy())]
    return markup.table([Column("key"), *[Column(run) for run in comparison.runs]], rows, "Keys that differ", sortable=False)


def page(comparison: Comparison) -> str:
    """The whole document."""
    base = comparison.runs[comparison.baseline]
    shown = {name: markup.figure(chart) for name, chart in charts(comparison).items()}
    sections = [("summary", "Summary", _summary(comparison)),
                ("stack", "Where the cycles went", shown["stacks"] + _differences(comparison)),
                ("time", "The runs over time", shown.get("overlay", "")),
                ("roofline", "Bandwidth of LLC, links and DRAM", shown.get("roofline", "") + _bandwidths(comparison)),
                ("decisions", "Decisions", _decisions(comparison)),
                ("counters", "What the memory system did", _counters(comparison)),
                ("kernels", "Kernels", _kernels(comparison)),
                ("configuration", "Configuration", _configuration(comparison))]
    title = f"{names.workload(str(base.provenance['workload']))} on {base.provenance['system']}"
    subtitle = [f"{len(comparison.runs)} runs: {', '.join(comparison.runs)}", *extent.marks(base)]
    return markup.page(title, " · ".join(subtitle), [s for s in sections if s[2]],
                       f"From {', '.join(r.path.name for r in comparison.runs.values())}, written by Atoll "
                       f"{', '.join(dict.fromkeys(comparison.written_by.values()))}.")
