# SPDX-License-Identifier: Apache-2.0
"""The end of a loop: by a pointer where its counter is read by the test alone, and by the counter's next value where
the test reads the one before it, so that both need not be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.ir.ssa import Branch, Constant, Instruction, Operand, Value
from polyloom.transform.ssa.body import Body, Place
from polyloom.transform.ssa.counters import Count
from polyloom.transform.ssa.pointer_variables import Pointer, address_of_count


def compare_next_value(body: Body, place: Place, known: Sequence[Count]) -> None:
    """A test of a counter against a number becomes one of its next value."""
    test = _test(body, place)
    if test is None:
        return
    for a, b in (test.operands, test.operands[::-1]):
        count = next((count for count in known if count.variable == a), None)
        if count is not None and isinstance(b, Constant) and isinstance(count.step, Constant):
            following = Value(count.following, body.function.address)
            _replace(body, place, test, (following, body.number(b.value + count.step.value)))
            return


def compare_pointer(body: Body, place: Place, advanced: Sequence[tuple[Pointer, Value]]) -> None:
    """Linear function test replacement by a pointer (Cocke, Kennedy 1977). A pointer that is accessed in each iteration
    comes back to the same address only after it has run through all of the memory: it is where it ends exactly when the
    counter is.
    """
    test = _test(body, place)
    if test is None:
        return
    readers, scope, accessed = body.readers(), body.scope(place.members), _accessed_pointers(body, place)
    for pointer, following in advanced:
        count = pointer.family.count
        a, b = test.operands
        limit = b if isinstance(a, Value) and a.name == count.following else a
        ends = (
            any(isinstance(o, Value) and o.name == count.following for o in (a, b))
            and scope.stays(limit)
            and readers[test.results[0].name] == 1
        )
        # Read by its step, and the next value by the test and by the way back: nothing else keeps the counter.
        alone = readers[count.variable.name] == 1 and readers[count.following] == 2
        if ends and alone and following.name in accessed:
            end = address_of_count(body, place.entry, pointer.family, pointer.distance, limit)
            # Behind the pointer's step, which stands at the end of the block.
            _replace(body, place, test, (following, end))
            return


def _test(body: Body, place: Place) -> Instruction | None:
    """What the loop ends by, where the latch compares for equality."""
    latch = body.blocks[place.latch]
    if not isinstance(latch.terminator, Branch) or not isinstance(latch.terminator.condition, Value):
        return None
    condition = latch.terminator.condition
    test = next((i for i in latch.instructions if condition in i.results), None)
    return test if test is not None and test.operation in ("eq", "ne") else None


def _replace(body: Body, place: Place, test: Instruction, operands: tuple[Operand, Operand]) -> None:
    latch = body.blocks[place.latch]
    kept = tuple(i for i in latch.instructions if i is not test)
    body.blocks[place.latch] = replace(latch, instructions=(*kept, replace(test, operands=operands)))


def _accessed_pointers(body: Body, place: Place) -> set[str]:
    """The next values of the pointers through which the header or the latch loads or stores."""
    steps = {i.operands[0]: i.results[0].name for i in body.blocks[place.latch].instructions if i.operation == "offset"}
    found: set[str] = set()
    for k in (place.header, place.latch):
        made = {r: i for i in body.blocks[k].instructions if i.operation == "offset" for r in i.results}
        for i in body.blocks[k].instructions:
            if i.operation in ("load", "store"):
                at = i.operands[-1]
                inner = made.get(at) if isinstance(at, Value) else None
                found |= {steps[o] for o in (at, *(inner.operands[:1] if inner else ())) if o in steps}
    return found
