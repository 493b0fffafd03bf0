# SPDX-License-Identifier: Apache-2.0
"""MLIR printer of a whole-array program: a function of linalg on memrefs, which the MLIR front end reads back as an
equal program (MLIR language reference, dialect linalg).

Each store is one `linalg.generic` whose loops are the axes of the store, then what is summed; sums begin with a
`linalg.fill`. What linalg has no words for, as pieces, scans and parts of arrays, is left to `ir.nest_mlir`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import inf
from typing import Final

from polyloom.ir import nest
from polyloom.ir.arrays.materialize import materialize_reductions
from polyloom.ir.arrays.program import (
    Apply,
    Contract,
    For,
    Form,
    Program,
    Read,
    Reduce,
    Shape,
    Statement,
    Store,
    Value,
    axes,
    axis,
    dtype,
    element_view,
    label_extents,
    reads,
    shape,
    summed_labels,
)
from polyloom.ir.nest import Nest
from polyloom.ir.nest_mlir import Printer, affine_text, constant_text, mlir_type
from polyloom.ir.operations import FLOATS
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine

_IDENTITIES: Final = {"add": 0, "mul": 1, "maximum": -inf, "minimum": inf}


def print_linalg(program: Program) -> str | None:
    """The text of a program as a module of one function; None for one that is not printed so."""
    flat = materialize_reductions(program)
    found = [_structure(statement, flat) for statement in flat.body]
    structures = [each for each in found if each is not None]
    if len(structures) < len(found):
        return None
    around = Nest(flat.name, flat.parameters, flat.assumptions, flat.storage, (), flat.span)
    return _Printer(around, structures=structures).module()


@dataclass(frozen=True, slots=True)
class _Structure:
    """A structured operation: `term` over loops of some extents, of which the first ones are the target's; stored, or
    combined with the target's element by `operation`, after it is filled with `start`."""

    target: Read
    extents: Shape
    term: Value
    operation: str = ""
    start: Constant | None = None


def _structure(statement: Statement, program: Program) -> _Structure | None:
    """The operation that a statement is; None for another one."""
    found = _store_structure(statement) if isinstance(statement, Store) else _loop_structure(statement)
    if found is None or not _is_printable(found, program):
        return None
    return found


def _store_structure(store: Store) -> _Structure | None:
    target, value = store.target, store.value
    match value:
        case Reduce(operation=operation, axes=reduced, source=source) if operation in _IDENTITIES:
            kept = [n for n in range(len(shape(source))) if n not in reduced]
            order = [*kept, *reduced]
            # Axis n of the source is the loop at its place in the order.
            index = tuple(axis(order.index(n)) for n in range(len(order)))
            extents = tuple(shape(source)[n] for n in order)
            return _Structure(
                target, extents, element_view(source, index, extents), operation, _start(operation, value)
            )
        case Contract(labels=labels, result=result, operands=operands):
            known, over = label_extents(labels, operands), summed_labels(value)
            place = {label: axis(n) for n, label in enumerate((*result, *over))}
            extents = tuple(known[label] for label in (*result, *over))
            factors = [
                element_view(operand, [place[label] for label in names], extents)
                for names, operand in zip(labels, operands, strict=True)
            ]
            term = reduce(lambda a, b: Apply("mul", dtype(value), (a, b)), factors)
            return _Structure(target, extents, term, "add", _start("add", value))
        case _:
            return _Structure(target, target.shape, value)


def _start(operation: str, value: Value) -> Constant | None:
    kind, number = dtype(value), _IDENTITIES[operation]
    # Integers have no infinity to begin an extreme with.
    if kind not in FLOATS and abs(number) == inf:
        return None
    return Constant(float(number) if kind in FLOATS else int(number), kind)


def _loop_structure(statement: Statement) -> _Structure | None:
    """Loops around a sum into elements that something began."""
    loops = list[For]()
    while isinstance(statement, For) and len(statement.body) == 1 and statement.lower == (Affine(),):
        if statement.step != 1 or len(statement.upper) != 1:
            return None
        loops.append(statement)
        statement = statement.body[0]
    if not isinstance(statement, Store):
        return None
    target = statement.target
    match statement.value:
        case Apply(operation="add" | "mul" as operation, operands=(Read(name=name, index=index), term)):
            if (name, index) != (target.name, target.index):
                return None
        case _:
            return None
    rank = len(target.shape)
    extents = (*target.shape, *(loop.upper[0] for loop in loops))
    moved = {loop.loop: axis(rank + n) for n, loop in enumerate(loops)}
    return _Structure(target, extents, _spread(term, moved, extents), operation)


def _spread(value: Value, moved: dict[str, Affine], extents: Shape) -> Value:
    """A value with loops as further axes."""
    match value:
        case Read(name=name, dtype=kind, index=index, span=span):
            return Read(name, kind, tuple(form.substitute(moved) for form in index), extents, span)
        case Form(value=form, dtype=kind, span=span):
            return Form(form.substitute(moved), kind, extents, span)
        case Apply(operation=operation, dtype=kind, operands=operands, span=span):
            return Apply(operation, kind, tuple(_spread(o, moved, extents) for o in operands), span)
        case _:
            return value


def _is_printable(found: _Structure, program: Program) -> bool:
    """Whether arrays are whole, whatever the order of their axes, and the body has elements alone."""
    target = found.target
    if not _is_elementwise(found.term) or (found.operation in ("maximum", "minimum") and found.start is None):
        return False
    whole = program[target.name].shape
    if target.index != axes(len(whole)) or target.shape != whole:
        return False
    own = list(reads(found.term))
    if any(read.name == target.name and (found.operation or read.index != target.index) for read in own):
        return False
    alone = {str(form) for read in (target, *own) for form in read.index}
    # The extent of a loop is that of an operand's axis where it stands alone (linalg, "shapes to loops").
    every = all(f"${n}" in alone for n in range(len(found.extents)))
    return every and all(_covers_array(read, program[read.name].shape, found.extents) for read in own)


def _is_elementwise(value: Value) -> bool:
    match value:
        case Read() | Constant() | Form():
            return True
        case Apply(operands=operands):
            return all(map(_is_elementwise, operands))
        case _:
            return False


def _covers_array(read: Read, whole: Shape, extents: Shape) -> bool:
    """Whether an index reaches from the first to the last element along each axis, as linalg infers extents."""
    known = {f"${n}": extent for n, extent in enumerate(extents)}
    for form, extent in zip(read.index, whole, strict=True):
        if form.constant or any(name not in known or factor < 1 for name, factor in form.terms):
            return False
        last = sum(((known[name] - 1) * factor for name, factor in form.terms), Affine())
        if last + 1 != extent:
            return False
    return True


@dataclass(slots=True)
class _Printer(Printer):
    """`elements` are the values of a body that arrays' elements are (mutable)."""

    structures: Sequence[_Structure] = ()
    elements: dict[Reference, str] = field(default_factory=dict[Reference, str])

    def body(self) -> None:
        for structure in self.structures:
            self.emit_structure(structure)

    def emit_structure(self, found: _Structure) -> None:
        target = self.nest[found.target.name]
        if found.start is not None:
            start = self.result(f"arith.constant {constant_text(found.start.value, target.dtype)}")
            out = f"{self.name(target.name)} : {self.array_type(target)}"
            self.emit(f"linalg.fill ins({start} : {mlir_type(target.dtype)}) outs({out})")
        own = Reference(found.target.name, found.target.index)
        inputs = list(dict.fromkeys(_reference(r) for r in reads(found.term) if self.nest[r.name].shape))
        inputs = [each for each in inputs if each != own]
        maps = ", ".join(self.indexing_map(each, len(found.extents)) for each in (*inputs, own))
        kinds = ["parallel"] * len(found.target.shape) + ["reduction"] * (len(found.extents) - len(found.target.shape))
        quoted = ", ".join(f'"{kind}"' for kind in kinds)
        self.emit(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{quoted}]}}")
        groups = [self.group("ins", inputs)] if inputs else []
        self.emit(f"    {' '.join([*groups, self.group('outs', [own])])} {{")
        self.elements = {each: self.fresh() for each in (*inputs, own)}
        arguments = (f"{value}: {mlir_type(self.nest[each.name].dtype)}" for each, value in self.elements.items())
        self.emit(f"^bb0({', '.join(arguments)}):")
        before, self.margin = self.margin, self.margin + "  "
        result = self.value(self.combined_expression(found, own, target.dtype))
        self.emit(f"linalg.yield {result} : {mlir_type(target.dtype)}")
        self.margin = before
        self.emit("}")

    def indexing_map(self, each: Reference, loops: int) -> str:
        names = {f"${n}": f"d{n}" for n in range(loops)}
        forms = ", ".join(affine_text(form, names) for form in each.index)
        return f"affine_map<({', '.join(names.values())}) -> ({forms})>"

    def group(self, keyword: str, each: Sequence[Reference]) -> str:
        names = ", ".join(self.name(r.name) for r in each)
        return f"{keyword}({names} : {', '.join(self.array_type(self.nest[r.name]) for r in each)})"

    def combined_expression(self, found: _Structure, own: Reference, kind: nest.ElementType) -> nest.Expression:
        """What is stored: the term, or the element that it is combined with."""
        term = _expression(found.term)
        match found.operation:
            case "":
                return term
            case "maximum" | "minimum":
                return nest.Apply(found.operation, kind, (own, term))
            case operation:
                return nest.Apply(operation, kind, (own, term))

    def value(self, value: nest.Expression) -> str:
        if isinstance(value, Reference) and (held := self.elements.get(Reference(value.name, value.index))):
            return held
        # MLIR's own maximum, which gives a NaN where there is one, is no operation of nests.
        if isinstance(value, nest.Apply) and value.operation in ("maximum", "minimum"):
            a, b = (self.value(operand) for operand in value.operands)
            return self.result(f"arith.{value.operation}f {a}, {b} : {mlir_type(value.dtype)}")
        if isinstance(value, nest.Index):
            return self.loop_index(value)
        return Printer.value(self, value)

    def loop_index(self, value: nest.Index) -> str:
        """An affine form of the loops around a body."""
        for name in sorted(value.value.symbols):
            if name.startswith("$"):
                self.names[name] = self.result(f"linalg.index {name[1:]} : index")
        return Printer.value(self, value)


def _reference(read: Read) -> Reference:
    return Reference(read.name, read.index)


def _expression(value: Value) -> nest.Expression:
    match value:
        case Read():
            return _reference(value)
        case Form(value=form, dtype=kind):
            return nest.Index(form, kind)
        case Apply(operation=operation, dtype=kind, operands=operands):
            return nest.Apply(operation, kind, tuple(map(_expression, operands)))
        case Constant():
            return value
        case _:
            raise AssertionError(f"a {type(value).__name__} is no element")
