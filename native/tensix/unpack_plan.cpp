// SPDX-License-Identifier: Apache-2.0
// What UNPACR reads and writes, from the configuration and the address counters.
#include "unpack_unit.hpp"

namespace polyloom::tensix::unpack {
namespace {

using namespace unpacker;

struct Descriptor {
    const Configuration& c;
    int unit;

    uint32_t operator()(Field f, uint32_t on = 0) const { return c(f, section[unit] + on); }
    [[nodiscard]] uint32_t halfword(Field f, uint32_t index) const {
        return (*this)(f, index / 2) >> (16 * (index & 1)) & 0xFFFF;
    }
};

uint32_t context_of(const State& state, const Configuration& c, Word word, int thread, int unit) {
    const uint32_t named = field(word, 3, 3) ? state.unpackers[unit].context[thread] : field(word, 12, 10);
    return (named + c.thread(unit ? own::context_offset_1 : own::context_offset_0)) & 7;
}

// Contexts 0 to 3 have their bits in the lower half of the word, 4 to 7 in the upper.
bool context_bit(const Descriptor& d, uint32_t context, uint32_t first) {
    return d(context_word) >> (first + (context & 3) + (context & 4 ? 16 : 0)) & 1;
}

void formats(const Descriptor& d, Plan& p) {
    p.in = Format(d(in_format)), p.out = Format(d(out_format));
    if (!p.contexts || !d(override_format)) return;
    const uint32_t both = d(context_formats, p.context & 3) >> (p.context & 4 ? 8 : 0);
    p.in = Format(both & 15), p.out = Format(both >> 4 & 15);
}

struct Size {
    uint32_t x, y, z, w;
};

Size size_of(const Descriptor& d, const Plan& p) {
    const uint32_t x = p.contexts && p.unit == 0 ? d.halfword(context_x_dim, p.context & 3) : d(x_dim);
    return {x, d(y_dim), d(z_dim) ? d(z_dim) : 1, d(w_dim) ? d(w_dim) : 1};
}

void addresses(const State& state, Word word, const Descriptor& d, Plan& p) {
    const Size size = size_of(d, p);
    const uint32_t context = p.contexts ? p.context : 0;
    uint64_t at = (uint64_t(d(unpacker::base, context)) + d(offset, context & 3) + 1 + d(digest)) * 16;
    if (d(force_exponent))
        p.forced_exponent = uint8_t(d.c(shared_exponent, forced[p.unit]));
    else if (is_block(p.in)) {
        p.exponents_sixteenths = at * 16;
        if (bits_of(p.in) == 8 || !d(no_exponents)) {
            const uint64_t exponents = (uint64_t(size.x) * size.y * size.z * size.w + 15) / 16;
            at += (exponents + 15) / 16 * 16;
        }
    }
    const AddressCounter &xy = state.counters[p.counters][p.unit], &zw = state.counters[p.thread][p.unit];
    const bool searches = field(word, 2, 2);
    const uint32_t x = searches ? 0 : xy.x[0], end = searches ? xy.x[1] : xy.x[1] + 1;
    const uint64_t first = ((uint64_t(zw.w[0]) * size.z + zw.z[0]) * size.y + xy.y[0]) * size.x + x;
    p.count = end - x;
    p.exponents_sixteenths += first;
    p.datums_bits = at * 8 + first * bits_of(p.in);
    p.limit = d(unpacker::limit) * 16, p.fifo = d(unpacker::fifo) * 16;
    p.tileizes = d(tileize);
    p.row_stride = p.tileizes ? (d(shift) & 0xFFF) << 4 : bits_of(p.in) * 2;
}

void output(const State& state, const Descriptor& d, Plan& p) {
    const AddressCounter& of = state.counters[p.thread][p.unit];
    const uint16_t at = strides[p.unit];
    const auto stride = [&](Field f) { return d.c(f, at); };
    const uint32_t bytes = d.c(out_base, bases[p.unit]) + of.y[1] * stride(out_y_stride) +
                           of.z[1] * stride(out_z_stride) + of.w[1] * stride(out_w_stride);
    const uint32_t width = bits_of(p.out) == 32 ? 2 : bits_of(p.out) == 16 ? 1 : 0;
    if (bytes & ((1u << width) - 1)) p.refusal = "the output address is not a multiple of the datum's size";
    p.out_datum = bytes >> width;
    if (p.unit) return;
    p.to_dst = p.contexts ? context_bit(d, p.context, 4) : d(to_dst);
    p.transposes = d(transpose);
    p.column_shift = p.tileizes ? 0 : d(shift) >> (4 * (p.context & 3)) & 15;
    if (!p.contexts) return;
    const uint32_t destination = d.halfword(unpacker::destination, p.context & 3);
    const bool adds = p.to_dst || d.c(add_destination, forced[0]);
    p.out_datum = adds ? p.out_datum + destination : destination;
}

const char* refusal(const Descriptor& d, Word word, const Plan& p) {
    const bool uncompressed = p.contexts ? context_bit(d, p.context, 0) : d(is_uncompressed);
    if (!uncompressed) return "compressed tiles are not modelled";
    if (d(upsample)) return "up-sampling is not modelled";
    if (field(word, 2, 2) && d(blobs)) return "a row search with blobs is not modelled";
    if (p.count > 0x40000) return "the last X is before the first";
    if (!known(uint32_t(p.in)) || !known(uint32_t(p.out))) return "a reserved data format";
    if (p.contexts && (p.counters == 3 || (p.unit && p.context > 1))) return "a context or counters that there are not";
    if ((p.transposes || p.tileizes) && p.datums_bits % 128) return "the first datum does not start 16 bytes";
    if (p.to_dst && (p.column_shift || p.transposes)) return "Dst takes neither transposed nor shifted datums";
    return p.refusal;
}

}  // namespace

Plan plan(const State& state, Word word, int thread) {
    const Configuration c(state, thread);
    Plan p;
    p.unit = int(field(word, 23, 23)), p.thread = thread, p.contexts = field(word, 7, 7);
    p.counters = p.contexts ? int(field(word, 9, 8)) : thread;
    if (p.contexts) p.context = context_of(state, c, word, thread, p.unit);
    const Descriptor d{c, p.unit};
    formats(d, p);
    if (p.counters < 3) addresses(state, word, d, p);
    output(state, d, p);
    p.refusal = refusal(d, word, p);
    return p;
}

}  // namespace polyloom::tensix::unpack
