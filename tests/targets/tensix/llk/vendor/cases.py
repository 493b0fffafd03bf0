# SPDX-License-Identifier: Apache-2.0
"""Cases of the table: for each public test source that runs, parameters, operands and what NumPy makes of them.

A golden is written from the operation's mathematics, over the operands as BF16 holds them; it knows nothing of the
kernels. `near` is the error that BF16 in the result and its partial sums allow, in units of the largest result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Golden = Callable[[Array, Array, Array], Array]
_FULL: Final = {"MATH_FIDELITY": "ckernel::MathFidelity::HiFi4"}
_SIDE, _FACE = 32, 16


@dataclass(frozen=True, slots=True)
class Case:
    """A source, parameters that differ from the defaults, and the golden of (A, B, C), each (8, 32, 32), for the first
    tiles of the result."""

    source: str
    golden: Golden | None
    given: Mapping[str, object] = field(default_factory=dict[str, object])
    near: float = 0.0
    ones: bool = False
    perf: bool = False


def _first(operation: Golden) -> Golden:
    return lambda a, b, c: operation(a[:1], b[:1], c[:1])


def row_major(tiles: Array) -> Array:
    """Untilized: the datums of a tile row after row, as they lie in memory, seen as tiles of faces."""
    return faces_from_memory(tiles.reshape(len(tiles), -1))


def faces_from_memory(memory: Array) -> Array:
    """Tiles whose four faces follow one another in memory."""
    faces = memory.reshape(-1, 2, 2, _FACE, _FACE).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(faces).reshape(-1, _SIDE, _SIDE)


def memory_of(tiles: Array) -> Array:
    """Datums of tiles as they lie in memory, face after face."""
    faces = tiles.reshape(-1, 2, _FACE, 2, _FACE).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(faces).reshape(len(tiles), -1)


def from_row_major(tiles: Array) -> Array:
    """Tilized: memory that holds rows of 32, as tiles."""
    return memory_of(tiles).reshape(-1, _SIDE, _SIDE)


def reduced(tiles: Array, how: Callable[..., Array], *axes: int) -> Array:
    """Reduction along axes, whose results stand in the first row, column or datum; the rest is 0."""
    found = np.zeros_like(tiles)
    values = how(tiles, axis=axes, keepdims=True)
    found[:, : values.shape[1], : values.shape[2]] = values
    return found


def _copy(a: Array, b: Array, c: Array) -> Array:
    return a


def _product(a: Array, b: Array, c: Array) -> Array:
    return a @ b


def _first_rows(a: Array, b: Array, c: Array) -> Array:
    """16 rows of 16 datums: the first face."""
    memory = np.zeros((1, _SIDE * _SIDE), a.dtype)
    memory[:, : _FACE * _FACE] = memory_of(a)[:, : _FACE * _FACE]
    return faces_from_memory(memory)


def _op(name: str) -> dict[str, object]:
    fidelity = _FULL if name == "ELWMUL" else {}
    return {**fidelity, "ELTWISE_BINARY_OP": f"ckernel::EltwiseBinaryType::{name}"}


def _reduce(dim: str, pool: str) -> dict[str, object]:
    return {**_FULL, "REDUCE_DIM": f"ckernel::ReduceDim::REDUCE_{dim}", "POOL_TYPE": f"ckernel::PoolType::{pool}"}


COPIES: Final = (
    "eltwise_unary_datacopy_test", "unpack_A_test", "pack_test", "pack_dest_bank_test", "pack_dest_reinit_test",
    "pack_tiny_tile_block_test", "pack_tiny_tile_reconfig_test", "unpack_tilizeA_B_uninit_restore_test",
)  # fmt: skip
PRODUCTS: Final = ("math_matmul_test", "matmul_test", "matmul_custom_test", "unpack_matmul_test")
TILIZED: Final = ("fast_tilize_test", "unpack_tilize_test", "unpack_tilize_sweep_test")
_SUMS = 0.01
CASES: Final = (
    *(Case(name, _first(_copy)) for name in COPIES),
    *(Case(name, _first(_product), _FULL, _SUMS) for name in PRODUCTS),
    *(Case(name, _first(lambda a, b, c: from_row_major(a))) for name in TILIZED),
    Case("eltwise_binary_test", _first(lambda a, b, c: a + b), _op("ELWADD"), _SUMS),
    Case("eltwise_binary_test", _first(lambda a, b, c: a - b), _op("ELWSUB"), _SUMS),
    Case("eltwise_binary_test", _first(lambda a, b, c: a * b), _op("ELWMUL"), _SUMS),
    Case("eltwise_mul_scalar_hifi_test", _first(lambda a, b, c: a * b), _FULL, _SUMS),
    Case("multiple_tiles_eltwise_custom_test", _first(lambda a, b, c: a - b[:, :, :1]), _FULL, _SUMS),
    Case("matmul_pack_untilize_test", _first(lambda a, b, c: row_major(a @ b)), _FULL, _SUMS),
    Case("pack_untilize_test", _first(lambda a, b, c: row_major(a))),
    Case("pack_rows_test", _first(_first_rows)),
    Case("pack_rows_to_addr_test", _first(_first_rows)),
    Case("transpose_dest_test", _first(lambda a, b, c: a.swapaxes(1, 2))),
    Case("math_transpose_perf", _first(lambda a, b, c: a.swapaxes(1, 2)), perf=True),
    Case("transpose_wh_int8_test", _first(lambda a, b, c: a.swapaxes(1, 2))),
    *(
        Case(
            "reduce_test",
            _first(lambda a, b, c, axes=axes, how=how: reduced(a, how, *axes)),
            _reduce(dim, pool),
            near,
            True,
        )
        for dim, axes in (("ROW", (2,)), ("COL", (1,)), ("SCALAR", (1, 2)))
        for pool, how, near in (("SUM", np.sum, _SUMS), ("MAX", np.max, 0.0))
    ),
    Case("reduce_block_max_test", _first(lambda a, b, c: reduced(a, np.max, 2)), {}, 0.0, True),
    Case("eltwise_unary_sfpu_test", _first(lambda a, b, c: a * a), {}, _SUMS),
    Case("eltwise_unary_sfpu_gathering_test", _first(lambda a, b, c: a * a), {}, _SUMS),
    Case("sfpu_binary_bcast_test", _first(lambda a, b, c: a + b[:, :1]), {}, _SUMS),
    Case("sfpu_binop_scalar_test", _first(lambda a, b, c: a + 2), {"SFPU_UNARY_SCALAR": 0x40000000}, _SUMS),
    Case("sfpu_binop_scalar_perf", _first(lambda a, b, c: a + 2), {"SFPU_UNARY_SCALAR": 0x40000000}, _SUMS, perf=True),
    *(Case(name, _first(_copy), {}, perf=True) for name in ("pack_dest_bank_perf", "unpack_transpose_perf")),
    Case("pack_untilize_perf", _first(lambda a, b, c: row_major(a)), {}, perf=True),
    Case("reduce_perf", _first(lambda a, b, c: reduced(a, np.sum, 2)), _reduce("ROW", "SUM"), _SUMS, True, True),
    Case("relu_min_lreg2_regression_test", _first(lambda a, b, c: np.maximum(a, 0))),
    Case("matmul_in1_column_stride_test", _first(_product), _FULL, _SUMS),
    Case("eltwise_add_scalar_test", lambda a, b, c: a[:1] + b[:1] + b[1:2], {"INPUT_NUM_TILES_IN_BLOCK": 2}, _SUMS),
    Case(
        "sfpu_binary_test",
        lambda a, b, c: a[:1] + a[1:2],
        {"constant": 1, "TILE_CNT": 2, "NUM_TILES_IN_BLOCK": 2},
        _SUMS,
    ),
    Case("sfpu_ternary_test", _first(lambda a, b, c: np.where(a != 0, b, c)), {}),
    Case(
        "matmul_unpack_tilize_test",
        _first(lambda a, b, c: from_row_major(a) @ from_row_major(b)),
        {**_FULL, "iterations": 2},
        _SUMS,
    ),
    Case("eltwise_bcast_col_custom_perf", _first(lambda a, b, c: a - b[:, :, :1]), _FULL, _SUMS, perf=True),
)
