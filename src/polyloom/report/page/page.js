// Links: whatever has the same key in data-l lights up together, on hover, focus and touch. The text of its title is
// told at the foot of the window, and the columns in data-c are marked in the source.
const all = (what, where = document) => [...where.querySelectorAll(what)];
const make = (kind, attributes = {}, ...inside) => {
  const made = Object.assign(document.createElement(kind), attributes);
  made.append(...inside);
  return made;
};
const tell = make("output", { className: "tell" });
document.body.append(tell);
for (const each of all("[data-l][title]")) {
  each.dataset.t = each.title;
  each.setAttribute("aria-description", each.title);
  each.removeAttribute("title");
}
let lit = [];
function light(from) {
  for (const each of lit) each.classList.remove("lit");
  lit = from ? all(`[data-l="${from.dataset.l}"]`) : [];
  for (const each of lit) each.classList.add("lit");
  tell.textContent = from?.dataset.t ?? "";
  const line = lit.find((each) => each.matches(".source li"));
  if (line && line !== from) reveal(line);
  mark(line, from === line ? lit : [from]);
}
function reveal(line) {
  const pane = line.parentElement, top = line.offsetTop - pane.offsetTop;
  if (top < pane.scrollTop || top + line.offsetHeight > pane.scrollTop + pane.clientHeight)
    pane.scrollTop = top - pane.clientHeight / 2;
}
function mark(line, owners) {
  if (!globalThis.Highlight) return;
  CSS.highlights.delete("columns");
  const text = line?.querySelector("code")?.firstChild, ranges = [];
  for (const each of text && owners.length === 1 ? owners : []) {
    const [first, end] = (each?.dataset.c ?? "").split("-").map(Number);
    if (!end || end - 1 > text.length) continue;
    const range = new Range();
    range.setStart(text, first - 1);
    range.setEnd(text, end - 1);
    ranges.push(range);
  }
  if (ranges.length) CSS.highlights.set("columns", Object.assign(new Highlight(...ranges), { priority: 1 }));
}
// Syntax colours: ranges without markup (CSS Custom Highlight API). A pane may begin within a comment or a string, whose
// beginning is in data-o. Groups of a language: c comment, s string, n number, k keyword or mnemonic.
const quoted = `"(?:\\\\.|[^"\\\\\\n])*"?|'(?:\\\\.|[^'\\\\\\n])*'?`, rest = "(?<n>\\b\\d[\\w.]*)|\\w+";
const word = (names) => `\\b(?:${names.replaceAll(" ", "|")})\\b`;
const python = `(?<c>#.*)|(?<s>(?<q>"""|\'\'\')[^]*?(?:\\k<q>|(?![^]))|${quoted})|(?<k>@[\\w.]+|${word("and as assert break class continue def elif else False for from if import in is lambda None not or pass return True while with yield")})|${rest}`;
const c = `(?<c>//.*|/\\*[^]*?(?:\\*/|(?![^])))|(?<s>${quoted})|(?<k>^ *#\\s*\\w+|${word("_?[Bb]ool break case char const constexpr continue default do double else enum extern float for if inline int u?int\\d+_t long return restrict short signed sizeof size_t static struct switch template typedef union unsigned void volatile while")})|${rest}`;
const assembly = "^(?<c> *[\\da-f]+: +[\\da-f]+(?= ))? *(?<k>[a-zA-Z][\\w.]*)|(?<s>[#;].*)|(?<n>-?\\b\\d\\w*)|\\w+";
const LANGUAGES = { py: python, pla: python, c, h: c, hpp: c, cpp: c, mlir: c };
const colours = Object.fromEntries(Array.from("csnk", (name) => [name, globalThis.Highlight && new Highlight()]));
function colour(pane) {
  const ending = pane.querySelector("figcaption")?.textContent.split(".").pop();
  const language = pane.matches(".code") ? assembly : LANGUAGES[ending];
  if (!language || !colours.c) return;
  const lines = all("code", pane).map((each) => each.firstChild ?? each.appendChild(new Text()));
  const open = pane.querySelector("ol").dataset.o ?? "", starts = [];
  const text = open + lines.map((each) => each.data).join("\n");
  lines.reduce((at, each, n) => (starts[n] = at) + each.length + 1, open.length);
  const add = (name, from, to) => lines.forEach((each, n) => {
    const first = Math.max(from - starts[n], 0), end = Math.min(to - starts[n], each.length);
    if (first >= end) return;
    const range = new StaticRange({ startContainer: each, startOffset: first, endContainer: each, endOffset: end });
    colours[name].add(range);
  });
  for (const found of text.matchAll(new RegExp(language, "dgm")))
    for (const [name, place] of Object.entries(found.indices.groups)) if (place && colours[name]) add(name, ...place);
}
if (colours.c) for (const name in colours) CSS.highlights.set(name, colours[name]);
all(".source").forEach(colour);
const linked = (event) => event.target.closest?.("[data-l]") ?? document.activeElement.closest("[data-l]");
for (const name of ["pointerover", "focusin"]) document.addEventListener(name, (event) => light(linked(event)));
document.addEventListener("pointerout", () => light(document.activeElement.closest("[data-l]")));
document.addEventListener("focusout", () => light(null));
document.addEventListener("keydown", (event) => event.key === "Escape" && document.activeElement.blur());

// Tabs: the sections of .tabs, one at a time; printed, or without a script, all of them.
for (const box of all(".tabs")) {
  const parts = all(":scope > [data-tab]", box), list = make("div", { className: "tools", role: "tablist" });
  const show = (chosen) => parts.forEach((part, n) => {
    part.hidden = n !== chosen;
    list.children[n].setAttribute("aria-selected", n === chosen);
    list.children[n].tabIndex = n === chosen ? 0 : -1;
  });
  parts.forEach((part, n) => {
    part.role = "tabpanel";
    list.append(make("button", { role: "tab", textContent: part.dataset.tab, onclick: () => show(n) }));
  });
  list.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = [...list.children].indexOf(document.activeElement);
    if (!step || at < 0) return;
    const next = (at + step + parts.length) % parts.length;
    show(next);
    list.children[next].focus();
  };
  box.prepend(list);
  show(0);
}

// What is folded away and long is inflated when it is opened.
async function inflate(text) {
  const raw = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
for (const each of all("details[data-z]"))
  each.addEventListener("toggle", async () => {
    const text = new TextDecoder().decode(await inflate(each.dataset.z));
    each.insertAdjacentHTML("beforeend", text);
    each.querySelector("noscript").remove();
    delete each.dataset.z;
  }, { once: true });
