// SPDX-License-Identifier: Apache-2.0
// What lies on the belt: an operand with a width and lanes of its own, each lane data, None or NaR.
//
// Lane k's data are the bytes from k << width on, lowest first. `none` and `nar` are sets of lanes and disjoint; data
// of such lanes mean nothing, `why` is told of lanes in `nar` alone. The Nones that stand for results that nobody
// issued have no shape: they take that of the operands they are computed with.
#pragma once

#include <cstdint>
#include <cstring>

namespace polyloom::belt {

__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

constexpr unsigned most_bytes = 128;
constexpr unsigned widths = 5;
constexpr uint8_t shapeless = 7;  // as a width

enum class Cause : uint8_t { none, overflow, division, outside, conversion };

// Where a NaR comes from. Bundles beyond 2^24 wrap: no program is so long.
constexpr uint32_t reason(Cause cause, uint32_t bundle) { return uint32_t(cause) << 24 | (bundle & 0xffffff); }
constexpr Cause cause_of(uint32_t why) { return Cause(why >> 24); }
constexpr uint32_t bundle_of(uint32_t why) { return why & 0xffffff; }

constexpr u128 first_lanes(unsigned n) { return n >= 128 ? ~u128(0) : (u128(1) << n) - 1; }
constexpr unsigned lowest(u128 set) {
    return unsigned(uint64_t(set) ? __builtin_ctzll(uint64_t(set)) : 64 + __builtin_ctzll(uint64_t(set >> 64)));
}

struct Value {
    u128 none = 0, nar = 0;
    uint8_t width = 2, lanes_log = 0;
    // The number of the operation that made it, where operations are told to a debugger; 0 of what none has made.
    mutable uint64_t maker = 0;
    alignas(16) uint8_t data[most_bytes];
    uint32_t why[most_bytes];

    unsigned lanes() const { return 1u << lanes_log; }
    unsigned bytes() const { return lanes() << width; }
    bool has_shape() const { return width != shapeless; }
    bool plain() const { return !(none | nar); }

    void shape(unsigned new_width, unsigned new_lanes_log) {
        width = uint8_t(new_width);
        lanes_log = uint8_t(new_lanes_log);
        none = nar = 0;
    }
    void like(const Value& other) { shape(other.width, other.lanes_log); }
    void make_none() {
        none = first_lanes(lanes());
        nar = 0;
    }
    void lose_shape() {
        shape(shapeless, 0);
        none = 1;
    }
    void make_nar(uint32_t because) {
        none = 0;
        nar = first_lanes(lanes());
        for (unsigned k = 0; k < lanes(); ++k) why[k] = because;
    }
    // The rest of a copy is not copied: most values are scalars.
    void copy(const Value& other) {
        none = other.none;
        nar = other.nar;
        width = other.width;
        lanes_log = other.lanes_log;
        maker = other.maker;
        if (!lanes_log) [[likely]] {
            read(other.data);
            why[0] = nar ? other.why[0] : 0;
            return;
        }
        std::memcpy(data, other.data, bytes());
        if (nar) std::memcpy(why, other.why, 4 * lanes());
    }
    void copy_lane(unsigned to, const Value& other, unsigned from) {
        put(to, other.bits(from));
        const u128 bit = u128(1) << to;
        none = other.none >> from & 1 ? none | bit : none & ~bit;
        nar = other.nar >> from & 1 ? nar | bit : nar & ~bit;
        if (nar & bit) why[to] = other.why[from];
    }
    bool low_bit(unsigned lane) const { return data[lane << width] & 1; }
    void set_low(unsigned lane, bool bit) {
        std::memset(data + (lane << width), 0, 1u << width);
        data[lane << width] = bit;
    }
    u128 bits(unsigned lane) const {
        switch (width) {
            case 0: return data[lane];
            case 1: return at<uint16_t>(lane);
            case 2: return at<uint32_t>(lane);
            case 3: return at<uint64_t>(lane);
            default: return at<u128>(width == 4 ? lane : 0);
        }
    }
    i128 number(unsigned lane) const {
        const unsigned unused = 128 - (8u << width);
        return i128(bits(lane) << unused) >> unused;
    }
    void put(unsigned lane, u128 bits) {
        switch (width) {
            case 0: data[lane] = uint8_t(bits); break;
            case 1: put_as<uint16_t>(lane, uint16_t(bits)); break;
            case 2: put_as<uint32_t>(lane, uint32_t(bits)); break;
            case 3: put_as<uint64_t>(lane, uint64_t(bits)); break;
            default: put_as<u128>(width == 4 ? lane : 0, bits);
        }
    }

    // A scalar's data. Not more than that: the processor would wait for what was written last.
    void read(const uint8_t* from) {
        switch (width) {
            case 0: data[0] = *from; break;
            case 1: std::memcpy(data, from, 2); break;
            case 2: std::memcpy(data, from, 4); break;
            case 3: std::memcpy(data, from, 8); break;
            default: std::memcpy(data, from, 16);
        }
    }

  private:
    template <class U>
    U at(unsigned lane) const {
        U value;
        std::memcpy(&value, data + lane * sizeof value, sizeof value);
        return value;
    }
    template <class U>
    void put_as(unsigned lane, U value) {
        std::memcpy(data + lane * sizeof value, &value, sizeof value);
    }
};

}  // namespace polyloom::belt
