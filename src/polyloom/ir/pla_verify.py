# SPDX-License-Identifier: Apache-2.0
"""Verifier of programs, as a list of rules; each is local to names and types and needs no integer sets.

The rules follow section 4 of the array paper: inputs are only read, outputs only written, internal variables indexed
uniformly. What must hold for all parameter values is checked by `analysis.check`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polyloom.diagnostics import Diagnostic, Span, enforce
from polyloom.ir.numbers import is_constant
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Constant, Equation, Operand, Program, Reference
from polyloom.sets import Affine, Condition

Rule = Callable[[Program], Iterator[Diagnostic]]


def verify(program: Program) -> None:
    """Raise every violation of the first rule that is violated."""
    enforce(RULES, program)


def names_are_unique(program: Program) -> Iterator[Diagnostic]:
    items: list[tuple[str, Span | None]] = [(n, None) for n in (*program.parameters, *program.dimensions)]
    items += [(a.name, a.span) for a in (*program.inputs, *program.outputs, *program.variables)]
    for group in (items, [(e.name, e.span) for e in program.equations]):
        seen: set[str] = set()
        for name, span in group:
            if name in seen:
                yield Diagnostic("PL0202", f"`{name}` is defined twice", span=span, help="choose another name")
            seen.add(name)


def symbols_are_known(program: Program) -> Iterator[Diagnostic]:
    params, all_symbols = set(program.parameters), {*program.parameters, *program.dimensions}
    yield from _unknown_symbols(_condition_symbols(program.assumptions), params, None)
    yield from _unknown_symbols(_condition_symbols(program.space), all_symbols, None)
    for array in (*program.inputs, *program.outputs):
        yield from _unknown_symbols(set[str]().union(*(a.symbols for a in array.shape)), params, array.span)
    for equation in program.equations:
        used = _condition_symbols(equation.condition).union(
            *(a.symbols for r in _equation_references(equation) for a in r.index)
        )
        yield from _unknown_symbols(used, all_symbols, equation.span)


def operations_are_known(program: Program) -> Iterator[Diagnostic]:
    for equation in program.equations:
        operation = BY_NAME.get(equation.operation)
        if operation is None:
            yield Diagnostic("PL0211", f"unknown operation `{equation.operation}`", span=equation.span)
        elif len(equation.operands) != operation.arity:
            message = f"{operation.name} takes {operation.arity} operands, not {len(equation.operands)}"
            yield Diagnostic("PL0210", message, span=equation.span)
        elif not operation.accepts_type(equation.dtype):
            help = f"{operation.name} is defined for {', '.join(operation.types)}"
            yield Diagnostic(
                "PL0208", f"{operation.name} has no meaning for {equation.dtype}", span=equation.span, help=help
            )


def references_are_known(program: Program) -> Iterator[Diagnostic]:
    lengths = {a.name: len(a.shape) for a in (*program.inputs, *program.outputs)} | dict.fromkeys(
        _internal_names(program), len(program.dimensions)
    )
    for equation in program.equations:
        for reference in _equation_references(equation):
            if reference.name not in lengths:
                yield Diagnostic("PL0204", f"unknown name `{reference.name}`", span=reference.span)
            elif len(reference.index) != lengths[reference.name]:
                want = lengths[reference.name]
                message = (
                    f"`{reference.name}` takes {want} {'index' if want == 1 else 'indices'}, not {len(reference.index)}"
                )
                yield Diagnostic(
                    "PL0210", message, span=reference.span, help=_declaration_help(program, reference.name)
                )


def inputs_are_read_and_outputs_written(program: Program) -> Iterator[Diagnostic]:
    inputs, outputs = {a.name for a in program.inputs}, {a.name for a in program.outputs}
    for equation in program.equations:
        if equation.target.name in inputs:
            help = "define an internal variable or an output instead"
            yield Diagnostic(
                "PL0212", f"the input `{equation.target.name}` is written", span=equation.target.span, help=help
            )
        for operand in equation.operands:
            if isinstance(operand, Reference) and operand.name in outputs:
                help = "define an internal variable, read that, and copy it to the output"
                yield Diagnostic("PL0213", f"the output `{operand.name}` is read", span=operand.span, help=help)


def internal_variables_are_uniform(program: Program) -> Iterator[Diagnostic]:
    """Uniformity (array paper, section 4; Karp, Miller and Winograd 1967): an internal variable is defined at the
    iteration itself, and read a constant vector away.
    """
    internal, identity = _internal_names(program), tuple(map(Affine.symbol, program.dimensions))
    for equation in program.equations:
        target = equation.target
        if target.name in internal and target.index != identity:
            message = (
                f"`{target.name}` is internal, so it is defined at [{', '.join(program.dimensions)}] and nowhere else"
            )
            yield Diagnostic(
                "PL0214", message, span=target.span, help="shift the uses instead, or declare it as an output"
            )
        for operand in equation.operands:
            if isinstance(operand, Reference) and operand.name in internal and not _is_uniform(operand, identity):
                message = (
                    f"`{operand.name}` is internal, so its index must be [{', '.join(program.dimensions)}] plus "
                    "constants"
                )
                help = "pass the value from iteration to iteration by an equation of its own"
                yield Diagnostic("PL0214", message, span=operand.span, help=help)


def types_agree(program: Program) -> Iterator[Diagnostic]:
    dtypes: dict[str, ElementType] = {a.name: a.dtype for a in (*program.inputs, *program.outputs, *program.variables)}
    for equation in program.equations:
        wanted: list[tuple[Operand, ElementType]] = [(o, equation.dtype) for o in equation.operands]
        if equation.operation == "select":
            # The condition of a select is i32, whatever is selected.
            wanted[0] = (equation.operands[0], "i32")
        wanted.append((equation.target, BY_NAME[equation.operation].result(equation.dtype)))
        for operand, dtype in wanted:
            found = operand.dtype if isinstance(operand, Constant) else dtypes[operand.name]
            if found != dtype:
                what = "a constant" if isinstance(operand, Constant) else f"`{operand.name}`"
                yield Diagnostic(
                    "PL0208", f"{equation.operation} needs {dtype} here, but {what} is {found}", span=operand.span
                )
            if isinstance(operand, Constant) and not is_constant(operand.value, operand.dtype):
                yield Diagnostic("PL0207", f"{operand.value} is not a value of type {operand.dtype}", span=operand.span)


def outputs_are_written(program: Program) -> Iterator[Diagnostic]:
    written = {e.target.name for e in program.equations}
    if not program.outputs:
        span = program.equations[0].span if program.equations else None
        yield Diagnostic(
            "PL0217",
            "the program has no output",
            span=span,
            help="declare one, such as `output y[N]: i32`, and define its elements",
        )
    for output in program.outputs:
        if output.name not in written:
            help = f"write an equation for `{output.name}[...]`, or remove the declaration"
            yield Diagnostic("PL0217", f"no equation writes the output `{output.name}`", span=output.span, help=help)


def variables_are_defined(program: Program) -> Iterator[Diagnostic]:
    defined = {e.target.name for e in program.equations}
    for variable in program.variables:
        if variable.name not in defined:
            help = "write an equation for it, or remove the declaration"
            yield Diagnostic(
                "PL0225", f"no equation defines the variable `{variable.name}`", span=variable.span, help=help
            )


# Later rules rely on earlier ones: operations are known before their types are compared.
RULES: tuple[Rule, ...] = (
    names_are_unique,
    symbols_are_known,
    operations_are_known,
    references_are_known,
    inputs_are_read_and_outputs_written,
    internal_variables_are_uniform,
    types_agree,
    outputs_are_written,
    variables_are_defined,
)


def check_origins(program: Program) -> None:
    """The rule of transforms: in a program that has places in a source, every equation has one, or a reason."""
    # A program made without a source has no places to keep.
    if any(e.span is not None for e in program.equations):
        enforce((equations_have_origins,), program)


def equations_have_origins(program: Program) -> Iterator[Diagnostic]:
    for equation in program.equations:
        if equation.span is None and not equation.reason:
            message = f"nothing tells what the equation `{equation.name}` is for"
            yield Diagnostic("PL0979", message, help="give it the place of what it is made of, and a reason")


def _equation_references(equation: Equation) -> list[Reference]:
    return [equation.target, *(o for o in equation.operands if isinstance(o, Reference))]


def _internal_names(program: Program) -> set[str]:
    return {v.name for v in program.variables}


def _is_uniform(reference: Reference, identity: tuple[Affine, ...]) -> bool:
    return all((a - b).is_constant for a, b in zip(reference.index, identity, strict=True))


def _condition_symbols(condition: Condition) -> frozenset[str]:
    return frozenset[str]().union(*(c.symbols for p in condition.pieces for c in p.constraints))


def _unknown_symbols(used: frozenset[str] | set[str], known: set[str], span: Span | None) -> Iterator[Diagnostic]:
    for name in sorted(used - known):
        yield Diagnostic("PL0204", f"unknown name `{name}`", span=span)


def _declaration_help(program: Program, name: str) -> str:
    shapes = {a.name: ", ".join(map(str, a.shape)) for a in (*program.inputs, *program.outputs)}
    if name in shapes:
        return f"it is declared as `{name}[{shapes[name]}]`"
    return f"it is internal: write `{name}[{', '.join(program.dimensions)}]`"
