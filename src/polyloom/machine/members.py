# SPDX-License-Identifier: Apache-2.0
"""Machine members of a target: its shipped ones, files of users, and `based_on` (docs/machines.md).

A table that names a member by `based_on` has that member's entries wherever it gives none of its own: whole entries,
tables and lists included. Only shipped members can be a base.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from polyloom.diagnostics import PolyloomError, Span, input_error, nearest
from polyloom.files import read_regular
from polyloom.machine import stated_figures
from polyloom.machine.table import Table, parse


@dataclass(frozen=True, slots=True)
class Members:
    """Members in a folder, one TOML file each. `code` is that of errors, `what` a machine is called in them ("Minion
    machine"), `member` what one of the family is."""

    folder: Path
    code: str
    what: str
    member: str = "member"

    def names(self) -> tuple[str, ...]:
        """Names of the members, sorted."""
        return _names(self.folder)

    def text(self, name: str) -> str:
        """Text of a member."""
        return (self.folder / f"{name}.toml").read_text(encoding="utf-8")

    def find(self, name_or_path: str) -> tuple[str, str]:
        """Text of a member, or of a file whose name ends in `.toml`, and what messages call it."""
        if name_or_path.endswith(".toml"):
            return self._file(name_or_path), name_or_path
        if name_or_path not in self.names():
            raise self._absent(name_or_path, self.names(), hint=" (the name of a file must end in .toml)")
        return self.text(name_or_path), f"{name_or_path}.toml"

    def table(self, text: str, name: str, keys: Iterable[str]) -> Table:
        """Table of `text`, over the entries of the member that it is based on; PL0303 for keys not in `keys`."""
        table = parse(text, name)
        # Before the base's entries are merged in: an unknown key is reported where the user wrote it.
        table.reject_unknown(known := (*keys, stated_figures.KEY))
        stated_figures.parse_stated(table)
        if "based_on" not in table.content:
            return table
        base = table.text("based_on")
        # A member cannot be its own base, or reading it would not end.
        others = tuple(each for each in self.names() if each != table.content.get("name"))
        if base not in others:
            raise self._absent(base, others, table.value_span("based_on"))
        return replace(table, content={**self.table(self.text(base), base, known).content, **table.content})

    def _absent(self, name: str, known: Iterable[str], span: Span | None = None, hint: str = "") -> PolyloomError:
        message = f"there is no {self.what} '{name}'"
        return input_error(self.code, message, span=span, help=nearest(name, known, self.member) + hint)

    def _file(self, path: str) -> str:
        """Text of a user's file; the members' error where it cannot be read."""
        try:
            return read_regular(path).decode()
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or "it is not UTF-8 text"
            help = f"give a readable file, or one of the {self.member}s {', '.join(self.names())}"
            message = f"cannot read the machine file '{path}': {reason}"
            raise input_error(self.code, message, help=help) from error


@cache
def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))
