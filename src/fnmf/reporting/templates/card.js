// A sample's card: its values, why it is in its cluster, its neighbours.
const TOLD = 6;

// Nearness to the means of clusters in the features that matter, each in its own spread.
const measured = (i, list) => list.filter((f) => !levelsOf(f) && !Number.isNaN(valueOf(f, i)));
const distanceTo = (i, c, list) => measured(i, list).reduce((sum, f) => {
  const scale = features.spread[f] || 1;
  return sum + weightOf(f) * ((valueOf(f, i) - meanOf(f, c)) / scale) ** 2;
}, 0);
const weightOf = (f) => (features.importance && features.matters[f] ? features.importance[f] : 1);
const secondOf = (i, list) => {
  if (samples.second && samples.second[i] >= 0) return samples.second[i];
  let best = -1;
  let least = Infinity;
  meta.clusters.forEach((_, c) => {
    if (c === samples.code[i]) return;
    const far = distanceTo(i, c, list);
    if (far < least) { least = far; best = c; }
  });
  return best;
};
const picture = (i) => {
  if (!meta.image || nValues < meta.features) return null;
  const [high, wide] = meta.image;
  const canvas = node("canvas", { class: "pixels", width: wide, height: high, role: "img", "aria-label": "Image of " + samples.names[i] });
  const context = canvas.getContext("2d");
  const image = context.createImageData(wide, high);
  let most = 0;
  for (let f = 0; f < nValues; f += 1) most = Math.max(most, valueOf(f, i) || 0);
  for (let f = 0; f < nValues; f += 1) {
    const value = valueOf(f, i);
    image.data.set(Number.isNaN(value) ? [0, 0, 0, 0] : [...ramp(value / (most || 1)), 255], 4 * features.index[f]);
  }
  context.putImageData(image, 0, 0);
  return canvas;
};
const reasons = (i, c, second, list) => {
  const pulls = measured(i, list).map((f) => {
    const scale = features.spread[f] || 1;
    const v = valueOf(f, i);
    return [f, weightOf(f) * (((v - meanOf(f, second)) / scale) ** 2 - ((v - meanOf(f, c)) / scale) ** 2)];
  });
  const told = (pairs) => node("ul", {}, ...pairs.map(([f]) => node("li", {
    text: `${features.names[f]} ${number(valueOf(f, i))} (here ${number(meanOf(f, c))}, there ${number(meanOf(f, second))})`,
  })));
  const forIt = pulls.filter((p) => p[1] > 0).sort((a, b) => b[1] - a[1]).slice(0, 4);
  const against = pulls.filter((p) => p[1] < 0).sort((a, b) => a[1] - b[1]).slice(0, 3);
  const parts = [];
  if (forIt.length) parts.push(node("p", { text: `Nearer to ${called(c)} than to ${called(second)} in:` }), told(forIt));
  if (against.length) parts.push(node("p", { text: `Nearer to ${called(second)} in:` }), told(against));
  return parts;
};
// The most frequent value of a category, in a cluster or everywhere.
const commonest = (f, c) => {
  const counts = levelsOf(f).map(() => 0);
  columnOf(f).forEach((v, i) => { if (c < 0 || samples.code[i] === c) counts[v] += 1; });
  return "mostly " + levelsOf(f)[counts.indexOf(Math.max(...counts))];
};
const valueTable = (i, c, list) => node("table", {},
  node("caption", { class: "hidden", text: "Values that matter" }),
  node("thead", {}, node("tr", {}, ...["Feature", "Value", "Mean of cluster", "Mean of all"].map((text, k) => node("th", { scope: "col", class: k ? "number" : "", text })))),
  node("tbody", {}, ...list.slice(0, TOLD).map((f) => node("tr", {},
    node("th", { scope: "row" }, featureButton(f)),
    ...(levelsOf(f) ? [shownValue(f, valueOf(f, i)), commonest(f, c), commonest(f, -1)] : [valueOf(f, i), meanOf(f, c), overallMean(f)].map(number))
      .map((text) => node("td", { class: "number", text }))))));

const drawCard = () => {
  const card = byId("card");
  const i = state.sample;
  const open = !card.hidden;
  card.hidden = i < 0;
  if (i < 0) return;
  const c = samples.code[i];
  const top = Math.min(nValues, nSpread);
  const list = leading(200).filter((f) => f < top && features.matters[f]);
  const body = byId("card-body");
  byId("card-title").textContent = samples.names[i];
  const facts = node("p", {}, swatch(c), ` Cluster ${called(c)}`);
  if (meta.classes) facts.append(`, class ${meta.classes[samples.class[i]]}`);
  if (samples.confidence) facts.append(`, confidence ${samples.confidence[i].toFixed(2)}`);
  const second = meta.clusters.length > 1 ? secondOf(i, list.slice(0, 60)) : -1;
  if (second >= 0) facts.append(`; second best: ${called(second)}`);
  const near = [];
  const wide = samples.nearShape[1];
  for (let k = 0; k < wide; k += 1) {
    const j = samples.near[i * wide + k];
    if (j >= 0) near.push(j);
  }
  body.replaceChildren(...[
    facts,
    picture(i),
    meta.image ? null : node("h4", { text: "Values that matter" }),
    meta.image ? null : valueTable(i, c, list.length ? list : leading(TOLD).filter((f) => f < top)),
    ...(second >= 0 && list.length && !meta.image ? [node("h4", { text: "Why here" }), ...reasons(i, c, second, list)] : []),
    near.length ? node("h4", { text: "Nearest samples" }) : null,
    near.length ? node("p", { class: "near" }, ...near.map((j) => node("button", {
      type: "button", class: "chip", on: { click: () => change({ sample: j }) },
    }, swatch(samples.code[j]), " " + samples.names[j]))) : null,
  ].filter(Boolean));
  if (!open) byId("card-title").focus({ preventScroll: true });
};
const setUpCard = () => {
  const close = () => { change({ sample: -1 }); map.focus({ preventScroll: true }); };
  byId("card-close").addEventListener("click", close);
  byId("card").addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  drawers.push(drawCard);
};
