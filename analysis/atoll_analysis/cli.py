"""The command `atoll-report`."""

import argparse
import contextlib
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from atoll_analysis import comparison_report, run_report, sweep_report
from atoll_analysis.bounded import bounded
from atoll_analysis.comparison import compare
from atoll_analysis.errors import BadResult, CannotWrite
from atoll_analysis.figures.chart import Chart
from atoll_analysis.rankings import alone, rankings, sentences
from atoll_analysis.result import load
from atoll_analysis.sweeps import Sweep, load_sweep

_IMAGES = (".png", ".pdf", ".svg")
_ELSEWHERE = "; -o FILE writes it elsewhere"


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="atoll-report", description="Turns a result of `atoll run`, or the folder of a sweep, into one HTML file that "
        "needs nothing else: no network, no other file.")
    parser.add_argument("input", type=Path, nargs="+", help="OUT.h5 of `atoll run -o`, or the folder of `atoll sweep`; "
                        "several results of one workload: a page that compares them, the first is the baseline")
    parser.add_argument("-o", "--output", type=Path, action="append", metavar="FILE", default=[],
                        help=".html: the report (without -o: beside the input); .png, .pdf, .svg: one figure, the time line "
                        "of a run, the speed-ups of a sweep, the stacks of a comparison; repeatable")
    parser.add_argument("--png", type=Path, metavar="DIR", help="also write every figure as a PNG file into DIR")
    parser.add_argument("--points", action="store_true", help="of a sweep: also a report beside each result, linked from it")
    parser.add_argument("--force-damaged", action="store_true",
                        help="read a result whose bytes do not fit their checksum: its numbers mean nothing, and HDF5 may crash")
    return parser.parse_args(words)


def _write(path: Path, write: Callable[[Path], object], advice: str = "") -> None:
    """The file appears under its name when it is complete."""
    beside = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(beside)
        os.replace(beside, path)
    except OSError as error:  # of a full disk, which names no file
        raise CannotWrite(path, f"cannot be written: {error.strerror or error}{advice}") from error
    finally:
        with contextlib.suppress(OSError):  # of a read-only disk, also where there is no file
            beside.unlink(missing_ok=True)
    print(path)


def write_outputs(outputs: Sequence[Path], page: Callable[[], str], charts: dict[str, Chart], image: str,
                  png: Path | None, what: str = "result") -> None:
    """The report into each .html, the figure `image` into each other output, and every figure below `png`."""
    for output in outputs:
        if output.suffix in _IMAGES:
            if image not in charts:
                raise BadResult(output, f"cannot be drawn: this {what} has no figure `{image}`")
            _write(output, charts[image].write_image, _ELSEWHERE)
        else:
            _write(output, lambda path: path.write_text(page(), encoding="utf-8"), _ELSEWHERE)
    for name, chart in charts.items() if png else ():
        assert png is not None
        _write(png / f"{name}.png", chart.write_image)


def _warnings(sweep: Sweep) -> list[str]:
    return [f"warning: {note}" for note in (sweep.version_note, sweep.changed_note) if note]


def _gaps(sweep: Sweep) -> list[str]:
    """What the page says of missing points, in a line; the page lists them."""
    if not sweep.missing:
        return []
    name, why = next(iter(sweep.missing.items()))
    planned = len(sweep.workloads) * len(sweep.variants)
    return [f"warning: {len(sweep.missing)} of {planned} points have no usable result, such as {name} ({why})."]


def _point(path: Path) -> None:
    """The page of one point, beside its result."""
    result = load(path)
    _write(path.with_suffix(".html"), lambda page: page.write_text(run_report.page(result), encoding="utf-8"))


def run(options: argparse.Namespace, apart: Callable[[Sequence[Path], Callable[[], int]], int] = lambda _, work: work()) -> int:
    """Its exit code. `apart` does the work on each point, so that one which does not come back leaves the others."""
    code = 0
    for output in options.output:
        if output.suffix not in (".html", ".htm", *_IMAGES):
            raise BadResult(output, f"should end in .html, {', '.join(_IMAGES)}")
    source: Path = options.input[0]
    if options.points and not (len(options.input) == 1 and source.is_dir()):
        raise BadResult(source, "--points is of a sweep's folder; leave it out")
    if len(options.input) > 1:
        if folders := [path for path in options.input if path.is_dir()]:
            raise BadResult(folders[0], "is a folder: several results are compared, or a sweep's folder is given alone")
        compared = compare([load(path, options.force_damaged) for path in options.input])
        outputs = options.output or [source.with_name("comparison.html")]
        write_outputs(outputs, lambda: comparison_report.page(compared), comparison_report.charts(compared), "stacks",
                      options.png, "comparison")
        print("\n".join(comparison_report.lines(compared)))
    elif source.is_dir():
        sweep = load_sweep(source)
        if options.points:
            for path in [source / name for name in sweep.runs["file"]]:
                code = max(code, _told(lambda: apart([path], lambda: _told(lambda: _point(path)))))
        outputs = options.output or [source / "report.html"]
        charts = sweep_report.charts(sweep)
        image = next(iter(charts), "speedups")
        write_outputs(outputs, lambda: sweep_report.page(sweep, outputs[0].parent), charts, image, options.png, "sweep")
        found = rankings(sweep)
        notes = filter(None, [alone(sweep, found), sweep.work_note, sweep.clock_note])
        for line in [*sentences(found), *notes, *_warnings(sweep), *_gaps(sweep)]:
            print(textwrap.fill(line, 100, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False))
    else:
        result = load(source, options.force_damaged)
        outputs = options.output or [source.with_suffix(".html")]
        write_outputs(outputs, lambda: run_report.page(result), run_report.charts(result), "timeline", options.png)
    return code


def _told(work: Callable[[], int | None]) -> int:
    """The exit code of `work`, whose errors are printed."""
    try:
        return work() or 0
    except (BadResult, OSError) as error:
        print(f"atoll-report: {error}", file=sys.stderr)
        return error.exit_code if isinstance(error, BadResult) else CannotWrite.exit_code


def report(words: Sequence[str] | None = None) -> int:
    """The command in this process: its exit code."""
    options = _arguments(words)
    return _told(lambda: run(options))


def main(words: Sequence[str] | None = None) -> int:
    """The command in a child with bounds: a checksum is no signature, and HDF5 can crash on crafted files or never end."""
    options = _arguments(words)
    return _told(lambda: bounded(options.input, lambda: _told(lambda: run(options, bounded))))
