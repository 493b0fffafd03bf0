# SPDX-License-Identifier: Apache-2.0
"""Source positions of instructions, from the debug information of LLVM's text (LLVM Language Reference Manual,
`DILocation`).

A location has a line, a column, and a scope, which has the file; what was inlined has also that of the call. Shown is
the outermost one, which is in the function itself. Where there is a table of external functions, it is the innermost
one that is in none of the table's headers.
"""

from __future__ import annotations

import re
from pathlib import Path

from polyloom.diagnostics import Source
from polyloom.ir.ssa import NOWHERE, Place

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$", re.MULTILINE)
_FIELD = re.compile(r'(\w+): (?:!(\d+)|(\d+)|"((?:[^"\\]|\\.)*)")')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|\\)")
PREFIX = "__polyloom_"
"""Of the names of functions that are added to a user's file."""
_KINDS = ("DILocation", "DISubprogram", "DILexicalBlock", "DILexicalBlockFile", "DIFile")


class Places:
    """Source positions of a module. `hidden` are folders whose files are not shown, or None to show the outermost
    place.
    """

    def __init__(self, module: str, home: str, hidden: tuple[str, ...] | None) -> None:
        self.home, self.hidden = home, hidden
        self.nodes = {number: _fields(text) for number, kind, text in _NODE.findall(module) if kind in _KINDS}
        self.known: dict[str, Place] = {}
        self.files: dict[str, str] = {}

    def find_place(self, number: str) -> Place:
        """Position of a location; one object for each."""
        if number not in self.known:
            self.known[number] = self._shown_place(number)
        return self.known[number]

    def function_place(self, attributes: str) -> Place:
        """Position of a definition, from what stands behind its parameters."""
        scope = re.search(r"!dbg !(\d+)", attributes)
        return self._place(scope[1], self.nodes.get(scope[1], {})) if scope else NOWHERE

    def source(self, place: Place, home: Source) -> Source:
        """The text of the place's file, as far as it can be read."""
        return home if place.file in ("", home.name) else Source(place.file, read_text(place.file))

    def _shown_place(self, number: str) -> Place:
        chain, own = list[Place](), list[Place]()
        # From the innermost inlined function outwards: with intrinsic headers hidden, the user's own line is shown.
        while number in self.nodes:
            scope = self.nodes[number].get("scope", "")
            chain.append(self._place(scope, self.nodes[number]))
            own += [] if self._is_generated_scope(scope) else [chain[-1]]
            number = self.nodes[number].get("inlinedAt", "")
        if not chain:
            return NOWHERE
        # Functions that we have written around the user's are not shown, if there is another place.
        chain = own or chain
        return (
            chain[-1]
            if self.hidden is None
            else next((place for place in chain if not self._is_hidden_place(place)), chain[-1])
        )

    def _is_generated_scope(self, scope: str) -> bool:
        """Whether a scope is in a function with a name that no user has."""
        while (fields := self.nodes.get(scope)) is not None and "name" not in fields:
            scope = fields.get("scope", "")
        return fields is not None and fields["name"].startswith(PREFIX)

    def _place(self, scope: str, fields: dict[str, str]) -> Place:
        line = int(fields.get("line", 0))
        return Place(self._scope_file(scope), line, int(fields.get("column", 0))) if line else NOWHERE

    def _scope_file(self, scope: str) -> str:
        """The scopes of a file that is included within another say so themselves."""
        number = self.nodes.get(scope, {}).get("file", "")
        if number not in self.files:
            file = self.nodes.get(number, {})
            name = str(Path(file.get("directory", ""), file.get("filename", "")))
            self.files[number] = self.home if _resolve_path(name) == _resolve_path(self.home) else name
        return self.files[number]

    def _is_hidden_place(self, place: Place) -> bool:
        path = _resolve_path(place.file)
        return any(path.is_relative_to(_resolve_path(folder)) for folder in self.hidden or ())


def _fields(text: str) -> dict[str, str]:
    return {
        name: node or number or _ESCAPE.sub(_unescape, quoted) for name, node, number, quoted in _FIELD.findall(text)
    }


def _unescape(match: re.Match[str]) -> str:
    return "\\" if match[1] == "\\" else chr(int(match[1], 16))


def _resolve_path(name: str) -> Path:
    """Absolute path of a file; of a name with a zero byte, which `#line` may give, what stands before that."""
    return Path(name.partition("\0")[0]).resolve()


def read_text(file: str) -> str:
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
