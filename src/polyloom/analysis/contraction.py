# SPDX-License-Identifier: Apache-2.0
"""Sums of products that are matrix products: C[i, j] = sum over k of A[i, k] * B[k, j], in whatever order arrays have
their dimensions, with several dimensions or none as rows and as columns.

What counts is the dataflow, not how the equations are written: A and B may travel, the sum may be a recurrence or an
accumulation. The sum has to run over a whole dimension of both arrays, and every element of C has to be one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.dataflow import operand_term, refuse, terms
from polyloom.diagnostics import Span
from polyloom.ir.formula import Apply, Leaf, Number, Sum, Term, has_sum, index_dimension
from polyloom.ir.pla import Array, Equation, Program
from polyloom.ir.stage import Product
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set

_WIDER: Final = ("to_i32", "to_f32")
UNARY: Final = ("round_i32", "to_f32", "sat8", "satu8")
"""Operations on a sum alone that may follow it."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """An array as a matrix: the positions of its dimensions that are its rows, and those that are its columns."""

    array: str
    rows: tuple[int, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """An operation on the sum: of one operand, or with the element of `array` that belongs to the row, or column."""

    operation: str
    array: str = ""
    by_row: bool = False


@dataclass(frozen=True, slots=True)
class Contraction:
    """`result` = `left` x `right`. `over` names the dimension of the sum; `widened` the conversion that both factors go
    through, if they do; `steps` what becomes of the sum before it is the result. Each sum begins with the element of
    the array `begins` that is at the place of the result's, where one is named."""

    left: Matrix
    right: Matrix
    result: Matrix
    over: str
    widened: str = ""
    steps: tuple[Step, ...] = ()
    begins: str = ""


def contraction(program: Program, *, with_steps: bool = False) -> Contraction | None:
    """Recognition of a matrix product by its dataflow (Feautrier 1991 in spirit: terms, not loops, are compared). None
    where no output is a sum; `with_steps`: or is made of one by a chain of operations. Raises `Unlike` for sums of
    another form.
    """
    found = results(program)
    if not any(has_sum(value) for _, value in found):
        return None
    equation, value = found[0]
    if len(found) != 1:
        refuse("there are several results, of which one is a sum", equation.span)
    links = list[tuple[str, Leaf | None]]()
    while with_steps and isinstance(value, Apply):
        value = peel_operation(value, links, equation)
    made = to_contraction(_product(program, equation, value))
    # The chain was read from the result inwards; steps are applied from the sum outwards.
    return replace(made, steps=_steps(program, equation, made, links[::-1])) if links else made


def source_span(program: Program) -> Span | None:
    """Where the products are written, else where the result is."""
    names = {array.name for array in program.outputs}
    made = [e for e in program.equations if e.span is not None]
    sums = [e.span for e in made if e.operation == "madd"] or [e.span for e in made if e.operation == "mul"]
    return next(iter([*sums, *(e.span for e in made if e.target.name in names)]), None)


def peel_operation(value: Apply, links: list[tuple[str, Leaf | None]], equation: Equation) -> Term:
    """The operand that has the sum; what the operation does goes into `links`. Raises `Unlike`."""
    inner = [operand for operand in value.operands if has_sum(operand)]
    others = [operand for operand in value.operands if not has_sum(operand)]
    if len(inner) == 1 and not others and value.operation in UNARY:
        links.append((value.operation, None))
    elif len(inner) == 1 and value.operation == "max" and others == [Number(0)]:
        links.append(("relu", None))
    elif len(inner) == 1 and value.operation in ("add", "mul") and isinstance(others[0], Leaf):
        links.append((value.operation, others[0]))
    else:
        refuse(f"`{equation.target.name}` is no chain of operations on one sum", equation.span)
    return inner[0]


def _steps(
    program: Program, equation: Equation, made: Contraction, links: Sequence[tuple[str, Leaf | None]]
) -> tuple[Step, ...]:
    """With the dimension of each vector."""
    out = index_dimensions(program, Leaf(equation.target.name, equation.target.index), equation)
    arrays = {a.name: a for a in (*program.inputs, *program.outputs)}
    found = list[Step]()
    for operation, leaf in links:
        if leaf is None:
            found.append(Step(operation))
            continue
        at = index_dimensions(program, leaf, equation)
        axes = tuple(out.index(d) for d in at if d in out)
        if len(at) != 1 or axes not in (made.result.rows, made.result.columns):
            refuse(f"`{leaf.array}` is no vector along the rows or columns of `{equation.target.name}`", equation.span)
        if arrays[leaf.array].shape[0] != arrays[equation.target.name].shape[axes[0]]:
            refuse(f"`{leaf.array}` and `{equation.target.name}` differ in extent", equation.span)
        found.append(Step(operation, leaf.array, axes == made.result.rows))
    return tuple(found)


def results(program: Program) -> list[tuple[Equation, Term]]:
    """What the equations of outputs are, but for those of empty loops. Raises `Unlike`."""
    found = dict(terms(program))
    outputs = [e for e in program.equations if e.target.name in {a.name for a in program.outputs}]
    return [(e, _value(program, e, found)) for e in outputs if not _is_for_empty_loops(program, e)]


def _value(program: Program, equation: Equation, found: dict[str, Term]) -> Term:
    operands = tuple(operand_term(program, equation, operand, found) for operand in equation.operands)
    return operands[0] if equation.operation == "move" else Apply(equation.operation, operands, equation.span)


def _is_for_empty_loops(program: Program, equation: Equation) -> bool:
    """What is written where some parameter is 0; a machine has nothing to do then, and results are 0."""
    if not isinstance(_value(program, equation, {}) if equation.operation == "move" else None, Number):
        return False
    # With every size at least 1 the condition of such an equation is never true.
    some = Polyhedron(tuple(Affine.symbol(name) - 1 for name in program.parameters))
    where = to_set(equation.condition, program.dimensions, program.parameters)
    return where.intersect(to_set(Condition((some,)), program.dimensions, program.parameters)).is_empty()


def product(program: Program) -> Product | None:
    """The one output as a product of two inputs; None where no output is a sum. Raises `Unlike` for other sums."""
    found = results(program)
    if not any(has_sum(value) for _, value in found):
        return None
    equation, value = found[0]
    if len(found) != 1:
        refuse("there are several results, of which one is a sum", equation.span)
    return replace(_product(program, equation, value), span=source_span(program))


def _product(program: Program, equation: Equation, value: Term) -> Product:
    name = equation.target.name
    if not isinstance(value, Sum):
        refuse(f"`{name}` is computed from a sum, and is not the sum itself", equation.span)
    term, widened = narrow(value.term)
    if not isinstance(term, Apply) or term.operation != "mul" or not all(isinstance(o, Leaf) for o in term.operands):
        refuse(f"`{name}` is no sum of products of two inputs", equation.span)
    factors = [o for o in term.operands if isinstance(o, Leaf)]
    left, right = (index_dimensions(program, factor, equation) for factor in factors)
    out = index_dimensions(program, Leaf(name, equation.target.index), equation)
    if value.dimension not in left or value.dimension not in right:
        refuse(f"the sum runs along {value.dimension}, which both factors must have", equation.span)
    if shared := sorted((set(left) & set(right)) - {value.dimension}):
        refuse(f"both factors have {shared[0]}, which is not summed: these are many products, not one", equation.span)
    if set(out) != (set(left) | set(right)) - {value.dimension}:
        refuse(f"`{name}` does not have the other dimensions of both factors", equation.span)
    # Factors are exchanged so that the first gives the rows: a product of elements commutes exactly.
    if not _gives_first_dimension(out, left, value.dimension):
        factors = factors[::-1]
    check_extents(program, equation, factors, value)
    return Product(name, out, factors[0], factors[1], value.dimension, name, widened)


def to_contraction(product: Product) -> Contraction:
    """A product by positions of dimensions."""
    left, right = (tuple(map(index_dimension, leaf.index)) for leaf in (product.left, product.right))
    out, over = product.dims, product.over
    rows, columns = (tuple(d for d in out if d in factor) for factor in (left, right))
    return Contraction(
        Matrix(product.left.array, tuple(map(left.index, rows)), (left.index(over),)),
        Matrix(product.right.array, (right.index(over),), tuple(map(right.index, columns))),
        Matrix(product.result, tuple(map(out.index, rows)), tuple(map(out.index, columns))),
        over,
        product.widened,
        begins=product.begins,
    )


def narrow(term: Term) -> tuple[Term, str]:
    """The product of what is converted, where both factors are by one operation; and that operation."""
    if isinstance(term, Apply) and term.operation == "mul":
        first, second = term.operands
        # One conversion for both: a machine's multiplier widens both operands alike.
        if isinstance(first, Apply) and isinstance(second, Apply) and first.operation == second.operation in _WIDER:
            return Apply("mul", (*first.operands, *second.operands), term.span), first.operation
    return term, ""


def _gives_first_dimension(out: tuple[str, ...], left: tuple[str, ...], over: str) -> bool:
    """Whether the first factor gives the first dimension of the result, where it gives any."""
    return out[0] in left if out else len(left) >= 1 and over in left


def index_dimensions(program: Program, leaf: Leaf, equation: Equation) -> tuple[str, ...]:
    """The dimension that each place of an index is."""
    names = tuple(name for name in (index_dimension(index) for index in leaf.index) if name in program.dimensions)
    if len(names) != len(leaf.index) or len(set(names)) != len(names) or leaf.padded:
        at = ", ".join(map(str, leaf.index))
        refuse(f"`{leaf.array}[{at}]` is not indexed by one loop in each place", equation.span)
    return names


def check_extents(program: Program, equation: Equation, leaves: Sequence[Leaf], over: Sum | None) -> None:
    """Each dimension runs from 0 to the extent of every array that has it; the result is taken behind the last term of
    the sum, if there is one."""
    arrays = {a.name: a for a in (*program.inputs, *program.outputs)}
    extents: dict[str, Affine] = {}
    for leaf in (*leaves, Leaf(equation.target.name, equation.target.index)):
        for name, extent in _extents(program, leaf, arrays, equation):
            # Extents are compared as forms, so that equality holds for all sizes.
            if extents.setdefault(name, extent) != extent:
                message = f"{name} runs over {extents[name]} elements of one array and {extent} of another"
                refuse(message, equation.span)
    symbols = {name: Affine.symbol(name) for name in program.dimensions}
    least = [symbols[name] for name in extents] + [extents[name] - symbols[name] - 1 for name in extents]
    whole = [*least, *(extents[name] - 1 for name in extents)]
    if over is not None:
        last = extents[over.dimension] - 1
        whole.append(symbols[over.dimension] - last)
        _check_starts_at_zero(program, equation, over)
    _check_written_completely(
        program, equation, whole, "" if over is None else f" the sum over all of {over.dimension}"
    )


def _check_starts_at_zero(program: Program, equation: Equation, over: Sum) -> None:
    first = Affine.symbol(over.dimension)
    begins = to_set(over.first, program.dimensions, program.parameters)
    at_zero = to_set(Condition((Polyhedron((first, -first)),)), program.dimensions, program.parameters)
    if not begins.is_subset(at_zero):
        refuse(f"the sum along {over.dimension} does not begin at 0", equation.span)


def _extents(program: Program, leaf: Leaf, arrays: Mapping[str, Array], equation: Equation) -> list[tuple[str, Affine]]:
    return list(zip(index_dimensions(program, leaf, equation), arrays[leaf.array].shape, strict=True))


def _check_written_completely(program: Program, equation: Equation, whole: list[Affine], what: str) -> None:
    """The result is written for all elements, where `whole` holds."""
    names, params = program.dimensions, program.parameters
    assumed = to_set(program.assumptions, names, params)
    expected = to_set(Condition((Polyhedron(tuple(whole)),)), names, params).intersect(assumed)
    positive = Condition((Polyhedron(tuple(e for e in whole if not e.symbols & set(names))),))
    written = to_set(equation.condition, names, params).intersect(to_set(positive, names, params))
    if not written.intersect(assumed).is_equal(expected):
        message = f"`{equation.target.name}` is not{what or ' computed by this equation'} for every one of its elements"
        refuse(message, equation.span)
