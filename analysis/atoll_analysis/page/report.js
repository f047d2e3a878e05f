"use strict";
// Without scripts the page lacks nothing but sorting: browsers show <title> as tooltips themselves.
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
      const rows = [...body.rows].sort((a, b) => order(key(a, column), key(b, column)) * (turned ? -1 : 1));
      body.append(...rows);
    });
  });
}
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
