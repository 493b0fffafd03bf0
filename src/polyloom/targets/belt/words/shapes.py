# SPDX-License-Identifier: Apache-2.0
"""Static types of operands, known without running: width, lanes, and whether they are None.

`results` says it of an operation's results, from its words and what is known of its operands: the transfer functions of
an abstract interpretation (Cousot and Cousot 1977) whose steps `walk` makes. A None that stands for a missing result
has no width, and neither has what is computed of such ones alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from polyloom.targets.belt.isa import LANED, OPS, Op
from polyloom.targets.belt.value_types import BYTES, Type, Width
from polyloom.targets.belt.words.program import Issue

Data = Literal["none", "some", "maybe"]
"""Surely None, surely not (in no lane), or not known."""
_WIDTHS: Final[tuple[Width, ...]] = tuple(BYTES)


class Item(NamedTuple):
    """Abstract operand on the belt, or under way to it. `tag` tells operands apart where somebody asks for it."""

    width: Width | None
    lanes: int
    data: Data
    tag: tuple[int, ...] = ()


# Reductions over lanes: one lane results, however many there were.
_SCALAR: Final = frozenset({"extract", "any", "all"})
NOTHING: Final = Item(None, 1, "none")
IMMEDIATE: Final = Item(None, 1, "some")


def make_item(type: Type, data: Data) -> Item:
    return Item(type.width, type.lanes, data)


def results(issue: Issue, operands: Sequence[Item]) -> tuple[Item, ...]:
    """Abstract results of an operation other than a call."""
    op, data = OPS[issue.name], _data(issue.name, operands)
    width, lanes = _width(op, issue, operands), _lanes(op, issue, operands)
    # A None without a width computes another one; what states its own lanes or width is known nevertheless.
    if op.name not in LANED | _SCALAR and all(item.width is None for item in operands):
        width, lanes = None, 1
    if op.results < 2:
        return (Item(width, lanes, data),) if op.results else ()
    # The second result of a smear tells whether any lane is true: one lane, whatever the vector has.
    other = Item("b", 1, data) if op.latency == "smear" else Item(width, lanes, data)
    return Item(width, lanes, data), other


def _width(op: Op, issue: Issue, operands: Sequence[Item]) -> Width | None:
    """Width of a result: stated, that of a comparison, twice that of the operands, or theirs."""
    if op.name in ("loads", "loadu"):
        return "w"
    if op.width == "=":
        return issue.width
    if op.width == "b" or op.latency == "smear":
        return "b"
    # A pick's condition is a b and says nothing of the arms.
    of = operands[1:] if op.name == "pick" else operands
    widths: list[Width] = [item.width for item in of if item.width is not None]
    known = widths[0] if widths else issue.width
    if op.width == "2" and known is not None:
        return _WIDTHS[min(_WIDTHS.index(known) + 1, len(_WIDTHS) - 1)]
    return known


def _lanes(op: Op, issue: Issue, operands: Sequence[Item]) -> int:
    """Lanes of a result: stated, one for reductions, else those of the widest operand."""
    if op.name in LANED:
        return issue.lanes
    if op.name in _SCALAR:
        return 1
    most = max((item.lanes for item in operands), default=1)
    if op.latency != "widenv":
        return most
    return most * 2 if op.name == "narrowv" else max(most // 2, 1)


def _data(name: str, operands: Sequence[Item]) -> Data:
    """Whether a result is None, by docs/targets/belt.md, Values and faults."""
    known: list[Data] = [item.data for item in operands]
    # A frame holds None until something was spilled there: scratch is not followed.
    if name in ("fill", "fillx"):
        return "maybe"
    if name == "pick":
        return _pick_data(known)
    if name == "recur":
        return "some" if "some" in known else "none" if known == ["none", "none"] else "maybe"
    if all(data == "some" for data in known):
        return "some"
    # An injected None is one lane of the result, not all of it.
    strict = OPS[name].strict and name != "inject"
    return "none" if "none" in known and (strict or OPS[name].latency == "load") else "maybe"


def _pick_data(known: Sequence[Data]) -> Data:
    """Whether a pick's result is None: without a second arm it is None as soon as the condition is false."""
    condition, *arms = known
    if condition == "none" or all(arm == "none" for arm in arms):
        return "none"
    return "some" if len(arms) == 2 and all(data == "some" for data in known) else "maybe"


def clashes(issue: Issue, operands: Sequence[Item]) -> Iterator[str]:
    """Widths that do not fit what the operation's word states, or each other."""
    op = OPS[issue.name]
    stated = op.latency in ("shift", "mul") or op.unit == "spill"
    first = operands[0] if operands else NOTHING
    if stated and first.width not in (None, issue.width):
        yield f"it states the width {issue.width}, but its operand has {first.width}"
    if op.unit == "spill" and first.width is not None and first.lanes != issue.lanes:
        yield f"it states {issue.lanes} lanes, but its operand has {first.lanes}"
    if op.unit in ("alu", "mul", "fp", "div") and len(operands) > 1 and op.name != "remaining":
        widths = {item.width for item in operands if item.width is not None}
        if len(widths) > 1:
            yield f"its operands have the widths {', '.join(sorted(widths, key=_WIDTHS.index))}"
