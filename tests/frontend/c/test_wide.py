# SPDX-License-Identifier: Apache-2.0
"""64 bits as pairs: each rule is proved, each function of the library's header is proved equal to its replacement, and
runs at the ends of the types give the function's own bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.frontend.c.helpers import HERE
from tests.frontend.python.helpers import assert_same, meaning

from polyloom.frontend import c
from polyloom.frontend.c.choose_function import choose_function
from polyloom.frontend.c.clang import cached_trees, syntax_tree
from polyloom.frontend.c.narrow import pairs
from polyloom.frontend.c.narrow.functions import narrow_functions, result_term, with_result
from polyloom.frontend.c.narrow.pairs import Pair, Term
from polyloom.frontend.dependencies import source_dependencies
from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts
from polyloom.frontend.source import Options
from polyloom.ir.numbers import NUMPY

z3: Any = pytest.importorskip("z3")
pytest.importorskip("ziglang", reason="C needs the extra `c`")

STATEMENTS = HERE / "shipped" / "wide.c"
FILE = HERE / "shipped" / "intrinsics.c"
CASES = [
    (path, name)
    for path in (FILE, STATEMENTS)
    for name in re.findall(r"^void (\w+)\(.*\{", path.read_text(encoding="utf-8"), re.MULTILINE)
]
EDGES = (
    -(2**31),
    -(2**31) + 1,
    -65537,
    -65536,
    -32769,
    -32768,
    -2,
    -1,
    0,
    1,
    2,
    7,
    32767,
    32768,
    65535,
    2**30,
    2**31 - 1,
)


@pytest.mark.parametrize(("path", "name"), CASES)
def test_bits_at_the_ends_of_types(path: Path, name: str) -> None:
    nest, reference = c.load(str(path), Options(name))
    random = np.random.default_rng(5)
    few = np.array([(a, b) for a in EDGES for b in EDGES], np.int64).T
    many = random.integers(-(2**31), 2**31, (2, 200))
    columns = np.concatenate([few, many], axis=1)
    size = {"n": columns.shape[1]}
    for scalar in (2**30 + 12345, -(2**31), 2**31 - 1):
        inputs = {
            s.name: np.asarray(columns[k % 2] if s.shape else scalar).astype(NUMPY[s.dtype])
            for k, s in enumerate(s for s in nest.storage if s.role == "argument")
        }
        assert_same(meaning(nest, size, inputs), reference(size, inputs))
        if all(s.shape for s in nest.storage if s.role == "argument"):
            break


def proved(claim: Any, *given: Any) -> None:
    solver = z3.Solver()
    solver.set("timeout", 120_000)
    solver.add(*given, z3.Not(claim))
    assert solver.check() == z3.unsat, solver.model() if solver.check() == z3.sat else "unknown"


def bits(term: Term, names: dict[str, Any]) -> Any:
    """The meaning of a term, as a bit vector."""
    if term[0] == "const":
        return z3.BitVecVal(term[1], 32)
    if term[0] == "var":
        return names[term[1]]
    if term[0] == "ite":
        return z3.If(bits(term[1], names) != 0, bits(term[2], names), bits(term[3], names))
    a, b = (bits(each, names) for each in term[1:])
    meanings: dict[str, Callable[[Any, Any], Any]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "shl": lambda a, b: a << b,
        "ashr": lambda a, b: a >> b,
        "lshr": z3.LShR,
        "eq": lambda a, b: z3.If(a == b, z3.BitVecVal(1, 32), z3.BitVecVal(0, 32)),
        "slt": lambda a, b: z3.If(a < b, z3.BitVecVal(1, 32), z3.BitVecVal(0, 32)),
        "ult": lambda a, b: z3.If(z3.ULT(a, b), z3.BitVecVal(1, 32), z3.BitVecVal(0, 32)),
    }
    return meanings[term[0]](a, b)


X, Y = z3.BitVecs("x y", 64)
HALVES = {
    "xl": z3.Extract(31, 0, X), "xh": z3.Extract(63, 32, X), "yl": z3.Extract(31, 0, Y), "yh": z3.Extract(63, 32, Y),
    "t": z3.BitVec("t", 32),
}  # fmt: skip
A, B = Pair(("var", "xl"), ("var", "xh")), Pair(("var", "yl"), ("var", "yh"))


def whole(pair: Pair) -> Any:
    return z3.Concat(bits(pair.high, HALVES), bits(pair.low, HALVES))


def test_sums_and_bits_of_pairs() -> None:
    proved(whole(pairs.add(A, B)) == X + Y)
    proved(whole(pairs.sub(A, B)) == X - Y)
    for name, expected in (("and", X & Y), ("or", X | Y), ("xor", X ^ Y)):
        proved(whole(pairs.bitwise(name, A, B)) == expected)
    proved(whole(pairs.wide_ite(("var", "t"), A, B)) == z3.If(HALVES["t"] != 0, X, Y))
    for value in (0, -1, 1 << 31, -(1 << 31), (1 << 32) + 5, -(1 << 63)):
        proved(whole(pairs.wide_const(value)) == z3.BitVecVal(value, 64))
    proved(whole(pairs.extend(("var", "xl"), signed=True)) == z3.SignExt(32, HALVES["xl"]))
    proved(whole(pairs.extend(("var", "xl"), signed=False)) == z3.ZeroExt(32, HALVES["xl"]))


def test_comparisons_of_pairs() -> None:
    proved((bits(pairs.ordering(A, B, signed=True), HALVES) == 1) == (X < Y))
    proved((bits(pairs.ordering(A, B, signed=False), HALVES) == 1) == z3.ULT(X, Y))
    proved((bits(pairs.equality(A, B), HALVES) == 1) == (X == Y))


@pytest.mark.parametrize("by", range(64))
def test_shifts_of_pairs(by: int) -> None:
    proved(whole(pairs.shl(A, by)) == X << by)
    proved(whole(pairs.shr(A, by, signed=True)) == X >> by)
    proved(whole(pairs.shr(A, by, signed=False)) == z3.LShR(X, by))
    if by < 63:
        proved(whole(pairs.divide_by_power(A, by)) == X / z3.BitVecVal(1 << by, 64))


def test_high_product() -> None:
    """Over the integers: the products of parts are unknowns within their ranges, of which the sum is linear."""
    p00, p01, p10, p11 = z3.Ints("p00 p01 p10 p11")
    m = 1 << 16
    ranges = [
        z3.And(p00 >= 0, p00 <= (m - 1) ** 2),
        *(z3.And(-(m // 2) * (m - 1) <= p, p <= (m // 2 - 1) * (m - 1)) for p in (p01, p10)),
        z3.And(-(m // 2) * (m // 2 - 1) <= p11, p11 <= (m // 2) ** 2),
    ]
    t = p10 + p00 / m
    w = p01 + t % m
    for each in (t, w):  # nothing wraps in between
        proved(z3.And(each >= -(2**31), each < 2**31), *ranges)
    product = p11 * m * m + (p01 + p10) * m + p00
    proved(p11 + t / m + w / m == product / (m * m), *ranges)
    # The term is this formula.
    names = {"a": z3.Int("a"), "b": z3.Int("b")}
    seen = {("a0", "b0"): p00, ("a0", "b1"): p01, ("a1", "b0"): p10, ("a1", "b1"): p11}
    found = integers(pairs.multiply_high(("var", "a"), ("var", "b")), names, seen)
    proved(found == p11 + t / m + w / m, *ranges)


def integers(term: Term, names: dict[str, Any], seen: dict[tuple[str, str], Any]) -> Any:
    """A term over the integers, with products of parts of 16 bits as unknowns."""
    name, a, b = term
    if name == "mul":
        return seen[part(a), part(b)]
    if name == "lshr":
        assert b == pairs.const(16)
        return integers(a, names, seen) / (1 << 16)  # of a product that is at least 0
    if name == "ashr":
        assert b == pairs.const(16)
        return integers(a, names, seen) / (1 << 16)
    if name == "and":
        assert b == pairs.const(0xFFFF)
        return integers(a, names, seen) % (1 << 16)
    assert name == "add"
    return integers(a, names, seen) + integers(b, names, seen)


def part(term: Term) -> str:
    name, of, by = term
    assert (name, by) in (("and", pairs.const(0xFFFF)), ("ashr", pairs.const(16)))
    return f"{of[1]}{0 if name == 'and' else 1}"


def test_high_product_without_signs() -> None:
    """As integers of 32 bits: a = signed a + 2^32 where its sign is set."""
    p, a, b = z3.Ints("p a b")  # the product of the signed values
    m = 1 << 32
    given = [-(m // 2) <= a, a < m // 2, -(m // 2) <= b, b < m // 2]
    full = p + z3.If(a < 0, b * m, 0) + z3.If(b < 0, a * m, 0) + z3.If(z3.And(a < 0, b < 0), m * m, 0)
    short = p / m + z3.If(a < 0, b, 0) + z3.If(b < 0, a, 0)
    proved((full / m - short) % m == 0, *given)
    names = {"a": z3.BitVec("va", 32), "b": z3.BitVec("vb", 32)}
    high = pairs.multiply_high(("var", "a"), ("var", "b"))
    rest = names["a"] >> 31 & names["b"], names["b"] >> 31 & names["a"]
    proved(
        bits(pairs.multiply_high_unsigned(("var", "a"), ("var", "b")), names) == bits(high, names) + rest[0] + rest[1]
    )


def test_product_of_pairs() -> None:
    """Modulo 2^64, over the integers: the four products of halves are unknowns."""
    p, q, r, s = z3.Ints("p q r s")
    m = 1 << 32
    product = (p + (q + r) * m + s * m * m) % (m * m)
    proved(product % m == p % m, p >= 0)
    proved(product / m == (p / m + q + r) % m, p >= 0)
    made = pairs.mul(A, B)
    assert made.low == ("mul", ("var", "xl"), ("var", "yl"))
    cross = ("add", ("mul", ("var", "xl"), ("var", "yh")), ("mul", ("var", "xh"), ("var", "yl")))
    assert made.high == ("add", pairs.multiply_high_unsigned(("var", "xl"), ("var", "yl")), cross)


# Bodies of functions: what they compute in C, and what their replacement does.

WIDTHS = {
    "char": (8, True), "signed char": (8, True), "unsigned char": (8, False), "short": (16, True), "_Bool": (1, False),
    "unsigned short": (16, False), "int": (32, True), "unsigned int": (32, False), "long": (64, True),
    "unsigned long": (64, False), "long long": (64, True), "unsigned long long": (64, False),
}  # fmt: skip


class Machine:
    """C's meaning of a function of integers, in bit vectors; a product of 64 bits is an unknown for each pair of
    operands."""

    def __init__(self, functions: dict[str, Node]) -> None:
        self.functions = functions
        self.products = list[tuple[Any, Any, Any]]()

    def call(self, function: Node, arguments: list[Any]) -> Any:
        parameters = [n for n in function.inner if n.kind == "parameter"]
        names = dict(zip((p.symbol for p in parameters), arguments, strict=True))
        width = WIDTHS[function.ctype.partition(" (")[0]][0]
        state = {"done": z3.BoolVal(False), "result": z3.BitVecVal(0, width)}
        self.execute(function.inner[-1], names, state, z3.BoolVal(True))
        return state["result"]

    def execute(self, node: Node, names: dict[str, Any], state: dict[str, Any], guard: Any) -> None:
        node = strip_casts(node)
        active = z3.And(guard, z3.Not(state["done"]))
        if node.kind == "block":
            for child in node.inner:
                self.execute(child, names, state, guard)
        elif node.kind == "declare":
            for each in node.inner:
                value = self.value(each.inner[-1], names) if each.initial else z3.BitVecVal(0, WIDTHS[each.ctype][0])
                names[each.symbol] = value
        elif node.kind == "return":
            state["result"] = z3.If(active, self.value(node.inner[0], names), state["result"])
            state["done"] = z3.Or(state["done"], guard)
        elif node.kind == "if":
            test = self.truth(node.inner[0], names)
            self.execute(node.inner[1], names, state, z3.And(active, test))
            if len(node.inner) > 2:
                self.execute(node.inner[2], names, state, z3.And(active, z3.Not(test)))
        elif node.opcode == "=":
            self.store(node.inner[0], self.value(node.inner[1], names), names, active)
        elif node.opcode == "++":
            self.store(node.inner[0], self.value(node.inner[0], names) + 1, names, active)
        else:
            raise AssertionError(node.kind)

    def store(self, target: Node, value: Any, names: dict[str, Any], active: Any) -> None:
        symbol = strip_casts(target).symbol
        names[symbol] = z3.If(active, value, names[symbol])

    def value(self, node: Node, names: dict[str, Any]) -> Any:
        node = strip_casts(node)
        width = WIDTHS[node.ctype][0]
        if node.kind == "integer":
            return z3.BitVecVal(int(str(node.value)), width)
        if node.kind == "name":
            return names[node.symbol]
        if node.kind in CASTS:
            return self.cast(self.value(node.inner[0], names), strip_casts(node.inner[0]).ctype, node.ctype)
        if node.kind == "choose":
            arms = [self.value(arm, names) for arm in node.inner[1:]]
            return z3.If(self.truth(node.inner[0], names), *arms)
        if node.kind == "call":
            return self.call(self.functions[callee_name(node)], [self.value(a, names) for a in node.inner[1:]])
        if node.kind == "unary":
            one = self.value(node.inner[0], names)
            return {"-": lambda: -one, "~": lambda: ~one, "+": lambda: one}[node.opcode]()
        return self.binary(node, names, width)

    def binary(self, node: Node, names: dict[str, Any], width: int) -> Any:
        if node.opcode in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
            return z3.If(self.truth(node, names), z3.BitVecVal(1, width), z3.BitVecVal(0, width))
        a, b = (self.value(child, names) for child in node.inner)
        signed = WIDTHS[node.ctype][1]
        if node.opcode in ("<<", ">>") and b.size() != width:
            b = z3.ZeroExt(width - b.size(), b) if b.size() < width else z3.Extract(width - 1, 0, b)
        match node.opcode:
            case "*" if width == 64:
                return self.product(a, b)
            case "<<":
                return a << b
            case ">>":
                return a >> b if signed else z3.LShR(a, b)
            case "/":
                return a / b if signed else z3.UDiv(a, b)
            case _:
                return {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[node.opcode]

    def product(self, a: Any, b: Any) -> Any:
        for x, y, found in self.products:
            if z3.eq(x, a) and z3.eq(y, b):
                return found
        found = z3.BitVec(f"product{len(self.products)}", 64)
        self.products.append((a, b, found))
        return found

    def truth(self, node: Node, names: dict[str, Any]) -> Any:
        node = strip_casts(node)
        if node.opcode in ("&&", "||") and len(node.inner) == 2:
            return (z3.And if node.opcode == "&&" else z3.Or)(*(self.truth(child, names) for child in node.inner))
        if node.opcode in ("<", ">", "<=", ">=", "==", "!="):
            a, b = (self.value(child, names) for child in node.inner)
            signed = WIDTHS[strip_casts(node.inner[0]).ctype][1]

            def less(x: Any, y: Any) -> Any:
                return x < y if signed else z3.ULT(x, y)

            return {
                "<": lambda: less(a, b),
                ">": lambda: less(b, a),
                "<=": lambda: z3.Not(less(b, a)),
                ">=": lambda: z3.Not(less(a, b)),
                "==": lambda: a == b,
                "!=": lambda: a != b,
            }[node.opcode]()
        return self.value(node, names) != 0

    def cast(self, value: Any, source: str, to: str) -> Any:
        (_, signed), width = WIDTHS[source], WIDTHS[to][0]
        if value.size() >= width:
            return z3.Extract(width - 1, 0, value)
        return (z3.SignExt if signed else z3.ZeroExt)(width - value.size(), value)


def wide_functions() -> Iterator[tuple[str, dict[str, Node], dict[str, Node]]]:
    with cached_trees():
        unit = syntax_tree(str(FILE), Options())
    _, functions = choose_function(str(FILE), unit, "high", source_dependencies(str(FILE)))
    before = {f.name: f for f in functions.values()}
    after = {f.name: f for f in narrow_functions(functions).values()}
    return ((name, before, after) for name in before if after[name] is not before[name])


REPLACED = {name: (before, after) for name, before, after in wide_functions()}


def test_functions_that_are_replaced() -> None:
    assert sorted(REPLACED) == [
        "add_clipped", "average_unsigned", "is_larger", "multiply_add_high", "multiply_doubling", "multiply_high",
        "multiply_q15_part", "multiply_q31_clipped", "multiply_rounding", "multiply_subtract_high", "multiply_unsigned",
        "subtract_clipped", "towards_zero",
    ]  # fmt: skip


@pytest.mark.parametrize("name", sorted(REPLACED))
def test_replacement_is_equal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo products, whose rules are proved above: each is the same unknown in both."""
    before, _ = REPLACED[name]
    machine = Machine(before)
    parameters = [n for n in before[name].inner if n.kind == "parameter"]
    arguments = [z3.BitVec(p.name, WIDTHS[p.ctype][0]) for p in parameters]
    expected = machine.call(before[name], arguments)
    products = dict[str, Any]()

    def unknown(a: Pair, b: Pair) -> Pair:
        del a, b
        # Both executions meet the products in the order of the text.
        number = len(products) // 2
        found = machine.products[number][2]
        products[f"{number}.low"] = z3.Extract(31, 0, found)
        products[f"{number}.high"] = z3.Extract(63, 32, found)
        return Pair(("var", f"{number}.low"), ("var", f"{number}.high"))

    monkeypatch.setattr(pairs, "mul", unknown)
    term = result_term(before[name], before)
    assert term is not None
    at = before[name].inner[-1]
    unknowns = [Node("parameter", at.span, "int", name=each, symbol=each) for each in products]
    function = replace(before[name], inner=(*parameters, *unknowns, at))
    own = {p.symbol: argument for p, argument in zip(parameters, arguments, strict=True)}
    result = Machine({}).call(with_result(function, term), [*own.values(), *products.values()])
    proved(result == expected)
