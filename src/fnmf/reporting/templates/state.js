// One selection for the whole page; the address remembers it.
const state = { clusters: new Set(), klass: -1, picked: new Set(), box: null, feature: -1, colour: "cluster", layout: "", sample: -1 };
let samples = null;
let features = null;
let spread = null;
let values = null;
let nValues = 0;
let nSpread = 0;
let active = null;
let nActive = 0;
const drawers = [];

const at = (i) => {
  const xy = samples[state.layout];
  return [xy[2 * i] / 20, xy[2 * i + 1] / 20];
};
const inBox = (i) => {
  if (!state.box) return true;
  const [x, y] = at(i);
  const [left, top, right, bottom] = state.box;
  return x >= left && x <= right && y >= top && y <= bottom;
};
const choosing = () => state.clusters.size > 0 || state.klass >= 0 || state.picked.size > 0 || state.box !== null;
// Samples picked one by one join those inside the box; clusters and class narrow both.
const chosen = (i) => {
  if (state.clusters.size > 0 && !state.clusters.has(samples.code[i])) return false;
  if (state.klass >= 0 && samples.class[i] !== state.klass) return false;
  if (state.box === null && state.picked.size === 0) return true;
  return (state.box !== null && inBox(i)) || state.picked.has(i);
};
const select = () => {
  const n = samples.code.length;
  active = new Uint8Array(n);
  nActive = 0;
  for (let i = 0; i < n; i += 1) {
    active[i] = chosen(i) ? 1 : 0;
    nActive += active[i];
  }
};

const remember = () => {
  const parts = [];
  if (state.clusters.size) parts.push("clusters=" + [...state.clusters].sort((a, b) => a - b).join(","));
  if (state.klass >= 0) parts.push("class=" + state.klass);
  if (state.box) parts.push("box=" + state.box.map(Math.round).join(","));
  if (state.picked.size && state.picked.size <= 300) parts.push("samples=" + [...state.picked].join(","));
  if (state.feature >= 0) parts.push("feature=" + state.feature);
  if (state.colour !== "cluster") parts.push("colour=" + state.colour);
  if (state.layout !== meta.map.layouts[0].key) parts.push("layout=" + state.layout);
  if (state.sample >= 0) parts.push("sample=" + state.sample);
  const address = parts.length ? "#" + parts.join("&") : " ".trim();
  try {
    if (address || location.hash.includes("=")) history.replaceState(null, "", address || "#");
  } catch { /* Frames of notebooks have no address of their own. */ }
};

const whole = (text, limit) => {
  const value = Number(text);
  return Number.isInteger(value) && value >= 0 && value < limit ? value : -1;
};
const recall = () => {
  const given = new Map();
  location.hash.slice(1).split("&").forEach((part) => {
    const [key, value] = part.split("=");
    if (value !== undefined) given.set(key, value);
  });
  const many = (key, limit) => (given.get(key) || "").split(",").filter((t) => t !== "").map((t) => whole(t, limit)).filter((v) => v >= 0);
  state.clusters = new Set(many("clusters", meta.clusters.length));
  state.klass = meta.classes ? whole(given.get("class"), meta.classes.length) : -1;
  const box = (given.get("box") || "").split(",").map(Number);
  state.box = box.length === 4 && box.every(Number.isFinite) ? box : null;
  state.picked = new Set(many("samples", samples.code.length));
  state.feature = whole(given.get("feature"), features.names.length);
  const modes = ["cluster", "class", "confidence", "feature"];
  state.colour = modes.includes(given.get("colour")) ? given.get("colour") : "cluster";
  if (state.colour === "class" && !meta.classes) state.colour = "cluster";
  if (state.colour === "confidence" && !samples.confidence) state.colour = "cluster";
  const layouts = meta.map.layouts.map((l) => l.key);
  state.layout = layouts.includes(given.get("layout")) ? given.get("layout") : layouts[0];
  state.sample = whole(given.get("sample"), samples.code.length);
};

const redraw = () => {
  select();
  drawers.forEach((draw) => draw());
};
const change = (patch) => {
  Object.assign(state, patch);
  remember();
  redraw();
};
const toggled = (set, item) => {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
};
const clearAll = () => change({ clusters: new Set(), klass: -1, picked: new Set(), box: null, feature: -1, colour: "cluster", sample: -1 });

const valueOf = (f, i) => values[f * samples.code.length + i];
const columnOf = (f) => values.subarray(f * samples.code.length, (f + 1) * samples.code.length);
// Values of a column in order, without missing ones, of the samples that are wanted.
const knownOf = (f, wanted) => columnOf(f).filter((v, i) => !Number.isNaN(v) && (!wanted || wanted(i)));
const meanOf = (f, c) => spread.means[f * meta.clusters.length + c];
const overallMean = (f) => {
  let sum = 0;
  let n = 0;
  meta.clusters.forEach((cluster, c) => { sum += cluster.size * meanOf(f, c); n += cluster.size; });
  return sum / n;
};

// How the chosen samples differ from all others, in standard deviations of a feature.
const difference = (f) => {
  if (!choosing() || nActive === 0 || nActive === samples.code.length) return NaN;
  let here = 0;
  let rest = 0;
  if (state.klass < 0 && !state.box && state.picked.size === 0 && f < nSpread) {
    let n = 0;
    let m = 0;
    meta.clusters.forEach((cluster, c) => {
      if (state.clusters.has(c)) { here += cluster.size * meanOf(f, c); n += cluster.size; }
      else { rest += cluster.size * meanOf(f, c); m += cluster.size; }
    });
    here /= n;
    rest /= m;
  } else if (f < nValues) {
    const mean = (list) => list.reduce((sum, v) => sum + v, 0) / list.length;
    here = mean(knownOf(f, (i) => active[i]));
    rest = mean(knownOf(f, (i) => !active[i]));
  } else return NaN;
  return features.spread[f] > 0 ? (here - rest) / features.spread[f] : 0;
};
