# SPDX-License-Identifier: Apache-2.0
"""Lowering of syntax to flat equations without types: one operation each, conditions within the iteration space
(docs/language.md).

A nested expression becomes an equation for a fresh variable: the n-th one below a target `y` is `y.n`, its equation is
`S3.n` below the label `S3`. Both numberings follow the text, so names are stable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeVar

import islpy as isl

from polyloom.diagnostics import Diagnostic, PolyloomError, Span, input_error
from polyloom.frontend.pla.affine import affine, condition, symbol_names
from polyloom.frontend.pla.syntax import (
    Access,
    Apply,
    Comparison,
    Declaration,
    Expression,
    Name,
    Number,
    Statement,
    Text,
    Truth,
)
from polyloom.frontend.suggestions import suggestion
from polyloom.ir.operations import ALL_TYPES, OPERATIONS, ElementType
from polyloom.ir.pla import Array, Reference
from polyloom.ir.pla_names import RESERVED
from polyloom.names import dotted_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set, to_set
from polyloom.sets.normal_form import conjunction, normalize

T = TypeVar("T")
SIMPLIFICATIONS = 2
"""Further rounds of isl's gist, which is not idempotent: printed conditions read back as they are only once it has
settled."""
_OPERATIONS: Final = {operation.name: operation for operation in OPERATIONS}


@dataclass(frozen=True, slots=True)
class RawEquation:
    """Flat equation whose element types are not known yet."""

    name: str
    target: Reference
    operation: str
    operands: tuple[Reference | Number, ...]
    condition: Condition
    span: Span


@dataclass(frozen=True, slots=True)
class RawProgram:
    """Program whose internal variables have no types yet; `declared` has those that the text gives."""

    parameters: tuple[str, ...]
    assumptions: Condition
    dimensions: tuple[str, ...]
    space: Condition
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    declared: dict[str, tuple[ElementType, Span]]
    equations: tuple[RawEquation, ...]


class Errors:
    """Collector of the diagnostics of independent parts of a text."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def attempt(self, action: Callable[[], T], otherwise: T) -> T:
        """Result of an action, or `otherwise` where it fails; its diagnostics are kept."""
        try:
            return action()
        except PolyloomError as error:
            self.found += error.diagnostics
            return otherwise

    def flush(self) -> None:
        if self.found:
            raise PolyloomError(*self.found)


def lower(text: Text) -> RawProgram:
    """Lower a text: resolve names, conditions and indices, and flatten; raises all of PL0202 to PL0206 found."""
    errors = Errors()
    params = _unique(name.name for e in text.parameters for name in symbol_names(e))
    # Without a list of dimensions these are the names of the space that are no parameters, in their order.
    spaces = [name for e in text.space for name in symbol_names(e) if name.name not in params]
    dims = _unique(name.name for name in text.dimensions or spaces)
    errors.attempt(lambda: _check_names(text, params, dims), None)
    assumptions = errors.attempt(lambda: _assumptions(text.parameters, params), Condition())
    space = errors.attempt(lambda: _iteration_space(text, dims, params), Condition())
    inputs = errors.attempt(lambda: _arrays(text.inputs, params), ())
    outputs = errors.attempt(lambda: _arrays(text.outputs, params), ())
    declared = errors.attempt(lambda: _variables(text.variables), {})
    # Equations are read only with right declarations: a wrong one would be reported again at every use.
    errors.flush()
    flattener = _Flattener(text, dims, params, space)
    equations = [e for s in text.statements for e in errors.attempt(lambda s=s: flattener.statement(s), [])]
    errors.flush()
    return RawProgram(params, assumptions, dims, space, inputs, outputs, declared, tuple(equations))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _check_names(text: Text, params: tuple[str, ...], dims: tuple[str, ...]) -> None:
    """Check names: each stands for one thing; PL0202, PL0203."""
    named = [(d.name, d.span) for d in (*text.inputs, *text.outputs, *text.variables)]
    # Backwards, so that a name's span is that of its first use.
    symbols = {
        n.name: n.span
        for e in (*reversed(text.space), *reversed(text.parameters))
        for n in reversed(list(symbol_names(e)))
    }
    symbols |= {n.name: n.span for n in text.dimensions}
    taken: dict[str, str] = dict.fromkeys(params, "a parameter")
    errors = [_duplicate(n.name, n.span, "a parameter") for n in text.dimensions if n.name in params]
    errors += [
        _duplicate(n.name, n.span, "a dimension")
        for k, n in enumerate(text.dimensions)
        if n.name in [m.name for m in text.dimensions[:k]]
    ]
    taken |= dict.fromkeys(dims, "a dimension")
    for name, span in named:
        if name in taken:
            errors.append(_duplicate(name, span, taken[name]))
        taken[name] = "an array or a variable"
    for name, span in [*named, *symbols.items()]:
        if _is_keyword(name, span):
            errors.append(Diagnostic("PL0203", f"`{name}` is reserved", span=span, help="choose another name"))
    labels: set[str] = set()
    for statement in text.statements:
        if statement.label in labels:
            errors.append(_duplicate(statement.label or "", statement.span, "an equation"))
        labels.add(statement.label or "")
        # Equations without a label do not clash.
        labels.discard("")
        if _is_keyword(statement.target.name, statement.target.name_span):
            errors.append(
                Diagnostic(
                    "PL0203",
                    f"`{statement.target.name}` is reserved",
                    span=statement.target.name_span,
                    help="choose another name",
                )
            )
        elif statement.target.name in (*params, *dims):
            errors.append(_duplicate(statement.target.name, statement.target.name_span, taken[statement.target.name]))
    if errors:
        raise PolyloomError(*errors)


def _is_keyword(name: str, span: Span) -> bool:
    """Whether a name is a keyword that is written without backquotes."""
    return name in RESERVED and not span.source.text.startswith("`", span.start)


def _duplicate(name: str, span: Span, what: str) -> Diagnostic:
    return Diagnostic("PL0202", f"`{name}` is already {what}", span=span, help="choose another name")


def _assumptions(items: list[Expression], params: tuple[str, ...]) -> Condition:
    """Parameter domain: every parameter is at least 0; an item that is a bare name only declares it."""
    result = normalize(Condition((Polyhedron(tuple(map(Affine.symbol, params))),)))
    for item in items:
        if not isinstance(item, Name):
            result = conjunction(result, from_set(condition(item, (), params)))
    return result


def _iteration_space(text: Text, dims: tuple[str, ...], params: tuple[str, ...]) -> Condition:
    """Iteration space, one conjunction of inequalities; PL0215, PL0216."""
    points = to_set(Condition(), dims, params)
    for item in text.space:
        points = points.intersect(condition(item, dims, params))
    result = normalize(from_set(points))
    if not dims:
        raise input_error(
            "PL0215",
            "the iteration space has no dimension",
            span=text.loop,
            help="write bounds for a loop variable, such as `0 <= i < N`",
        )
    if len(result.pieces) != 1:
        help = "join inequalities by `and`, and move other conditions into the equations"
        raise input_error(
            "PL0216", "the iteration space is not one conjunction of inequalities", span=text.loop, help=help
        )
    return result


def _arrays(declarations: list[Declaration], params: tuple[str, ...]) -> tuple[Array, ...]:
    return tuple(
        Array(d.name, _dtype(d), tuple(affine(e, params) for e in d.shape or ()), d.span) for d in declarations
    )


def _variables(declarations: list[Declaration]) -> dict[str, tuple[ElementType, Span]]:
    return {d.name: (_variable(d), d.span) for d in declarations}


def _variable(declaration: Declaration) -> ElementType:
    if declaration.shape is not None:
        help = f"write `variable {declaration.name}: {declaration.dtype}`: it has one value per iteration"
        raise input_error("PL0206", "an internal variable has no shape", span=declaration.span, help=help)
    return _dtype(declaration)


def _dtype(declaration: Declaration) -> ElementType:
    for dtype in ALL_TYPES:
        if dtype == declaration.dtype:
            return dtype
    help = suggestion(declaration.dtype, ALL_TYPES, f"write {', '.join(ALL_TYPES[:-1])} or {ALL_TYPES[-1]}")
    raise input_error("PL0204", f"unknown type `{declaration.dtype}`", span=declaration.dtype_span, help=help)


class _Flattener:
    """Flattening of statements into equations; it owns the numbering of fresh names."""

    def __init__(self, text: Text, dims: tuple[str, ...], params: tuple[str, ...], space: Condition) -> None:
        self.dims, self.params, self.space = dims, params, space
        self.points = to_set(space, dims, params)
        self.known = {d.name for d in (*text.inputs, *text.outputs, *text.variables)} | {
            s.target.name for s in text.statements
        }
        self.variables = {*self.known, *dims, *params}
        self.labels = {s.label for s in text.statements if s.label}
        self.position = 0

    def statement(self, statement: Statement) -> list[RawEquation]:
        """Equations of one statement, operands first."""
        self.position += 1
        label = statement.label or self.fresh_label(self.position)
        where = self.condition(statement.condition)
        target = self.reference(statement.target)
        equations: list[RawEquation] = []
        operation, children = _root_operation(statement.value)
        operands = tuple([self.operand(child, label, target.name, where, equations) for child in children])
        return [*equations, RawEquation(label, target, operation, operands, where, statement.span)]

    def condition(self, expression: Expression | None) -> Condition:
        """Condition within the space, simplified until it prints as it reads."""
        if expression is None:
            return self.space
        result = self.restrict_to_space(condition(expression, self.dims, self.params).intersect(self.points))
        for _ in range(SIMPLIFICATIONS):
            result = self.restrict_to_space(to_set(result, self.dims, self.params))
        return result

    def restrict_to_space(self, points: isl.Set) -> Condition:
        return conjunction(self.space, from_set(points, self.points))

    def operand(
        self, value: Expression, label: str, base: str, where: Condition, equations: list[RawEquation]
    ) -> Reference | Number:
        """Operand of a value: a nested expression is defined by an equation of its own, appended to `equations`."""
        match value:
            case Number():
                return value
            case Access():
                return self.reference(value)
            case _:
                # Children first: their equations and names come before those of their parent.
                operation, children = _root_operation(value)
                operands = tuple([self.operand(child, label, base, where, equations) for child in children])
                # One value per iteration: the iteration itself is its index.
                target = Reference(
                    fresh_variable(base, self.variables), tuple(map(Affine.symbol, self.dims)), value.span
                )
                equations.append(
                    RawEquation(fresh_variable(label, self.labels), target, operation, operands, where, value.span)
                )
                return target

    def reference(self, access: Access) -> Reference:
        if access.name not in self.known:
            help = suggestion(access.name, self.known, "declare it as an input, or define it by an equation")
            raise input_error("PL0204", f"unknown name `{access.name}`", span=access.name_span, help=help)
        return Reference(access.name, tuple(affine(e, (*self.dims, *self.params)) for e in access.index), access.span)

    def fresh_label(self, position: int) -> str:
        # The user may have written labels of this form.
        while f"S{position}" in self.labels:
            position += 1
        self.labels.add(f"S{position}")
        return f"S{position}"


def fresh_variable(base: str, taken: set[str]) -> str:
    """Fresh variable `base.n` with the least positive n that is free; it is taken from then on."""
    name = next(name for n in count(1) if (name := dotted_name(base, n)) not in taken)
    taken.add(name)
    return name


def _root_operation(value: Expression) -> tuple[str, tuple[Expression, ...]]:
    """Operation at the root of a value and its operands; raises PL0206 and PL0210."""
    match value:
        case Number() | Access():
            return "move", (value,)
        case Name() | Truth():
            name = value.name if isinstance(value, Name) else str(value.value).lower()
            help = (
                f"write `{name}[]` for a scalar input; dimensions and parameters stand in indices and conditions only"
            )
            raise input_error("PL0206", f"`{name}` is not a value", span=value.span, help=help)
        case Comparison(relations=(relation,), symbols=(symbol,)):
            if symbol == "=":
                raise input_error("PL0206", "`=` within a value", span=value.span, help="write `==` to compare values")
            return relation, value.operands
        case Comparison():
            raise input_error(
                "PL0206", "a chained comparison of values", span=value.span, help="write `(a < b) and (b < c)`"
            )
        case Apply(operation="not"):
            raise input_error(
                "PL0206", "`not` is no operation on values", span=value.span, help="write `x xor -1`, or `x == 0`"
            )
        case Apply(operation=name, operands=operands):
            operation = _OPERATIONS.get(name)
            if operation is None:
                raise input_error(
                    "PL0211",
                    f"unknown operation `{name}`",
                    span=value.span,
                    help=suggestion(name, _OPERATIONS, f"it is one of {', '.join(_OPERATIONS)}"),
                )
            if len(operands) != operation.arity:
                message = f"{name} takes {operation.arity} operand{'s' * (operation.arity != 1)}, not {len(operands)}"
                raise input_error("PL0210", message, span=value.span)
            return name, operands
