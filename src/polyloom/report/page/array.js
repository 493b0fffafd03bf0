// The array: what is under the pointer, or chosen by the arrow keys, is told below it, with the ways of its arrays.
for (const map of all(".map")) {
  const data = JSON.parse(map.querySelector("script").textContent), cell = Number(map.dataset.cell);
  const picture = map.querySelector("svg"), at = make("output", { className: "at" }), rows = data.labels.length;
  const overlay = document.createElementNS(picture.namespaceURI, "g");
  const of = map.dataset.program ? `${map.dataset.program} ` : "";
  let here = null;
  // Below the texts, above everything else.
  picture.insertBefore(overlay, picture.querySelector("text"));
  map.append(at);
  const place = (r, c) => [(c + 1.5) * cell, (r + 1.5) * cell];
  const through = (r, c) => data.routes.filter(([, a, b, d, e]) =>
    r >= Math.min(a, d) && r <= Math.max(a, d) && c >= Math.min(b, e) && c <= Math.max(b, e));
  function choose(r, c) {
    here = [r, c];
    const routes = through(r, c), label = data.labels[r]?.[c], [x, y] = place(r, c);
    const arrays = [...new Set(routes.map(([n]) => data.arrays[n]))].join(", ");
    const inside = label !== undefined, share = data.busy[r]?.[c];
    const told = inside
      ? [`element (${r}, ${c})`, label ? `program ${label}` : "idle", share !== undefined && label ? `${share / 10} % busy` : "",
        data.notes[label] ?? "", arrays ? `banks: ${arrays}` : ""]
      : routes.length ? [`bank at (${r}, ${c})`, `array ${arrays}`] : [];
    at.textContent = told.filter(Boolean).join(" · ");
    overlay.innerHTML = routes.map(([, a, b, d, e]) => {
      const [x1, y1] = place(a, b), [x2, y2] = place(d, e);
      return `<path class="way" d="M${x1} ${y1}L${x2} ${y2}"/>`;
    }).join("") + (inside ? `<path class="hot" d="M${x - cell / 3} ${y - cell / 3}h${cell / 1.5}v${cell / 1.5}h${-cell / 1.5}z"/>` : "");
  }
  const open = async () => here && (await activities[0])?.open(`${of}element (${here[0]}, ${here[1]})`);
  const under = (event) => {
    const box = picture.getBoundingClientRect(), view = picture.viewBox.baseVal, scale = view.width / box.width;
    return [box.top, box.left].map((edge, n) =>
      Math.floor((([event.clientY, event.clientX][n] - edge) * scale + [view.y, view.x][n]) / cell) - 1);
  };
  picture.onpointermove = picture.onpointerdown = (event) => choose(...under(event));
  picture.onclick = (event) => { choose(...under(event)); if (event.detail > 1) open(); };
  map.onfocus = () => here ?? choose(0, 0);
  map.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") open();
    if (!step) return;
    event.preventDefault();
    const [r, c] = here ?? [0, 0], wide = Math.max(...data.labels.map((row) => row.length));
    choose(Math.max(-1, Math.min(rows, r + step[0])), Math.max(-1, Math.min(wide, c + step[1])));
  };
}
