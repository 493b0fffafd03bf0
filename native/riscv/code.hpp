// SPDX-License-Identifier: Apache-2.0
// How code is decoded; hart.hpp tells what for.
//
// A trace is decoded from where it is entered up to a jump, or up to an instruction that another trace already has, to
// which it is linked. A branch to what is not decoded yet goes to a stub. The first hart that reaches the stub decodes
// the trace, and all branches that waited for it are redirected.
#pragma once

#include <algorithm>

#include "meanings.hpp"
#include "table_search.hpp"

namespace polyloom::riscv {

// Chunks double, so that a small program takes little memory.
inline constexpr size_t FIRST_CHUNK = 64, LARGEST_CHUNK = 4096;

// The step of an instruction by itself.
template <class P>
Action<P> plain_step(const Decoded<P>& d, const std::vector<Custom<P>>& custom) {
    if (d.op >= CUSTOM) return custom[d.op - CUSTOM].step;
    return d.op == NO_OP ? d.step : STEPS<P>[d.op];
}

// Whether no instruction can follow within the trace, and whether it is the last of its block.
template <class P>
bool ends_trace(const Decoded<P>& d) {
    return d.op == NO_OP || d.op == uint16_t(Op::JAL) || d.op == uint16_t(Op::JALR) || d.op == uint16_t(Op::FENCE_I);
}

inline bool is_branch(uint16_t op) { return op >= uint16_t(Op::BEQ) && op <= uint16_t(Op::BGEU); }

template <class P>
bool ends_block(const Decoded<P>& d) {
    return ends_trace(d) || is_branch(d.op);
}

template <class P>
void Code<P>::add(X base, X size, const uint8_t* bytes) {
    const X even = size & ~X(1);
    auto* const places = static_cast<Decoded<P>**>(std::calloc(std::max<size_t>(even / 2, 1), sizeof(Decoded<P>*)));
    if (!places) throw std::bad_alloc();
    ranges.push_back(std::make_unique<Range>(Range{base, even, bytes, std::unique_ptr<Decoded<P>*[], Freed>(places)}));
    if (recent == &none) recent = ranges.back().get();
}

template <class P>
void Code<P>::flush() {
    if constexpr (P::COUNTED) fold(folded);
    for (const Chunk& chunk : chunks)
        for (size_t n = 0; n < chunk.used; ++n)
            if (Range* range = range_of(chunk.places[n].pc))
                range->places[X(chunk.places[n].pc - range->base) / 2] = nullptr;
    chunks.clear(), stubs.clear(), waiting.clear();
    hidden = nullptr;
}

// Adds executions of all that is decoded: sums of entries along each block, which ends where `run` does.
template <class P>
void Code<P>::fold(std::vector<int64_t>& found) const {
    if constexpr (P::COUNTED)
        for (const Chunk& chunk : chunks) {
            int64_t times = 0;
            for (size_t n = 0; n < chunk.used; ++n) {
                const Decoded<P>& d = chunk.places[n];
                if (!d.run) continue;
                times += d.entries.count;
                if (times) count(found, d.pc, times);
                if (d.run == 1) times = 0;
            }
        }
}

template <class P>
void Code<P>::count(std::vector<int64_t>& found, X pc, int64_t times) const {
    const X place = X(pc - ranges.front()->base) / 2;
    if (place >= ranges.front()->size / 2) return;
    if (found.size() <= place) found.resize(place + 1);
    found[place] += times;
}

template <class P>
typename Code<P>::Range* Code<P>::range_of(X address) const {
    for (const auto& range : ranges)
        if (X(address - range->base) < range->size) return range.get();
    return nullptr;
}

template <class P>
Decoded<P>* Code<P>::known(X address) const {
    const Range* range = range_of(address);
    const X offset = range ? address - range->base : 1;
    return offset & 1 ? nullptr : range->places[offset / 2];
}

template <class P>
uint64_t Code<P>::word(X address, unsigned& there) const {
    uint8_t found[8]{};
    there = 0;
    while (there < 8) {
        const Range* range = range_of(X(address + there));
        if (!range) break;
        const X offset = address + there - range->base;
        const unsigned count = unsigned(std::min<uint64_t>(8 - there, range->size - offset));
        std::memcpy(found + there, range->bytes + offset, count);
        there += count;
    }
    uint64_t made;
    std::memcpy(&made, found, sizeof made);
    return made;
}

template <class P>
const Decoded<P>* Code<P>::find(X address) {
    Range* range = range_of(address);
    if (!range || address & alignment || (address - range->base) & 1) return nullptr;
    recent = range;
    if (const Decoded<P>* found = range->places[X(address - range->base) / 2]) return found;
    return decode(address);
}

// Decodes one instruction. Custom rows come before the table's, because a machine may give standard words another
// meaning; x0 as a destination becomes register 32, which nobody reads, so that steps need not test for it.
template <class P>
Decoded<P> Code<P>::one(X pc) const {
    unsigned there = 0;
    const uint64_t word = this->word(pc, there);
    Decoded<P> d{illegal<P>, 0, nullptr, pc, NO_OP, 1, 0, 0, 0, 0, 0, 0, 0};
    d.bytes = (word & 3) == 3 ? 4 : 2;
    for (size_t n = 0; n < custom.size(); ++n) {
        const Custom<P>& row = custom[n];
        const uint64_t seen = there < 8 ? row.mask & ((uint64_t(1) << 8 * there) - 1) : row.mask;
        if ((word & seen) != (row.match & seen)) continue;
        if (row.size > there) {
            d.step = cut<P>;
            return d;
        }
        const uint8_t rd = word >> 7 & 31;
        d.step = row.step, d.op = uint16_t(CUSTOM + n), d.bytes = row.size & 15;
        d.imm = int64_t(row.size == 8 ? word : word & ((uint64_t(1) << 8 * row.size) - 1));
        d.rd = rd ? rd : 32, d.rs1 = word >> 15 & 31, d.rs2 = word >> 20 & 31, d.rs3 = word >> 27 & 31,
        d.rm = word >> 12 & 7;
        return d;
    }
    if (d.bytes > there) {
        d.step = cut<P>;
        return d;
    }
    const uint32_t bits = uint32_t(d.bytes == 2 ? word & 0xffff : word);
    const Row* row = find_row(bits, 8 * sizeof(X), extensions);
    if (!row || !STEPS<P>[size_t(row->op)]) return d;
    const auto value = [&](int n) { return operand(*row, n, bits); };
    d.step = STEPS<P>[size_t(row->op)], d.op = uint16_t(row->op);
    d.rd = row->writes_x && value(0) == 0 ? 32 : uint8_t(value(0));
    d.rs1 = uint8_t(value(1)), d.rs2 = uint8_t(value(2)), d.rs3 = uint8_t(value(3)), d.rm = uint8_t(value(4)) & 7;
    d.imm = value(5);
    if (row->op == Op::AUIPC) d.imm += int64_t(pc);
    return d;
}

template <class P>
Decoded<P>* Code<P>::room(size_t count) {
    if (chunks.empty() || chunks.back().size - chunks.back().used < count) {
        const size_t grown = chunks.empty() ? FIRST_CHUNK : std::min(2 * chunks.back().size, LARGEST_CHUNK);
        const size_t size = std::max(grown, count);
        chunks.push_back({std::unique_ptr<Decoded<P>[]>(new Decoded<P>[size]), 0, size});
    }
    Chunk& chunk = chunks.back();
    chunk.used += count;
    return &chunk.places[chunk.used - count];
}

// Where a jump to an address goes: to its instruction, or to a stub that all waiting jumps share.
template <class P>
const Decoded<P>* Code<P>::goal(X address, Decoded<P>* user) {
    if (Decoded<P>* found = address & alignment ? nullptr : known(address)) return found;
    std::vector<Decoded<P>*>& users = waiting[address];
    users.push_back(user);
    if (users.size() > 1) return users.front()->target;
    return &stubs.emplace_back(Decoded<P>{resolve<P>, 0, nullptr, address, NO_OP, 0, 0, 0, 0, 0, 0, 0, 0});
}

// Decodes a trace. `run` counts, backwards, the instructions that are left in the block: a hart enters a block only if
// it may execute all of it, and so tests its limit once per block.
template <class P>
Decoded<P>* Code<P>::decode(X address) {
    made.clear();
    X pc = address;
    do {
        made.push_back(one(pc));
        pc += made.back().bytes;
    } while (!ends_trace(made.back()) && made.size() < P::LONGEST && range_of(pc) && !known(pc));
    if (!ends_trace(made.back())) made.push_back({linked<P>, 0, nullptr, pc, NO_OP, 0, 0, 0, 0, 0, 0, 0, 0});
    for (size_t n = made.size(); n-- > 0;)
        if (made[n].run && !ends_block(made[n])) made[n].run = uint8_t(made[n + 1].run + 1);

    Decoded<P>* first = room(made.size());
    std::copy(made.begin(), made.end(), first);
    const size_t count = made.size();
    for (size_t n = 0; n < count; ++n)
        if (first[n].run) {
            Range* range = range_of(first[n].pc);
            range->places[X(first[n].pc - range->base) / 2] = &first[n];
        }
    for (size_t n = 0; n < count; ++n) {
        if (is_branch(first[n].op) || first[n].op == uint16_t(Op::JAL))
            first[n].target = goal(X(first[n].pc + X(first[n].imm)), &first[n]);
        else if (!first[n].run)
            first[n].target = goal(first[n].pc, &first[n]);
        if (const auto found = waiting.find(first[n].pc); first[n].run && found != waiting.end()) {
            for (Decoded<P>* user : found->second) user->target = &first[n];
            waiting.erase(found);
        }
    }
    fuse(first, count);
    if (Decoded<P>* place = hidden ? nullptr : known(stop)) hide(*place);
    return first;
}

// Gives an instruction the step of itself and the next one together, which saves a jump. The next one keeps its own
// step, for jumps to it.
template <class P>
void Code<P>::fuse(Decoded<P>* first, size_t count) {
    for (size_t n = 0; n + 1 < count; ++n) {
        if (first[n].run < 2) continue;
        const Action<P> both = pair<P>(first[n].op, first[n + 1].op);
        if (both) first[n].step = both, first[n].fused = 1;
    }
}

// Puts a step that ends the run in the place of an instruction. An instruction before it that was fused with it would
// run past it, and is separated.
template <class P>
void Code<P>::hide(Decoded<P>& place) {
    for (const Chunk& chunk : chunks) {
        const size_t n = size_t(&place - chunk.places.get());
        if (n >= chunk.used || n == 0 || !chunk.places[n - 1].fused) continue;
        chunk.places[n - 1].step = plain_step(chunk.places[n - 1], custom), chunk.places[n - 1].fused = 0;
    }
    if (place.fused) place.step = plain_step(place, custom), place.fused = 0;
    hidden = &place, behind = place.step;
    place.step = stopped<P>;
}

template <class P>
void Code<P>::reveal() {
    if (hidden) hidden->step = behind;
    hidden = nullptr;
}

template <class P>
size_t Code<P>::decoded() const {
    size_t count = 0;
    for (const Chunk& chunk : chunks) count += chunk.used;
    return count;
}

template <class P>
size_t Code<P>::held() const {
    size_t count = stubs.size() * sizeof(Decoded<P>);
    for (const Chunk& chunk : chunks) count += chunk.size * sizeof(Decoded<P>);
    for (const auto& range : ranges) count += range->size / 2 * sizeof(Decoded<P>*);
    return count;
}

template <class P>
void Code<P>::stop_at(X address) {
    if (address == stop) return;
    reveal();
    stop = address;
    if (Decoded<P>* place = known(address)) hide(*place);
}

}  // namespace polyloom::riscv
