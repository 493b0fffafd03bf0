# SPDX-License-Identifier: Apache-2.0
"""All cases of the table, a source at least once where it has a golden."""

from __future__ import annotations

from typing import Final

from tests.targets.tensix.llk.vendor.state_cases import STATE_CASES
from tests.targets.tensix.llk.vendor.tile_cases import TILE_CASES
from tests.targets.tensix.llk.vendor.vector_cases import VECTOR_CASES

CASES: Final = (*TILE_CASES, *VECTOR_CASES, *STATE_CASES)
_BLACKHOLE: Final = "Blackhole only: the vendor's test does not run on Wormhole"
_STALE: Final = "no test of the vendor builds it, and it calls functions as an older library had them"
_HOST: Final = "no result: the vendor's host reads what it prints or streams"
_PROFILER: Final = "no result: the vendor's harness makes the buffers of its profiler, and reads them"
REASONS: Final = {
    **dict.fromkeys(
        (
            "dbg_get_array_row_srca_test",
            "debug_dest_copy",
            "dense_pack_untilize_test",
            "eltwise_add_scalar_test",
            "mul_reduce_scalar_chunked_test",
            "mul_reduce_scalar_test",
            "rmsnorm_clear_product_tile_test",
            "sdpa_reinits_test",
            "sum_reduce_scalar_test",
        ),
        _BLACKHOLE,
    ),
    **dict.fromkeys(("eltwise_binary_transpose_bcast_test", "multiple_tiles_eltwise_test"), _STALE),
    **dict.fromkeys(
        ("device_print_test", "dprint_tensix_test", "dprint_tile_test", "streams/stream_integration_test"), _HOST
    ),
    **dict.fromkeys(("profiler_overhead_test", "profiler_primitives_test", "profiler_stress_overrun_test"), _PROFILER),
}
"""Sources of which the table asks nothing on Wormhole, and why."""
