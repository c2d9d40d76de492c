// The map: colours, overlap, brush, keyboard.
const map = byId("map");
const tip = byId("tip");
let marks = [];
let hovered = -1;
let walk = -1;
let brushing = null;

const shown = (i) => active[i] === 1;
const describe = (i) => {
  let text = samples.names[i] + ": cluster " + called(samples.code[i]);
  if (meta.classes) text += ", class " + meta.classes[samples.class[i]];
  if (samples.confidence) text += ", confidence " + samples.confidence[i].toFixed(2);
  if (state.colour === "feature" && state.feature >= 0 && state.feature < nValues) {
    text += ", " + features.names[state.feature] + " " + shownValue(state.feature, valueOf(state.feature, i));
  }
  return text;
};
const point = (i) => {
  if (hovered >= 0) marks[hovered].classList.remove("at");
  hovered = i;
  tip.hidden = i < 0;
  if (i < 0) return;
  marks[i].classList.add("at");
  tip.textContent = describe(i);
};
const nearest = (x, y) => {
  let best = -1;
  let least = 15 * 15;
  for (let i = 0; i < marks.length; i += 1) {
    if (!shown(i)) continue;
    const [px, py] = at(i);
    const far = (px - x) ** 2 + (py - y) ** 2;
    if (far < least) { least = far; best = i; }
  }
  return best;
};
const place = (event) => {
  const box = map.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * meta.map.width, ((event.clientY - box.top) / box.height) * meta.map.height];
};

// How each sample is coloured now: a number for a class of colours, or a share of the ramp.
const paint = () => {
  if (state.colour === "class") return { kind: "names", code: samples.class, names: meta.classes };
  let column = null;
  let title = "";
  if (state.colour === "confidence") { column = samples.confidence; title = "Confidence"; }
  if (state.colour === "feature" && state.feature >= 0 && state.feature < nValues) {
    column = columnOf(state.feature);
    title = features.names[state.feature];
    if (levelsOf(state.feature)) return { kind: "names", code: column, names: levelsOf(state.feature), title };
  }
  if (!column) return { kind: "names", code: samples.code, names: meta.clusters.map((c) => c.name) };
  const sorted = column.filter((v) => !Number.isNaN(v)).sort();
  const low = state.colour === "confidence" ? 0 : quantile(sorted, 0.02);
  let high = state.colour === "confidence" ? 1 : quantile(sorted, 0.98);
  if (high <= low) high = sorted[sorted.length - 1];
  return { kind: "ramp", column, low, high, title };
};

const legend = (how) => {
  const box = byId("legend");
  box.replaceChildren();
  if (how.kind === "ramp") {
    const bar = node("svg:svg", { width: 160, height: 12, role: "img", "aria-label": "dark is low, bright is high" });
    for (let s = 0; s < 32; s += 1) bar.append(node("svg:rect", { x: 5 * s, width: 5.5, height: 12, fill: rampColour(s / 31) }));
    box.append(node("b", { text: how.title }), " " + number(how.low) + " ", bar, " " + number(how.high));
    return;
  }
  if (state.colour === "feature" && how.title) {
    box.append(node("b", { text: how.title }), ...how.names.slice(0, 40).flatMap((name, k) => [" ", swatch(k), name]));
    return;
  }
  if (state.colour !== "class") return;
  how.names.slice(0, 40).forEach((name, k) => box.append(node("button", {
    type: "button", class: "chip", "aria-pressed": String(state.klass === k),
    on: { click: () => change({ klass: state.klass === k ? -1 : k }) },
  }, swatch(k), " " + name)));
};

// Labels at the middle of their clusters, moved down where they would cover each other.
const labels = () => {
  const layer = byId("map-labels");
  layer.replaceChildren();
  const many = meta.clusters.length > 16;
  const narrow = map.getBoundingClientRect().width < 480;
  layer.setAttribute("class", narrow ? "narrow" : "");
  const high = (many ? 11 : 16) * (narrow ? 1.6 : 1);
  const taken = [];
  const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
  meta.clusters.forEach((cluster, c) => {
    const xs = [];
    const ys = [];
    for (let i = 0; i < marks.length; i += 1) {
      if (samples.code[i] === c) { const [x, y] = at(i); xs.push(x); ys.push(y); }
    }
    if (!xs.length || (state.clusters.size && !state.clusters.has(c))) return;
    const short = cluster.title.length > 22 ? cluster.title.slice(0, 21) + "…" : cluster.title;
    const text = many ? cluster.name : cluster.name + " · " + short;
    const wide = text.length * high * 0.5;
    const x = Math.min(meta.map.width - wide / 2, Math.max(wide / 2, middle(xs)));
    let y = middle(ys);
    const covered = (other) => Math.abs(other[0] - x) < (other[2] + wide) / 2 && Math.abs(other[1] - y) < high;
    for (let tries = 0; tries < 6 && taken.some(covered); tries += 1) y += high;
    y = Math.min(y, meta.map.height - high / 2);
    taken.push([x, y, wide]);
    layer.append(node("svg:text", { x, y, class: many ? "small" : "", text }));
  });
};

const drawMap = () => {
  const how = paint();
  for (let i = 0; i < marks.length; i += 1) {
    const [x, y] = at(i);
    const mark = marks[i];
    mark.setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)})`);
    const code = how.kind === "names" ? how.code[i] : 0;
    const missing = Number.isNaN(how.kind === "names" ? code : how.column[i]);
    mark.setAttribute("d", shape(missing ? 0 : code, meta.map.radius));
    mark.setAttribute("class", (missing ? "missing" : how.kind === "names" ? colour(code) : "ramped") + (shown(i) ? "" : " dim"));
    if (how.kind === "ramp" && !missing) mark.setAttribute("fill", rampColour((how.column[i] - how.low) / (how.high - how.low || 1)));
    else mark.removeAttribute("fill");
  }
  if (hovered >= 0) marks[hovered].classList.add("at");
  const frame = byId("brush");
  if (state.box) {
    const [left, top, right, bottom] = state.box;
    Object.entries({ x: left, y: top, width: right - left, height: bottom - top }).forEach(([k, v]) => frame.setAttribute(k, Math.max(0, v)));
  }
  frame.setAttribute("class", state.box ? "on" : "off");
  legend(how);
  labels();
  const layout = meta.map.layouts.find((l) => l.key === state.layout);
  byId("layout-text").textContent = "Layout: " + layout.text + ".";
  byId("colour").value = state.colour;
  byId("layout").value = state.layout;
};

const boxOf = ([x, y], [u, v]) => [Math.min(x, u), Math.min(y, v), Math.max(x, u), Math.max(y, v)];
const walked = () => {
  const order = [];
  for (let i = 0; i < marks.length; i += 1) if (shown(i)) order.push(i);
  return order.sort((a, b) => samples.code[a] - samples.code[b] || a - b);
};

const setUpMap = () => {
  const layer = byId("map-points");
  marks = Array.from(samples.code, () => layer.appendChild(node("svg:path", {})));
  map.addEventListener("pointermove", (event) => {
    if (brushing) {
      const now = place(event);
      if (Math.hypot(now[0] - brushing[0], now[1] - brushing[1]) > 5) change({ box: boxOf(brushing, now) });
      return;
    }
    const [x, y] = place(event);
    point(nearest(x, y));
  });
  map.addEventListener("pointerleave", () => { if (!brushing) point(-1); });
  map.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    event.preventDefault();
    map.focus({ preventScroll: true });
    brushing = place(event);
    map.setPointerCapture(event.pointerId);
  });
  map.addEventListener("pointerup", (event) => {
    const start = brushing;
    brushing = null;
    if (start && Math.hypot(place(event)[0] - start[0], place(event)[1] - start[1]) > 5) return;
    const [x, y] = place(event);
    const i = nearest(x, y);
    if (i < 0) change({ box: null, sample: -1 });
    else if (event.shiftKey) change({ picked: toggled(state.picked, i) });
    else change({ sample: i });
  });
  map.setAttribute("tabindex", "0");
  map.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const here = walk >= 0 ? at(walk) : [meta.map.width / 2, meta.map.height / 2];
    if (event.key === "Escape") { point(-1); change({ box: null, picked: new Set(), sample: -1 }); }
    else if (event.key === "Enter" && walk >= 0) change({ sample: walk });
    else if (event.key === " " && walk >= 0) change({ picked: toggled(state.picked, walk) });
    else if (step && event.shiftKey) {
      // A box that grows from the sample under the cursor.
      const box = state.box ? state.box.slice() : [here[0] - 10, here[1] - 10, here[0] + 10, here[1] + 10];
      const side = { ArrowLeft: 0, ArrowUp: 1, ArrowRight: 2, ArrowDown: 3 }[event.key];
      box[side] += side < 2 ? -20 : 20;
      change({ box });
    } else if (step) {
      const order = walked();
      if (!order.length) return;
      const place = order.indexOf(walk);
      walk = order[place < 0 ? 0 : (place + step + order.length) % order.length];
      point(walk);
    } else return;
    event.preventDefault();
  });
  byId("colour").addEventListener("change", (event) => {
    const patch = { colour: event.target.value };
    if (patch.colour === "feature" && state.feature < 0) patch.feature = 0;
    change(patch);
  });
  byId("layout").addEventListener("change", (event) => change({ layout: event.target.value, box: null }));
  // Names keep a size that can be read, and find new places.
  window.addEventListener("resize", () => labels());
  drawers.push(drawMap);
};
