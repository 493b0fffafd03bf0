// SPDX-License-Identifier: Apache-2.0
#include "tensor_unused.hpp"

namespace polyloom::minion::tensor {

namespace {

// Bits `first` to `last`.
constexpr uint64_t span(unsigned first, unsigned last) {
    return (~uint64_t(0) >> (63 - last)) & (~uint64_t(0) << first);
}

// x31 holds a stride from bit `low` to 47, which may be sign-extended, and an ID where there is one.
uint64_t of_stride(uint64_t x31, unsigned low, bool id) {
    const bool extended = x31 >> 47 == span(47, 63) >> 47;
    return x31 & (span(id ? 1 : 0, low - 1) | (extended ? 0 : span(48, 63)));
}

// Bits 47 to 40 of an address, unless they are its sign.
uint64_t high_of(uint64_t word) {
    const uint64_t high = word & span(40, 47);
    return high == span(40, 47) ? 0 : high;
}

}  // namespace

// Bits 5 and 4 belong to the address of the transformations that begin within a line. A LoadB has neither mask nor
// transformation nor a first line.
Unused unused(const Load& load, uint64_t word, uint64_t x31) {
    uint64_t low = span(4, 5);
    switch (load.transform) {
        case Transform::interleave8:
        case Transform::transpose8: low = 0; break;
        case Transform::interleave16:
        case Transform::transpose16: low = span(4, 4); break;
        default: break;
    }
    const uint64_t no_fields = load.to_b ? span(63, 63) | span(53, 61) : 0;
    return {.word = word & (span(48, 51) | low | no_fields), .x31 = of_stride(x31, 6, true), .high = high_of(word)};
}

Unused unused(const LoadL2&, uint64_t word, uint64_t x31) {
    return {.x31 = of_stride(x31, 6, true), .high = high_of(word)};
}

Unused unused(const Fma& fma, uint64_t word) {
    constexpr uint64_t RESERVED = span(57, 62) | span(24, 42) | span(18, 19) | span(10, 11);
    Unused made{.word = word & (RESERVED | (fma.is(Type::int8) ? 0 : span(21, 23)))};
    if (fma.offset + fma.words > LINE / 4) made.undefined = "words of A behind the end of a line";
    return made;
}

Unused unused(const Quant& quant, uint64_t word) {
    Unused made{.word = word & (span(62, 63) | span(40, 44))};
    if (quant.count < quant.transforms.size()) made.word |= word & span(4 * quant.count, 39);
    for (unsigned k = 0; k < quant.count; ++k)
        if (quant.transforms[k] > Quant::KNOWN) made.undefined = "a transformation that there is none of";
    return made;
}

Unused unused(const Store& store, uint64_t word, uint64_t x31) {
    if (store.from_scp)
        return {.word = word & (span(55, 55) | span(49, 50) | span(0, 5)),
                .x31 = of_stride(x31, 6, false),
                .high = high_of(word)};
    Unused made{.word = word & span(0, 3), .x31 = of_stride(x31, 4, false), .high = high_of(word)};
    const uint64_t within = store.bytes - 1u;
    made.address = store.legal && ((store.address | (store.rows > 1 ? store.stride : 0)) & within);
    return made;
}

// A sender has no function, a step of the tree a height of four bits where others name a minion.
Unused unused(const Reduce& reduce, uint64_t word) {
    const bool sends = reduce.command == Command::send, pair = sends || reduce.command == Command::receive;
    const uint64_t function = sends ? span(24, 27) : 0, tree = pair ? 0 : span(7, 15);
    return {.word = word & (span(62, 63) | span(28, 56) | span(23, 23) | span(2, 2) | function | tree)};
}

Unused unused(const Coop&, uint64_t word) { return {.word = word & (span(20, 63) | span(5, 7))}; }

Unused unused_of_wait(uint64_t word) {
    return {.word = word & span(4, 63), .undefined = (word & 15) > 10 ? "an event that there is none of" : nullptr};
}

}  // namespace polyloom::minion::tensor
