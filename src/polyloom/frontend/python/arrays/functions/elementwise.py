# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions and operators, on arrays and numbers alike."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from polyloom.frontend.python import types
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, as_bool, as_sequence, common_type, truth
from polyloom.ir.arrays.program import Apply
from polyloom.ir.library import LARGEST_POWER, SINGLE
from polyloom.ir.operations import FLOATS, INTEGERS
from polyloom.ir.pla import Constant
from polyloom.sets import Affine

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "shr"}
MOST_BITS, MOST_ITEMS = 1000, 1024
"""Of an integer, which may become a double, and of a list."""
RELATIONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def binary(site: Site, symbol: str, a: Any, b: Any) -> Any:
    """`a symbol b`, of numbers of Python exactly."""
    if symbol == "**":
        return power(site, a, b)
    if isinstance(a, Data) or isinstance(b, Data):
        return binary_data(site, symbol, a, b)
    # `+` of two tuples joins them, as in Python; with an array beside it, a tuple is an array.
    items = as_sequence(a), as_sequence(b)
    if items != (None, None):
        if symbol == "+" and items[0] is not None and items[1] is not None:
            return (*items[0], *items[1])
        if symbol == "*" and (items[0] is None or items[1] is None):
            return repeat_items(site, items[0] or items[1] or (), b if items[1] is None else a)
        return binary(site, symbol, to_array(site, a), to_array(site, b))
    return binary_numbers(site, symbol, a, b)


def repeat_items(site: Site, items: tuple[Any, ...], count: Any) -> tuple[Any, ...]:
    """`[x] * 3`, as Python has it."""
    number = count.constant if isinstance(count, Affine) and count.is_constant else count
    if not isinstance(number, int) or len(items) * number > MOST_ITEMS:
        help = f"repeat it by a constant, up to {MOST_ITEMS} items, or write `np.full`"
        raise site.error("PL0133", f"`{site.source_text}` repeats a list", help)
    return items * number


def to_array(site: Site, value: Any) -> Any:
    return site.call(site, np.array, [value], {}) if isinstance(value, list | tuple) else value


def binary_data(site: Site, symbol: str, a: Any, b: Any) -> Any:
    if symbol in ARITHMETIC:
        return site.apply(ARITHMETIC[symbol], a, b)
    # NumPy divides integers as doubles.
    kind = common_type([a, b]) or np.dtype(np.int64)
    if symbol == "/":
        kind = kind if kind.kind == "f" else np.dtype(np.float64)
        return site.apply("div", a, b, kind=kind)
    if kind.kind == "f":
        help = f"write `np.floor(a / b)`{' and `a - np.floor(a / b) * b`' if symbol == '%' else ''}, or use integers"
        raise site.error("PL0139", f"`{symbol}` of floats cannot stand in a kernel: `{site.source_text}`", help)
    guard = site.builder.guard
    if guard is not None:
        # The other side of a test never faults: there the divisor is 1.
        b = site.select(Data(as_bool(guard)), b, Affine((), 1))
    return site.apply("floordiv" if symbol == "//" else "mod", a, b, kind=kind)


def binary_numbers(site: Site, symbol: str, a: Any, b: Any) -> Any:
    """Of affine forms and floats; what is no affine form is data."""
    a, b = (Affine((), int(v)) if isinstance(v, bool) else v for v in (a, b))
    if isinstance(a, Affine) and isinstance(b, Affine):
        if symbol in ("+", "-"):
            return a + b if symbol == "+" else a - b
        if symbol == "*" and (a.is_constant or b.is_constant):
            return b * a.constant if a.is_constant else a * b.constant
        # Constants are Python's integers of any size; only what becomes data has a type.
        if a.is_constant and b.is_constant:
            return exactly(site, symbol, a.constant, b.constant)
        if symbol == "//" and b.is_constant and b.constant > 0:
            numbers = (a.constant, *(c for _, c in a.terms))
            # A quotient that is whole for all values stays an affine form, and so an index.
            if all(number % b.constant == 0 for number in numbers):
                return Affine(tuple((n, c // b.constant) for n, c in a.terms), a.constant // b.constant)
    elif (isinstance(a, int | float) and isinstance(b, int | float | Affine)) or isinstance(a, Affine):
        plain = [v.constant if isinstance(v, Affine) and v.is_constant else v for v in (a, b)]
        if not any(isinstance(v, Affine) for v in plain):
            return exactly(site, symbol, *plain)
    return binary_data(site, symbol, site.data(a), site.data(b))


def exactly(site: Site, symbol: str, a: Any, b: Any) -> Any:
    """Python's own operation."""
    operations: dict[str, Callable[[Any, Any], Any]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "//": lambda a, b: a // b,
        "%": lambda a, b: a % b,
        "**": lambda a, b: a**b,
        "&": lambda a, b: a & b,
        "|": lambda a, b: a | b,
        "^": lambda a, b: a ^ b,
        "<<": lambda a, b: a << b,
        ">>": lambda a, b: a >> b,
    }
    try:
        # Python would compute integers of any size.
        grows = symbol in ("**", "<<") and isinstance(a, int) and abs(a) > (symbol == "**")
        if grows and isinstance(b, int) and b > MOST_BITS:
            raise OverflowError(f"an integer of more than {MOST_BITS} bits")
        found = operations[symbol](a, b)
    except (ZeroDivisionError, ValueError, TypeError, OverflowError) as error:
        raise site.error("PL0143", f"`{site.source_text}`: {error}", "use other constants") from None
    return Affine((), found) if isinstance(found, int) else found


def power(site: Site, a: Any, b: Any) -> Any:
    """`a ** b`: products for an integer exponent, a root for 0.5."""
    exponent = b.constant if isinstance(b, Affine) and b.is_constant else b
    if isinstance(exponent, Data) and isinstance(exponent.value, Constant):
        exponent = exponent.value.value
    base = a.constant if isinstance(a, Affine) and a.is_constant else a
    if isinstance(base, int | float) and isinstance(exponent, int | float):
        return exactly(site, "**", base, exponent)
    if not isinstance(exponent, int | float) or isinstance(exponent, bool):
        help = "write a constant exponent, or `np.exp(b * np.log(a))`"
        raise site.error("PL0133", f"the exponent of `{site.source_text}` is no constant", help)
    data = site.data(a)
    # NumPy's power of 0.5 is its square root, bit for bit.
    if exponent == 0.5:
        return unary(site, "sqrt", data)
    if exponent != int(exponent) or abs(exponent) > LARGEST_POWER or (exponent < 0 and data.dtype in INTEGERS):
        help = f"an exponent is 0.5 or an integer up to {LARGEST_POWER}; write `np.exp(b * np.log(a))` for others"
        raise site.error("PL0133", f"`{site.source_text}` cannot stand in a kernel", help)
    kind = common_type([data, b]) or np.dtype(np.int64)
    # NumPy squares by one product, too: the same bits.
    if exponent == 2:
        found = site.bind_name(site.convert_data(data, kind), 0)
        return site.apply("mul", found, found)
    found = site.convert_data(data, kind)
    if exponent == 1:
        return found
    if found.wide:
        raise site.wide("its powers are not computed")
    constant = Constant(float(exponent) if found.dtype in FLOATS else int(exponent), found.dtype)
    return Data(Apply("pow", found.dtype, (found.value, constant), site.span))


def unary(site: Site, name: str, x: Any) -> Any:
    """A function of a real number, or of any number."""
    x = to_array(site, x)
    if isinstance(x, float) and (name in ("exp", "sin", "cos", "tanh") or (name in ("sqrt", "log") and x > 0)):
        return float(getattr(np, name)(x))
    data = site.data(x)
    kind = common_type([x if not isinstance(x, Data) else data])
    # These keep the type of integers.
    if name in ("neg", "abs"):
        return site.apply(name, x if isinstance(x, Data) else data)
    if name in ("floor", "ceil", "trunc", "rint") and kind is not None and kind.kind in "iu":
        return data
    real = kind if kind is not None and kind.kind == "f" else np.dtype(np.float64)
    # NumPy's functions of small integers give the smallest float that holds them.
    if kind is not None and kind.kind in "iub" and not data.weak and kind.itemsize < 4:
        real = np.dtype(np.float32 if kind.itemsize == 2 else np.float16)
    if name in SINGLE and real != np.float32 and not data.weak:
        help = f"compute in single precision: `{site.source_text.partition('(')[0]}(x.astype(np.float32))`"
        raise site.error("PL0139", f"`{site.source_text}` is of {real}, and {name} is there for f32 alone", help)
    found = site.convert_data(data, np.dtype(np.float32) if name in SINGLE else real)
    return Data(Apply(name, found.dtype, (found.value,), site.span), weak=data.weak and real == np.float64)


def negate(site: Site, x: Any) -> Any:
    return (
        binary(site, "-", Affine(), x)
        if isinstance(x, Affine | bool)
        else -x
        if isinstance(x, float)
        else unary(site, "neg", x)
    )


def invert(site: Site, x: Any) -> Any:
    """`~x`: of bools their opposite."""
    data = site.data(x)
    if data.dtype == "bool":
        return invert_test(site, data)
    # There is no complement among the operations: it is the exclusive or with ones.
    ones = site.element(Affine((), -1), data.dtype) if data.dtype not in ("u8", "u16", "u32") else None
    if ones is None:
        bits = {"u8": 8, "u16": 16, "u32": 32}[data.dtype]
        ones = site.element(Affine((), (1 << bits) - 1), data.dtype)
    return site.apply("xor", data, ones)


def invert_test(site: Site, x: Any) -> Any:
    data = site.truth(x)
    zero = Constant(0, "i32")
    return Data(as_bool(Apply("eq", "i32", (truth(data.value), zero), site.span)))


def compare(site: Site, symbol: str, a: Any, b: Any) -> Any:
    """A comparison of data."""
    return site.compare(RELATIONS[symbol], to_array(site, a), to_array(site, b))


def where(site: Site, condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        help = "write `np.where(condition, a, b)`"
        raise site.error("PL0149", f"the length of `{site.source_text}` depends on data", help)
    return site.select(site.truth(to_array(site, condition)), to_array(site, x), to_array(site, y))


def clip(site: Site, a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    found = a if a_min is None else site.larger("maximum", a, a_min)
    return found if a_max is None else site.larger("minimum", found, a_max)


def sign(site: Site, x: Any) -> Any:
    """-1, 0 or 1; of a NaN a NaN."""
    data = site.bind_name(site.data(x), 0)
    one = site.element(1.0 if data.dtype in FLOATS else Affine((), 1), data.dtype)
    # A NaN and zeros pass through both selections as they are, with their sign.
    less = site.select(site.compare("lt", data, Affine()), negate(site, one), data)
    return site.select(site.compare("gt", data, Affine()), one, less)


def square(site: Site, x: Any) -> Any:
    found = site.bind_name(site.data(x), 0)
    return site.apply("mul", found, found)


def extreme_of_python(name: str) -> Callable[..., Any]:
    """Python's `min` and `max` of several numbers: the first one of equals, and of NaNs."""

    def extreme(site: Site, *values: Any) -> Any:
        if len(values) == 1:
            if isinstance(values[0], Data):
                return site.call(site, np.max if name == "max" else np.min, [values[0]], {})
            values = tuple(values[0])
        if all(isinstance(v, int | float) or (isinstance(v, Affine) and v.is_constant) for v in values):
            plain = [v.constant if isinstance(v, Affine) else v for v in values]
            found = max(plain) if name == "max" else min(plain)
            return Affine((), found) if isinstance(found, int) else found
        # A strict comparison keeps the first of equals, and what stands before a NaN.
        relation = "gt" if name == "max" else "lt"

        def better(best: Any, new: Any) -> Any:
            best, new = site.bind_name(site.data(best)), site.bind_name(site.data(new))
            return site.select(site.compare(relation, new, best), new, best)

        return reduce(better, values)

    return extreme


def isnan(site: Site, x: Any) -> Any:
    # Only a NaN differs from itself (IEEE 754-2019, section 5.11).
    found = site.bind_name(site.data(x))
    return site.compare("ne", found, found)


def _binary_handler(symbol: str) -> Callable[..., Any]:
    def function(site: Site, x1: Any, x2: Any) -> Any:
        return binary(site, symbol, to_array(site, x1), to_array(site, x2))

    return function


def _unary_handler(name: str) -> Callable[..., Any]:
    def function(site: Site, x: Any) -> Any:
        return unary(site, name, x)

    return function


def _relation(symbol: str) -> Callable[..., Any]:
    def function(site: Site, x1: Any, x2: Any) -> Any:
        return compare(site, symbol, x1, x2)

    return function


def _extreme(name: str) -> Callable[..., Any]:
    def function(site: Site, x1: Any, x2: Any) -> Any:
        return site.larger(name, to_array(site, x1), to_array(site, x2))

    return function


def _logical(name: str) -> Callable[..., Any]:
    def function(site: Site, x1: Any, x2: Any) -> Any:
        return site.join_tests(name, site.truth(x1), site.truth(x2))

    return function


def _number(name: str) -> Callable[..., Any]:
    """A number rather than a NaN."""

    def function(site: Site, x1: Any, x2: Any) -> Any:
        return site.apply(name, x1, x2)

    return function


def identity(site: Site, x: Any) -> Any:
    del site
    return x


def reciprocal(site: Site, x: Any) -> Any:
    return binary(site, "/", 1.0, x)


_LIBRARY = ("exp", "exp2", "log", "sin", "cos", "tanh", "floor", "ceil", "trunc", "rint", "sqrt")
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): _unary_handler(name) for name in _LIBRARY},
    **{getattr(types, name): _unary_handler(name) for name in _LIBRARY},
    **{
        getattr(math, name): _unary_handler(name)
        for name in ("exp", "exp2", "log", "sin", "cos", "tanh", "sqrt")
        if hasattr(math, name)
    },
    **{f: _unary_handler("abs") for f in (builtins.abs, np.abs, np.fabs, math.fabs)},
    **{f: _binary_handler(s) for f, s in ((np.add, "+"), (np.subtract, "-"), (np.multiply, "*"), (np.divide, "/"))},
    **{f: _binary_handler(s) for f, s in ((np.floor_divide, "//"), (np.mod, "%"), (np.power, "**"), (math.pow, "**"))},
    **{f: _binary_handler(s) for f, s in ((np.bitwise_and, "&"), (np.bitwise_or, "|"), (np.bitwise_xor, "^"))},
    **{f: _binary_handler(s) for f, s in ((np.left_shift, "<<"), (np.right_shift, ">>"))},
    **{f: _relation(s) for f, s in ((np.equal, "=="), (np.not_equal, "!="), (np.less, "<"), (np.greater, ">"))},
    **{f: _relation(s) for f, s in ((np.less_equal, "<="), (np.greater_equal, ">="))},
    np.maximum: _extreme("maximum"),
    np.minimum: _extreme("minimum"),
    np.fmax: _number("max"),
    np.fmin: _number("min"),
    builtins.max: extreme_of_python("max"),
    builtins.min: extreme_of_python("min"),
    np.negative: negate,
    np.positive: identity,
    np.where: where,
    np.clip: clip,
    np.sign: sign,
    np.square: square,
    np.reciprocal: reciprocal,
    np.isnan: isnan,
    np.logical_and: _logical("and"),
    np.logical_or: _logical("or"),
    np.logical_not: invert_test,
    np.invert: invert,
}
