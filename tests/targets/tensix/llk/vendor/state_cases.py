# SPDX-License-Identifier: Apache-2.0
"""Cases of the table whose results are fields of the configuration, or words that the cores themselves write.

Strides are bytes of 16 datums of a row, and of a face; a tile descriptor has the datums of a row of the unpacker and
the faces (ISA documentation, pages of `UNPACR` and of the unpackers' configuration).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.llk.vendor.case import Case, Golden, config_fields, memory_of, result_words

from polyloom.targets.tensix.llk.run import LlkRun

Array = NDArray[Any]
_FP32, _FP16, _BF16, _BFP8, _INT8 = 0, 1, 5, 6, 14
_MATH: Final = ((1, 17, 4), (1, 21, 4), (1, 31, 1))
"""Formats of SrcA and SrcB, and whether products are those of integers."""
_PACKERS: Final = tuple((word, low, 4) for word in (58, 86, 98, 126) for low in (8, 4))
"""Formats in Dst and in L1, of each packer."""
_UNPACKERS: Final = ((52, 0, 4), (60, 0, 4), (92, 0, 4), (100, 0, 4))
"""Formats in L1 and in the source register, of each unpacker."""
_FACES: Final = ((53, 16, 16), (93, 16, 16))
_STRIDES: Final = ((44, 12, 12), (45, 0, 12))
_ROW_A, _ROW_B, _TILIZING = (74, 0, 32), (92, 16, 16), (60, 9, 1)
_SHAPE: Final = (*_STRIDES, _ROW_A, (53, 16, 16), _TILIZING)
_TWO: Final = 256 << 16 | 256
"""A face of 256 datums, in both contexts of the unpacker."""
_SMALL: Final = 128 << 16 | 128


def _numbers(*values: int) -> Golden:
    return lambda a, b, c: np.array(values, np.int64)


def _formats(before: tuple[int, int], after: tuple[int, int], **given: object) -> dict[str, object]:
    """Formats before and after a reconfiguration, as these sources take them."""
    fields = ("unpack_A_src", "unpack_A_dst", "pack_src", "pack_dst")
    return {"formats": dict(zip(fields, (*before, *after), strict=True)), "CONFIGURE_TEST_RUN_IDX": 1, **given}


def _picked(*places: int, flag: Callable[[Array], bool] | None = None) -> Callable[[LlkRun], Array]:
    """Words of the result that do not depend on timing, and what is true of another."""

    def show(run: LlkRun) -> Array:
        words = memory_of(run.outputs["R"]).reshape(-1).astype(np.int64)
        return np.array([*words[list(places)], *([int(flag(words))] if flag else ())])

    return show


def _flips(a: Array, b: Array, c: Array) -> Array:
    """Two banks of a configuration word, seeded differently: which of them a read-modify-write behind a change of the
    bank reaches, and which one a read sees; in twelve combinations, with work before the change or not."""
    region = np.zeros((3, 256), np.int64)
    region[:, :2] = 0x43464753, 512
    for combination in range(12):
        busy = combination >= 6
        first, second = 0x5A000000 | busy * 0x1100, 0x250000CC | busy * 0x2200
        region[:, 64 + 4 * combination : 67 + 4 * combination] = first, second, first
    return region.reshape(-1)


_DRAINED: Final = tuple(256 * thread + word for thread in range(3) for word in (0, 1, 3, 5, 6, 7))


_COUNTED: Final = (1000 % 128) ** 2
"""Turns of a macro that asks for 1,000 times 1,000: loops of Wormhole have counts of 7 bits (page of `MOP`)."""


def _unfinished(words: Array) -> bool:
    """All threads read their counter before the macro that counts was done."""
    return bool((words[[2, 258, 514]] < _COUNTED).all())


STATE_CASES: Final = (
    Case(
        "state/reconfig/math_reconfig_test",
        _numbers(_FP16, _FP16, 0),
        _formats((_BF16, _BF16), (_FP16, _FP16)),
        shown=config_fields(*_MATH),
        member="wormhole",
    ),
    Case(
        "state/reconfig/math_reconfig_test",
        _numbers(_INT8, _INT8, 1),
        _formats((_BF16, _BF16), (_INT8, _INT8), is_fp32_dest_acc_en=1),
        shown=config_fields(*_MATH),
        member="wormhole",
    ),
    Case(
        "state/reconfig/pack_reconfig_test",
        _numbers(*4 * (_BF16, _BFP8)),
        _formats((_BF16, _BF16), (_BF16, _BFP8)),
        shown=config_fields(*_PACKERS),
        member="wormhole",
    ),
    Case(
        "state/reconfig/unpack_reconfig_test",
        _numbers(*2 * (_FP16, _FP16)),
        _formats((_BF16, _BF16), (_FP16, _FP16)),
        shown=config_fields(*_UNPACKERS),
        member="wormhole",
    ),
    Case(
        "state/reconfig/unpack_stride_staleness_repro_test",
        _numbers(*2 * (_FP32, _FP32), 1024, 1024),
        _formats((_FP16, _FP16), (_FP32, _FP32), is_fp32_dest_acc_en=1),
        shown=config_fields(*_UNPACKERS, _STRIDES[1], (47, 0, 12)),
        member="wormhole",
    ),
    Case(
        "state/reconfig/unpack_tile_shape_reconfig_test",
        _numbers(*2 * (_FP16, _FP16), _SMALL, 128, 2, 2),
        _formats((_BF16, _BF16), (_FP16, _FP16)),
        shown=config_fields(*_UNPACKERS, _ROW_A, _ROW_B, *_FACES),
        member="wormhole",
    ),
    Case(
        "unpack_canonical_baseline_check_test",
        _numbers(32, 512, _TWO, 4, 0),
        shown=config_fields(*_SHAPE),
        member="wormhole",
    ),
    Case(
        "unpack_tilize_uninit_descriptor_test",
        _numbers(32, 512, _TWO, 2, 0),
        shown=config_fields(*_SHAPE),
        member="wormhole",
    ),
    Case(
        "tilize_transition_reconfig_test",
        _numbers(32, 512, _SMALL, 2, 0),
        {"iterations": 2, "DO_RESTORE": 1, "VICTIM_FACE_R_DIM": "8u", "VICTIM_NUM_FACES": "2u"},
        shown=config_fields(*_SHAPE),
        member="wormhole",
    ),
    Case(
        "risc_compute_test",
        lambda a, b, c: a[:3].astype(np.int64) + b[:3],
        {"TILE_CNT": 3, "NUM_TILES_IN_BLOCK": 3},
        operand=lambda x: (np.abs(x) * 2**29).astype(np.uint32),
        form="uint32",
        result="uint32",
    ),
    Case("mailbox_read_completion_test", _numbers(*3 * (256,)), shown=result_words(3), result="uint32"),
    Case("fp32_dest_acc_release_order_test", _numbers(*5 * (256,)), shown=result_words(5), result="uint32"),
    Case("cfg_state_flip_sync_test", _flips, shown=result_words(768), result="uint32", cycles=40_000_000),
    Case(
        "tensix_sync_mop_drain_test",
        _numbers(*3 * (0x4D4F5053, 1_000_000, _COUNTED, 0, 4096, 64), 1),
        shown=_picked(*_DRAINED, flag=_unfinished),
        result="uint32",
        cycles=100_000_000,
        member="wormhole",
    ),
    Case(
        "fp32_dest_acc_cfg_occupancy_test",
        _numbers(4096, 0, 4096, 4, 0, 0, 16, 0, 32, 0, 128, 0, 64, 64, 64),
        shown=_picked(*range(4), *(4 + 4 * k + word for k in range(4) for word in (0, 2)), 20, 21, 22),
        result="uint32",
        cycles=40_000_000,
    ),
)
