# SPDX-License-Identifier: Apache-2.0
"""Instruction encoder: a program as words (docs/formats.md, Belt words): one encoding per program, unused bits 0.

The code is a row of 64-bit little-endian words: the number of routines, then for each one a word of counts, its types,
and its bundles. A bundle is a header and its operations in the order of their slots, each followed by the words of its
list or literal. What a word cannot hold is refused with PL1004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import pack

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.targets.belt.isa import LANED, MANY, NUMBERS, OPS, Op, predicate_count, states_width
from polyloom.targets.belt.machine import KINDS
from polyloom.targets.belt.value_types import BYTES, Type
from polyloom.targets.belt.words import fields as w
from polyloom.targets.belt.words.program import (
    NONE,
    Belt,
    Bundle,
    Immediate,
    Issue,
    Operand,
    Program,
    Routine,
    sort_by_slot,
)


def encode(program: Program) -> bytes:
    """Encode a program to its code words, as bytes."""
    numbers = {routine.name: n for n, routine in enumerate(program.routines)}
    found = [len(program.routines)]
    for routine in program.routines:
        found += _routine(routine, numbers)
    return pack(f"<{len(found)}Q", *found)


def _routine(routine: Routine, numbers: Mapping[str, int]) -> list[int]:
    """Words of a routine: counts, types, bundles."""
    # A pass is stored at its last bundle, as the way back: the header has one such field, so one pass ends there.
    backs = {first + bundles - 1: bundles for first, bundles in routine.loops}
    if len(backs) != len(routine.loops) or any(n >= len(routine.bundles) for n in backs):
        raise _field_error(routine.name, 0, "", "loops end in the same bundle, or after the last one")
    body: list[int] = []
    for n, bundle in enumerate(routine.bundles):
        body += _bundle(bundle, backs.get(n, 0), numbers, (routine.name, n))
    # Fields of the head: (first bit, bits), as in docs/formats.md.
    counts = {
        (0, 32): len(body),
        (32, 16): len(routine.bundles),
        (48, 8): len(routine.parameters),
        (56, 8): len(routine.results),
    }
    head = sum(
        w.put_field(_fit(value, 0, 1 << bits, "its size", (routine.name, 0, "")), (at, bits))
        for (at, bits), value in counts.items()
    )
    types = [_type_byte(t) for t in (*routine.parameters, *routine.results)]
    return [head, *_pack_items(types), *body]


def _type_byte(t: Type) -> int:
    """Byte of a type: its width in the low four bits, the logarithm of its lanes above."""
    return w.WIDTHS.index(t.width) | (t.lanes.bit_length() - 1) << 4


def _pack_items(items: Sequence[int]) -> list[int]:
    """List items as bytes, eight per word, the first one lowest."""
    rows = [items[n : n + w.ITEMS] for n in range(0, len(items), w.ITEMS)]
    return [sum(item << 8 * k for k, item in enumerate(row)) for row in rows]


def _bundle(bundle: Bundle, back: int, numbers: Mapping[str, int], where: tuple[str, int]) -> list[int]:
    """Words of a bundle: its header, then its operations in the order of slots (docs/formats.md, Belt words)."""
    body: list[int] = []
    issues, _ = sort_by_slot(bundle)
    for issue in issues:
        body += issue_words(issue, numbers, where)
    header = {
        "ops": len(issues),
        "drops": bundle.drops,
        "rotate": int(bundle.rotate),
        "back": back,
        "words": len(body),
    }
    place = (*where, "")
    return [sum(w.put_field(_fit(v, 0, 1 << w.HEADER[k][1], k, place), w.HEADER[k]) for k, v in header.items()), *body]


def issue_words(issue: Issue, numbers: Mapping[str, int], where: tuple[str, int]) -> list[int]:
    """Words of an operation: its own, and those of its list or literal. `numbers` are those of the routines; `where` is
    for messages: routine and bundle."""
    op, place = OPS[issue.name], (*where, f"{issue.slot} {issue.name}")
    layout = w.layout(op)
    # A predicate is an operand with a field of its own; what follows it is the list.
    kept = predicate_count(op) if op.operands[1] == MANY else len(issue.operands)
    plain, items = issue.operands[:kept], issue.operands[kept:]
    _check_form(issue, op, plain, place)
    fields = {
        "number": NUMBERS[issue.name],
        "kind": KINDS.index(issue.slot.kind),
        "slot": issue.slot.number,
        "width": w.WIDTHS.index(issue.width),
        "lanes": issue.lanes.bit_length() - 1,
        "count": len(plain),
        **{name: _position(o, place) for name, o in zip("abc", plain, strict=False) if isinstance(o, Belt)},
    }
    more: list[int] = []
    if layout == "plain" and plain and isinstance(plain[-1], Immediate):
        # An immediate is in a field of its own, so that a position and a constant cannot be mistaken for one another.
        fields |= {"immediate": 1, "value": _fit(plain[-1].value, -128, 128, "the immediate", place) & 0xFF}
    elif layout == "memory":
        offset = _fit(issue.offset, -2048, 2048, "the offset", place) & 0xFFF
        fields |= {"scale": w.SCALES.index(issue.scale), "delay": issue.delay, "offset": offset}
    elif layout == "scratch":
        fields["offset"] = issue.offset
    elif layout == "frames":
        fields |= {"offset": issue.offset, "frame": issue.frame, "frames": issue.frames}
    elif layout == "con":
        more = _literal_words(_fit(issue.literal, 0, 1 << 8 * BYTES[issue.width or "q"], "the literal", place))
        fields |= {"count": len(more), "literal": 0 if more else issue.literal}
    elif layout == "control":
        # One field names a routine of a call or a bundle of a transfer, never both.
        target = numbers[issue.callee] if op.unit == "control" and issue.callee else issue.target
        fields |= {"items": len(items), "target": target}
        more = _pack_items([_item(o, place) for o in items])
    layouts = {**w.COMMON, **w.LAYOUTS[layout]}
    return [
        sum(
            w.put_field(_fit(v, 0, 1 << layouts[k][1], f"the field {k}", place), layouts[k]) for k, v in fields.items()
        ),
        *more,
    ]


def _literal_words(literal: int) -> list[int]:
    """Words of a literal, low one first; none where the operation's own word holds it (the shortest form is the only
    one)."""
    if literal < 1 << 32:
        return []
    return [literal] if literal < 1 << 64 else [literal & (1 << 64) - 1, literal >> 64]


def _check_form(issue: Issue, op: Op, plain: tuple[Operand, ...], place: tuple[str, int, str]) -> None:
    """Check that an operation has one encoding: fields that it does not have are at their defaults. Error PL1004."""
    least, most = op.operands
    layout = w.layout(op)
    call = op.name in ("call", "calltr")
    wrong = {
        "a number of operands that it does not take": len(plain) < least or (most != MANY and len(plain) > most),
        "an immediate that is not its last operand, or that it does not take": any(
            isinstance(o, Immediate) and not (op.immediate and n == len(plain) - 1)
            for n, o in enumerate(issue.operands)
        ),
        "no width, which it states": states_width(op) and issue.width is None,
        "a width, which its operands tell": not states_width(op) and issue.width is not None,
        "lanes that are no power of two, or that it does not state": issue.lanes & (issue.lanes - 1) != 0
        or issue.lanes < 1
        or (issue.lanes != 1 and op.name not in LANED),
        "an offset that it does not have": issue.offset != 0 and layout not in ("memory", "scratch", "frames"),
        "frames that it does not have, or that it does not allocate": (issue.frame != 0) != (issue.frames != 0)
        or (issue.frame != 0 and layout != "frames")
        # Frames lie at the end of what is allocated, so that they cannot be larger.
        or (layout == "frames" and issue.frame * issue.frames > issue.offset),
        "a scale that it does not have": issue.scale not in w.SCALES or (issue.scale != 0 and layout != "memory"),
        "an index without a scale, or a scale without an index": layout == "memory"
        and (len(plain) == most) != (issue.scale != 0),
        "a delay, or none": (issue.delay != 0) != (op.latency == "load"),
        "a literal that it does not have": issue.literal != 0 and layout != "con",
        "a target that it does not have": issue.target != 0
        and (layout != "control" or call or op.name in ("retn", "conform")),
        "a callee, or none": (issue.callee != "") != call,
    }
    for what, is_wrong in wrong.items():
        if is_wrong:
            raise _field_error(*place, f"it has {what}")


def _position(operand: Belt, place: tuple[str, int, str]) -> int:
    """Belt position as a field of 6 bits; PL1004."""
    if operand.width is not None:
        raise _field_error(*place, "an operand outside of a list has no width of its own")
    return _fit(operand.position, 0, 63, "a position", place)


def _item(operand: Operand, place: tuple[str, int, str]) -> int:
    """List item: a position, or a None with its width, which has no producer that could tell it."""
    assert isinstance(operand, Belt)
    if operand.position == NONE:
        return w.NONE_ITEM + w.WIDTHS.index(operand.width)
    return _position(operand, place)


def _fit(value: int, low: int, high: int, what: str, place: tuple[str, int, str]) -> int:
    if low <= value < high:
        return value
    raise _field_error(*place, f"{what} is {value}, but a word holds {low} to {high - 1}")


def _field_error(routine: str, bundle: int, issue: str, message: str) -> PolyloomError:
    where = f"{routine}, bundle {bundle}{f', {issue}' if issue else ''}"
    return infeasible("PL1004", f"{where}: {message}", help="split the function, or take a member with a longer belt")
