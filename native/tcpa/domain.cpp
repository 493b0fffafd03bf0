// SPDX-License-Identifier: Apache-2.0
// Membership in a domain, and its points in scan order: one cursor for each convex set, each in scan order by itself,
// merged by step number.
#include "domain.hpp"

#include <algorithm>

namespace polyloom::tcpa {

int64_t affine(const std::vector<int64_t>& coefficients, const std::vector<int64_t>& digits, int64_t constant) {
    uint64_t sum = uint64_t(constant);
    for (size_t m = 0; m < coefficients.size(); ++m) sum += uint64_t(coefficients[m]) * uint64_t(digits[m]);
    return int64_t(sum);
}

static bool inside(const ConvexSet& set, const std::vector<int64_t>& digits) {
    return std::all_of(set.half_spaces.begin(), set.half_spaces.end(),
                       [&](const HalfSpace& h) { return affine(h.coefficients, digits, h.constant) >= 0; });
}

bool contains(const Domain& domain, const std::vector<int64_t>& digits) {
    return std::any_of(domain.begin(), domain.end(), [&](const ConvexSet& set) {
        for (size_t m = 0; m < digits.size(); ++m)
            if (digits[m] < set.lower[m] || digits[m] > set.upper[m]) return false;
        return inside(set, digits);
    });
}

Scan::Scan(const Domain& domain, const std::vector<int64_t>& extents) {
    int64_t weight = 1;
    for (int64_t extent : extents) {
        weights_.push_back(weight);
        weight *= extent;
    }
    for (const ConvexSet& set : domain) {
        Cursor cursor{&set, set.lower, affine(weights_, set.lower, 0)};
        if (settle(cursor)) cursors_.push_back(std::move(cursor));
    }
    choose();
}

// The next point of the box. Digits count up like an odometer, and `step` follows by their weights.
bool Scan::increment(Cursor& cursor) const {
    for (size_t m = 0; m < cursor.digits.size(); ++m) {
        if (cursor.digits[m] < cursor.set->upper[m]) {
            ++cursor.digits[m];
            cursor.step += weights_[m];
            return true;
        }
        cursor.step -= weights_[m] * (cursor.digits[m] - cursor.set->lower[m]);
        cursor.digits[m] = cursor.set->lower[m];
    }
    return false;
}

// Moves on to a point within all half-spaces; false where the box has no further one.
bool Scan::settle(Cursor& cursor) const {
    while (!inside(*cursor.set, cursor.digits))
        if (!increment(cursor)) return false;
    return true;
}

void Scan::choose() {
    first_ = 0;
    for (size_t n = 1; n < cursors_.size(); ++n)
        if (cursors_[n].step < cursors_[first_].step) first_ = n;
}

bool Scan::advance() {
    const int64_t left = step();
    if (!increment(cursors_[first_]) || !settle(cursors_[first_])) cursors_.erase(cursors_.begin() + ptrdiff_t(first_));
    choose();
    return done() || step() != left;
}

}  // namespace polyloom::tcpa
