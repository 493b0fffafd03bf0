# SPDX-License-Identifier: Apache-2.0
"""Parser of *genasm*, the text that `genasm` prints: `read_genasm(print_genasm(m)) == m`.

Recursive descent, line by line; lines that begin with `#` are comments. The types of a function's values are collected
first, because a use may stand before its definition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NoReturn, cast

from polyloom.diagnostics import Source, Span, input_error
from polyloom.ir.ssa import NOWHERE, Data, Place
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.source.genasm import LOADS
from polyloom.targets.belt.source.ir import (
    Address,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Jump,
    Loop,
    Module,
    Nothing,
    Op,
    Operand,
    Order,
    Return,
    Value,
)
from polyloom.targets.belt.value_types import BYTES, Type, Width

_NAME: Final = r"[\w.$]+"
# Far beyond any value of 16 bytes, and short enough that `int` is never asked for a number of a million digits.
_DIGITS: Final = 64
_TYPE: Final = re.compile(r"([bhwdq])(?:x([1-9]\d*))?")
# The order of alternatives matters: a constant such as `4:w` begins like a name.
_WORD: Final = re.compile(
    rf"\s*(?:(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<value>%{_NAME})|(?P<address>@{_NAME}(?:[+-]\d+)?)|"
    rf"(?P<constant>(?:none|-?(?:0x[0-9a-fA-F]+|\d+)):[bhwdq](?:x\d+)?(?![\w.]))|(?P<word>{_NAME})|(?P<mark>->|\S))"
)
_DEFINED: Final = re.compile(rf"%({_NAME}): ([\w]+)")
_HELP: Final = "write it as `polyloom compile --emit genasm` prints it"
_TERMINATORS: Final = ("jump", "branch", "return")


def read_genasm(text: str, name: str = "<string>") -> Module:
    """Parse a module's text. Raises PL1080 with the place."""
    return _Reader(Source(name, text)).module()


class _Reader:
    """Cursor over lines and words. The words of a line are consumed from the front; each is (kind, text, place)."""

    def __init__(self, source: Source) -> None:
        self.source, self.next, self.line, self.home = source, 0, 0, ""
        # With offsets: messages point into the whole text.
        self.lines = [
            (match.start(), match[0])
            for match in re.finditer(r"[^\n]+", source.text)
            if match[0].strip() and match[0].lstrip()[0] != "#"
        ]
        self.values: dict[str, Value] = {}
        self.words: list[tuple[str, str, int]] = []

    def module(self) -> Module:
        """Parse data, then functions, to the end of the text."""
        self._advance()
        data: list[Data] = []
        while self._take("data"):
            data.append(self._datum())
            self._advance()
        functions = [self._function()]
        while self.words:
            functions.append(self._function())
        return Module(tuple(functions), tuple(data))

    def _datum(self) -> Data:
        """Parse `data @NAME align N [constant] BYTES`."""
        name = self._kind("address", "the name of a datum, such as @taps")[1:]
        self._expect("align")
        align = self._integer()
        constant = self._take("constant")
        text = self._word("bytes in hexadecimal") if self.words else ""
        if len(text) % 2 or not re.fullmatch(r"[0-9a-f]*", text):
            self._fail("bytes have two hexadecimal digits each")
        return Data(name, bytes.fromhex(text), align, constant)

    def _function(self) -> Function:
        """Parse a function: its head, blocks and loops up to the closing brace."""
        # Values are collected up to the next head of a function: names are unique in one function only.
        end = next((place for place, text in self.lines[self.next :] if text.startswith("function ")), None)
        self.values = {
            name: Value(name, _type(match))
            for name, text in _DEFINED.findall(self.source.text[self.line : end])
            if (match := _TYPE.fullmatch(text))
        }
        self._expect("function")
        name = self._word("a function's name")
        self._expect("(")
        parameters = self._parameters()
        results: list[Type] = []
        if self._take("->"):
            results.append(self._type())
            while self._take(","):
                results.append(self._type())
        self._expect("{")
        self.home = ""
        place = self._place()
        self.home = place.file
        self._end_line()
        blocks: list[Block | Loop] = []
        while not self._take("}"):
            blocks.append(self._block(parameters if not blocks else None))
        if not blocks:
            self._fail("a function has at least one block")
        self._end_line()
        return Function(name, tuple(results), tuple(blocks), place)

    def _block(self, parameters: tuple[Value, ...] | None) -> Block | Loop:
        """Parse a block or a loop; the first block of a function has the function's parameters."""
        first = self._word("a block's name, or `}`")
        # A block may be called `loop`: then a colon or parameters follow at once.
        is_loop = first == "loop" and not self._has_word(":") and not self._has_word("(")
        name = self._word("a loop's name") if is_loop else first
        own = self._parameters() if self._take("(") else ()
        expected = self._integer() if is_loop and self._take("expected") else None
        reason = cast("str", json.loads(self._kind("string", "a reason"))) if is_loop and self._take("open") else ""
        place = self._place()
        self._expect(":")
        self._end_line()
        ops: list[Op] = []
        order: list[Order] = []
        while not (self._has_word("next") or any(self._has_word(t) for t in _TERMINATORS)):
            if self._take("order"):
                order.append(self._order())
            else:
                ops.append(self._op())
            self._end_line()
        given = own if parameters is None else parameters
        if self._take("next"):
            if not is_loop:
                self._fail("`next` ends loops; blocks end with jump, branch or return")
            carried = self._operands()
            self._end_line()
            return Loop(name, given, tuple(ops), carried, tuple(order), expected, reason, place)
        if is_loop:
            self._fail("a loop ends with `next`")
        terminator = self._terminator()
        self._end_line()
        return Block(name, given, tuple(ops), terminator, tuple(order))

    def _order(self) -> Order:
        source = self._integer()
        self._expect("->")
        sink = self._integer()
        return Order(source, sink, self._integer() if self._take("distance") else 0)

    def _terminator(self) -> Jump | Branch | Return:
        """Parse a jump, branch or return."""
        if self._take("jump"):
            return Jump(self._edge(), self._place())
        if self._take("return"):
            values = self._operands()
            return Return(values, self._place())
        self._expect("branch")
        condition = self._operand()
        self._expect(",")
        then = self._edge()
        self._expect(",")
        orelse = self._edge()
        likely = True if self._take("likely") else False if self._take("unlikely") else None
        return Branch(condition, then, orelse, likely, self._place())

    def _op(self) -> Op:
        """Parse an operation `results = name [width] [volatile] operands`."""
        results: tuple[Value, ...] = ()
        if self._is_kind("value"):
            results = self._parameters("=")
        name = self._word("an operation")
        if name not in OPS:
            self._fail(f"there is no operation `{name}`")
        leaves = name in ("leave", "leavetr", "leavefl")
        # A leave has no width: the word after it is a block's name, which may well be `b` or `w`.
        width = cast("Width", self.words.pop(0)[1]) if not leaves and any(map(self._has_word, BYTES)) else None
        volatile = self._take("volatile")
        if name in LOADS or name == "store":
            op = self._access(name)
        elif name in ("call", "calltr"):
            op = self._call(name)
        elif leaves:
            op = self._leave(name)
        else:
            op = Op(name, self._operands())
        return replace(op, results=results, width=width, place=self._place(), volatile=volatile)

    def _access(self, name: str) -> Op:
        """Parse a memory operand `base, index * scale + offset` and a store's value."""
        operands, scale = [self._operand()], 0
        # An index is known by the `*` behind it: a store's value follows a comma as well.
        if self._has_word(",") and len(self.words) > 2 and self.words[2][1] == "*":
            self._expect(",")
            operands.append(self._operand())
            self._expect("*")
            scale = self._integer()
        offset = self._integer() if self._take("+") else -self._integer() if self._take("-") else 0
        if name == "store":
            self._expect(",")
            operands.append(self._operand())
        return Op(name, tuple(operands), scale=scale, offset=offset)

    def _call(self, name: str) -> Op:
        """Parse a call `[predicate,] @callee(arguments)`."""
        given: list[Operand] = []
        if name == "calltr":
            given.append(self._operand())
            self._expect(",")
        callee = self._kind("address", "a function, such as @f")[1:]
        self._expect("(")
        while not self._take(")"):
            given.append(self._operand())
            self._take(",")
        return Op(name, tuple(given), callee=callee)

    def _leave(self, name: str) -> Op:
        given: tuple[Operand, ...] = ()
        if name != "leave":
            given = (self._operand(),)
            self._expect(",")
        return Op(name, given, edge=self._edge())

    def _edge(self) -> Edge:
        """Parse an edge `block(arguments)`; the parentheses may be missing."""
        target = self._word("a block")
        given: list[Operand] = []
        if self._take("("):
            while not self._take(")"):
                given.append(self._operand())
                self._take(",")
        return Edge(target, tuple(given))

    def _operands(self) -> tuple[Operand, ...]:
        """Operands to the end of the line or to a place."""
        given: list[Operand] = []
        while self.words and not self._has_word("!"):
            given.append(self._operand())
            if not self._take(","):
                break
        return tuple(given)

    def _operand(self) -> Operand:
        """Parse an operand; PL1080 for a value that the function does not define."""
        kind, text, _ = self.words[0] if self.words else ("", "", 0)
        if kind == "value":
            found = self.values.get(text[1:])
            if found is None:
                self._fail(f"{text} is defined nowhere in the function")
            self.words.pop(0)
            return found
        if kind == "address":
            self.words.pop(0)
            name, sign, offset = re.split(r"([+-])", text[1:]) if re.search(r"[+-]", text) else (text[1:], "", "0")
            return Address(name, self._number(sign + offset))
        if kind != "constant":
            self._fail("expected an operand, such as %x, 4:w, none:w or @taps")
        return self._constant(text)

    def _constant(self, text: str) -> Constant | Nothing:
        """Parse a constant `4:w` or `none:w`, which must fit into its width."""
        number, _, written = text.partition(":")
        match = _TYPE.fullmatch(written)
        assert match is not None
        type = _type(match)
        bits = 8 * BYTES[type.width]
        value = 0 if number == "none" else self._number(number)
        # Both readings of a width are taken, -128 and 255 of a b: the bits are the same ones.
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            self._fail(f"{number} does not fit into {type}")
        self.words.pop(0)
        return Nothing(type) if number == "none" else Constant(type, value % (1 << bits))

    def _number(self, text: str) -> int:
        """Number in decimal, or with `0x` in hexadecimal digits; more of them than anything holds are no number."""
        if len(text) > _DIGITS:
            self._fail(f"{text[:20]}... has more than {_DIGITS} digits")
        return int(text, 16 if "x" in text else 10)

    def _parameters(self, end: str = ")") -> tuple[Value, ...]:
        """Typed values up to a mark, which is taken."""
        found: list[Value] = []
        while not self._take(end):
            name = self._kind("value", "a value, such as %x")[1:]
            self._expect(":")
            found.append(Value(name, self._type()))
            if not self._take(","):
                self._expect(end)
                break
        return tuple(found)

    def _type(self) -> Type:
        text = self._word("a type, such as w or wx8")
        match = _TYPE.fullmatch(text)
        if match is None:
            self._fail(f"`{text}` is no type: write b, h, w, d or q, and for a vector its lanes, such as wx8")
        return _type(match)

    def _place(self) -> Place:
        """Source place after `!`; NOWHERE without one. A file's name stands only where it is not the function's."""
        if not self._take("!"):
            return NOWHERE
        file = self.home
        if self._is_kind("string"):
            file = cast("str", json.loads(self._kind("string", "a file")))
            self._expect(":")
        line = self._integer()
        # After a loop's place comes the colon of its head: only a number behind it makes it a column.
        if self._has_word(":") and len(self.words) > 1 and self.words[1][1].isdecimal():
            self._expect(":")
            return Place(file, line, self._integer())
        return Place(file, line)

    def _integer(self) -> int:
        text = self._word("a number")
        if not text.isdecimal() or len(text) > _DIGITS:
            self._fail(f"`{text[:20]}` is no number")
        return int(text)

    def _advance(self) -> None:
        self.words = []
        if self.next < len(self.lines):
            self.line, text = self.lines[self.next]
            self.next += 1
            self.words = list(_words(text, self.line))

    def _end_line(self) -> None:
        if self.words:
            self._fail(f"`{self.words[0][1]}` is too much on this line")
        self._advance()

    def _has_word(self, text: str) -> bool:
        return bool(self.words) and self.words[0][1] == text

    def _is_kind(self, kind: str) -> bool:
        return bool(self.words) and self.words[0][0] == kind

    def _take(self, text: str) -> bool:
        if not self._has_word(text):
            return False
        self.words.pop(0)
        return True

    def _expect(self, text: str) -> None:
        if not self._take(text):
            self._fail(f"expected `{text}`")

    def _kind(self, kind: str, what: str) -> str:
        if not self._is_kind(kind):
            self._fail(f"expected {what}")
        return self.words.pop(0)[1]

    def _word(self, what: str) -> str:
        return self._kind("word", what)

    def _fail(self, message: str) -> NoReturn:
        start, end = (
            (self.words[0][2], self.words[0][2] + len(self.words[0][1])) if self.words else (self.line, self.line + 1)
        )
        raise input_error("PL1080", message, span=Span(self.source, start, end), help=_HELP)


def _type(match: re.Match[str]) -> Type:
    return Type(cast("Width", match[1]), int(match[2] or 1))


def _words(text: str, start: int) -> Iterator[tuple[str, str, int]]:
    for match in _WORD.finditer(text.rstrip()):
        kind = cast("str", match.lastgroup)
        yield kind, match[kind], start + match.start(kind)
