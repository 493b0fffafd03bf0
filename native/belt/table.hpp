// SPDX-License-Identifier: Apache-2.0
// The operations, numbered as the rows of `polyloom.targets.belt.isa` (tests/belt/model compares both): how the model executes each.
#pragma once

#include <array>
#include <string_view>

#include "value.hpp"

namespace polyloom::belt {

enum class Phase : uint8_t { R, C, K, P, X };

// Keys of the member's table of latencies, in the order of words; `none` drops in its own bundle.
enum class Key : uint8_t { alu, compare, smear, shuffle, widen, widenv, shift, mul, floating, fused, div, load, none };
constexpr unsigned latency_keys = 11;

// How an operation is executed: lane by lane with a kernel, or by a function of its own.
enum class Action : uint8_t {
    same,       // kernel; a result of the operands' width
    condition,  // kernel; one byte per lane
    twice,      // kernel; a result of twice the width
    convert,    // to the width of the word
    split,      // two results of half the lanes
    join,       // two operands' lanes in one result
    splat, iota, shuffle, extract, inject,
    any, all, smearx, smeari, orm, remaining,
    con, fill, load, store, call, pick, recur, spill, scratchf, conform, transfer
};

#define POLYLOOM_BELT_FAMILY(F, name, key) \
    F(name, C, same, key) F(name##ss, C, same, key) F(name##us, C, same, key) F(name##sx, C, same, key) F(name##ux, C, same, key) \
    F(name##sw, C, twice, key) F(name##uw, C, twice, key)

#define POLYLOOM_BELT_OPS(F) \
    POLYLOOM_BELT_FAMILY(F, add, alu) POLYLOOM_BELT_FAMILY(F, sub, alu) \
    F(and, C, same, alu) F(or, C, same, alu) F(xor, C, same, alu) F(andn, C, same, alu) \
    F(eql, C, condition, compare) F(neq, C, condition, compare) F(lsss, C, condition, compare) F(leqs, C, condition, compare) \
    F(gtrs, C, condition, compare) F(geqs, C, condition, compare) F(lssu, C, condition, compare) F(lequ, C, condition, compare) \
    F(gtru, C, condition, compare) F(gequ, C, condition, compare) \
    F(mins, C, same, alu) F(maxs, C, same, alu) F(minu, C, same, alu) F(maxu, C, same, alu) \
    F(abs, C, same, alu) F(not, C, same, alu) F(clz, C, same, alu) F(ctz, C, same, alu) F(pop, C, same, alu) F(bswap, C, same, alu) \
    F(shl, C, same, shift) F(shrs, C, same, shift) F(shru, C, same, shift) F(rotl, C, same, shift) \
    POLYLOOM_BELT_FAMILY(F, mul, mul) F(muladd, C, same, mul) F(shladd, C, same, shift) \
    F(divs, C, same, div) F(divu, C, same, div) F(rems, C, same, div) F(remu, C, same, div) \
    F(widens, C, convert, widen) F(widenu, C, convert, widen) F(narrow, C, convert, widen) F(narrowss, C, convert, widen) F(narrowus, C, convert, widen) \
    F(widensv, C, split, widenv) F(widenuv, C, split, widenv) F(narrowv, C, join, widenv) \
    F(addf, C, same, floating) F(subf, C, same, floating) F(mulf, C, same, floating) F(minf, C, same, floating) F(maxf, C, same, floating) \
    F(fmaf, C, same, fused) F(divf, C, same, div) F(sqrtf, C, same, div) F(negf, C, same, alu) F(absf, C, same, alu) F(copysignf, C, same, alu) \
    F(eqlf, C, condition, compare) F(neqf, C, condition, compare) F(lssf, C, condition, compare) F(leqf, C, condition, compare) \
    F(gtrf, C, condition, compare) F(geqf, C, condition, compare) F(unof, C, condition, compare) \
    F(stof, C, convert, floating) F(utof, C, convert, floating) F(ftos, C, convert, floating) F(ftou, C, convert, floating) \
    F(widenf, C, convert, floating) F(narrowf, C, convert, floating) \
    F(splat, C, splat, shuffle) F(iota, C, iota, shuffle) F(shuffle, C, shuffle, shuffle) F(extract, C, extract, shuffle) F(inject, C, inject, shuffle) \
    F(any, C, any, smear) F(all, C, all, smear) F(smearx, C, smearx, smear) F(smeari, C, smeari, smear) F(orm, C, orm, alu) F(remaining, C, remaining, smear) \
    F(con, R, con, none) F(fill, R, fill, none) F(fillx, R, fill, none) \
    F(load, C, load, load) F(loads, C, load, load) F(loadu, C, load, load) F(store, X, store, none) \
    F(call, K, call, none) F(calltr, K, call, none) F(pick, P, pick, none) F(recur, P, recur, none) \
    F(spill, X, spill, none) F(spillx, X, spill, none) F(scratchf, X, scratchf, none) F(conform, X, conform, none) \
    F(br, X, transfer, none) F(inner, X, transfer, none) F(leave, X, transfer, none) F(retn, X, transfer, none) \
    F(brtr, X, transfer, none) F(brfl, X, transfer, none) F(leavetr, X, transfer, none) F(leavefl, X, transfer, none)

enum class Op : uint8_t {
#define POLYLOOM_BELT_ENUM(name, phase, action, key) op_##name,
    POLYLOOM_BELT_OPS(POLYLOOM_BELT_ENUM)
#undef POLYLOOM_BELT_ENUM
};

struct Row {
    std::string_view name;
    Phase phase;
    Action action;
    Key key;
};

inline constexpr Row rows[] = {
#define POLYLOOM_BELT_ROW(name, phase, action, key) {#name, Phase::phase, Action::action, Key::key},
    POLYLOOM_BELT_OPS(POLYLOOM_BELT_ROW)
#undef POLYLOOM_BELT_ROW
};
constexpr unsigned op_count = sizeof rows / sizeof rows[0];

constexpr const Row& row_of(Op op) { return rows[unsigned(op)]; }
constexpr unsigned operator-(Op a, Op b) { return unsigned(a) - unsigned(b); }
constexpr bool between(Op op, Op from, Op to) { return op >= from && op <= to; }
constexpr bool two_results(Op op) {
    return between(op, Op::op_widensv, Op::op_widenuv) || between(op, Op::op_smearx, Op::op_smeari) || op == Op::op_remaining;
}

}  // namespace polyloom::belt
