# SPDX-License-Identifier: Apache-2.0
"""Producer-consumer fusion: a local array that one later store reads once is computed where it is read.

Legal where nothing stores, in between, to what the producer reads. A reduction is no producer: it keeps its loops. Dead
locals go, too (Wolfe, High Performance Compilers for Parallel Computing, chapter 9; Darte, On the complexity of loop
fusion, 2000).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from polyloom.ir.arrays.program import (
    Cases,
    Contract,
    For,
    Gather,
    If,
    Program,
    Read,
    Reduce,
    Scan,
    Statement,
    Store,
    Value,
    axes,
    element_view,
    has_sum,
    parts,
    reads,
    shape,
    stores,
    with_parts,
)
from polyloom.transform.arrays.hoist import cost

_FEW = 3


def fuse_producers(program: Program) -> Program:
    """The program without locals that are read once, or that nothing reads."""
    locals_ = {s.name for s in program.storage if s.role == "local"}
    uses = Counter(read.name for store in stores(program.body) for read in reads(store.value))
    writes = Counter(store.target.name for store in stores(program.body))
    single = {name for name in locals_ if writes[name] == 1}
    body = _block(program.body, single, uses)
    while True:
        used = {read.name for store in stores(body) for read in reads(store.value)}
        dead = {store.target.name for store in stores(body)} & locals_ - used
        if not dead:
            break
        body = _remove_names(body, dead)
    storage = tuple(s for s in program.storage if s.role == "argument" or s.name in used or s.name in _targets(body))
    return replace(program, body=body, storage=storage)


def _targets(body: Sequence[Statement]) -> set[str]:
    return {store.target.name for store in stores(body)}


def _remove_names(body: Sequence[Statement], names: set[str]) -> tuple[Statement, ...]:
    found = list[Statement]()
    for statement in body:
        match statement:
            case Store(target=target) if target.name in names:
                pass
            case For(body=inner):
                found.append(replace(statement, body=_remove_names(inner, names)))
            case If(body=inner, orelse=orelse):
                found.append(replace(statement, body=_remove_names(inner, names), orelse=_remove_names(orelse, names)))
            case Store():
                found.append(statement)
    return tuple(found)


def _block(body: Sequence[Statement], single: set[str], uses: Counter[str]) -> tuple[Statement, ...]:
    """One block, in which `known` are the producers whose value is still that of their expression."""
    found, known = list[Statement](), dict[str, Value]()
    for statement in body:
        match statement:
            case Store(target=target, value=value):
                value = _substitute_values(value, known)
                found.append(replace(statement, value=value))
                known = {name: v for name, v in known.items() if target.name not in {r.name for r in reads(v)}}
                if (
                    target.name in single
                    and target.index == axes(len(target.shape))
                    and _fuses(value, uses[target.name])
                ):
                    known[target.name] = value
            case For(body=inner):
                found.append(replace(statement, body=_block(inner, single, uses)))
                known = _unchanged_values(known, _targets(inner))
            case If(body=inner, orelse=orelse):
                sides = _block(inner, single, uses), _block(orelse, single, uses)
                found.append(replace(statement, body=sides[0], orelse=sides[1]))
                known = _unchanged_values(known, _targets((*inner, *orelse)))
    return tuple(found)


def _unchanged_values(known: dict[str, Value], stored: set[str]) -> dict[str, Value]:
    return {name: v for name, v in known.items() if not stored & {r.name for r in reads(v)}}


def _fuses(value: Value, uses: int) -> bool:
    """Whether a producer is element-wise, and cheap where it is read several times."""
    # A sum in place of its name would be summed wherever the name stands.
    if has_sum(value):
        return False
    if _has_cases(value):
        return uses == 1
    return uses == 1 or (cost(value) <= _FEW and cost(value) * uses <= _FEW)


def _has_cases(value: Value) -> bool:
    return isinstance(value, Cases) or any(map(_has_cases, parts(value)))


def _substitute_values(value: Value, known: dict[str, Value]) -> Value:
    if isinstance(value, Read) and value.name in known:
        source = known[value.name]
        return element_view(source, value.index, value.shape, value.span) if shape(source) else source
    found = [_substitute_values(part, known) for part in parts(value)]
    if isinstance(value, Contract | Reduce | Scan | Gather):
        # These take their loops from the axes of an operand, which a number in its place does not have.
        sides = zip(parts(value), found, strict=True)
        found = [before if shape(before) and not shape(after) else after for before, after in sides]
    return with_parts(value, found)
