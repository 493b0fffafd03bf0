# SPDX-License-Identifier: Apache-2.0
"""Signature of a program: its parameters, and its arguments with types, shapes and roles.

Plans, C functions, configurations and executables have a signature of this one type, so that inputs are made up,
checked and named in one place for every target. A scalar is an argument of rank 0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from polyloom.ir import arguments
from polyloom.ir.nest import Nest
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Array
from polyloom.sets import Affine, Condition

Dtype = np.dtype[Any]
_WORD = re.compile(r"[^\W\d]\w*")
RESULT = "return"
"""The name of what a function returns. No language has it for an argument."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Extent of a dimension, a polynomial: a sum of products of parameters as `(names, coefficient)` pairs, sorted by
    names, without a coefficient of 0.
    """

    terms: tuple[tuple[tuple[str, ...], int], ...] = ()

    @staticmethod
    def of(affine: Affine) -> Extent:
        constant = {(): affine.constant} if affine.constant else {}
        return _extent({**constant, **{(name,): coefficient for name, coefficient in affine.terms}})

    @staticmethod
    def read(text: str) -> Extent | None:
        """Extent of a text such as `2 * n + 1` or `n*m`, of C or of Python; None where it is something else."""
        words = list(dict.fromkeys(_WORD.findall(text)))
        # Sums and products are written alike in C and Python, whose parser is at hand.
        plain = _WORD.sub(lambda word: f"v{words.index(word[0])}", text)  # a name may be a word of Python's
        try:
            found = _read_tree(ast.parse(plain.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return found.rename_symbols({f"v{n}": word for n, word in enumerate(words)})

    def rename_symbols(self, names: Mapping[str, str]) -> Extent:
        """Extent with other names; those that `names` does not mention stay."""
        return _extent({tuple(sorted(names.get(n, n) for n in product)): value for product, value in self.terms})

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for names, _ in self.terms for name in names)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The integer value; every name must be in `values`."""
        return sum(coefficient * prod(values[name] for name in names) for names, coefficient in self.terms)

    def __str__(self) -> str:
        text = ""
        # The constant stands last, as people write it: `2*n + 1`.
        for names, coefficient in sorted(self.terms, key=lambda term: (not term[0], term[0])):
            factors = [str(abs(coefficient))] if abs(coefficient) != 1 or not names else []
            sign = "-" if coefficient < 0 else ""
            joint = sign if not text else f" {sign or '+'} "
            text += joint + "*".join((*factors, *names))
        return text or "0"


def _extent(terms: Mapping[tuple[str, ...], int]) -> Extent:
    # A normal form: equal polynomials are equal objects.
    return Extent(tuple(sorted((names, value) for names, value in terms.items() if value)))


def _read_tree(tree: ast.expr) -> Extent:
    match tree:
        case ast.Constant(value=int(value)):
            return _extent({(): value})
        case ast.Name(id=name):
            return _extent({(name,): 1})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _product(_extent({(): -1}), _read_tree(operand))
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _sum(_read_tree(left), _read_tree(right))
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            return _sum(_read_tree(left), _product(_extent({(): -1}), _read_tree(right)))
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return _product(_read_tree(left), _read_tree(right))
        case _:
            raise ValueError


def _sum(a: Extent, b: Extent) -> Extent:
    total = dict(a.terms)
    for names, value in b.terms:
        total[names] = total.get(names, 0) + value
    return _extent(total)


def _product(a: Extent, b: Extent) -> Extent:
    total: dict[tuple[str, ...], int] = {}
    for left, x in a.terms:
        for right, y in b.terms:
            names = tuple(sorted((*left, *right)))
            total[names] = total.get(names, 0) + x * y
    return _extent(total)


@dataclass(frozen=True, slots=True)
class Argument:
    """`is_input`: its values count before the run; `is_output`: afterwards. An array may be both."""

    name: str
    dtype: Dtype
    shape: tuple[Extent, ...] = ()
    is_input: bool = True
    is_output: bool = False

    @property
    def is_scalar(self) -> bool:
        return not self.shape

    def extents(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for values of the parameters."""
        return tuple(extent.evaluate(values) for extent in self.shape)

    @property
    def type_name(self) -> str:
        """`f32`, `u8`, `bool`; `struct` for a record."""
        return type_name(self.dtype)


def type_name(dtype: Dtype) -> str:
    """The name that messages use for a type of elements."""
    if dtype.fields is not None:
        return "struct"
    return "bool" if dtype.kind == "b" else f"{dtype.kind}{8 * dtype.itemsize}"


@dataclass(frozen=True, slots=True)
class Signature:
    """`parameters` are what `NAME=VALUE` gives and a run's data show as such; those of `sizes` must be given. A
    parameter may be an argument too, as in C. `assumptions` is the domain of the parameters. Where `is_open`, there may
    be more than `arguments`, and the target knows their names: symbols, addresses."""

    name: str
    parameters: tuple[str, ...]
    sizes: tuple[str, ...]
    arguments: tuple[Argument, ...]
    assumptions: Condition = field(default_factory=Condition)
    is_open: bool = False
    unread: tuple[Argument, ...] = ()
    """What the source declares and its program does not take, because nothing depends on it: it may be given."""

    @property
    def inputs(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.is_input)

    @property
    def outputs(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.is_output)

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)

    def __str__(self) -> str:
        """`gemm(NI, NJ, alpha: f32)`: the parameters, then the scalars; arrays are left out."""
        scalars = (a for a in self.arguments if a.is_input and a.is_scalar and a.name not in self.sizes)
        return f"{self.name}({', '.join((*self.sizes, *(f'{a.name}: {a.type_name}' for a in scalars)))})"


def plan_signature(plan: arguments.Signature, nest: Nest | None = None) -> Signature:
    """The signature of a plan, a program or a nest, whose parameters are sizes and no arguments; `nest` is what a plan
    was made of."""
    results, given = {a.name for a in plan.outputs}, {a.name for a in plan.inputs}
    arrays = (*plan.inputs, *(a for a in plan.outputs if a.name not in given))
    passed = tuple(array_argument(a, is_input=a.name in given, is_output=a.name in results) for a in arrays)
    known = {a.name for a in arrays} | {*plan.parameters, RESULT}
    declared = () if nest is None else (s for s in nest.storage if s.role == "argument" and s.name not in known)
    # An argument on which nothing depends may still be given: the user's call need not change.
    unread = tuple(Argument(s.name, NUMPY[s.dtype], tuple(map(Extent.of, s.shape)), False) for s in declared)
    return Signature(plan.name, plan.parameters, plan.parameters, passed, plan.assumptions, unread=unread)


def array_argument(array: Array, *, is_input: bool, is_output: bool) -> Argument:
    return Argument(array.name, NUMPY[array.dtype], tuple(map(Extent.of, array.shape)), is_input, is_output)
