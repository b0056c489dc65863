"use strict";
(() => {
  const root = document.documentElement;
  const content = JSON.parse(document.getElementById("content").textContent);
  root.classList.add("scripted");

  // dark mode: what the system prefers, until the button says otherwise
  const theme = document.getElementById("theme");
  const dark = (on) => {
    root.classList.toggle("dark", on);
    theme.textContent = on ? "Light" : "Dark";
    theme.setAttribute("aria-pressed", String(on));
  };
  dark(matchMedia("(prefers-color-scheme: dark)").matches);
  theme.addEventListener("click", () => dark(!root.classList.contains("dark")));

  // the slider over the number of features
  const slider = document.getElementById("size");
  if (slider && content.path) {
    const sizes = content.path.sizes;
    const body = document.getElementById("size-features");
    const said = document.getElementById("size-words");
    const cursor = document.getElementById("path-cursor");
    const svg = cursor.ownerSVGElement;
    const left = Number(svg.dataset.left), right = Number(svg.dataset.right);
    const first = sizes[0].k, last = sizes[sizes.length - 1].k;
    const show = () => {
      const size = sizes[Number(slider.value)];
      const x = left + (last > first ? (size.k - first) / (last - first) : 0.5) * (right - left);
      cursor.setAttribute("x1", x.toFixed(1));
      cursor.setAttribute("x2", x.toFixed(1));
      const share = size.explained === null ? "" : `, ${(100 * size.explained).toFixed(1)}% explained on these rows`;
      said.textContent = `${size.k} feature${size.k === 1 ? "" : "s"}${share}`;
      slider.setAttribute("aria-valuetext", said.textContent);
      body.replaceChildren(...size.features.map(([name, coef]) => {
        const row = document.createElement("tr");
        for (const [text, css] of [[name, "name"], [coef === null ? "" : coef.toPrecision(4), ""]]) {
          const cell = document.createElement("td");
          cell.textContent = text;
          if (css) cell.className = css;
          row.append(cell);
        }
        return row;
      }));
    };
    slider.addEventListener("input", show);
    show();
  }

  // tables that sort by a click on a heading
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[at].dataset.value ?? row.cells[at].textContent;
        const rows = [...table.tBodies[0].rows].sort((a, b) => {
          const x = key(a), y = key(b), n = Number(x) - Number(y);
          return (down ? -1 : 1) * (Number.isNaN(n) ? x.localeCompare(y) : n);
        });
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
