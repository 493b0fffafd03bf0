// SPDX-License-Identifier: Apache-2.0
#include "compute.hpp"

#include "floating.hpp"
#include "integer.hpp"
#include "lanes.hpp"

namespace polyloom::belt {

namespace {

constexpr Kernels muladds = {muladd_of<uint8_t>, muladd_of<uint16_t>, muladd_of<uint32_t>, muladd_of<uint64_t>,
                             muladd_of<u128>};
constexpr Kernels shrsadds = {shrsadd_of<uint8_t>, shrsadd_of<uint16_t>, shrsadd_of<uint32_t>, shrsadd_of<uint64_t>,
                              shrsadd_of<u128>};
constexpr Kernels shladds = {shladd_of<uint8_t>, shladd_of<uint16_t>, shladd_of<uint32_t>, shladd_of<uint64_t>,
                             shladd_of<u128>};

constexpr std::array<Kernels, op_count> make_kernels() {
    std::array<Kernels, op_count> made{};
    const auto set = [&](Op first, auto... kernels) {
        size_t n = size_t(first);
        ((made[n++] = kernels), ...);
    };
    for (unsigned mode = 0; mode < 7; ++mode) {
        made[size_t(Op::op_add) + mode] = family<Sum::add>[mode];
        made[size_t(Op::op_sub) + mode] = family<Sum::sub>[mode];
        made[size_t(Op::op_mul) + mode] = family<Sum::mul>[mode];
    }
    set(Op::op_and, binary<bit_and>, binary<bit_or>, binary<bit_xor>, binary<bit_andn>);
    set(Op::op_eql, binary<eql>, binary<neq>, binary<lsss>, binary<leqs>, binary<gtrs>, binary<geqs>, binary<lssu>,
        binary<lequ>, binary<gtru>, binary<gequ>);
    set(Op::op_mins, binary<mins>, binary<maxs>, binary<minu>, binary<maxu>);
    set(Op::op_abs, unary<absolute>, unary<invert>, unary<leading>, unary<trailing>, unary<population>, unary<swapped>);
    set(Op::op_shl, shifting<shl>, shifting<shrs>, shifting<shru>, shifting<rotl>);
    set(Op::op_muladd, muladds, shladds, binary<divs>, binary<divu>, binary<rems>, binary<remu>);
    set(Op::op_addf, float_binary<addf>, float_binary<subf>, float_binary<mulf>, float_binary<minf>, float_binary<maxf>,
        float_ternary<fmaf_>, float_binary<divf>, float_unary<sqrtf_>, float_unary<negf>, float_unary<absf>,
        float_binary<copysignf_>);
    set(Op::op_eqlf, float_binary<eqlf>, float_binary<neqf>, float_binary<lssf>, float_binary<leqf>, float_binary<gtrf>,
        float_binary<geqf>, float_binary<unof>);
    set(Op::op_shrsadd, shrsadds);
    return made;
}
constexpr auto kernels = make_kernels();

// The operand whose width need not be that of the others: an amount of a shift.
constexpr unsigned amount_of(Op op) {
    if (between(op, Op::op_shl, Op::op_rotl)) return 1;
    return shifts(op) ? 2 : 3;
}

// The lanes of a set of an operand's that is used with `lanes` lanes.
u128 spread(u128 set, const Value& operand, unsigned lanes) {
    return operand.lanes_log || !set ? set : first_lanes(lanes);
}

// In strict operations None wins over NaR, and NaR over data; of NaRs, the first operand's.
void merge(const Value* const* in, unsigned count, Value& result, unsigned lanes, u128 own, uint32_t because) {
    u128 none = 0, nar = 0;
    for (unsigned k = 0; k < count; ++k) {
        none |= spread(in[k]->none, *in[k], lanes);
        nar |= spread(in[k]->nar, *in[k], lanes);
    }
    result.none = none;
    result.nar = (nar | own) & ~none;
    for (u128 rest = result.nar; rest; rest &= rest - 1) {
        const unsigned lane = lowest(rest);
        result.why[lane] = because;
        for (unsigned k = count; k--;)
            if (spread(in[k]->nar, *in[k], lanes) >> lane & 1)
                result.why[lane] = in[k]->why[in[k]->lanes_log ? lane : 0];
    }
}

bool all_plain(const Value* const* in, unsigned count) {
    u128 special = 0;
    for (unsigned k = 0; k < count; ++k) special |= in[k]->none | in[k]->nar;
    return !special;
}

void by_kernel(const Stated& s, Action action, const Value* const* in, unsigned count, Value& result, uint32_t bundle) {
    Shape shape;
    for (unsigned k = 0; k < count; ++k) shape.add(*in[k], k == amount_of(s.op));
    const unsigned lanes = 1u << shape.lanes_log;
    if (shape.width == shapeless) {
        // Nothing has a width but, perhaps, an amount; the result is None.
        if (action == Action::condition && shape.lanes_log) return result.shape(0, shape.lanes_log), result.make_none();
        return result.lose_shape();
    }
    const Kernel kernel = kernels[size_t(s.op)][shape.width];
    const unsigned width = action == Action::condition ? 0 : action == Action::twice ? shape.width + 1u : shape.width;
    if (!kernel) throw BadOperands("it does not take operands of this width");
    if (lanes << width > most_bytes) throw BadOperands("the result is longer than the longest vector");
    Argument arguments[3];
    for (unsigned k = 0; k < count; ++k) arguments[k] = {in[k]->data, in[k]->lanes_log ? 1u << in[k]->width : 0};
    result.shape(width, shape.lanes_log);
    const u128 own = kernel(arguments, result.data, lanes);
    if (!own && all_plain(in, count)) [[likely]]
        return;
    const Cause cause = between(s.op, Op::op_divs, Op::op_remu) ? Cause::division : Cause::overflow;
    merge(in, count, result, lanes, own, reason(cause, bundle));
}

u128 clamped(const Value& v, unsigned lane, unsigned width, bool is_signed) {
    const unsigned bits = 8u << width;
    if (bits == 128) return v.bits(lane);
    if (!is_signed) return v.bits(lane) >> bits ? (u128(1) << bits) - 1 : v.bits(lane);
    const i128 top = i128(1) << (bits - 1), n = v.number(lane);
    return u128(n >= top ? top - 1 : n < -top ? -top : n);
}

template <class F>
F to_float(const Value& v, unsigned lane, bool is_signed) {
    return is_signed ? F(v.number(lane)) : F(v.bits(lane));
}

double float_lane(const Value& v, unsigned lane) {
    return v.width == 2 ? double(float_of(uint32_t(v.bits(lane)))) : float_of(uint64_t(v.bits(lane)));
}

void check_widths(Op op, unsigned from, unsigned to) {
    const bool is_float_from = from == 2 || from == 3, is_float_to = to == 2 || to == 3;
    const bool good = between(op, Op::op_widens, Op::op_widenu)     ? from <= to
                      : between(op, Op::op_narrow, Op::op_narrowus) ? from >= to
                      : between(op, Op::op_stof, Op::op_utof)       ? is_float_to
                      : between(op, Op::op_ftos, Op::op_ftou)       ? is_float_from
                      : op == Op::op_widenf                         ? is_float_from && is_float_to && from <= to
                                                                    : is_float_from && is_float_to && from >= to;
    if (!good) throw BadOperands("it does not convert between these widths");
}

// One lane of a conversion; false where it is NaR.
bool converted(Op op, const Value& v, unsigned lane, unsigned width, u128& made) {
    switch (op) {
        case Op::op_widens: made = u128(v.number(lane)); return true;
        case Op::op_widenu:
        case Op::op_narrow: made = v.bits(lane); return true;
        case Op::op_narrowss: made = clamped(v, lane, width, true); return true;
        case Op::op_narrowus: made = clamped(v, lane, width, false); return true;
        case Op::op_stof:
        case Op::op_utof:
            made = width == 2 ? bits_of_float(to_float<float>(v, lane, op == Op::op_stof))
                              : bits_of_float(to_float<double>(v, lane, op == Op::op_stof));
            return true;
        case Op::op_ftos:
        case Op::op_ftou: made = 0; return truncated(float_lane(v, lane), op == Op::op_ftos, 8u << width, made);
        default:
            made = width == 2 ? bits_of_float(float(float_lane(v, lane))) : bits_of_float(float_lane(v, lane));
            return true;
    }
}

void convert(const Stated& s, const Value& v, Value& result, uint32_t bundle) {
    if (!v.has_shape()) return result.lose_shape();
    check_widths(s.op, v.width, s.width);
    const unsigned lanes = v.lanes();
    if (lanes << s.width > most_bytes) throw BadOperands("the result is longer than the longest vector");
    result.shape(s.width, v.lanes_log);
    u128 own = 0;
    for (unsigned k = 0; k < lanes; ++k) {
        u128 made;
        if (!converted(s.op, v, k, s.width, made)) own |= u128(1) << k;
        result.put(k, made);
    }
    const Value* in[] = {&v};
    if (own || !v.plain()) merge(in, 1, result, lanes, own, reason(Cause::conversion, bundle));
}

}  // namespace

const Kernels* quick_kernels(Op op) {
    const Action action = row_of(op).action;
    const bool binary = operands_of(op) == std::array<uint8_t, 2>{2, 2};
    return binary && (action == Action::same || action == Action::condition) ? &kernels[size_t(op)] : nullptr;
}

void immediate(Value& made, int64_t number) {
    made.shape(shapeless, 0);
    const i128 extended = number;
    std::memcpy(made.data, &extended, sizeof extended);
}

void compute(const Stated& s, const Value* const* in, unsigned count, Value& result, Value& second, uint32_t bundle) {
    const Action action = row_of(s.op).action;
    switch (action) {
        case Action::same:
        case Action::condition:
        case Action::twice: return by_kernel(s, action, in, count, result, bundle);
        case Action::convert: return convert(s, *in[0], result, bundle);
        case Action::split: return split(s, *in[0], result, second);
        case Action::join: return join(s, *in[0], *in[1], result);
        case Action::splat:
        case Action::iota: return splat(s, *in[0], result, action == Action::iota);
        case Action::shuffle: return shuffle(*in[0], *in[1], result);
        case Action::extract: return extract(*in[0], *in[1], result);
        case Action::inject: return inject(*in[0], *in[1], *in[2], result);
        case Action::any:
        case Action::all: return quantify(*in[0], result, action == Action::any);
        case Action::smearx:
        case Action::smeari: return smear(*in[0], result, second, action == Action::smeari);
        case Action::orm: return orm(*in[0], *in[1], result);
        case Action::remaining: return remaining(s, *in[0], result, second);
        default: throw BadOperands("it is not computed");
    }
}

}  // namespace polyloom::belt
