// Figures with controls (course/plots/live.py). Each view computes its numbers from the values of
// the controls, draws them, and returns them; a test compares them with NumPy and SciPy.
"use strict";
(() => {
const PAD = {left: 54, right: 14, top: 8, bottom: 38};
const {format} = new Intl.NumberFormat("en", {maximumFractionDigits: 10});
const show = value => format(Number(value.toPrecision(3))).replace("-", "−");
const range = (n, low = 0, high = n - 1) => Array.from({length: n}, (_, i) => low + (high - low) * i / Math.max(n - 1, 1));
const sum = xs => xs.reduce((total, x) => total + x, 0);
const mean = xs => sum(xs) / xs.length;
const dot = (a, b) => { let total = 0; for (let i = 0; i < a.length; i++) total += a[i] * b[i]; return total; };
const sigmoid = z => 1 / (1 + Math.exp(-z));
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
// The uniform numbers in (0, 1) of the generator mulberry32.
const uniforms = (n, seed) => Float64Array.from({length: n}, () => {
  seed = (seed + 0x6D2B79F5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
});
// Compute what most controls do not change, again only when its key changes.
const once = (own, key, compute) => {
  if (own.key !== key) Object.assign(own, {key, kept: compute()});
  return own.kept;
};
// The lower triangle L of a positive definite matrix A = L Lᵀ, and the solution of L x = b.
const cholesky = A => {
  const L = A.map(row => row.map(() => 0));
  A.forEach((row, i) => {
    for (let j = 0; j <= i; j++) {
      let rest = row[j];
      for (let k = 0; k < j; k++) rest -= L[i][k] * L[j][k];
      L[i][j] = i === j ? Math.sqrt(rest) : rest / L[j][j];
    }
  });
  return L;
};
const forward = (L, b) => {
  const x = [];
  L.forEach((row, i) => {
    let rest = b[i];
    for (let k = 0; k < i; k++) rest -= row[k] * x[k];
    x.push(rest / row[i]);
  });
  return x;
};
const backward = (L, b) => {
  const x = Array(b.length);
  for (let i = b.length - 1; i >= 0; i--) {
    let rest = b[i];
    for (let k = i + 1; k < b.length; k++) rest -= L[k][i] * x[k];
    x[i] = rest / L[i][i];
  }
  return x;
};

const make = (tag, attributes, parent, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};
// Round numbers between two ends, about as many as asked for.
const ticks = (low, high, about) => {
  const rough = (high - low) / about, ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * [1, 2, 5, 10].find(factor => factor * ten >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return range(Math.floor(high / step + 1e-9) - first + 1).map(i => (first + i) * step);
};
// A tick with as many decimals as the others.
const evenly = (all, t) => {
  const places = Math.max(...all.map(one => (show(one).split(".")[1] ?? "").length));
  return places ? t.toFixed(places).replace("-", "−") : show(t);
};
// What a view draws on: a panel with axes in the units of the data.
class Panel {
  constructor(svg) {
    this.svg = svg;
    this.height = Number(svg.dataset.height);
    this.clip = `${svg.closest(".live").id}-${[...svg.parentElement.children].indexOf(svg)}-clip`;
  }
  // Clear the panel, and draw axes: {x: [low, high], y: …, xlabel, ylabel, equal, log, names of rows}.
  axes({x, y, xlabel = "", ylabel = "", equal = false, log = false, names}) {
    const {svg, height} = this;
    svg.setAttribute("width", this.width);
    svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    svg.replaceChildren();
    let [left, right] = [names ? 152 : PAD.left, this.width - PAD.right];
    const [top, bottom] = [PAD.top, height - (xlabel ? PAD.bottom : 22)];
    if (equal) {
      const spare = right - left - (bottom - top) * (x[1] - x[0]) / (y[1] - y[0]);
      left += Math.max(spare, 0) / 2;
      right -= Math.max(spare, 0) / 2;
    }
    const on = log ? Math.log10 : value => value;
    this.X = value => left + (right - left) * (on(value) - on(x[0])) / (on(x[1]) - on(x[0]));
    this.Y = value => bottom - (bottom - top) * (value - y[0]) / (y[1] - y[0]);
    this.xAt = px => x[0] + (x[1] - x[0]) * (px - left) / (right - left);
    this.yAt = px => y[0] + (y[1] - y[0]) * (bottom - px) / (bottom - top);
    const tens = on(x[1]) - on(x[0]), apart = Math.ceil(54 * tens / (right - left)); // in powers of ten
    const xs = log ? range(Math.floor(tens / apart + 1e-9) + 1).map(i => 10 ** (Math.ceil(on(x[0]) - 1e-9) + i * apart)).filter(t => t <= x[1] * 1.001)
      : ticks(x[0], x[1], Math.min(6, (right - left) / 50));
    if (log && x[1] > 1.5 * xs.at(-1)) xs.push(x[1]);
    for (const t of xs) {
      make("path", {d: `M${this.X(t)} ${top}V${bottom}`, class: "grid"}, svg);
      const name = log ? show(t) : evenly(xs, t), half = 3.4 * name.length;
      make("text", {x: this.X(t), y: bottom + 15, "text-anchor": this.X(t) + half > this.width ? "end" : "middle"}, svg, name);
    }
    names?.forEach((name, i) => {
      make("text", {x: left - 5, y: top + (bottom - top) * (i + 0.5) / names.length + 4, "text-anchor": "end"}, svg, name);
    });
    const ys = names ? [] : ticks(y[0], y[1], Math.max((bottom - top) / 36, 4));
    for (const t of ys) {
      make("path", {d: `M${left} ${this.Y(t)}H${right}`, class: "grid"}, svg);
      make("text", {x: left - 5, y: this.Y(t) + 4, "text-anchor": "end"}, svg, evenly(ys, t));
    }
    make("path", {d: `M${left} ${top}V${bottom}H${right}`, class: "axis"}, svg);
    // The names of variables are in italics, as in formulas.
    const look = name => /^[a-z][₁₂]?$/.test(name) ? "variable" : "";
    make("text", {x: (left + right) / 2, y: height - 5, "text-anchor": "middle", class: look(xlabel)}, svg, xlabel);
    const middle = (top + bottom) / 2;
    const side = left - 43;
    make("text", {x: side, y: middle, transform: `rotate(-90 ${side} ${middle})`, "text-anchor": "middle", class: look(ylabel)}, svg, ylabel);
    make("rect", {x: left, y: top, width: right - left, height: bottom - top}, make("clipPath", {id: this.clip}, svg));
    this.inside = make("g", {"clip-path": `url(#${this.clip})`}, svg);
    return this;
  }
  way(xs, ys) {
    return xs.map((x, i) => `${this.X(x).toFixed(1)} ${clamp(this.Y(ys[i]), -999, 9999).toFixed(1)}`).join("L");
  }
  line(xs, ys, colour, look = "") {
    return make("path", {d: `M${this.way(xs, ys)}`, class: `line ${look}`, style: `stroke:var(--${colour})`}, this.inside);
  }
  band(xs, low, high, colour, kind = "band") {
    const there = this.way(xs, high), back = this.way([...xs].reverse(), [...low].reverse());
    make("path", {d: `M${there}L${back}z`, class: kind, style: `fill:var(--${colour})`}, this.inside);
  }
  dots(xs, ys, colour, r = 4) {
    return xs.map((x, i) => make("circle", {cx: this.X(x), cy: this.Y(ys[i]), r, style: `fill:var(--${colour})`}, this.inside));
  }
  // Points that are only looked at: a path for all of them, and a rim below it.
  cloud(points, colour, r, cap = "round") {
    const d = points.map(([x, y]) => `M${this.X(x).toFixed(1)} ${this.Y(y).toFixed(1)}h0`).join("");
    for (const [own, width] of [["ground", 2 * r + 1.5], [colour, 2 * r]])
      make("path", {d, class: "cloud", style: `stroke:var(--${own});stroke-width:${width};stroke-linecap:${cap}`}, this.inside);
  }
  // Two classes of them.
  classes(points, labels, r) {
    for (const label of [0, 1]) this.cloud(points.filter((_, i) => labels[i] === label), label ? "orange" : "blue", r, label ? "square" : "round");
  }
  bar(x0, x1, y0, y1, colour, look = "") {
    make("rect", {
      x: this.X(x0), y: this.Y(Math.max(y0, y1)), class: look, style: `fill:var(--${colour});stroke:var(--${colour})`,
      width: Math.max(this.X(x1) - this.X(x0), 0), height: Math.abs(this.Y(y0) - this.Y(y1)),
    }, this.inside);
  }
  // Shapes in few paths, one for each colour: {style: path}.
  shapes(paths, look, parent = this.inside) {
    for (const style in paths) make("path", {d: paths[style], style: `fill:${style}`, class: look}, parent);
  }
  // Probabilities on a grid, from one colour over the page's ground to another, with contours.
  map(xs, ys, at) {
    if (this.mapOf === at && this.mapWidth === this.width) { this.inside.append(this.drawn); return; }
    Object.assign(this, {mapOf: at, mapWidth: this.width, drawn: make("g", {}, this.inside)});
    // Between the points of the grid, logits are closer to linear than probabilities.
    const logit = p => Math.log(p / (1 - p));
    const logits = at.map(row => row.map(p => logit(clamp(p, 1e-6, 1 - 1e-6))));
    const between = (a, b, t) => a + (b - a) * t, finer = (zs, mix) => range(4 * zs.length - 3).map(i => {
      const k = Math.min(i >> 2, zs.length - 2);
      return mix(zs[k], zs[k + 1], i / 4 - k);
    });
    const fine = finer(logits, (a, b, t) => finer(a.map((z, i) => between(z, b[i], t)), between));
    [xs, ys, at] = [finer(xs, between), finer(ys, between), fine.map(row => row.map(sigmoid))];
    const [w, h] = [(xs[1] - xs[0]) / 2, (ys[1] - ys[0]) / 2], paths = {};
    ys.forEach((y, j) => {
      const shade = at[j].map(p => Math.round(40 * p - 20));
      for (let i = 0, from = 0; i < xs.length; i++) {
        if (shade[i + 1] === shade[from]) continue;
        const style = `color-mix(in srgb,var(--${shade[from] < 0 ? "blue" : "orange"}) ${2.5 * Math.abs(shade[from])}%,var(--ground))`;
        const [left, right] = [this.X(xs[from] - w).toFixed(1), this.X(xs[i] + w).toFixed(1)];
        paths[style] = `${paths[style] ?? ""}M${left} ${this.Y(y + h).toFixed(1)}H${right}V${this.Y(y - h).toFixed(1)}H${left}z`;
        from = i + 1;
      }
    });
    this.shapes(paths, "tiles", this.drawn);
    for (const level of [0.05, 0.25, 0.5, 0.75, 0.95]) this.contour(xs, ys, fine, logit(level));
  }
  // Where values on a grid equal a level: a piece of a line in each cell.
  contour(xs, ys, at, level) {
    let d = "";
    for (let j = 1; j < ys.length; j++) for (let i = 1; i < xs.length; i++) {
      const low = at[j - 1][i] < level;
      if (at[j - 1][i - 1] < level === low && at[j][i] < level === low && at[j][i - 1] < level === low) continue;
      const corners = [[i - 1, j - 1], [i, j - 1], [i, j], [i - 1, j]];
      const above = corners.map(([a, b]) => at[b][a] - level);
      let pen = "M";
      corners.forEach(([a, b], k) => {
        const [p, q] = [above[k], above[(k + 1) % 4]], [c, e] = corners[(k + 1) % 4];
        if (p < 0 === q < 0) return;
        const x = this.X(xs[a] + (xs[c] - xs[a]) * p / (p - q)), y = this.Y(ys[b] + (ys[e] - ys[b]) * p / (p - q));
        d += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
        pen = pen === "M" ? "L" : "M";
      });
    }
    make("path", {d, class: `line ${level ? "thin" : ""}`, style: "stroke:var(--ink)"}, this.drawn);
  }
}

const views = {};
// A Gaussian process with the kernel exp(−(x − x′)² / 2ℓ²), given points with noise.
views.gp = own => {
  const {data, state, panels: [panel]} = own;
  own.points ??= data.points.map(point => [...point]);
  own.chosen ??= own.points.length - 1;
  const nearest = (name, value) => data.controls[name].reduce((a, b) => Math.abs(b - value) < Math.abs(a - value) ? b : a);
  const place = (x, y) => [nearest("x", x), nearest("y", y)];
  if (own.pressed === "add" && own.points.length < 40) own.chosen = own.points.push(place(0, 0)) - 1;
  if (own.pressed === "remove") { own.points.splice(own.chosen, 1); own.chosen = own.points.length - 1; }
  if (own.pressed === "reset") { own.points = data.points.map(point => [...point]); own.chosen = own.points.length - 1; }
  const {points} = own;
  if (points.length) {
    if (own.moved === "x" || own.moved === "y") points[own.chosen] = [state.x, state.y];
    else { own.set("x", points[own.chosen][0]); own.set("y", points[own.chosen][1]); }
  }
  const kernel = (a, b) => Math.exp(-((a - b) ** 2) / (2 * state.length ** 2));
  const noise = state.noise ** 2;
  const L = cholesky(points.map(([a], i) => points.map(([b], j) => kernel(a, b) + (i === j ? noise : 0))));
  const half = forward(L, points.map(point => point[1])), alpha = backward(L, half);
  const grid = range(121, -3.2, 3.2);
  const means = [], stds = [];
  for (const x of grid) {
    const k = points.map(point => kernel(x, point[0])), v = forward(L, k);
    means.push(dot(k, alpha));
    stds.push(Math.sqrt(Math.max(1 - dot(v, v), 0)));
  }
  const evidence = -dot(half, half) / 2 - sum(L.map((row, i) => Math.log(row[i]))) - points.length * Math.log(2 * Math.PI) / 2;
  panel.axes({x: [-3.2, 3.2], y: [-3, 3], xlabel: "x", ylabel: "y"});
  const edge = (sign, extra) => means.map((m, i) => m + sign * 2 * Math.sqrt(stds[i] ** 2 + extra));
  panel.band(grid, edge(-1, noise), edge(1, noise), "sky");
  panel.band(grid, edge(-1, 0), edge(1, 0), "blue");
  panel.line(grid, means, "blue");
  panel.dots(points.map(p => p[0]), points.map(p => p[1]), "ink").forEach((circle, i) => {
    circle.dataset.point = i;
    circle.classList.toggle("chosen", i === own.chosen);
  });
  if (!own.listens) {
    own.listens = true;
    const {svg} = panel;
    const at = event => {
      const box = svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    svg.classList.add("takes-clicks");
    let dragged = false;
    svg.addEventListener("pointerdown", event => {
      if (event.target.dataset.point === undefined || event.button) return;
      own.chosen = Number(event.target.dataset.point);
      dragged = true;
      svg.setPointerCapture(event.pointerId);
    });
    // A finger on a point moves it, not the page. Nothing is redrawn before this event: it would
    // be sent to a point that is gone.
    svg.addEventListener("touchstart", event => { if (event.target.dataset.point !== undefined) event.preventDefault(); }, {passive: false});
    svg.addEventListener("pointermove", event => {
      if (!event.buttons) dragged = false;
      if (!dragged) return;
      const [px, py] = at(event);
      own.points[own.chosen] = place(panel.xAt(px), panel.yAt(py));
      own.redraw();
    });
    for (const kind of ["pointerup", "pointercancel"]) svg.addEventListener(kind, () => { if (dragged) own.redraw(); setTimeout(() => { dragged = false; }); });
    svg.addEventListener("click", event => {
      if (dragged || event.target.dataset.point !== undefined || own.points.length >= 40) return;
      const [px, py] = at(event);
      own.chosen = own.points.push(place(panel.xAt(px), panel.yAt(py))) - 1;
      own.redraw();
    });
  }
  return {
    numbers: {means, stds, evidence, points: points.map(point => [...point])},
    said: `${points.length} data point${points.length === 1 ? "" : "s"}, log evidence ${show(evidence)}`,
    key: [["blue", "curve ± 2 std", "band"], ["sky", "data ± 2 std", "band"]],
  };
};

// Expected scores of the forecast p of an event with probability q.
views.scores = ({state: {q, p}, panels: [panel]}) => {
  const rules = {
    log: f => q * Math.log(f) + (1 - q) * Math.log(1 - f),
    brier: f => -2 * (q * (1 - f) ** 2 + (1 - q) * f ** 2),
    linear: f => q * f + (1 - q) * (1 - f),
  };
  const colours = {log: "blue", brier: "green", linear: "vermilion"}, looks = {log: "", brier: "long", linear: "mixed"};
  const grid = range(199, 0.005, 0.995), numbers = {};
  panel.axes({x: [0, 1], y: [-2.6, 1], xlabel: "forecast probability of rain", ylabel: "expected score"});
  panel.line([q, q], [-9, 9], "ink", "dashed");
  for (const rule in rules) {
    panel.line(grid, grid.map(rules[rule]), colours[rule], looks[rule]);
    panel.dots([p], [rules[rule](p)], colours[rule], 5);
    const best = rule === "linear" ? (q > 0.5 ? 1 : q < 0.5 ? 0 : p) : q;
    numbers[rule] = rules[rule](p);
    const top = rule === "linear" ? Math.max(q, 1 - q) : rules[rule](q);
    numbers[`${rule}Best`] = best;
    numbers[`${rule}Lost`] = top - numbers[rule];
  }
  const {logLost, brierLost, linearLost} = numbers;
  return {
    numbers,
    said: `Expected score below its maximum: log ${logLost.toFixed(3)}, Brier ${brierLost.toFixed(3)}, linear ${linearLost.toFixed(3)}`,
    key: [["blue", "log", "line"], ["green", "Brier", "line long"], ["vermilion", "linear", "line mixed"], ["ink", "chance of rain", "line dashed"]],
  };
};

// A Gaussian p with unit variances and correlation ρ, and q = N(0, s² I).
views.kl = own => {
  const {state, panels: [plane, curves]} = own;
  const {rho} = state, narrow = Math.sqrt(1 - rho ** 2);
  if (own.pressed === "qp") own.set("s", narrow);
  if (own.pressed === "pq") own.set("s", 1);
  const {s} = state;
  const qp = s => s ** 2 / (1 - rho ** 2) - 1 + Math.log(1 - rho ** 2) / 2 - 2 * Math.log(s);
  const pq = s => 1 / s ** 2 - 1 + 2 * Math.log(s) - Math.log(1 - rho ** 2) / 2;
  plane.axes({x: [-3, 3], y: [-3, 3], xlabel: "first weight", ylabel: "second weight", equal: true});
  const turn = range(121, 0, 2 * Math.PI);
  for (const radius of [1, 2]) {
    plane.line(turn.map(t => radius * Math.cos(t)), turn.map(t => radius * (rho * Math.cos(t) + narrow * Math.sin(t))), "ink");
    plane.line(turn.map(t => radius * s * Math.cos(t)), turn.map(t => radius * s * Math.sin(t)), "vermilion");
  }
  const grid = range(141, 0.1, 1.5);
  curves.axes({x: [0, 1.5], y: [0, 4], xlabel: "standard deviation of q", ylabel: "nats"});
  curves.line([narrow, narrow], [0, 4], "blue", "dashed");
  curves.line([1, 1], [0, 4], "green", "dashed");
  curves.line(grid, grid.map(qp), "blue");
  curves.line(grid, grid.map(pq), "green");
  curves.dots([s], [qp(s)], "blue", 5);
  curves.dots([s], [pq(s)], "green", 5);
  return {
    numbers: {qp: qp(s), pq: pq(s), narrow},
    said: `KL(q‖p) = ${show(qp(s))} nats, smallest at a std of ${show(narrow)}; KL(p‖q) = ${show(pq(s))} nats, smallest at 1`,
    key: [["ink", "p", "line"], ["vermilion", "q", "line"], ["blue", "KL(q‖p)", "line"], ["green", "KL(p‖q)", "line"]],
  };
};

// A classifier that is right with probability p, uniform on (½, 1), and says σ(logit(p) / T).
views.reliability = own => {
  const {state: {temperature, bins, n, again}, panels: [panel]} = own;
  const said = p => sigmoid(Math.log(p / (1 - p)) / temperature);
  // The expected gap: an integral over p = 1 − v⁸ / 2, which is smooth at v = 0.
  const steps = 4000;
  const {drawn, truth} = once(own, [temperature, n, again].join(), () => ({
    drawn: uniforms(2 * n, again + 1),
    truth: sum(range(steps).map(i => {
      const v = (i + 0.5) / steps, p = 1 - v ** 8 / 2;
      return Math.abs(p - said(p)) * 8 * v ** 7;
    })) / steps,
  }));
  const count = range(bins).map(() => 0), right = [...count], confidence = [...count];
  for (let i = 0; i < n; i++) {
    const p = (1 + drawn[i]) / 2, c = said(p), bin = Math.min(Math.floor(c * bins), bins - 1);
    count[bin]++;
    confidence[bin] += c;
    right[bin] += drawn[n + i] < p;
  }
  const ece = sum(count.map((_, i) => Math.abs(right[i] - confidence[i]))) / n;
  panel.axes({x: [0.5, 1], y: [0, 1], xlabel: "confidence", ylabel: "accuracy"});
  count.forEach((k, i) => {
    if (!k) return;
    const a = right[i] / k, c = confidence[i] / k;
    panel.bar(i / bins, (i + 1) / bins, 0, a, "blue", "faint");
    panel.bar(i / bins, (i + 1) / bins, Math.min(a, c), Math.max(a, c), c > a ? "vermilion" : "green", "gap");
  });
  panel.line([0, 1], [0, 1], "ink", "dashed");
  return {
    numbers: {count, right, confidence, ece, truth},
    said: `Estimated ECE ${show(ece)}; true calibration error ${show(truth)}`,
    key: [["blue", "accuracy in a bin", "faint"], ["vermilion", "gap, overconfident", "gap"], ["green", "gap, underconfident", "gap"]],
  };
};

// The coverage of split conformal sets: the k-th smallest of n uniform numbers.
views.conformal = own => {
  const {state: {alpha, n, again}, panels: [panel]} = own;
  const sets = 200, rank = Math.ceil((n + 1) * (1 - alpha) - 1e-9);
  const sorted = once(own, [n, again].join(), () => {
    const drawn = uniforms(sets * n, again + 1);
    return range(sets).map(i => drawn.subarray(i * n, (i + 1) * n).sort());
  });
  const coverages = sorted.map(set => rank > n ? 1 : set[rank - 1]);
  const logs = [0];
  for (let i = 1; i <= n; i++) logs.push(logs[i - 1] + Math.log(i));
  const choose = k => logs[n] - logs[k] - logs[n - k];
  // The law is Beta(k, n + 1 − k): its value at x, and the chance of less than 1 − α.
  const law = x => rank > n ? 0 : Math.exp(choose(rank) + Math.log(rank) + (rank - 1) * Math.log(x) + (n - rank) * Math.log(1 - x));
  const below = rank > n ? 0 : sum(range(n - rank + 1).map(i => {
    const k = rank + i;
    return Math.exp(choose(k) + k * Math.log(1 - alpha) + (n - k) * Math.log(alpha));
  }));
  const low = Math.max(0, 1 - alpha - 4.5 * Math.sqrt(alpha * (1 - alpha) / n)), wide = (1 - low) / 40;
  const heights = range(40).map(() => 0);
  for (const c of coverages) if (c >= low) heights[Math.min(Math.floor((c - low) / wide), 39)] += 1 / (sets * wide);
  const grid = range(201, low + 1e-4, 1 - 1e-4), density = grid.map(law);
  panel.axes({x: [low, 1], y: [0, 1.15 * Math.max(...density, ...heights)], xlabel: "coverage", ylabel: "density"});
  heights.forEach((h, i) => panel.bar(low + i * wide, low + (i + 1) * wide, 0, h, "blue", "faint"));
  if (rank <= n) panel.line(grid, density, "blue");
  panel.line([1 - alpha, 1 - alpha], [0, 9999], "ink", "dashed");
  const seen = mean(coverages.map(c => c < 1 - alpha));
  return {
    numbers: {rank, coverages, density, below, seen, mean: Math.min(rank, n + 1) / (n + 1)},
    said: rank > n ? `Rank ${rank} of ${n}: every interval is infinite, and covers all data`
      : `Rank ${rank} of ${n}; coverage below ${show(1 - alpha)} for ${show(100 * seen)}% of the sets, by the law ${show(100 * below)}%`,
    key: [["blue", "200 calibration sets", "faint"], ["blue", "the exact law", "line"], ["ink", "1 − α", "line dashed"]],
  };
};

// Answer if the confidence is at least a threshold; an abstention costs a price, an error 1.
views.risk = own => {
  const {data: {confidence, wrong, controls}, state: {threshold, price}, panels: [left, right]} = own;
  const n = wrong.length;
  // Confidences from high to low, and the number of errors among the first k.
  const {sure, errors} = once(own, n, () => {
    const order = range(n).sort((a, b) => confidence[b] - confidence[a]), errors = [0];
    for (const i of order) errors.push(errors.at(-1) + wrong[i]);
    return {sure: order.map(i => confidence[i]), errors};
  });
  const at = t => {
    const below = sure.findIndex(c => c < t), k = below < 0 ? n : below;
    return {coverage: k / n, risk: k ? errors[k] / k : 0, cost: (errors[k] + price * (n - k)) / n};
  };
  const every = Math.ceil(n / 400), counts = range(Math.floor(n / every)).map(i => (i + 1) * every);
  const risks = counts.map(k => errors[k] / k), top = Math.max(0.05, ...counts.map((k, i) => k > 20 ? risks[i] : 0));
  const here = at(threshold), chow = at(1 - price);
  const costs = controls.threshold.map(t => at(t).cost), best = costs.indexOf(Math.min(...costs));
  left.axes({x: [0, 1], y: [0, top], xlabel: "coverage", ylabel: "risk"});
  left.line(counts.map(k => k / n), risks, "blue");
  left.dots([here.coverage], [here.risk], "blue", 6);
  right.axes({x: [0, 1], y: [0, 1.1 * Math.max(...costs)], xlabel: "threshold", ylabel: "cost per case"});
  right.line(controls.threshold, costs, "vermilion");
  right.line([1 - price, 1 - price], [0, 9], "ink", "dashed");
  right.dots([threshold], [here.cost], "vermilion", 6);
  return {
    numbers: {...here, chow: chow.cost, best: controls.threshold[best], least: costs[best]},
    said: `Answers ${show(100 * here.coverage)}%, risk ${show(here.risk)}, cost ${show(here.cost)}; Chow’s threshold, ${show(1 - price)}, costs ${show(chow.cost)}; the cheapest, ${show(controls.threshold[best])}, costs ${show(costs[best])}`,
    key: [["blue", "risk of what is answered", "line"], ["vermilion", "cost", "line"], ["ink", "Chow’s threshold", "line dashed"]],
  };
};

// The first members of an ensemble, and the two parts of the variance of their mixture.
views.ensemble = ({data: {grid, means, stds, x, y}, state: {members, at}, panels: [top, below]}) => {
  const [some, spread] = [means.slice(0, members), stds.slice(0, members)];
  const middle = grid.map((_, i) => mean(some.map(m => m[i])));
  const noise = grid.map((_, i) => mean(spread.map(s => s[i] ** 2)));
  const apart = grid.map((_, i) => mean(some.map(m => (m[i] - middle[i]) ** 2)));
  const std = grid.map((_, i) => Math.sqrt(noise[i] + apart[i]));
  const ends = [grid[0], grid.at(-1)], all = 1.15 * Math.max(...means.flat().map(Math.abs), ...y.map(Math.abs));
  top.axes({x: ends, y: [-all, all], ylabel: "y"});
  top.band(grid, middle.map((m, i) => m - 2 * std[i]), middle.map((m, i) => m + 2 * std[i]), "sky");
  for (const m of some) top.line(grid, m, "blue", "thin");
  top.line(grid, middle, "ink");
  top.cloud(x.map((one, i) => [one, y[i]]), "ink", 2.5);
  const i = grid.indexOf(at);
  top.line([at, at], [-all, all], "vermilion", "dashed");
  below.axes({x: ends, y: [0, 1.05 * Math.max(...std.map(s => s ** 2))], xlabel: "x", ylabel: "variance"});
  below.band(grid, grid.map(() => 0), noise, "green", "part");
  below.band(grid, noise, std.map(s => s ** 2), "blue", "part");
  below.line([at, at], [0, 1e6], "vermilion", "dashed");
  return {
    numbers: {middle, noise, apart},
    said: `Variance at x = ${show(at)}: noise ${show(noise[i])} + disagreement ${show(apart[i])} = ${show(noise[i] + apart[i])}`,
    key: [
      ["blue", "members", "line fine"], ["ink", "their mean", "line"], ["sky", "mean ± 2 standard deviations", "band"], ["ink", "data", "dot"],
      ["green", "noise", "part"], ["blue", "disagreement", "part"], ["vermilion", "x to look at", "line dashed"],
    ],
  };
};

// Logistic regression with a bias: mode by Newton's method, Laplace's posterior, the evidence.
views.laplace = own => {
  const {data: {x, y, axis, controls}, state: {variance}, panels: [plane, curve]} = own;
  const X = x.map(row => [...row, 1]);
  const fit = variance => {
    let w = [0, 0, 0], L;
    for (let step = 0; step < 30; step++) {
      const gradient = w.map(one => -one / variance);
      const H = [[1 / variance, 0, 0], [0, 1 / variance, 0], [0, 0, 1 / variance]];
      for (let i = 0; i < X.length; i++) {
        const row = X[i], p = sigmoid(dot(row, w)), weight = p * (1 - p);
        for (let a = 0; a < 3; a++) {
          gradient[a] += (y[i] - p) * row[a];
          for (let b = 0; b <= a; b++) H[a][b] += weight * row[a] * row[b];
        }
      }
      L = cholesky(H);
      if (Math.max(...gradient.map(Math.abs)) < 1e-9) break;
      w = w.map((one, a) => one + backward(L, forward(L, gradient))[a]);
    }
    const likelihood = sum(X.map((row, i) => { const z = dot(row, w); return y[i] * z - Math.max(z, 0) - Math.log1p(Math.exp(-Math.abs(z))); }));
    const evidence = likelihood - dot(w, w) / (2 * variance) - 1.5 * Math.log(variance) - sum(L.map((row, a) => Math.log(row[a])));
    return {w, L, evidence};
  };
  own.fits ??= controls.variance.map(fit);
  const evidences = own.fits.map(one => one.evidence);
  const {w, L, evidence} = own.fits[controls.variance.indexOf(variance)];
  const at = row => { const v = forward(L, row); return sigmoid(dot(row, w) / Math.sqrt(1 + Math.PI / 8 * dot(v, v))); };
  const probs = axis.map(b => axis.map(a => at([a, b, 1])));
  const ends = [axis[0], axis.at(-1)];
  plane.axes({x: ends, y: ends, xlabel: "x₁", ylabel: "x₂", equal: true});
  plane.map(axis, axis, probs);
  plane.classes(x, y, 2.5);
  const least = Math.min(...evidences), most = Math.max(...evidences);
  curve.axes({x: [controls.variance[0], controls.variance.at(-1)], y: [least - 0.05 * (most - least), most + 0.1 * (most - least)], xlabel: "prior variance", ylabel: "log evidence", log: true});
  curve.line(controls.variance, evidences, "vermilion");
  curve.dots([variance], [evidence], "vermilion", 6);
  return {
    numbers: {w, evidence, probs},
    said: `Log evidence ${show(evidence)}; the highest, ${show(most)}, at a prior variance of ${show(controls.variance[evidences.indexOf(most)])}`,
    key: [["blue", "class 0", "dot"], ["orange", "class 1"], ["vermilion", "log evidence", "line"]],
  };
};

// Two estimators of the gradient of E[(w − 1)²] with respect to the mean of q = N(µ, σ²).
views.gradients = own => {
  const {state: {mu, sigma, n}, panels: [panel]} = own;
  const most = 2000, u = once(own, most, () => uniforms(2 * most, 1));
  const noise = range(n).map(i => Math.sqrt(-2 * Math.log(u[i])) * Math.cos(2 * Math.PI * u[most + i]));
  const truth = 2 * (mu - 1);
  const all = {
    pathwise: noise.map(e => 2 * (mu + sigma * e - 1)),
    score: noise.map(e => (mu + sigma * e - 1) ** 2 * e / sigma),
  };
  // The variance of one sample of each.
  const c = mu - 1, variance = {pathwise: 4 * sigma ** 2, score: c ** 4 / sigma ** 2 + 14 * c ** 2 + 15 * sigma ** 2};
  const numbers = {truth, pathwiseStd: Math.sqrt(variance.pathwise), scoreStd: Math.sqrt(variance.score)};
  const half = 1.5 * Math.sqrt(variance.score / 5);
  panel.axes({x: [1, Math.max(n, 2)], y: [truth - half, truth + half], xlabel: "number of samples", ylabel: "gradient", log: true});
  const counts = [...new Set(range(200, 0, Math.log(Math.max(n, 2))).map(at => Math.round(Math.exp(at))))];
  for (const [name, colour] of [["score", "vermilion"], ["pathwise", "blue"]]) {
    const width = counts.map(k => 2 * Math.sqrt(variance[name] / k));
    panel.band(counts, width.map(w => truth - w), width.map(w => truth + w), colour);
    let total = 0;
    const running = all[name].map((g, i) => (total += g) / (i + 1));
    const seen = counts.filter(k => k <= n);
    panel.line(seen, seen.map(k => running[k - 1]), colour);
    panel.dots([n], [running[n - 1]], colour, 5);
    numbers[name] = running.at(-1);
  }
  panel.line([1, 9999], [truth, truth], "ink", "dashed");
  return {
    numbers,
    said: `Exact ${show(truth)}; pathwise ${show(numbers.pathwise)}, score function ${show(numbers.score)}, which needs ${show(variance.score / variance.pathwise)} times as many samples for the same error`,
    key: [["blue", "pathwise", "line"], ["vermilion", "score function", "line"], ["ink", "exact", "line dashed"]],
  };
};

// The planar flow z + u tanh(w·z + b) of a grid.
views.planar = ({state: {w1, w2, u1, u2, b}, panels: [panel]}) => {
  const axis = range(25, -3, 3), inner = w1 * u1 + w2 * u2;
  const flow = (x, y) => { const t = Math.tanh(w1 * x + w2 * y + b); return [x + u1 * t, y + u2 * t]; };
  const det = (x, y) => 1 + inner * (1 - Math.tanh(w1 * x + w2 * y + b) ** 2);
  panel.axes({x: [-5, 5], y: [-5, 5], xlabel: "z₁", ylabel: "z₂", equal: true});
  const dets = [], paths = {}, moved = axis.map(y => axis.map(x => flow(x, y)));
  for (let j = 0; j < 24; j++) for (let i = 0; i < 24; i++) {
    const d = det(axis[i] + 0.125, axis[j] + 0.125), corners = [moved[j][i], moved[j][i + 1], moved[j + 1][i + 1], moved[j + 1][i]];
    dets.push(d);
    const share = Math.round(clamp(Math.abs(Math.log(Math.abs(d))) / 1.2, 0, 1) * 17) * 5;
    const colour = d <= 0 ? "var(--green)" : `color-mix(in srgb,var(--${d < 1 ? "orange" : "blue"}) ${share}%,var(--ground))`;
    paths[colour] = `${paths[colour] ?? ""}M${corners.map(([x, y]) => `${panel.X(x).toFixed(1)} ${panel.Y(y).toFixed(1)}`).join("L")}z`;
  }
  panel.shapes(paths, "cell");
  const least = 1 + Math.min(inner, 0);
  return {
    numbers: {inner, least, dets, moved},
    said: `w·u = ${show(inner)}: ${inner < -1 ? "not invertible; the grid folds over" : inner === -1 ? "not invertible; the smallest determinant is 0" : `invertible; ${inner < 0 ? `smallest determinant ${show(least)}` : inner ? "all determinants above 1" : "all determinants 1"}`}`,
    key: [["blue", "stretched: log det > 0"], ["orange", "squeezed: log det < 0"], ["green", "turned over: det < 0"]],
  };
};

// Class probabilities under several posteriors, and the boundary of one draw for each press.
views.posteriors = ({data: {axis, maps, draws, x, y}, state: {method, draw}, panels: [panel]}) => {
  const ends = [axis[0], axis.at(-1)];
  panel.axes({x: ends, y: ends, xlabel: "x₁", ylabel: "x₂", equal: true});
  panel.map(axis, axis, maps[method]);
  const shown = draws[method].slice(0, Math.min(draw, draws[method].length));
  const boundaries = shown.map(([a, b, c]) => Math.abs(b) > 1e-6 ? ends.map(x => -(c + a * x) / b) : [NaN, NaN]);
  boundaries.forEach((ys, i) => { if (ys[0] === ys[0]) panel.line(ends, ys, "vermilion", i === shown.length - 1 ? "" : "thin"); });
  panel.classes(x, y, 2.5);
  const last = draws[0][0].length && maps[0], gap = mean(maps[method].flatMap((row, j) => row.map((p, i) => Math.abs(p - last[j][i]))));
  return {
    numbers: {boundaries, gap},
    said: `${shown.length} ${shown.length === 1 ? "boundary" : "boundaries"} drawn; mean distance of the forecasts from the exact ones: ${show(gap)}`,
    key: [["blue", "class 0", "dot"], ["orange", "class 1"], ["vermilion", "boundaries of draws", "line"]],
  };
};

// Monte Carlo dropout: the mean forecast of a network whose hidden units are dropped at random.
views.dropout = own => {
  const {data: {xs, ys, x, y, controls, ...data}, state: {rate, draws, again}, panels: [plane, curve]} = own;
  const most = controls.draws.at(-1), counts = range(most).map(i => i + 1);
  const {means, off, nll, offNll} = once(own, [rate, again].join(), () => {
    const [hidden, output, bias] = ["hidden", "output", "bias"].map(part => data[part][controls.rate.indexOf(rate)]);
    const units = output.length;
    const drawn = uniforms(most * units, again + 1), kept = range(most).map(s => Int32Array.from(
      range(units).filter(h => drawn[s * units + h] >= rate)));
    const weights = Float64Array.from(output, weight => weight / (1 - rate)), parts = new Float64Array(units);
    const circle = range(201, 0, 2 * Math.PI).slice(1).map(t => [data.centre[0] + 10 * Math.cos(t), data.centre[1] + 10 * Math.sin(t)]);
    const grid = ys.flatMap(b => xs.map(a => [a, b]));
    // Of class 1, but at data points of their own class: 1 − p would be rounded to 0.
    const means = [], off = [];
    [...grid, ...circle, ...x].forEach(([a, b], at) => {
      const sign = y[at - grid.length - circle.length] === 0 ? -1 : 1;
      const running = new Float64Array(most);
      for (let h = 0; h < units; h++) parts[h] = weights[h] * Math.max(hidden[h][0] * a + hidden[h][1] * b + hidden[h][2], 0);
      for (let s = 0, total = 0; s < most; s++) {
        const own = kept[s];
        let z = bias;
        for (let k = 0; k < own.length; k++) z += parts[own[k]];
        total += sigmoid(sign * z);
        running[s] = total / (s + 1);
      }
      means.push(running);
      off.push(sigmoid(sign * (sum(parts) * (1 - rate) + bias)));
    });
    const first = grid.length + circle.length;
    return {
      means, off,
      nll: counts.map(k => -mean(means.slice(first).map(one => Math.log(one[k - 1])))),
      offNll: -mean(off.slice(first).map(Math.log)),
    };
  });
  const now = means.map(one => one[draws - 1]), cells = xs.length * ys.length;
  const probs = ys.map((_, j) => now.slice(j * xs.length, (j + 1) * xs.length));
  const sure = ps => mean(ps.slice(cells, cells + 200).map(p => Math.max(p, 1 - p)));
  plane.axes({x: [xs[0], xs.at(-1)], y: [ys[0], ys.at(-1)], xlabel: "x₁", ylabel: "x₂", equal: true});
  plane.map(xs, ys, probs);
  plane.classes(x, y, 2.5);
  const low = Math.min(offNll, ...nll), high = Math.max(offNll, ...nll), spare = 0.1 * (high - low);
  curve.axes({x: [1, most], y: [low - spare, high + spare], xlabel: "number of draws", ylabel: "NLL", log: true});
  curve.line([1, most], [offNll, offNll], "ink", "dashed");
  curve.line(counts, nll, "vermilion");
  curve.dots([draws], [nll[draws - 1]], "vermilion", 6);
  const numbers = {probs, nll, offNll, far: sure(now), offFar: sure(off)};
  return {
    numbers,
    said: `NLL ${show(nll[draws - 1])} (dropout off: ${show(offNll)}); mean confidence at radius 10: ${show(numbers.far)} (off: ${show(numbers.offFar)})`,
    key: [["blue", "class 0", "dot"], ["orange", "class 1"], ["vermilion", "NLL of these points", "line"], ["ink", "dropout off", "line dashed"]],
  };
};

// Estimates with 95% intervals of several methods, in order, perhaps by severity of a shift.
views.comparison = ({data: {methods, names, lower, table}, state, panels: [panel]}) => {
  const rows = table[state.metric][state.data][state.severity ?? 0];
  const order = range(methods.length).filter(i => rows[i]).sort((a, b) => (rows[a][0] - rows[b][0]) * (lower[state.metric] ? 1 : -1));
  const lows = order.map(i => rows[i][0] - rows[i][1]), highs = order.map(i => rows[i][0] + rows[i][1]);
  const spare = 0.06 * (Math.max(...highs) - Math.min(...lows) || 1);
  panel.axes({x: [Math.min(...lows) - spare, Math.max(...highs) + spare], y: [0, 1], xlabel: `${names[state.metric][state.data]} (${lower[state.metric] ? "lower" : "higher"} is better)`, names: order.map(i => methods[i])});
  order.forEach((i, place) => {
    const y = 1 - (place + 0.5) / order.length;
    panel.line([lows[place], highs[place]], [y, y], "blue");
    panel.dots([rows[i][0]], [y], "blue", 4);
  });
  const first = rows[order[0]], level = order.filter(i => Math.abs(rows[i][0] - first[0]) <= rows[i][1] + first[1]).length - 1;
  return {
    numbers: {order, lows, highs, level},
    said: `Best: ${methods[order[0]]}, ${first.map(value => value.toFixed(3).replace("-", "−")).join(" ± ")}; the intervals of ${level === order.length - 1 ? "all" : `${level} of the`} ${order.length - 1} others overlap with this one`,
    key: [["blue", "mean and 95% interval", "line"]],
  };
};

const start = figure => {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const panels = [...figure.querySelectorAll(".live-plots > svg")].map(svg => new Panel(svg));
  const sliders = [...figure.querySelectorAll("input[type=range]")];
  const radios = [...figure.querySelectorAll("input[type=radio]")];
  const state = {};
  const legend = figure.querySelector(".live-legend"), says = figure.querySelector(".live-says");
  // What a view gets: the data, the controls' values, the panels, a place for its own state.
  const own = {
    data, state, panels, figure,
    // Put a slider at the stop that is nearest to a value.
    set(name, value) {
      const stops = data.controls[name];
      const at = stops.reduce((best, stop, i) => Math.abs(stop - value) < Math.abs(stops[best] - value) ? i : best, 0);
      const slider = sliders.find(slider => slider.name === name);
      slider.value = at;
      tell(slider);
    },
    redraw: () => draw(),
  };
  const tell = slider => {
    state[slider.name] = data.controls[slider.name][slider.value];
    const text = show(state[slider.name]);
    slider.setAttribute("aria-valuetext", text);
    if (slider.nextElementSibling.value !== text) slider.nextElementSibling.value = text;
  };
  const read = () => {
    sliders.forEach(tell);
    for (const radio of radios) if (radio.checked) state[radio.dataset.name] = Number(radio.value);
  };
  const plots = figure.querySelector(".live-plots");
  const draw = () => {
    const width = plots.clientWidth || 340; // read before anything is drawn: one layout each time
    for (const panel of panels) panel.width = width;
    read();
    const {numbers, said, key} = views[figure.dataset.view](own);
    figure.numbers = numbers;
    if (says.value !== said) says.value = said;
    if (own.legend === String(key)) return;
    own.legend = String(key);
    legend.replaceChildren(...key.map(([colour, text, look = ""]) => {
      const item = document.createElement("span");
      item.className = look;
      item.style.setProperty("--own", `var(--${colour})`);
      item.textContent = text;
      return item;
    }));
  };
  const buttons = [...figure.querySelectorAll("button")];
  const reset = () => {
    for (const {name} of buttons) state[name] = 0;
    for (const slider of sliders) slider.value = slider.defaultValue;
    for (const radio of radios) radio.checked = radio.defaultChecked;
  };
  for (const button of buttons) {
    state[button.name] = 0;
    button.addEventListener("click", () => { state[button.name]++; if (button.name === "reset") reset(); own.pressed = button.name; draw(); own.pressed = null; });
  }
  figure.addEventListener("input", event => { own.moved = event.target.name; draw(); own.moved = null; });
  let width = 0;
  new ResizeObserver(([{contentRect}]) => {
    if (contentRect.width && contentRect.width !== width) { width = contentRect.width; draw(); }
  }).observe(plots);
  draw();
};
// A figure takes its room at once, and is drawn when it comes near the window or has the focus:
// drawing all figures of a page while it loads keeps a slow phone from answering.
const waiting = new Set();
const begin = figure => {
  near.unobserve(figure);
  if (waiting.delete(figure)) start(figure);
};
const near = new IntersectionObserver(entries => {
  for (const {isIntersecting, target} of entries) if (isIntersecting) setTimeout(begin, 0, target); // one for each task
}, {rootMargin: "300px"});
for (const figure of document.querySelectorAll(".live")) {
  waiting.add(figure);
  figure.classList.add("moves");
  for (const part of figure.querySelectorAll(".live-plots, .live-legend")) part.hidden = false;
  figure.addEventListener("focusin", () => {
    begin(figure);
    // From now on a screen reader says what changes; before, all figures of a page would speak.
    figure.querySelector(".live-says").ariaLive = "polite";
  }, {once: true});
  near.observe(figure);
}
})();
