# SPDX-License-Identifier: Apache-2.0
"""Miscompilations, one for each machine: words of a compiled program are changed, as a wrong table
of a compiler would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from polyloom.riscv.encode import decode, encode
from polyloom.riscv.isa import Instruction, find_row
from polyloom.riscv.names import Isa, parse_isa
from polyloom.riscv.symbols import read_tables
from polyloom.targets.belt.words import belt_file
from polyloom.targets.minion.words import isa as minion
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.isa import Immediate as Constant
from polyloom.targets.tcpa.words.isa import Instruction as ArrayInstruction
from polyloom.targets.tensix.words.encode import rotate_word


def replace_word(data: bytes, isa: Isa, mnemonic: str, other: str) -> bytes:
    """Executable whose every `mnemonic` is another instruction with the same operands."""
    row = find_row(other, isa)
    assert row is not None
    made = data
    for _, code in read_tables(data).code:
        for at in range(0, len(code) - 3, 2):
            found = decode(int.from_bytes(code[at : at + 4], "little"), isa)
            if found is not None and found.row.mnemonic == mnemonic:
                word = encode(Instruction(row, found.values)).to_bytes(4, "little")
                place = data.index(code) + at
                made = made[:place] + word + made[place + 4 :]
    assert made != data, f"the program has no {mnemonic}"
    return made


def plant_riscv(data: bytes) -> bytes:
    return replace_word(data, parse_isa("rv64gc"), "fadd.s", "fsub.s")


def plant_minion(data: bytes) -> bytes:
    return replace_word(data, minion.ISA, "fadd.ps", "fsub.ps")


def plant_belt(data: bytes) -> bytes:
    file = belt_file.read(data)
    routine, *others = file.program.routines
    bundles = list(routine.bundles)
    for n, bundle in enumerate(bundles):
        if any(issue.name == "addf" for issue in bundle.issues):
            issues = tuple(replace(i, name="subf") if i.name == "addf" else i for i in bundle.issues)
            bundles[n] = replace(bundle, issues=issues)
            break
    else:
        raise AssertionError("the program has no addf")
    made = replace(file.program, routines=(replace(routine, bundles=tuple(bundles)), *others))
    return belt_file.write(made, file.signature)


def plant_tcpa(data: bytes) -> bytes:
    """Immediates that the equations do not have."""
    concrete = concrete_file.decode(data)

    def altered(instruction: ArrayInstruction) -> ArrayInstruction:
        # Another sign: the highest bit of a single.
        sources = tuple(
            replace(s, bits=s.bits ^ 1 << 31) if isinstance(s, Constant) and s.bits else s for s in instruction.sources
        )
        return replace(instruction, sources=sources)

    classes = tuple(
        replace(element, programs=tuple(tuple(map(altered, program)) for program in element.programs))
        for element in concrete.classes
    )
    assert classes != concrete.classes
    return concrete_file.encode(replace(concrete, classes=classes))


def plant_tensix(data: bytes) -> bytes:
    """SFPADD, whose first factor is 1 (L10), with -1 (L11) instead."""
    words = {
        rotate_word(word).to_bytes(4, "little"): rotate_word(word + (1 << 16)) for word in (0x850A0100, 0x850A1000)
    }
    place, other = next((data.index(word), other) for word, other in words.items() if word in data)
    return data[:place] + other.to_bytes(4, "little") + data[place + 4 :]


PLANTED: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "tcpa:2x2": plant_tcpa,
    "riscv": plant_riscv,
    "belt": plant_belt,
    "minion:1": plant_minion,
    "tensix": plant_tensix,
}
"""By machine."""
