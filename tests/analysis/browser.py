"""Pages as Chromium lays them out, on a desk and on a telephone, light and dark: nothing is cut, long tables can be searched.
Skipped where there is no Chromium."""

import html
import json
import os
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
_AROUND = """<!DOCTYPE html><iframe width="{width}" height="800" style="border: 0" srcdoc="{page}"></iframe><p id="said"></p>
<script>addEventListener("message", (e) => {{ document.getElementById("said").textContent = e.data; }});</script>"""


class Browser(support.FolderTest):
    def shown(self, page: str, width: int, dark: bool) -> dict:
        """What the page measures of itself in a window of that width."""
        page = page.replace("</body>", f"<script>{{ {_MEASURE} }}</script></body>")
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
            of = self.shown(page, width, dark)
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


if __name__ == "__main__":
    if _CHROMIUM is None or os.environ.get("ATOLL_NO_BROWSER"):
        print("skipped: there is no Chromium (Debian: chromium)")
        sys.exit(77)
    support.main()
