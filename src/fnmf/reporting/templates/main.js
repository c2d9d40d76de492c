// Theme, sections, the bar that tells what is selected, and the start.
const root = document.documentElement;
const theme = byId("theme");
const themes = ["automatic", "light", "dark"];
let current = 0;
theme.hidden = false;
theme.addEventListener("click", () => {
  current = (current + 1) % themes.length;
  theme.textContent = "Theme: " + themes[current];
  if (current === 0) delete root.dataset.theme;
  else root.dataset.theme = themes[current];
});

// Sections are reached without losing the selection from the address.
document.querySelectorAll('nav a[href^="#"]').forEach((link) => link.addEventListener("click", (event) => {
  const section = byId(link.getAttribute("href").slice(1));
  event.preventDefault();
  section.scrollIntoView();
  section.setAttribute("tabindex", "-1");
  section.focus({ preventScroll: true });
}));

const drawSelection = () => {
  const bar = byId("selection");
  const parts = [];
  if (state.clusters.size) parts.push((state.clusters.size > 1 ? "clusters " : "cluster ") + [...state.clusters].sort((a, b) => a - b).map(called).join(", "));
  if (state.klass >= 0) parts.push("class " + meta.classes[state.klass]);
  if (state.box) parts.push("a box on the map");
  if (state.picked.size) parts.push(count(state.picked.size, "picked samples"));
  const all = samples.code.length;
  let text = "";
  if (parts.length) text = "Selected: " + parts.join(", ") + ": " + nActive.toLocaleString("en") + " of " + count(all, meta.map.shown < meta.map.of ? "drawn samples" : meta.unit);
  if (parts.length && nActive > 0 && nActive < all) {
    const list = leading(200).map((f) => [f, difference(f)]).filter((p) => Math.abs(p[1]) >= 0.5).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 4);
    if (list.length && !meta.image) text += "; " + list.map(([f, d]) => (d > 0 ? "higher " : "lower ") + features.names[f]).join(", ");
  }
  if (state.feature >= 0) text += (text ? ". " : "") + "Feature: " + features.names[state.feature];
  bar.hidden = !text;
  byId("selection-text").textContent = text;
  const present = new Set();
  for (let i = 0; i < all; i += 1) if (active[i]) present.add(samples.code[i]);
  document.querySelectorAll("[data-c]").forEach((item) => {
    const c = Number(item.dataset.c);
    if (item.matches("button.pick")) item.setAttribute("aria-pressed", String(state.clusters.has(c)));
    else item.classList.toggle(item.matches(".answer") ? "away" : "gone", choosing() && !present.has(c));
  });
  document.querySelectorAll("button.cell").forEach((cell) => {
    const on = state.klass === Number(cell.dataset.k) && state.clusters.size === 1 && state.clusters.has(Number(cell.dataset.row));
    cell.setAttribute("aria-pressed", String(on));
  });
  document.querySelectorAll("tr.pinned").forEach((row) => row.remove());
  document.querySelectorAll("table[data-apart] tr.current").forEach((row) => row.classList.remove("current"));
  const f = state.feature;
  if (f < 0 || f >= nSpread) return;
  // The chosen feature stands in the table of every cluster.
  document.querySelectorAll("table[data-apart]").forEach((table) => {
    const c = Number(table.dataset.apart);
    const there = Array.from(table.tBodies[0].rows).find((row) => row.cells[0].textContent === features.names[f]);
    if (there) { there.classList.add("current"); return; }
    const size = meta.clusters[c].size;
    const total = meta.clusters.reduce((sum, cluster) => sum + cluster.size, 0);
    const here = meanOf(f, c);
    const rest = total > size ? (overallMean(f) * total - here * size) / (total - size) : here;
    const apart = features.spread[f] > 0 ? (here - rest) / features.spread[f] : 0;
    table.tBodies[0].prepend(node("tr", { class: "pinned current" }, node("th", { scope: "row", text: features.names[f] }),
      node("td", { class: "number", "data-v": here, text: number(here) }), node("td", { class: "number", "data-v": rest, text: number(rest) }),
      node("td", { class: "barcell" }), node("td", { class: "number", "data-v": apart, text: (apart > 0 ? "+" : "") + apart.toFixed(2).replace("-", "−") })));
  });
};

// On paper the essentials are open.
const opened = [];
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details[data-print]").forEach((d) => { if (!d.open) { opened.push(d); d.open = true; } });
});
window.addEventListener("afterprint", () => opened.splice(0).forEach((d) => { d.open = false; }));

const start = async () => {
  const parts = meta.parts;
  [samples, features, spread] = await Promise.all([unpack(parts.samples), unpack(parts.features), unpack(parts.spread)]);
  const known = await unpack(parts.values);
  values = known.values;
  nValues = Math.min(known.valuesShape[0], features.names.length);
  nSpread = Math.min(spread.lowShape[0], features.names.length);
  recall();
  setUpMap();
  setUpFeatures();
  setUpSamples();
  setUpCard();
  setUpSorting();
  setUpContrast();
  setUpNames();
  drawers.push(drawSelection);
  document.querySelectorAll("button.pick[data-c]").forEach((button) => button.addEventListener("click", () => change({ clusters: toggled(state.clusters, Number(button.dataset.c)) })));
  document.querySelectorAll("button.cell").forEach((cell) => cell.addEventListener("click", () => {
    const [c, k] = [Number(cell.dataset.row), Number(cell.dataset.k)];
    const on = state.klass === k && state.clusters.has(c) && state.clusters.size === 1;
    change(on ? { clusters: new Set(), klass: -1 } : { clusters: new Set([c]), klass: k });
  }));
  document.querySelectorAll("button.feature").forEach((button) => {
    const f = features.names.indexOf(button.textContent);
    if (f >= 0) button.addEventListener("click", () => chooseFeature(state.feature === f ? -1 : f));
  });
  byId("clear").addEventListener("click", clearAll);
  window.addEventListener("hashchange", () => { recall(); redraw(); });
  document.querySelectorAll(".needs-script").forEach((part) => { part.hidden = false; });
  redraw();
  root.dataset.ready = "yes";
};
start();
