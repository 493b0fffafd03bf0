# SPDX-License-Identifier: Apache-2.0
"""Source positions in TOML v1.0.0 (2021) texts: where keys and values stand.

The standard library's reader gives values without positions. `locate` walks the tokens of a text that this reader has
already accepted, so it need not check anything, and records for every path, such as `("unit", 2, "latency", "add")`,
the ranges of the key (for a table: its header) and of the value.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

Path = tuple[str | int, ...]
Range = tuple[int, int]

# Multi-line strings first, then one-line strings, line ends, punctuation, and everything that needs no quotes.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""+'
    r"|'''.*?'''+"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\n|[\[\]{},=.]|[^\s\[\]{},=.\"'#]+"
    r"|#[^\n]*|[ \t\r]+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Places:
    """Half-open character ranges of keys and values by path; array items have values only."""

    keys: Mapping[Path, Range]
    values: Mapping[Path, Range]


def locate(text: str) -> Places:
    r"""Positions in a valid TOML text with `\n` line ends."""
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text) if m.group()[0] not in "# \t\r"]
    walk = _Walk(tokens)
    walk.document()
    return Places(walk.keys, walk.values)


@dataclass(slots=True)
class _Walk:
    """Cursor over the tokens; mutable because it is one pass that fills two tables."""

    tokens: list[tuple[str, int, int]]
    at: int = 0
    keys: dict[Path, Range] = field(default_factory=dict[Path, Range])
    values: dict[Path, Range] = field(default_factory=dict[Path, Range])
    items: dict[Path, int] = field(default_factory=dict[Path, int])
    """The number of tables so far in every array of tables."""

    def document(self) -> None:
        """Walk all lines: headers and pairs below them."""
        table: Path = ()
        while self.at < len(self.tokens):
            if self.skip("\n"):
                continue
            if self.skip("["):
                table = self.header()
            else:
                self.pair(table)

    def header(self) -> Path:
        """Header of a table or of an item of an array of tables; the path of the entries below it."""
        start = self.tokens[self.at - 1][1]
        is_item = self.skip("[")
        path: Path = ()
        names = self.dotted_key()
        for name in names[:-1]:
            # A header names the last item of an array of tables so far (TOML v1.0.0, Array of Tables).
            path = self.current_item((*path, name))
        path = (*path, names[-1])
        while self.skip("]"):
            pass
        if is_item:
            self.items[path] = self.items.get(path, 0) + 1
            path = self.current_item(path)
        self.keys[path] = (start, self.tokens[self.at - 1][2])
        return path

    def current_item(self, path: Path) -> Path:
        return (*path, self.items[path] - 1) if path in self.items else path

    def pair(self, table: Path) -> None:
        first = self.at
        path = (*table, *self.dotted_key())
        self.keys[path] = (self.tokens[first][1], self.tokens[self.at - 1][2])
        self.skip("=")
        self.value(path)

    def dotted_key(self) -> list[str]:
        names = [_unquote(self.take())]
        while self.skip("."):
            names.append(_unquote(self.take()))
        return names

    def value(self, path: Path) -> None:
        """Value at a path, with the places of what is in it."""
        first = self.at
        if self.skip("["):
            self.array(path)
        elif self.skip("{"):
            while not self.skip("}"):
                if not (self.skip("\n") or self.skip(",")):
                    self.pair(path)
        else:
            # A date or a number can be several tokens: everything up to the next separator.
            while self.at < len(self.tokens) and self.tokens[self.at][0] not in ("\n", ",", "]", "}"):
                self.at += 1
        self.values[path] = (self.tokens[first][1], self.tokens[self.at - 1][2])

    def array(self, path: Path) -> None:
        count = 0
        while not self.skip("]"):
            if not (self.skip("\n") or self.skip(",")):
                self.value((*path, count))
                count += 1

    def skip(self, token: str) -> bool:
        found = self.at < len(self.tokens) and self.tokens[self.at][0] == token
        self.at += found
        return found

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][0]


def _unquote(token: str) -> str:
    return tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token
