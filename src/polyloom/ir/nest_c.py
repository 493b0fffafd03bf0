# SPDX-License-Identifier: Apache-2.0
"""C printer of a nest: a function that the C front end reads back as an equal nest, and that any C compiler compiles to
its meaning (C17, section 6.5).

Operations have their spelling in C where that says exactly the same: elements of signed char and short are cast back to
their type after every operation. Others are calls of `polyloom_OPERATION_TYPE`, which are defined before the function.
Assumptions on the parameters that their use does not imply stand in `__builtin_assume`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from polyloom.ir.c_library import FUNCTIONS
from polyloom.ir.nest import (
    Apply,
    Assign,
    Expression,
    If,
    Index,
    Loop,
    Nest,
    Node,
    Storage,
    loops,
    statements,
    subexpressions,
)
from polyloom.ir.numbers import NUMPY, WIDTH
from polyloom.ir.operations import BY_NAME, FLOATS, INTEGERS, UNSIGNED, ElementType, may_divide_by_zero
from polyloom.ir.pla import Constant, Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import normalize

TYPES: dict[ElementType, str] = {
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "f32": "float",
    "u8": "unsigned char",
    "u16": "unsigned short",
    "u32": "unsigned int",
    "bool": "_Bool",
    "f64": "double",
    "f16": "_Float16",
}
PREFIX = "polyloom_"
_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "rem": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
}
_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_CALLS = {
    ("sqrt", "f32"): "sqrtf",
    ("abs", "f32"): "fabsf",
    ("min", "f32"): "fminf",
    ("max", "f32"): "fmaxf",
    ("madd", "f32"): "fmaf",
    ("sqrt", "f64"): "sqrt",
    ("abs", "f64"): "fabs",
    ("min", "f64"): "fmin",
    ("max", "f64"): "fmax",
    ("madd", "f64"): "fma",
}
_KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short "
    "signed sizeof static struct switch typedef union unsigned void volatile while "
    "alignas alignof bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual asm linux unix "
    "main va_start va_end va_copy"
)
"""Of C17 and C23 (6.4.1), of GNU C, macros that compilers define, and functions that a program cannot define as it
likes."""
RESERVED = {*_KEYWORDS.split(), *_CALLS.values()}
_IMPLEMENTATION = re.compile(rf"{PREFIX}|_[A-Z_]")
"""What the beginning of a name tells to be ours, or the compiler's (C17 7.1.3)."""
_BODIES = {
    "move": "a",
    "neg": "-a",
    "add": "a + b",
    "sub": "a - b",
    "mul": "a * b",
    # INT_MIN / -1 is undefined in C (section 6.5.5), and wraps here.
    "div": "b == -1 ? -a : a / b",
    "rem": "b == -1 ? 0 : a % b",
    # Rounded down: one less where a remainder is left and the signs differ (Hacker's Delight, section 9-1).
    "floordiv": "b == -1 ? -a : a / b - (a % b != 0 && (a < 0) != (b < 0))",
    "mod": "b == -1 || a % b == 0 ? 0 : (a % b < 0) != (b < 0) ? a % b + b : a % b",
    "and": "a & b",
    "or": "a | b",
    "xor": "a ^ b",
    "shl": "a << (b & {mask})",
    "shr": "a >> (b & {mask})",
    "min": "b < a ? b : a",
    "max": "b > a ? b : a",
    "abs": "a < 0 ? -a : a",
    "madd": "a * b + c",
    "select": "a ? b : c",
    **{f"to_{dtype}": "a" for dtype in TYPES},
    "bits_i32": "(union {{ float a; int b; }}){{a}}.b",
    "bits_f32": "(union {{ int a; float b; }}){{a}}.b",
    "sat8": "a < -128 ? -128 : a > 127 ? 127 : a",
    "satu8": "a < 0 ? 0 : a > 255 ? 255 : a",
}
_UNSIGNED = {"div": "a / b", "rem": "a % b", "floordiv": "a / b", "mod": "a % b"}
_ROUNDED = "a != a || a >= 2147483647.5 ? 2147483647 : a < -2147483648.0 ? -2147483647 - 1 : (int)__builtin_rint(a)"
"""The meaning of operations that are called; the operands are a, b and c."""


def print_c(nest: Nest) -> str:
    """The text of `nest`; names that C cannot have are changed, and statements lose theirs."""
    name, identifiers = _assign_identifiers(nest)
    printer = _Printer(nest, identifiers)
    body = [*printer.locals(), *printer.assumptions(), *printer.block(nest.body, "  ")]
    lines = [f"void {name}({', '.join(printer.parameters()) or 'void'}) {{", *body, "}"]
    # Prototypes instead of headers: the text depends on no file.
    declared = sorted(
        {f"{kind} {call}({', '.join([kind] * BY_NAME[operation].arity)});" for operation, call, kind in printer.called}
    )
    return "\n".join([*declared, *(print_helper(*called) for called in sorted(printer.helpers)), *lines, ""])


def c_name(nest: Nest) -> str:
    """Name of the function that `print_c` prints."""
    return _assign_identifiers(nest)[0]


def default_assumptions(parameters: Sequence[str], storage: Iterable[Storage]) -> Condition:
    """Default assumptions on a C function's parameters unless it says more: they, and extents that
    subtract, are >= 0.
    """
    # Other extents are sums of parameters, and not negative when these are not.
    extents = [e for s in storage for e in s.shape if e.constant < 0 or any(c < 0 for _, c in e.terms)]
    return normalize(Condition((Polyhedron((*map(Affine.symbol, parameters), *extents)),)))


def _assign_identifiers(nest: Nest) -> tuple[str, dict[str, str]]:
    """Identifiers of a nest: what the text calls the function; and parameters, storage and loops: as the nest does,
    where C can, no two alike.
    """
    taken = {*RESERVED}
    function = _legal_identifier(nest.name, taken | FUNCTIONS)
    taken.add(function)
    return function, {
        name: _legal_identifier(name, taken)
        for name in (*nest.parameters, *(s.name for s in nest.storage), *loops(nest.body))
    }


def _legal_identifier(name: str, taken: set[str]) -> str:
    """Identifier of C for a name (C17, section 6.4.2): of ASCII letters, which every tool writes as they are."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return fresh_name(
        # Names of the implementation (C17, section 7.1.3), and what begins with a digit.
        f"v_{plain}" if _IMPLEMENTATION.match(plain) or plain[:1].isdigit() else plain,
        taken,
        lambda base, number: base + "_" * number,
    )


def print_helper(operation: str, dtype: ElementType) -> str:
    """The function that means an operation, in one line."""
    kind = TYPES[dtype]
    operands = ["int a" if operation == "select" else f"{kind} a", f"{kind} b", f"{kind} c"][: BY_NAME[operation].arity]
    body = _helper_body(operation, dtype).format(mask=WIDTH[dtype] - 1)
    result = TYPES[dtype] if BY_NAME[operation].compares else TYPES[BY_NAME[operation].result(dtype)]
    return f"static inline {result} {PREFIX}{operation}_{dtype}({', '.join(operands)}) {{ return {body}; }}"


def _helper_body(operation: str, dtype: ElementType) -> str:
    if operation in _RELATIONS:
        return f"a {_RELATIONS[operation]} b"
    if (call := _CALLS.get((operation, dtype))) is not None:
        return f"__builtin_{call}({', '.join('abc'[: BY_NAME[operation].arity])})"
    if operation == "round_i32":
        return _ROUNDED
    result = BY_NAME[operation].gives
    if dtype not in (*INTEGERS, "bool") and result in INTEGERS and operation != "bits_i32":
        return _truncation(result)
    return (_UNSIGNED if dtype in UNSIGNED else _BODIES).get(operation, _BODIES[operation])


def _truncation(result: ElementType) -> str:
    """Truncation of a float to an integer, toward zero, saturated, a NaN as 0; C's own conversion is undefined beyond
    the range (C17, section 6.3.1.4).
    """
    limits, wide = np.iinfo(NUMPY[result]), "unsigned int" if result == "u32" else "int"
    least = f"-{limits.max} - 1" if limits.min else "0"
    most = f"{limits.max}u" if result == "u32" else f"{limits.max}"
    return f"a != a ? 0 : a >= {limits.max + 1}.0 ? {most} : a < {limits.min}.0 ? {least} : ({wide})a"


@dataclass(frozen=True, slots=True)
class _Printer:
    """`names` are the identifiers of the nest's names; `helpers` and `called` collect functions."""

    nest: Nest
    names: dict[str, str]
    helpers: set[tuple[str, ElementType]] = field(default_factory=set[tuple[str, ElementType]])
    called: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])

    def parameters(self) -> list[str]:
        arguments = [self.declaration(s) for s in self.nest.storage if s.role == "argument"]
        return [*(f"int {self.names[p]}" for p in self.nest.parameters), *arguments]

    def declaration(self, storage: Storage) -> str:
        pointer = "*" if not storage.shape and storage.writable and storage.role == "argument" else ""
        extents = "".join(f"[{self.affine(extent)}]" for extent in storage.shape)
        return f"{TYPES[storage.dtype]} {pointer}{self.names[storage.name]}{extents}"

    def locals(self) -> list[str]:
        return [f"  {self.declaration(s)};" for s in self.nest.storage if s.role == "local"]

    def assumptions(self) -> list[str]:
        """Assumptions that the reader would not make by itself, also of parameters that nothing else shows to be
        parameters.
        """
        if normalize(self.nest.assumptions) != default_assumptions(self.nest.parameters, self.nest.storage):
            return [f"  __builtin_assume({self.condition(self.nest.assumptions)});"]
        # Without a use as a size, the reader would take them for data.
        unseen = [p for p in self.nest.parameters if p not in self.used_symbols()]
        return [f"  __builtin_assume({' && '.join(f'{self.names[p]} >= 0' for p in unseen)});"] if unseen else []

    def used_symbols(self) -> set[str]:
        """The names in extents, bounds and subscripts."""
        forms = [extent for s in self.nest.storage for extent in s.shape]
        for statement in statements(self.nest):
            forms.extend(statement.assign.target.index)
        forms.extend(_loop_bounds(self.nest.body))
        return {name for form in forms for name in form.symbols}

    def block(self, nodes: Sequence[Node], indent: str) -> Iterator[str]:
        for node in nodes:
            match node:
                case Assign(target=target, value=value):
                    yield f"{indent}{self.reference(target)} = {self.value(value)};"
                case Loop():
                    yield f"{indent}for ({self.header(node)}) {{{' // steps' * node.stepped}"
                    yield from self.block(node.body, indent + "  ")
                    yield f"{indent}}}"
                case If():
                    yield f"{indent}if ({self.condition(node.condition)}) {{"
                    yield from self.block(node.body, indent + "  ")
                    if node.orelse:
                        yield f"{indent}}} else {{"
                        yield from self.block(node.orelse, indent + "  ")
                    yield f"{indent}}}"

    def header(self, loop: Loop) -> str:
        name = self.names[loop.name]
        if loop.step > 0:
            return f"int {name} = {self.extreme(loop.lower, '>')}; {name} < {self.extreme(loop.upper, '<')}; {name}++"
        # Upper bounds are exclusive, and a loop downwards begins at the last iteration.
        last = tuple(bound + -1 for bound in loop.upper)
        return f"int {name} = {self.extreme(last, '<')}; {name} >= {self.extreme(loop.lower, '>')}; {name}--"

    def extreme(self, bounds: tuple[Affine, ...], relation: str) -> str:
        first, *others = bounds
        if not others:
            return self.affine(first)
        rest = self.extreme(tuple(others), relation)
        # The reader knows a conditional expression of this form as a minimum or maximum, which C has for no integers.
        return f"({self.affine(first)} {relation} {rest} ? {self.affine(first)} : {rest})"

    def condition(self, condition: Condition) -> str:
        pieces = [" && ".join(f"{self.affine(c)} >= 0" for c in piece.constraints) or "1" for piece in condition.pieces]
        return pieces[0] if len(pieces) == 1 else " || ".join(f"({piece})" for piece in pieces) or "0"

    def affine(self, form: Affine) -> str:
        return str(Affine(tuple((self.names[name], c) for name, c in form.terms), form.constant))

    def reference(self, reference: Reference) -> str:
        storage = self.nest[reference.name]
        pointer = "*" if not storage.shape and storage.writable and storage.role == "argument" else ""
        return pointer + self.names[reference.name] + "".join(f"[{self.affine(index)}]" for index in reference.index)

    def value(self, value: Expression) -> str:
        match value:
            case Reference():
                return self.reference(value)
            case Constant():
                return print_literal(value)
            case Index(dtype=dtype, value=form):
                # The cast wraps or rounds the affine value, as `Index` does.
                return f"{_cast(dtype)}({self.affine(form)})"
            case Apply():
                return self.apply(value)

    def apply(self, value: Apply) -> str:
        operation, dtype = value.operation, value.dtype
        operands = [self.value(operand) for operand in value.operands]
        call = _CALLS.get((operation, dtype))
        if call:
            self.called.add((operation, call, TYPES[dtype]))
            return f"{call}({', '.join(operands)})"
        # A call by the operation's own name, which the reader takes back as that operation (frontend/c/library.py).
        if not _has_c_spelling(value):
            self.helpers.add((operation, dtype))
            return f"{PREFIX}{operation}_{dtype}({', '.join(operands)})"
        if operation in _RELATIONS:
            return f"({operands[0]} {_RELATIONS[operation]} {operands[1]})"
        if operation == "select":
            return f"({operands[0]} ? {operands[1]} : {operands[2]})"
        if operation in ("shl", "shr") and isinstance(value.operands[1], Constant):
            operands[1] = str(value.operands[1].value)
        text = f"(-{operands[0]})" if operation == "neg" else f"({operands[0]} {_INFIX[operation]} {operands[1]})"
        return f"({_cast(dtype)}{text})" if _cast(dtype) and dtype not in FLOATS else text


def print_literal(constant: Constant) -> str:
    """A constant in C."""
    number, dtype = constant.value, constant.dtype
    if dtype == "f64":
        return _double_literal(float(number))
    if dtype in ("f32", "f16"):
        return f"{_cast(dtype)}{_single_literal(float(number))}" if dtype == "f16" else _single_literal(float(number))
    # The least int has no literal of its own.
    return f"{_cast(dtype)}({number + 1} - 1)" if number < 0 else f"{_cast(dtype)}{number}"


def _loop_bounds(nodes: Sequence[Node]) -> Iterator[Affine]:
    for node in nodes:
        if isinstance(node, Loop):
            yield from (*node.lower, *node.upper)
            yield from _loop_bounds(node.body)
        elif isinstance(node, If):
            yield from _loop_bounds((*node.body, *node.orelse))


def _cast(dtype: ElementType) -> str:
    """Cast that makes a number of C one of the element type."""
    return "" if dtype == "i32" else f"({TYPES[dtype]})"


def _single_literal(number: float) -> str:
    if math.isnan(number):
        return '__builtin_nanf("")'
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    # The shortest decimal of the double, which no other float is as near to.
    return f"{sign}__builtin_inff()" if math.isinf(number) else f"{sign}{abs(number)!r}f"


def _double_literal(number: float) -> str:
    if math.isnan(number):
        return '__builtin_nan("")'
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    # repr is the shortest decimal that reads back as the same double (Steele and White 1990).
    return f"{sign}__builtin_inf()" if math.isinf(number) else f"{sign}{abs(number)!r}"


def _has_c_spelling(value: Apply) -> bool:
    """Whether C's operators say exactly `value`, and the reader takes them for it: it folds affine expressions and
    recognizes minima."""
    operation, dtype, operands = value.operation, value.dtype, value.operands
    if operation in _RELATIONS:
        return not _is_widened_comparison(value)
    if operation == "select":
        return _is_plain_select(value)
    if operation in ("shl", "shr"):
        # C leaves other amounts undefined (C17, section 6.5.7): those are masked by a helper.
        amount = operands[1]
        return (
            isinstance(amount, Constant)
            and 0 <= amount.value < WIDTH[dtype]
            and not isinstance(operands[0], Constant | Index)
        )
    if operation == "neg":
        # The reader folds operations on constants and affine forms: the nest read back would be another.
        return not isinstance(operands[0], Constant | Index)
    return operation in _INFIX and (
        dtype == "f32" or not all(isinstance(operand, Constant | Index) for operand in operands)
    )


def _is_widened_comparison(value: Apply) -> bool:
    """Whether a comparison is of constants of a narrow type, or of what was widened: the reader narrows it."""
    widened = any(isinstance(part, Apply) and part.operation == f"to_{value.dtype}" for part in subexpressions(value))
    narrow = value.dtype not in (*FLOATS, "i32", "u32")
    return widened or (narrow and all(isinstance(operand, Constant | Index) for operand in value.operands))


def _is_plain_select(value: Apply) -> bool:
    condition, *arms = value.operands
    # The reader makes a branch of an affine condition.
    if any(isinstance(part, Index) for part in subexpressions(condition)) or not any(
        isinstance(part, Reference) for part in subexpressions(condition)
    ):
        return False
    # A division in an arm is guarded when it is read: the guard would be another term.
    if any(
        isinstance(part, Apply) and may_divide_by_zero(part.operation, part.dtype)
        for arm in arms
        for part in subexpressions(arm)
    ):
        return False
    # The reader takes such a choice of integers for a minimum or a maximum.
    return not (value.dtype not in FLOATS and isinstance(condition, Apply) and set(condition.operands) == set(arms))
