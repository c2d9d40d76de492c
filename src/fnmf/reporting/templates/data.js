// What the page knows: small facts as JSON, arrays compressed.
const meta = JSON.parse(document.getElementById("data").textContent);
const READERS = { uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array };

// Numbers come with all first bytes together, then all second ones, and so on.
const fromPlanes = (bytes) => {
  const n = bytes.length / 4;
  const out = new Uint8Array(bytes.length);
  for (let b = 0; b < 4; b += 1) {
    for (let i = 0; i < n; i += 1) out[4 * i + b] = bytes[b * n + i];
  }
  return new Float32Array(out.buffer);
};

const unpack = async (part) => {
  const text = atob(part.data);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const found = {};
  part.arrays.forEach(({ name, type, shape, at, size }) => {
    const own = bytes.slice(at, at + size);
    if (type === "json") found[name] = JSON.parse(new TextDecoder().decode(own));
    else if (type === "float32") found[name] = fromPlanes(own);
    else found[name] = new READERS[type](own.buffer);
    found[name + "Shape"] = shape;
  });
  return found;
};

// A number for people: four digits, powers of ten only when they help.
const number = (value) => {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace(/-/g, "−");
  if (size >= 1000) return Math.round(value).toLocaleString("en").replace("-", "−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
};
// A value of a column: of a category the value itself.
const levelsOf = (f) => (features.levels && features.levels[f]) || null;
const shownValue = (f, value) => (levelsOf(f) && !Number.isNaN(value) ? String(levelsOf(f)[Math.round(value)]) : number(value));
const called = (c) => meta.clusters[c].name + " · " + meta.clusters[c].title;
// Smaller is not told: such rates are beyond what their model can know.
const smallAs = (value) => (value < 1e-4 ? "< 0.0001" : number(value));
const percent = (share) => (100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0) + "%";
const count = (n, plural) => n.toLocaleString("en") + " " + (n === 1 ? plural.replace(/s$/, "") : plural);

// Elements; text from the data only ever goes in through textContent.
const SVG = "http:" + "//www.w3.org/2000/svg";
const node = (kind, attributes, ...children) => {
  const svg = kind.startsWith("svg:");
  const made = svg ? document.createElementNS(SVG, kind.slice(4)) : document.createElement(kind);
  Object.entries(attributes || {}).forEach(([key, value]) => {
    if (key === "text") made.textContent = value;
    else if (key === "on") Object.entries(value).forEach(([event, act]) => made.addEventListener(event, act));
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  });
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
const byId = (id) => document.getElementById(id);

// Cluster c has colour c mod 8; every eight clusters the shape changes.
const COLOURS = 8;
const turned = (corners, r, start) => {
  const points = corners.map((radius, i) => {
    const angle = start + (2 * Math.PI * i) / corners.length;
    return (r * radius * Math.cos(angle)).toFixed(2) + "," + (r * radius * Math.sin(angle)).toFixed(2);
  });
  return "M" + points.join("L") + "Z";
};
const shape = (c, r) => {
  const up = -Math.PI / 2;
  switch (Math.floor(c / COLOURS) % 8) {
    case 0: return `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`;
    case 1: return turned([1.25, 1.25, 1.25, 1.25], r, Math.PI / 4);
    case 2: return turned([1.45, 1.45, 1.45], r, up);
    case 3: return turned([1.4, 1.4, 1.4, 1.4], r, 0);
    case 4: return turned([1.45, 1.45, 1.45], r, -up);
    case 5: return turned([1.6, 0.55, 1.6, 0.55, 1.6, 0.55, 1.6, 0.55], r, 0);
    case 6: return turned([1.6, 0.55, 1.6, 0.55, 1.6, 0.55, 1.6, 0.55], r, Math.PI / 4);
    default: return turned([1.6, 0.65, 1.6, 0.65, 1.6, 0.65, 1.6, 0.65, 1.6, 0.65], r, up);
  }
};
const colour = (c) => "k" + (c % COLOURS);
const swatch = (c) => node("svg:svg", { class: "swatch", width: 14, height: 14, viewBox: "-8 -8 16 16", "aria-hidden": "true" },
  node("svg:path", { class: colour(c), d: shape(c, 5) }));

// Dark over green to bright, even in lightness: readable without red-green vision.
const STOPS = [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];
const ramp = (share) => {
  const place = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const below = Math.min(STOPS.length - 2, Math.floor(place));
  return STOPS[below].map((low, i) => Math.round(low + (STOPS[below + 1][i] - low) * (place - below)));
};
const rampColour = (share) => "rgb(" + ramp(share).join(",") + ")";
const quantile = (sorted, share) => {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  const high = Math.min(sorted.length - 1, low + 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
};
