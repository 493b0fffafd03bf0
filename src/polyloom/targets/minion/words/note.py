# SPDX-License-Identifier: Apache-2.0
"""Note of a compiled program (an ELF note section): for how many minions it is, its signature, where its arrays are,
source lines, and the facts of the compiler (docs/formats.md, Executables).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final

from polyloom.ir.signature import Signature
from polyloom.ir.signature_json import as_json, from_json
from polyloom.ir.ssa import Place
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines
from polyloom.targets.minion.machine import MINIONS_PER_SHIRE, SHIRE_KIB, SHIRES, Machine
from polyloom.targets.minion.memory_map import find_gap
from polyloom.targets.minion.words.layout import Placed
from polyloom.targets.minion.words.resident import Home, home_from_json
from polyloom.targets.minion.words.tiles import WORD
from polyloom.targets.target import Json

TARGET: Final = "minion"
KIND: Final = "loops"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Note:
    """`signature` has numbers for extents. `facts` are keys of `run --json` that the compiler knows; `macs` and `peak`
    are useful multiply-adds, and how many a minion can do per cycle (0: it uses no tensor unit); `home`: where arrays
    are that are not in DRAM.
    """

    signature: Signature
    machine: Machine
    minions: int
    placed: tuple[Placed, ...]
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    macs: int = 0
    peak: int = 0
    home: Home | None = None


def encode(note: Note, lines: Mapping[int, Place]) -> bytes:
    """Text of the note, JSON with the keys of docs/formats.md, Executables."""
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
        "home": None if note.home is None else note.home.as_json(),
        source_lines.KEY: source_lines.encode_lines(lines),
        **as_json(note.signature),
    }
    return notes.note_text(made)


def decode(data: bytes) -> Note | None:
    """The note of an ELF file; None where it has none of this kind."""
    return notes.read_note(data, _parse_note)


def _parse_note(made: dict[str, Any]) -> Note | None:
    """Note from parsed JSON, None where a value is impossible: a file may be damaged or made by hand, and `run` must
    not read outside memory for it.
    """
    if (made.get("target"), made.get("kind"), made.get("version")) != (TARGET, KIND, VERSION):
        return None
    name, *sizes = made["machine"]
    shires, l2_kib, l3_kib, scratchpad_kib = map(int, sizes)
    machine = Machine(str(name), shires, l2_kib, l3_kib, scratchpad_kib)
    if not _is_valid_machine(machine):
        return None
    signature = _mark_results(from_json(made), {str(name) for name in made["results"]})
    # Parameters have been replaced by numbers when the program was compiled.
    if signature.sizes:
        return None
    at = {str(name): int(address) for name, address in made["addresses"].items()}
    placed = tuple(Placed(a.name, a.dtype, a.extents({}), at[a.name]) for a in signature.arguments)
    # The host reads and writes these places directly, without the model's checks of addresses.
    if any(n < 0 for p in placed for n in p.shape) or any(find_gap(machine, p.address, p.size) for p in placed):
        return None
    minions = int(made["minions"])
    if not 0 < minions <= machine.minions or (minions > MINIONS_PER_SHIRE and minions % MINIONS_PER_SHIRE):
        return None
    home = None if made["home"] is None else home_from_json(made["home"])
    if home is not None and not _home_fits(home, signature, machine, minions):
        return None
    return Note(
        signature,
        machine,
        int(made["minions"]),
        placed,
        dict(made["facts"]),
        int(made["macs"]),
        int(made["peak"]),
        home,
    )


def _mark_results(signature: Signature, results: set[str]) -> Signature:
    """Signature with these arrays as pure results. A result that is also read inside the program is written as both."""
    arguments = tuple(replace(a, is_input=a.name not in results) for a in signature.arguments)
    return replace(signature, arguments=arguments)


def _is_valid_machine(machine: Machine) -> bool:
    """Whether a machine file could describe it, by the rules of machine.py."""
    split = machine.l2_kib, machine.l3_kib, machine.scratchpad_kib
    whole = sum(split) == SHIRE_KIB and all(n % 4 == 0 for n in split)
    return whole and min(split[:2]) >= 4 and split[2] >= 0 and 1 <= machine.shires <= SHIRES


def _home_fits(home: Home, signature: Signature, machine: Machine, minions: int) -> bool:
    """Whether resident matrices are those of the program's arrays, and lie in scratchpads that there are."""
    r, g = home.resident, home.resident.grid
    if g.total_rows * g.total_columns != minions or r.places[3] > machine.scratchpad_bytes:
        return False
    each = 4 // r.size
    # The depth is stored in words of 32 bits; the last word may hold fewer elements than it has room for.
    extents = [(r.rows, range(r.words * each - each + 1, r.words * each + 1)), (None, range(r.columns, r.columns + 1))]
    extents.append((r.rows, range(r.columns, r.columns + 1)))
    for matrix, (rows, columns) in zip(home.matrices, extents, strict=True):
        argument = signature.argument(matrix.array)
        if argument is None:
            return False
        if argument.dtype.itemsize > WORD:
            return False
        shape = argument.extents({})
        if sorted((*matrix.rows, *matrix.columns)) != list(range(len(shape))):
            return False
        of_rows, of_columns = (prod(shape[n] for n in axes) for axes in (matrix.rows, matrix.columns))
        if (rows is not None and of_rows != rows) or of_columns not in columns:
            return False
    return True
