// SPDX-License-Identifier: Apache-2.0
// The operations, numbered as the rows of `polyloom.targets.belt.isa` (tests/targets/belt/run compares both): how the
// model executes each.
#pragma once

#include <array>
#include <string_view>

#include "value.hpp"

namespace polyloom::belt {

enum class Phase : uint8_t { R, C, K, P, X };

// How an operation is executed: lane by lane with a kernel, or by a function of its own.
enum class Action : uint8_t {
    same,       // kernel; a result of the operands' width
    condition,  // kernel; one byte per lane
    twice,      // kernel; a result of twice the width
    convert,    // to the width of the word
    split,      // two results of half the lanes
    join,       // two operands' lanes in one result
    splat,
    iota,
    shuffle,
    extract,
    inject,
    any,
    all,
    smearx,
    smeari,
    orm,
    remaining,
    con,
    fill,
    load,
    store,
    call,
    pick,
    recur,
    spill,
    scratchf,
    conform,
    transfer
};

// clang-format off: a table, one or several rows per line
#define POLYLOOM_BELT_FAMILY(F, name) \
    F(name, C, same) F(name##ss, C, same) F(name##us, C, same) F(name##sx, C, same) F(name##ux, C, same) \
    F(name##sw, C, twice) F(name##uw, C, twice)

#define POLYLOOM_BELT_OPS(F) \
    POLYLOOM_BELT_FAMILY(F, add) POLYLOOM_BELT_FAMILY(F, sub) \
    F(and, C, same) F(or, C, same) F(xor, C, same) F(andn, C, same) \
    F(eql, C, condition) F(neq, C, condition) F(lsss, C, condition) F(leqs, C, condition) \
    F(gtrs, C, condition) F(geqs, C, condition) F(lssu, C, condition) F(lequ, C, condition) \
    F(gtru, C, condition) F(gequ, C, condition) \
    F(mins, C, same) F(maxs, C, same) F(minu, C, same) F(maxu, C, same) \
    F(abs, C, same) F(not, C, same) F(clz, C, same) F(ctz, C, same) F(pop, C, same) F(bswap, C, same) \
    F(shl, C, same) F(shrs, C, same) F(shru, C, same) F(rotl, C, same) \
    POLYLOOM_BELT_FAMILY(F, mul) F(muladd, C, same) F(shladd, C, same) \
    F(divs, C, same) F(divu, C, same) F(rems, C, same) F(remu, C, same) \
    F(widens, C, convert) F(widenu, C, convert) F(narrow, C, convert) F(narrowss, C, convert) F(narrowus, C, convert) \
    F(widensv, C, split) F(widenuv, C, split) F(narrowv, C, join) \
    F(addf, C, same) F(subf, C, same) F(mulf, C, same) F(minf, C, same) F(maxf, C, same) \
    F(fmaf, C, same) F(divf, C, same) F(sqrtf, C, same) F(negf, C, same) F(absf, C, same) F(copysignf, C, same) \
    F(eqlf, C, condition) F(neqf, C, condition) F(lssf, C, condition) F(leqf, C, condition) \
    F(gtrf, C, condition) F(geqf, C, condition) F(unof, C, condition) \
    F(stof, C, convert) F(utof, C, convert) F(ftos, C, convert) F(ftou, C, convert) \
    F(widenf, C, convert) F(narrowf, C, convert) \
    F(splat, C, splat) F(iota, C, iota) F(shuffle, C, shuffle) F(extract, C, extract) F(inject, C, inject) \
    F(any, C, any) F(all, C, all) F(smearx, C, smearx) F(smeari, C, smeari) F(orm, C, orm) F(remaining, C, remaining) \
    F(con, R, con) F(fill, R, fill) F(fillx, R, fill) \
    F(load, C, load) F(loads, C, load) F(loadu, C, load) F(store, X, store) \
    F(call, K, call) F(calltr, K, call) F(pick, P, pick) F(recur, P, recur) \
    F(spill, X, spill) F(spillx, X, spill) F(scratchf, X, scratchf) F(conform, X, conform) \
    F(br, X, transfer) F(inner, X, transfer) F(leave, X, transfer) F(retn, X, transfer) \
    F(brtr, X, transfer) F(brfl, X, transfer) F(leavetr, X, transfer) F(leavefl, X, transfer) \
    F(shrsadd, C, same)
// clang-format on

enum class Op : uint8_t {
#define POLYLOOM_BELT_ENUM(name, phase, action) op_##name,
    POLYLOOM_BELT_OPS(POLYLOOM_BELT_ENUM)
#undef POLYLOOM_BELT_ENUM
};

struct Row {
    std::string_view name;
    Phase phase;
    Action action;
};

inline constexpr Row rows[] = {
#define POLYLOOM_BELT_ROW(name, phase, action) {#name, Phase::phase, Action::action},
    POLYLOOM_BELT_OPS(POLYLOOM_BELT_ROW)
#undef POLYLOOM_BELT_ROW
};
constexpr unsigned op_count = sizeof rows / sizeof rows[0];

constexpr const Row& row_of(Op op) { return rows[unsigned(op)]; }
constexpr bool between(Op op, Op from, Op to) { return op >= from && op <= to; }
template <class... Ops>
constexpr bool one_of(Op op, Ops... ops) {
    return ((op == ops) || ...);
}

constexpr bool takes_list(Op op) {
    return between(op, Op::op_call, Op::op_calltr) || between(op, Op::op_conform, Op::op_leavefl);
}
constexpr bool has_predicate(Op op) { return op == Op::op_calltr || between(op, Op::op_brtr, Op::op_leavefl); }
constexpr bool multiplies(Op op) { return between(op, Op::op_mul, Op::op_muladd); }
constexpr bool shifts(Op op) {
    return between(op, Op::op_shl, Op::op_rotl) || one_of(op, Op::op_shladd, Op::op_shrsadd);
}
constexpr bool moves_scratch(Op op) {
    return between(op, Op::op_fill, Op::op_fillx) || between(op, Op::op_spill, Op::op_spillx);
}
constexpr bool loads(Op op) { return between(op, Op::op_load, Op::op_loadu); }

// The least and the most number of operands, without lists.
constexpr std::array<uint8_t, 2> operands_of(Op op) {
    const Action action = row_of(op).action;
    if (takes_list(op)) return {has_predicate(op), has_predicate(op)};
    if (one_of(op, Op::op_store, Op::op_pick)) return {2, 3};
    if (loads(op)) return {1, 2};
    if (one_of(op, Op::op_muladd, Op::op_shladd, Op::op_shrsadd, Op::op_fmaf, Op::op_inject)) return {3, 3};
    if (one_of(op, Op::op_con, Op::op_fill, Op::op_fillx, Op::op_scratchf)) return {0, 0};
    if (between(op, Op::op_abs, Op::op_bswap) || between(op, Op::op_sqrtf, Op::op_absf) || action == Action::convert ||
        action == Action::split || between(op, Op::op_splat, Op::op_iota) || between(op, Op::op_any, Op::op_smeari) ||
        one_of(op, Op::op_remaining, Op::op_spill, Op::op_spillx))
        return {1, 1};
    return {2, 2};
}
constexpr unsigned results_of(Op op) {
    if (takes_list(op) || row_of(op).phase == Phase::X) return 0;
    const bool two = row_of(op).action == Action::split || between(op, Op::op_smearx, Op::op_smeari);
    return two || op == Op::op_remaining ? 2 : 1;
}
constexpr bool takes_immediate(Op op) {
    return (op < Op::op_abs) || (multiplies(op) && op != Op::op_muladd) || shifts(op) ||
           between(op, Op::op_divs, Op::op_remu) || between(op, Op::op_shuffle, Op::op_inject);
}
constexpr bool states_width(Op op) {
    const Action action = row_of(op).action;
    return multiplies(op) || shifts(op) || moves_scratch(op) || loads(op) || action == Action::convert ||
           action == Action::split || action == Action::join || one_of(op, Op::op_con, Op::op_store);
}
constexpr bool states_lanes(Op op) {
    return moves_scratch(op) || loads(op) || between(op, Op::op_splat, Op::op_iota) ||
           one_of(op, Op::op_con, Op::op_remaining);
}

}  // namespace polyloom::belt
