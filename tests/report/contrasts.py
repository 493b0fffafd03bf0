# SPDX-License-Identifier: Apache-2.0
"""How well the texts of a page can be told from what they stand on, as the standard for accessible pages computes it:
pairs of the contrast and the text, the least one first. In HTML a text stands on the colours behind it, in a drawing
on the shapes below both its ends and its middle, on a canvas on the pixels that it covers."""

from __future__ import annotations

from typing import Final

_COLOURS: Final = """
  const numbers = (c) => (c.match(/[\\d.]+/g) ?? []).map(Number);
  const linear = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ratio = (one, other) => {
    const [a, b] = [light(one), light(other)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const over = (top, share, below) => below.map((v, n) => share * top[n] + (1 - share) * v);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
"""
CONTRASTS: Final = f"""(() => {{{_COLOURS}
  const shapes = (e, x, y) => {{
    const layers = [];
    for (const each of document.elementsFromPoint(x, y)) {{
      if (each === e || !(each instanceof SVGGeometryElement)) continue;
      const style = getComputedStyle(each), fill = numbers(style.fill);
      if (style.fill === "none" || !e.ownerSVGElement.contains(each)) continue;
      layers.push([fill, (fill[3] ?? 1) * style.fillOpacity * style.opacity]);
    }}
    const page = behind(e.ownerSVGElement.parentElement);
    return layers.reduceRight((below, [fill, share]) => over(fill, share, below), page);
  }};
  const drawn = (e) => {{
    e.scrollIntoView({{ block: "center", inline: "center", behavior: "instant" }});
    const {{ x, y, width, height }} = e.getBoundingClientRect(), style = getComputedStyle(e);
    const fill = numbers(style.fill);
    return Math.min(...[2, width / 2, width - 2].map((n) => {{
      const ground = shapes(e, x + n, y + height / 2);
      return ratio(over(fill, (fill[3] ?? 1) * style.fillOpacity * style.opacity, ground), ground);
    }}));
  }};
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {{
    const e = walk.currentNode.parentElement, said = walk.currentNode.data.slice(0, 40);
    if (!said.trim() || !e.checkVisibility() || e.closest("script, noscript, style")) continue;
    if (e.closest("svg")) {{
      if (e.matches("text, tspan")) found.push([drawn(e), said]);
    }} else found.push([ratio(numbers(getComputedStyle(e).color), behind(e)), said]);
  }}
  return found.sort((a, b) => a[0] - b[0]);
}})()"""
HIGHLIGHT_CONTRAST: Final = f"""(name) => {{{_COLOURS}
  const code = document.querySelector("li code");
  return ratio(numbers(getComputedStyle(code, `::highlight(${{name}})`).color), behind(code));
}}"""
"""Of a colour of syntax on the first line of a source."""
ON_CANVAS: Final = f"""(() => {{{_COLOURS}
  const found = [], pen = CanvasRenderingContext2D.prototype, write = pen.fillText;
  pen.fillText = function (text, x, y) {{
    const at = this.getTransform().transformPoint(new DOMPoint(x, y - 4));
    const [r, g, b, a] = this.getImageData(Math.round(at.x), Math.round(at.y), 1, 1).data;
    const ground = over([r, g, b], a / 255, behind(this.canvas));
    found.push([this.fillStyle, ground, text]);
    write.call(this, text, x, y);
  }};
  const canvas = document.querySelector("canvas");
  canvas.dispatchEvent(new KeyboardEvent("keydown", {{ key: "+" }}));
  return new Promise((done) => setTimeout(() => {{
    pen.fillText = write;
    const hex = (c) => c.startsWith("#") ? [1, 3, 5].map((n) => parseInt(c.slice(n, n + 2), 16)) : numbers(c);
    done(found.map(([c, ground, text]) => [ratio(hex(c), ground), text]).sort((a, b) => a[0] - b[0]));
  }}, 200));
}})()"""
