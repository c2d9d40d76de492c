"use strict";
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);

  // Theme: follows the system until the reader chooses.
  const theme = document.getElementById("theme");
  const themes = ["automatic", "light", "dark"];
  let current = 0;
  theme.hidden = false;
  theme.addEventListener("click", () => {
    current = (current + 1) % themes.length;
    theme.textContent = "Theme: " + themes[current];
    if (current === 0) delete root.dataset.theme;
    else root.dataset.theme = themes[current];
  });

  // Map: the nearest sample to the pointer tells its name; arrow keys walk through the samples.
  const map = document.getElementById("map");
  const tip = document.getElementById("tip");
  const circles = Array.from(map.querySelectorAll("circle"));
  const places = circles.map((c) => [Number(c.getAttribute("cx")), Number(c.getAttribute("cy"))]);
  let at = -1;
  const picked = new Set();
  const seen = (i) => picked.size === 0 || picked.has(circles[i].dataset.c);
  const show = (i) => {
    if (at >= 0) circles[at].classList.remove("at");
    at = i;
    tip.hidden = i < 0;
    if (i < 0) return;
    circles[i].classList.add("at");
    tip.textContent = circles[i].dataset.n + ": cluster " + data.clusters[Number(circles[i].dataset.c)];
  };
  map.addEventListener("pointermove", (event) => {
    const box = map.getBoundingClientRect();
    const view = map.viewBox.baseVal;
    const x = ((event.clientX - box.left) / box.width) * view.width;
    const y = ((event.clientY - box.top) / box.height) * view.height;
    let best = -1;
    let least = 15 * 15;
    places.forEach(([px, py], i) => {
      const far = (px - x) ** 2 + (py - y) ** 2;
      if (far < least && seen(i)) { least = far; best = i; }
    });
    show(best);
  });
  map.addEventListener("pointerleave", () => show(-1));
  map.setAttribute("tabindex", "0");
  map.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") show(-1);
    if (!step || circles.length === 0) return;
    event.preventDefault();
    let next = at;
    for (let tries = 0; tries < circles.length; tries += 1) {
      next = (next + step + circles.length) % circles.length;
      if (seen(next)) break;
    }
    show(next);
  });
  document.querySelectorAll(".pick").forEach((button) => {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      if (on) picked.add(button.dataset.c);
      else picked.delete(button.dataset.c);
      circles.forEach((c, i) => c.classList.toggle("dim", !seen(i)));
      show(-1);
    });
  });

  // Search: text only ever goes in through textContent.
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const most = 30;
  const cell = (kind, text, name) => {
    const node = document.createElement(kind);
    node.textContent = text;
    if (name) node.className = name;
    return node;
  };
  const row = (kind, texts) => {
    const line = document.createElement("tr");
    texts.forEach((text, i) => line.append(cell(i === 0 || kind === "th" ? "th" : "td", text, i ? "number" : "")));
    return line;
  };
  document.querySelectorAll(".tools").forEach((tool) => { tool.hidden = false; });
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    found.replaceChildren();
    if (!wanted) return;
    const hits = data.features.filter((f) => f[0].toLowerCase().includes(wanted));
    const text = hits.length + (hits.length === 1 ? " feature" : " features");
    found.append(cell("p", hits.length > most ? text + ", the first " + most + ":" : text));
    if (hits.length === 0) return;
    const table = document.createElement("table");
    table.append(row("th", ["Feature", "Importance", "Explained by the clusters"]));
    hits.slice(0, most).forEach((f) => {
      const importance = f[1] === null ? "–" : f[1].toPrecision(3);
      table.append(row("td", [f[0], importance, (100 * f[2]).toFixed(1) + " %"]));
    });
    found.append(table);
  });

  // On paper everything is open.
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((d) => { d.open = true; });
  });
})();
