// SPDX-License-Identifier: Apache-2.0
// What happened in a run: the first operations with their values, packed, and a bit for each slot and cycle of all.
#pragma once
#include <cstring>
#include <vector>

#include "table.hpp"
#include "value.hpp"

namespace polyloom::belt {

struct Event {
    uint64_t cycle, at;  // at: of the value's bytes
    uint32_t routine, bundle;
    uint8_t slot;
    Op op;
};

// A row of bits for each routine and slot, a bit for `step` cycles: twice as many whenever the rows would be too long.
class Busy {
  public:
    static constexpr unsigned slots = 256;
    uint64_t step = 1, cycles = 0;
    std::vector<std::vector<uint8_t>> rows;

    void set(uint32_t routine, uint8_t slot, uint64_t cycle) {
        const size_t number = size_t(routine) * slots + slot;
        if (rows.size() <= number) rows.resize(size_t(routine + 1) * slots);
        while (cycle / step >= most_columns) fold();
        cycles = cycle + 1;
        auto& row = rows[number];
        const uint64_t column = cycle / step;
        if (row.size() <= column / 8) row.resize(column / 8 + 1);
        row[column / 8] |= uint8_t(1u << column % 8);
    }

  private:
    static constexpr uint64_t most_columns = 1u << 20;

    void fold() {
        step *= 2;
        for (auto& row : rows) {
            std::vector<uint8_t> half((row.size() + 1) / 2);
            for (size_t at = 0; at < 8 * row.size(); ++at)
                if (row[at / 8] >> at % 8 & 1) half[at / 16] |= uint8_t(1u << at / 2 % 8);
            row = std::move(half);
        }
    }
};

class Record {
  public:
    std::vector<Event> events;
    uint64_t total = 0;
    Busy busy;

    void note(size_t most, Event event, const Value& value) {
        busy.set(event.routine, event.slot, event.cycle - 1);
        ++total;
        if (events.size() >= most) return;
        event.at = values.size();
        events.push_back(event);
        pack(value);
    }

    Value value(const Event& event) const {
        const uint8_t* from = &values[event.at];
        Value made;
        made.width = from[0], made.lanes_log = from[1];
        const bool plain = !from[2];
        from += 3;
        if (!plain) {
            std::memcpy(&made.none, from, sizeof made.none);
            std::memcpy(&made.nar, from + sizeof made.none, sizeof made.nar);
            from += sizeof made.none + sizeof made.nar;
            std::memcpy(made.why, from, 4 * made.lanes());
            from += 4 * made.lanes();
        }
        if (made.has_shape()) std::memcpy(made.data, from, made.bytes());
        return made;
    }

  private:
    std::vector<uint8_t> values;

    void add(const void* from, size_t bytes) {
        const auto* data = static_cast<const uint8_t*>(from);
        values.insert(values.end(), data, data + bytes);
    }
    void pack(const Value& value) {
        const uint8_t head[3] = {value.width, value.lanes_log, uint8_t(!value.plain())};
        add(head, sizeof head);
        if (!value.plain()) {
            add(&value.none, sizeof value.none);
            add(&value.nar, sizeof value.nar);
            uint32_t why[most_bytes] = {};
            for (unsigned k = 0; k < value.lanes(); ++k)
                if (value.nar >> k & 1) why[k] = value.why[k];
            add(why, 4 * value.lanes());
        }
        if (value.has_shape()) add(value.data, value.bytes());
    }
};

}  // namespace polyloom::belt
