# SPDX-License-Identifier: Apache-2.0
"""Cases of the table whose results are made by the vector unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.llk.vendor.case import (
    PERF,
    ROUNDED,
    SUMS,
    Case,
    Golden,
    faces_from_memory,
    first_tile,
    memory_of,
    result_words,
)

Array = NDArray[Any]
_FP32: Final = {"is_fp32_dest_acc_en": 1, "unpack_to_dest": "true"}
_TWO: Final = {"SFPU_UNARY_SCALAR": 0x40000000}


def _positive(x: Array) -> Array:
    return np.abs(x) + np.float32(0.25)


def _moving_average(a: Array, b: Array, c: Array) -> Array:
    """Exponential moving average down the columns of two tiles, which stand one above the other, with 1/4 of what was
    before; in tests that measure, tiles are 4,096 bytes apart."""
    rows = a.reshape(-1, 32)
    found, before = np.zeros_like(rows), np.zeros(32, np.float32)
    for row, x in enumerate(rows):
        before = before / 4 + 3 * x / 4
        found[row] = before
    return found.reshape(-1, 32, 32)


def _hash(a: Array, b: Array, c: Array) -> Array:
    """Hash of 23 bits per lane, in the first four rows: h = (h xor w) * 403, over 32 words (FNV-1a). A load takes every
    second datum of four rows."""
    rows = memory_of(a[:1]).reshape(16, 4, 8, 2)
    lanes = np.full((4, 8), 0x1C9DC5, np.int64)
    for words in rows.transpose(0, 3, 1, 2).reshape(32, 4, 8):
        lanes = (lanes ^ words.astype(np.int64)) * 0x193 & 0x7FFFFF
    found = np.zeros((64, 8, 2), np.int64)
    found[:4, :, 0] = lanes
    return faces_from_memory(found.reshape(1, -1))


_SOFTPLUS: Final = {f"SOFTPLUS_{name}_BITS": 0x3F800000 for name in ("BETA", "BETA_RECIPROCAL", "THRESHOLD")}
_EXPONENTS: Final = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, 2, 3, -1, -2, 0.5, -1.5, 2.0**-126, -(2.0**-126)], np.float32
)


def _power_of_zero(a: Array, b: Array, c: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.float32(0) ** a


def _in_first_columns(transform: Callable[[Array], Array]) -> Golden:
    """What vector functions for a column compute: every second datum of 16 columns."""

    def golden(a: Array, b: Array, c: Array) -> Array:
        found = a.copy()
        found[:, :, :16:2] = transform(a[:, :, :16:2])
        return found

    return first_tile(golden)


_MAX: Final = {"constant": 1, "POOL_TYPE": "ckernel::PoolType::MAX"}
_BF16: Final = dict.fromkeys(
    ("unpack_A_src", "unpack_B_src", "unpack_A_dst", "unpack_B_dst", "math", "pack_src", "pack_dst"), 5
)


def _ranked(x: Array) -> Array:
    """Bits of 64 different numbers of BF16 in each row of two tiles, in any order; their indices in two more."""
    order = np.argsort(x[:2].transpose(1, 0, 2).reshape(32, 64), axis=1)
    tiles = np.zeros(x.shape, np.uint16)
    tiles[:2] = (0x3F80 + order).reshape(32, 2, 32).transpose(1, 0, 2)
    tiles[2:4] = np.arange(64).reshape(2, 1, 32)
    return tiles


def _topk(a: Array, sign: int) -> Array:
    """The first 32 of each row in order, and where they stood; a column of the result is a row of the operand."""
    values = a[:2].transpose(1, 0, 2).reshape(32, 64).astype(np.int64)
    order = np.argsort(sign * values, axis=1)[:, :32]
    return np.stack([np.take_along_axis(values, order, 1).T, order.T])


VECTOR_CASES: Final = (
    *(
        Case(name, first_tile(lambda a, b, c: a * a), {}, ROUNDED)
        for name in ("eltwise_unary_sfpu_test", "eltwise_unary_sfpu_gathering_test")
    ),
    Case("eltwise_unary_sfpu_perf", first_tile(lambda a, b, c: a * a), {"ITERATIONS": 32}, ROUNDED, places=PERF),
    Case("sfpu_binary_bcast_test", first_tile(lambda a, b, c: a + b[:, :1]), {}, ROUNDED),
    Case("sfpu_binop_scalar_test", first_tile(lambda a, b, c: a + 2), _TWO, ROUNDED),
    Case("sfpu_binop_scalar_perf", first_tile(lambda a, b, c: a + 2), _TWO, ROUNDED, places=PERF),
    Case("relu_min_lreg2_regression_test", first_tile(lambda a, b, c: np.maximum(a, 0))),
    Case(
        "sfpu_binary_test",
        lambda a, b, c: a[:1] + a[1:2],
        {"constant": 1, "TILE_CNT": 2, "NUM_TILES_IN_BLOCK": 2},
        ROUNDED,
    ),
    Case("sfpu_ternary_test", first_tile(lambda a, b, c: np.where(a != 0, b, c)), {}),
    Case(
        "sfpu_ema_test",
        lambda a, b, c: _moving_average(a[:2], b, c),
        {"EMA_ALPHA_BITS": 0x3E800000, "EMA_BETA_BITS": 0x3F400000, "TILE_CNT": 2},
        SUMS,
    ),
    Case(
        "sfpu_ema_perf",
        lambda a, b, c: _moving_average(a[:4:2], b, c),
        {"EMA_ALPHA_BITS": 0x3E800000, "EMA_BETA_BITS": 0x3F400000, "TILE_CNT": 2},
        SUMS,
        places=PERF,
        shown=lambda run: run.outputs["R"][:4:2],
    ),
    Case("sfpu_sdpa_fw_test", _in_first_columns(np.reciprocal), {"SDPA_FW_OP": 0}, ROUNDED, operand=_positive),
    Case("sfpu_sdpa_fw_test", _in_first_columns(np.exp), {"SDPA_FW_OP": 1}, ROUNDED),
    Case("sfpu_sdpa_test", _in_first_columns(np.reciprocal), {"SDPA_OP": 1, **_SOFTPLUS}, ROUNDED, operand=_positive),
    Case(
        "hash_cb_test",
        _hash,
        {"is_fp32_dest_acc_en": 1, "unpack_to_dest": "true"},
        operand=lambda x: (np.abs(x) * 2**29).astype(np.int32),
        form="int32",
        result="int32",
    ),
    Case(
        "sfpu_binary_pow_zero_base_test",
        first_tile(_power_of_zero),
        _FP32,
        operand=lambda x: np.resize(_EXPONENTS, x.shape),
        form="fp32",
        result="fp32",
    ),
    Case(
        "topk_finalize_uint16_test",
        first_tile(lambda a, b, c: a),
        {"is_fp32_dest_acc_en": 1, "unpack_to_dest": "true"},
        operand=lambda x: (np.abs(x) * 2**15).astype(np.int32),
        form="int32",
        result="uint16",
    ),
    Case(
        "sfpu_reduce_test",
        lambda a, b, c: a[:1].max(1),
        {**_MAX, "REDUCE_DIM": "ckernel::ReduceDim::REDUCE_COL"},
        shown=lambda run: run.outputs["R"][:1, 0],
    ),
    Case(
        "sfpu_reduce_test",
        lambda a, b, c: a[:1].max(2),
        {**_MAX, "REDUCE_DIM": "ckernel::ReduceDim::REDUCE_ROW"},
        shown=lambda run: run.outputs["R"][:1, :, 0],
    ),
    Case(
        "sfpu_reduce_multidim_test",
        lambda a, b, c: a[:1].max((1, 2)),
        _MAX,
        shown=result_words(1),
    ),
    Case(
        "sfpu_reduce_row_max_perf",
        lambda a, b, c: a[:1].max(2),
        _MAX,
        places=PERF,
        shown=lambda run: run.outputs["R"][:1, :, 0],
    ),
    Case(
        "sfpu_reduce_sdpa_test",
        lambda a, b, c: a.reshape(4, 2, 32, 32).max((0, 2)),
        {"TILE_CNT": 8, "NUM_TILES_IN_BLOCK": 8, "BLOCK_CT_DIM": 2, "BLOCK_RT_DIM": 4},
        shown=lambda run: run.outputs["R"][:2, 0],
    ),
    Case(
        "sfpu_reduce_sdpa_perf",
        lambda a, b, c: a[:1].max(1),
        {},
        places=PERF,
        shown=lambda run: run.outputs["R"][:1, 0],
    ),
    Case(
        "sfpu_comp_unary_threshold_test",
        first_tile(lambda a, b, c: (a > 0.5).astype(np.float32)),
        {"SFPU_UNARY_OPERATION": "SfpuType::unary_gt", "SFPU_UNARY_SCALAR": 0x3F000000},
    ),
    Case(
        "eltwise_unary_typecast_perf",
        first_tile(lambda a, b, c: np.trunc(a).astype(np.int32).view(np.uint32)),
        {"is_fp32_dest_acc_en": 1, "constant": 1, "SFPU_UNARY_OPERATION": "SfpuType::typecast"},
        operand=lambda x: x * 100,
        result="uint32",
        places=PERF,
    ),
    *(
        Case(
            "topk_test",
            lambda a, b, c, sign=sign: _topk(a, sign),
            {
                "TOPK_TAG_BITS": 16,
                "FULL_CT_DIM": 4,
                "FULL_RT_DIM": 1,
                "TILE_CNT": 4,
                "formats": _BF16,
                "TOPK_SORT_DIRECTION": direction,
            },
            operand=_ranked,
            form="uint16",
            result="uint16",
        )
        for direction, sign in ((0, -1), (1, 1))
    ),
    # It merges rows that nobody wrote, for the effect on constants, and discards the result: the finding ends no run.
    Case(
        "topk_const_leak_test",
        lambda a, b, c: np.stack([a[0] - 1, a[0] - 1]),
        {"TOPK_TAG_BITS": 16},
        ROUNDED,
        hazards="report",
    ),
    Case(
        "eltwise_unary_typecast_test",
        first_tile(lambda a, b, c: np.trunc(a).astype(np.int32).view(np.uint32)),
        {"is_fp32_dest_acc_en": 1, "constant": 1, "SFPU_UNARY_OPERATION": "SfpuType::typecast"},
        operand=lambda x: x * 100,
        result="uint32",
    ),
)
