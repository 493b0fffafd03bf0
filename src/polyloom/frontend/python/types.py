# SPDX-License-Identifier: Apache-2.0
"""Element types and sizes as the user of Python kernels writes them: `N, M = pl.sizes("N M")`, `A: pl.f32[N, M + 1]`,
`alpha: pl.f32`.

The compiler reads annotations from the syntax tree, so element types do nothing when Python evaluates them. Their
operators exist for type checkers only, which are told that an array has the type of its elements: `A[i, k] * B[k, j]`
is then a `pl.f32`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, TypeVar, cast

import numpy as np
import numpy.typing as npt

from polyloom.ir import library
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ALL_TYPES, BY_NAME, ElementType
from polyloom.ir.semantics import apply
from polyloom.sets import Affine

Item = SupportsIndex | slice | EllipsisType | None
Subscript = Item | tuple[Item, ...]


class Element:
    """An element type. `f32[N, K]` annotates an array, bare `f32` a scalar; `f32(0.5)` is a NumPy scalar."""

    def __class_getitem__(cls, extents: object) -> type[Self]:
        return cls

    if TYPE_CHECKING:

        def __getitem__(self, index: Subscript, /) -> Self: ...
        def __getattr__(self, name: str, /) -> Any: ...
        def __array__(self) -> npt.NDArray[Any]: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Self]: ...
        def __matmul__(self, other: object, /) -> Self: ...
        def __pow__(self, other: float, /) -> Self: ...
        def __neg__(self) -> Self: ...
        def __eq__(self, other: object, /) -> bool: ...

        __pos__ = __abs__ = __neg__
    else:

        def __new__(cls, value):
            dtype = DTYPES[cls]
            source = NAMED.get(type(value), dtype)
            # NumPy refuses numbers out of range here; values are converted as everywhere in a kernel.
            return NUMPY[dtype].type(value) if source == dtype else numpy_conversion(f"to_{dtype}")(value)


class f32(Element):
    """Single precision, binary32 (IEEE 754, section 3.4); every operation rounds."""

    if TYPE_CHECKING:

        def __init__(self, value: float) -> None: ...
        def __setitem__(self, index: Subscript, value: Self | float | npt.NDArray[Any], /) -> None: ...
        def __float__(self) -> float: ...
        def __lt__(self, other: Self | float, /) -> bool: ...
        def __add__(self, other: Self | float | npt.NDArray[Any], /) -> Self: ...

        __le__ = __gt__ = __ge__ = __lt__
        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__


class Integer(Element):
    """Two's complement; arithmetic wraps."""

    if TYPE_CHECKING:

        def __init__(self, value: int) -> None: ...
        def __index__(self) -> int: ...
        def __setitem__(self, index: Subscript, value: Self | int | npt.NDArray[Any], /) -> None: ...
        def __lt__(self, other: Self | int, /) -> bool: ...
        def __invert__(self) -> Self: ...
        def __add__(self, other: Self | int | npt.NDArray[Any], /) -> Self: ...

        __le__ = __gt__ = __ge__ = __lt__
        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __add__
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = (
            __rrshift__
        ) = __add__


class i8(Integer):
    """8 bits."""


class i16(Integer):
    """16 bits."""


class i32(Integer):
    """32 bits."""


class u8(Integer):
    """8 bits without a sign."""


class u16(Integer):
    """16 bits without a sign."""


class u32(Integer):
    """32 bits without a sign."""


class bool_(Element):
    """0 or 1, in one byte; `pl.bool`."""

    if TYPE_CHECKING:

        def __init__(self, value: int) -> None: ...
        def __setitem__(self, index: Subscript, value: Self | int | npt.NDArray[Any], /) -> None: ...


class f64(Element):
    """Double precision, binary64 (IEEE 754, section 3.4); every operation rounds."""

    if TYPE_CHECKING:

        def __init__(self, value: float) -> None: ...
        def __setitem__(self, index: Subscript, value: Self | float | npt.NDArray[Any], /) -> None: ...
        def __float__(self) -> float: ...
        def __lt__(self, other: Self | float, /) -> bool: ...
        def __add__(self, other: Self | float | npt.NDArray[Any], /) -> Self: ...

        __le__ = __gt__ = __ge__ = __lt__
        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__


class f16(Element):
    """Half precision, binary16 (IEEE 754, section 3.4): elements that are moved and converted."""

    if TYPE_CHECKING:

        def __init__(self, value: float) -> None: ...
        def __setitem__(self, index: Subscript, value: Self | float | npt.NDArray[Any], /) -> None: ...


DTYPES: dict[object, ElementType] = {
    kind: name for name, kind in zip(ALL_TYPES, (i8, i16, i32, f32, u8, u16, u32, bool_, f64, f16), strict=True)
}
NAMED: dict[object, ElementType] = {**DTYPES, **{NUMPY[name].type: name for name in ALL_TYPES}}
"""What a text may call an element type: `pl.u8`, and `np.uint8`."""


if TYPE_CHECKING:

    class Size(int):
        """To a type checker a size is an integer; see below for what it is."""

        form: Affine

        def __iter__(self) -> Iterator[Size]: ...

else:

    def _refuse_operator(symbol):
        def refuse(left, right):
            raise TypeError(f"`{left} {symbol} {right}` is not affine")

        return refuse

    class Size:
        """An affine expression of loop bounds that are not known yet: `form`. One size unpacks to itself."""

        def __init__(self, form):
            self.form = form

        def __add__(self, other):
            return _add_forms(self.form, other, 1)

        def __sub__(self, other):
            return _add_forms(self.form, other, -1)

        def __rsub__(self, other):
            return _add_forms(-self.form, other, 1)

        def __mul__(self, factor):
            return Size(self.form * factor) if isinstance(factor, int) else _refuse_operator("*")(self, factor)

        def __neg__(self):
            return self * -1

        def __iter__(self):
            yield self

        def __index__(self):
            raise TypeError(f"the size {self} has no value outside of a kernel")

        def __repr__(self):
            return str(self.form)

        __radd__, __rmul__ = __add__, __mul__
        __truediv__, __floordiv__, __mod__, __pow__ = map(_refuse_operator, ("/", "//", "%", "**"))

    def _add_forms(form, other, sign):
        term = other.form if isinstance(other, Size) else other
        return Size(form + term * sign) if isinstance(term, Affine | int) else NotImplemented


_Float = TypeVar("_Float", f32, f64)
_Range = TypeVar("_Range", bound=Iterable[int])


def size(name: str) -> Size:
    """A size, which kernels share by its name; raises ValueError when `name` is no identifier."""
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"{name!r} cannot be the name of a size: write an identifier, as in pl.size('N')")
    return cast(Any, Size)(Affine.symbol(name))


def steps(within: _Range) -> _Range:
    """Loop of steps: `for i in pl.steps(range(N))`. On the array, each iteration is a step of its own, or, where the
    loop goes over the tiles of an inner one, each tile; elsewhere it is a loop as any (docs/targets/tcpa.md, Blocks).
    """
    return within


def sizes(names: str) -> Size:
    """The sizes of these names, separated by spaces or commas: `N, M = pl.sizes("N M")`; one name gives one size."""
    found = tuple(size(name) for name in names.replace(",", " ").split())
    return found[0] if len(found) == 1 else cast(Any, found)


def sqrt(x: f32 | float) -> f32:
    """The square root in single precision, rounded to nearest."""
    return cast(f32, np.sqrt(np.float32(cast(float, x))))


def _call_library(name: str, x: object) -> object:
    """A function of `ir.library`, of singles unless the operand is a double."""
    dtype: ElementType = "f64" if getattr(x, "dtype", None) == NUMPY["f64"] else "f32"
    if dtype == "f64" and name in library.SINGLE:
        raise TypeError(f"{name} takes an f32, not {x!r}")
    return library.evaluate(library.program(name, dtype), NUMPY[dtype].type(cast(Any, x)))[()]


def exp(x: f32) -> f32:
    """e to the power of x, with an error below a unit in the last place."""
    return cast(f32, _call_library("exp", x))


def exp2(x: f32) -> f32:
    """2 to the power of x, with an error below a unit in the last place."""
    return cast(f32, _call_library("exp2", x))


def log(x: f32) -> f32:
    """The natural logarithm, with an error below a unit in the last place."""
    return cast(f32, _call_library("log", x))


def sin(x: f32) -> f32:
    """The sine of up to 2^30, a NaN beyond."""
    return cast(f32, _call_library("sin", x))


def cos(x: f32) -> f32:
    """The cosine of up to 2^30, a NaN beyond."""
    return cast(f32, _call_library("cos", x))


def tanh(x: f32) -> f32:
    """The hyperbolic tangent, with an error of at most 1.5 units in the last place."""
    return cast(f32, _call_library("tanh", x))


def floor(x: _Float) -> _Float:
    """The greatest whole number that is no greater, as a float."""
    return cast(_Float, _call_library("floor", x))


def ceil(x: _Float) -> _Float:
    """The least whole number that is no less, as a float."""
    return cast(_Float, _call_library("ceil", x))


def trunc(x: _Float) -> _Float:
    """The whole part, as a float."""
    return cast(_Float, _call_library("trunc", x))


def rint(x: _Float) -> _Float:
    """The nearest whole number, ties to even, as a float."""
    return cast(_Float, _call_library("rint", x))


def to_i32(x: i8 | i16 | u8 | u16 | u32 | f32 | f64) -> i32:
    """The integer part of a float, saturated, 0 of a NaN; of an integer, the number of the same low bits."""
    return cast(i32, _convert("to_i32", x))


def round_i32(x: f32 | f64) -> i32:
    """The integer nearest to a float, ties to even, saturated."""
    return cast(i32, _convert("round_i32", x))


def to_f32(x: i32 | f16) -> f32:
    """The single nearest to an i32, ties to even; of an f16, the same number."""
    return cast(f32, _convert("to_f32", x))


def to_f16(x: f32) -> f16:
    """The half nearest to an f32, ties to even."""
    return cast(f16, _convert("to_f16", x))


def sat8(x: i32) -> i8:
    """An i32, no less than -128 and no more than 127."""
    return cast(i8, _convert("sat8", x))


def satu8(x: i32) -> u8:
    """An i32, no less than 0 and no more than 255."""
    return cast(u8, _convert("satu8", x))


def numpy_conversion(operation: str) -> Callable[[object], object]:
    """Conversion function of an operation, on NumPy scalars."""
    return partial(_convert, operation)


def _convert(operation: str, x: object) -> object:
    value = cast(Any, x)
    known: list[ElementType] = [t for t in ALL_TYPES if BY_NAME[operation].accepts_type(t)]
    types: list[ElementType] = [t for t in known if NUMPY[t] == getattr(value, "dtype", None)]
    if not types:
        raise TypeError(f"{operation} takes {', '.join(known)}, not {value!r}")
    with np.errstate(all="ignore"):
        return apply(operation, types[0], [value])[()]
