# SPDX-License-Identifier: Apache-2.0
"""Functions that compute with 64 bits in between, in 32 bits: multiply-high, rounding and saturating products, as the
plain C of signal libraries has them.

A function of integers of up to 32 bits, without loops and memory, is executed symbolically (King 1976), with pairs for
what has 64 bits (`pairs`); branches become selections. Its result is written as statements of 32 bits. What a function
is called plays no part: its body is what is replaced, step by step, by what is equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from polyloom.frontend.c.narrow import pairs
from polyloom.frontend.c.narrow.pairs import Pair, Term, const, op
from polyloom.frontend.c.narrow.terms import statements
from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.returns import replace_returns
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts

Value = Term | Pair
Names = dict[str, Value]
_RESULT: Final = "@result"
WIDTHS: Final = {
    "_Bool": (1, False),
    "char": (8, True),
    "signed char": (8, True),
    "unsigned char": (8, False),
    "short": (16, True),
    "unsigned short": (16, False),
    "int": (32, True),
    "unsigned int": (32, False),
    "long": (64, True),
    "unsigned long": (64, False),
    "long long": (64, True),
    "unsigned long long": (64, False),
}
"""Bits, and whether there is a sign, by type."""
_BINARY: Final = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "shl"}


class Unknown(Exception):
    """What symbolic execution does not follow."""


def narrow_functions(functions: Mapping[str, Node]) -> dict[str, Node]:
    """The functions of a file, by identity; those that compute with 64 bits in between compute with 32 bits."""
    names = {f.name: f for f in functions.values()}
    found = dict[str, Node]()
    for identity, function in functions.items():
        term = result_term(function, names)
        found[identity] = function if term is None else with_result(function, term)
    return found


def result_term(function: Node, functions: Mapping[str, Node]) -> Term | None:
    """Term of 32 bits that a function returns, over its parameters; None where it needs none, or is beyond this.
    `functions` are those that it may call, by name.
    """
    parameters = [n for n in function.inner if n.kind == "parameter"]
    narrow = all(
        WIDTHS.get(each, (64, True))[0] <= 32 for each in (_result_type(function), *(p.ctype for p in parameters))
    )
    if not narrow or not any(WIDTHS.get(n.ctype, (0, False))[0] == 64 for n in function.inner[-1]):
        return None
    try:
        found = _call_result(function, [("var", p.symbol) for p in parameters], functions, (function.name,))
    except (Unknown, RecursionError):
        return None
    assert not isinstance(found, Pair)
    return found


def with_result(function: Node, term: Term) -> Node:
    """The function with a body that computes a term."""
    parameters = {n.symbol: n for n in function.inner if n.kind == "parameter"}
    body = tuple(statements(term, function, parameters, _result_type(function)))
    return replace(function, inner=(*parameters.values(), replace(function.inner[-1], inner=body)))


def _result_type(function: Node) -> str:
    return function.ctype.partition(" (")[0].partition("(")[0].strip()


def _call_result(function: Node, arguments: list[Value], functions: Mapping[str, Node], path: tuple[str, ...]) -> Value:
    """The value that a function returns for arguments."""
    parameters = [n for n in function.inner if n.kind == "parameter"]
    if len(path) > 16 or len(parameters) != len(arguments):
        raise Unknown
    result = Node("variable", function.span, _result_type(function), name="result", symbol=_RESULT)
    body = replace_returns(function.inner[-1], result)
    if body is None:
        raise Unknown
    names = dict(zip((p.symbol for p in parameters), arguments, strict=True))
    # `returning` moves what stands behind a `return` under `else`: every path assigns the result.
    Execution(functions, path).statement(body, names)
    if _RESULT not in names:
        raise Unknown
    return names[_RESULT]


class Execution:
    """Symbolic execution in one function; `path` are the functions that are being executed."""

    def __init__(self, functions: Mapping[str, Node], path: tuple[str, ...] = ()) -> None:
        self.functions, self.path = functions, path

    def statement(self, node: Node, names: Names) -> None:
        bare = strip_casts(node)
        if bare.kind == "block":
            for child in bare.inner:
                self.statement(child, names)
        elif bare.kind == "declare":
            for declaration in bare.inner:
                if declaration.storage or declaration.ctype not in WIDTHS:
                    raise Unknown
                names.pop(declaration.symbol, None)
                if declaration.initial:
                    names[declaration.symbol] = self.value(declaration.inner[-1], names)
        elif bare.kind == "if":
            self._branch(bare, names)
        elif bare.kind == "nothing" or not bare.kind:
            return
        elif bare.kind == "binary" and bare.opcode == "=":
            self._assign(bare.inner[0], self.value(bare.inner[1], names), names)
        elif bare.kind == "update":
            self._update(bare, names)
        elif bare.kind == "unary" and bare.opcode in ("++", "--"):
            one = const(1) if WIDTHS[bare.ctype][0] < 64 else pairs.wide_const(1)
            value = self._binary(bare.opcode[0], self.value(bare.inner[0], names), one, bare.ctype)
            self._assign(bare.inner[0], convert_integer(value, bare.ctype, bare.ctype), names)
        else:
            raise Unknown

    def _branch(self, node: Node, names: Names) -> None:
        test = self.truth(node.inner[0], names)
        first, second = dict(names), dict(names)
        self.statement(node.inner[1], first)
        if len(node.inner) > 2:
            self.statement(node.inner[2], second)
        names.clear()
        for name in first.keys() & second.keys():
            names[name] = _selection(test, first[name], second[name])
        # What only one branch assigns has no value behind both: a `return` in each of them is one.
        if _RESULT in first.keys() ^ second.keys():
            raise Unknown

    def _assign(self, target: Node, value: Value, names: Names) -> None:
        target = strip_casts(target)
        if target.kind != "name" or target.ctype not in WIDTHS:
            raise Unknown
        names[target.symbol] = value

    def _update(self, node: Node, names: Names) -> None:
        target, computed = node.inner[0], node.types[0] if node.types else node.ctype
        left = convert_integer(self.value(target, names), target.ctype, computed)
        right = self.value(node.inner[1], names)
        value = self._operation(node.opcode[:-1], left, right, computed, node.inner[1].ctype)
        self._assign(target, convert_integer(value, computed, target.ctype), names)

    def value(self, node: Node, names: Names) -> Value:
        node = strip_casts(node)
        if node.ctype not in WIDTHS:
            raise Unknown
        if node.kind in ("integer", "character"):
            assert isinstance(node.value, int | str)
            number = int(node.value)
            return const(number) if WIDTHS[node.ctype][0] < 64 else pairs.wide_const(number)
        if node.kind == "name" and node.symbol in names:
            return names[node.symbol]
        if node.kind in CASTS and node.opcode in ("IntegralCast", "IntegralToBoolean", "NoOp"):
            inner = node.inner[0]
            return convert_integer(self.value(inner, names), strip_casts(inner).ctype, node.ctype)
        if node.kind == "choose":
            test = self.truth(node.inner[0], names)
            return _selection(test, self.value(node.inner[1], names), self.value(node.inner[2], names))
        if node.kind == "unary":
            return self._unary(node, names)
        if node.kind == "binary":
            if node.opcode in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
                return self.truth(node, names)
            left, right = (self.value(child, names) for child in node.inner)
            return self._operation(node.opcode, left, right, node.ctype, node.inner[1].ctype)
        if node.kind == "call" and (called := self.functions.get(callee_name(node))) is not None:
            if callee_name(node) in self.path:
                raise Unknown
            given = [self.value(argument, names) for argument in node.inner[1:]]
            return _call_result(called, given, self.functions, (*self.path, callee_name(node)))
        raise Unknown

    def _unary(self, node: Node, names: Names) -> Value:
        if node.opcode == "!":
            return pairs.negation(self.truth(node.inner[0], names))
        if node.opcode not in ("+", "-", "~"):
            raise Unknown
        value = self.value(node.inner[0], names)
        zero: Value = pairs.wide_const(0) if isinstance(value, Pair) else const(0)
        ones: Value = pairs.wide_const(-1) if isinstance(value, Pair) else const(-1)
        if node.opcode == "~":
            return self._binary("^", value, ones, node.ctype)
        return value if node.opcode == "+" else self._binary("-", zero, value, node.ctype)

    def _operation(self, opcode: str, left: Value, right: Value, ctype: str, of: str) -> Value:
        """An arithmetic operation of a type; `of` is the type of the right operand, which is a shift's own."""
        width, signed = WIDTHS[ctype]
        if opcode in ("<<", ">>"):
            amount = right.low if isinstance(right, Pair) else right
            if isinstance(left, Pair):
                if amount[0] != "const" or not 0 <= amount[1] < 64:
                    raise Unknown
                return pairs.shl(left, amount[1]) if opcode == "<<" else pairs.shr(left, amount[1], signed)
            return op("shl" if opcode == "<<" else "ashr" if signed else "lshr", left, amount)
        if opcode == "/" and isinstance(left, Pair) and isinstance(right, Pair) and signed:
            return pairs.divide_by_power(left, _power(right))
        if opcode == "/" and width == 32 and signed and not isinstance(left, Pair):
            found = pairs.divide_by_power(pairs.extend(left, signed=True), _power(convert_integer(right, of, "long")))
            return found.low
        return self._binary(opcode, left, right, ctype)

    def _binary(self, opcode: str, left: Value, right: Value, ctype: str) -> Value:
        if opcode not in ("+", "-", "*", "&", "|", "^"):
            raise Unknown
        if isinstance(left, Pair) and isinstance(right, Pair):
            whole = {"+": pairs.add, "-": pairs.sub, "*": pairs.mul}
            return whole[opcode](left, right) if opcode in whole else pairs.bitwise(_BINARY[opcode], left, right)
        if isinstance(left, Pair) or isinstance(right, Pair):
            raise Unknown
        return op(_BINARY[opcode], left, right)

    def truth(self, node: Node, names: Names) -> Term:
        """A condition, as 0 or 1."""
        node = strip_casts(node)
        if node.kind in CASTS and node.opcode == "IntegralToBoolean":
            return self.truth(node.inner[0], names)
        if node.opcode in ("&&", "||") and len(node.inner) == 2:
            left, right = (self.truth(child, names) for child in node.inner)
            return op("and" if node.opcode == "&&" else "or", left, right)
        if node.kind == "unary" and node.opcode == "!":
            return pairs.negation(self.truth(node.inner[0], names))
        if node.kind == "binary" and node.opcode in ("<", ">", "<=", ">=", "==", "!="):
            left, right = node.inner
            return _comparison(node.opcode, self.value(left, names), self.value(right, names), strip_casts(left).ctype)
        value = self.value(node, names)
        zero: Value = pairs.wide_const(0) if isinstance(value, Pair) else const(0)
        return _comparison("!=", value, zero, node.ctype)


def _comparison(opcode: str, a: Value, b: Value, ctype: str) -> Term:
    signed = WIDTHS.get(ctype, (32, True))[1] or WIDTHS[ctype][0] < 32
    if opcode in ("==", "!="):
        both = isinstance(a, Pair) and isinstance(b, Pair)
        found = pairs.equality(a, b) if both and isinstance(a, Pair) and isinstance(b, Pair) else None
        if found is None:
            if isinstance(a, Pair) or isinstance(b, Pair):
                raise Unknown
            found = op("eq", a, b)
        return found if opcode == "==" else pairs.negation(found)
    if opcode in (">", "<="):
        found = _order_comparison(b, a, signed)
        return found if opcode == ">" else pairs.negation(found)
    found = _order_comparison(a, b, signed)
    return found if opcode == "<" else pairs.negation(found)


def _order_comparison(a: Value, b: Value, signed: bool) -> Term:
    if isinstance(a, Pair) and isinstance(b, Pair):
        return pairs.ordering(a, b, signed)
    if isinstance(a, Pair) or isinstance(b, Pair):
        raise Unknown
    return op("slt" if signed else "ult", a, b)


def _selection(test: Term, a: Value, b: Value) -> Value:
    if isinstance(a, Pair) and isinstance(b, Pair):
        return pairs.wide_ite(test, a, b)
    if isinstance(a, Pair) or isinstance(b, Pair):
        raise Unknown
    return pairs.ite(test, a, b)


def _power(value: Value) -> int:
    """The exponent of a constant power of two."""
    if not isinstance(value, Pair) or value.low[0] != "const" or value.high[0] != "const":
        raise Unknown
    number = (value.high[1] << 32) | (value.low[1] & 0xFFFFFFFF)
    if number <= 0 or number & (number - 1):
        raise Unknown
    return number.bit_length() - 1


def convert_integer(value: Value, source: str, to: str) -> Value:
    """Conversion between integers (C17, section 6.3.1.3); those of fewer than 32 bits are kept extended."""
    if source not in WIDTHS or to not in WIDTHS:
        raise Unknown
    (_, signed), (width, keeps) = WIDTHS[source], WIDTHS[to]
    if to == "_Bool":
        zero: Value = pairs.wide_const(0) if isinstance(value, Pair) else const(0)
        return _comparison("!=", value, zero, source)
    if width == 64:
        return value if isinstance(value, Pair) else pairs.extend(value, signed)
    low = value.low if isinstance(value, Pair) else value
    if width == 32 or (width, keeps) == WIDTHS[source]:
        return low
    if not keeps:
        return op("and", low, const((1 << width) - 1))
    return op("ashr", op("shl", low, const(32 - width)), const(32 - width))
