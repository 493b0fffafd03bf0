// SPDX-License-Identifier: Apache-2.0
// Tensor operations under sanitizers: random words on random tiles. With AVX2 and FMA the same bytes and flags come out
// as without; no operation reaches outside its registers and lines.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "minion/tensor.hpp"

using namespace polyloom::minion::tensor;
using Random = std::mt19937_64;

namespace {

struct Storage {
    Register f[32];
    uint8_t scp[SCP_LINES * LINE], tenb[16 * LINE];
    uint32_t tenc[256];

    Tile tile() { return {f, scp, tenc, tenb}; }
    bool operator==(const Storage& other) const { return !std::memcmp(this, &other, sizeof *this); }
};

// Numbers of a type, of which one in `rare` is special: a zero, a subnormal, an infinity, a NaN, the greatest, the
// least.
uint32_t single(Random& random, unsigned rare) {
    static constexpr uint32_t SPECIAL[] = {0,          0x80000000, 1,          0x807FFFFF, 0x7F800000, 0xFF800000,
                                           0x7FC00000, 0x7F800001, 0x7F7FFFFF, 0x00800000, 0x80800000};
    const uint64_t bits = random();
    if (rare && bits % rare == 0) return SPECIAL[random() % std::size(SPECIAL)];
    const uint32_t exponent = bits >> 60 & 1 ? uint32_t(bits >> 40 & 255) : 117 + uint32_t(bits >> 40 & 15);
    return uint32_t(bits & 0x807FFFFF) | exponent << 23;
}

uint32_t half(Random& random, unsigned rare) {
    static constexpr uint32_t SPECIAL[] = {0, 0x8000, 1, 0x83FF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0x7BFF, 0x0400};
    const uint64_t bits = random();
    if (rare && bits % rare == 0) return SPECIAL[random() % std::size(SPECIAL)];
    return uint32_t(bits >> 20 & 0xFFFF) % 0x7C00 | uint32_t(bits >> 40 & 0x8000);
}

void fill(Storage& s, Type type, Random& random) {
    static constexpr unsigned RARE[] = {0, 2, 5, 50, 1000};
    const unsigned rare = RARE[random() % std::size(RARE)];
    const auto word = [&]() -> uint32_t {
        if (type == Type::fp32) return single(random, rare);
        if (type == Type::int8) return uint32_t(random());
        return half(random, rare) | half(random, rare) << 16;
    };
    for (unsigned at = 0; at < sizeof s.scp; at += 4) {
        const uint32_t made = word();
        std::memcpy(s.scp + at, &made, 4);
    }
    for (unsigned at = 0; at < sizeof s.tenb; at += 4) {
        const uint32_t made = word();
        std::memcpy(s.tenb + at, &made, 4);
    }
    for (Register& f : s.f)
        for (uint32_t& lane : f.lane) lane = single(random, rare);
    for (uint32_t& each : s.tenc) each = uint32_t(random());
}

bool same_with_and_without(Random& random) {
    static constexpr Type TYPES[] = {Type::fp32, Type::fp16, Type::int8};
    const Type type = TYPES[random() % 3];
    Storage one;
    fill(one, type, random);
    Storage other = one;
    Fma word = fma((random() & ~uint64_t(14)) | uint64_t(type) << 1);
    const uint16_t mask = uint16_t(random());
    const int mode = int(random() % 5);
    uint32_t flags = 0, other_flags = 0;
    set_wide(true);
    multiply(word, one.tile(), mask, mode, flags);
    set_wide(false);
    multiply(word, other.tile(), mask, mode, other_flags);
    set_wide(true);
    return one == other && flags == other_flags;
}

void stay_inside(Random& random) {
    Storage s;
    fill(s, Type::fp32, random);
    uint32_t flags = 0;
    const int mode = int(random() % 5);
    quantize(quant(random()), s.tile(), mode, flags);
    const Store stored = store(random(), random());
    std::vector<uint8_t> bytes(stored.bytes);
    for (unsigned i = 0; i < stored.rows; ++i) store_row(stored, s.tile(), i, bytes.data());
    const Load loaded = load(random(), random());
    if (!loaded.bad()) {
        std::vector<uint8_t> data(size_t(LINE) * sources(loaded)), to(loaded.to_b ? sizeof s.tenb : sizeof s.scp);
        place(loaded, uint16_t(random()), data.data(), sources(loaded), to.data());
    }
    for (unsigned funct = 0; funct < 16; ++funct) combine(funct, s.f[0], s.f[1], mode, flags);
    for (unsigned minion = 0; minion < 64; ++minion) (void)reduce(random()).part(minion);
}

}  // namespace

int main() {
    Random random(19);
    for (int round = 0; round < 1500; ++round) {
        if (!same_with_and_without(random)) return std::fprintf(stderr, "round %d differs\n", round), 1;
        stay_inside(random);
    }
    return 0;
}
