"""Pages as Chromium lays them out, on a desk and on a telephone, light and dark: nothing is cut, long tables can be searched.
Skipped where there is no Chromium."""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import support

import atoll_analysis
from atoll_analysis import run_report, sweep_report

_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# In the page: measures it, after a search for one word in its first long table, and tells the page around it.
_MEASURE = """
const cut = [];
let charts = 0, searches = 0, found = "";
document.querySelectorAll("details").forEach((d) => { d.open = true; });
for (const chart of document.querySelectorAll("svg.chart")) {
  const own = chart.getBoundingClientRect();
  if (!own.width) continue;
  charts += 1;
  if (own.right > innerWidth + 1) cut.push(chart.getAttribute("aria-label"));
  for (const text of chart.querySelectorAll("text")) {
    const box = text.getBoundingClientRect();
    if (box.left < own.left - 2 || box.right > own.right + 2) cut.push(text.textContent);
  }
}
for (const input of document.querySelectorAll(".search input")) {
  searches += 1;
  input.value = "LLC.hits";
  input.dispatchEvent(new Event("input"));
  const rows = [...input.closest("label").nextElementSibling.querySelectorAll("tbody tr")].filter((row) => !row.hidden);
  found = found || rows.map((row) => row.cells[0].textContent).join();
}
parent.postMessage(JSON.stringify({cut, charts, searches, found, window: innerWidth,
  page: document.documentElement.scrollWidth, paper: getComputedStyle(document.body).backgroundColor}), "*");
"""
# In the page of a sweep: what stands in a column after it has been sorted one way and the other.
_SORT = """
const table = document.querySelector("#speedups table"), heads = [...table.tHead.rows[0].cells], seen = [];
const column = heads.findIndex((head) => head.textContent === "sm");
for (let turn = 0; turn < 2; ++turn) {
  heads[column].querySelector("button").click();
  seen.push([...table.tBodies[0].rows].map((row) => row.cells[column].textContent));
}
parent.postMessage(JSON.stringify(seen), "*");
"""
_MONITOR = pathlib.Path(__file__).parents[2] / "core" / "monitor" / "page.html"
# In the monitor's page, before its own script: its first state comes as from a run.
_STATES = """
const states = %s;
let number = 0;
window.fetch = () => number < 1
  ? Promise.resolve({ok: true, json: () => Promise.resolve({number, state: states[number++]})}) : new Promise(() => {});
addEventListener("load", () => setTimeout(() => { %s }, 200));
"""
_QUEUES = ("l1_mshrs", "request", "slice", "llc_mshrs", "dram", "response", "link_out", "link_in")
_NAMES = ("at::elementwise<4, at::Add<float>, std::array<char*, 3ul> >", "_ZN2at" + 200 * "x" + "Evv", "update")
# After the first state: opens and points at what must stay, shows the second state, and looks.
_LOOK = """
const $of = (selector) => document.querySelector(selector);
const all = $of("#decisions details"), bar = $of(".bar"), values = all.querySelector("p").textContent;
all.open = true;
all.firstChild.focus();
show(states[1]);
parent.postMessage(JSON.stringify({open: all.open && document.contains(all), bar: document.contains(bar), tip: bar.title,
  focus: document.activeElement === all.firstChild, before: values, values: all.querySelector("p").textContent,
  rows: [...document.querySelectorAll("#decisions tbody tr")].map((row) => row.cells[1].textContent),
  kernel: $of("#kernel").textContent, what: $of("#what").textContent,
  lines: Math.max(...[...document.querySelectorAll("#numbers dd span")].map((e) => e.getClientRects().length)),
  names: [...document.querySelectorAll("#kernels tbody tr")].map((row) => [row.cells[1].textContent, row.cells[1].title]),
  kernels: $of("#kernels").scrollWidth - $of("#kernels").clientWidth,
  window: innerWidth, page: document.documentElement.scrollWidth}), "*");
"""
_AROUND = """<!DOCTYPE html><iframe width="{width}" height="800" style="border: 0" srcdoc="{page}"></iframe><p id="said"></p>
<script>addEventListener("message", (e) => {{ document.getElementById("said").textContent = e.data; }});</script>"""


class Browser(support.FolderTest):
    def shown(self, page: str, width: int, dark: bool) -> dict:
        """What the page, which tells the one around it, measures of itself in a window of that width."""
        file = self.folder / "around.html"
        file.write_text(_AROUND.format(width=width, page=html.escape(page, quote=True)), encoding="utf-8")
        words = [str(_CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
                 f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--window-size=1400,900",
                 "--virtual-time-budget=20000", "--dump-dom", file.as_uri()]
        dom = subprocess.run(words, check=True, capture_output=True, encoding="utf-8", timeout=120).stdout
        said = re.search(r'<p id="said">(.*?)</p>', dom, re.S)
        self.assertIsNotNone(said, dom[-500:])
        return json.loads(html.unescape(said.group(1)))

    def check(self, page: str, figures: int) -> list[dict]:
        found = []
        for width, dark in ((1280, False), (390, False), (390, True)):
            of = self.shown(page.replace("</body>", f"<script>{{ {_MEASURE} }}</script></body>"), width, dark)
            self.assertEqual((of["cut"], of["charts"], of["window"]), ([], figures, width))
            self.assertLessEqual(of["page"], width, "the page itself does not scroll sideways")
            self.assertEqual(of["paper"], "rgb(18, 22, 27)" if dark else "rgb(255, 255, 255)")
            found.append(of)
        return found

    def test_the_page_of_a_run(self) -> None:
        for of in self.check(run_report.page(atoll_analysis.load(self.result())), 8):
            self.assertGreaterEqual(of["searches"], 2)  # the configuration and the counters
            self.assertEqual(of["found"].split(",")[0], "llc.hits")

    def test_the_page_of_a_sweep(self) -> None:
        sweep = atoll_analysis.load_sweep(self.sweep())
        self.check(sweep_report.page(sweep, sweep.path), len(sweep_report.charts(sweep)))

    def test_what_is_missing_stays_last_whichever_way_a_table_is_sorted(self) -> None:
        folder = self.sweep()
        (folder / "mixed__sm.h5").unlink()
        page = sweep_report.page(atoll_analysis.load_sweep(folder), folder)
        seen = self.shown(page.replace("</body>", f"<script>{{ {_SORT} }}</script></body>"), 1280, False)
        self.assertEqual([column[-1] for column in seen], ["–", "–"])

    def test_the_page_of_a_sweep_with_a_very_long_name(self) -> None:
        sweep = atoll_analysis.load_sweep(self.sweep("a_workload_whose_name_has_no_blank_and_is_wider_than_a_telephone"))
        self.check(sweep_report.page(sweep, sweep.path), len(sweep_report.charts(sweep)))

    def state(self, decisions: int, spent: dict[str, float]) -> dict:
        """Of a run of one chip, as the monitor tells it (docs/monitor.md)."""
        chip = {"does": "running", "ctas_done": 3, "ctas": 64, "spent": spent, "queues": dict.fromkeys(_QUEUES, 1.5),
                "packets_at": [2.0], "l1_hit_rate": 0.5, "llc_hit_rate": 0.25, "remote": 0.0, "modes": {"llc": "memory_side"}}
        return {"run": {"system": "one", "workload": "w.json", "organisation": "dynamic", "chips": 1, "ranks": 1, "output": "",
                        "started_at": "2026-01-01T00:00:00Z"},
                "progress": {"kernel": 1, "kernels": 4, "name": "gather", "cycle": 1000 * decisions, "ctas_done": 16384,
                             "ctas_total": 16384, "seconds": 4.0, "seconds_left": None},
                "rates": None, "chips": [chip], "ended": None,
                "kernels": [{"kernel": k, "name": name, "ctas": 64, "cycles": 900} for k, name in enumerate(_NAMES)],
                "decisions": {"number": decisions, "last": [
                    {"kernel": 1, "cycle": 1000 * d, "choice": "sm_side", "values": {f"v{i}": 1.0 * d for i in range(9)}}
                    for d in range(decisions)][-8:]}}

    def test_the_page_of_the_monitor_keeps_what_is_open_focused_or_pointed_at_from_state_to_state(self) -> None:
        states = [self.state(3, {"dram": 0.75, "issue": 0.25}), self.state(20, {"dram": 0.5, "issue": 0.25, "l1": 0.25})]
        script = _STATES % (json.dumps(states), _LOOK)
        page = _MONITOR.read_text(encoding="utf-8").replace(
            "<script nonce", f"<script>{script}</script><script nonce", 1)
        for width in (1280, 390):
            of = self.shown(page, width, False)
            self.assertTrue(of["open"] and of["focus"] and of["bar"], of)
            self.assertEqual(of["tip"], "DRAM 50.0 %\nissues 25.0 %\nL1 25.0 %")
            self.assertTrue(of["before"].startswith("v0 2,") and of["values"].startswith("v0 19,"), of)
            self.assertEqual(of["rows"], [f"{1000 * d:,}" for d in range(19, 11, -1)])
            self.assertEqual([text for text, _ in of["names"]], ["update", f"_ZN2at{14 * 'x'}…{16 * 'x'}Evv", "at::elementwise"])
            self.assertEqual([full for _, full in of["names"]], list(reversed(_NAMES)))
            self.assertIn(", 1 chip in 1 rank, ", of["what"])
            self.assertLessEqual(of["lines"], 1 if width == 1280 else 2, "numbers are not torn apart")
            self.assertTrue(width < 1280 or of["kernels"] == 0, "the table of kernels is all in sight")
            self.assertEqual(of["kernel"], "Kernel 1: gather (2 of 4), 100.0 % of all CTAs")
            self.assertLessEqual(of["page"], width)


if __name__ == "__main__":
    if _CHROMIUM is None or os.environ.get("ATOLL_NO_BROWSER"):
        print("skipped: there is no Chromium (Debian: chromium)")
        sys.exit(77)
    support.main()
