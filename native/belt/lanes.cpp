// SPDX-License-Identifier: Apache-2.0
#include "lanes.hpp"

namespace polyloom::belt {

static void take_state(Value& to, unsigned lane, const Value& from, unsigned at) {
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

static void scalar_only(const Value& v, const char* what) {
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
static unsigned lane_number(const Value& k, unsigned lanes) {
    scalar_only(k, "the number of a lane is a vector");
    return k.data[0] & (lanes - 1);
}

// The state of a scalar that decides all lanes: true where that is done.
static bool decided(const Value& by, Value& result) {
    if (by.none)
        result.make_none();
    else if (by.nar)
        result.make_nar(by.why[0]);
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

static void tell(Value& result, unsigned lane, Found found, uint32_t why) {
    result.set_low(lane, found == Found::yes);
    const u128 bit = u128(1) << lane;
    if (found == Found::none) result.none |= bit;
    if (found == Found::nar) result.nar |= bit, result.why[lane] = why;
}

static Found state(const Value& v, unsigned lane) {
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
        if (arm && arm->has_shape())
            result.copy_lane(k, *arm, arm->lanes_log ? k : 0);
        else if (found == Found::nar)
            result.nar |= bit, result.why[k] = q.why[k];
        else
            result.none |= bit;
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
        if (from.has_shape())
            result.copy_lane(k, from, from.lanes_log ? k : 0);
        else
            result.none |= u128(1) << k;
    }
}

}  // namespace polyloom::belt
