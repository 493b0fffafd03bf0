// SPDX-License-Identifier: Apache-2.0
// SFPCONFIG, SFPMOV and the generators of random numbers (facts §1.1, §1.2). LOADMACRO's configuration is kept once,
// not for each column: columns that would differ fault.
#include <bit>

#include "tensix/vector.hpp"
#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

// What SFPCONFIG's immediate form gives L11 to L14 (tensix.md, Machine).
constexpr std::array<uint32_t, 4> PROGRAMMABLE = {0xBF800000, 0x3B000000, 0xBF2CC4C7, 0xBEB08FF9};

uint32_t merged(uint32_t old, uint32_t value, int mode) {
    switch (mode & 6) {
        case 0: return value;
        case 2: return old | value;
        case 4: return old & value;
        default: return old ^ value;
    }
}

// The columns that take part: flagged in the first row, where flags are in use, and named by the immediate.
uint32_t columns(const Run& run) {
    const Flags& flags = run.vector().flags;
    uint32_t made = (flags.set | ~flags.used) & 255;
    if (!(run.op.mod & 8)) return made;
    for (int c = 0; c < COLUMNS; ++c)
        if (!(run.op.immediate >> (2 * c) & 1)) made &= ~(1u << c);
    return made;
}

// The value of all columns of L0, or the immediate: LOADMACRO's configuration.
bool common(const Run& run, uint32_t taking_part, bool immediate, uint32_t& value) {
    if (!taking_part) return false;
    value = immediate ? uint32_t(run.op.immediate) : run.at(0)[0];
    bool differs = taking_part != 255;
    for (int c = 0; !immediate && c < COLUMNS; ++c) differs |= run.at(0)[c] != value;
    if (differs)
        run.fault("lanes-differ", "SFPCONFIG would configure SFPLOADMACRO differently in some columns",
                  "give all eight columns of L0 the same value, with all flags set");
    return true;
}

void configure_lanes(const Run& run, uint32_t taking_part, bool immediate) {
    for (int c = 0; c < COLUMNS; ++c) {
        if (!(taking_part >> c & 1)) continue;
        uint32_t& config = run.vector().lane_config[c];
        const uint32_t given = immediate ? uint32_t(run.op.immediate) : run.at(0)[c], old = config;
        config = merged(old, given, run.op.mod) & 0x3FFFF;
        if (immediate) config |= old & 0x30000;  // the immediate does not reach these bits
    }
}

void configure_register(const Run& run, uint32_t taking_part, bool immediate) {
    Lanes value;
    for (int k = 0; k < LANES; ++k) value[k] = immediate ? PROGRAMMABLE[run.op.vd - 11] : run.at(0)[k % COLUMNS];
    run.write(run.op.vd, value, taking_part * 0x01010101u);
}

uint32_t special(const VectorState& vector, int index) {
    if (index < 4) return vector.templates[index];
    return index < 8 ? vector.sequences[index - 4] : index == 8 ? vector.miscellaneous : 0;
}

}  // namespace

uint32_t configured(const VectorState& vector, uint32_t bit) {
    uint32_t made = 0;
    for (int c = 0; c < COLUMNS; ++c)
        if (vector.lane_config[c] & bit) made |= 1u << c;
    return made * 0x01010101u;
}

uint32_t enabled(const VectorState& vector) {
    const uint32_t made = vector.flags.set | ~vector.flags.used;
    if (!(any_config(vector) & ROW_MASK)) return made;
    uint32_t masked = 0;
    for (int row = 0; row < ROWS; ++row) masked |= (configured(vector, 1u << (12 + row)) & 255) << (8 * row);
    return made & ~masked;
}

Lanes drawn(VectorState& vector, uint32_t lanes) {
    const Lanes made = vector.random;
    const auto next = [](uint32_t v) { return v >> 1 | (~uint32_t(std::popcount(v & 0x80200003)) << 31); };
    blend(vector.random, each(next, made), lanes);
    return made;
}

void reset(VectorState& vector) {
    vector = VectorState{};
    vector.registers[8].fill(0x3F56594B), vector.registers[10].fill(0x3F800000);
    for (size_t k = 0; k < PROGRAMMABLE.size(); ++k) vector.registers[11 + k].fill(PROGRAMMABLE[k]);
    for (uint32_t k = 0; k < LANES; ++k) vector.registers[15][k] = 2 * k;
}

void seed(VectorState& vector, uint32_t value) {
    for (int k = 0; k < LANES; ++k) vector.random[k] = std::rotl(value, k);
}

void run_config(const Run& run) {
    VectorState& vector = run.vector();
    const bool immediate = run.op.mod & 1;
    const uint32_t taking_part = columns(run);
    uint32_t value = 0;
    if (run.op.vd <= 8) configure_macros(run.context);
    if (run.op.vd < 4) {
        if (common(run, taking_part, false, value)) vector.templates[run.op.vd] = value;
    } else if (run.op.vd < 8) {
        if (common(run, taking_part, immediate, value)) vector.sequences[run.op.vd - 4] = value;
    } else if (run.op.vd == 8) {
        if (!common(run, taking_part, immediate, value)) return;
        vector.miscellaneous = merged(vector.miscellaneous, value, run.op.mod) & 0xFFF;
    } else if (run.op.vd >= 11 && run.op.vd <= 14) {
        configure_register(run, taking_part, immediate);
    } else if (run.op.vd == 15) {
        configure_lanes(run, taking_part, immediate);
    }
}

void run_move(const Run& run) {
    const uint32_t lanes = run.op.mod == 2 ? ALL : run.lanes;
    Lanes value = run.op.mod & 8 ? Lanes{} : run.at(run.op.vc);
    if (run.op.mod & 8) {
        if (run.op.vc == 9)
            value = drawn(run.vector(), lanes);
        else if (run.op.vc == 15)
            for (int k = 0; k < LANES; ++k) value[k] = run.vector().lane_config[k % COLUMNS];
        else
            value.fill(special(run.vector(), run.op.vc));
    } else if (run.op.mod & 1) {
        for (uint32_t& v : value) v ^= SIGN;
    }
    if (writable(run.op.vd)) run.write(run.op.vd, value, lanes);
}

}  // namespace polyloom::tensix::vector
