# SPDX-License-Identifier: Apache-2.0
"""Printer and reader of stage programs.

    array A: f32[N, K]
    product R[i, j] = sum k: A[i, k] * B[k, j]; label C; roundings 1
    fold m[i] = maximum j: R[i, j]; label m
    formula C_1[i, j] = add(mul(alpha[], R[i, j]), C[i, j]); label C; summed K
    output C = C_1[0, 1]

An output's index has, for each dimension of the array that a stage computes, the position of the output's own, or where
it is fixed behind `at`. `A?[i + 1]` is 0 where there is no such element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar, get_args

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.formula import Apply, Leaf, Number, Output, Sum, Term
from polyloom.ir.operations import ElementType
from polyloom.ir.stage import Fold, Formula, Product, Program, Stage
from polyloom.sets import Affine

T = TypeVar("T")
_ANY_SIZE: Final = "sizes may be 0"
_ANY_ARRAY: Final = "arrays have elements"


def print_stages(program: Program) -> str:
    """A line per array, per stage and per output."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    for name, shape in program.shapes.items():
        yield f"array {name}: {program.types[name]}[{_join(shape)}]"
    for stage in program.stages:
        body = _product(stage) if isinstance(stage, Product) else _formula(stage)
        yield f"{body}; label {stage.label}{_options(stage)}"
    for o in program.outputs:
        at = ", ".join(str(n) if isinstance(n, int) else f"at {n}" for n in o.at)
        yield f"output {o.array} = {o.definition}[{at}]"
    if not program.needs_elements:
        yield _ANY_SIZE
    elif not program.needs_sizes:
        yield _ANY_ARRAY


def _product(p: Product) -> str:
    at = _join(p.dims)
    begins = f"{p.begins}[{at}] + " if p.begins else ""
    return f"product {p.result}[{at}] = {begins}sum {p.over}: {print_term(p.left)} * {print_term(p.right)}"


def _formula(f: Formula) -> str:
    if isinstance(f, Fold):
        part = f" from {f.part[0]} to {f.part[1]}" if f.part else ""
        return f"fold {f.result}[{_join(f.dims)}] = {f.operation} {f.over}{part}: {print_term(f.term)}"
    return f"formula {f.result}[{_join(f.dims)}] = {print_term(f.term)}"


def _options(stage: Stage) -> str:
    if isinstance(stage, Formula):
        return f"; summed {_join(stage.summed)}" if stage.summed else ""
    found = [f"widened {stage.widened}"] if stage.widened else []
    found += [f"roundings {stage.roundings}"] if stage.roundings else []
    found += ["ordered"] if stage.is_ordered else []
    found += ["spread"] if stage.is_spread else []
    return "".join(f"; {each}" for each in found)


def print_term(term: Term) -> str:
    match term:
        case Leaf():
            return f"{term.array}{'?' if term.padded else ''}[{_join(term.index)}]"
        case Number():
            return repr(term.value)
        case Apply():
            return f"{term.operation}({', '.join(map(print_term, term.operands))})"
        case Sum():
            return f"({'sum' if term.operation == 'add' else term.operation} {term.dimension}: {print_term(term.term)})"


def _join(items: tuple[object, ...]) -> str:
    return ", ".join(map(str, items))


def read_stages(text: str) -> Program:
    """The program of such a text; spans are not part of it. Errors: PL0979 for a line of another form."""
    types, shapes = dict[str, ElementType](), dict[str, tuple[Affine, ...]]()
    stages, outputs, needs_elements, needs_sizes = list[Stage](), list[Output](), True, True
    for line in text.splitlines():
        reader = _Reader(line)
        match reader.take_token():
            case "array":
                name, dtype, shapes[name] = (
                    reader.take_token(),
                    reader.expect_value(":"),
                    tuple(reader.items(reader.affine)),
                )
                types[name] = next(t for t in get_args(ElementType) if t == dtype)
            case "product":
                stages.append(reader.product())
            case "formula":
                stages.append(reader.formula())
            case "fold":
                stages.append(reader.fold())
            case "output":
                array, definition = reader.take_token(), reader.expect_value("=")
                outputs.append(Output(array, definition, tuple(reader.items(reader.place))))
            case "sizes":
                needs_elements = False
            case "arrays":
                needs_sizes = False
            case _:
                raise _ill_formed(line)
    return Program(tuple(stages), types, shapes, tuple(outputs), needs_elements, needs_sizes)


_TOKEN: Final = re.compile(r"\s*([^\W\d][\w.]*|\d+(?:\.\d+)?(?:e[+-]?\d+)?|.)")


def _ill_formed(line: str) -> PolyloomError:
    return input_error("PL0979", f"no line of a program of stages: {line}", help="write it as the printer does")


class _Reader:
    """Reader of a line, token by token, by recursive descent (mutable)."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.tokens = [found.group(1) for found in _TOKEN.finditer(line)]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take_token(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def skip(self, token: str) -> bool:
        """Whether this comes next, which is then read."""
        self.at += (found := self.peek() == token)
        return found

    def expect(self, token: str) -> None:
        if not self.skip(token):
            raise _ill_formed(self.line)

    def expect_value(self, token: str) -> str:
        self.expect(token)
        return self.take_token()

    def items(self, one: Callable[[], T], begin: str = "[", end: str = "]") -> Iterator[T]:
        self.expect(begin)
        while not self.skip(end):
            yield one()
            if self.peek() != end:
                self.expect(",")

    def affine(self) -> Affine:
        total = Affine()
        while True:
            sign = -1 if self.skip("-") else 1
            token = self.take_token()
            if token.isdigit():
                total += Affine.symbol(self.take_token()) * (sign * int(token)) if self.skip("*") else sign * int(token)
            else:
                total += Affine.symbol(token) * sign
            if self.peek() != "-" and not self.skip("+"):
                return total

    def place(self) -> int | Affine:
        return self.affine() if self.skip("at") else int(self.take_token())

    def leaf(self) -> Leaf:
        name, padded = self.take_token(), self.skip("?")
        return Leaf(name, tuple(self.items(self.affine)), padded)

    def term(self) -> Term:
        sign = -1 if self.skip("-") else 1
        token = self.peek()
        if token[:1].isdigit() or token in ("inf", "nan"):
            value = self.take_token()
            return Number(sign * (int(value) if value.isdigit() else float(value)))
        if self.tokens[self.at + 1 : self.at + 2] != ["("]:
            return self.leaf()
        return Apply(self.take_token(), tuple(self.items(self.term, "(", ")")))

    def product(self) -> Product:
        result, dims = self.take_token(), tuple(self.items(self.take_token))
        self.expect("=")
        begins = ""
        if not self.skip("sum"):
            begins = self.leaf().array
            self.expect("+")
            self.expect("sum")
        over = self.take_token()
        self.expect(":")
        left = self.leaf()
        self.expect("*")
        right, more = self.leaf(), self.read_attributes()
        return Product(
            result, dims, left, right, over, more["label"], more.get("widened", ""), begins, "ordered" in more,
            int(more.get("roundings", 0)), is_spread="spread" in more,
        )  # fmt: skip

    def formula(self) -> Formula:
        result, dims = self.take_token(), tuple(self.items(self.take_token))
        self.expect("=")
        term = self.term()
        self.expect(";")
        label, summed = self.expect_value("label"), list[Affine]()
        if self.skip(";"):
            self.expect("summed")
            summed.append(self.affine())
            while self.skip(","):
                summed.append(self.affine())
        return Formula(result, dims, term, label, tuple(summed))

    def fold(self) -> Fold:
        result, dims = self.take_token(), tuple(self.items(self.take_token))
        operation, over, part = self.expect_value("="), self.take_token(), None
        if self.skip("from"):
            part = int(self.take_token()), int(self.expect_value("to"))
        self.expect(":")
        term = self.leaf()
        self.expect(";")
        return Fold(result, dims, term, self.expect_value("label"), over=over, operation=operation, part=part)

    def read_attributes(self) -> Mapping[str, str]:
        found = dict[str, str]()
        while self.skip(";"):
            key = self.take_token()
            found[key] = "" if key in ("ordered", "spread") else self.take_token()
        return found
