// SPDX-License-Identifier: Apache-2.0
// An account over time: what a model has counted so far, kept at multiples of a step. When there are too many of these
// snapshots every second one goes and the step doubles, so that a run of any length keeps a bounded number and a model
// need not know its length. Differences of neighbours are the counts of a step, exactly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace polyloom {

class Snapshots {
  public:
    // A time that never comes, for models that are not asked for an account.
    static constexpr uint64_t NEVER = ~uint64_t(0);

    // `count` numbers each time, from `step` on; `most` snapshots, an even number.
    void start(size_t count, size_t most, uint64_t step) {
        width = count, limit = most, step_ = step, taken_ = 0, next = step;
        rows_.clear();
    }
    // What has been counted up to the time `next`.
    void take(std::span<const uint64_t> counts) {
        rows_.insert(rows_.end(), counts.begin(), counts.end());
        if (++taken_ == limit) halve();
        next = (taken_ + 1) * step_;
    }

    uint64_t step() const { return step_; }
    size_t taken() const { return taken_; }
    // Row by row.
    const std::vector<uint64_t>& rows() const { return rows_; }

    uint64_t next = NEVER;  // when the next one is due

  private:
    void halve() {
        for (size_t n = 0; n < taken_ / 2; ++n)
            std::copy_n(rows_.begin() + ptrdiff_t((2 * n + 1) * width), width, rows_.begin() + ptrdiff_t(n * width));
        taken_ /= 2, step_ *= 2;
        rows_.resize(taken_ * width);
    }

    size_t width = 0, limit = 0, taken_ = 0;
    uint64_t step_ = 0;
    std::vector<uint64_t> rows_;
};

}  // namespace polyloom
