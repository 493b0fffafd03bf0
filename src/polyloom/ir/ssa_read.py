# SPDX-License-Identifier: Apache-2.0
"""Reader of the text that `ir.ssa_text` prints: `read(print_ssa(f)) == f`.

Where files and columns of places matter, the text is that of `print_ssa(f, places=True)`. By recursive descent (Aho,
Sethi and Ullman 1986, section 2.4), line by line; lines that begin with `#` are none. The types of values are collected
first, because a use may stand before its definition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn, cast

from polyloom.diagnostics import Source, Span, input_error
from polyloom.ir.ssa import (
    FLAGS,
    GUARDED,
    INDIRECT,
    NOWHERE,
    OPERATIONS,
    ORDERS,
    REASSOCIATED,
    RESULT,
    SPECULATIVE,
    Access,
    Address,
    Block,
    Branch,
    Constant,
    Data,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Order,
    Place,
    Return,
    Switch,
    Terminator,
    Undef,
    Unreachable,
    Value,
    float_constant,
    integer_constant,
)
from polyloom.ir.ssa_externals import EFFECT_NAMES, Effect, External
from polyloom.ir.ssa_text import NO_EFFECT
from polyloom.ir.ssa_types import ADDRESSES, FLOATS, SCALARS, Type

_NAME = r"[\w.$]+"
_WORD = re.compile(
    rf"\s*(?:(?P<file>!\"(?:[^\"\\]|\\.)*\":)|(?P<value>%{_NAME})|(?P<address>@{_NAME}(?:[+-]\d+)?)|"
    rf"(?P<constant>[-\w.+]+:(?:[if]\d|ptr|mask)[\w.]*)|(?P<word>-?{_NAME})|(?P<mark>\S))"
)
_DEFINED = re.compile(rf"%({_NAME}): ([\w.]+)")
_ALL_ORDERS = {order for orders in ORDERS.values() for order in orders if order}


def read(text: str, name: str = "<string>") -> Function:
    """The function of a text. Raises PL0970 with the place."""
    return _Reader(Source(name, text)).function()


class _Reader:
    """The words of a line are consumed from the front; each is (kind, text, place)."""

    def __init__(self, source: Source) -> None:
        self.source, self.next, self.line = source, 0, 0
        self.pointers, self.home = 64, ""
        self.lines = [
            (match.start(), match[0])
            for match in re.finditer(r"[^\n]+", source.text)
            if match[0].strip() and match[0].lstrip()[0] != "#"
        ]
        self.values: dict[str, Value] = {}
        self.words: list[tuple[str, str, int]] = []

    def function(self) -> Function:
        self._advance()
        if self._take("pointers"):
            self.pointers = self._width()
            self._advance()
        externals = tuple(self._externals())
        data = tuple(self._data())
        first = self._read_function()
        others: list[Function] = []
        while self._has_line():
            others.append(self._read_function())
        return replace(first, data=data, others=tuple(others), externals=externals)

    def _read_function(self) -> Function:
        end = next((place for place, text in self.lines[self.next :] if text.lstrip().startswith("function ")), None)
        # In a pass of its own over the function's text: uses may stand before definitions.
        self.values = {
            n: Value(n, t) for n, text in _DEFINED.findall(self.source.text[self.line : end]) if (t := Type.read(text))
        }
        self._keyword("function")
        name = self._word("a name")
        unsigned: set[int] = set()
        restricted: set[int] = set()
        parameters = self._parameters(unsigned, restricted)
        result = self._type() if self._take("-") and self._take(">") else None
        if self._take("zeroext"):
            unsigned.add(RESULT)
        self._mark("{")
        self.home = ""
        place = self._end()
        self.home = place.file
        blocks: list[Block] = []
        self._advance()
        while not self._take("}"):
            blocks.append(self._block(parameters if not blocks else ()))
        if not blocks:
            self._fail("a function has at least one block")
        return Function(
            name,
            result,
            tuple(blocks),
            (),
            frozenset(unsigned),
            pointers=self.pointers,
            place=place,
            restricted=frozenset(restricted),
        )

    def _width(self) -> int:
        width = self._integer()
        if width not in ADDRESSES:
            self._fail(f"pointers have {' or '.join(map(str, ADDRESSES))} bits, not {width}")
        return width

    def _externals(self) -> Iterator[External]:
        while self._take("external"):
            name = self._kind("address", "the name of an external function, such as @f")[1:]
            self._mark("(")
            parameters = tuple(self._types())
            results: tuple[Type, ...] = ()
            if self._take("-") and self._take(">"):
                results = tuple(self._types()) if self._take("(") else (self._type(),)
            effects = self._effects()
            yield External(name, parameters, results, effects)
            self._advance()

    def _types(self) -> Iterator[Type]:
        """Types up to a parenthesis, which is taken."""
        while not self._take(")"):
            yield self._type()
            self._take(",")

    def _effects(self) -> tuple[Effect, ...]:
        if self._take(NO_EFFECT):
            return ()
        found: tuple[Effect, ...] = tuple(effect for effect in EFFECT_NAMES if self._take(effect))
        if not found or self.words:
            self._fail(
                f"expected effects: {NO_EFFECT}, or of {', '.join(EFFECT_NAMES)} those that there are, in this order"
            )
        return found

    def _data(self) -> Iterator[Data]:
        while self._take("data"):
            name = self._kind("address", "the name of a datum, such as @g")[1:]
            self._keyword("align")
            align = self._integer()
            constant = self._take("constant")
            initial = self._word("bytes in hexadecimal") if self.words else ""
            if re.fullmatch(r"(?:[0-9a-f]{2})*", initial) is None:
                self._fail(f"'{initial}' is not a number of bytes in hexadecimal")
            yield Data(name, bytes.fromhex(initial), align, constant, tuple(self._addresses()))
            self._advance()

    def _addresses(self) -> Iterator[tuple[int, Address]]:
        """Pointers of a datum, such as `8=@f`, up to the end of the line."""
        while self.words:
            place = self._integer()
            self._mark("=")
            found = self._operand()
            if not isinstance(found, Address):
                self._fail("a datum contains addresses of data and of functions alone, such as 8=@f")
            yield place, found

    def _block(self, parameters: tuple[Value, ...]) -> Block:
        name = self._word("the name of a block")
        # The parameters of the entry stand in the function's head.
        parameters = self._parameters() if self.words and self.words[0][1] == "(" else parameters
        self._mark(":")
        instructions: list[Instruction] = []
        while True:
            self._advance()
            if (terminator := self._terminator()) is not None:
                self._advance()
                return Block(name, parameters, tuple(instructions), terminator)
            instructions.append(self._read_instruction())

    def _read_instruction(self) -> Instruction:
        results: list[Value] = []
        if self.words and self.words[0][0] == "value":
            results.append(self._parameter())
            while self._take(","):
                results.append(self._parameter())
            self._mark("=")
        if self.words and self.words[0][1] not in OPERATIONS:
            self._fail(f"there is no operation '{self.words[0][1]}'")
        operation = self._word("an operation")
        flags = tuple(flag for flag in iter(lambda: self._flag(), ""))
        callee = self._callee() if operation == "call" else self._word("what it does") if operation == "rmw" else ""
        operands = tuple(self._list(())) if operation != "fence" else ()
        align = self._integer() if self._take("align") else 1
        volatile = self._take("volatile")
        order = cast("Order", self._word("an order")) if self.words and self.words[0][1] in _ALL_ORDERS else ""
        # Alignments are always printed: the default serves hand-written texts.
        access = Access(align, volatile, order) if operation in (*ORDERS, "alloca") else None
        return Instruction(operation, operands, tuple(results), flags, access, callee, self._end())

    def _callee(self) -> str:
        if self._take(INDIRECT):
            return INDIRECT
        is_function = bool(self.words) and self.words[0][0] == "address"
        return self._kind("address" if is_function else "word", "an intrinsic, or @ and a function")

    def _flag(self) -> str:
        return (
            self._word("a flag")
            if self.words and self.words[0][1] in (*FLAGS, SPECULATIVE, GUARDED, REASSOCIATED)
            else ""
        )

    def _terminator(self) -> Terminator | None:
        match self.words[0][1] if self.words else "":
            case "jump":
                self.words.pop(0)
                return Jump(self._edge(), self._end())
            case "branch":
                self.words.pop(0)
                condition = self._operand()
                return Branch(condition, self._comma_edge(), self._comma_edge(), self._end())
            case "switch":
                self.words.pop(0)
                return Switch(self._operand(), self._comma_edge(), tuple(self._cases()), self._end())
            case "return":
                self.words.pop(0)
                return Return(
                    self._operand() if self.words and not self.words[0][1].startswith("!") else None, self._end()
                )
            case "unreachable":
                self.words.pop(0)
                return Unreachable(self._end())
            case _:
                return None

    def _cases(self) -> Iterator[tuple[int, Edge]]:
        while self._take(","):
            case = self._integer()
            self._mark(":")
            yield case, self._edge()

    def _comma_edge(self) -> Edge:
        self._mark(",")
        return self._edge()

    def _edge(self) -> Edge:
        block = self._word("the name of a block")
        if not self._take("("):
            return Edge(block)
        arguments = tuple(self._list((")",)))
        self._mark(")")
        return Edge(block, arguments)

    def _list(self, ends: tuple[str, ...]) -> Iterator[Operand]:
        if self.words and self.words[0][0] in ("value", "address", "constant") and self.words[0][1] not in ends:
            yield self._operand()
            while self._take(","):
                yield self._operand()

    def _parameters(self, unsigned: set[int] | None = None, restricted: set[int] | None = None) -> tuple[Value, ...]:
        """Positions of those that are extended with zeros are added to `unsigned`, where they may be; and likewise
        those of `restrict` pointers."""
        self._mark("(")
        found: list[Value] = []
        while not self._take(")"):
            found.append(self._parameter())
            if unsigned is not None and self._take("zeroext"):
                unsigned.add(len(found) - 1)
            if restricted is not None and self._take("restrict"):
                restricted.add(len(found) - 1)
            self._take(",")
        return tuple(found)

    def _parameter(self) -> Value:
        name = self._kind("value", "a value, such as %x")[1:]
        self._mark(":")
        return Value(name, self._type())

    def _operand(self) -> Operand:
        kind, text, _ = self.words[0] if self.words else ("", "", 0)
        match kind:
            case "value":
                if text[1:] not in self.values:
                    self._fail(f"{text} is not defined")
                self.words.pop(0)
                return self.values[text[1:]]
            case "address":
                self.words.pop(0)
                name = re.split(r"[+-]", text)[0]
                return Address(name[1:], int(text[len(name) :] or 0))
            case "constant":
                found = self._constant(text)
                self.words.pop(0)
                return found
            case _:
                return self._fail("expected a value, a constant such as 4:i32, or @ and a datum")

    def _constant(self, text: str) -> Operand:
        value, _, name = text.rpartition(":")
        if (type := Type.read(name)) is None:
            self._fail(f"there is no type '{name}'")
        if value == "undef":
            return Undef(type)
        try:
            if type.scalar in FLOATS:
                # Floats that decimals do not give, NaNs with a payload, are written as bits.
                return Constant(type, int(value, 16)) if value.startswith("0x") else float_constant(type, float(value))
            found = integer_constant(type, int(value))
        except (ValueError, OverflowError):
            self._fail(f"'{value}' is no constant of type {type}")
        if found.value != int(value):
            self._fail(f"{value} is out of the range of {type}")
        return found

    def _type(self) -> Type:
        word = self.words[0] if self.words else None
        name = self._word("a type")
        if (type := Type.read(name)) is None:
            # Put back, so that the message points at it.
            self.words[:0] = [word] if word else []
            self._fail(
                f"there is no type '{name}'; the types are {', '.join(map(str, SCALARS))}, ptr.1 and so on, vectors "
                "such as i32x8 or i32xN, maskx8"
            )
        return type

    def _file(self) -> str:
        try:
            return str(json.loads(self.words[0][1][1:-1]))
        except ValueError:
            self._fail(f"{self.words[0][1][1:-1]} is no name of a file")
        finally:
            self.words.pop(0)

    def _integer(self) -> int:
        text = self._word("an integer")
        if re.fullmatch(r"-?\d+", text) is None:
            self._fail(f"'{text}' is not an integer")
        return int(text)

    def _end(self) -> Place:
        place = self._place()
        if self.words:
            self._fail(f"'{self.words[0][1]}' does not belong here")
        return place

    def _place(self) -> Place:
        """A line; before it a file, if it is not the function's, behind it a column."""
        file = self.home
        if self.words and self.words[0][0] == "file":
            file = self._file()
        elif not self._take("!"):
            return NOWHERE
        line = self._integer()
        return Place(file, line, self._integer() if self._take(":") else 0)

    def _word(self, what: str) -> str:
        return self._kind("word", what)

    def _keyword(self, word: str) -> None:
        if not self._take(word):
            self._fail(f"expected '{word}'")

    _mark = _keyword

    def _kind(self, kind: str, what: str) -> str:
        if not self.words or self.words[0][0] != kind:
            self._fail(f"expected {what}")
        return self.words.pop(0)[1]

    def _take(self, text: str) -> bool:
        if self.words and self.words[0][1] == text:
            self.words.pop(0)
            return True
        return False

    def _has_line(self) -> bool:
        """Step to the next line, if there is one."""
        if self.next < len(self.lines):
            self._advance()
            return True
        if self.words:
            self._fail(f"'{self.words[0][1]}' does not belong here")
        return False

    def _advance(self) -> None:
        """Step to the next line; the text must not end before the function does."""
        if self.words:
            self._fail(f"'{self.words[0][1]}' does not belong here")
        if self.next == len(self.lines):
            self._fail("the text ends before the function does: it ends in '}'")
        self.line, text = self.lines[self.next]
        self.next += 1
        self.words = [
            (cast("str", m.lastgroup), m[cast("str", m.lastgroup)], self.line + m.start(cast("str", m.lastgroup)))
            for m in _WORD.finditer(text)
        ]

    def _fail(self, message: str) -> NoReturn:
        start, length = (
            (self.words[0][2], len(self.words[0][1]))
            if self.words
            else (len(self.source.text[self.line :].split("\n")[0]) + self.line, 1)
        )
        help = "docs/ssa.md shows the text of a function; `%x: i32 = add %a, 1:i32` is an instruction"
        raise input_error("PL0970", message, span=Span(self.source, start, start + length), help=help)
