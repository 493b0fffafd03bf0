// Activity: a bit per lane and cycle, drawn on a canvas from the whole run down to single cycles. A row is a group, or
// many groups with the same first number; opening it shows its parts, and in the end the lanes of one group.
const activities = all(".activity").map(showActivity);
const ones = Uint8Array.from({ length: 256 }, (_, n) => [...n.toString(2)].filter((b) => b === "1").length);
async function showActivity(box) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const bits = await inflate(data.bits), columns = Math.ceil(data.cycles / data.step), width = Math.ceil(columns / 8);
  const root = tree(data), canvas = make("canvas", { tabIndex: 0, role: "img" });
  const crumbs = make("div", { className: "crumbs" }), at = make("output", { className: "at" });
  const tools = make("div", { className: "tools" }, crumbs);
  for (const [sign, title, key] of [["−", "zoom out", "-"], ["+", "zoom in", "+"], ["whole run", "show all cycles", "0"]])
    tools.append(make("button", { textContent: sign, title, ariaLabel: title, onclick: () => press(key) }));
  box.append(tools, canvas, at);
  let way = [root], first = 0, span = columns, row = 0, column = -1;
  const rows = () => way.at(-1).parts, left = () => Math.min(150, canvas.clientWidth / 3.2);
  const height = () => Math.max(9, Math.min(20, 420 / rows().length));

  // How many bits the lanes of a row have in columns [from, to).
  function count(lanes, from, to) {
    let sum = 0;
    for (const lane of lanes) {
      const start = lane * width;
      let c = from;
      for (; c < to && c % 8; c++) sum += (bits[start + (c >> 3)] >> (c & 7)) & 1;
      for (; c + 8 <= to; c += 8) sum += ones[bits[start + (c >> 3)]];
      for (; c < to; c++) sum += (bits[start + (c >> 3)] >> (c & 7)) & 1;
    }
    return sum;
  }
  function draw() {
    const high = height(), wide = canvas.clientWidth, area = wide - left() - 8, down = rows().length * high;
    const scale = devicePixelRatio || 1, pen = canvas.getContext("2d"), style = getComputedStyle(canvas);
    canvas.style.height = `${down + 24}px`;
    canvas.width = wide * scale;
    canvas.height = (down + 24) * scale;
    pen.scale(scale, scale);
    const ink = (name) => style.getPropertyValue(name), probe = (name) => {
      canvas.style.color = `var(${name})`;
      const found = getComputedStyle(canvas).color;
      canvas.style.color = "";
      return found;
    };
    const colours = { line: probe("--panel"), dim: probe("--dim"), ink: probe("--ink"), on: probe("--accent") };
    pen.font = `${Math.min(11, high)}px ${ink("--mono")}`;
    const step = 2 ** Math.max(0, Math.ceil(Math.log2(span / area))), place = area / span;
    const shares = rows().map((each) => {
      const found = [];
      for (let c = Math.floor(first / step) * step; c < first + span; c += step)
        found.push([c, count(each.lanes, Math.max(c, 0), Math.min(c + step, columns)) / each.lanes.length / step]);
      return found;
    });
    const most = shares.flat().reduce((known, [, share]) => Math.max(known, share), 1e-9);
    rows().forEach((each, n) => {
      const top = n * high, gap = place > 5 ? 1 : 0;
      pen.globalAlpha = 1;
      pen.fillStyle = colours.line;
      pen.fillRect(left(), top, area, high - 1);
      pen.fillStyle = n === row && document.activeElement === canvas ? colours.on : colours.dim;
      pen.textAlign = "right";
      if (high >= 9) pen.fillText(fit(pen, each.name, left() - 12), left() - 8, top + high / 2 + 4);
      pen.fillStyle = colours.on;
      for (const [c, share] of shares[n]) {
        if (!share) continue;
        const x = left() + Math.max(0, (c - first) * place), end = left() + Math.min(area, (c + step - first) * place);
        pen.globalAlpha = 0.12 + 0.88 * share / most;
        pen.fillRect(x, top, Math.max(end - x - gap, 0.5), high - 1);
      }
    });
    pen.globalAlpha = 1;
    pen.fillStyle = colours.dim;
    pen.textAlign = "center";
    pen.font = `11px ${ink("--mono")}`;
    for (const cycle of ticks(first * data.step, (first + span) * data.step, Math.max(2, area / 90))) {
      const x = left() + (cycle / data.step - first) * place;
      pen.fillRect(x, down, 1, 4);
      pen.fillText(cycle.toLocaleString("en"), Math.min(x, wide - 16), down + 16);
    }
    pen.textAlign = "right";
    pen.fillText("cycle", left() - 8, down + 16);
    canvas.ariaLabel = `Activity of ${way.at(-1).name || "all rows"}, cycles ${Math.floor(first) * data.step} to ` +
      `${Math.min(Math.ceil(first + span) * data.step, data.cycles)}`;
    crumbs.replaceChildren(...way.map((each, n) => make("button", {
      textContent: each.name || "all", disabled: n === way.length - 1, onclick: () => { way.length = n + 1; row = 0; draw(); },
    })));
    say();
  }
  function fit(pen, name, room) {
    let shown = name;
    while (shown.length > 3 && pen.measureText(shown).width > room) shown = `…${shown.slice(2)}`;
    return shown;
  }
  function ticks(from, to, many) {
    const least = Math.max((to - from) / many, 1), power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((f) => f * power).find((each) => each >= least), found = [];
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) found.push(t);
    return found;
  }
  function say() {
    const each = rows()[row];
    if (!each) return;
    const from = column < 0 ? 0 : column, to = column < 0 ? columns : column + 1, last = Math.min(to * data.step, data.cycles) - 1;
    const when = column < 0 ? "whole run" : last > from * data.step ? `cycles ${from * data.step} to ${last}` : `cycle ${last}`;
    const sum = count(each.lanes, from, to), busy = each.lanes.filter((lane) => count([lane], from, to));
    const what = column < 0 ? `${(100 * sum / each.lanes.length / columns).toFixed(1)} % busy`
      : `${sum} of ${each.lanes.length}${sum && each.lanes.length <= 64 ? `: ${busy.map((lane) => root.names[lane]).join(" ")}` : ""}`;
    at.textContent = `${each.name} · ${when} · ${what}`;
  }
  function zoom(factor, middle = first + span / 2) {
    const next = Math.min(columns, Math.max(Math.min(columns, 16), span * factor));
    first = middle - (middle - first) * next / span;
    span = next;
    move(0);
  }
  function move(by) {
    first = Math.max(0, Math.min(columns - span, first + by));
    draw();
  }
  function open(n) {
    if (!rows()[n]?.parts) return;
    way.push(rows()[n]);
    row = 0;
    draw();
  }
  function press(key) {
    const keys = {
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => zoom(columns), Home: () => zoom(columns),
      ArrowRight: () => move(span / 8), ArrowLeft: () => move(-span / 8), Enter: () => open(row), " ": () => open(row),
      ArrowDown: () => { row = Math.min(row + 1, rows().length - 1); draw(); }, ArrowUp: () => { row = Math.max(row - 1, 0); draw(); },
      Backspace: () => { if (way.length > 1) way.pop(); row = 0; draw(); },
    };
    keys[key]?.();
    return key in keys;
  }
  canvas.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    column = -1;
    if (press(event.key)) event.preventDefault();
  };
  canvas.onfocus = canvas.onblur = draw;
  const point = (event) => {
    const found = canvas.getBoundingClientRect();
    const c = first + (event.clientX - found.left - left()) * span / (found.width - left() - 8);
    return [Math.floor((event.clientY - found.top) / height()), c];
  };
  let held = null, moved = 0;
  canvas.onpointerdown = (event) => { held = event.clientX; moved = 0; };
  canvas.onpointermove = (event) => {
    const [r, c] = point(event);
    if (held !== null && event.buttons) {
      moved += Math.abs(event.clientX - held);
      move((held - event.clientX) * span / (canvas.clientWidth - left() - 8));
      held = event.clientX;
    }
    row = Math.max(0, Math.min(r, rows().length - 1));
    column = c >= first && c < first + span && c < columns ? Math.floor(c) : -1;
    say();
  };
  canvas.onpointerleave = () => { held = null; column = -1; say(); };
  canvas.onclick = (event) => { held = null; if (moved < 6) open(point(event)[0]); };
  canvas.ondblclick = (event) => zoom(0.25, point(event)[1]);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    zoom((event.deltaY || event.deltaX) < 0 ? 0.7 : 1.4, point(event)[1]);
  }, { passive: false });
  new ResizeObserver(draw).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return {
    open(name) {
      const path = find(root, name);
      if (path) { way = path; row = 0; draw(); box.scrollIntoView({ block: "center" }); canvas.focus(); }
    },
  };
}
function tree(data) {
  const names = [], groups = data.groups.map(([name, kind]) => {
    const lanes = data.lanes[kind].map((lane) => names.push(lane) - 1);
    return { name, lanes, parts: lanes.map((lane) => ({ name: names[lane], lanes: [lane] })) };
  });
  let parts = groups;
  if (parts.length > 40) parts = bundled(parts, (each) => each.name.replace(/(\d+), \d+/, "$1, …"));
  if (parts.length > 40) parts = bundled(parts, (each, n) => `${parts[n - n % 32].name} …`);
  return { name: "", names, parts: parts.length > 1 ? parts : groups };
}
function bundled(groups, name) {
  const bundles = new Map();
  groups.forEach((each, n) => {
    const key = name(each, n), found = bundles.get(key) ?? { name: key, lanes: [], parts: [] };
    found.parts.push(each);
    for (const lane of each.lanes) found.lanes.push(lane);
    bundles.set(key, found);
  });
  return bundles.size < groups.length ? [...bundles.values()] : groups;
}
function find(node, name, way = [node]) {
  for (const each of node.parts ?? []) {
    const found = each.name === name && each.parts ? [...way, each] : find(each, name, [...way, each]);
    if (found) return found;
  }
  return null;
}
