// SPDX-License-Identifier: Apache-2.0
#include "compute.hpp"

#include "floating.hpp"
#include "integer.hpp"

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
    set(Op::op_addf, float_binary<addf>, float_binary<subf>, float_binary<mulf>, float_binary<minf>,
        float_binary<maxf>, float_ternary<fmaf_>, float_binary<divf>,
        float_unary<sqrtf_>, float_unary<negf>, float_unary<absf>, float_binary<copysignf_>);
    set(Op::op_eqlf, float_binary<eqlf>, float_binary<neqf>, float_binary<lssf>, float_binary<leqf>,
        float_binary<gtrf>, float_binary<geqf>, float_binary<unof>);
    set(Op::op_shrsadd, shrsadds);
    return made;
}
constexpr auto kernels = make_kernels();

// The operand whose width need not be that of the others: an amount of a shift.
constexpr unsigned amount_of(Op op) {
    if (between(op, Op::op_shl, Op::op_rotl)) return 1;
    return shifts(op) ? 2 : 3;
}

// The shape of operands that are computed with lane by lane: scalars stand beside vectors, and what has no shape beside
// anything.
struct Shape {
    uint8_t width = shapeless, lanes_log = 0;

    void add(const Value& operand, bool is_amount) {
        if (!operand.has_shape()) return;
        if (operand.lanes_log) {
            if (lanes_log && lanes_log != operand.lanes_log)
                throw BadOperands("operands have different numbers of lanes");
            lanes_log = operand.lanes_log;
        }
        if (is_amount) return;
        if (width != shapeless && width != operand.width) throw BadOperands("operands have different widths");
        width = operand.width;
    }
};

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
    if (!own && all_plain(in, count)) [[likely]] return;
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
    const bool good = between(op, Op::op_widens, Op::op_widenu)   ? from <= to
                      : between(op, Op::op_narrow, Op::op_narrowus) ? from >= to
                      : between(op, Op::op_stof, Op::op_utof)     ? is_float_to
                      : between(op, Op::op_ftos, Op::op_ftou)     ? is_float_from
                      : op == Op::op_widenf                       ? is_float_from && is_float_to && from <= to
                                                                  : is_float_from && is_float_to && from >= to;
    if (!good) throw BadOperands("it does not convert between these widths");
}

// One lane of a conversion; false where it is NaR.
bool converted(Op op, const Value& v, unsigned lane, unsigned width, u128& made) {
    switch (op) {
        case Op::op_widens: made = u128(v.number(lane)); return true;
        case Op::op_widenu: case Op::op_narrow: made = v.bits(lane); return true;
        case Op::op_narrowss: made = clamped(v, lane, width, true); return true;
        case Op::op_narrowus: made = clamped(v, lane, width, false); return true;
        case Op::op_stof: case Op::op_utof:
            made = width == 2 ? bits_of_float(to_float<float>(v, lane, op == Op::op_stof))
                : bits_of_float(to_float<double>(v, lane, op == Op::op_stof));
            return true;
        case Op::op_ftos: case Op::op_ftou:
            made = 0;
            return truncated(float_lane(v, lane), op == Op::op_ftos, 8u << width, made);
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

void take_state(Value& to, unsigned lane, const Value& from, unsigned at) {
    to.none |= (from.none >> at & 1) << lane;
    to.nar |= (from.nar >> at & 1) << lane;
    if (from.nar >> at & 1) to.why[lane] = from.why[at];
}

void split(const Stated& s, const Value& v, Value& low, Value& high) {
    if (!v.has_shape()) return low.lose_shape(), high.lose_shape();
    if (!v.lanes_log) throw BadOperands("the operand is no vector");
    if (v.width > s.width || v.lanes() / 2 << s.width > most_bytes)
        throw BadOperands("it does not convert between these widths");
    const unsigned half = v.lanes() / 2;
    low.shape(s.width, v.lanes_log - 1u);
    high.like(low);
    for (unsigned k = 0; k < 2 * half; ++k) {
        Value& to = k < half ? low : high;
        to.put(k % half, s.op == Op::op_widensv ? u128(v.number(k)) : v.bits(k));
        take_state(to, k % half, v, k);
    }
}

void join(const Stated& s, const Value& low, const Value& high, Value& result) {
    Shape shape;
    shape.add(low, false), shape.add(high, false);
    if (shape.width == shapeless) return result.lose_shape();
    const unsigned half = 1u << shape.lanes_log;
    if (shape.width < s.width || 2 * half << s.width > most_bytes)
        throw BadOperands("it does not convert between these widths");
    result.shape(s.width, shape.lanes_log + 1u);
    for (unsigned k = 0; k < 2 * half; ++k) {
        const Value& from = k < half ? low : high;
        const unsigned at = from.lanes_log ? k % half : 0;
        result.put(k, from.bits(at & (from.has_shape() ? ~0u : 0)));
        take_state(result, k, from, at);
    }
}

void scalar_only(const Value& v, const char* what) {
    if (v.has_shape() && v.lanes_log) throw BadOperands(what);
}

void splat(const Stated& s, const Value& v, Value& result, bool counts) {
    if (!v.has_shape()) return result.lose_shape();
    scalar_only(v, "the operand is a vector");
    if (v.bytes() << s.lanes_log > most_bytes) throw BadOperands("the result is longer than the longest vector");
    result.shape(v.width, s.lanes_log);
    for (unsigned k = 0; k < result.lanes(); ++k) {
        result.put(k, v.bits(0) + (counts ? k : 0));
        take_state(result, k, v, 0);
    }
}

// A lane number in a vector, from an operand of any width.
unsigned lane_number(const Value& k, unsigned lanes) {
    scalar_only(k, "the number of a lane is a vector");
    return k.data[0] & (lanes - 1);
}

// The state of a scalar that decides all lanes: true where that is done.
bool decided(const Value& by, Value& result) {
    if (by.none) result.make_none();
    else if (by.nar) result.make_nar(by.why[0]);
    return !by.plain();
}

void shuffle(const Value& v, const Value& k, Value& result) {
    if (!v.has_shape()) return result.lose_shape();
    result.like(v);
    const unsigned by = lane_number(k, v.lanes());
    if (decided(k, result)) return;
    for (unsigned lane = 0; lane < v.lanes(); ++lane) result.copy_lane(lane, v, (lane + by) & (v.lanes() - 1));
}

void extract(const Value& v, const Value& k, Value& result) {
    if (!v.has_shape()) return result.lose_shape();
    result.shape(v.width, 0);
    const unsigned lane = lane_number(k, v.lanes());
    if (!decided(k, result)) result.copy_lane(0, v, lane);
}

void inject(const Value& v, const Value& x, const Value& k, Value& result) {
    if (!v.has_shape()) return result.lose_shape();
    scalar_only(x, "the value of a lane is a vector");
    if (x.has_shape() && x.width != v.width) throw BadOperands("operands have different widths");
    result.copy(v);
    const unsigned lane = lane_number(k, v.lanes());
    if (decided(k, result)) return;
    if (x.has_shape()) return result.copy_lane(lane, x, 0);
    result.none |= u128(1) << lane;
    result.nar &= ~result.none;
}

// What is found among a vector's lanes, the first that decides.
enum class Found : uint8_t { no, yes, none, nar };

void tell(Value& result, unsigned lane, Found found, uint32_t why) {
    result.set_low(lane, found == Found::yes);
    const u128 bit = u128(1) << lane;
    if (found == Found::none) result.none |= bit;
    if (found == Found::nar) result.nar |= bit, result.why[lane] = why;
}

Found state(const Value& v, unsigned lane) {
    return v.none >> lane & 1 ? Found::none : v.nar >> lane & 1 ? Found::nar : v.low_bit(lane) ? Found::yes : Found::no;
}

// any: a true lane decides, all: a false one; else the first lane that is None or NaR.
void quantify(const Value& v, Value& result, bool any) {
    result.shape(0, 0);
    const Found decisive = any ? Found::yes : Found::no, otherwise = any ? Found::no : Found::yes;
    Found found = otherwise;
    uint32_t why = 0;
    for (unsigned k = 0; k < v.lanes() && found != decisive; ++k) {
        const Found next = state(v, k);
        if (next != decisive && found != otherwise) continue;
        found = next;
        if (next == Found::nar) why = v.why[k];
    }
    tell(result, 0, found, why);
}

// From lane 0 on, the first lane that is not false decides all later ones.
void smear(const Value& v, Value& result, Value& second, bool inclusive) {
    if (!v.has_shape()) {
        result.lose_shape();
        second.shape(0, 0);
        return second.make_none();
    }
    result.shape(0, v.lanes_log);
    second.shape(0, 0);
    Found found = Found::no;
    uint32_t why = 0;
    for (unsigned k = 0; k < v.lanes(); ++k) {
        const Found before = found;
        if (found == Found::no) found = state(v, k), why = found == Found::nar ? v.why[k] : 0;
        tell(result, k, inclusive || found != Found::yes ? found : before, why);
    }
    tell(second, 0, found, why);
}

// True wins, for an exit that is taken is taken, whatever another one's condition is; then NaR, then None.
void orm(const Value& a, const Value& b, Value& result) {
    Shape shape;
    shape.add(a, false), shape.add(b, false);
    if (shape.width == shapeless) return result.lose_shape();
    result.shape(shape.width, shape.lanes_log);
    for (unsigned k = 0; k < result.lanes(); ++k) {
        const unsigned i = a.lanes_log ? k : 0, j = b.lanes_log ? k : 0;
        const Found x = state(a, i), y = state(b, j);
        const Found found = x == Found::yes || y == Found::yes     ? Found::yes
                            : x == Found::nar || y == Found::nar   ? Found::nar
                            : x == Found::none || y == Found::none ? Found::none
                                                                   : Found::no;
        tell(result, k, found, x == Found::nar ? a.why[i] : y == Found::nar ? b.why[j] : 0);
    }
}

void remaining(const Stated& s, const Value& n, Value& result, Value& second) {
    scalar_only(n, "the operand is a vector");
    result.shape(0, s.lanes_log);
    second.shape(0, 0);
    if (decided(n, result)) return void(decided(n, second));
    for (unsigned k = 0; k < result.lanes(); ++k) result.set_low(k, n.number(0) <= i128(k));
    second.set_low(0, n.number(0) < i128(result.lanes()));
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
        case Action::same: case Action::condition: case Action::twice:
            return by_kernel(s, action, in, count, result, bundle);
        case Action::convert: return convert(s, *in[0], result, bundle);
        case Action::split: return split(s, *in[0], result, second);
        case Action::join: return join(s, *in[0], *in[1], result);
        case Action::splat: case Action::iota: return splat(s, *in[0], result, action == Action::iota);
        case Action::shuffle: return shuffle(*in[0], *in[1], result);
        case Action::extract: return extract(*in[0], *in[1], result);
        case Action::inject: return inject(*in[0], *in[1], *in[2], result);
        case Action::any: case Action::all: return quantify(*in[0], result, action == Action::any);
        case Action::smearx: case Action::smeari: return smear(*in[0], result, second, action == Action::smeari);
        case Action::orm: return orm(*in[0], *in[1], result);
        case Action::remaining: return remaining(s, *in[0], result, second);
        default: throw BadOperands("it is not computed");
    }
}

void pick(const Value* const* in, unsigned count, Value& result) {
    const Value& q = *in[0];
    const Value& a = *in[1];
    const Value& b = *in[count - 1];
    Shape shape;
    shape.add(a, false), shape.add(b, false);
    if (shape.width == shapeless) return result.lose_shape();
    if (q.has_shape() && q.lanes_log) {
        if (shape.lanes_log && shape.lanes_log != q.lanes_log)
            throw BadOperands("operands have different numbers of lanes");
        if (1u << (q.lanes_log + shape.width) > most_bytes)
            throw BadOperands("the result is longer than the longest vector");
        shape.lanes_log = q.lanes_log;
    }
    result.shape(shape.width, shape.lanes_log);
    if (!q.lanes_log && decided(q, result)) return;
    for (unsigned k = 0; k < result.lanes(); ++k) {
        const Found found = state(q, q.lanes_log ? k : 0);
        const u128 bit = u128(1) << k;
        const Value* arm = found == Found::yes ? &a : found == Found::no && count == 3 ? &b : nullptr;
        if (arm && arm->has_shape()) result.copy_lane(k, *arm, arm->lanes_log ? k : 0);
        else if (found == Found::nar) result.nar |= bit, result.why[k] = q.why[k];
        else result.none |= bit;
    }
}

void recur(const Value& value, const Value& initial, Value& result) {
    if (!value.has_shape()) return result.copy(initial);
    if (!value.none) return result.copy(value);
    Shape shape;
    shape.add(value, false), shape.add(initial, false);
    result.shape(shape.width, shape.lanes_log);
    for (unsigned k = 0; k < result.lanes(); ++k) {
        const unsigned at = value.lanes_log ? k : 0;
        const Value& from = value.none >> at & 1 ? initial : value;
        if (from.has_shape()) result.copy_lane(k, from, from.lanes_log ? k : 0);
        else result.none |= u128(1) << k;
    }
}

}  // namespace polyloom::belt
