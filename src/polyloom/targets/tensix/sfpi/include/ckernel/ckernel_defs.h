// SPDX-License-Identifier: Apache-2.0
// What kernels expect to be known: formats, choices and field values.
#ifndef POLYLOOM_CKERNEL_CKERNEL_DEFS_H
#define POLYLOOM_CKERNEL_CKERNEL_DEFS_H

#include "ckernel_instr_params.h"
#include "llk_defs.h"
#include "sfpi.h"
#include "tensix_types.h"
#if __has_include("llk_sfpu_types.h")
#include "llk_sfpu_types.h"
#endif

namespace ckernel {

enum SortDir : bool { ArgMax = false, ArgMin = true };
enum class DataLayout { TILE, ROW_MAJOR };
enum class ActivationType { Celu, Elu, Gelu, Hardtanh, Hardsigmoid };
enum class RoundingMode : std::uint8_t { None, Trunc, Floor };
enum class DstRoundingMode : std::uint8_t { Default, NearestEven };
enum class BinaryOp : std::uint8_t {
    ADD,
    SUB,
    MUL,
    DIV,
    RSUB,
    POW,
    XLOGY,
    RSHFT,
    LSHFT,
    LOGICAL_RSHFT,
    ADD_TOP_ROW,
    LT,
    GT,
    LE,
    GE,
    EQ,
    NE,
    NEXTAFTER = 43,
    NEXTAFTER_BF16,
};

// The mode of SFPLOAD and SFPSTORE for a format of Dst.
template <DataFormat FORMAT, bool WIDE = false>
constexpr InstrModLoadStore GetSfpLoadStoreInstrMod() {
    switch (FORMAT) {
        case DataFormat::Float32:
        case DataFormat::Tf32: return InstrModLoadStore::FP32;
        case DataFormat::Float16: return WIDE ? InstrModLoadStore::FP32 : InstrModLoadStore::FP16A;
        case DataFormat::Float16_b: return WIDE ? InstrModLoadStore::FP32 : InstrModLoadStore::FP16B;
        case DataFormat::Int8:
        case DataFormat::UInt8: return InstrModLoadStore::INT8;
        case DataFormat::UInt16: return WIDE ? InstrModLoadStore::INT32 : InstrModLoadStore::LO16;
        case DataFormat::Int32:
        case DataFormat::UInt32: return InstrModLoadStore::INT32;
        default: return InstrModLoadStore::DEFAULT;
    }
}

constexpr std::uint32_t FACE_HEIGHT = 16, FACE_WIDTH = 16, TILE_HEIGHT = 32, TILE_WIDTH = 32, FACE_R_DIM = 16,
                        FACE_C_DIM = 16, TILE_R_DIM = 32, TILE_C_DIM = 32, TILE_NUM_FACES = 4, FACE_SIZE = 256;

}  // namespace ckernel

#endif
