# SPDX-License-Identifier: Apache-2.0
"""Instruction words of the circuit: instructions of variable length, in fields of one size (verilog/unit.v)."""

from __future__ import annotations

from polyloom.targets.tcpa.rtl.capacities import FILES, check_need, refuse_configuration
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.words.isa import File, Goto, Halt, If, Immediate, Instruction, Next, Source


def instruction_fields(circuit: Circuit, instruction: Instruction, pc: int, size: int, signals: int) -> list[int]:
    """Instruction layout of verilog/unit.v, in words of 32 bits."""
    sources = [_source_field(circuit, s) for s in instruction.sources]
    # A source that an operation does not have is an immediate, so that no FIFO is popped for it.
    sources += [(0, 3)] * (3 - len(sources))
    files = sum(file << 2 * n for n, (_, file) in enumerate(sources))
    # The unit stops behind this instruction, so that no target is needed.
    is_last = isinstance(instruction.branch, Halt)
    read, targets = _branch_fields(circuit, instruction, pc, size, signals)
    return [
        instruction.opcode | files << 10 | is_last << 16,
        *(value for value, _ in sources),
        *_pack_items(_destination_set(circuit, instruction), 1, circuit.destinations),
        *_pack_items(sum(signal << 8 * n for n, signal in enumerate(read)), 8, circuit.machine.branch_flags),
        *_pack_items(sum(target << 16 * n for n, target in enumerate(targets)), 16, len(targets)),
    ]


def _pack_items(value: int, width: int, items: int) -> list[int]:
    """Items of a width, as words of 32 bits."""
    return [value >> 32 * n & 0xFFFFFFFF for n in range((width * items + 31) // 32)]


def _destination_set(circuit: Circuit, instruction: Instruction) -> int:
    names = {File.RD: "rd", File.FD: "fd", File.IO: "od"}
    first = {"rd": 0, "fd": circuit.capacity("general_registers")}
    first["od"] = first["fd"] + circuit.capacity("feedback_registers")
    found = 0
    for register in instruction.destinations:
        name = names[register.file]
        check_need(f"registers {name}", register.index + 1, circuit.capacity(FILES[name]))
        # One bit per register, so that the circuit compares no indices; it cannot say that one is written twice.
        bit = 1 << first[name] + register.index
        if found & bit:
            raise refuse_configuration(f"an instruction writes {name}{register.index} twice")
        found |= bit
    return found


def _source_field(circuit: Circuit, source: Source) -> tuple[int, int]:
    if isinstance(source, Immediate):
        return source.bits & 0xFFFFFFFF, 3
    name = {File.RD: "rd", File.FD: "fd", File.IO: "id"}[source.file]
    check_need(f"registers {name}", source.index + 1, circuit.capacity(FILES[name]))
    # What units read has one numbering: rd, fd, id.
    before = {"rd": (), "fd": ("rd",), "id": ("rd", "fd")}[name]
    first = sum(circuit.capacity(FILES[file]) for file in before)
    return first + source.index, 0 if name == "rd" else 1


def _branch_fields(
    circuit: Circuit, instruction: Instruction, pc: int, size: int, signals: int
) -> tuple[list[int], list[int]]:
    """Signals that a branch reads, and a target for every code of as many as the machine's branches read."""
    flags, behind = circuit.machine.branch_flags, 1 << circuit.bits("instruction_words")
    match instruction.branch:
        case If(read, targets):
            check_need("control signals of a branch", len(read), flags)
            check_need("control signals", max(read) + 1, max(1, signals))
        case Goto(target):
            read, targets = (), (target,)
        case Next() | Halt():
            read, targets = (), (pc + 1,)
    # Codes of signals that the branch does not read repeat its targets.
    reached = [targets[code % len(targets)] for code in range(1 << flags)]
    return list(read), [target if target < size else behind for target in reached]
