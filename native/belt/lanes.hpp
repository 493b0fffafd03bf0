// SPDX-License-Identifier: Apache-2.0
// Operations that look at several lanes, or move them; compute.hpp tells what the parameters are.
#pragma once

#include "compute.hpp"

namespace polyloom::belt {

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

void split(const Stated& stated, const Value& v, Value& low, Value& high);
void join(const Stated& stated, const Value& low, const Value& high, Value& result);
void splat(const Stated& stated, const Value& v, Value& result, bool counts);
void shuffle(const Value& v, const Value& k, Value& result);
void extract(const Value& v, const Value& k, Value& result);
void inject(const Value& v, const Value& x, const Value& k, Value& result);
void quantify(const Value& v, Value& result, bool any);
void smear(const Value& v, Value& result, Value& second, bool inclusive);
void orm(const Value& a, const Value& b, Value& result);
void remaining(const Stated& stated, const Value& n, Value& result, Value& second);

}  // namespace polyloom::belt
