# SPDX-License-Identifier: Apache-2.0
"""Instruction decoder: words as a program, the inverse of `encode`; anything that the encoder does not write is PL1005,
at its byte (docs/formats.md, Belt words).

Every operation is encoded again and compared, so that unused bits, other orders of slots and longer forms are found
without a rule for each. What the words mean on a member is `verify`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import unpack

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.targets.belt.isa import MANY, ROWS, Op, predicate_count
from polyloom.targets.belt.machine import KINDS, Machine, Slot
from polyloom.targets.belt.value_types import BYTES, Type
from polyloom.targets.belt.words import fields as w
from polyloom.targets.belt.words.encode import encode, issue_words
from polyloom.targets.belt.words.program import NONE, Belt, Bundle, Immediate, Issue, Operand, Program, Routine
from polyloom.twos_complement import sign_extend

# Lanes are stored as their logarithm: 1 to 128 in three bits.
_VECTOR_BITS = 3
_TYPES: Mapping[int, Type] = {
    w.WIDTHS.index(width) | lanes << 4: Type(width, 1 << lanes) for width in BYTES for lanes in range(1 << _VECTOR_BITS)
}


@dataclass(slots=True)
class _Words:
    """Cursor over the words."""

    words: Sequence[int]
    at: int = 0

    def take(self, count: int = 1) -> Sequence[int]:
        if count > len(self.words) - self.at:
            raise self.wrong(f"{len(self.words) - self.at} of {count} words are there")
        self.at += count
        return self.words[self.at - count : self.at]

    def wrong(self, message: str, back: int = 0) -> PolyloomError:
        return _format_error(w.SIZE * (self.at - back), message)


def decode(data: bytes, machine: Machine, names: Sequence[str] = ()) -> Program:
    """Decode code words to a program; routines are called `names`, or `r0`, `r1`, ... Errors: PL1005."""
    if len(data) % w.SIZE:
        raise _format_error(len(data), "the code is no whole number of words")
    words = _Words(unpack(f"<{len(data) // w.SIZE}Q", data))
    (count,) = words.take()
    # A routine has at least one word: without this bound a hostile count would make names for hours.
    if not 0 < count <= len(words.words):
        raise words.wrong(f"{count} routines are announced", 1)
    if names and len(names) != count:
        raise words.wrong(f"there are {count} routines, but {len(names)} names", 1)
    called = tuple(names) or tuple(f"r{n}" for n in range(count))
    routines = tuple(_routine(words, name, called) for name in called)
    if words.at != len(words.words):
        raise words.wrong("words follow the last routine")
    program = Program(machine.name, machine.phasing, machine.description, routines)
    _check_canonical(data, encode(program))
    return program


def _check_canonical(data: bytes, again: bytes) -> None:
    """Check that the bytes are what the encoder writes; PL1005 at the first byte that differs."""
    if again != data:
        offset = next(
            (n for n, (a, b) in enumerate(zip(data, again, strict=False)) if a != b), min(len(data), len(again))
        )
        raise _format_error(offset, "not written in the one way that the format allows")


def _routine(words: _Words, name: str, called: Sequence[str]) -> Routine:
    """Decode a routine: its head of counts, types, bundles."""
    (head,) = words.take()
    size, count = w.get_field(head, (0, 32)), w.get_field(head, (32, 16))
    parameters, results = w.get_field(head, (48, 8)), w.get_field(head, (56, 8))
    types = [_type(words, item) for item in _items(words, parameters + results)]
    start, bundles, loops = words.at, list[Bundle](), list[tuple[int, int]]()
    for n in range(count):
        bundle, back = _bundle(words, called)
        bundles.append(bundle)
        # The model trusts no target: a pass may begin at the routine's first bundle, not before.
        if back > n + 1:
            raise words.wrong(f"bundle {n} goes {back} bundles back, before the routine")
        loops += [(n + 1 - back, back)] if back else []
    # Lengths follow from the headers, and must agree: code has one form.
    if words.at - start != size:
        raise words.wrong(f"the bundles of a routine have {words.at - start} words, its head says {size}")
    return Routine(name, tuple(bundles), tuple(loops), tuple(types[:parameters]), tuple(types[parameters:]))


def _type(words: _Words, item: int) -> Type:
    if item not in _TYPES:
        raise words.wrong(f"{item:#04x} is no type", 1)
    return _TYPES[item]


def _items(words: _Words, count: int) -> list[int]:
    rows = words.take(-(-count // w.ITEMS))
    return [row >> 8 * k & 0xFF for row in rows for k in range(w.ITEMS)][:count]


def _bundle(words: _Words, called: Sequence[str]) -> tuple[Bundle, int]:
    """Bundle, and the length of the loop pass that ends with it, or 0."""
    (head,) = words.take()
    fields = {name: w.get_field(head, field) for name, field in w.HEADER.items()}
    start = words.at
    issues = tuple(_issue(words, called) for _ in range(fields["ops"]))
    if words.at - start != fields["words"]:
        raise words.wrong(f"a bundle has {words.at - start} words, its header says {fields['words']}")
    if list(issues) != sorted(issues, key=lambda issue: issue.slot.order):
        raise words.wrong("the operations of a bundle are not in the order of their slots")
    return Bundle(issues, fields["drops"], bool(fields["rotate"])), fields["back"]


def _issue(words: _Words, called: Sequence[str]) -> Issue:
    """Operation of one word and those that follow it; PL1005 unless encoding it gives the same words."""
    (word,) = words.take()
    number, kind = w.get_field(word, w.COMMON["number"]), w.get_field(word, w.COMMON["kind"])
    if number >= len(ROWS) or kind >= len(KINDS) or w.get_field(word, w.COMMON["width"]) >= len(w.WIDTHS):
        raise words.wrong(f"{word:#018x} is no operation", 1)
    op, at = ROWS[number], words.at
    issue = _read_fields(words, word, op, called)
    numbers = {name: n for n, name in enumerate(called)}
    try:
        again = issue_words(issue, numbers, ("", 0))
    except PolyloomError as error:
        # The encoder's message names an empty routine and bundle 0 here: only its last part is of use.
        raise _format_error(
            w.SIZE * (at - 1), f"{op.name}: {error.diagnostics[0].message.rpartition(': ')[2]}"
        ) from None
    if tuple(again) != tuple(words.words[at - 1 : words.at]):
        raise _format_error(w.SIZE * (at - 1), f"{op.name} is not written in the one way that the format allows")
    return issue


def _read_fields(words: _Words, word: int, op: Op, called: Sequence[str]) -> Issue:
    """Operation by its fields, unchecked but for what would index outside of a table."""
    layout = w.layout(op)
    common = {name: w.get_field(word, field) for name, field in w.COMMON.items()}
    fields = {name: w.get_field(word, field) for name, field in w.LAYOUTS[layout].items()}
    if common["count"] > 3 or fields.get("scale", 0) >= len(w.SCALES):
        raise words.wrong(f"{op.name} with {common['count']} operands", 1)
    operands: tuple[Operand, ...] = ()
    if layout != "con":
        operands = tuple(Belt(fields[name]) for name in "abc"[: common["count"]] if name in fields)
    if fields.get("immediate"):
        operands = (*operands[:-1], Immediate(sign_extend(fields["value"], 8)))
    call = op.operands[1] == MANY and op.name in ("call", "calltr")
    if call and fields["target"] >= len(called):
        raise words.wrong(f"{op.name} names routine {fields['target']} of {len(called)}", 1)
    listed = tuple(_list_item(words, item) for item in _items(words, fields.get("items", 0)))
    if op.operands[1] == MANY and len(operands) != predicate_count(op):
        raise words.wrong(f"{op.name} with {len(operands)} predicates", 1)
    return Issue(
        op.name,
        Slot(KINDS[common["kind"]], common["slot"]),
        operands + listed,
        w.WIDTHS[common["width"]],
        1 << common["lanes"],
        w.SCALES[fields.get("scale", 0)],
        sign_extend(fields["offset"], 12) if layout == "memory" else fields.get("offset", 0),
        fields.get("delay", 0),
        _literal(words, common["count"], fields["literal"]) if layout == "con" else 0,
        0 if call else fields.get("target", 0),
        called[fields["target"]] if call else "",
        fields.get("frame", 0),
        fields.get("frames", 0),
    )


def _list_item(words: _Words, item: int) -> Belt:
    if item < 63:
        return Belt(item)
    if not w.NONE_ITEM <= item < w.NONE_ITEM + len(w.WIDTHS):
        raise words.wrong(f"{item:#04x} is no item of a list", 1)
    return Belt(NONE, w.WIDTHS[item - w.NONE_ITEM])


def _literal(words: _Words, count: int, inline: int) -> int:
    return sum(word << 64 * n for n, word in enumerate(words.take(count))) if count else inline


def _format_error(offset: int, message: str) -> PolyloomError:
    help = "compile the function again with this version"
    return input_error("PL1005", f"malformed code: byte {offset}: {message}", help=help)
