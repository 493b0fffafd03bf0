// SPDX-License-Identifier: Apache-2.0
// TensorQuant's chains of transforms, the rows of stores and what receivers do. Reserved transforms do nothing.
#include <algorithm>
#include <cstring>

#include "single.hpp"
#include "tensor.hpp"

namespace polyloom::minion::tensor {

namespace {

constexpr unsigned LANES = 8;

enum Step : uint8_t {
    TO_FLOAT = 1,
    TO_INTEGER,
    RELU,
    ADD_ROW,
    ADD_COLUMN,
    MULTIPLY_ROW,
    MULTIPLY_COLUMN,
    SAT8,
    SATU8,
    PACK
};

uint32_t clamped(uint32_t a, int32_t least, int32_t most) {
    return uint32_t(std::clamp(int32_t(a), least, most)) & 0xFF;
}

uint32_t transformed(uint8_t step, uint32_t a, uint32_t other, int mode, uint32_t& flags) {
    switch (step) {
        case TO_FLOAT: return single::from_integer(int32_t(a), mode, flags);
        case TO_INTEGER: return uint32_t(single::to_integer<int32_t>(a, mode, flags));
        case RELU: return int32_t(a) < 0 ? 0 : a;
        case ADD_ROW:
        case ADD_COLUMN: return a + other;
        case MULTIPLY_ROW:
        case MULTIPLY_COLUMN: return single::mul(a, other, mode, flags);
        case SAT8: return clamped(a, -128, 127);
        case SATU8: return clamped(a, 0, 255);
        default: return a;
    }
}

// The low bytes of a row's elements become the first bytes of its first register; the others stay.
void pack(const Quant& quant, const Tile& tile, unsigned row) {
    uint8_t bytes[16];
    for (unsigned j = 0; j < quant.columns; ++j)
        bytes[j] = uint8_t(tile.f[(quant.freg + 2 * row + j / LANES) % 32].lane[j % LANES]);
    std::memcpy(tile.f[(quant.freg + 2 * row) % 32].lane, bytes, quant.columns);
}

uint32_t function_of(unsigned funct, uint32_t in, uint32_t local, int mode, uint32_t& flags) {
    switch (funct) {
        case 0: return single::add(in, local, mode, flags);
        case 2: return single::maximum(in, local, flags);
        case 3: return single::minimum(in, local, flags);
        case 4: return in + local;
        case 6: return uint32_t(std::max(int32_t(in), int32_t(local)));
        case 7: return uint32_t(std::min(int32_t(in), int32_t(local)));
        default: return in;
    }
}

}  // namespace

void quantize(const Quant& quant, const Tile& tile, int mode, uint32_t& flags) {
    unsigned line = quant.start % SCP_LINES;
    for (unsigned k = 0; k < quant.count; ++k) {
        const uint8_t step = quant.transforms[k];
        const bool vector = step >= ADD_ROW && step <= MULTIPLY_COLUMN;
        const bool by_row = step == ADD_ROW || step == MULTIPLY_ROW;
        uint32_t other[16] = {};
        if (vector) std::memcpy(other, tile.scp + LINE * line, LINE);
        for (unsigned i = 0; i < quant.rows; ++i) {
            if (step == PACK) {
                pack(quant, tile, i);
                continue;
            }
            for (unsigned j = 0; j < quant.columns; ++j) {
                uint32_t& element = tile.f[(quant.freg + 2 * i + j / LANES) % 32].lane[j % LANES];
                element = transformed(step, element, other[by_row ? j : i], mode, flags);
            }
        }
        if (vector) line = (line + 1) % SCP_LINES;
    }
}

void store_row(const Store& store, const Tile& tile, unsigned i, uint8_t* bytes) {
    if (store.from_scp) {
        std::memcpy(bytes, tile.scp + LINE * ((store.start + i * store.step) % SCP_LINES), LINE);
        return;
    }
    const unsigned each = store.bytes == LINE ? 2 : 1;
    for (unsigned part = 0; part < each; ++part)
        std::memcpy(bytes + 32 * part, tile.f[(store.start + (i * each + part) * store.step) % 32].lane,
                    std::min<unsigned>(store.bytes, 32));
}

void combine(unsigned funct, const Register& incoming, Register& local, int mode, uint32_t& flags) {
    for (unsigned e = 0; e < LANES; ++e)
        local.lane[e] = function_of(funct, incoming.lane[e], local.lane[e], mode, flags);
}

}  // namespace polyloom::minion::tensor
