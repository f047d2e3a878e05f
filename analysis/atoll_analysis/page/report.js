"use strict";
// Without scripts the page lacks nothing but sorting and searching: browsers show <title> as tooltips themselves.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.key !== undefined ? Number(cell.dataset.key) : cell.textContent;
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, "en", { numeric: true });
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending" ||
        (!head.hasAttribute("aria-sort") && head.classList.contains("number"));
      const turned = head.getAttribute("aria-sort") === "descending" ? false : descending;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", turned ? "descending" : "ascending");
      // What is missing ("–") has no number to be sorted by, and stays last either way.
      const missing = (row) => head.classList.contains("number") && typeof key(row, column) !== "number";
      body.append(...[...body.rows].sort((a, b) => missing(a) - missing(b) ||
        order(key(a, column), key(b, column)) * (turned ? -1 : 1)));
    });
  });
}
const LONG = 12;  // rows
for (const table of document.querySelectorAll(".scroll > table")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length <= LONG) continue;
  const bar = document.createElement("label"), input = document.createElement("input"), count = document.createElement("output");
  bar.className = "search";
  input.type = "search";
  input.placeholder = `all ${rows.length} rows`;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  });
  bar.append("Search", input, count);
  table.parentElement.before(bar);
}
addEventListener("beforeprint", () => {
  for (const input of document.querySelectorAll(".search input")) {
    input.value = "";
    input.dispatchEvent(new Event("input"));
  }
});
const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;
document.body.append(tip);
for (const shape of document.querySelectorAll(".tip, .cursor")) {
  const title = shape.querySelector("title");
  const text = title.textContent;
  title.remove();  // or the browser shows it as well
  shape.addEventListener("pointermove", (event) => {
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 16;
    const top = below + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 12 : below;
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${Math.max(top, 4)}px`;
  });
  shape.addEventListener("pointerleave", () => { tip.hidden = true; });
}
addEventListener("beforeprint", () => { tip.hidden = true; });
