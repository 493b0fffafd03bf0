# SPDX-License-Identifier: Apache-2.0
"""Parts of assembly text to an executable: code at the reset address, labels as symbols, and a note with the source
lines, the arrays and what the program is.

Labels with a dot are the compiler's own and become no symbols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.riscv.backend import link
from polyloom.targets.minion.assemble import assemble_lines
from polyloom.targets.minion.isa import ISA
from polyloom.targets.minion.loops import note as notes
from polyloom.targets.minion.loops.layout import CODE, DATA
from polyloom.targets.minion.loops.program import Part

_HERE: Final = "$"
"""Begins the labels that tell where a part starts."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """Code, where its symbols are from its start on, and the place of the source by address."""

    code: bytes
    starts: Mapping[str, int]
    lines: Mapping[int, tuple[str, int]]


def assembled(parts: Sequence[Part]) -> Assembled:
    """The code of parts, one behind the other."""
    text = "\n".join(line for n, part in enumerate(parts) for line in (f"{_HERE}{n}:", *part.lines))
    made = assemble_lines(text + "\n", CODE, "<program>")
    assert CODE + len(made.data) <= DATA, "a program is as long as its loops, not as its arrays"
    starts = {name: at - CODE for name, at in made.labels.items() if not name.startswith(_HERE) and "." not in name}
    lines = {made.labels[f"{_HERE}{n}"]: part.place or ("", 0) for n, part in enumerate(parts) if part.lines}
    return Assembled(made.data, starts, lines)


def executable(parts: Sequence[Part], note: notes.Note) -> bytes:
    """The ELF file."""
    made = assembled(parts)
    return link.executable(b"", CODE, made.code, ISA, made.starts, notes.encode(note, made.lines))
