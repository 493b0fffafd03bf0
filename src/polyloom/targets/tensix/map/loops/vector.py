# SPDX-License-Identifier: Apache-2.0
"""Vector kernel of an element-wise formula: 32 elements from Dst and back; and its value in NumPy.

The kernel goes through the passes of vector kernels (source/lower/compile.py); the value is that of the operations'
meaning (source/oracle/meaning.py), which shares no code with passes and model. Products and sums are contracted before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.ir.ssa import Constant, Function, Place, Value
from polyloom.passes import Watch
from polyloom.riscv.backend.push import WORD
from polyloom.targets.tensix.map.loops.functions import FUNCTIONS, PROGRAMS, QUOTIENT, ROUNDINGS, library_function
from polyloom.targets.tensix.map.loops.half.functions import DIVIDE, HALF, RECIPROCAL
from polyloom.targets.tensix.map.loops.integers.operations import (
    INTEGER_OPERATIONS,
    SELECT_UNSIGNED,
    integer_operation,
)
from polyloom.targets.tensix.map.loops.lanes import Computed, Emitted, Interleaved, Lanes, Words
from polyloom.targets.tensix.map.loops.steps import Pointwise, Source, Step, span_place
from polyloom.targets.tensix.map.oracle import function_errors
from polyloom.targets.tensix.map.oracle.function_errors import Error
from polyloom.targets.tensix.map.oracle.operation_errors import operation_error
from polyloom.targets.tensix.source.build import Builder
from polyloom.targets.tensix.source.lower.compile import Options, lower

T = TypeVar("T")
Load = tuple[int, int]
"""Of an array: the mode of SFPLOAD, and the address in Dst of its first vector."""
ADDING: Final = 2.0**-22
"""What an operation may miss, of what it adds up, on the tile and in the program together."""
SLOT: Final = 64
"""Rows of Dst of a tile, which are as many addresses."""
_FIRST: Final = 12
"""The constant register of the first scalar."""
_STAYS, ADVANCES = 3, 2
"""Address modes: of loads, and of the store, behind which the counter of Dst goes on to the next vector."""
_LANES: Final = 32


@dataclass(frozen=True, slots=True)
class Walk:
    """How a kernel walks through a tile: addresses of the vectors that it computes together, and behind each those
    where it is stored besides; by how much its last store advances the counter of Dst, and how often it runs. `reloads`
    says that each step loads its arrays anew, which takes no register in between.
    """

    vectors: tuple[tuple[int, ...], ...]
    advance: int
    runs: int
    reloads: bool = False


SINGLE: Final = Walk(((0,),), 2, 32)
"""One vector after the other."""


def kernel_words(
    p: Pointwise,
    mode: int,
    watch: Watch | None = None,
    loads: Sequence[Load] | None = None,
    walk: Walk = SINGLE,
    held: Sequence[int] = (),
) -> list[tuple[int, Place]]:
    """Words of the vectors of 32 elements that are computed together, with their places. Addresses advance by the
    counter of Dst; the result lies at address 0, in the format of `mode`; arrays lie where `loads` says, else a tile
    apart; constant registers behind the scalars hold the bits `held`. Errors: PL1280 where the values do not fit into
    the registers.
    """
    try:
        # Replay is planned by the caller, over all vectors of a tile; contraction has been done by selection.
        kernel = build_kernel(p, mode, loads, walk, held)
        made = lower(kernel, Options(without=frozenset({"contract", "replay"})), watch).function
    except PolyloomError as error:
        raise _hide_names(error, p.result) from None
    found = [(i.operands[0], i.place) for block in made.blocks for i in block.instructions if i.called == WORD.name]
    # Choices are made by lane flags, and constants are immediates.
    assert len(made.blocks) == 1 and all(isinstance(w, Constant) for w, _ in found), "there are no scalar branches"
    return [(w.value & 0xFFFFFFFF, place) for w, place in found if isinstance(w, Constant)]


def _hide_names(error: PolyloomError, result: str) -> PolyloomError:
    """Error PL1280 without the names of the kernel's values, which no user wrote."""
    if error.code != "PL1280":
        return error
    message = f"the formula of `{result}` needs more values at once than there are registers, 8"
    help = "compute a part of it by a program of its own, and give that as an array"
    return PolyloomError(Diagnostic(error.code, message, error.exit_code, help=help))


def build_kernel(
    p: Pointwise,
    mode: int,
    loads: Sequence[Load] | None = None,
    walk: Walk = SINGLE,
    held: Sequence[int] = (),
) -> Function:
    """Kernel in SSA form: loads, operations, stores."""
    b, known = Builder(p.result, place=p.place), loads or [(mode, SLOT * n) for n in range(len(p.arrays))]
    # Scalars and constants lie in L12 to L14 for the whole run, set once by the core.
    emitted = Emitted(b, {bits: _FIRST + len(p.scalars) + n for n, bits in enumerate(held)})
    lanes, made = Interleaved(emitted, len(walk.vectors)), dict[Source, tuple[Value, ...]]()

    def value(source: Source) -> tuple[Value, ...]:
        if source not in made or (walk.reloads and source[0] == "array"):
            made[source] = _load_source(b, source, known, walk, lanes)
        return made[source]

    for number, step in enumerate(p.steps):
        b.place = span_place(step.span or p.span)
        made["step", number] = _apply_step(lanes, step, list(map(value, step.operands)), p.dtype == "f32")
    b.place = p.place
    stores = [(vector, at) for vector, to in zip(value(p.value), walk.vectors, strict=True) for at in to]
    for vector, at in stores[:-1]:
        b.effect("store", vector, mode, _STAYS, at)
    vector, at = stores[-1]
    b.effect("store", vector, mode, ADVANCES, at)
    return b.finish()


def _load_source(
    b: Builder, source: Source, loads: Sequence[Load], walk: Walk, lanes: Interleaved[Value]
) -> tuple[Value, ...]:
    kind, number = source
    if kind == "array":
        mode, address = loads[number]
        return tuple(b.call("load", mode, _STAYS, address + at) for at, *_ in walk.vectors)
    if kind == "scalar":
        return (b.call("config_read", _FIRST + number),) * len(walk.vectors)
    return lanes.constant(number)


def _apply_step(lanes: Lanes[T], step: Step, operands: Sequence[T], floats: bool) -> T:
    if step.name in PROGRAMS:
        return library_function(lanes, step.name, *operands)
    if step.name in INTEGER_OPERATIONS:
        return integer_operation(lanes, step.name, *operands)
    if step.name in ("minimum", "maximum"):
        return lanes.extreme(step.name, *operands)
    if step.name not in ("select", SELECT_UNSIGNED):
        return lanes.call(step.name, *operands, *step.numbers)
    left, right, then, orelse = operands
    compare, (condition,) = "cmp_f" if floats else "cmp_u" if step.name == SELECT_UNSIGNED else "cmp_i", step.numbers
    return lanes.choose(compare, condition, left, None if step.operands[1] == ("bits", 0) else right, then, orelse)


def evaluate(p: Pointwise, arrays: Sequence[Words], scalars: Sequence[int]) -> Words:
    """Value of a formula over bits as loads give them, in vectors of 32 elements; the bits that are stored."""
    shape = arrays[0].shape if arrays else (1, _LANES)
    known: dict[Source, Any] = {("array", n): array for n, array in enumerate(arrays)}
    # Scalars have one value for all tiles, so a row of lanes would do; the full shape keeps operations simple.
    known |= {("scalar", n): np.full(shape, bits, np.uint32) for n, bits in enumerate(scalars)}

    def value(source: Source) -> Words:
        return known[source] if source in known else np.full(shape, source[1], np.uint32)

    for number, step in enumerate(p.steps):
        known["step", number] = _apply_step(Computed(shape), step, list(map(value, step.operands)), p.dtype == "f32")
    return value(p.value)


def formula_error(
    p: Pointwise, arrays: Sequence[Error], scalars: Sequence[float], adding: float | None = ADDING
) -> Error:
    """Forward error analysis: the result, and by how much floats may miss the program's; every operation by `adding` of
    what it adds up, for tile and program together, or, where that is None, as the program rounds each product and sum;
    values below 2**-126 are zero. An infinite error is that of the result, too. Source of the method: Higham, Accuracy
    and Stability of Numerical Algorithms (2002), chapter 3.
    """
    known: dict[Source, Error] = {("array", n): array for n, array in enumerate(arrays)}
    for n, scalar in enumerate(scalars):
        known["scalar", n] = scalar, 2.0**-126

    def value(source: Source) -> Error:
        if source in known:
            return known[source]
        # A constant is itself, unless it is a denormal: an error of 0 would leave a comparison with it open.
        number = float(np.uint32(source[1]).view(np.float32))
        return number, 2.0**-126 if 0 < abs(number) < 2.0**-126 else 0.0

    for number, step in enumerate(p.steps):
        operands = [value(operand) for operand in step.operands]
        found, error = _step_error(step, operands, adding)
        if step.name not in ROUNDINGS:
            # A conversion to integers saturates, so that its error is finite.
            error = propagate_infinite(error, *(of for _, of in operands))
        known["step", number] = found, error
    return value(p.value)


def propagate_infinite(error: Any, *others: Any) -> Any:
    """Error that is infinite where another one is: infinity times 0 is a NaN."""
    for other in others:
        if np.any(np.isinf(other)):
            error = np.where(np.isinf(other), np.inf, error)
    return error


def _step_error(step: Step, operands: Sequence[Error], adding: float | None) -> Error:
    """Error of one operation from those of its operands (Higham 2002, chapter 3)."""
    (a, of_a), *rest = operands
    if adding is None and step.name in (*_PRODUCTS, *_SUMS):
        return operation_error(step.name, operands, is_fused=step.is_fused)
    adding = adding or ADDING
    if step.name.removesuffix(HALF) in FUNCTIONS:
        return function_errors.function_error(step.name, a, of_a)
    if step.name == RECIPROCAL:
        return function_errors.quotient_error((1.0, 0.0), (a, of_a), is_half=True)
    if step.name in (QUOTIENT, DIVIDE):
        return function_errors.quotient_error((a, of_a), rest[0], is_half=step.name == DIVIDE)
    if step.name in ROUNDINGS:
        return function_errors.rounding_error(step.name, a, of_a)
    if step.name in _PRODUCTS:
        b, of_b = rest[0]
        # |ab - a'b'| is at most |a| of_b + |b| of_a + of_a of_b.
        product, missed = a * b, np.abs(a) * of_b + np.abs(b) * of_a + of_a * of_b
        c, of_c = rest[1] if step.name == "sfpmad" else (0.0, 0.0)
        size = np.abs(product) + np.abs(c) + missed + of_c
        # Results below the least normal number are flushed, an error of at most that number.
        return product + c, missed + of_c + size * adding + 2.0**-126
    if step.name in _SUMS:
        b, of_b = rest[0]
        made = a + b if step.name == "sfpadd" else a - b
        error = of_a + of_b + (np.abs(a) + np.abs(b) + of_a + of_b) * adding + 2.0**-126
        # What is added to an infinity does not matter.
        return made, np.where(np.isinf(made) & np.isfinite(of_a + of_b), 0.0, error)
    if step.name in ("minimum", "maximum"):
        choose = np.minimum if step.name == "minimum" else np.maximum
        return choose(a, rest[0][0]), np.maximum(of_a, rest[0][1])
    if step.name == "select":
        return _select_error(step.numbers[0], operands)
    made: Any = -a if step.name == "sfpmov" else np.abs(a)
    return made, of_a


_PRODUCTS: Final = ("sfpmul", "sfpmad")
_SUMS: Final = ("sfpadd", "sfpsub")
_RELATIONS: Final[Mapping[int, Any]] = {
    0: np.less, 1: np.less_equal, 2: np.equal, 3: np.not_equal, 4: np.greater_equal, 5: np.greater,
}  # fmt: skip


def _select_error(condition: int, operands: Sequence[Error]) -> Error:
    """Error of a selection: where both sides are so close that errors decide, either value may come out."""
    (a, of_a), (b, of_b), (then, of_then), (orelse, of_orelse) = operands
    near = (np.abs(a - b) <= of_a + of_b) & (of_a + of_b > 0)
    missed = np.maximum(of_then, of_orelse) + np.where(near, np.abs(then - orelse), 0)
    return _select_values(_RELATIONS[condition](a, b), then, orelse), missed


def _select_values(condition: Any, then: Any, orelse: Any) -> Any:
    """Over arrays and numbers."""
    return np.where(np.asarray(condition), np.asarray(then), np.asarray(orelse))
