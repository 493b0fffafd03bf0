// SPDX-License-Identifier: Apache-2.0
// Phase C but for memory: what an operation gives of operands with widths, lanes, Nones and NaRs.
#pragma once

#include <stdexcept>

#include "kernel.hpp"
#include "table.hpp"

namespace polyloom::belt {

// The operands' shapes do not suit the operation: a fault.
struct BadOperands : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What the word states beside its operands.
struct Stated {
    Op op;
    uint8_t width = shapeless;  // of the result, where the operation converts
    uint8_t lanes_log = 0;      // splat, iota, remaining
};

// An immediate as an operand: it has the other operands' width.
void immediate(Value& made, int64_t number);

// `in` are as many operands as the operation has; `second` is that of operations with two results. `bundle` is what a
// NaR remembers. Results do not overlap operands.
void compute(const Stated& stated, const Value* const* in, unsigned count, Value& result, Value& second,
             uint32_t bundle);

// The kernels of an operation on two operands that gives one value of their width, or a condition; null of others.
const Kernels* quick_kernels(Op op);

// Two plain scalars of one width, or one and an immediate: most of what runs. False where they are something else, or
// where the result is NaR.
inline bool quickly(const Kernels& kernels, Action action, const Value& a, const Value& b, Value& result) {
    if ((a.lanes_log | b.lanes_log) || (a.none | a.nar | b.none | b.nar)) return false;
    if (!a.has_shape() || (b.width != a.width && b.has_shape())) return false;
    const Kernel kernel = kernels[a.width];
    if (!kernel) return false;
    const Argument arguments[2] = {{a.data, 0}, {b.data, 0}};
    result.shape(action == Action::condition ? 0u : a.width, 0);
    return !kernel(arguments, result.data, 1);
}

// Phase P. pick with two operands gives None where the condition is false.
void pick(const Value* const* in, unsigned count, Value& result);
void recur(const Value& value, const Value& initial, Value& result);

}  // namespace polyloom::belt
