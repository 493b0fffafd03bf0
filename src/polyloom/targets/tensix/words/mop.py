# SPDX-License-Identifier: Apache-2.0
"""MOP expansion, where the words of a file say how the expander is configured.

A core configures it by stores to nine words at 0xFFB80000. Constant propagation through `lui`, `addi` and `sw` follows
values and addresses along code into which nothing jumps; a store by an address that is not found so is none of these. A
slot that the whole file gives one value only has it everywhere; one that is given several has the last of them up to
the next call or label. Templates: ISA documentation, page of `MOP` and the MOP expander; encodings of RISC-V:
unprivileged manual, base instruction formats.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.targets.tensix.words.decode import Decoded
from polyloom.targets.tensix.words.program import Item
from polyloom.twos_complement import sign_extend

Slots = tuple[int | None, ...]
"""The nine words of configuration; None is not known."""
Written = tuple[int, int | None]
"""A slot, and what is stored to it."""
SLOTS: Final = 9
# Write-only registers, seen by the T core that owns the expander.
_FIRST: Final = 0xFFB80000
_NOP: Final = 0x02
_MOST: Final = 36
"""Repetitions that are made: no rule looks further back."""
_LUI, _OP_IMM, _STORE, _BRANCH, _JALR, _JAL, _SYSTEM = 0x37, 0x13, 0x23, 0x63, 0x67, 0x6F, 0x73
_LEAVES: Final = (_JALR, _JAL, _SYSTEM)
_WORD: Final = 0xFFFFFFFF
_IMMEDIATE: Final = 12
"""Bits of immediates of I-, S- and B-type (RISC-V unprivileged manual, immediate encoding variants)."""


def attach_mop_configuration(items: Sequence[Item], labels: Mapping[int, str]) -> list[Item]:
    """The same items; each Tensix word knows the MOP configuration at its place, if anything configures the
    expander."""
    entered = {*labels, *_jump_targets(items)}
    stores = dict(_configuration_stores(items, entered))
    if not stores:
        return list(items)
    now = once = _constant_slots(stores.values())
    made: list[Item] = []
    for at, item in enumerate(items):
        # Another path may join here with other values: only what the whole file agrees on is left.
        if item.address in entered or _leaves_block(item):
            now = once
        if at in stores:
            slot, value = stores[at]
            now = (*now[:slot], value, *now[slot + 1 :])
        made.append(replace(item, mop=now) if item.is_tensix else item)
    return made


def _constant_slots(stores: Iterable[Written]) -> Slots:
    """Slots that have one value wherever they are written."""
    values: list[set[int | None]] = [set() for _ in range(SLOTS)]
    for slot, value in stores:
        values[slot].add(value)
    return tuple(each.pop() if len(each) == 1 else None for each in values)


def _leaves_block(item: Item) -> bool:
    return not item.is_tensix and item.word & 0x7F in _LEAVES


def _jump_targets(items: Sequence[Item]) -> Iterator[int]:
    """Targets of branches and `jal`, from the B and J immediates (RISC-V unprivileged manual, immediate encoding
    variants).
    """
    for item in items:
        word = item.word
        if item.is_tensix:
            continue
        if word & 0x7F == _BRANCH:
            low = word >> 31 << 11 | (word >> 7 & 1) << 10 | (word >> 25 & 63) << 4 | word >> 8 & 15
            yield item.address + 2 * sign_extend(low, _IMMEDIATE) & _WORD
        elif word & 0x7F == _JAL:
            low = (word >> 12 & 255) << 11 | (word >> 20 & 1) << 10 | word >> 21 & 0x3FF
            yield item.address + 2 * (low - (word >> 31 << 19)) & _WORD


def _configuration_stores(items: Sequence[Item], entered: Collection[int]) -> Iterator[tuple[int, Written]]:
    """Constant propagation to the stores into the configuration, by their place among the items."""
    # x0 is always zero; nothing else is known at entry.
    known: dict[int, int] = {0: 0}
    for at, item in enumerate(items):
        if item.address in entered:
            known = {0: 0}
        if item.is_tensix:
            continue
        word, source, target = item.word, item.word >> 15 & 31, item.word >> 7 & 31
        kind = word & 0x7F
        if kind == _STORE:
            slot = _slot_index(word, known.get(source))
            if slot is not None:
                # A store that is no `sw` writes part of a word, whose value is not followed.
                yield at, (slot, known.get(word >> 20 & 31) if word >> 12 & 7 == 2 else None)
        elif kind in _LEAVES:
            known = {0: 0}
        elif kind == _LUI:
            known[target] = word & 0xFFFFF000
        elif kind == _OP_IMM and word >> 12 & 7 == 0 and source in known:
            known[target] = known[source] + sign_extend(word >> 20, _IMMEDIATE) & _WORD
        # Any other instruction may write its destination; branches have no destination field.
        elif kind != _BRANCH:
            known.pop(target, None)
        known[0] = 0


def _slot_index(word: int, base: int | None) -> int | None:
    if base is None:
        return None
    offset = base + sign_extend(word >> 25 << 5 | word >> 7 & 31, _IMMEDIATE) - _FIRST & _WORD
    return offset // 4 if offset < 4 * SLOTS else None


def expand_mop(mop: Decoded, slots: Slots, mask_high: int | None) -> list[int] | None:
    """Words of an expansion; of many repetitions only the first ones and the last. None where something is not
    known."""
    # The template is bit 23 of the MOP word: 1 is the nested loop, 0 the masked unpack.
    words = list(_expand_template_1(slots) if mop.values["mop_type"] else _expand_template_0(mop, slots, mask_high))
    return None if None in words else [word for word in words if word is not None]


def _is_nop(word: int) -> bool:
    return word >> 24 == _NOP


def _expand_template_0(mop: Decoded, slots: Slots, mask_high: int | None) -> Iterator[int | None]:
    """MOP template 0: A0 [A1 A2 A3] [B], or where the mask has a bit SkipA0 [SkipB] (ISA documentation, page of
    `MOP`)."""
    _, flags, b, *rest = slots
    count = mop.values["loop_count"] + 1
    # The lower 16 bits of the mask are in the word itself and suffice for up to 16 steps.
    if flags is None or (mask_high is None and count > 16):
        yield None
        return
    mask = (mask_high or 0) << 16 | mop.values["zmask_lo16"]
    # Beyond 32 steps the mask is used up and every step is the same.
    for at in range(min(count, 32 + _MOST)):
        if mask >> at & 1:
            yield rest[4]
            yield from (rest[5],) if flags & 1 else ()
        else:
            yield rest[0]
            yield from rest[1:4] if flags & 2 else ()
            yield from (b,) if flags & 1 else ()


def _expand_template_1(slots: Slots) -> Iterator[int | None]:
    """MOP template 1: [Start], inner steps of Loop0, or Loop0 and Loop1 in turn, of which the last is replaced, [End0,
    [End1]] (ISA documentation, page of `MOP`).
    """
    outer, inner, start, end0, end1, loop0, loop1, last, inner_last = slots
    # Whether a step exists depends on these words, so that without one of them not even the length is known.
    if outer is None or inner is None or start is None or end0 is None or end1 is None or loop1 is None:
        yield None
        return
    outer, inner = outer & 0x7F, inner & 0x7F
    if outer == 1 and _is_nop(start) and not inner and not _is_nop(end0):
        outer += 128  # the machine's bug
    loops = (loop0,) if _is_nop(loop1) else (loop0, loop1)
    # No rule looks further back than its window, so the middle of a long loop adds nothing.
    steps = min(inner * len(loops), _MOST * len(loops))
    passes = [*range(min(outer, _MOST) - 1), outer - 1] if outer else []
    for at in passes:
        yield from () if _is_nop(start) else (start,)
        yield from (loops[step % len(loops)] for step in range(steps - 1))
        if steps:
            yield last if at == outer - 1 else inner_last
        if not _is_nop(end0):
            yield end0
            yield from () if _is_nop(end1) else (end1,)
