// SPDX-License-Identifier: Apache-2.0
// An account over time of units whose clocks differ: stretches of cycles go into columns of a width that is a power of
// two. When a run outlasts the columns, neighbours are joined and the width doubles, as with snapshots.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace polyloom {

class Columns {
  public:
    // `kinds` numbers in each of at most `most` columns, an even number.
    Columns(size_t kinds, size_t most) : kinds(kinds), most(most) {}

    void add(size_t kind, uint64_t from, uint64_t to) { change(kind, from, to, 1); }
    // What was added before and turned out not to happen.
    void take_back(size_t kind, uint64_t from, uint64_t to) { change(kind, from, to, ~uint64_t(0)); }

    uint64_t width() const { return uint64_t(1) << shift; }
    // Column by column.
    const std::vector<uint64_t>& rows() const { return rows_; }

  private:
    void change(size_t kind, uint64_t from, uint64_t to, uint64_t sign) {
        if (from >= to) return;
        while ((to - 1) >> shift >= most) join();
        if (const size_t used = size_t((to - 1) >> shift) + 1; rows_.size() < used * kinds) rows_.resize(used * kinds);
        while (from < to) {
            const size_t column = size_t(from >> shift);
            const uint64_t end = std::min(to, uint64_t(column + 1) << shift);
            rows_[column * kinds + kind] += sign * (end - from);
            from = end;
        }
    }
    void join() {
        const size_t used = rows_.size() / kinds, joined = (used + 1) / 2;
        for (size_t column = 0; column < used; ++column)
            for (size_t kind = 0; kind < kinds; ++kind) {
                const uint64_t count = rows_[column * kinds + kind];
                uint64_t& to = rows_[column / 2 * kinds + kind];
                to = column % 2 ? to + count : count;
            }
        rows_.resize(joined * kinds);
        ++shift;
    }

    size_t kinds, most;
    unsigned shift = 0;
    std::vector<uint64_t> rows_;
};

}  // namespace polyloom
