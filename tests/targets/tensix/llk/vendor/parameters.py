# SPDX-License-Identifier: Apache-2.0
"""`build.h` for the public test sources of the vendor's low-level kernels: every parameter that any of them asks for,
with a default; a case of the table overrides some.

The sources read parameters as constants or as members of `RuntimeParams`; both are given. What a member or a constant
is called is the interface of the library's tests; the text is written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tests.targets.tensix.llk.vendor.case import Case

from polyloom.targets.tensix.llk.operands import CODES
from polyloom.targets.tensix.words.numbers import TILE_ROWS, l1_bytes

U32, INT, BOOL = "unsigned", "int", "bool"
_INCLUDED: Final = ("operand", "llk_defs", "llk_sfpu_types", "perf", "tensix_types")
_CONSTANTS: Final = (
    "UNPACK_A_IN", "UNPACK_B_IN", "UNPACK_S_IN", "UNPACK_A_OUT", "UNPACK_B_OUT", "UNPACK_S_OUT", "MATH_FORMAT",
    "PACK_IN", "PACK_OUT",
)  # fmt: skip
_NAMES: Final[Mapping[tuple[str, int], str]] = {
    (U32, 128): "TILE_SIZE_PACK TILE_SIZE_UNPACK_A TILE_SIZE_UNPACK_B",
    (U32, 1): """
        TILE_CNT LOOP_FACTOR NUM_BLOCKS NUM_TILES_IN_BLOCK INPUT_NUM_BLOCKS INPUT_NUM_TILES_IN_BLOCK
        OUTPUT_NUM_BLOCKS OUTPUT_NUM_TILES_IN_BLOCK BLOCK_CT_DIM BLOCK_RT_DIM CT_DIM RT_DIM KT_DIM
        FULL_CT_DIM FULL_RT_DIM SRCA_REUSE_COUNT INPUT_TILE_CNT OUTPUT_TILE_CNT REDUCE_BLOCK_CT_DIM
        PACK_NUM_TILES RMSNORM_NUM_TILES CUSTOM_MM_NUM_CALLS ROPE_HT ROPE_WT TOPK_NUM_ITERATIONS CHUNK_SIZE
        ENABLE_HWC POLLUTER_CT_DIM TOPK_XL_NUM_CHUNKS TOPK_XL_NUM_ROWS
    """,
    (U32, 0): """
        DST_INDEX NUM_GUARD_TILES CONFIGURE_TEST_RUN_IDX RELU_CONFIG SFPU_UNARY_SCALAR SFPU_UNARY_THRESHOLD
        SFPU_TERNARY_SCALAR ZERO_POINT TILE_DST_CT_OFFSET OFFSET_ROWS SFPU_DST_INDEX SRC0_TILE_IDX
        SRC1_TILE_IDX DST_TILE_IDX THROTTLE_LEVEL SFPU_BINOP_MODE REINIT_MODE CLOBBER_OP REDUCE_ORDER
        SDPA_OP SDPA_FW_OP L1_ACC EMA_ALPHA_BITS EMA_BETA_BITS SFPU_INPUT_SCALE MAX_POOL_CHUNK
        GATED_SCALE_BITS GATED_OUT_SCALE_BITS GATED_LIMIT_BITS GATED_ALPHA_BITS POLLUTER SEQUENCE
        SDPA_REDUCE_POOL GMG_MODE GMG_SUB_OP GMG_TOPK GMG_EPS GMG_SCALE GMG_READ_BASE GMG_FROM_LO
        GMG_FROM_HI GMG_TO_LO GMG_TO_HI GMG_FIELD GMG_IDX_OFFSET GMG_ROW_SRC GMG_ROW_DST GMG_SRCB
        GMG_ROW_SRC_2 GMG_ROW_DST_2 GMG_SRCB_2 GMG_D2B_DST GMG_B2D_BASE GMG_SECTIONS GMG_EXTRA_SCALE
        GMG_OUTPUT_TILES DMG_MODE DMG_SUB_OP DMG_EPS DMG_SCALE HADAMARD_H16_TILE_INDEX ROPE_X_BASE
        ROPE_X_STRIDE ROPE_COS_BASE ROPE_SIN_BASE ROPE_CS_STRIDE ROPE_SCALE_FP32 TOPK_SORT_DIRECTION
        TOPK_TAG_BITS TOPK_XL_TAIL_ELEMENTS TOPK_XL_INDEX_OP TOPK_XL_GROUP_ID TOPK_XL_GROUP_SHIFT
        TOPK_XL_CORE_ID TOPK_XL_CHUNK_BASE_MODE TOPK_XL_CHUNK_BASE TOPK_XL_SEG_BASE TOPK_XL_SORT_MODE
        TOP32_MODE MOE_GATE_EPS_BITS MOE_GATE_SCALE_BITS MOE_GATE_EXTRA_SCALE_BITS RMSNORM_CLEAR_CYCLES
        INJECT_NEGATIVE_ZERO
    """,
    (U32, 16): """
        TEST_FACE_R_DIM TEST_FACE_C_DIM in0_face_r_dim in0_face_c_dim in1_face_r_dim in1_face_c_dim
        NUM_ROWS_TO_PACK
    """,
    (U32, 32): """
        in0_tile_r_dim in0_tile_c_dim in1_tile_r_dim in1_tile_c_dim TOPK_K TOPK_XL_K ROPE_TILE_H
        TOP32_ROW_ELEMENTS SOFTMAX_K VALID_SCORES
    """,
    (U32, 4): """
        num_faces num_faces_A num_faces_B RMSNORM_NUM_FACES BLOCK_MOP_NUM_FACES
    """,
    (U32, 2): """
        num_faces_r_dim_A num_faces_r_dim_B num_faces_c_dim_A num_faces_c_dim_B TOP32_DATUM_BYTES
    """,
    (U32, 5): "TOPK_LOGK",
    (INT, 8): "ITERATIONS MOE_GATE_NUM_SELECTED_EXPERTS",
    (U32, 16256): "EXP_SCALE_BF16",
    (INT, 256): "MOE_GATE_NUM_TOTAL_EXPERTS",
    (BOOL, 0): """
        UNPACK_TRANSPOSE_FACES UNPACK_TRANSPOSE_WITHIN_FACE NARROW_TILE PARTIAL_FACE_A PARTIAL_FACE_B
        PARTIAL_FACE_PACK PARTIAL_FACE_MATH IS_REDUCE_TO_ONE MATH_TRANSPOSE_FACES ACC_TO_DEST
        disable_src_zero_flag APPROX_MODE SFPU_FAST_APPROX FAST_MODE CLAMP_NEGATIVE STABLE_SORT FUSED_SORT
        tilize_en USE_RUNTIME RESPECT_TRIGGER OVERLAP_FIRST_HALF TO_FROM_INT8 ADD_TOP_ROW IS_MAX_OP
        SFPU_SCALE_EN OFFSET_ENABLED UNINIT_DENSE_PACKING UNINIT_SKIP CUSTOM_MM_REARM RMSNORM_CLEAR_DEST
        RMSNORM_UNPACK_FULL_TRANSPOSE GMG_GROUPED GMG_SOFTMAX GMG_PRODUCE_RUN GMG_RELOAD GMG_SIGMOID
        GMG_SECOND_COPY GMG_PRE_COPY4ROWS GMG_TRANSPOSE_OF_FACES GMG_DO_EXTRA_SCALE DMG_SIGMOID DMG_RELOAD
        HADAMARD_NORMALIZE ROPE_FUSED_COS_SIN ROPE_COS_SIN_PER_ROW ROPE_HAS_SCALE TOPK_STABLE_SORT
        TOPK_FUSED_STABLE TOPK_RANK_STAMPED TOPK_XL_ASCENDING TOPK_XL_FUSED_REDUCE TOPK_XL_FUSED_E2E
        TOPK_XL_LSB_ROW_MAJOR TOPK_XL_REINIT_AFTER_COPY TOP32_TOP_MIN MOE_GATE_NORMALIZE MOE_GATE_ZERO_TAIL
        MOE_GATE_FULL_SORT MOE_GATE_GENERATE_INDICES MOE_GATE_SCORES_INCLUDE_BIAS EMA_BINARY_INIT_BEFORE_EMA
        SFPU_SIGN_MAGNITUDE l1_acc_en unpack_to_dest is_fp32_dest_acc_en HOST_IS_STREAM_PRODUCER
        HOST_IS_STREAM_CONSUMER SFPU_TYPED_BF16_STORE SFPU_SRCS_LOADMACRO ENABLE_2X_FORMAT
        ENABLE_DIRECT_INDEXING DO_RESTORE PRESERVE_SRC_ZERO_FLAG
    """,
    (BOOL, 1): "SFPU_ENABLED UNINIT_RESTORE_MOP",
}
"""Parameters by type and default."""
NUMBERS: Final = {name: default for default, names in _NAMES.items() for name in names.split()}
CHOICES: Final[Mapping[str, str]] = {
    "MATH_FIDELITY": "ckernel::MathFidelity::LoFi",
    "BROADCAST_TYPE": "ckernel::BroadcastType::NONE",
    "BCAST_DIM": "ckernel::BroadcastType::ROW",
    "ELTWISE_BINARY_OP": "ckernel::EltwiseBinaryType::ELWADD",
    "REUSE_DEST_TYPE": "ckernel::EltwiseBinaryReuseDestType::NONE",
    "DATA_COPY_TYPE": "ckernel::DataCopyType::A2D",
    "STOCHASTIC_RND": "ckernel::StochRndType::None",
    "dest_sync": "ckernel::DstSync::SyncHalf",
    "REDUCE_DIM": "ckernel::ReduceDim::REDUCE_ROW",
    "POOL_TYPE": "ckernel::PoolType::SUM",
    "PERF_RUN_TYPE": "PerfRunType::L1_TO_L1",
    "VECTOR_MODE": "ckernel::VectorMode::RC",
    "SFPU_UNARY_OPERATION": "SfpuType::square",
    "SFPU_TERNARY_OPERATION": "SfpuType::where",
    "SFPU_BINARY_OPERATION": "ckernel::BinaryOp::ADD",
    "SFPU_BINARY_OP": "ckernel::BinaryOp::ADD",
    "SFPU_DST_ROUNDING_MODE": "ckernel::DstRoundingMode::Default",
    "TYPECAST_IN_FORMAT": "DataFormat::Float16_b",
    "TYPECAST_OUT_FORMAT": "DataFormat::Int32",
}
_FIELDS: Final = (
    "unpack_A_src", "unpack_B_src", "unpack_S_src", "unpack_A_dst", "unpack_B_dst", "unpack_S_dst", "math", "sfpu_src",
    "sfpu_dst", "pack_src", "pack_dst", "pack_S_src", "pack_S_dst",
)  # fmt: skip


def build_header(case: Case, source: str) -> str:
    """Text of build.h: defaults, and what a case gives; `iterations` is the number of formats that are an array,
    `formats` are numbers of formats that differ from those of operands and result. Constants that the source defines
    itself are left out."""
    return "\n".join(_lines(case, source))


def _is_defined(name: str, source: str) -> bool:
    """Whether the source defines a constant or a macro itself."""
    defined = rf"^(?:(?:constexpr|static|const|inline)\b[^\n=]*\b{name}\b\s*(?:=|{{)|#define {name}\b)"
    return re.search(defined, source, re.MULTILINE) is not None


def _format_numbers(case: Case) -> Iterator[str]:
    given: Mapping[str, int] = case.given.get("formats", {})  # type: ignore[assignment] # the one mapping among values
    for name in _FIELDS:
        form = case.result if name.startswith("pack") else case.form
        yield str(given.get(name, CODES[form]))


def _lines(case: Case, source: str) -> Iterator[str]:
    given = case.given
    yield "#pragma once\n#include <array>\n#include <type_traits>"
    yield from (f'#include "{name}.h"' for name in _INCLUDED)
    yield "#define RUNTIME_PARAMETERS [[maybe_unused]] const struct RuntimeParams&"
    yield f"struct FormatConfig {{ unsigned {', '.join(f'{name} = 0' for name in _FIELDS)}; }};"
    numbers = [f"constexpr {kind} {name} = {given.get(name, value)};" for name, (kind, value) in NUMBERS.items()]
    yield from (line for name, line in zip(NUMBERS, numbers, strict=True) if not _is_defined(name, source))
    chosen = {name: given.get(name, value) for name, value in CHOICES.items() if not _is_defined(name, source)}
    # What only one source asks for is not in the tables.
    chosen |= {name: value for name, value in given.items() if name.isupper() and name not in {*NUMBERS, *CHOICES}}
    yield from (f"constexpr auto {name} = {value};" for name, value in chosen.items())
    yield "struct RuntimeParams {"
    yield from (f"static {line}" for line in numbers)
    one = f"{{{', '.join(_format_numbers(case))}}}"
    two = f"{{{one}, {one}}}"
    yield f"static constexpr FormatConfig formats{f'[2] = {two}' if given.get('iterations') else f' = {one}'};"
    buffers = [
        f"constexpr Operand buffer_{name}{{{at:#x}, {l1_bytes(form, TILE_ROWS)}}};"
        for name, at, form in zip(("A", "B", "C", "Res"), case.places, (*3 * (case.form,), case.result), strict=True)
    ]
    yield from (f"static {line}" for line in buffers)
    yield "};"
    yield from buffers
    if "UNPACK_A_IN" in source:
        yield from (f"constexpr unsigned {name} = {CODES[case.form]};" for name in _CONSTANTS)
    if "formats_array" in source:
        yield "constexpr unsigned L1_to_L1_ITERATIONS = 2;"
        yield f"constexpr FormatConfig formats_array[2] = {two};"
    if not re.search(r"^[^\n/ ]*\bconst\w*\b[^\n]*\bformats\b *[={]", source, re.MULTILINE):
        yield "constexpr const auto &formats = RuntimeParams::formats;"
