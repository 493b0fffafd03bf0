// SPDX-License-Identifier: Apache-2.0
// Formats of datums.
#ifndef POLYLOOM_CKERNEL_TENSIX_TYPES_H
#define POLYLOOM_CKERNEL_TENSIX_TYPES_H

#include <cstdint>

enum class DataFormat : std::uint8_t {
    Float32 = 0,
    Float16 = 1,
    Bfp8 = 2,
    Bfp4 = 3,
    Tf32 = 4,
    Float16_b = 5,
    Bfp8_b = 6,
    Bfp4_b = 7,
    Int32 = 8,
    UInt16 = 9,
    Lf8 = 10,
    Bfp2 = 11,
    Int8 = 14,
    Bfp2_b = 15,
    UInt32 = 24,
    UInt8 = 30,
    Invalid = 0xFF,
};

constexpr std::uint32_t DEST_FACE_WIDTH = 16, DEST_FACE_HEIGHT = 16, DEST_REGISTER_FULL_SIZE = 1024,
                        DEST_REGISTER_HALF_SIZE = 512, BIT32_DEST_REGISTER_HALF_SIZE = 256;

constexpr bool is_uint32_format(DataFormat format) { return format == DataFormat::UInt32; }
constexpr bool is_bfp8_b_format(DataFormat format) { return format == DataFormat::Bfp8_b; }
constexpr bool is_bfp4_b_format(DataFormat format) { return format == DataFormat::Bfp4_b; }

#endif
