# SPDX-License-Identifier: Apache-2.0
"""A place in a text that is being read: what its operations become, and what is said where they cannot be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError, Span
from polyloom.frontend.python.arrays.builder import Builder
from polyloom.frontend.python.arrays.values import (
    Data,
    as_bool,
    common_type,
    convert_element,
    element_name,
    is_name,
    is_wide,
    number,
    retype_weak,
    truth,
)
from polyloom.frontend.python.syntax_tree import Text
from polyloom.ir.arrays.program import Apply, Form, Read, Shape, Value, View, axis, element_view
from polyloom.ir.arrays.verify import print_shape
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import BY_NAME, FLOATS, INTEGERS, ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine
from polyloom.transform.arrays.hoist import cost


def _is_next(name: str, operands: Sequence[Data]) -> bool:
    """Whether a small number is added to a whole one, such as a count, that 32 bits have room for."""
    forms = [d.value.value for d in operands if isinstance(d.value, Form)]
    small = any(form.is_constant and abs(form.constant) < 1 << 16 for form in forms)
    return name in ("add", "sub") and small and all(d.exact for d in operands)


_LOW_BITS = ("add", "sub", "mul", "neg", "and", "or", "xor", "shl")
"""Of their results the low bits depend on the low bits of operands alone."""


@dataclass(frozen=True, slots=True)
class Site:
    """`node` is what the user wrote; `call` executes a function of the user's on values."""

    builder: Builder
    text: Text
    node: ast.expr | ast.stmt
    call: Callable[[Site, Any, Sequence[Any], dict[str, Any]], Any]

    @property
    def span(self) -> Span:
        return self.text.span(self.node)

    @property
    def source_text(self) -> str:
        return ast.unparse(self.node).partition("\n")[0]

    def error(self, code: str, message: str, help: str | None) -> PolyloomError:
        return self.text.error(code, message, self.node, help)

    # Data

    def data(self, value: Any) -> Data:
        """A value as data; numbers of Python are weak."""
        match value:
            case Data():
                return value
            case bool():
                return Data(Constant(int(value), "bool", self.span))
            case Affine():
                return Data(Form(value, "i32", (), self.span), weak=True, wide=True, exact=True)
            case float():
                found = number(value, "f64")
                assert found is not None
                return Data(found, weak=True)
            case _:
                return Data(self.refuse_number(value))

    def refuse_number(self, value: Any) -> Value:
        what = f"`{value.name}` of a value" if hasattr(value, "owner") else f"a {type(value).__name__}"
        help = "use arrays and numbers"
        raise self.error("PL0138", f"`{self.source_text}` uses {what} as an array", help)

    def convert_data(self, value: Any, kind: np.dtype[Any]) -> Data:
        """A value converted to a type of NumPy's; raises PL0139 for one that no machine has."""
        data = self.data(value)
        if is_wide(kind):
            if data.dtype in FLOATS:
                raise self.wide("a float becomes an integer of 64 bits")
            return Data(convert_element(data.value, "i32"), wide=True, exact=data.exact or not data.wide)
        name = element_name(kind)
        if name is None:
            help = "the element types are i8 to i32, u8 to u32, bool, f32 and f64: convert by `.astype(np.float32)`"
            raise self.error("PL0139", f"`{self.source_text}` is {kind} in NumPy, which no machine has", help)
        if data.wide and not data.weak and not data.exact and name in (*FLOATS, "bool"):
            raise self.wide(f"it becomes {name}")
        if data.weak:
            # A number such as 2.7 that is stored to integers is cut, not refused.
            if isinstance(data.value, Constant) and name in INTEGERS and data.dtype in FLOATS:
                return Data(convert_element(data.value, name))
            return Data(retype_weak(data.value, name))
        return Data(convert_element(data.value, name))

    def wide(self, why: str) -> PolyloomError:
        help = "choose a type that machines have: `dtype=np.int32`, or `.astype(np.int32)`"
        return self.error("PL0139", f"`{self.source_text}` has 64 bits in NumPy, and {why}", help)

    def element(self, value: Any, kind: ElementType) -> Data:
        """A value converted to an element type."""
        return self.convert_data(value, NUMPY[kind])

    def bind_name(self, data: Data, most: int = 2) -> Data:
        """The same value, which several operations may read: a costly one is computed once."""
        if is_name(data.value) or cost(data.value) <= most:
            return data
        return Data(self.builder.local(data.value, self.span), data.weak, data.wide, data.exact)

    # Shapes

    def broadcast(self, values: Sequence[Data]) -> list[Data]:
        """Values with one shape (NumPy's broadcasting); numbers stay numbers. Raises PL0149 with both extents."""
        extents = self.common_shape([v.shape for v in values])
        return [self.spread(v, extents) for v in values]

    def common_shape(self, shapes: Sequence[Shape]) -> Shape:
        rank = max(map(len, shapes), default=0)
        found = list[Affine]()
        for n in range(rank):
            known = [s[n - rank + len(s)] for s in shapes if n - rank + len(s) >= 0]
            others = [e for e in known if e != Affine((), 1)]
            for a, b in pairwise(others):
                if not self.builder.proves_equality(a, b):
                    raise self.mismatch(shapes, a, b)
            found.append(others[0] if others else Affine((), 1))
        return tuple(found)

    def mismatch(self, shapes: Sequence[Shape], a: Affine, b: Affine) -> PolyloomError:
        listed = " and ".join(print_shape(s) for s in dict.fromkeys(shapes) if s)
        help = f"the extents {a} and {b} have to be equal for all sizes"
        known = {*a.symbols, *b.symbols} - self.builder.loops.keys()
        if known and not any(s.startswith("ceil") for s in known):
            help += f": declare them by one size, or write `assert {a} == {b}` at the head of the function"
        return self.error("PL0149", f"`{self.source_text}` joins arrays of the shapes {listed}", help)

    def spread(self, data: Data, extents: Shape) -> Data:
        """A view of the shape that a value is broadcast to."""
        given = data.shape
        if not given or given == extents:
            return data
        shift = len(extents) - len(given)
        one = Affine((), 1)
        index = [Affine() if e == one and extents[n + shift] != one else axis(n + shift) for n, e in enumerate(given)]
        return Data(element_view(data.value, index, extents, self.span), data.weak, data.wide, data.exact)

    def fill_shape(self, data: Data, extents: Shape) -> Data:
        """A value with all elements of a shape: a number is repeated."""
        found = self.spread(data, extents)
        if found.shape or not extents:
            return found
        value = found.value
        if isinstance(value, Form):
            return Data(Form(value.value, value.dtype, extents, value.span), False, data.wide, data.exact)
        return Data(View(value, (), extents, self.span), False, data.wide, data.exact)

    # Operations

    def apply(self, name: str, *operands: Any, kind: np.dtype[Any] | None = None) -> Any:
        """An element-wise operation in NumPy's common type, or in the given one."""
        kind = kind or common_type([*operands])
        if kind is None:
            kind = np.dtype(np.int64)
        weak = all(not isinstance(o, Data) or o.weak for o in operands) and kind == np.float64
        datas = self.broadcast([self.convert_data(o, kind) for o in operands])
        wide = is_wide(kind)
        if wide and name not in _LOW_BITS and not all(d.exact for d in datas):
            raise self.wide(f"its low 32 bits do not tell what `{name}` gives")
        of = datas[-1].dtype
        name = {"add": "or", "mul": "and"}.get(name, name) if of == "bool" else name
        if not BY_NAME[name].accepts_type(of):
            raise self.operation_error(name, of)
        value = self.fold_forms(Apply(name, of, tuple(d.value for d in datas), self.span))
        exact = wide and (isinstance(value, Form) or name not in _LOW_BITS or _is_next(name, datas))
        return Data(value, weak=weak, wide=wide and not BY_NAME[name].compares, exact=exact)

    def operation_error(self, name: str, of: ElementType) -> PolyloomError:
        help = f"convert the operands: `.astype(np.{'float32' if of in ('f16', *INTEGERS) else 'int32'})`"
        return self.error("PL0139", f"`{self.source_text}`: {name} does not exist for {of}", help)

    def fold_forms(self, value: Apply) -> Value:
        """Sums of affine forms are affine forms."""
        match value.operands:
            case (Form() as a, Form() as b) if value.operation in ("add", "sub") and value.dtype == "i32":
                form = a.value + b.value if value.operation == "add" else a.value - b.value
                return Form(form, "i32", a.shape or b.shape, value.span)
            case (Form() as a, Form() as b) if value.operation == "mul" and value.dtype == "i32":
                if a.value.is_constant or b.value.is_constant:
                    form = b.value * a.value.constant if a.value.is_constant else a.value * b.value.constant
                    return Form(form, "i32", a.shape or b.shape, value.span)
                return value
            case (Form() as a,) if value.operation == "neg" and value.dtype == "i32":
                return Form(-a.value, "i32", a.shape, value.span)
            case _:
                return value

    def compare(self, name: str, *operands: Any) -> Data:
        """A comparison, as a bool."""
        kind = common_type([*operands])
        found = self.apply(name, *operands, kind=kind)
        return Data(as_bool(found.value))

    def select(self, test: Data, a: Any, b: Any) -> Data:
        """`a` where the test holds, `b` elsewhere."""
        kind = common_type([a, b])
        weak = kind is None or not any(isinstance(o, Data) and not o.weak for o in (a, b))
        if kind is None:
            kind = np.dtype(np.int64)
        if isinstance(a, bool) and isinstance(b, bool):
            kind, weak = np.dtype(np.bool_), False
        chosen, first, second = self.broadcast([test, self.convert_data(a, kind), self.convert_data(b, kind)])
        extents = self.common_shape([test.shape, first.shape, second.shape])
        if extents and not first.shape and not second.shape and not chosen.shape:
            chosen = self.fill_shape(chosen, extents)
        value = Apply("select", first.dtype, (truth(chosen.value), first.value, second.value), self.span)
        exact = first.wide and first.exact and second.exact
        return Data(value, weak=weak and first.dtype == "f64", wide=first.wide, exact=exact)

    def larger(self, name: str, a: Any, b: Any) -> Data:
        """NumPy's maximum or minimum: a NaN where there is one."""
        kind = common_type([a, b]) or np.dtype(np.int64)
        first, second = self.convert_data(a, kind), self.convert_data(b, kind)
        if first.dtype not in FLOATS:
            return self.apply("max" if name == "maximum" else "min", first, second)
        first, second = self.bind_name(first), self.bind_name(second)
        if isinstance(first.value, Constant) and not isinstance(second.value, Constant):
            first, second = second, first
        if isinstance(second.value, Constant) and second.value.value == second.value.value:
            # One comparison does: a NaN is not less than the constant, and stays.
            return self.select(self.compare("lt" if name == "maximum" else "gt", first, second), second, first)
        stays = self.compare("ge" if name == "maximum" else "le", first, second)
        nan = self.compare("ne", first, first)
        return self.select(self.join_tests("or", stays, nan), first, second)

    def truth(self, value: Any) -> Data:
        """A number as a bool."""
        data = self.data(value)
        return data if data.dtype == "bool" else Data(as_bool(truth(data.value)))

    def join_tests(self, name: str, a: Data, b: Data) -> Data:
        """`and` or `or` of bools."""
        a, b = self.broadcast([a, b])
        return Data(as_bool(Apply(name, "i32", (truth(a.value), truth(b.value)), self.span)))

    def store(self, target: Data, value: Any) -> None:
        """`target[...] = value`: converted and broadcast to the view."""
        assert isinstance(target.value, Read)
        data = self.convert_data(value, NUMPY[target.dtype])
        given, extents = data.shape, target.shape
        while len(given) > len(extents) and given[0] == Affine((), 1):
            data = Data(element_view(data.value, [Affine(), *map(axis, range(len(given) - 1))], given[1:], self.span))
            given = given[1:]
        # NumPy drops leading extents of 1 in a store, and no others.
        if len(given) > len(extents) or not all(
            e == Affine((), 1) or self.builder.proves_equality(e, extents[len(extents) - len(given) + n])
            for n, e in enumerate(given)
        ):
            pairs = zip(given[::-1], extents[::-1], strict=False)
            differ = [f"{a} and {b}" for a, b in pairs if a != Affine((), 1) and not self.builder.proves_equality(a, b)]
            reason = f"the extents {differ[0]} differ" if differ else "it has more dimensions"
            message = f"an array of the shape {print_shape(given)} is stored where {print_shape(extents)} is"
            raise self.error("PL0149", message, f"{reason}: store an array of the same shape")
        self.builder.store(target.value, self.spread(data, extents).value, self.span)
