// SPDX-License-Identifier: Apache-2.0
// Memory: ranges of addresses of 32 bits with the host's bytes behind them, and the scratchpad of a frame.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "value.hpp"

namespace polyloom::belt {

struct Range {
    uint32_t base;
    uint64_t size;
    const uint8_t* bytes;
    uint8_t* place;  // where stores go: the same bytes, or null for what is not the model's to change
    bool writable;
};

class Memory {
  public:
    // Ranges do not overlap.
    explicit Memory(std::vector<Range> given) : ranges(std::move(given)) {
        std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.base < b.base; });
    }

    // The host's bytes; null where not all of them lie in one range.
    const uint8_t* at(uint32_t address, unsigned size) {
        return find(address, size) ? recent->bytes + (address - recent->base) : nullptr;
    }
    uint8_t* writable(uint32_t address, unsigned size) {
        if (!find(address, size) || !recent->writable) return nullptr;
        if (!recent->place) [[unlikely]]
            copy(*recent);
        return recent->place + (address - recent->base);
    }

  private:
    std::vector<Range> ranges;
    std::vector<std::unique_ptr<uint8_t[]>> copies;
    Range* recent = nullptr;

    // Copy on write: most arrays are only read, and may be large.
    void copy(Range& range) {
        copies.push_back(std::make_unique_for_overwrite<uint8_t[]>(range.size));
        range.place = copies.back().get();
        std::copy_n(range.bytes, range.size, range.place);
        range.bytes = range.place;
    }

    static bool within(const Range& range, uint32_t address, unsigned size) {
        return address >= range.base && uint64_t(address - range.base) + size <= range.size;
    }
    bool find(uint32_t address, unsigned size) {
        if (recent && within(*recent, address, size)) [[likely]]
            return true;
        const auto next = std::upper_bound(ranges.begin(), ranges.end(), address,
                                           [](uint32_t a, const Range& r) { return a < r.base; });
        if (next == ranges.begin() || !within(*(next - 1), address, size)) return false;
        recent = &*(next - 1);
        return true;
    }
};

// A frame's scratch: operands at byte offsets, with their tags. Overlapping a spilled operand loses it.
class Scratch {
  public:
    enum class Found : uint8_t { operand, fresh, outside, unwritten, early, other };

    // What a call begins with: nothing is allocated.
    void clear() { allocate(0, 0, 0); }

    // The last frames * frame bytes rotate and are fresh; what lies before them stays.
    void allocate(unsigned bytes, unsigned frame_bytes, unsigned frames) {
        const unsigned before = fixed;
        rotating = frame_bytes * frames;
        fixed = bytes - rotating;
        frame = frame_bytes;
        base = 0;
        lose(std::min(before, fixed), unsigned(cells.size()));
        if (cells.size() < bytes) cells.resize(bytes);
    }
    void rotate() {
        if (rotating) base = (base + rotating - frame) % rotating;
    }

    bool spill(const Value& operand, unsigned offset, bool rotates, unsigned size, unsigned width, uint64_t now) {
        const unsigned at = place(offset, rotates, size);
        if (at == nowhere) return false;
        Cell& cell = cells[at];
        longest = std::max(longest, size);
        if (cell.size != size) lose(at, at + size);
        cell.size = uint16_t(size);
        cell.width = uint8_t(width);
        cell.time = now;
        if (!cell.operand) cell.operand = std::make_unique<Value>();
        cell.operand->copy(operand);
        return true;
    }

    // At the earliest two bundles after its spill.
    Found fill(Value& made, unsigned offset, bool rotates, unsigned size, unsigned width, uint64_t now) const {
        const unsigned at = place(offset, rotates, size);
        if (at == nowhere) return Found::outside;
        const Cell& cell = cells[at];
        if (!cell.size) return rotates && !covered(at, size) ? Found::fresh : Found::unwritten;
        if (cell.size != size || cell.width != width) return Found::other;
        if (now < cell.time + 2) return Found::early;
        made.copy(*cell.operand);
        return Found::operand;
    }

  private:
    struct Cell {
        uint16_t size = 0;  // of the operand that begins here; 0 where none does
        uint8_t width = 0;
        uint64_t time = 0;
        std::unique_ptr<Value> operand;
    };
    static constexpr unsigned nowhere = ~0u;
    std::vector<Cell> cells;
    unsigned fixed = 0, rotating = 0, frame = 0, base = 0, longest = 1;

    unsigned place(unsigned offset, bool rotates, unsigned size) const {
        if (offset + size > (rotates ? rotating : fixed)) return nowhere;
        if (!rotates) return offset;
        const unsigned at = offset + base < rotating ? offset + base : offset + base - rotating;
        return at + size > rotating ? nowhere : fixed + at;
    }
    // Where operands may begin that reach beyond `at`.
    unsigned before(unsigned at) const { return at < longest ? 0 : at - longest + 1; }
    bool reaches(unsigned from, unsigned at) const { return cells[from].size && from + cells[from].size > at; }
    void lose(unsigned at, unsigned end) {
        for (unsigned from = before(at); from < end; ++from)
            if (reaches(from, at)) cells[from].size = 0;
    }
    bool covered(unsigned at, unsigned size) const {
        for (unsigned from = before(at); from < at + size; ++from)
            if (reaches(from, at)) return true;
        return false;
    }
};

}  // namespace polyloom::belt
