# SPDX-License-Identifier: Apache-2.0
"""What makes a whole-array program well formed, as a list of rules: names, ranks, types, and shapes for all sizes.

Extents are equal as affine forms. That elements are inside of their arrays is checked of the nest
(`analysis.nest_check`), where loops have domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from polyloom.diagnostics import INTERNAL, Diagnostic, Span, enforce
from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Contract,
    For,
    Form,
    Gather,
    If,
    Program,
    Read,
    Reduce,
    Scan,
    Shape,
    Statement,
    Store,
    Value,
    View,
    dtype,
    label_extents,
    parts,
    shape,
)
from polyloom.ir.arrays.quotients import quotient
from polyloom.ir.operations import BY_NAME, INTEGERS
from polyloom.sets import Affine

Rule = Callable[[Program], Iterator[Diagnostic]]


def verify(program: Program) -> None:
    """Raise every violation of the first rule that is violated (PL0977)."""
    enforce(RULES, program)


def _wrong(message: str, span: Span | None) -> Diagnostic:
    return Diagnostic("PL0977", message, INTERNAL, span=span)


def _places(statements: Sequence[Statement], loops: frozenset[str]) -> Iterator[tuple[Statement, frozenset[str]]]:
    for statement in statements:
        yield statement, loops
        match statement:
            case For(loop=loop, body=body):
                yield from _places(body, loops | {loop})
            case If(body=body, orelse=orelse):
                yield from _places((*body, *orelse), loops)
            case Store():
                pass


def _values(program: Program) -> Iterator[tuple[Value, frozenset[str]]]:
    """Every value in every value, with the loops around it."""
    for statement, loops in _places(program.body, frozenset()):
        waiting: list[Value] = [statement.target, statement.value] if isinstance(statement, Store) else []
        while waiting:
            value = waiting.pop()
            yield value, loops
            waiting.extend(parts(value))


def names_are_unique(program: Program) -> Iterator[Diagnostic]:
    loops = [s.loop for s, _ in _places(program.body, frozenset()) if isinstance(s, For)]
    seen = set[str]()
    for name in (*program.parameters, *(s.name for s in program.storage), *loops):
        if name in seen:
            yield _wrong(f"`{name}` is defined twice", program.span)
        seen.add(name)


def arrays_are_known(program: Program) -> Iterator[Diagnostic]:
    known = {s.name: s for s in program.storage}
    for value, _ in _values(program):
        if not isinstance(value, Read):
            continue
        storage = known.get(value.name)
        if storage is None:
            yield _wrong(f"unknown array `{value.name}`", value.span)
        elif len(value.index) != len(storage.shape):
            yield _wrong(
                f"`{value.name}` has {len(storage.shape)} dimensions, and {len(value.index)} indices", value.span
            )
        elif value.dtype != storage.dtype:
            yield _wrong(f"`{value.name}` is {storage.dtype}, and is read as {value.dtype}", value.span)


def labels_are_known(program: Program) -> Iterator[Diagnostic]:
    for value, _ in _values(program):
        if isinstance(value, Contract) and (
            len(set(value.result)) != len(value.result)
            or not set(value.result) <= {*"".join(value.labels)}
            or len(value.labels) != len(value.operands)
        ):
            yield _wrong(f"a contraction of {','.join(value.labels)} gives the axes {value.result}", value.span)


def symbols_are_known(program: Program) -> Iterator[Diagnostic]:
    parameters = frozenset(program.parameters)
    for value, loops in _values(program):
        known = parameters | loops
        extents = shape(value)
        yield from _unknown(extents, known, value.span)
        forms = value.index if isinstance(value, Read | View) else (value.value,) if isinstance(value, Form) else ()
        yield from _unknown(forms, known | {f"${n}" for n in range(len(extents))}, value.span)
    for statement, loops in _places(program.body, frozenset()):
        if isinstance(statement, For):
            yield from _unknown((*statement.lower, *statement.upper), parameters | loops, statement.span)


def _unknown(forms: Sequence[Affine], known: frozenset[str], span: Span | None) -> Iterator[Diagnostic]:
    for form in forms:
        for name in sorted(form.symbols - known):
            inner = quotient(Affine.symbol(name))
            if inner is None or not inner.length.symbols <= known:
                yield _wrong(f"`{name}` is neither an axis, a loop nor a parameter", span)


def shapes_agree(program: Program) -> Iterator[Diagnostic]:
    for value, _ in _values(program):
        match value:
            case Apply(operation=operation, operands=operands):
                yield from _check_equal_shapes(operation, [shape(o) for o in operands if shape(o)], value.span)
            case Contract():
                yield from _labels(value)
            case Reduce(operation=operation, axes=axes, source=source):
                if not set(axes) <= set(range(len(shape(source)))) or len(set(axes)) != len(axes):
                    yield _wrong(f"{operation} runs along axes {axes} of {len(shape(source))}", value.span)
            case Scan(axis=axis, source=source):
                if axis not in range(len(shape(source))):
                    yield _wrong(f"a scan along axis {axis} of {len(shape(source))}", value.span)
            case View(source=source, index=index):
                if len(index) != len(shape(source)):
                    yield _wrong(f"a view with {len(index)} indices of {len(shape(source))} axes", value.span)
            case Gather(axis=axis, source=source):
                if axis not in range(len(shape(source))):
                    yield _wrong(f"a gather along axis {axis} of {len(shape(source))}", value.span)
            case Cases(inside=inside, outside=outside, shape=extents):
                yield from _check_equal_shapes(
                    "cases", [extents, *(s for s in (shape(inside), shape(outside)) if s)], value.span
                )
            case _:
                pass
    for statement, _ in _places(program.body, frozenset()):
        if isinstance(statement, Store):
            given = [s for s in (shape(statement.value),) if s]
            yield from _check_equal_shapes("a store", [statement.target.shape, *given], statement.span)


def _check_equal_shapes(what: str, shapes: Sequence[Shape], span: Span | None) -> Iterator[Diagnostic]:
    for a, b in pairwise(shapes):
        if a != b:
            yield _wrong(f"{what} joins the shapes {print_shape(a)} and {print_shape(b)}", span)


def _labels(value: Contract) -> Iterator[Diagnostic]:
    if any(len(names) != len(shape(operand)) for names, operand in zip(value.labels, value.operands, strict=True)):
        yield _wrong("a contraction names other axes than its operands have", value.span)
        return
    extents = label_extents(value.labels, value.operands)
    for names, operand in zip(value.labels, value.operands, strict=True):
        for label, extent in zip(names, shape(operand), strict=True):
            if extents[label] != extent:
                yield _wrong(f"a contraction joins the extents {extents[label]} and {extent}", value.span)


def print_shape(extents: Sequence[Affine]) -> str:
    """`(N, M + 1)`, and `(N,)`."""
    return f"({', '.join(map(str, extents))}{',' * (len(extents) == 1)})"


def types_agree(program: Program) -> Iterator[Diagnostic]:
    for value, _ in _values(program):
        match value:
            case Apply(operation=operation, dtype=of, operands=operands):
                known = BY_NAME.get(operation)
                if known is None or len(operands) != known.arity or not known.accepts_type(of):
                    yield _wrong(f"{operation} is no operation on {len(operands)} operands of {of}", value.span)
                    continue
                wanted = ["i32", of, of] if operation == "select" else [of] * len(operands)
                found = [dtype(operand) for operand in operands]
                if found != wanted:
                    yield _wrong(f"{operation} on {of} has operands of {', '.join(found)}", value.span)
            case Gather(index=index) if dtype(index) not in INTEGERS:
                yield _wrong(f"a gather has an index of {dtype(index)}", value.span)
            case Contract() | Cases() if len({dtype(part) for part in parts(value)}) > 1:
                yield _wrong(f"what is joined has the types {', '.join(map(dtype, parts(value)))}", value.span)
            case _:
                pass
    for statement, _ in _places(program.body, frozenset()):
        if isinstance(statement, Store) and dtype(statement.value) != statement.target.dtype:
            message = f"`{statement.target.name}` is {statement.target.dtype}, and {dtype(statement.value)} is stored"
            yield _wrong(message, statement.span)


def targets_are_writable(program: Program) -> Iterator[Diagnostic]:
    for statement, _ in _places(program.body, frozenset()):
        if isinstance(statement, Store) and not program[statement.target.name].writable:
            yield _wrong(f"`{statement.target.name}` is passed by value, and is stored to", statement.span)


RULES: tuple[Rule, ...] = (
    names_are_unique,
    arrays_are_known,
    labels_are_known,
    symbols_are_known,
    shapes_agree,
    types_agree,
    targets_are_writable,
)
