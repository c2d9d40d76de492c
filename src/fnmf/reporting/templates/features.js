// Features: search, ranking with the level of chance, distributions in every cluster.
const PAGE = 30;
const ranked = { order: [], limit: PAGE, key: "rank", down: false, wanted: "" };

const bar = (f) => {
  const track = node("svg:svg", { class: "bar", viewBox: "0 0 120 12", preserveAspectRatio: "none", "aria-hidden": "true" });
  const width = 120 * features.explained[f];
  track.append(
    node("svg:rect", { class: "track", width: 120, height: 12 }),
    node("svg:rect", { class: features.matters[f] ? "fill" : "fill idle", width: width.toFixed(1), height: 12 }),
    node("svg:rect", { class: "chance", x: Math.min(118.5, 120 * features.chance[f]).toFixed(1), width: 1.5, height: 12 }));
  return track;
};
const featureButton = (f, kind) => node("button", {
  type: "button", class: kind || "pick plain", "aria-pressed": String(state.feature === f), text: features.names[f],
  on: { click: () => chooseFeature(state.feature === f ? -1 : f) },
});
const chooseFeature = (f) => {
  const patch = { feature: f };
  if (f >= 0 && f < nValues) patch.colour = "feature";
  if (f < 0 && state.colour === "feature") patch.colour = "cluster";
  change(patch);
};
const featureRow = (f) => {
  const differs = difference(f);
  const cells = [
    node("th", { scope: "row" }, featureButton(f)),
    node("td", { class: "barcell" }, bar(f)),
    node("td", { class: "number", text: percent(features.explained[f]) }),
  ];
  if (meta.importance) cells.push(node("td", { class: "number importance", text: meta.importance === "equal" ? "equal" : number(features.importance[f]) }));
  if (features.qvalue) cells.push(node("td", { class: "number", text: smallAs(features.qvalue[f]) }));
  cells.push(node("td", { class: "number selected-only", text: Number.isNaN(differs) ? "" : (differs > 0 ? "+" : "") + differs.toFixed(2).replace("-", "−") }));
  return node("tr", { class: (state.feature === f ? "current " : "") + (features.matters[f] ? "" : "idle"), "data-f": f }, ...cells);
};
const sortFeatures = () => {
  const n = features.names.length;
  let order = Array.from({ length: n }, (_, f) => f);
  if (ranked.wanted) order = order.filter((f) => features.names[f].toLowerCase().includes(ranked.wanted));
  const by = { explained: features.explained, importance: features.importance, qvalue: features.qvalue }[ranked.key];
  const sign = ranked.down ? -1 : 1;
  if (by) order.sort((a, b) => sign * (by[a] - by[b]) || a - b);
  if (ranked.key === "name") order.sort((a, b) => sign * features.names[a].localeCompare(features.names[b]));
  if (ranked.key === "difference") {
    const known = order.filter((f) => !Number.isNaN(difference(f)));
    const worth = new Map(known.map((f) => [f, Math.abs(difference(f))]));
    order = known.sort((a, b) => sign * (worth.get(a) - worth.get(b)) || a - b);
  }
  ranked.order = order;
};
const drawFeatures = () => {
  const table = byId("feature-table");
  table.classList.toggle("selecting", choosing());
  sortFeatures();
  table.tBodies[0].replaceChildren(...ranked.order.slice(0, ranked.limit).map(featureRow));
  byId("more-features").hidden = ranked.order.length <= ranked.limit;
  const told = ranked.wanted ? count(ranked.order.length, "features") + " found" : "";
  byId("found").textContent = told;
  drawProfile();
};

// One row a cluster: a histogram where every value is known, quantiles otherwise.
const HIGH = 26;
const WIDE = 300;
// A category: the share of each of its values.
const levelRow = (label, c, y, f, scale, own) => {
  const levels = levelsOf(f);
  const group = node("svg:g", { transform: `translate(0,${y})` });
  const name = label.length > 16 ? label.slice(0, 15) + "…" : label;
  group.append(node("svg:text", { x: scale.left - 8, y: 17, "text-anchor": "end", text: name }));
  const shares = levels.map((_, k) => own.filter((v) => v === k).length / Math.max(1, own.length));
  let x = scale.left;
  shares.forEach((share, k) => {
    const wide = share * WIDE;
    const box = node("svg:rect", { class: colour(k) + " violin", x, width: wide, y: 4, height: 18 });
    box.append(node("svg:title", { text: `${levels[k]} ${percent(share)}` }));
    group.append(box);
    if (wide > 7.5 * levels[k].length) group.append(node("svg:text", { x: x + 4, y: 17, text: levels[k] }));
    x += wide;
  });
  const most = shares.indexOf(Math.max(...shares));
  const text = `${levels[most]} ${percent(shares[most])}`;
  if (!scale.narrow) group.append(node("svg:text", { x: scale.left + WIDE + 8, y: 17, class: "told", text }));
  return [group, label + ": " + levels.map((level, k) => level + " " + percent(shares[k])).join(", ")];
};
const profileRow = (label, c, y, f, scale, own) => {
  if (levelsOf(f) && own) return levelRow(label, c, y, f, scale, own);
  const LEFT = scale.left;
  const group = node("svg:g", { transform: `translate(0,${y})` });
  const name = label.length > 16 ? label.slice(0, 15) + "…" : label;
  group.append(node("svg:text", { x: LEFT - 8, y: 17, "text-anchor": "end", text: name }));
  const x = (v) => LEFT + Math.min(1, Math.max(0, (v - scale.low) / (scale.high - scale.low || 1))) * WIDE;
  let middle = [];
  let text = "";
  if (own && own.length) {
    const n = scale.bins;
    const bins = new Array(n).fill(0);
    own.forEach((v) => { bins[Math.min(n - 1, Math.floor(((x(v) - LEFT) / WIDE) * n))] += 1; });
    const most = Math.max(...bins, 1);
    const up = bins.map((b, k) => `${(LEFT + (k * WIDE) / n).toFixed(1)},${(13 - (10 * b) / most).toFixed(1)} ${(LEFT + ((k + 1) * WIDE) / n).toFixed(1)},${(13 - (10 * b) / most).toFixed(1)}`);
    const down = bins.map((b, k) => `${(LEFT + ((k + 1) * WIDE) / n).toFixed(1)},${(13 + (10 * b) / most).toFixed(1)} ${(LEFT + (k * WIDE) / n).toFixed(1)},${(13 + (10 * b) / most).toFixed(1)}`).reverse();
    group.append(node("svg:polygon", { class: (c < 0 ? "every" : colour(c)) + " violin", points: up.join(" ") + " " + down.join(" ") }));
    const sorted = Float32Array.from(own).sort();
    middle = [0.05, 0.25, 0.5, 0.75, 0.95].map((s) => quantile(sorted, s));
    const above = own.filter((v) => v > 0).length / own.length;
    text = `median ${number(middle[2])}` + (above < 0.95 ? `, ${percent(above)} above 0` : "");
  } else if (c >= 0 && f < nSpread) {
    const k = meta.clusters.length;
    middle = [0, 1, 2, 3, 4].map((q) => spread.low[f] + (spread.quantiles[(f * k + c) * 5 + q] / 255) * (spread.high[f] - spread.low[f]));
    const above = spread.filled[f * k + c] / 255;
    text = `median ${number(middle[2])}` + (above < 0.95 ? `, ${percent(above)} not 0` : "");
    group.append(node("svg:line", { class: "whisker", x1: x(middle[0]), x2: x(middle[4]), y1: 13, y2: 13 }));
    group.append(node("svg:rect", { class: colour(c) + " violin", x: x(middle[1]), width: Math.max(1, x(middle[3]) - x(middle[1])), y: 6, height: 14 }));
  }
  if (middle.length) {
    group.append(node("svg:line", { class: "quarter", x1: x(middle[1]), x2: x(middle[3]), y1: 13, y2: 13 }));
    group.append(node("svg:line", { class: "median", x1: x(middle[2]), x2: x(middle[2]), y1: 3, y2: 23 }));
  }
  if (!scale.narrow) group.append(node("svg:text", { x: LEFT + WIDE + 8, y: 17, class: "told", text }));
  return [group, label + ": " + (text || "unknown")];
};
const drawProfile = () => {
  const f = state.feature >= 0 ? state.feature : 0;
  const box = byId("profile");
  box.replaceChildren();
  byId("profile-title").textContent = features.names[f];
  const known = f < nValues;
  const told = [];
  if (!known && f >= nSpread) {
    box.append(node("p", { text: "The distribution of this feature did not fit into the page: " + percent(features.explained[f]) + " of its variance lies between the clusters." }));
    return;
  }
  let scale = { low: spread.low[f], high: spread.high[f] };
  if (known) {
    const sorted = knownOf(f).sort();
    scale = { low: sorted[0], high: quantile(sorted, 0.995) };
    if (scale.high <= scale.low) scale.high = sorted[sorted.length - 1];
    // Counts have a bin each: others would leave gaps that mean nothing.
    const steps = scale.high - scale.low;
    scale.bins = steps > 0 && steps <= 40 && sorted.every((v) => Number.isInteger(v)) ? Math.ceil(steps) + 1 : 30;
  }
  const groups = [];
  const partly = state.klass >= 0 || state.box !== null || state.picked.size > 0;
  if (partly && known) groups.push(["selection", -1, Array.from(knownOf(f, (i) => active[i]))]);
  meta.clusters.forEach((cluster, c) => {
    if (state.clusters.size && !state.clusters.has(c)) return;
    groups.push([called(c), c, known ? Array.from(knownOf(f, (i) => samples.code[i] === c)) : null]);
  });
  if (state.clusters.size && known) groups.push(["all others", -1, Array.from(knownOf(f, (i) => !state.clusters.has(samples.code[i])))]);
  const LEFT = 24 + 6.5 * Math.min(16, Math.max(...groups.map(([label]) => label.length)));
  scale.left = LEFT;
  // On a phone the figures beside the rows would be too small to read, or push the rows out.
  scale.narrow = box.getBoundingClientRect().width < 420;
  const height = groups.length * HIGH + 24;
  const svg = node("svg:svg", { viewBox: `0 0 ${LEFT + WIDE + (scale.narrow ? 12 : 165)} ${height}`, role: "img", class: "profile" });
  groups.forEach(([label, c, own], k) => {
    const [group, text] = profileRow(label, c, k * HIGH, f, scale, own);
    svg.append(group);
    told.push(text);
  });
  svg.append(node("svg:line", { class: "axis", x1: LEFT, x2: LEFT + WIDE, y1: height - 20, y2: height - 20 }));
  const ends = levelsOf(f) && known ? ["0%", "100%"] : [number(scale.low), number(scale.high)];
  svg.append(node("svg:text", { x: LEFT, y: height - 5, text: ends[0] }));
  svg.append(node("svg:text", { x: LEFT + WIDE, y: height - 5, "text-anchor": "end", text: ends[1] }));
  svg.setAttribute("aria-label", features.names[f] + " by cluster. " + told.join("; ") + ".");
  box.append(svg);
};

const setUpFeatures = () => {
  const table = byId("feature-table");
  table.sortBy = (key, down) => { ranked.key = key; ranked.down = down; drawFeatures(); };
  byId("find").addEventListener("input", (event) => {
    ranked.wanted = event.target.value.trim().toLowerCase();
    ranked.limit = PAGE;
    drawFeatures();
  });
  byId("more-features").addEventListener("click", () => { ranked.limit += 4 * PAGE; drawFeatures(); });
  const picture = byId("feature-image");
  if (picture) {
    const place = new Map(Array.from(features.index, (k, f) => [k, f]));
    picture.classList.add("live");
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const [high, wide] = meta.image;
      const row = Math.floor(((event.clientY - box.top) / box.height) * high);
      const f = place.get(row * wide + Math.floor(((event.clientX - box.left) / box.width) * wide));
      if (f !== undefined) chooseFeature(f);
    });
  }
  drawers.push(drawFeatures);
};
