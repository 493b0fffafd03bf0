# SPDX-License-Identifier: Apache-2.0
"""The note of a compiled program: for how many minions, its signature, where its arrays are, source lines, and what
the compiler says of it (docs/formats.md, Executables)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from polyloom.ir.signature import Signature
from polyloom.ir.signature_json import as_json, of_json
from polyloom.riscv import note as notes
from polyloom.targets.minion import lines as source_lines
from polyloom.targets.minion.loops.layout import Placed
from polyloom.targets.minion.machine import Machine
from polyloom.targets.minion.memory_map import lacking
from polyloom.targets.target import Json

TARGET: Final = "minion"
KIND: Final = "loops"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Note:
    """`signature` has numbers for extents. `facts` are keys of `run --json` that the compiler knows; `macs` and `peak`
    are useful multiply-adds, and how many a minion can do per cycle (0: it uses no tensor unit)."""

    signature: Signature
    machine: Machine
    minions: int
    placed: tuple[Placed, ...]
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    macs: int = 0
    peak: int = 0


def encode(note: Note, lines: Mapping[int, tuple[str, int]]) -> bytes:
    """The text."""
    m = note.machine
    made: dict[str, object] = {
        "version": VERSION,
        "target": TARGET,
        "kind": KIND,
        "machine": [m.name, m.shires, m.l2_kib, m.l3_kib, m.scratchpad_kib],
        "minions": note.minions,
        "results": [a.name for a in note.signature.arguments if not a.is_input],
        "addresses": {p.name: p.address for p in note.placed},
        "facts": dict(note.facts),
        "macs": note.macs,
        "peak": note.peak,
        source_lines.KEY: source_lines.encode(lines),
        **as_json(note.signature),
    }
    return notes.text(made)


def decode(data: bytes) -> Note | None:
    """The note of an ELF file; None where it has none of this kind."""
    return notes.read(data, _note)


def _note(made: dict[str, Any]) -> Note | None:
    if (made.get("target"), made.get("kind"), made.get("version")) != (TARGET, KIND, VERSION):
        return None
    name, *sizes = made["machine"]
    machine = Machine(str(name), *map(int, sizes))
    signature = _with_results(of_json(made), {str(name) for name in made["results"]})
    if signature.sizes:
        return None
    at = {str(name): int(address) for name, address in made["addresses"].items()}
    placed = tuple(Placed(a.name, a.dtype, a.extents({}), at[a.name]) for a in signature.arguments)
    if any(n < 0 for p in placed for n in p.shape) or any(lacking(machine, p.address, p.size) for p in placed):
        return None
    if not 0 < int(made["minions"]) <= machine.minions:
        return None
    return Note(
        signature, machine, int(made["minions"]), placed, dict(made["facts"]), int(made["macs"]), int(made["peak"])
    )


def _with_results(signature: Signature, results: set[str]) -> Signature:
    """With the arrays that are only written as such."""
    arguments = tuple(replace(a, is_input=a.name not in results) for a in signature.arguments)
    return replace(signature, arguments=arguments)
