// SPDX-License-Identifier: Apache-2.0
// What unpackers and packers remember between instructions, as plain data: the rows and contexts of an unpacker, the
// streams into L1 of a packer and its position within a tile.
#pragma once

#include <array>
#include <cstdint>

namespace polyloom::tensix {

struct UnpackerState {
    std::array<uint32_t, 3> row{};      // of Src, added to what an instruction addresses; of each thread
    std::array<uint32_t, 3> context{};  // the context counter of each thread
};

// A packer writes 16 bytes at a time: what is short of that waits, also across instructions.
struct PackerStream {
    bool fresh = true;  // the next instruction computes an address
    uint32_t address = 0;
    std::array<uint8_t, 16> waiting{};
    uint32_t bits = 0;  // of them
};

struct PackerState {
    PackerStream data, exponents;
    uint32_t x = 0, y = 0, z = 0;  // of the next datum within its tile, for edge masks
};

}  // namespace polyloom::tensix
