# SPDX-License-Identifier: Apache-2.0
"""Macros of the vector unit: what SFPLOADMACRO schedules, cycle by cycle, beside the words that are issued.

A macro loads, and gives each of four sub-units at most one instruction for a later cycle, made of a template. Scheduled
instructions read what was there before their cycle; their results are visible after their latency. A delay counts
cycles, or issued vector instructions. The interpreter's cycles are those of a thread that issues a word in each.
Source: ISA documentation, page of `SFPLOADMACRO` and of `VectorUnit`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Final

from polyloom.targets.tensix.source.oracle import lanes
from polyloom.targets.tensix.source.oracle.state import (
    ALL,
    STAGING,
    LateWrite,
    Mask,
    Scheduled,
    State,
    Vector,
    choose_lanes,
    complement_mask,
    intersect_masks,
)
from polyloom.targets.tensix.source.oracle.words import (
    FLAGS,
    WITH_INDEX,
    execute_vector,
    gather_indirect,
    load_register,
    read_first_register,
    swapped_lanes,
    unsupported_error,
)
from polyloom.targets.tensix.words.isa import Instruction, table

_SIMPLE, _MAD, _ROUND, _STORE = range(4)
_ORDER: Final = (_MAD, _ROUND, _STORE, _SIMPLE)
"""Execution order within a cycle: only the simple sub-unit changes flags, which the others still read."""
_MADS: Final = frozenset(
    {"SFPMAD", "SFPADD", "SFPMUL", "SFPMULI", "SFPADDI", "SFPLUT", "SFPLUTFP32", "SFPMUL24"}
)  # fmt: skip
_ROUNDS: Final = frozenset({"SFP_STOCH_RND", "SFPSHFT2"})
_LOADS: Final = frozenset({"SFPLOAD", "SFPLOADI", "SFPLOADMACRO"})
_THREE_SOURCES: Final = frozenset({"SFPMAD", "SFPADD", "SFPMUL", "SFPMUL24", "SFP_STOCH_RND"})
_ACCUMULATES: Final = frozenset({"SFPMULI", "SFPADDI"})
_UNKNOWN: Final = frozenset({"SFPTRANSP", "SFPLUT", "SFPLUTFP32", "SFPCONFIG"})
"""Templates that read or write registers which their fields do not name."""
_NOP: Final = "SFPNOP"
_WORDS: Final = {2: 0x8F000000, 3: 0x72000000}
"""What a sequence selects without a template: SFPNOP and SFPSTORE."""


def sub_unit(name: str) -> int | None:
    """Sub-unit of an instruction; None is the load sub-unit, which macros do not schedule for."""
    if name in _LOADS or name == _NOP:
        return None
    return _MAD if name in _MADS else _ROUND if name in _ROUNDS else _STORE if name == "SFPSTORE" else _SIMPLE


def issue_cycle(state: State, row: Instruction, execute: Callable[[], set[int]]) -> set[int]:
    """Cycle in which a vector instruction is issued, beside those that are due; one of the same sub-unit is lost."""
    if not is_pending(state):
        return execute()
    flags = state.enabled, state.used
    written, busy = _advance(state)
    state.macros.accepted = True
    unit = sub_unit(row.name)
    if unit in busy:
        return written
    after = state.enabled, state.used
    if _SIMPLE in busy:
        state.enabled, state.used = flags
    on, made = state.lanes, execute()
    if _SIMPLE in busy:
        state.enabled, state.used = after
    _cancel_writes(state, made, on, 0)
    if row.name == "SFPSWAP":  # which occupies the unit for two cycles
        written |= idle_cycle(state)
    return written | made


def idle_cycle(state: State) -> set[int]:
    """Cycle without a vector instruction."""
    return _advance(state)[0] if is_pending(state) else set()


def settle(state: State) -> set[int]:
    """Cycles until nothing is due any more, or what is left waits for instructions."""
    written: set[int] = set()
    while state.macros.late or (state.macros.waiting and not _waits(state)):
        written |= idle_cycle(state)
    return written


def is_pending(state: State) -> bool:
    return bool(state.macros.waiting or state.macros.late)


def configure(state: State, target: int, mode: int, immediate: int) -> None:
    """SFPCONFIG of templates, sequences and of what macros have in common (ISA documentation, page of `SFPCONFIG`).
    Errors: PL1244 for lanes that would differ.
    """
    value = read_first_register(state) if target < 4 or not mode & 1 else immediate
    macros = state.macros
    if target < 4:
        macros.templates[target] = value
    elif target < 8:
        macros.sequences[target - 4] = value
    else:
        old = macros.miscellaneous
        merged = {0: value, 2: old | value, 4: old & value, 6: old ^ value}[mode & 6]
        macros.miscellaneous = merged & 0xFFF


def execute_macro(state: State, row: Instruction, word: int) -> set[int]:
    """SFPLOADMACRO: schedules by its sequence, then loads."""
    number, target = word >> 22 & 3, (word & 1) << 2 | word >> 20 & 3
    mode, field = state.resolve_mode(word >> 16 & 15), row.field("sfpu_addr_mode")
    assert field is not None
    address, sequence = state.dst_address(mode, word & 0x3FE), state.macros.sequences[number]
    for unit in range(4):
        bits = sequence >> 8 * unit & 0xFF
        if bits & 7:
            _schedule(state, _from_template(state, unit, bits, number, target, word >> 16 & 15, address))
    state.macros.accepted = True
    return load_register(state, target, mode, address, field.of(word))


def _schedule(state: State, entry: Scheduled) -> None:
    """Scheduling forgets what the sub-unit has for the same cycle."""
    kept = [e for e in state.macros.waiting if (e.unit, e.left) != (entry.unit, entry.left)]
    state.macros.waiting = [*kept, entry]


def _from_template(state: State, unit: int, bits: int, macro: int, target: int, mode: int, address: int) -> Scheduled:
    """Instruction for a sub-unit: a template whose registers the macro's destination replaces."""
    misc, selected = state.macros.miscellaneous, bits & 7
    if selected == 1:
        raise unsupported_error("the reserved template 1 of SFPLOADMACRO")
    word = _WORDS.get(selected) or state.macros.templates[selected - 4]
    row = table(state.member).get(word >> 24)
    if row is None or (row.name != _NOP and sub_unit(row.name) != unit):
        word, row = _WORDS[2], table(state.member)[_WORDS[2] >> 24]
    if unit == _STORE and row.name == _NOP:
        raise unsupported_error("a macro without a store in its store sub-unit")
    b, c, d = _operand_fields(row.name, word)
    if unit == _STORE:
        d = STAGING if bits & 0x40 else word >> 20 & 15 if bits & 0x80 else target
        mode = mode if misc >> 4 + macro & 1 else misc & 15
    else:
        if bits & 0x80:
            b, c = target, d if row.name in _ACCUMULATES else c
        else:
            c = target
        d = STAGING if bits & 0x40 else target
    return Scheduled(unit, (bits >> 3 & 7) + 1, bool(misc >> 8 + unit & 1), word, (b, c, d), mode, address)


def _operand_fields(name: str, word: int) -> tuple[int, int, int]:
    """Registers B, C and D of a word. B is D where an instruction has no field for it, and so is C of an immediate."""
    d = word >> 4 & 15
    b = word >> 12 & 15 if name in _THREE_SOURCES or name == "SFPSHFT2" else d
    return b, d if name in _ACCUMULATES else word >> 8 & 15, d


def _waits(state: State) -> bool:
    return not state.macros.accepted and any(e.by_instructions for e in state.macros.waiting)


def _advance(state: State) -> tuple[set[int], set[int]]:
    """Start of a cycle: results become visible, delays count down, and what is due executes. Returns the registers
    that were written, and the busy sub-units."""
    macros, written = state.macros, set[int]()
    late, macros.late = macros.late, []
    for write in late:
        if write.cycles > 1:
            macros.late.append(replace(write, cycles=write.cycles - 1))
            continue
        state.registers[write.register] = choose_lanes(write.lanes, write.value, state.registers[write.register])
        written |= {write.register} & set(range(8))
    if not _waits(state):
        macros.waiting = [replace(e, left=e.left - 1) for e in macros.waiting]
    due = [e for e in macros.waiting if not e.left]
    macros.waiting, macros.accepted = [e for e in macros.waiting if e.left], False
    for unit in _ORDER:
        for entry in (e for e in due if e.unit == unit):
            _execute_scheduled(state, entry)
    return written, {e.unit for e in due}


def _execute_scheduled(state: State, entry: Scheduled) -> None:
    row = table(state.member)[entry.word >> 24]
    if row.name == "SFPSTORE":
        value, on, mode = state.registers[entry.operands[2]], state.lanes, state.resolve_mode(entry.mode)
        on = ALL if mode == 10 else on
        known, certain = lanes.known_lanes(value), lanes.known_lanes(on)
        state.dst.store(mode, entry.address, value.bits, known, on.truth, certain)
    elif row.name != _NOP:
        _execute_computed(state, row, entry)


def _execute_computed(state: State, row: Instruction, entry: Scheduled) -> None:
    """Execution of a template on a copy of the registers, in which free ones stand for those that the macro gives."""
    (b, c, d), word, mode = entry.operands, entry.word, entry.word & 15
    is_mad = row.name in _MADS
    indexed = row.name == "SFPSWAP" and state.lane_config & WITH_INDEX
    if (
        row.name in _UNKNOWN
        or indexed
        or (is_mad and mode & 8 and d != STAGING)
        or (row.name == "SFPSHFT2" and mode < 3)
    ):
        raise unsupported_error(f"this {row.mnemonic} as a template of SFPLOADMACRO")
    placed, (at_a, at_b, at_c, at_d) = _rename_operands(row.name, word)
    if is_mad:  # L7 names A here, on the copy a register does; L16 is never named by L7
        placed &= ~12
    scratch, on = copy(state), ALL if row.name == "SFPMOV" and mode == 2 else state.lanes
    scratch.registers = list(state.registers)
    scratch.registers[at_b], scratch.registers[at_c] = state.registers[b], state.registers[c]
    if row.name in _THREE_SOURCES:
        scratch.registers[at_a] = gather_indirect(state) if is_mad and mode & 4 else state.registers[word >> 16 & 15]
    execute_vector(scratch, row, placed)
    state.random, state.exchanged = scratch.random, scratch.exchanged
    if row.name in FLAGS or d < 8:
        state.enabled, state.used, state.stack = scratch.enabled, scratch.used, scratch.stack
    if row.name in FLAGS:
        return
    latency = 2 if row.name in _MADS or row.name == "SFPSWAP" or (row.name == "SFPSHFT2" and mode < 5) else 1
    if row.name == "SFPSWAP":
        on = intersect_masks(on, swapped_lanes(state, mode, state.registers[b], state.registers[c]))
    _write_late(state, d, scratch.registers[at_d], on, latency)
    # Where C and D are one register, the value of C stays, as the vendor's exponential needs it.
    if row.name == "SFPSWAP" and c < 8:
        _write_late(state, c, scratch.registers[at_c], on, latency)


def _rename_operands(name: str, word: int) -> tuple[int, tuple[int, int, int, int]]:
    """Word with free registers as A, B, C and D, and these registers."""
    # The register of an immediate shift is part of the number, and stays.
    kept = word >> 12 & 15 if name == "SFPSHFT2" else None
    c, d, b, a = [k for k in range(8) if k != kept][:4]
    if name in _ACCUMULATES:  # whose number lies where others name registers
        return word & ~0xF0 | d << 4, (a, d, d, d)
    word = word & ~0xFF0 | c << 8 | d << 4
    if name not in _THREE_SOURCES:
        return word, (a, d if kept is None else kept, c, d)
    # SFP_STOCH_RND has a number where the others have A.
    first = 0 if name == "SFP_STOCH_RND" else 0xF0000
    return word & ~(0xF000 | first) | b << 12 | (a << 16 & first), (a, b, c, d)


def _write_late(state: State, register: int, value: Vector, on: Mask, latency: int) -> None:
    """Write that becomes visible after a latency; it wins over earlier ones that are visible no sooner."""
    if register >= 8 and register != STAGING:
        return
    _cancel_writes(state, {register}, on, latency)
    state.macros.late.append(LateWrite(latency, register, on, value))


def _cancel_writes(state: State, registers: set[int], on: Mask, latency: int) -> None:
    state.macros.late = [
        replace(write, lanes=intersect_masks(write.lanes, complement_mask(on)))
        if write.register in registers and write.cycles >= latency
        else write
        for write in state.macros.late
    ]
