// SPDX-License-Identifier: Apache-2.0
// SFPLOAD, SFPSTORE and SFPLOADI (facts §1.2.1): 32 datums of the even or odd columns of four rows of Dst, in Dst's
// order of bits. A row that is not valid loads as zero, with a report; a store makes it valid, zero where it does not
// write.
#include <bit>

#include "tensix/fields.hpp"
#include "tensix/vector_datum.hpp"
#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

// A row of Dst as pairs: the even column in the low half, the odd one in the high half.
using Pairs = std::array<uint32_t, COLUMNS>;

Pairs pairs(const std::array<uint16_t, 16>& row) {
    Pairs made;
    if constexpr (std::endian::native == std::endian::little)
        std::memcpy(&made, &row, sizeof made);
    else
        for (int c = 0; c < COLUMNS; ++c) made[c] = row[2 * c] | uint32_t(row[2 * c + 1]) << 16;
    return made;
}

void put(std::array<uint16_t, 16>& row, const Pairs& given) {
    if constexpr (std::endian::native == std::endian::little)
        std::memcpy(&row, &given, sizeof given);
    else
        for (int c = 0; c < COLUMNS; ++c) row[2 * c] = uint16_t(given[c]), row[2 * c + 1] = uint16_t(given[c] >> 16);
}

// The columns of a row that lanes see, and back; lanes are bits of this row alone.
void gather(const std::array<uint16_t, 16>& row, uint32_t odd, uint32_t* to) {
    const Pairs from = pairs(row);
    for (int c = 0; c < COLUMNS; ++c) to[c] = odd & LANE_BIT[c] ? from[c] >> 16 : from[c] & 0xFFFF;
}

void scatter(std::array<uint16_t, 16>& row, uint32_t odd, uint32_t lanes, const uint32_t* from) {
    Pairs at = pairs(row);
    for (int c = 0; c < COLUMNS; ++c) {
        const uint32_t given =
            odd & LANE_BIT[c] ? (at[c] & 0xFFFF) | from[c] << 16 : (at[c] & ~0xFFFFu) | (from[c] & 0xFFFF);
        at[c] = lanes & LANE_BIT[c] ? given : at[c];
    }
    put(row, at);
}

constexpr bool wide_load(uint32_t mode) {
    return mode == FP32 || mode == INT32 || mode == INT32_ALL || mode == INT32_SM;
}
constexpr bool wide_store(uint32_t mode) { return wide_load(mode) || mode == LO16 || mode == HI16; }

// The lanes whose column has the bit; `config` is what any column has, mostly nothing.
uint32_t told(const VectorState& vector, uint32_t config, uint32_t bit) {
    return config & bit ? configured(vector, bit) : 0;
}

// Advances the thread's counters as ADDR_MOD says, but fidelity. Blackhole's three bits name one of eight directly.
void advance_counters(State& state, int thread, int mode) {
    Counters& c = state.matrix.counters[size_t(thread)];
    const auto& config = state.config.thread[size_t(thread)];
    const bool upper = state.member == Member::Wormhole && (c.bias || config[2] & 1);
    const uint32_t index = uint32_t(mode) + (upper ? 4 : 0);
    const Layout words = layout(state.member);
    const uint32_t ab = config[words.mode_ab + words.mode_ab_words * index], dst = config[words.mode_dst + index];
    const uint32_t bias = config[words.mode_bias + index];
    const auto step = [](uint32_t& at, uint32_t& start, uint32_t bits, uint32_t mask, uint32_t cr, uint32_t clear) {
        const uint32_t by = bits & mask;
        if (clear)
            at = start = 0;
        else if (cr)
            at = start = (start + by) & mask;
        else
            at = (at + by) & mask;
    };
    step(c.a, c.a_carriage, ab, 63, ab & 0x40, ab & 0x80);
    step(c.b, c.b_carriage, ab >> 8, 63, ab & 0x4000, ab & 0x8000);
    if (!(dst & 0x800) && dst & 0x1000)
        c.dst = c.dst_carriage = (c.dst + (dst & 0x3FF)) & 0x3FF;
    else
        step(c.dst, c.dst_carriage, dst, 0x3FF, dst & 0x400, dst & 0x800);
    if (bias & 16)
        c.bias = 0;
    else if (bias & 3)
        c.bias ^= 1;
}

}  // namespace

Place place(const State& state, const Operation& op, int thread) {
    const auto& config = state.config.of(thread);
    uint32_t mode = op.mod;
    if (mode == SRCB) {
        const uint32_t format = config[0] >> 9 & 1 ? config[0] >> 5 & 15 : config[1] >> 21 & 15;
        constexpr uint32_t AS_BF16 = 1 << 0 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 15 | 1 << 8 | 1 << 9;
        mode = config[1] >> 30 & 1 ? FP32 : AS_BF16 >> format & 1 ? BF16 : FP16;
    }
    const uint32_t moving = state.matrix.counters[size_t(thread)].dst + config[6];
    const uint32_t base = uint32_t(op.immediate) + state.config.thread[size_t(thread)][1];
    return {mode, (base + (mode == INT32_ALL ? moving & 3 : moving)) & 0x3FF};
}

// Bit 0 selects nothing; the public simulator refuses such addresses.
void report_odd(const Run& run) {
    run.report("odd-address", "an address of Dst is odd, which selects what the even one below it selects",
               "even addresses: from the instruction, DEST_TARGET_REG_CFG_MATH_Offset and the Dst counter together");
}

void run_load(const Run& run) {
    State& state = run.state;
    const auto [mode, address] = place(state, run.op, run.thread);
    const uint32_t config = any_config(state.vector);
    if (run.op.vd < 8) {
        if (address & 1) report_odd(run);
        const uint32_t row = address & ~3u, odd = address & 2 ? ALL : told(state.vector, config, LOAD_ODD);
        const uint32_t infinite = told(state.vector, config, INFINITE_HALF);
        uint32_t lanes = mode == INT32_ALL ? ALL : run.lanes;
        lanes &= ~told(state.vector, config, NO_LOAD);
        bool invalid = false;
        Lanes data{};
        for (uint32_t r = 0; r < ROWS && mode != ZERO; ++r) {
            const uint32_t at = wide_load(mode) ? wide_row(row + r) : row + r;
            if (!state.matrix.valid[at]) {
                invalid |= (lanes >> (8 * r) & 255) != 0;
                continue;
            }
            gather(state.matrix.dst[at], odd >> (8 * r), &data[8 * r]);
            if (!wide_load(mode)) continue;
            Pairs low;
            gather(state.matrix.dst[at + 8], odd >> (8 * r), low.data());
            for (uint32_t c = 0; c < COLUMNS; ++c) data[8 * r + c] = data[8 * r + c] << 16 | low[c];
        }
        Lanes value = loaded(mode, data, run.at(run.op.vd), infinite);
        if (invalid)
            run.report("undefined-row", "SFPLOAD of rows of Dst that ZEROACC, or reset, left undefined",
                       "write the rows before, or load with mode 11 (zero)");
        run.write(run.op.vd, value, lanes);
        const uint32_t with = told(state.vector, config, WITH_INDEX),
                       both = with & told(state.vector, config, CAPTURE_INDEX) & lanes;
        if (run.op.vd < 4 && both) {
            for (uint32_t k = 0; k < LANES; ++k) value[k] = (row + k / 8) << 4 | k % 8 << 1 | (odd >> k & 1);
            run.write(run.op.vd + 4, value, both);
        }
    }
    advance_counters(state, run.thread, run.op.address_mode);
}

void run_store(const Run& run) {
    State& state = run.state;
    Place where_to = place(state, run.op, run.thread);
    if (run.op.scheduled) where_to.address = run.address;
    const auto [mode, address] = where_to;
    if (address & 1) report_odd(run);
    const uint32_t row = address & ~3u, config = any_config(state.vector);
    const uint32_t odd = address & 2 ? ALL : told(state.vector, config, STORE_ODD);
    const uint32_t lanes = (mode == INT32_ALL ? ALL : run.lanes) & ~told(state.vector, config, NO_STORE);
    const bool wide = wide_store(mode);
    const Lanes value = stored(mode, run.at(run.op.vd));
    for (uint32_t r = 0; r < ROWS; ++r) {
        const uint32_t of_row = lanes >> (8 * r) & 255;
        if (!of_row) continue;
        const uint32_t at = wide ? wide_row(row + r) : row + r, low = wide ? at + 8 : at;
        if (!state.matrix.valid[at]) state.matrix.dst[at].fill(0), state.matrix.dst[low].fill(0);
        state.matrix.valid[at] = true;
        scatter(state.matrix.dst[low], odd >> (8 * r), of_row, &value[8 * r]);
        if (!wide) continue;
        Pairs high;
        for (uint32_t c = 0; c < COLUMNS; ++c) high[c] = value[8 * r + c] >> 16;
        scatter(state.matrix.dst[at], odd >> (8 * r), of_row, high.data());
    }
    if (!run.op.scheduled) advance_counters(state, run.thread, run.op.address_mode);
}

void run_load_immediate(const Run& run) {
    const uint32_t given = uint32_t(run.op.immediate);
    if (run.op.vd >= 8) return;
    const Lanes& old = run.at(run.op.vd);
    switch (run.op.mod) {
        case 8: return run.write(each([=](uint32_t v) { return given << 16 | (v & 0xFFFF); }, old));
        case 10: return run.write(each([=](uint32_t v) { return (v & 0xFFFF0000) | given; }, old));
        default: break;
    }
    Lanes value;
    switch (run.op.mod) {
        case 0: value.fill(given << 16); break;
        case 1: value.fill((given & 0x8000) << 16 | ((given >> 10 & 31) + 112) << 23 | (given & 0x3FF) << 13); break;
        case 2: value.fill(given); break;
        case 4: value.fill(uint32_t(int32_t(int16_t(given)))); break;
        default: run.fault("reserved-mode", "this mode of SFPLOADI is reserved", "modes are 0, 1, 2, 4, 8 and 10");
    }
    run.write(value);
}

}  // namespace polyloom::tensix::vector
