# SPDX-License-Identifier: Apache-2.0
"""MLIR printer of a nest: a function of the dialects func, affine, arith, math, memref and scf, which the MLIR front
end reads back as an equal nest (MLIR language reference, dialect affine). Operations that MLIR has not are calls of
functions `polyloom_OPERATION_TYPE` without a body, as in `ir.nest_c`.

Sizes are indices; the extents of an array, the assumptions on sizes and integers without a sign, for which MLIR has no
words, are attributes of the dialect `polyloom`, which other tools keep and ignore.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

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
    expression_type,
    statements,
    subexpressions,
)
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import BY_NAME, FLOATS, SIGNED, UNSIGNED, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition

_FLOATING: Final = {
    "add": "arith.addf",
    "sub": "arith.subf",
    "mul": "arith.mulf",
    "div": "arith.divf",
    "neg": "arith.negf",
    "min": "arith.minnumf",
    "max": "arith.maxnumf",
    "abs": "math.absf",
    "madd": "math.fma",
    "sqrt": "math.sqrt",
    **{name: f"math.{name}" for name in ("exp", "exp2", "log", "sin", "cos", "tanh", "floor", "ceil", "round")},
    "trunc": "math.trunc",
    "rint": "math.roundeven",
    "pow": "math.powf",
}
_WHOLE: Final = {
    "add": "arith.addi",
    "sub": "arith.subi",
    "mul": "arith.muli",
    "and": "arith.andi",
    "or": "arith.ori",
    "xor": "arith.xori",
    "shl": "arith.shli",
    "pow": "math.ipowi",
}
_SIGNED: Final = {
    "div": "arith.divsi",
    "rem": "arith.remsi",
    "floordiv": "arith.floordivsi",
    "min": "arith.minsi",
    "max": "arith.maxsi",
    "shr": "arith.shrsi",
    "abs": "math.absi",
}
_UNSIGNED: Final = {
    "div": "arith.divui",
    "floordiv": "arith.divui",
    "rem": "arith.remui",
    "mod": "arith.remui",
    "min": "arith.minui",
    "max": "arith.maxui",
    "shr": "arith.shrui",
    "popcount": "math.ctpop",
}
CALLED: Final = "polyloom_"
_ORDER: Final = ("eq", "ne", "lt", "le", "gt", "ge")
_WORD: Final = re.compile(r"[^\w$.-]")


def mlir_type(dtype: ElementType) -> str:
    """The type of MLIR that has the values of an element type; integers have no sign."""
    if dtype in FLOATS or dtype == "f16":
        return dtype
    return "i1" if dtype == "bool" else f"i{WIDTH[dtype]}"


def print_mlir(nest: Nest) -> str:
    """The text of a nest as a module of one function, and of those that it calls."""
    return Printer(nest).module()


@dataclass(slots=True)
class Printer:
    """`names` are those of values, by what they stand for in the nest (mutable)."""

    nest: Nest
    names: dict[str, str] = field(default_factory=dict[str, str])
    taken: set[str] = field(default_factory=set[str])
    lines: list[str] = field(default_factory=list[str])
    margin: str = "  "
    called: set[str] = field(default_factory=set[str])
    has_unsigned_operations: bool = False

    def __post_init__(self) -> None:
        values = (value for s in statements(self.nest) for value in subexpressions(s.assign.value))
        self.has_unsigned_operations = any(isinstance(v, Apply) and v.dtype in UNSIGNED for v in values)

    def module(self) -> str:
        """The text of the whole."""
        lines = list(self.function())
        return "\n".join([*sorted(self.called), *lines, ""])

    def function(self) -> Iterator[str]:
        nest = self.nest
        arguments = [f"{self.name(name)}: index" for name in nest.parameters]
        arguments += [self.argument(s) for s in nest.storage if s.role == "argument"]
        assumed = self.assumptions(nest.assumptions)
        attributes = f" attributes {{polyloom.assume = [{', '.join(assumed)}]}}" if assumed else ""
        yield f"func.func @{_WORD.sub('_', nest.name)}({', '.join(arguments)}){attributes} {{"
        for s in nest.storage:
            if s.role == "local":
                self.allocation(s)
        self.body()
        yield from self.lines
        yield "  return"
        yield "}"

    def body(self) -> None:
        self.block(self.nest.body)

    def name(self, own: str) -> str:
        """The value that a name of the nest is."""
        if own not in self.names:
            self.names[own] = "%" + fresh_name(_WORD.sub("_", own), self.taken)
        return self.names[own]

    def fresh(self) -> str:
        """A value without a name of its own."""
        return "%" + fresh_name(str(len(self.taken)), self.taken)

    def array_type(self, s: Storage) -> str:
        extents = [str(e.constant) if e.is_constant else "?" for e in s.shape]
        return f"memref<{'x'.join([*extents, mlir_type(s.dtype)])}>"

    def argument(self, s: Storage) -> str:
        written = list[str]()
        if any(not e.is_constant for e in s.shape):
            written.append(f"polyloom.shape = [{', '.join(map(_quote_form, s.shape))}]")
        written += self.sign_marks(s)
        kind = self.array_type(s) if s.shape or s.writable else mlir_type(s.dtype)
        return f"{self.name(s.name)}: {kind}" + (f" {{{', '.join(written)}}}" if written else "")

    def allocation(self, s: Storage) -> None:
        sizes = [self.apply(e) for e in s.shape if not e.is_constant]
        marks = "".join(f" {{{mark}}}" for mark in self.sign_marks(s))
        self.emit(f"{self.name(s.name)} = memref.alloca({', '.join(sizes)}){marks} : {self.array_type(s)}")

    def sign_marks(self, s: Storage) -> list[str]:
        """Attribute of an array of integers. Without one, operations on its elements would say whether it has a sign,
        which they may contradict."""
        if s.dtype in UNSIGNED:
            return ["polyloom.unsigned"]
        return ["polyloom.signed"] if s.dtype in SIGNED and self.has_unsigned_operations else []

    def assumptions(self, condition: Condition) -> list[str]:
        """What sizes satisfy beyond being at least 0."""
        if len(condition.pieces) != 1:
            return []
        plain = {Affine.symbol(name) for name in self.nest.parameters}
        return [_quote_form(c) for c in condition.pieces[0].constraints if c not in plain]

    def emit(self, text: str) -> None:
        self.lines.append(self.margin + text)

    def result(self, text: str) -> str:
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return name

    def block(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            match node:
                case Assign(target=target, value=value):
                    found = self.value(value)
                    storage = self.nest[target.name]
                    kind = self.array_type(storage)
                    place = self.indices(target.index)
                    self.emit(f"affine.store {found}, {self.name(target.name)}[{place}] : {kind}")
                case Loop():
                    self.loop(node)
                case If():
                    self.branch(node)

    def inner(self, nodes: Sequence[Node]) -> None:
        before, self.margin = self.margin, self.margin + "  "
        self.block(nodes)
        self.margin = before

    def loop(self, node: Loop) -> None:
        """A loop; one that counts down is a loop upwards over how far it is from its end."""
        if node.step == -1 and len(node.upper) == 1:
            length = tuple(node.upper[0] - low for low in node.lower)
            turn = fresh_name(f"{node.name}_turn", self.taken)
            self.names[turn] = f"%{turn}"
            self.emit(f"affine.for %{turn} = 0 to {self.bound(length, 'min')} {{")
            before, self.margin = self.margin, self.margin + "  "
            self.names[node.name] = self.apply(node.upper[0] - Affine.symbol(turn) - 1)
            self.block(node.body)
            self.margin = before
            self.emit("}")
            return
        low, high = self.bound(node.lower, "max"), self.bound(node.upper, "min")
        self.emit(f"affine.for {self.name(node.name)} = {low} to {high} {{")
        self.inner(node.body)
        self.emit("}")

    def bound(self, forms: Sequence[Affine], extreme: str) -> str:
        if len(forms) == 1 and forms[0].is_constant:
            return str(forms[0].constant)
        if len(forms) == 1 and forms[0] == Affine.symbol(next(iter(forms[0].symbols))):
            return self.apply(forms[0])
        prefix = f"{extreme} " if len(forms) > 1 else ""
        return prefix + self.map(forms)

    def map(self, forms: Sequence[Affine]) -> str:
        """An affine map of forms on the values that they name, all as dimensions."""
        symbols = sorted({name for form in forms for name in form.symbols})
        dims = {name: f"d{n}" for n, name in enumerate(symbols)}
        texts = ", ".join(affine_text(form, dims) for form in forms)
        return f"affine_map<({', '.join(dims.values())}) -> ({texts})>({', '.join(map(self.name, symbols))})"

    def apply(self, form: Affine) -> str:
        """A form as an index."""
        if len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant:
            return self.name(form.terms[0][0])
        return self.result(f"affine.apply {self.map((form,))}")

    def indices(self, index: Sequence[Affine]) -> str:
        return ", ".join(affine_text(form, {name: self.name(name) for name in form.symbols}) for form in index)

    def branch(self, node: If) -> None:
        pieces = node.condition.pieces
        if len(pieces) == 1 and pieces[0].constraints:
            forms = pieces[0].constraints
            symbols = sorted({name for form in forms for name in form.symbols})
            dims = {name: f"d{n}" for n, name in enumerate(symbols)}
            texts = ", ".join(f"{affine_text(form, dims)} >= 0" for form in forms)
            found = f"affine_set<({', '.join(dims.values())}) : ({texts})>({', '.join(map(self.name, symbols))})"
            self.emit(f"affine.if {found} {{")
        else:
            self.emit(f"scf.if {self.union(node.condition)} {{")
        self.inner(node.body)
        if node.orelse:
            self.emit("} else {")
            self.inner(node.orelse)
        self.emit("}")

    def union(self, condition: Condition) -> str:
        """A union of polyhedra as a truth."""
        zero = self.result("arith.constant 0 : index")
        found = list[str]()
        for piece in condition.pieces:
            tests = [
                self.result(f"arith.cmpi sge, {self.apply(form)}, {zero} : index") for form in piece.constraints
            ] or [self.result("arith.constant true")]
            found.append(self.join("arith.andi", tests))
        return self.join("arith.ori", found or [self.result("arith.constant false")])

    def join(self, operation: str, tests: Sequence[str]) -> str:
        found = tests[0]
        for test in tests[1:]:
            found = self.result(f"{operation} {found}, {test} : i1")
        return found

    def value(self, value: Expression) -> str:
        """The value of an expression, computed by the lines before."""
        match value:
            case Reference(name=name, index=index):
                storage = self.nest[name]
                if not storage.shape and not storage.writable:
                    return self.name(name)
                return self.result(f"affine.load {self.name(name)}[{self.indices(index)}] : {self.array_type(storage)}")
            case Constant(value=number, dtype=dtype):
                return self.result(f"arith.constant {constant_text(number, dtype)}")
            case Index(value=form, dtype=dtype):
                found = (
                    self.apply(form) if not form.is_constant else self.result(f"arith.constant {form.constant} : index")
                )
                if dtype in FLOATS:
                    found = self.result(f"arith.index_cast {found} : index to i32")
                    return self.result(f"arith.sitofp {found} : i32 to {dtype}")
                return self.result(f"arith.index_cast {found} : index to {mlir_type(dtype)}")
            case Apply():
                return self.operation(value)

    def operation(self, value: Apply) -> str:
        name, dtype, kind = value.operation, value.dtype, mlir_type(value.dtype)
        if _is_truth(value):
            found = self.truth(value)
            return self.result(f"arith.extui {found} : i1 to i32")
        if name == "select":
            test = self.truth(value.operands[0])
            a, b = (self.value(operand) for operand in value.operands[1:])
            return self.result(f"arith.select {test}, {a}, {b} : {kind}")
        if name == "move":
            return self.value(value.operands[0])
        if name.startswith(("to_", "bits_")):
            return self.conversion(value)
        operands = [self.value(operand) for operand in value.operands]
        if name == "neg" and dtype not in FLOATS:
            zero = self.result(f"arith.constant 0 : {kind}")
            return self.result(f"arith.subi {zero}, {operands[0]} : {kind}")
        table = _FLOATING if dtype in FLOATS else {**_WHOLE, **(_UNSIGNED if dtype in UNSIGNED else _SIGNED)}
        if name not in table:
            return self.call(value, operands)
        return self.result(f"{table[name]} {', '.join(operands)} : {kind}")

    def call(self, value: Apply, operands: Sequence[str]) -> str:
        """An operation that MLIR has not, as a call of a function that is only declared."""
        types = [mlir_type(value.dtype)] * len(operands)
        result = mlir_type(BY_NAME[value.operation].result(value.dtype))
        name = f"{CALLED}{value.operation}_{value.dtype}"
        signature = f"({', '.join(types)}) -> {result}"
        self.called.add(f"func.func private @{name}{signature}")
        return self.result(f"func.call @{name}({', '.join(operands)}) : {signature}")

    def conversion(self, value: Apply) -> str:
        """A conversion; one that keeps the bits of an integer is none in MLIR."""
        operand, source = value.operands[0], value.dtype
        to: ElementType = value.operation.partition("_")[2]  # pyright: ignore[reportAssignmentType]: the name has it
        found = self.value(operand)
        a, b = mlir_type(source), mlir_type(to)
        if value.operation.startswith("bits_"):
            return self.result(f"arith.bitcast {found} : {a} to {b}")
        is_float, gives_float = source in FLOATS or source == "f16", to in FLOATS or to == "f16"
        sign = "u" if (to if is_float else source) in (*UNSIGNED, "bool") else "s"
        if to == "bool":
            zero = self.result(f"arith.constant {'0.0' if is_float else '0'} : {a}")
            compare = f"arith.cmpf une, {found}, {zero}" if is_float else f"arith.cmpi ne, {found}, {zero}"
            return self.result(f"{compare} : {a}")
        if is_float and gives_float:
            name = "arith.extf" if WIDTH[to] > WIDTH[source] else "arith.truncf"
        elif is_float:
            name = f"arith.fpto{sign}i"
        elif gives_float:
            name = f"arith.{sign}itofp"
        elif WIDTH[to] == WIDTH[source] and source != "bool":
            return found
        else:
            name = "arith.trunci" if WIDTH[to] < WIDTH[source] and source != "bool" else f"arith.ext{sign}i"
        return self.result(f"{name} {found} : {a} to {b}")

    def truth(self, value: Expression) -> str:
        """A condition as an i1."""
        if isinstance(value, Apply) and value.operation in _ORDER:
            a, b = (self.value(operand) for operand in value.operands)
            kind, name = mlir_type(value.dtype), value.operation
            if value.dtype in FLOATS:
                predicate = "une" if name == "ne" else f"o{name}"
                return self.result(f"arith.cmpf {predicate}, {a}, {b} : {kind}")
            sign = "" if name in ("eq", "ne") else "u" if value.dtype in (*UNSIGNED, "bool") else "s"
            return self.result(f"arith.cmpi {sign}{name}, {a}, {b} : {kind}")
        if isinstance(value, Apply) and value.operation in ("and", "or") and all(map(_is_truth, value.operands)):
            a, b = (self.truth(operand) for operand in value.operands)
            return self.result(f"arith.{value.operation}i {a}, {b} : i1")
        if isinstance(value, Constant):
            return self.result(f"arith.constant {'true' if value.value else 'false'}")
        if expression_type(value, self.nest) == "bool":
            return self.value(value)
        if isinstance(value, Apply) and value.operation == "to_i32" and value.dtype == "bool":
            return self.value(value.operands[0])
        found, zero = self.value(value), self.result("arith.constant 0 : i32")
        return self.result(f"arith.cmpi ne, {found}, {zero} : i32")


def _is_truth(value: Expression) -> bool:
    """Whether an expression is a comparison, or comparisons joined: 0 or 1 as an i32."""
    if not isinstance(value, Apply):
        return False
    if value.operation in ("and", "or") and value.dtype == "i32":
        return all(map(_is_truth, value.operands))
    return value.operation in _ORDER


def _quote_form(form: Affine) -> str:
    return f'"{form}"'


def affine_text(form: Affine, names: dict[str, str]) -> str:
    """An affine form in MLIR's words."""
    parts = [names[name] if factor == 1 else f"{names[name]} * {factor}" for name, factor in form.terms]
    if form.constant or not parts:
        parts.append(str(form.constant))
    return " + ".join(parts).replace("+ -", "- ")


def constant_text(number: float, dtype: ElementType) -> str:
    """A constant with its type; infinities and NaN by their bits."""
    kind = mlir_type(dtype)
    if dtype in FLOATS:
        text = repr(float(number))
        if text in ("inf", "-inf", "nan"):
            bits = {"f32": ("0x7F800000", "0xFF800000", "0x7FC00000")}.get(
                dtype, ("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000")
            )
            return f"{bits[('inf', '-inf', 'nan').index(text)]} : {kind}"
        mantissa, _, exponent = text.partition("e")
        mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
        return f"{mantissa}{f'e{exponent}' if exponent else ''} : {kind}"
    if dtype == "bool":
        return "true" if number else "false"
    value = int(number)
    return f"{value - (1 << WIDTH[dtype]) if value >> (WIDTH[dtype] - 1) > 0 else value} : {kind}"
