// SPDX-License-Identifier: Apache-2.0
// The round sub-unit (facts §1.2): SFPSTOCHRND, which narrows floats and integers, and SFPSHFT2, which moves lanes.
#include <algorithm>

#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

// A float with `kept` bits of mantissa: up where what is dropped, aligned to 23 bits, reaches the threshold.
uint32_t narrowed(uint32_t value, uint32_t threshold, int kept) {
    const uint32_t exponent = value >> 23 & 255, dropped = value & (FRACTION >> kept);
    if (!exponent) return 0;
    if (exponent == 255) return value & ~FRACTION;
    return value - dropped + ((dropped << kept) >= threshold ? 1u << (23 - kept) : 0);
}

uint32_t with_sign(uint32_t sign, uint64_t magnitude, uint32_t most) {
    const uint32_t limited = uint32_t(std::min<uint64_t>(magnitude, most));
    return limited ? sign | limited : 0;
}

// A float as a sign and a magnitude. Below a half it is zero and from 2^16, as of NaN, the most, whatever the rounding.
uint32_t integer(uint32_t value, uint32_t threshold, bool is_signed, uint32_t most) {
    const uint32_t sign = is_signed ? value & SIGN : 0;
    const int exponent = int(value >> 23 & 255) - 127;
    if (exponent < -1) return 0;
    if (exponent >= 16) return sign | most;
    uint64_t magnitude = FRACTION + 1 + (value & FRACTION);
    magnitude = exponent >= 0 ? magnitude << exponent : magnitude >> 1;
    return with_sign(sign, (magnitude >> 23) + ((magnitude & FRACTION) >= threshold), most);
}

uint32_t descaled(uint32_t value, uint32_t threshold, bool is_signed, uint32_t by) {
    const uint64_t magnitude = uint64_t(value & ~SIGN) << 23 >> by;
    return with_sign(is_signed ? value & SIGN : 0, (magnitude >> 23) + ((magnitude & FRACTION) >= threshold),
                     is_signed ? 127 : 255);
}

// What the dropped bits are compared with: a half, a random number, or, toward zero, more than they can be.
Lanes thresholds(const Run& run) {
    Lanes made;
    if (run.op.rounding & 1) return each([](uint32_t v) { return v & FRACTION; }, drawn(run.vector(), run.lanes));
    made.fill(run.op.rounding ? FRACTION + 1 : 0x400000);
    return made;
}

}  // namespace

void run_round(const Run& run) {
    if (run.op.rounding == 3) run.fault("reserved-mode", "this rounding of SFP_STOCH_RND is reserved");
    const Lanes &c = run.at(run.op.vc), threshold = thresholds(run);
    const int mode = run.op.mod & 7;
    switch (mode) {
        case 0: return run.write(each([](uint32_t v, uint32_t t) { return narrowed(v, t, 10); }, c, threshold));
        case 1: return run.write(each([](uint32_t v, uint32_t t) { return narrowed(v, t, 7); }, c, threshold));
        case 4:
        case 5: {
            Lanes by = run.at(run.op.vb);
            if (run.op.mod & 8) by.fill(uint32_t(run.op.immediate));
            const auto made = [=](uint32_t v, uint32_t t, uint32_t b) { return descaled(v, t, mode & 1, b & 31); };
            return run.write(each(made, c, threshold, by));
        }
        default: {
            const uint32_t most = (mode & 4 ? 0xFFFFu : 0xFFu) >> (mode & 1);
            const auto made = [=](uint32_t v, uint32_t t) { return integer(v, t, mode & 1, most); };
            return run.write(each(made, c, threshold));
        }
    }
}

namespace {

// Each row of lanes moved right by one; the first gets the last of `wrapped`.
Lanes rotated(const Lanes& value, const Lanes& wrapped) {
    Lanes made;
    for (int k = 0; k < LANES; ++k) made[k] = k & 7 ? value[k - 1] : wrapped[k + 7];
    return made;
}

void copy_down(const Run& run, const Lanes& last, int latency) {
    const Lanes one = run.at(1), two = run.at(2), three = run.at(3);
    run.write(0, one, run.lanes, latency), run.write(1, two, run.lanes, latency);
    run.write(2, three, run.lanes, latency), run.write(3, last, run.lanes, latency);
}

void shift_lanes(const Run& run) {
    const bool immediate = run.op.mod == 6;
    const int32_t given = run.op.immediate;
    run.write(each(
        [=](uint32_t v, uint32_t c) {
            const int32_t by = immediate ? given : int32_t(c);
            return by >= 0 ? v << (by & 31) : v >> (-uint32_t(by) & 31);
        },
        run.at(run.op.vb), run.at(run.op.vc)));
}

}  // namespace

// Wormhole's mode 4 should shift in zero, and gives what the last shuffle saw instead (facts §1.2).
void run_shuffle(const Run& run) {
    const Lanes c = run.at(run.op.vc);
    Lanes& seen = run.vector().exchanged;
    switch (run.op.mod) {
        case 0: return copy_down(run, Lanes{}, 1);
        case 1: {
            Lanes up{};
            std::copy(run.at(0).begin() + COLUMNS, run.at(0).end(), up.begin());
            return copy_down(run, up, 1);
        }
        case 2: seen = c; return copy_down(run, rotated(c, c), 2);
        case 3: seen = c; return run.write(rotated(c, c), 2);
        case 4: return run.write(rotated(c, run.state.member == Member::Wormhole ? seen : Lanes{}), 2);
        case 5:
        case 6: return shift_lanes(run);
        default: run.fault("reserved-mode", "this mode of SFPSHFT2 is reserved");
    }
}

}  // namespace polyloom::tensix::vector
