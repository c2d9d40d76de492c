// The samples themselves: a heat map and a table, both of the selection alone.
const ROWS = 25;
const COLUMNS = 40;
const FEWER = 14;
const rowsOf = { limit: ROWS, key: "", down: true };
let heated = { rows: [], columns: [] };

const leading = (most) => {
  const list = [];
  for (let f = 0; f < nValues && list.length < most; f += 1) if (features.matters[f] || f < 8) list.push(f);
  if (state.feature >= 0 && state.feature < nValues) return [state.feature, ...list.filter((f) => f !== state.feature)].slice(0, most);
  return list;
};
// Those that matter, and the chosen one; any only where none matters.
const telling = (most) => {
  const list = leading(most).filter((f) => features.matters[f] || f === state.feature);
  return list.length ? list : leading(most);
};
const chosenRows = () => {
  const rows = [];
  for (let i = 0; i < active.length; i += 1) if (active[i]) rows.push(i);
  return rows.sort((a, b) => samples.code[a] - samples.code[b] || a - b);
};
const cellOf = (what, columns) => {
  if (what === "components") {
    const c = samples.embeddingShape[1];
    return (i, k) => samples.embedding[i * c + columns[k]] / 255;
  }
  const scales = columns.map((f) => {
    const sorted = knownOf(f).sort();
    const low = quantile(sorted, 0.02);
    const high = quantile(sorted, 0.98);
    return high > low ? [low, high] : [sorted[0], sorted[sorted.length - 1] || 1];
  });
  return (i, k) => (valueOf(columns[k], i) - scales[k][0]) / (scales[k][1] - scales[k][0] || 1);
};
const drawHeat = () => {
  const what = byId("heat-of").value;
  const rows = chosenRows();
  // On a phone forty names could not be read.
  const narrow = byId("heat-names").getBoundingClientRect().width < 480;
  const most = narrow ? FEWER : COLUMNS;
  const columns = what === "components" ? Array.from({ length: Math.min(most, samples.embeddingShape[1]) }, (_, k) => k) : leading(most);
  heated = { rows, columns, what };
  const canvas = byId("heat");
  canvas.width = Math.max(1, columns.length);
  canvas.height = Math.max(1, rows.length);
  const picture = canvas.getContext("2d");
  const image = picture.createImageData(canvas.width, canvas.height);
  const cell = cellOf(what, columns);
  rows.forEach((i, r) => columns.forEach((_, k) => {
    const start = 4 * (r * columns.length + k);
    // A missing cell lets the page show through.
    const share = cell(i, k);
    image.data.set(Number.isNaN(share) ? [0, 0, 0, 0] : [...ramp(share), 255], start);
  }));
  picture.putImageData(image, 0, 0);
  const bands = byId("bands");
  bands.replaceChildren();
  bands.setAttribute("viewBox", `0 0 10 ${canvas.height}`);
  let start = 0;
  const sizes = [];
  meta.clusters.forEach((cluster, c) => {
    const size = rows.filter((i) => samples.code[i] === c).length;
    if (!size) return;
    bands.append(node("svg:rect", { class: colour(c) + " band", width: 10, y: start, height: size }));
    start += size;
    sizes.push(cluster.name + " " + size);
  });
  const names = byId("heat-names");
  names.replaceChildren();
  const deep = narrow ? 180 : 116;
  names.setAttribute("viewBox", `0 0 800 ${deep}`);
  names.setAttribute("class", narrow ? "narrow" : "");
  columns.forEach((f, k) => {
    const x = ((k + 0.5) / columns.length) * 800;
    const full = what === "components" ? String(f + 1) : features.names[f];
    const text = full.length > 15 ? full.slice(0, 14) + "…" : full;
    names.append(node("svg:text", { class: what !== "components" && f === state.feature ? "current" : "", transform: `translate(${x.toFixed(1)},${deep - 6}) rotate(-50)`, text }));
  });
  const kind = what === "components" ? "components" : "features";
  canvas.setAttribute("aria-label", `Heat map of ${count(rows.length, "samples")} and ${count(columns.length, kind)}, sorted by cluster (${sizes.slice(0, 20).join(", ")}). The tables below and above hold the numbers.`);
  byId("heat-text").textContent = `${count(rows.length, meta.unit)} (rows, sorted by cluster) and ${count(columns.length, kind)} (columns, each on its own scale; bright is large).`;
};

const columnsOfTable = () => {
  const columns = [
    { key: "name", name: "Name", of: (i) => samples.names[i] },
    { key: "cluster", name: "Cluster", of: (i) => samples.code[i], cell: (i) => [swatch(samples.code[i]), " " + meta.clusters[samples.code[i]].name] },
  ];
  if (meta.classes) columns.push({ key: "class", name: "Class", of: (i) => samples.class[i], cell: (i) => [meta.classes[samples.class[i]]] });
  const several = meta.clusters.length > 1;
  if (several && samples.confidence) columns.push({ key: "confidence", name: "Confidence", number: true, of: (i) => samples.confidence[i], cell: (i) => [samples.confidence[i].toFixed(2)] });
  if (several && samples.second) columns.push({ key: "second", name: "Second best", of: (i) => samples.second[i], cell: (i) => [samples.second[i] < 0 ? "–" : meta.clusters[samples.second[i]].name] });
  if (!meta.image) telling(byId("sample-table").parentElement.clientWidth < 700 ? 4 : 6).forEach((f) => columns.push({ key: "f" + f, name: features.names[f], number: true, value: true, of: (i) => valueOf(f, i), cell: (i) => [shownValue(f, valueOf(f, i))] }));
  return columns;
};
const drawRows = () => {
  const table = byId("sample-table");
  const columns = columnsOfTable();
  const rows = chosenRows();
  const by = columns.find((column) => column.key === rowsOf.key);
  if (by) {
    const sign = rowsOf.down ? -1 : 1;
    rows.sort((a, b) => {
      const [x, y] = [by.of(a), by.of(b)];
      return sign * (typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y) || a - b;
    });
  }
  const head = node("tr", {}, ...columns.map((column) => node("th", {
    scope: "col", class: (column.number ? "number" : "") + (column.value ? " value" : ""), "aria-sort": column.key === rowsOf.key ? (rowsOf.down ? "descending" : "ascending") : null,
  }, node("button", { type: "button", class: "sort", "data-key": column.key, text: column.name }))));
  // The pressed heading is drawn again: the keyboard must not lose its place.
  const focused = document.activeElement && document.activeElement.closest("#sample-table thead") ? document.activeElement.dataset.key : null;
  table.tHead.replaceChildren(head);
  sorters(table);
  if (focused) { const again = head.querySelector(`[data-key="${focused}"]`); if (again) again.focus(); }
  table.tBodies[0].replaceChildren(...rows.slice(0, rowsOf.limit).map((i) => node("tr", { class: i === state.sample ? "current" : "" },
    ...columns.map((column, k) => (k === 0
      ? node("th", { scope: "row" }, node("button", { type: "button", class: "pick plain", text: samples.names[i], on: { click: () => change({ sample: i }) } }))
      : node("td", { class: column.number ? "number" : "" }, ...column.cell(i)))))));
  // On a screen, values that have no room are left out: the card of a sample has them.
  const fits = () => table.parentElement.scrollWidth <= table.parentElement.clientWidth + 1;
  while (window.innerWidth >= 900 && !fits() && head.querySelectorAll(".value").length > 1) [...table.rows].forEach((row) => row.lastElementChild.remove());
  byId("more-samples").hidden = rows.length <= rowsOf.limit;
  byId("sample-count").textContent = count(rows.length, meta.unit) + (choosing() ? " selected" : "");
};

const setUpSamples = () => {
  byId("heat-of").addEventListener("change", drawHeat);
  byId("sample-table").sortBy = (key, down) => {
    rowsOf.down = rowsOf.key === key ? !rowsOf.down : down;
    rowsOf.key = key;
    drawRows();
  };
  byId("more-samples").addEventListener("click", () => { rowsOf.limit += 4 * ROWS; drawRows(); });
  byId("heat").addEventListener("click", (event) => {
    const box = event.target.getBoundingClientRect();
    const i = heated.rows[Math.floor(((event.clientY - box.top) / box.height) * heated.rows.length)];
    const f = heated.columns[Math.floor(((event.clientX - box.left) / box.width) * heated.columns.length)];
    if (i === undefined) return;
    change(heated.what === "components" ? { sample: i } : { sample: i, feature: f });
  });
  drawers.push(drawHeat, drawRows);
};
