# SPDX-License-Identifier: Apache-2.0
"""The site, by `make docs`: the pages as they stand, in Sphinx with MyST and Furo; nothing external when it is built or
viewed.

Pages stay CommonMark, and this file gives Sphinx what CommonMark does not have: the table of contents is made of the
links of index.md, links to files that are no pages become addresses of the repository, the error codes follow on
errors.md, and a notebook is read as a page of text, code and results.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from myst_parser.parsers.sphinx_ import MystParser
from pygments.lexers.special import TextLexer  # pyright: ignore[reportMissingTypeStubs]
from sphinx.application import Sphinx

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parent
_REPOSITORY: Final = "https://github.com/polyloom/polyloom/blob/main/"
_LINK: Final = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
_ITEM: Final = re.compile(r"^- \[[^\]]*\]\(([^)#]+)\)", re.MULTILINE)

project = "Polyloom"
copyright = "The Polyloom developers"
author = "The Polyloom developers"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".ipynb": "notebook"}
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Polyloom"
html_static_path = ["static"]
# What `make docs` runs before: pages of examples, and what stands of them on gallery.md.
_GALLERY: Final = _ROOT / "build" / "site"
html_extra_path = [str(_GALLERY)] if _GALLERY.is_dir() else list[str]()
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options: dict[str, list[str]] = {"footer_icons": []}
nitpicky = True


def _contents(text: str) -> str:
    """Each section of index.md with a table of contents of the pages that it links to."""
    head, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    return head + "".join(f"{section.rstrip()}\n\n{_toctree(section)}" for section in sections)


def _toctree(section: str) -> str:
    title = section.splitlines()[0].removeprefix("## ")
    pages = "\n".join(re.sub(r"\.(md|ipynb)$", "", page) for page in _ITEM.findall(section))
    return f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n\n" if pages else ""


def _outside(folder: Path, text: str) -> str:
    """Links to what is no page of the site lead to the repository."""

    def absolute(found: re.Match[str]) -> str:
        path = (folder / found[1]).resolve()
        if path.is_relative_to(_HERE) and path.suffix in (".md", ".ipynb", ".svg", ".webp", ".png"):
            return found[0]
        return f"]({_REPOSITORY}{path.relative_to(_ROOT).as_posix()}{found[2] or ''})"

    return _LINK.sub(absolute, text)


def _codes(text: str) -> str:
    """errors.md with a section of each subject, which has an entry for each of its codes; the package need not be
    installed."""
    sys.path.insert(0, str(_ROOT / "src"))
    from polyloom.cli.explain import SUBJECTS, known_codes

    parts = [text.rstrip()]
    for prefix, subject in SUBJECTS.items():
        entries = [(code, *entry) for code, entry in sorted(known_codes().items()) if code.startswith(prefix)]
        parts += [f"## {subject}", *(f"### {code}: {title}\n\n{about}" for code, title, about in entries)]
    return "\n\n".join([*parts, ""])


def _gallery(text: str) -> str:
    """gallery.md with the pages that were made, as HTML, since they are no pages of Sphinx."""
    made = _GALLERY / "gallery" / "index.html"
    return f"{text}\n{made.read_text(encoding='utf-8')}" if made.is_file() else text


_CHANGED: Final = {"index": _contents, "errors": _codes, "gallery": _gallery}
"""Pages of which the build makes more."""


def _read(app: Sphinx, name: str, content: list[str]) -> None:
    path = Path(app.env.doc2path(name))
    if path.suffix == ".md":
        content[0] = _outside(path.parent, _CHANGED.get(name, str)(content[0]))


class Notebook(MystParser):
    """A notebook: its cells of text, its code, and below that what the code printed or showed."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: Any) -> None:
        cells = json.loads(inputstring)["cells"]
        super().parse("\n\n".join(map(_cell, cells)), document)


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return text
    return "\n\n".join([f"```python\n{text}\n```", *map(_result, cell["outputs"])])


def _result(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return "```{raw} html\n" + "".join(data["text/html"]) + "\n```"
    shown = output.get("text") or data["text/plain"]
    return "```text\n" + "".join(shown) + "\n```"


def setup(app: Sphinx) -> None:
    for name in ("output", "pla", "asm"):
        app.add_lexer(name, TextLexer)
    app.add_source_parser(Notebook)
    app.connect("source-read", _read)
