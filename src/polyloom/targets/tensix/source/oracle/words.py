# SPDX-License-Identifier: Apache-2.0
"""Interpreter of single instructions of the vector unit: what each does to registers, flags and Dst, at once.

    execute_vector(state, row, word) -> the registers that it wrote

Source: ISA documentation, one page per instruction; encodings are those of words/instructions.txt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.targets.tensix.source.oracle import lanes, meaning
from polyloom.targets.tensix.source.oracle.state import (
    ALL,
    CONSTANTS,
    NONE,
    Mask,
    State,
    Vector,
    choose_lanes,
    complement_mask,
    intersect_masks,
    unite_masks,
)
from polyloom.targets.tensix.words.isa import Instruction
from polyloom.twos_complement import sign_extend

MAXIMUM: Final = 9
"""Mode of SFPSWAP in which D gets the greater value. Mode 15 is another name of it in the vendor's conversions."""
INVERTED_SWAP, WITH_INDEX = 1 << 8, 1 << 2
"""Bits of LaneConfig."""
FLAGS: Final = frozenset({"SFPSETCC", "SFPPUSHC", "SFPPOPC", "SFPENCC", "SFPCOMPC"})


def execute_vector(state: State, row: Instruction, word: int) -> set[int]:
    """Execution of an instruction of the vector unit but SFPLOADMACRO; returns the registers that it wrote."""
    if row.name in FLAGS:
        _execute_flags(state, row.name, word)
        return set()
    if row.name in _WRITES:
        return _WRITES[row.name](state, row, word)
    return _execute_computation(state, row.name, word)


def _execute_flags(state: State, name: str, word: int) -> None:
    """Lane flags: SFPSETCC narrows in enabled lanes, SFPPUSHC and SFPPOPC act on all, SFPCOMPC complements within the
    top (ISA documentation, page of `SFPSETCC`, `SFPENCC` and `SFPCOMPC`).
    """
    mode, immediate = word & 15, word >> 12 & 0xFFF
    flags, used = state.enabled, state.used
    if name == "SFPSETCC":
        holds = NONE if mode & 8 else _test_lanes(state.registers[word >> 8 & 15], mode, immediate)
        on = state.lanes
        state.enabled = unite_masks(
            intersect_masks(intersect_masks(holds, used), on), intersect_masks(flags, complement_mask(on))
        )
    elif name == "SFPPUSHC":
        # A full stack drops its bottom entry.
        state.stack = [*state.stack[-7:], (flags, used)]
    elif name == "SFPPOPC":
        _pop_flags(state, mode)
    elif name == "SFPENCC":
        if mode & 2:
            state.used = ALL if immediate & 1 else NONE
        elif mode & 1:
            state.used = complement_mask(used)
        state.enabled = (ALL if immediate & 2 else NONE) if mode & 8 else ALL
    else:
        top, top_used = state.stack[-1] if state.stack else (ALL, ALL)
        state.enabled = intersect_masks(intersect_masks(top_used, used), intersect_masks(top, complement_mask(flags)))


def _test_lanes(value: Vector, mode: int, immediate: int) -> Mask:
    if mode & 1:
        return ALL if immediate & 1 else NONE
    truth = value.bits != 0 if mode & 2 else value.bits >> 31 != 0
    return Mask(~truth if mode & 4 else truth, value.known)


def _pop_flags(state: State, mode: int) -> None:
    """SFPPOPC: mode 0 pops, others combine the flags with the top entry and leave it (ISA documentation, page of
    `SFPPOPC`).
    """
    top, used = state.stack[-1] if state.stack else (NONE, NONE)
    if mode == 0:
        state.enabled, state.used = top, used
        state.stack = state.stack[:-1]
    elif mode == 13:
        state.enabled = complement_mask(state.enabled)
    elif mode >= 14:
        state.enabled, state.used = ALL if mode == 14 else NONE, ALL
    else:
        state.enabled, state.used = _COMBINED[mode - 1](state.enabled, top), used


_COMBINED: Final[tuple[Callable[[Mask, Mask], Mask], ...]] = (
    lambda a, b: b,
    lambda a, b: complement_mask(b),
    intersect_masks,
    unite_masks,
    lambda a, b: intersect_masks(a, complement_mask(b)),
    lambda a, b: unite_masks(a, complement_mask(b)),
    lambda a, b: intersect_masks(complement_mask(a), b),
    lambda a, b: unite_masks(complement_mask(a), b),
    lambda a, b: intersect_masks(complement_mask(a), complement_mask(b)),
    lambda a, b: unite_masks(complement_mask(a), complement_mask(b)),
    lambda a, b: unite_masks(intersect_masks(a, complement_mask(b)), intersect_masks(complement_mask(a), b)),
    lambda a, b: unite_masks(intersect_masks(a, b), intersect_masks(complement_mask(a), complement_mask(b))),
)


def _load(state: State, row: Instruction, word: int) -> set[int]:
    target, mode, address, addrmod = _access_fields(state, row, word)
    return load_register(state, target, mode, state.dst_address(mode, address), addrmod)


def load_register(state: State, target: int, mode: int, address: int, addrmod: int) -> set[int]:
    """SFPLOAD from an address that is computed already. Loads into constant registers are without effect, but the
    counter advances all the same.
    """
    old = state.registers[target]
    if target < 8:
        bits, known = state.dst.load(mode, address)
        value = lanes.make_vector(bits, None if known.all() else known)
        if mode in (14, 15):
            value = _merge_halves(old, value, mode)
        state.registers[target] = choose_lanes(ALL if mode == 10 else state.lanes, value, old)
    state.advance(addrmod)
    return {target} & set(range(8))


def _store(state: State, row: Instruction, word: int) -> set[int]:
    source, mode, address, addrmod = _access_fields(state, row, word)
    value, on = state.registers[source], ALL if mode == 10 else state.lanes
    state.dst.store(
        mode, state.dst_address(mode, address), value.bits, lanes.known_lanes(value), on.truth, lanes.known_lanes(on)
    )
    state.advance(addrmod)
    return set()


def _access_fields(state: State, row: Instruction, word: int) -> tuple[int, int, int, int]:
    addrmod = row.field("sfpu_addr_mode")
    assert addrmod is not None
    return word >> 20 & 15, state.resolve_mode(word >> 16 & 15), word & 0x3FF, addrmod.of(word)


def _merge_halves(old: Vector, new: Vector, mode: int) -> Vector:
    """Load into the low half of a register (14), or into the high one."""
    low, high = (new, old) if mode == 14 else (old, new)
    shifted = np.uint32(16) if mode == 15 else np.uint32(0)
    bits = (high.bits << shifted) & np.uint32(0xFFFF0000) | (low.bits & np.uint32(0xFFFF))
    return lanes.make_vector(
        bits, None if old.known is new.known is None else lanes.known_lanes(old) & lanes.known_lanes(new)
    )


def _load_immediate(state: State, row: Instruction, word: int) -> set[int]:
    del row
    target, mode, bits = word >> 20 & 15, word >> 16 & 15, word & 0xFFFF
    if target >= 8:
        return set()
    if mode in (8, 10):
        given = Vector(meaning.splat(bits))
        value = _merge_halves(state.registers[target], given, 14 if mode == 10 else 15)
    elif mode in (0, 1, 2, 4):
        value = Vector(meaning.splat(meaning.widen_immediate(bits, mode)))
    else:
        raise unsupported_error(f"mode {mode} of SFPLOADI")
    state.write(target, value)
    return {target}


def _config(state: State, row: Instruction, word: int) -> set[int]:
    """SFPCONFIG: an immediate sets the power-on constant, else lanes of L0; mode 8 restricts the columns (ISA
    documentation, page of `SFPCONFIG`).
    """
    del row
    target, mode, immediate = word >> 4 & 15, word & 15, word >> 8 & 0xFFFF
    if target == 15:
        _configure_lanes(state, mode, immediate)
        return set()
    if target not in range(11, 15):
        raise unsupported_error(f"SFPCONFIG of {target}")
    constant = CONSTANTS[target - 8]
    value = Vector(meaning.splat(constant)) if mode & 1 else lanes.repeat_row(state.registers[0])
    on = lanes.repeat_mask(state.lanes)
    if mode & 8:
        named = np.array([immediate >> (2 * (k % 8)) & 1 != 0 for k in range(32)])
        on = intersect_masks(on, Mask(named))
    state.registers[target] = choose_lanes(on, value, state.registers[target])
    return set()


def _configure_lanes(state: State, mode: int, immediate: int) -> None:
    """SFPCONFIG of LaneConfig, for all lanes alike, and of the bits that SFPSWAP looks at."""
    value = immediate if mode & 1 else read_first_register(state)
    if mode & ~1 or value & ~(INVERTED_SWAP | WITH_INDEX):
        raise unsupported_error(f"LaneConfig {value:#x}, or SFPCONFIG of it in mode {mode}")
    state.lane_config = value


def read_first_register(state: State) -> int:
    """The number that all lanes of L0 hold, as SFPCONFIG takes it. Errors: PL1244 where they differ."""
    first = state.registers[0]
    columns = first.bits[..., :8]
    if first.known is not None or (columns != columns.flat[0]).any() or not state.lanes.truth[..., :8].all():
        raise unsupported_error("SFPCONFIG that configures lanes differently")
    return int(columns.flat[0])


def _swap(state: State, row: Instruction, word: int) -> set[int]:
    """SFPSWAP, which moves L4 to L7 along where LaneConfig says so, and then writes no other register above L3 (ISA
    documentation, page of `SFPSWAP`).
    """
    del row
    c, d, indexed = word >> 8 & 15, word >> 4 & 15, bool(state.lane_config & WITH_INDEX)
    pairs = [(c, d), (4 + (c & 3), 4 + (d & 3))] if indexed else [(c, d)]
    on = intersect_masks(state.lanes, swapped_lanes(state, word & 15, state.registers[d], state.registers[c]))
    writable = 4 if indexed else 8
    for one, other in pairs:
        first, second = state.registers[one], state.registers[other]
        for register, value in ((one, second), (other, first)):
            if register < writable:
                state.registers[register] = choose_lanes(on, value, state.registers[register])
        writable = 8
    return {k for pair in pairs for k in pair} & set(range(8))


def swapped_lanes(state: State, mode: int, d: Vector, c: Vector) -> Mask:
    """Lanes in which SFPSWAP exchanges; equal values are exchanged where D gets the greater one. Errors: PL1244."""
    mode = MAXIMUM if mode == 15 else mode
    if mode > MAXIMUM:
        raise unsupported_error("this mode of SFPSWAP")
    if not mode:
        return ALL
    zero, one = Vector(meaning.splat(0)), Vector(meaning.splat(1))
    gets_least = lanes.apply_operation(state, "sfpswap", [zero, one, mode])[0].bits == 0
    changed = lanes.apply_operation(state, "sfpswap", [d, c, mode])[0].bits != d.bits
    swaps = Mask((d.bits == c.bits) & ~gets_least | changed, lanes.common_known(d, c))
    return complement_mask(swaps) if state.lane_config & INVERTED_SWAP else swaps


def _transpose(state: State, row: Instruction, word: int) -> set[int]:
    del row, word
    for base in (0, 4):
        made = lanes.apply_operation(state, "sfptransp", state.registers[base : base + 4])
        for k, value in enumerate(made):
            state.write(base + k, value)
    return set(range(8))


def _shuffle(state: State, row: Instruction, word: int) -> set[int]:
    """SFPSHFT2 by mode: registers up by one, rows rotated, or a shift by a vector or a number (ISA documentation, page
    of `SFPSHFT2`).
    """
    del row
    mode, source, target = word & 15, state.registers[word >> 8 & 15], word >> 4 & 15
    if mode > 6:
        raise unsupported_error("this mode of SFPSHFT2")
    if mode in (3, 4):
        return _write_register(state, target, lanes.rotate_rows(state, source, mode))
    if mode in (5, 6):
        amount: Any = sign_extend(word >> 12 & 0xFFF, 12) if mode == 6 else source
        name = "sfpshft_i" if mode == 6 else "sfpshft_v"
        return _write_register(
            state, target, lanes.apply_operation(state, name, [state.registers[word >> 12 & 15], amount, 0])[0]
        )
    l0 = state.registers[0]
    last = Vector(meaning.splat(0))
    if mode == 1:
        up = np.concatenate([l0.bits[..., 8:], np.zeros_like(l0.bits[..., :8])], axis=-1)
        certain = np.concatenate(
            [lanes.known_lanes(l0)[..., 8:], np.ones_like(lanes.known_lanes(l0)[..., :8])], axis=-1
        )
        last = lanes.make_vector(up, certain)
    elif mode == 2:
        last = lanes.rotate_rows(state, source, 3)
    for k, value in enumerate((*state.registers[1:4], last)):
        state.write(k, value)
    return {0, 1, 2, 3}


_WRITES: Final[dict[str, Callable[[State, Instruction, int], set[int]]]] = {
    "SFPLOAD": _load, "SFPSTORE": _store, "SFPLOADI": _load_immediate, "SFPCONFIG": _config, "SFPSWAP": _swap,
    "SFPTRANSP": _transpose, "SFPSHFT2": _shuffle,
}  # fmt: skip


def _write_register(state: State, target: int, value: Vector) -> set[int]:
    if target >= 8:
        return set()
    state.write(target, value)
    return {target}


_COMPUTES: Final[dict[str, str]] = {
    "SFPDIVP2": "sfpdivp2", "SFPEXEXP": "sfpexexp", "SFPEXMAN": "sfpexman", "SFPIADD": "", "SFPSHFT": "",
    "SFPMOV": "", "SFPABS": "sfpabs", "SFPAND": "sfpand", "SFPOR": "sfpor", "SFPNOT": "sfpnot", "SFPLZ": "sfplz",
    "SFPSETEXP": "", "SFPSETMAN": "", "SFPSETSGN": "", "SFPMAD": "", "SFPADD": "", "SFPMUL": "", "SFPMULI": "",
    "SFPADDI": "", "SFPXOR": "sfpxor", "SFP_STOCH_RND": "", "SFPCAST": "sfpcast", "SFPLUT": "", "SFPLUTFP32": "",
    "SFPMUL24": "", "SFPARECIP": "",
}  # fmt: skip
"""Operations of the table by instruction; those without a name have cases of their own."""
KNOWN: Final = FLAGS | _WRITES.keys() | _COMPUTES.keys()


def _execute_computation(state: State, name: str, word: int) -> set[int]:
    target, mode = word >> 4 & 15, word & 15
    if name == "SFPLUT":
        target, mode = word >> 20 & 15, word >> 16 & 15
    operation, operands = _decode_operands(state, name, word, mode)
    if name == "SFPMOV" and mode & 8:
        return _write_register(state, target, _special_register(state, word >> 8 & 15))
    if name == "SFPMOV" and mode == 2 and target < 8:
        state.registers[target] = state.registers[word >> 8 & 15]
        return {target}
    (value,) = lanes.apply_operation(state, operation, operands)
    written = _write_result(state, target, value, name in _INDIRECT and bool(mode & 8))
    if target < 8:
        _set_flags(state, name, word, value)
    return written


_INDIRECT: Final = frozenset({"SFPMAD", "SFPADD", "SFPMUL", "SFPMULI", "SFPADDI", "SFPLUT", "SFPLUTFP32"})


def _special_register(state: State, number: int) -> Vector:
    """What SFPMOV reads in mode 8: the macros' configuration, LaneConfig, which is 0, or a random number (ISA
    documentation, page of `SFPMOV`).
    """
    if number == 9:
        return Vector(state.drawn())
    macros = state.macros
    configured = (*macros.templates, *macros.sequences, macros.miscellaneous)
    return Vector(meaning.splat(configured[number] if number < 9 else state.lane_config if number == 15 else 0))


def _write_result(state: State, target: int, value: Vector, indirect: bool) -> set[int]:
    """Result to the register, or in each lane to the one that the low four bits of L7 name (ISA documentation, page of
    `SFPMAD`, indirect destination).
    """
    if not indirect:
        return _write_register(state, target, value)
    named, on = state.registers[7], state.lanes
    # Each lane may name another register; those from 8 on are not written.
    for k in range(8):
        here = Mask(named.bits & 15 == k, named.known)
        state.registers[k] = choose_lanes(intersect_masks(on, here), value, state.registers[k])
    return set(range(8))


def _decode_operands(state: State, name: str, word: int, mode: int) -> tuple[str, list[Any]]:
    """Operation of the table that an instruction is, and its operands."""
    c, d, immediate = state.registers[word >> 8 & 15], state.registers[word >> 4 & 15], word >> 12 & 0xFFF
    match name:
        case "SFPMAD" | "SFPADD" | "SFPMUL":
            a = gather_indirect(state) if mode & 4 else state.registers[word >> 16 & 15]
            signs = mode & 3 if state.member == "blackhole" else 0
            return "sfpmad", [a, state.registers[word >> 12 & 15], c, signs]
        case "SFPMULI" | "SFPADDI":
            given = Vector(meaning.splat((word >> 8 & 0xFFFF) << 16))
            if name == "SFPMULI":
                return "sfpmad", [given, d, state.registers[9], 0]
            return "sfpmad", [given, state.registers[10], d, 0]
        case "SFPLUT":
            return "sfplut", [*state.registers[:4], mode & 4]
        case "SFPLUTFP32":
            r = state.registers
            if mode & 10 == 10:
                return "sfplutfp32_3r", [*r[:4], mode]
            return "sfplutfp32_6r", [*r[:3], *r[4:7], r[3], mode & 7]
        case "SFPIADD":
            if mode & 1:
                return "sfpiadd_i", [c, sign_extend(immediate, 12), 5]
            return "sfpiadd_v", [d, c, mode & 2 | 4]
        case "SFPSHFT":
            return _decode_shift(state, c, d, immediate, mode)
        case "SFPSETEXP":
            return ("sfpsetexp_i", [c, immediate & 255, 0]) if mode & 1 else ("sfpsetexp_v", [c, d, mode & 2])
        case "SFPSETMAN":
            return ("sfpsetman_i", [c, immediate << 11, 0]) if mode & 1 else ("sfpsetman_v", [c, d, 0])
        case "SFPSETSGN":
            return ("sfpsetsgn_i", [c, immediate & 1, 0]) if mode & 1 else ("sfpsetsgn_v", [c, d, 0])
        case "SFPMOV":
            return "sfpmov", [c, mode & 1]
        case "SFP_STOCH_RND":
            rounding = word >> 21 & (3 if state.member == "blackhole" else 1)
            if mode & 6 == 4 and not mode & 8:
                return "sfpstochrnd_v", [c, state.registers[word >> 12 & 15], mode & 7, rounding]
            return "sfpstochrnd_i", [c, word >> 16 & 31, mode & 7, rounding]
        case "SFPMUL24":
            if mode & 14 or word >> 8 & 15 != 9:
                raise unsupported_error("SFPMUL24 with an addend")
            return "sfpmul24", [state.registers[word >> 16 & 15], state.registers[word >> 12 & 15], mode & 1]
        case "SFPARECIP":
            if mode == 1:
                raise unsupported_error("SFPARECIP under a condition of its own")
            return "sfparecip", [c, mode]
        case _:
            return _decode_simple(state, name, c, d, immediate, mode)


def _decode_simple(state: State, name: str, c: Vector, d: Vector, immediate: int, mode: int) -> tuple[str, list[Any]]:
    operation = _COMPUTES[name]
    match name:
        case "SFPAND" | "SFPOR" | "SFPXOR":
            other = name != "SFPXOR" and state.member == "blackhole" and mode & 1
            return operation, [state.registers[immediate & 15] if other else d, c]
        case "SFPNOT":
            return operation, [c]
        case "SFPDIVP2":
            return operation, [c, immediate & 255, mode & 1]
        case "SFPLZ":
            return operation, [c, mode & 4]
        case "SFPCAST":
            return operation, [c, mode if state.member == "blackhole" else mode & 1]
        case _:
            return operation, [c, mode & 1]


def _decode_shift(state: State, c: Vector, d: Vector, immediate: int, mode: int) -> tuple[str, list[Any]]:
    blackhole = state.member == "blackhole"
    arithmetic = mode & 2 if blackhole else 0
    if not mode & 1:
        return "sfpshft_v", [d, c, arithmetic]
    return "sfpshft_i", [c if blackhole and mode & 4 else d, sign_extend(immediate, 12), arithmetic]


def gather_indirect(state: State) -> Vector:
    """Indirect source: by lane from the register that the low four bits of L7 name."""
    named = state.registers[7]
    found = Vector(meaning.splat(0))
    for k in range(16):
        found = choose_lanes(Mask(named.bits & 15 == k, named.known), state.registers[k], found)
    return found


def _set_flags(state: State, name: str, word: int, value: Vector) -> None:
    """Flags of executing lanes as SFPIADD, SFPEXEXP and SFPLZ set them, by mode (ISA documentation, page of
    `SFPIADD`)."""
    mode = word & 15
    negative = Mask(value.bits >> 31 != 0, value.known)
    if name == "SFPIADD":
        holds = state.enabled if mode & 4 else negative
    elif name == "SFPEXEXP":
        holds = negative if mode & 2 else state.enabled
    elif name == "SFPLZ":
        some = Mask(value.bits != 32, value.known)
        holds = some if mode & 2 else state.enabled
    else:
        return
    holds = complement_mask(holds) if mode & 8 else holds
    on = state.lanes
    state.enabled = unite_masks(intersect_masks(holds, on), intersect_masks(state.enabled, complement_mask(on)))


def unsupported_error(what: str) -> PolyloomError:
    """For what the state does not have."""
    help = "it knows instructions of the vector unit, INCRWC, SETRWC, SETC16 and REPLAY"
    return input_error("PL1244", f"the interpreter of vector kernels does not model {what}", help=help)
