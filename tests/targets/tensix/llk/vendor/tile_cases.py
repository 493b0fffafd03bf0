# SPDX-License-Identifier: Apache-2.0
"""Cases of the table whose results are tiles that the matrix unit, unpackers and packers make."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.llk.vendor.case import (
    FULL,
    PERF,
    ROUNDED,
    SUMS,
    Case,
    Golden,
    faces_from_memory,
    first_tile,
    from_row_major,
    memory_of,
    reduced,
    row_major,
)

from polyloom.targets.tensix.llk.run import LlkRun

Array = NDArray[Any]


def _copy(a: Array, b: Array, c: Array) -> Array:
    return a


def _product(a: Array, b: Array, c: Array) -> Array:
    return a @ b


def _first_rows(a: Array, b: Array, c: Array) -> Array:
    """16 rows of 16 datums: the first face."""
    memory = np.zeros((1, 1024), a.dtype)
    memory[:, :256] = memory_of(a)[:, :256]
    return faces_from_memory(memory)


def _quarters(x: Array) -> Array:
    """Numbers that the first phase of a product holds without loss."""
    return np.round(x * 4) / 4


def _weighted(a: Array, b: Array, c: Array) -> Array:
    """Eight rows of the first face of A times the first face of B: what the vendor's test says is defined."""
    return a[:, :8, :16] @ b[:, :16, :16]


def _upper_rows(run: LlkRun) -> Array:
    return run.outputs["R"][:1, :8, :16]


def _upper_rows_twice(a: Array, b: Array, c: Array) -> Array:
    """The source gives a block of no columns, so that the lower faces lie where the upper ones do."""
    return np.tile(from_row_major(a)[:, :16], (1, 2, 1))


def _rows_copied(a: Array, b: Array, c: Array) -> Array:
    """Four tiles; in the first face of three of them, rows 8 to 11 are those from 4 on."""
    found = a[:4].copy()
    found[:3, 8:12, :16] = a[:3, 4:8, :16]
    return found


def _op(name: str) -> dict[str, object]:
    fidelity = FULL if name == "ELWMUL" else {}
    return {**fidelity, "ELTWISE_BINARY_OP": f"ckernel::EltwiseBinaryType::{name}"}


def _reduce(dim: str, pool: str) -> dict[str, object]:
    return {**FULL, "REDUCE_DIM": f"ckernel::ReduceDim::REDUCE_{dim}", "POOL_TYPE": f"ckernel::PoolType::{pool}"}


_POLLUTED: Final[tuple[tuple[int, int, Golden, float], ...]] = (
    (0, 0, lambda a, b, c: a[1:2], 0.0),
    (0, 2, first_tile(_product), SUMS),
    (1, 0, lambda a, b, c: a[1:2], 0.0),
    (2, 0, lambda a, b, c: a[1:2], 0.0),
    (2, 1, first_tile(lambda a, b, c: a - b[:, :, :1]), ROUNDED),
)
"""A custom product, a reduction, a difference: before a copy, or behind it, or twice."""
COPIES: Final = (
    "eltwise_unary_datacopy_test", "unpack_A_test", "pack_test", "pack_dest_bank_test", "pack_dest_reinit_test",
    "pack_tiny_tile_block_test", "pack_tiny_tile_reconfig_test", "unpack_tilizeA_B_uninit_restore_test",
)  # fmt: skip
PRODUCTS: Final = ("math_matmul_test", "matmul_test", "matmul_custom_test", "unpack_matmul_test")
TILIZED: Final = ("fast_tilize_test", "unpack_tilize_test", "unpack_tilize_sweep_test")
TILE_CASES: Final = (
    *(Case(name, first_tile(_copy)) for name in COPIES),
    *(Case(name, first_tile(_product), FULL, SUMS) for name in PRODUCTS),
    *(Case(name, first_tile(lambda a, b, c: from_row_major(a))) for name in TILIZED),
    Case("eltwise_binary_test", first_tile(lambda a, b, c: a + b), _op("ELWADD"), ROUNDED),
    Case("eltwise_binary_test", first_tile(lambda a, b, c: a - b), _op("ELWSUB"), ROUNDED),
    Case("eltwise_binary_test", first_tile(lambda a, b, c: a * b), _op("ELWMUL"), SUMS),
    Case("eltwise_mul_scalar_hifi_test", first_tile(lambda a, b, c: a * b), FULL, SUMS),
    Case("multiple_tiles_eltwise_custom_test", first_tile(lambda a, b, c: a - b[:, :, :1]), FULL, ROUNDED),
    Case("matmul_pack_untilize_test", first_tile(lambda a, b, c: row_major(a @ b)), FULL, SUMS),
    Case("pack_untilize_test", first_tile(lambda a, b, c: row_major(a))),
    Case("pack_rows_test", first_tile(_first_rows)),
    Case("pack_rows_to_addr_test", first_tile(_first_rows)),
    Case("transpose_dest_test", first_tile(lambda a, b, c: a.swapaxes(1, 2))),
    Case("math_transpose_perf", first_tile(lambda a, b, c: a.swapaxes(1, 2)), places=PERF),
    Case("transpose_wh_int8_test", first_tile(lambda a, b, c: a.swapaxes(1, 2))),
    *(
        Case(
            "reduce_test",
            first_tile(lambda a, b, c, axes=axes, how=how: reduced(a, how, *axes)),
            _reduce(dim, pool),
            near,
            True,
        )
        for dim, axes in (("ROW", (2,)), ("COL", (1,)), ("SCALAR", (1, 2)))
        for pool, how, near in (("SUM", np.sum, SUMS), ("MAX", np.max, 0.0))
    ),
    Case("reduce_block_max_test", first_tile(lambda a, b, c: reduced(a, np.max, 2)), {}, 0.0, True),
    *(Case(name, first_tile(_copy), {}, places=PERF) for name in ("pack_dest_bank_perf", "unpack_transpose_perf")),
    Case("pack_untilize_perf", first_tile(lambda a, b, c: row_major(a)), {}, places=PERF),
    Case("reduce_perf", first_tile(lambda a, b, c: reduced(a, np.sum, 2)), _reduce("ROW", "SUM"), SUMS, True, PERF),
    Case("matmul_in1_column_stride_test", first_tile(_product), FULL, SUMS),
    Case(
        "matmul_unpack_tilize_test",
        first_tile(lambda a, b, c: from_row_major(a) @ from_row_major(b)),
        {**FULL, "iterations": 2},
        SUMS,
    ),
    *(
        Case("unpack_bcastA_B_uninit_restore_test", first_tile(_copy), {"iterations": 2, "RESTORE_VIA_RECONFIG": how})
        for how in ("true", "false")
    ),
    Case("unpack_tilize_uninit_restore_test", first_tile(lambda a, b, c: from_row_major(a)), {"iterations": 2}),
    Case(
        "unpack_tilize_uninit_restore_block_test",
        lambda a, b, c: from_row_major(a[:2], 2),
        {"iterations": 2, "BLOCK_CT_DIM": 2, "TILE_CNT": 2},
    ),
    Case(
        "tilize_calculate_untilize_L1",
        first_tile(lambda a, b, c: from_row_major(a) + from_row_major(b)),
        {"iterations": 2},
        ROUNDED,
    ),
    *(
        Case(name, first_tile(_product), {**FULL, "iterations": 2, "DO_RESTORE": 1}, SUMS)
        for name in ("tilize_polluter_matmul_test", "tilize_polluter_tiny_matmul_test")
    ),
    *(
        Case("experimental_reconfig_escape_test", golden, {**FULL, "POLLUTER": polluter, "SEQUENCE": sequence}, near)
        for polluter, sequence, golden, near in _POLLUTED
    ),
    Case("sdpa_weighted_reduce_test", first_tile(_weighted), {}, ROUNDED, operand=_quarters, shown=_upper_rows),
    *(
        Case(
            "unpack_a_bcast_eltwise_test",
            lambda a, b, c, how=how: how(a[:1, :1], b[:2]),
            {**_op(name), "SRCA_REUSE_COUNT": 2, "NUM_TILES_IN_BLOCK": 2},
            ROUNDED,
            operand=_quarters,
        )
        for name, how in (("ELWADD", np.add), ("ELWSUB", np.subtract), ("ELWMUL", np.multiply))
    ),
    Case(
        "unpack_a_bcast_eltwise_perf",
        lambda a, b, c: a[:1, :1] + b[:2],
        {"SRCA_REUSE_COUNT": 2, "TILE_CNT": 2},
        ROUNDED,
        places=PERF,
        shown=lambda run: run.outputs["R"][:4:2],
    ),
    Case("unpack_tilize_perf", first_tile(_upper_rows_twice), places=(0x65000, *PERF[1:])),
    Case(
        "unpack_reduce_col_tilizeA_strided_test",
        first_tile(lambda a, b, c: reduced(from_row_major(a), np.max, 1)),
        _reduce("COL", "MAX"),
        ones=True,
    ),
    Case(
        "generalized_moe_gate_test",
        _rows_copied,
        {
            "GMG_MODE": 2,
            "GMG_SUB_OP": 4,
            "GMG_ROW_SRC": 4,
            "GMG_ROW_DST": 8,
            "GMG_SRCB": 16,
            "GMG_TOPK": 8,
            "GMG_OUTPUT_TILES": 2,
            "GMG_SECTIONS": 1,
        },
        operand=lambda x: (np.abs(x) * 2**15).astype(np.uint16),
        form="uint16",
        result="uint16",
    ),
    Case("eltwise_bcast_col_custom_perf", first_tile(lambda a, b, c: a - b[:, :, :1]), FULL, ROUNDED, places=PERF),
)
