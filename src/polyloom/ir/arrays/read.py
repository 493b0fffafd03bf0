# SPDX-License-Identifier: Apache-2.0
"""Reads the text of whole-array programs (`ir.arrays.text`) by recursive descent; there are no spans in the result.

Raises ValueError, with the rest of the text, for what is not of the form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

from polyloom.ir.arrays.program import (
    REDUCTIONS,
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
)
from polyloom.ir.arrays.quotients import read_affine
from polyloom.ir.nest import Storage
from polyloom.ir.operations import ALL_TYPES, ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition, Polyhedron

T = TypeVar("T")
_NAME = r"[^\W\d][\w.]*"
_AFFINE = rf"(?:[+-]?\s*(?:\d+\*)?(?:ceil\{{[^}}]*\}}|{_NAME}|\$\d+|\d+)\s*)+?(?=,|\]|\)|>=)"


def read_arrays(text: str) -> Program:
    """The program that a text is."""
    return _Reader(text).program()


class _Reader:
    """`text` from `place` on is still to be read; `types` are those of the arrays (mutable)."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.types = text, 0, dict[str, ElementType]()

    def expect_pattern(self, pattern: str) -> re.Match[str] | None:
        found = re.compile(rf"\s*(?:{pattern})").match(self.text, self.place)
        self.place = self.place if found is None else found.end()
        return found

    def need(self, pattern: str) -> re.Match[str]:
        found = self.expect_pattern(pattern)
        if found is None:
            raise ValueError(f"expected {pattern} at {self.text[self.place : self.place + 60]!r}")
        return found

    def word(self) -> str:
        return self.need(f"(?P<name>{_NAME})")["name"]

    def program(self) -> Program:
        self.need(r"program\b")
        name = self.word()
        self.need(r"\(")
        parameters = self.items(r"\)", self.word)
        self.need(r"where\b")
        assumptions = self.condition()
        self.need(r"\{")
        storage = list[Storage]()
        while found := self.expect_pattern(rf"(?P<role>argument|local)\s+(?P<fixed>constant\s+)?(?P<name>{_NAME}): "):
            dtype = self.dtype()
            shape = self.forms()
            self.types[found["name"]] = dtype
            role = cast(Any, found["role"])
            storage.append(Storage(found["name"], dtype, shape, role, not found["fixed"]))
        return Program(name, parameters, assumptions, tuple(storage), self.statements())

    def dtype(self) -> ElementType:
        return cast(ElementType, self.need("|".join(sorted(ALL_TYPES, reverse=True)))[0].strip())

    def statements(self) -> tuple[Statement, ...]:
        found = list[Statement]()
        while not self.expect_pattern(r"\}"):
            found.append(self.statement())
        return tuple(found)

    def statement(self) -> Statement:
        if self.expect_pattern(r"for\b(?=\s+\S+ from)"):
            loop = self.word()
            self.need("from")
            lower = self.forms()
            self.need("below")
            upper = self.forms()
            down = self.expect_pattern("downwards") is not None
            self.need(r"\{")
            return For(loop, lower, upper, self.statements(), -1 if down else 1)
        if self.expect_pattern(r"if\b(?=[^=\[]*>=|\s+(?:true|false))"):
            condition = self.condition()
            self.need(r"\{")
            body = self.statements()
            self.need(r"else \{")
            return If(condition, body, self.statements())
        target = self.value()
        self.need("=")
        if not isinstance(target, Read):
            raise ValueError(f"no array is stored to before {self.text[self.place : self.place + 60]!r}")
        return Store(target, self.value())

    def value(self) -> Value:
        for pattern, read in _KINDS:
            if found := self.expect_pattern(pattern):
                return read(self, found)
        name = self.word()
        index = self.forms()
        if name not in self.types:
            raise ValueError(f"unknown array `{name}`")
        return Read(name, self.types[name], index, self.shape())

    def shape(self) -> Shape:
        self.need(":")
        return self.forms()

    def values(self) -> tuple[Value, ...]:
        return self.items(r"\)", self.value)

    def items(self, end: str, read: Callable[[], T]) -> tuple[T, ...]:
        """What is separated by commas, up to an end."""
        found = list[T]()
        while not self.expect_pattern(end):
            if found:
                self.need(",")
            found.append(read())
        return tuple(found)

    def forms(self) -> tuple[Affine, ...]:
        self.need(r"\[")
        return self.items(r"\]", self.form)

    def form(self) -> Affine:
        return read_affine(self.need(_AFFINE)[0])

    def condition(self) -> Condition:
        if self.expect_pattern(r"false\b"):
            return Condition(())
        pieces = [self.piece()]
        while self.expect_pattern(r"or\b"):
            pieces.append(self.piece())
        return Condition(tuple(pieces))

    def piece(self) -> Polyhedron:
        if self.expect_pattern(r"true\b"):
            return Polyhedron()
        found = [self.constraint()]
        while self.expect_pattern(r"and\b"):
            found.append(self.constraint())
        return Polyhedron(tuple(found))

    def constraint(self) -> Affine:
        form = self.form()
        self.need(">= 0")
        return form

    def constant(self, found: re.Match[str]) -> Value:
        dtype, text = cast(ElementType, found["type"]), found["value"]
        return Constant(float(text) if dtype in ("f16", "f32", "f64") else int(text), dtype)

    def iota(self, found: re.Match[str]) -> Value:
        form = self.form()
        self.need(r"\)")
        return Form(form, cast(ElementType, found["type"]), self.shape())

    def view(self, found: re.Match[str]) -> Value:
        del found
        source = self.value()
        self.need(r"\)")
        index = self.forms()
        return View(source, index, self.shape())

    def gather(self, found: re.Match[str]) -> Value:
        source, index = self.values()
        return Gather(source, index, int(found["axis"]))

    def apply(self, found: re.Match[str]) -> Value:
        return Apply(found["operation"], cast(ElementType, found["type"]), self.values())

    def contract(self, found: re.Match[str]) -> Value:
        return Contract(tuple(found["labels"].split(",")), found["result"], self.values())

    def reduce(self, found: re.Match[str]) -> Value:
        axes = self.items(r"\]", lambda: int(self.need(r"\d+")[0]))
        self.need(",")
        source = self.value()
        self.need(r"\)")
        if found["kind"] == "scan":
            return Scan(cast(Any, found["operation"]), axes[0], source)
        return Reduce(cast(Any, found["operation"]), axes, source)

    def cases(self, found: re.Match[str]) -> Value:
        del found
        condition = self.condition()
        self.need(",")
        inside, outside = self.values()
        return Cases(condition, inside, outside, self.shape())


_TYPE = f"(?P<type>{'|'.join(sorted(ALL_TYPES, reverse=True))})"
_KINDS: tuple[tuple[str, Callable[[_Reader, re.Match[str]], Value]], ...] = (
    (rf"{_TYPE}\((?P<value>[^)]*)\)", _Reader.constant),
    (rf"form\.{_TYPE}\(", _Reader.iota),
    (r"view\(", _Reader.view),
    (r"gather\(\[(?P<axis>\d+)\],", _Reader.gather),
    (rf"apply\.(?P<operation>\w+)\.{_TYPE}\(", _Reader.apply),
    (r'contract\("(?P<labels>[^-]*)->(?P<result>[^"]*)", ', _Reader.contract),
    (rf"(?P<kind>reduce)\.(?P<operation>{'|'.join(sorted(REDUCTIONS, reverse=True))})\(\[", _Reader.reduce),
    (r"(?P<kind>scan)\.(?P<operation>add|mul)\(\[", _Reader.reduce),
    (r"cases\(", _Reader.cases),
)
