# SPDX-License-Identifier: Apache-2.0
"""Which accesses to memory may meet, and after how many iterations: the order that a schedule keeps.

Accesses through distinct objects never meet: data of the program, arrays that are passed, of which one is `restrict`
or all are known to be distinct. Of one object, affine addresses meet after an exact number of iterations; of the first
such number the later ones follow. All others may meet in the same iteration and in the next. A call orders what its
function may do; volatile accesses stay in the order of the program, in loops that are not pipelined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from polyloom.targets.belt.front.affine import ITERATION, Form, Forms, by_iteration, signed
from polyloom.targets.belt.ir import BYTES, Block, Function, Loop, Module, Op, Operand, Order, Value
from polyloom.targets.belt.ir_verify import edges

_ANY: Final = "?"
_LOADS: Final = ("load", "loads", "loadu")
_UNKNOWN: Final = -1
Effect = Literal["", "reads", "writes"]


@dataclass(frozen=True, slots=True)
class Arrays:
    """What is known of a function's arguments: names of pointers among its parameters, and of those that nothing else
    reaches the memory of; values of other origins that are pointers; whether arguments come from outside of the
    program, and so are none of its data."""

    pointers: frozenset[str]
    alone: frozenset[str]
    others: frozenset[str]
    outside: bool


def ordered(module: Module, arrays: dict[str, Arrays]) -> Module:
    """The module with the order of all blocks and loops; by function what is known of its arrays."""
    effects = _effects(module)
    functions = tuple(_ordered(f, arrays[f.name], effects) for f in module.functions)
    return replace(module, functions=functions)


def _ordered(function: Function, arrays: Arrays, effects: dict[str, Effect]) -> Function:
    forms, roots = Forms(function), _Roots(function, arrays)
    made: list[Block | Loop] = []
    for block in function.blocks:
        found = tuple(_pairs(function, block, forms, roots, effects))
        if isinstance(block, Loop) and any(op.volatile for op in block.ops):
            made.append(replace(block, order=found, reason=block.reason or "volatile access"))
        else:
            made.append(replace(block, order=found))
    return replace(function, blocks=tuple(made))


def _effects(module: Module) -> dict[str, Effect]:
    """What a call of each function may do; callees come after their callers or not, so to a fixpoint."""
    found: dict[str, Effect] = {function.name: "" for function in module.functions}
    while True:
        new: dict[str, Effect] = {
            f.name: _effect([op for b in f.blocks for op in b.ops], found) for f in module.functions
        }
        if new == found:
            return found
        found = new


def _effect(ops: Sequence[Op], known: dict[str, Effect]) -> Effect:
    kinds = {_kind(op, known) for op in ops}
    return "writes" if "writes" in kinds else "reads" if "reads" in kinds else ""


def _kind(op: Op, effects: dict[str, Effect]) -> Effect:
    if op.callee:
        return effects[op.callee]
    return "writes" if op.name == "store" or op.volatile else "reads" if op.name in _LOADS else ""


def _pairs(
    function: Function, block: Block | Loop, forms: Forms, roots: _Roots, effects: dict[str, Effect]
) -> list[Order]:
    is_loop = isinstance(block, Loop)
    accesses = [(k, op, _kind(op, effects)) for k, op in enumerate(block.ops) if _kind(op, effects)]
    addresses: dict[int, Form] = {}
    for k, op, _ in accesses:
        if not op.callee:
            address = forms.address(op)
            addresses[k] = by_iteration(address, block, function, forms) if is_loop else address
    varying = _varying(block)
    found: list[Order] = []
    for k, first, one in accesses:
        for m, second, other in accesses:
            if (k == m and not first.callee) or "writes" not in (one, other) or (not is_loop and k >= m):
                continue
            distance = _distance(k, m, first, second, addresses, roots, varying)
            if distance is not None:
                distance = (0 if k < m else 1) if distance == _UNKNOWN else distance
                found.append(Order(k, m, distance))
    return found


def _varying(block: Block | Loop) -> frozenset[str]:
    """Values that may differ from one iteration to the next."""
    if isinstance(block, Block):
        return frozenset()
    return frozenset((*(p.name for p in block.parameters), *(r.name for op in block.ops for r in op.results)))


def _distance(
    k: int,
    m: int,
    first: Op,
    second: Op,
    addresses: dict[int, Form],
    roots: _Roots,
    varying: frozenset[str],
) -> int | None:
    """The least number of iterations after which the second access may meet what the first one did; None: never."""
    if first.callee or second.callee or (first.volatile and second.volatile):
        return _UNKNOWN
    a, b = addresses[k], addresses[m]
    if roots.distinct(a, b):
        return None
    assert first.width is not None
    assert second.width is not None
    difference = b - a
    if any(atom != ITERATION and atom in varying for form in (a, b) for atom, _ in form.terms):
        same = not difference.terms and k < m
        apart = same and not _meets(difference.constant, first, second)
        return (1 if apart else 0) if k < m else 1
    if difference.terms:
        return _UNKNOWN
    return _first(k < m, a.coefficient(ITERATION), difference.constant, first, second)


def _meets(difference: int, first: Op, second: Op) -> bool:
    """Whether accesses at a difference of bytes share one."""
    assert first.width is not None
    assert second.width is not None
    lanes = (_lanes(first), _lanes(second))
    return -BYTES[second.width] * lanes[1] < signed(difference) < BYTES[first.width] * lanes[0]


def _lanes(op: Op) -> int:
    return op.results[0].type.lanes if op.results else op.operands[-1].type.lanes


def _first(forward: bool, stride: int, difference: int, first: Op, second: Op) -> int | None:
    """The least distance d >= 0, or 1, with stride * d + difference between the ends of the accesses."""
    start = 0 if forward else 1
    if stride == 0:
        return start if _meets(difference, first, second) else None
    assert first.width is not None
    assert second.width is not None
    low, high = -BYTES[second.width] * _lanes(second) - difference, BYTES[first.width] * _lanes(first) - difference
    if stride < 0:
        stride, low, high = -stride, -high, -low
    distance = max(start, low // stride + 1)
    return distance if stride * distance < high else None


class _Roots:
    """Which objects the addresses of a function may be of."""

    def __init__(self, function: Function, arrays: Arrays) -> None:
        self.arrays, self.forms = arrays, Forms(function)
        self.incoming: dict[str, list[Operand]] = {}
        blocks = {block.name: block for block in function.blocks}
        for block in function.blocks:
            for edge in edges(block):
                self._arrive(blocks[edge.target], edge.arguments)
            if isinstance(block, Loop):
                self._arrive(block, block.next)
        self.parameters = {p.name for p in function.blocks[0].parameters}
        self.known: dict[str, frozenset[str]] = {}

    def _arrive(self, block: Block | Loop, arguments: Sequence[Operand]) -> None:
        for parameter, argument in zip(block.parameters, arguments, strict=True):
            self.incoming.setdefault(parameter.name, []).append(argument)

    def distinct(self, a: Form, b: Form) -> bool:
        first, second = self._of(a), self._of(b)
        if not first or not second or _ANY in first or _ANY in second:
            return False
        return all(self._apart(one, other) for one in first for other in second)

    def _apart(self, one: str, other: str) -> bool:
        if one == other:
            return False
        data = (one[0] == "@") + (other[0] == "@")
        apart = data == 2 or (data == 1 and self.arrays.outside)
        return apart or one in self.arrays.alone or other in self.arrays.alone

    def _of(self, form: Form) -> frozenset[str]:
        return frozenset[str]().union(*(self._atom(atom, set()) for atom, _ in form.terms))

    def _atom(self, atom: str, path: set[str]) -> frozenset[str]:
        if atom[:1] == "@" or atom in self.arrays.pointers:
            return frozenset({atom})
        if atom in self.arrays.others and atom not in self.incoming:
            return frozenset({_ANY})
        if atom not in self.incoming or atom in path or atom in self.parameters:
            return frozenset()
        path.add(atom)
        found: set[str] = set()
        for argument in self.incoming[atom]:
            form = self.forms.of(argument)
            for inner, _ in form.terms:
                if isinstance(argument, Value) and inner == atom:
                    continue
                found |= self._atom(inner, path)
        return frozenset(found)


class Meeting:
    """Whether accesses of a function may be of one object, at any time."""

    def __init__(self, function: Function, arrays: Arrays) -> None:
        self.forms, self.roots = Forms(function), _Roots(function, arrays)

    def may(self, one: Op, other: Op) -> bool:
        if one.callee or other.callee:
            return True
        return not self.roots.distinct(self.forms.address(one), self.forms.address(other))
