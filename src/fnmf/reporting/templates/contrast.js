// Any two clusters side by side, and names of clusters that the reader may change.
const MOST_CONTRASTS = 10;
const medianOf = (f, c) => {
  if (f < nValues) return quantile(knownOf(f, (i) => samples.code[i] === c).sort(), 0.5);
  const k = meta.clusters.length;
  return spread.low[f] + (spread.quantiles[(f * k + c) * 5 + 2] / 255) * (spread.high[f] - spread.low[f]);
};
const drawContrast = () => {
  const table = byId("contrast");
  const [a, b] = ["contrast-a", "contrast-b"].map((id) => Number(byId(id).value));
  const list = [];
  for (let f = 0; f < nSpread; f += 1) {
    if (levelsOf(f) && f < nValues) {
      const parts = [a, b].map((c) => {
        const own = knownOf(f, (i) => samples.code[i] === c);
        return levelsOf(f).map((_, k) => own.filter((v) => v === k).length / Math.max(1, own.length));
      });
      const gaps = parts[0].map((share, k) => share - parts[1][k]);
      const most = gaps.reduce((best, gap, k) => (Math.abs(gap) > Math.abs(gaps[best]) ? k : best), 0);
      list.push([2 * gaps[most], `${features.names[f]} ${levelsOf(f)[most]}`, percent(parts[0][most]), percent(parts[1][most]), features.matters[f]]);
    } else if (!levelsOf(f) && features.spread[f] > 0) {
      const flag = spread.low[f] === 0 && spread.high[f] === 1 && Math.max(meanOf(f, a), meanOf(f, b)) <= 1;
      const told = flag ? [percent(meanOf(f, a)), percent(meanOf(f, b))] : [number(medianOf(f, a)), number(medianOf(f, b))];
      list.push([(meanOf(f, a) - meanOf(f, b)) / features.spread[f], features.names[f], ...told, features.matters[f]]);
    }
  }
  list.sort((x, y) => Math.abs(y[0]) - Math.abs(x[0]));
  table.tHead.replaceChildren(node("tr", {}, ...["Feature", called(a), called(b), "Difference"].map((text, k) => node("th", { scope: "col", class: k ? "number" : "", text }))));
  table.tBodies[0].replaceChildren(...list.slice(0, MOST_CONTRASTS).map(([gap, name, here, there, matters]) => node("tr", { class: matters ? "" : "idle" },
    node("th", { scope: "row", text: name }), node("td", { class: "number", text: here }), node("td", { class: "number", text: there }),
    node("td", { class: "number", title: `${gap.toFixed(2)} standard deviations`, text: a === b ? "" : gap > 0 ? "higher" : "lower" }))));
};
const setUpContrast = () => {
  if (!byId("contrast")) return;
  ["contrast-a", "contrast-b"].forEach((id) => byId(id).addEventListener("change", drawContrast));
  drawers.push(drawContrast);
};

const quoted = (text) => '"' + text.replace(/"/g, '""') + '"';
const setUpNames = () => {
  const link = byId("names-file");
  if (!link) return;
  const refresh = () => {
    const rows = meta.clusters.map((cluster, c) => `${c + 1},${quoted(cluster.title)}`);
    link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(["cluster,name", ...rows].join("\n") + "\n");
  };
  document.querySelectorAll("input[data-rename]").forEach((input) => input.addEventListener("input", () => {
    const c = Number(input.dataset.rename);
    meta.clusters[c].title = input.value.trim() || "cluster " + meta.clusters[c].name;
    document.querySelectorAll(`[data-title="${c}"]`).forEach((part) => { part.textContent = meta.clusters[c].title; });
    ["contrast-a", "contrast-b"].forEach((id) => { byId(id).options[c].textContent = called(c); });
    refresh();
    redraw();
  }));
  refresh();
};
