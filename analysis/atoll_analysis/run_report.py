"""The page about one run."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from atoll_analysis import capacity, config, extent, markup, names, structure_tables
from atoll_analysis.decisions import judged
from atoll_analysis.energy_range import total_range
from atoll_analysis.figures import balance, energy, responses, sharing, stack, timeline
from atoll_analysis.figures import decisions as decision_figure
from atoll_analysis.figures.chart import Chart
from atoll_analysis.markup import Cell, Column, Tile, number
from atoll_analysis.metrics import metrics, ratio, sums
from atoll_analysis.result import Result
from atoll_analysis.sampling import Sampling
from atoll_analysis.seal import UNSOUND
from atoll_analysis.units import counted, duration, fixed, grouped, joules, percent, seconds, si, watts

_MOST_ROWS = 500  # of a table; atoll_analysis.load() has them all
_FIGURES = (timeline.timeline, stack.stack, responses.responses, responses.latency, balance.slices, balance.channels,
            sharing.sharing, decision_figure.decisions, energy.energy)


def charts(result: Result) -> dict[str, Chart]:
    """The figures for which the run has data, by name."""
    return {chart.name: chart for make in _FIGURES if (chart := make(result)) is not None}


def _tiles(result: Result) -> str:
    of, values = sums(result), metrics(result, simulated=True)
    all_loads = float(result.latency.to_numpy().sum())
    remote = of["requests.remote"]
    busy = ratio(of["dram.bus_busy"], result.cycles * result.memory_chips * capacity.dram_channels(result))
    shown = [Tile(grouped(result.cycles), "cycles", f"{seconds(result.seconds)} at {result.clock_ghz:g} GHz"),
             Tile(fixed(values["ipc"]), "IPC", "warp instructions per cycle"),
             Tile(percent(values["l1.hit_rate"]), "L1 hits", f"of {si(of['l1.accesses'])} loaded lines"),
             Tile(percent(values["llc.hit_rate"]), "LLC hits", f"of {si(of['llc.accesses'])} requests")]
    if result.chips > 1:
        shown.append(Tile(percent(remote, remote + of["requests.local"]), "remote", "of the L1s' requests"))
        used = values["link.bytes_per_cycle"] / result.chips / capacity.link_bytes_per_cycle(result)
        shown.append(Tile(percent(used), "links used, mean of ports", _rate(values["link.bytes_per_cycle"], result)))
    shown += [Tile(percent(busy), "DRAM buses busy", _rate(values["dram.bytes_per_cycle"], result)),
              Tile(fixed(values["load.mean_latency"], 1), "cycles per load",
                   f"{fixed(ratio(all_loads, result.cycles))} read misses of L1s per cycle")]
    launches = counted(int(result.kernels["ctas"].sum()), "CTA")
    if result.sampling is not None:
        launches += f" in all; {counted(int(result.sampling.launches['simulated'].sum()), 'kernel')} simulated"
    if not result.complete:
        launches += f"; {_begun(result)}"
    shown.append(Tile(grouped(len(result.kernels)), "kernel" if len(result.kernels) == 1 else "kernels", launches))
    if values["energy.total"] > 0:
        power = watts(ratio(values["energy.total"], result.seconds))
        shown.append(Tile(joules(values["energy.total"]), "energy", f"{_energy_range(result)}{power} on average"))
    return markup.tiles(shown)


def _begun(result: Result) -> str:
    """Of a run that was stopped."""
    begun, ended = (int(result.kernels[name].notna().sum()) for name in ("started", "finished"))
    return f"{grouped(begun)} of {counted(len(result.kernels), 'kernel')} had started, and {grouped(ended)} had finished"


def _energy_range(result: Result) -> str:
    """Of what was simulated, which of a sampled run is not the whole."""
    if result.energy_prices is None or result.sampling is not None:
        return ""
    found = total_range(result.energy_prices)
    return f"{joules(found.least)} to {joules(found.greatest)} by uncertain prices; "


def _sampled(sampling: Sampling) -> str:
    """What is extrapolated, and that all else is not."""
    said = markup.paragraph(f"This run is {sampling}. The table has figures of the whole workload, extrapolated, with their "
                            f"{100 * sampling.confidence:g} % intervals; but for the numbers of kernels and CTAs, everything else on this "
                            "page is of the launches that were simulated.", "warn")
    shown = [name for name in ("cycles", "ipc", "l1.hit_rate", "llc.hit_rate", "link.bytes", "dram.reads", "energy.total")
             if name in sampling.figures.index]
    rows: list[list[Cell | str]] = [
        [name, number(value, f"{value:,.6g}"), number(half, f"{half:,.3g}")]
        for name, (value, half) in zip(shown, sampling.figures.loc[shown, ["value", "half_width"]].to_numpy())]
    return said + markup.table([Column("figure"), Column("whole workload", True), Column("±", True)], rows, "Extrapolated")


def _rate(bytes_per_cycle: float, result: Result) -> str:
    return f"{fixed(bytes_per_cycle, 1)} B/cycle, {si(bytes_per_cycle * result.clock_ghz * 1e9, 'B/s')}"


def _facts(result: Result) -> str:
    p = result.provenance
    ranks = len(p.get("hosts", []))
    host = f"{duration(float(p.get('host_seconds', 0)))} on {ranks} rank{'' if ranks == 1 else 's'}"
    chips = f"{result.chips} chip{'' if result.chips == 1 else 's'}"
    return markup.facts([
        ("system", f"{p['system']}, {chips}"), ("workload", str(p["workload"])), *extent.facts(result),
        ("organisation", _organisation(result)),
        ("digest", result.digest), ("command", str(p["command"])), ("simulated", f"{p['started_at']}, in {host}"),
        ("written by", f"Atoll {p['version']} ({p['git_commit']}), schema {result.schema_version}")])


def _organisation(result: Result) -> str:
    plain = {"llc.organisation": None, "llc.replication": "shared", "coherence.protocol": "software",
             "cluster.sharing": "none"}
    return ", ".join(f"{key} = {result.config[key]}" for key, usual in plain.items()
                     if key in result.config and result.config[key] != usual)


def _caption(noun: str, said: str, shown: int, all_: int) -> str:
    return ("" if shown == all_ else f"The first {grouped(shown)} of ") + counted(all_, noun) + said


def _kernels(result: Result) -> str:
    columns = [Column("kernel", True), Column("name"), Column("CTAs", True), Column("launched", True, "cycles"),
               Column("cycles", True, "from the end of the kernel before"), Column("of the run", True)]
    numbers = result.kernels[["ctas", "launched", "cycles", "started"]].astype(float)  # NaN for what never came
    rows: list[list[Cell | str]] = []
    for at, mangled, (ctas, launched, cycles, started) in zip(numbers.index, result.kernels["name"], numbers.to_numpy()):
        plain = names.kernel(mangled)
        shown = Cell(plain, tip="" if plain == mangled else mangled)
        share = ratio(cycles, result.cycles)
        length = grouped(cycles) if cycles == cycles else "unfinished" if started == started else \
            "not simulated" if result.sampling is not None else "not started"
        rows.append([number(float(at), str(at)), shown, number(ctas, grouped(ctas)), number(launched, grouped(launched)),
                     number(cycles, length), number(share, percent(share))])
        if len(rows) == _MOST_ROWS:
            break
    return markup.table(columns, rows, _caption("kernel", ", one after another" if len(numbers) > 1 else "", len(rows), len(numbers)))


_FORMATS: dict[str, Callable[[float], str]] = {"hit": percent, "local": percent, "bandwidth": grouped, "ipc": fixed}


def _decisions(result: Result) -> str:
    table = judged(result)
    columns = [Column("cycle", True), Column("kernel", True), Column("choice"), Column("ruled", True, "cycles")]
    compared = [c for c in table.columns if c not in ("kernel", "cycle", "choice", "ruled")]
    for name in compared:
        what, _, how = name.partition(".")
        title = f"{how}: GB/s" if what == "predicted" else \
            {"hit": "hit rate", "local": "local", "bandwidth": "GB/s", "ipc": "IPC"}[what] + f", {how}"
        columns.append(Column(title, True))
    rows = []
    for _, row in table.head(_MOST_ROWS).iterrows():
        cycle, kernel, ruled = (number(row[c], grouped(row[c])) for c in ("cycle", "kernel", "ruled"))
        cells: list[Cell | str] = [cycle, kernel, str(row["choice"]), ruled]
        cells += [number(row[name], _FORMATS.get(name.partition(".")[0], grouped)(row[name])) for name in compared]
        rows.append(cells)
    said = ": the model's predictions and what was measured while each ruled"
    shown = markup.table(columns, rows, _caption("decision", said, len(rows), len(table)))
    values = result.decisions.columns[3:]
    if len(values):
        columns = [Column("cycle", True), Column("choice"), *[Column(str(v), True) for v in values]]
        rows = [[number(row["cycle"], grouped(row["cycle"])), str(row["choice"]),
                 *[number(row[v], f"{row[v]:.4g}" if row[v] == row[v] else "–") for v in values]]
                for _, row in result.decisions.head(_MOST_ROWS).iterrows()]
        shown += markup.details("All inputs and predictions of the model",
                              markup.table(columns, rows, "As the policy wrote them; inf: no limit"))
    return shown


def _per_chip(table: pd.DataFrame, caption: str, first: str, form: Callable[[float], str],
              docs: dict[str, str] | None = None) -> str:
    """A row per column of [chip x name], with the sum and, if there are several, each chip."""
    chips = list(table.index) if len(table) > 1 else []
    columns = [Column(first), Column("all chips", True), *[Column(f"chip {c}", True) for c in chips]]
    rows = []
    for name in table:
        cells = [Cell(str(name)), number(float(table[name].sum()), form(table[name].sum()))]
        cells += [number(float(table.at[c, name]), form(table.at[c, name])) for c in chips]
        if docs and docs.get(str(name)):
            cells[0] = Cell(str(name), tip=docs[str(name)])
        rows.append(cells)
    return markup.table(columns, rows, caption)


def _configuration(result: Result) -> str:
    keys = [key for key in config.overrides(str(result.provenance["command"])) if key in result.config]
    if keys:
        shown = markup.table([Column("key"), Column("value")], [[key, config.text(result.config[key])] for key in keys],
                           f"Set on the command line, above {result.provenance['system']}")
    else:
        shown = markup.paragraph(f"Everything as in {result.provenance['system']}: the command line changed nothing.")
    everything = [[key, config.text(value)] for key, value in result.config.items()]
    return shown + markup.details("The whole configuration", markup.table([Column("key"), Column("value")], everything,
                                                                       "Every key with the value that was used"))


def _data(result: Result) -> str:
    totals = result.totals[[c for c in result.totals if result.totals[c].sum() > 0]]
    docs = {name: f"{result.docs[name]} ({result.units[name]})" for name in totals if name in result.docs}
    parts = [markup.details(f"Counters ({totals.shape[1]} that counted something)",
                          _per_chip(totals, "Totals of the run", "counter", grouped, docs))]
    if result.energy is not None and result.energy.to_numpy().sum() > 0:
        parts.append(markup.details("Energy by component and chip",
                                  _per_chip(result.energy, "Energy over the run", "component", joules)))
    if result.sm_sharing is not None:
        parts.append(markup.details("Lines that SMs of a chip share, by kernel", _plain(result.sm_sharing, "kernel")))
    parts += [markup.details(f"/{name}", _plain(table, "row")) for name, table in result.other.items()]
    return "".join(parts)


def _plain(table: pd.DataFrame, first: str) -> str:
    def cell(value: object) -> Cell:
        return Cell(value) if isinstance(value, str) else number(float(value), f"{value:,.6g}")  # type: ignore[arg-type]

    columns = [Column(first, True), *[Column(str(c), table[c].dtype.kind in "if") for c in table]]
    rows = [[number(float(at), str(at)), *[cell(value) for value in row]]
            for at, row in zip(table.index, table.itertuples(index=False))]
    return markup.table(columns, rows, "As stored (docs/results.md)")


def _digest(digest: str) -> str:
    return f"digest {digest}"


def is_page_of(path: Path, digest: str) -> bool:
    """Whether there is a page, and of that result: another run may have taken the place of the one that it is of."""
    if not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as page:
            head = itertools.takewhile(lambda line: "<main>" not in line, page)
            return any(_digest(digest) in line for line in head)
    except OSError:
        return False


def page(result: Result) -> str:
    """The whole document."""
    drawn = charts(result)
    shown = {name: markup.figure(chart) for name, chart in drawn.items()}

    def some(*names: str) -> str:
        return "".join(shown.get(name, "") for name in names)

    cut = ""
    if not result.sound:
        cut += markup.paragraph(UNSOUND, "warn")
    if not result.complete:
        cut += markup.paragraph(f"Stopped early, by --max-cycles or a signal: {_begun(result)}.", "warn")
    if what := result.provenance.get("incomplete"):
        cut += markup.paragraph(f"The workload is not whole: {names.first_line(str(what))}.", "warn")
    for what in str(result.provenance.get("warnings", "")).splitlines():
        cut += markup.paragraph(f"The run warned: {what}.", "warn")
    if result.sampling is not None:
        cut += _sampled(result.sampling)
    if "timeline" not in drawn:
        cut += markup.paragraph("No time line, as the run has fewer than three samples: a smaller control.sample_cycles "
                                "would show one.")
    sections = [("summary", "Summary", cut + _tiles(result) + _facts(result)),
                ("time", "The run over time", some("timeline")),
                ("stack", "Where the cycles went", some("stack")),
                ("responses", "LLC responses by origin", some("responses", "latency")),
                ("structures", "Data structures", structure_tables.part(result)),
                ("decisions", "Decisions", some("decisions") + (_decisions(result) if len(result.decisions) else "")),
                ("sharing", "Data shared between chips", some("sharing")),
                ("balance", "Slices and channels", some("slices", "channels")),
                ("energy", "Energy", some("energy")),
                ("kernels", "Kernels", _kernels(result) if len(result.kernels) else ""),
                ("configuration", "Configuration", _configuration(result)),
                ("data", "Data", _data(result))]
    title = f"{result.provenance['system']}: {names.workload(str(result.provenance['workload']))}"
    subtitle = [_organisation(result), *extent.marks(result), extent.cycles(result), _digest(result.digest)]
    return markup.page(title, " · ".join(subtitle), [s for s in sections if s[2]],
                     f"From {result.path.name}, written by Atoll {result.provenance['version']}.")

