// SPDX-License-Identifier: Apache-2.0
// Sets of digits: membership, and enumeration in scan order with step numbers (mixed radix, innermost digit first).
#pragma once

#include "config.hpp"

namespace polyloom::tcpa {

bool contains(const Domain& domain, const std::vector<int64_t>& digits);

// Sums wrap instead of overflowing: only a configuration outside the array's bounds reaches that far.
int64_t affine(const std::vector<int64_t>& coefficients, const std::vector<int64_t>& digits, int64_t constant);

// Walks the points of a domain's convex sets in scan order; sets must be disjoint and inside the tile.
class Scan {
  public:
    Scan() = default;
    Scan(const Domain& domain, const std::vector<int64_t>& extents);

    bool done() const { return cursors_.empty(); }
    int64_t step() const { return cursors_[first_].step; }
    const std::vector<int64_t>& digits() const { return cursors_[first_].digits; }
    // False when two convex sets share the step just left.
    bool advance();

  private:
    struct Cursor {
        const ConvexSet* set;
        std::vector<int64_t> digits;
        int64_t step = 0;
    };
    bool settle(Cursor& cursor) const;
    bool increment(Cursor& cursor) const;
    void choose();

    std::vector<int64_t> weights_;
    std::vector<Cursor> cursors_;
    size_t first_ = 0;
};

}  // namespace polyloom::tcpa
