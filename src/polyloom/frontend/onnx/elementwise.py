# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators (ONNX Operators, ai.onnx): each is a short expression of its broadcast operands.

Functions that no machine has are written with those that machines have: `erf` is a rational function of its argument,
fitted here; a power with an exponent that is data is `exp(y log x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from math import inf, pi, sqrt
from typing import Final

from polyloom.frontend.error_function import ERF_ABOVE, ERF_BELOW, ERF_LIMIT
from polyloom.frontend.onnx.node import Node, Operator
from polyloom.frontend.onnx.tensors import (
    Tensor,
    apply,
    compare,
    constant,
    convert,
    data,
    has_machine_type,
    larger,
    select,
    spread,
    uniform_constant,
)
from polyloom.ir.arrays.program import Apply, Value, dtype, shape
from polyloom.ir.library import LARGEST_POWER
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import FLOATS, INTEGERS, SIGNED, UNSIGNED, ElementType
from polyloom.ir.pla import Constant

Unary = Callable[[Value], Value]


def _typed_constant(value: Value, number: float) -> Constant:
    return constant(number, dtype(value))


def unary(function: Unary) -> Operator:
    """An operator of one operand. A value that its expression reads several times is computed once."""

    def lower(node: Node) -> Tensor:
        return data(function(node.local(node.value())))

    return lower


def binary(function: Callable[[Value, Value], Value]) -> Operator:
    return lambda node: data(function(*node.broadcast(node.value(0), node.value(1))))


def variadic(function: Callable[[Value, Value], Value]) -> Operator:
    """An operator of one or more operands, combined from left to right."""

    def lower(node: Node) -> Tensor:
        values = node.broadcast(*(node.value(n) for n in range(len(node.operands))))
        # Functions read their operands several times: without a local each operand more would triple the expression.
        return data(reduce(lambda a, b: function(node.local(a), b), values))

    return lower


# Arithmetic


def divide(a: Value, b: Value) -> Value:
    """Division; that of integers cuts towards zero."""
    return apply("div", a, b)


def modulo(node: Node) -> Tensor:
    """The remainder with the divisor's sign, or with `fmod` that of C's."""
    a, b = node.broadcast(node.value(0), node.value(1))
    cuts, kind = node.integer("fmod"), dtype(a)
    # ONNX operator Mod, version 10: integers follow NumPy's mod, and with `fmod` the remainder of C.
    if kind in INTEGERS:
        return data(apply("rem" if cuts else "mod", a, b))
    a, b = node.local(a), node.local(b)
    # Not C's fmod where the quotient is rounded, as large ones are: an exact one would take a loop per element.
    whole = apply("trunc" if cuts else "floor", apply("div", a, b))
    found = apply("sub", a, apply("mul", whole, b))
    # Of a number by an infinity the remainder is the number, or the infinity if only that has the divisor's sign.
    far = Apply("and", "bool", (compare("eq", apply("abs", b), _typed_constant(b, inf)), is_finite(a)))
    differs = compare(
        "ne", Apply("lt", kind, (a, _typed_constant(a, 0))), Apply("lt", kind, (b, _typed_constant(b, 0)))
    )
    other = a if cuts else select(differs, select(compare("eq", a, _typed_constant(a, 0)), a, b), a)
    return data(select(far, other, found))


def is_finite(x: Value) -> Value:
    return compare("lt", apply("abs", x), _typed_constant(x, inf))


def power(node: Node) -> Tensor:
    """x to the power of y, in the type of x."""
    base, exponent = node.value(0), node.value(1)
    kind, number = dtype(base), uniform_constant(exponent)
    # Integer exponents are products by repeated squaring: exact for small integers, and defined for negative bases,
    # where the logarithm is not.
    if number is not None and float(number.value).is_integer() and abs(number.value) <= LARGEST_POWER:
        base, _ = node.broadcast(base, exponent)
        if kind in FLOATS or number.value >= 0:
            return data(Apply("pow", kind, (base, constant(int(number.value), "i32"))))
    # A root rounds once; e^(log(x)/2) would round three times.
    if number is not None and number.value == 0.5 and kind in FLOATS:
        return data(apply("sqrt", node.broadcast(base, exponent)[0]))
    # exp and log exist in single precision alone (`ir.operations.FUNCTIONS`), so that a power of a double has the
    # precision of a single one.
    wide: ElementType = "f32"
    x, y = node.broadcast(node.local(convert(base, wide)), node.local(convert(exponent, wide)))
    found = _real_power(x, y)
    # Powers of integers are integers: the nearest one.
    return data(convert(found if kind in FLOATS else apply("rint", found), kind))


def _real_power(x: Value, y: Value) -> Value:
    """e^(y log |x|), with the sign that an odd integer exponent gives (C17, section 7.12.7.4)."""
    size = apply("exp", apply("mul", y, apply("log", apply("abs", x))))
    # y is odd where it is whole and y/2 is not. Beyond 2^24 every single is even, and half of it is whole, too.
    half = apply("mul", y, _typed_constant(y, 0.5))
    whole = compare("eq", apply("rint", y), y)
    even = compare("eq", apply("rint", half), half)
    signed = select(even, size, apply("neg", size))
    # 0/0 gives the NaN of a negative base with a fractional exponent without a constant of the NaN's bits.
    negative = select(whole, signed, apply("div", apply("sub", x, x), apply("sub", x, x)))
    found = select(compare("lt", x, _typed_constant(x, 0)), negative, size)
    # x^0 is 1 for every x, also where 0 log 0 is a NaN (IEEE 754-2019, section 9.2.1).
    return select(compare("eq", y, _typed_constant(y, 0)), _typed_constant(x, 1), found)


# Functions


def reciprocal(x: Value) -> Value:
    return apply("div", _typed_constant(x, 1), x)


def sigmoid(x: Value) -> Value:
    # e^-x overflows to infinity for large negative x, whose reciprocal is the 0 that the sigmoid has there.
    return reciprocal(apply("add", apply("exp", apply("neg", x)), _typed_constant(x, 1)))


def relu(x: Value) -> Value:
    return larger(x, _typed_constant(x, 0))


def leaky_relu(node: Node) -> Tensor:
    x = node.local(node.value())
    # A selection and no maximum of x and alpha x: slopes may be above 1, or negative.
    slope = _typed_constant(x, node.number("alpha", 0.01))
    return data(select(compare("lt", x, _typed_constant(x, 0)), apply("mul", x, slope), x))


def parametric_relu(node: Node) -> Tensor:
    """`PRelu`: the slope below 0 is broadcast to the operand."""
    x, slope = node.broadcast(node.local(node.value(0)), node.value(1))
    return data(select(compare("lt", x, _typed_constant(x, 0)), apply("mul", x, slope), x))


def hard_sigmoid_value(x: Value, slope: float, offset: float) -> Value:
    line = apply("add", apply("mul", x, _typed_constant(x, slope)), _typed_constant(x, offset))
    return larger(larger(line, _typed_constant(x, 0)), _typed_constant(x, 1), "min")


def hard_sigmoid(node: Node) -> Tensor:
    return data(hard_sigmoid_value(node.value(), node.number("alpha", 0.2), node.number("beta", 0.5)))


def hard_swish(x: Value) -> Value:
    # ONNX operator HardSwish, version 14: alpha and beta are fixed, unlike those of HardSigmoid (0.2 and 0.5).
    return apply("mul", x, hard_sigmoid_value(x, 1 / 6, 0.5))


def erf(x: Value) -> Value:
    """The error function: x p(x^2) / q(x^2) for |x| up to 4, where it is 1 in single precision."""
    near = larger(larger(x, _typed_constant(x, -ERF_LIMIT)), _typed_constant(x, ERF_LIMIT), "min")
    square = apply("mul", near, near)
    return apply("mul", near, apply("div", _polynomial(square, ERF_ABOVE), _polynomial(square, ERF_BELOW)))


def _polynomial(x: Value, coefficients: tuple[float, ...]) -> Value:
    """Horner's rule, the highest power first (Knuth 1997, section 4.6.4)."""
    found: Value = _typed_constant(x, coefficients[0])
    for each in coefficients[1:]:
        found = apply("add", apply("mul", found, x), _typed_constant(x, each))
    return found


def gelu(node: Node) -> Tensor:
    """x/2 (1 + erf(x / sqrt 2)), or its approximation by tanh (Hendrycks and Gimpel 2016)."""
    x = node.local(node.value())
    half, one = _typed_constant(x, 0.5), _typed_constant(x, 1)
    if node.text("approximate", "none") == "tanh":
        cube = apply("mul", apply("mul", x, x), x)
        inner = apply(
            "mul", apply("add", x, apply("mul", cube, _typed_constant(x, 0.044715))), _typed_constant(x, sqrt(2 / pi))
        )
        return data(apply("mul", apply("mul", x, half), apply("add", apply("tanh", inner), one)))
    # The argument is read five times by the quotient of polynomials.
    inner = node.local(apply("mul", x, _typed_constant(x, 1 / sqrt(2))))
    return data(apply("mul", apply("mul", x, half), apply("add", erf(inner), one)))


def elu(node: Node) -> Tensor:
    return data(_exponential_unit(node.local(node.value()), node.number("alpha", 1.0), 1.0))


def selu(node: Node) -> Tensor:
    # ONNX operator Selu, version 6: the defaults are these numbers rounded to single (Klambauer et al. 2017).
    alpha, gamma = node.number("alpha", 1.6732632423543772), node.number("gamma", 1.0507009873554805)
    return data(_exponential_unit(node.local(node.value()), alpha * gamma, gamma))


def celu(node: Node) -> Tensor:
    x, alpha = node.local(node.value()), node.number("alpha", 1.0)
    # ONNX operator Celu, version 12: alpha divides the exponent, too, so that the slope is continuous at 0.
    grown = apply("sub", apply("exp", apply("div", x, _typed_constant(x, alpha))), _typed_constant(x, 1))
    return data(select(compare("lt", x, _typed_constant(x, 0)), apply("mul", grown, _typed_constant(x, alpha)), x))


def _exponential_unit(x: Value, below: float, above: float) -> Value:
    grown = apply("mul", apply("sub", apply("exp", x), _typed_constant(x, 1)), _typed_constant(x, below))
    return select(compare("lt", x, _typed_constant(x, 0)), grown, apply("mul", x, _typed_constant(x, above)))


def softplus(x: Value) -> Value:
    """log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow."""
    tail = apply("log", apply("add", apply("exp", apply("neg", apply("abs", x))), _typed_constant(x, 1)))
    return apply("add", relu(x), tail)


def softsign(x: Value) -> Value:
    return apply("div", x, apply("add", apply("abs", x), _typed_constant(x, 1)))


def mish(x: Value) -> Value:
    return apply("mul", x, apply("tanh", softplus(x)))


def swish(node: Node) -> Tensor:
    x = node.local(node.value())
    return data(apply("mul", x, sigmoid(apply("mul", x, _typed_constant(x, node.number("alpha", 1.0))))))


def thresholded_relu(node: Node) -> Tensor:
    x = node.local(node.value())
    return data(select(compare("gt", x, _typed_constant(x, node.number("alpha", 1.0))), x, _typed_constant(x, 0)))


def shrink(node: Node) -> Tensor:
    x = node.local(node.value())
    # ONNX operator Shrink, version 9: both comparisons are strict, and what is between is 0.
    bias, bound = _typed_constant(x, node.number("bias", 0.0)), node.number("lambd", 0.5)
    below = select(compare("lt", x, _typed_constant(x, -bound)), apply("add", x, bias), _typed_constant(x, 0))
    return data(select(compare("gt", x, _typed_constant(x, bound)), apply("sub", x, bias), below))


def sign(x: Value) -> Value:
    kind = dtype(x)
    if kind in UNSIGNED:
        return select(compare("gt", x, _typed_constant(x, 0)), _typed_constant(x, 1), _typed_constant(x, 0))
    below = select(compare("lt", x, _typed_constant(x, 0)), _typed_constant(x, -1), x)
    # Zeros and NaNs stay what they are.
    return select(compare("gt", x, _typed_constant(x, 0)), _typed_constant(x, 1), below)


def tangent(x: Value) -> Value:
    return apply("div", apply("sin", x), apply("cos", x))


def hyperbolic(sum_or_difference: str, x: Value) -> Value:
    """sinh and cosh: (e^x -+ e^-x) / 2."""
    both = apply(sum_or_difference, apply("exp", x), apply("exp", apply("neg", x)))
    return apply("mul", both, _typed_constant(x, 0.5))


# Comparisons, logic and selection


def relation(name: str) -> Operator:
    return binary(lambda a, b: compare(name, a, b))


def logical(name: str) -> Operator:
    return binary(lambda a, b: Apply(name, "bool", (a, b)))


def negate_truth(x: Value) -> Value:
    return Apply("xor", "bool", (x, Constant(1, "bool")))


def is_nan(x: Value) -> Value:
    return compare("ne", x, x)


def is_infinite(node: Node) -> Tensor:
    x = node.local(node.value())
    # ONNX operator IsInf, version 10: both attributes are 1 by default.
    signs = [s for s, wanted in ((1, "detect_positive"), (-1, "detect_negative")) if node.integer(wanted, 1)]
    tests = [compare("eq", x, _typed_constant(x, s * inf)) for s in signs]
    if not tests:
        return data(spread(Constant(0, "bool"), shape(x)))
    return data(reduce(lambda a, b: Apply("or", "bool", (a, b)), tests))


def select_elements(node: Node) -> Tensor:
    test, a, b = node.broadcast(*(node.value(n) for n in range(3)))
    # The kind is that of the branches: places (i64 in ONNX) are held as i32, and stay places when they are chosen.
    kind = node.tensor(1).kind
    return data(select(test, a, b), kind)


def clip(node: Node) -> Tensor:
    """Bounds are operands from version 11 on, and attributes before; the upper one wins."""
    x = node.value()
    bounds: list[Value | None] = [node.value(n) if node.has_operand(n) else None for n in (1, 2)]
    # ONNX operator Clip, versions 6 and 11; a bound that is missing is the end of the type, which cuts nothing.
    if node.version < 11:
        given = [node.attributes.get(name) for name in ("min", "max")]
        bounds = [None if each is None else _typed_constant(x, float(each)) for each in given]
    for bound, name in zip(bounds, ("max", "min"), strict=True):
        if bound is not None:
            x, bound = node.broadcast(node.local(x), bound)
            x = larger(x, bound, name)
    return data(x)


# Bits


def shift(node: Node) -> Tensor:
    """A shift by any amount: beyond the width nothing is left but the sign, where it goes to the right."""
    a, b = node.broadcast(node.value(0), node.local(node.value(1)))
    kind = dtype(a)
    # Machines count shift amounts modulo the width (`ir.operations`); ONNX's reference shifts bits out.
    width = WIDTH[kind]
    inside = compare("lt", b, _typed_constant(b, width))
    if kind in SIGNED:
        inside = Apply("and", "bool", (inside, compare("ge", b, _typed_constant(b, 0))))
    if node.text("direction", "LEFT") != "LEFT" and kind in SIGNED:
        return data(apply("shr", a, select(inside, b, _typed_constant(b, width - 1))))
    moved = apply("shl" if node.text("direction", "LEFT") == "LEFT" else "shr", a, b)
    return data(select(inside, moved, _typed_constant(a, 0)))


def invert_bits(x: Value) -> Value:
    ones = (1 << WIDTH[dtype(x)]) - 1 if dtype(x) in UNSIGNED else -1
    return apply("xor", x, Constant(ones, dtype(x)))


# Types

_TYPES: Final[Mapping[int, ElementType]] = {
    1: "f32",
    2: "u8",
    3: "i8",
    4: "u16",
    5: "i16",
    6: "i32",
    9: "bool",
    10: "f16",
    11: "f64",
    12: "u32",
}
INT64: Final = 7


def element_kind(number: int) -> ElementType | None:
    """The element type of a number of TensorProto.DataType."""
    return _TYPES.get(number)


def type_name(number: int) -> str:
    """What ONNX calls an element type."""
    from onnx import TensorProto

    return TensorProto.DataType.Name(number).lower() if number in TensorProto.DataType.values() else str(number)


def cast(node: Node) -> Tensor:
    return convert_tensor(node, node.integer("to"))


def convert_tensor(node: Node, to: int) -> Tensor:
    of = node.tensor()
    # Places and known numbers alone are i64, and these are within i32; a float that becomes i64 may not be.
    if to == INT64:
        if of.kind in ("i64", "i32", "i16", "i8", "u16", "u8", "bool"):
            return data(convert(node.value(), "i32"), "i64")
        node.fail("PL0185", f"{of.kind} becomes int64, which no machine has", "cast to int32")
    kind = element_kind(to)
    if kind is None or not has_machine_type(kind):
        node.fail(
            "PL0185", f"no machine has elements of the type {type_name(to)}", "cast to a type of 8 to 32 bits, or f64"
        )
    value = node.value()
    # Conversions of half precision are those from and to single: this way is exact, since every half is a single.
    if dtype(value) == "f16" and kind != "f32":
        value = convert(value, "f32")
    # Rounded twice, without harm: an integer that single precision rounds is beyond the range of half.
    if kind == "f16" and dtype(value) != "f32" and dtype(value) in INTEGERS:
        value = convert(value, "f32")
    return data(convert(value, kind))


def cast_to_type(node: Node) -> Tensor:
    like = node.tensor(1).kind
    numbers = {kind: number for number, kind in _TYPES.items()}
    return convert_tensor(node, INT64 if like == "i64" else numbers[like])


def identity(node: Node) -> Tensor:
    return node.tensor()


def mean(node: Node) -> Tensor:
    """The mean of several operands."""
    values = node.broadcast(*(node.value(n) for n in range(len(node.operands))))
    total = reduce(partial(apply, "add"), values)
    # A quotient, as ONNX defines it: a product with the reciprocal would round twice.
    return data(apply("div", total, constant(len(values), dtype(total))))


OPERATORS: Final[Mapping[str, Operator]] = {
    "Add": binary(partial(apply, "add")),
    "Sub": binary(partial(apply, "sub")),
    "Mul": binary(partial(apply, "mul")),
    "Div": binary(divide),
    "Mod": modulo,
    "Pow": power,
    "Sum": variadic(partial(apply, "add")),
    "Mean": mean,
    "Max": variadic(larger),
    "Min": variadic(partial(larger, name="min")),
    **{
        name: unary(partial(apply, operation))
        for name, operation in {
            "Neg": "neg",
            "Abs": "abs",
            "Exp": "exp",
            "Log": "log",
            "Sqrt": "sqrt",
            "Tanh": "tanh",
            "Sin": "sin",
            "Cos": "cos",
            "Floor": "floor",
            "Ceil": "ceil",
            "Round": "rint",
        }.items()
    },
    "Erf": unary(erf),
    "Sigmoid": unary(sigmoid),
    "Relu": unary(relu),
    "Reciprocal": unary(reciprocal),
    "Sign": unary(sign),
    "Tan": unary(tangent),
    "Sinh": unary(partial(hyperbolic, "sub")),
    "Cosh": unary(partial(hyperbolic, "add")),
    "Softplus": unary(softplus),
    "Softsign": unary(softsign),
    "Mish": unary(mish),
    "HardSwish": unary(hard_swish),
    "HardSigmoid": hard_sigmoid,
    "LeakyRelu": leaky_relu,
    "PRelu": parametric_relu,
    "ThresholdedRelu": thresholded_relu,
    "Shrink": shrink,
    "Elu": elu,
    "Selu": selu,
    "Celu": celu,
    "Swish": swish,
    "Gelu": gelu,
    "Clip": clip,
    "Where": select_elements,
    "Equal": relation("eq"),
    "Less": relation("lt"),
    "LessOrEqual": relation("le"),
    "Greater": relation("gt"),
    "GreaterOrEqual": relation("ge"),
    "And": logical("and"),
    "Or": logical("or"),
    "Xor": logical("xor"),
    "Not": unary(negate_truth),
    "IsNaN": unary(is_nan),
    "IsInf": is_infinite,
    "BitwiseAnd": binary(partial(apply, "and")),
    "BitwiseOr": binary(partial(apply, "or")),
    "BitwiseXor": binary(partial(apply, "xor")),
    "BitwiseNot": unary(invert_bits),
    "BitShift": shift,
    "Cast": cast,
    "CastLike": cast_to_type,
    "Identity": identity,
}
