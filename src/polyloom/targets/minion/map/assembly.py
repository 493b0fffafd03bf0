# SPDX-License-Identifier: Apache-2.0
"""Assembler and linker stage of the compiler: parts of assembly text become an executable, with code at the reset
address, labels as symbols, and a note with the source lines, the arrays and what the program is.

Labels with a dot are the compiler's own and become no symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import Place
from polyloom.riscv.backend import link
from polyloom.targets.minion.map.frame import Part
from polyloom.targets.minion.words import note as notes
from polyloom.targets.minion.words.assemble import assemble_lines
from polyloom.targets.minion.words.isa import ISA
from polyloom.targets.minion.words.layout import CODE, DATA

_WAITS: Final = {
    "csrwi tensor_wait": "waits for tensor operations",
    "csrw fcc": "waits for a credit",
    "fence": "waits until stores have arrived",
}
"""By how a line begins."""
# These lines are what the source's products became; lines around them only compute words and addresses.
_OPERATIONS: Final = tuple(f"csrw tensor_{name}" for name in ("load", "fma", "store", "quant", "reduce"))
_DRIVES: Final = "drives the tensor unit"


@dataclass(frozen=True, slots=True)
class Assembled:
    """Assembled program: code, its symbols as offsets from the start, and the place of the source by address."""

    code: bytes
    starts: Mapping[str, int]
    lines: Mapping[int, Place]


def assemble_parts(parts: Sequence[Part]) -> Assembled:
    """Code of parts, one behind the other."""
    lines = [(line, place) for part in parts for line, place in _line_reasons(part)]
    made = assemble_lines("".join(f"{line}\n" for line, _ in lines), CODE, "<program>")
    assert CODE + len(made.data) <= DATA, "a program is as long as its loops, not as its arrays"
    starts = {name: at - CODE for name, at in made.labels.items() if "." not in name}
    return Assembled(made.data, starts, {at: lines[number - 1][1] for at, number in made.lines.items()})


def _line_reasons(part: Part) -> Iterator[tuple[str, Place]]:
    """Lines with their places; beside tensor operations, which are the user's, the others have reasons."""
    others = _DRIVES if any("tensor_" in line for line in part.lines) else ""
    for line in part.lines:
        waits = next((reason for begin, reason in _WAITS.items() if line.startswith(begin)), "")
        why = part.place.reason or waits or ("" if line.startswith(_OPERATIONS) else others)
        yield line, replace(part.place, reason=why)


def executable(parts: Sequence[Part], note: notes.Note) -> bytes:
    """ELF executable of parts of assembly, with the note of the program."""
    made = assemble_parts(parts)
    return link.executable(b"", CODE, made.code, ISA, made.starts, notes.encode(note, made.lines))
