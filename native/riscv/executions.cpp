// SPDX-License-Identifier: Apache-2.0
// An execution is a partial order of operations: preserved program order, coherence, reads-from and from-reads. Its
// many linear orders are not enumerated. Instead, sets of operations with which an order may begin are followed, from
// the empty set to the set of all.
// An execution must be counted once, although its next operations can be taken in many orders. Let M be the set of
// operations that are minimal among the rest of an execution: the sum of (-1)^(|C| + 1) over all nonempty subsets C of
// M is 1. So every set C of operations that may come next, in any order with the same result, is taken with that sign
// (Cartier and Foata, 1969).
#include "riscv/executions.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

namespace polyloom::riscv {

namespace {

using Number = unsigned __int128;

// Numbers by key, with open addressing; no key has all bits.
class Table {
  public:
    struct Entry {
        Key key = ~Key(0);
        Number number = 0;
    };

    Number& operator[](Key key) {
        if (4 * used_ >= 3 * entries_.size()) grow();
        Entry& entry = find(key);
        if (entry.key != key) entry.key = key, used_++;
        return entry.number;
    }
    // Those that are not zero.
    std::vector<Entry> entries() const {
        std::vector<Entry> found;
        std::ranges::copy_if(entries_, std::back_inserter(found), [](const Entry& entry) { return entry.number != 0; });
        return found;
    }

  private:
    Entry& find(Key key) {
        size_t place = size_t((uint64_t(key) * 0xff51afd7ed558ccdu ^ uint64_t(key >> 64) * 0x9e3779b97f4a7c15u) >> 20) &
                       (entries_.size() - 1);
        while (entries_[place].key != key && entries_[place].key != ~Key(0))
            place = (place + 1) & (entries_.size() - 1);
        return entries_[place];
    }
    void grow() {
        std::vector<Entry> before(std::max<size_t>(8, 2 * entries_.size()));
        before.swap(entries_);
        for (const Entry& entry : before)
            if (entry.key != ~Key(0)) find(entry.key) = entry;
    }

    std::vector<Entry> entries_;
    size_t used_ = 0;
};

using Level = std::unordered_map<uint64_t, Table>;

// What operations do to a key. Each read has its value from a field, or it is known; it goes to a field, if it is kept.
// Other fields are cleared, or set to constants.
struct Read {
    uint64_t possible;
    int from;
    uint8_t value;
    int field;
};
struct Step {
    Key cleared = 0, added = 0;
    std::vector<Read> reads;
};

class Count {
  public:
    Count(const std::vector<Event>& events, const std::vector<Location>& locations, uint64_t most)
        : events_(events), locations_(locations), left_(most) {
        for (size_t x = 0; x < locations.size(); x++) {
            uint64_t kept = 0;
            for (size_t n = 0; n < events.size(); n++)
                if (events[n].location == x && (events[n].field >= 0 || ~events[n].possible)) kept |= uint64_t(1) << n;
            readers_.push_back(kept);
        }
    }

    // Whether the sets of operations that an order may begin with are extended in at most `most` ways.
    bool few(size_t most) const {
        std::unordered_set<uint64_t> level{0};
        for (size_t size = 0; size < events_.size(); size++) {
            std::unordered_set<uint64_t> next;
            for (uint64_t set : level) {
                const auto chosen = choices(set, most);
                if (chosen.size() > most) return false;
                most -= chosen.size();
                for (uint64_t choice : chosen)
                    if (std::has_single_bit(choice)) next.insert(set | choice);
            }
            level.swap(next);
        }
        return true;
    }

    uint64_t left() const { return left_; }

    std::optional<Counted> all() {
        std::vector<Level> levels(events_.size() + 1);
        Key key = 0;
        for (const Location& each : locations_)
            if (each.field >= 0) key |= Key(each.initial) << 6 * each.field;
        levels[0][0][key] = 1;
        for (size_t size = 0; size < events_.size(); size++) {
            for (auto& [set, table] : levels[size]) {
                if (!extend(set, table.entries(), levels)) return std::nullopt;
                table = {};
            }
            levels[size].clear();
        }
        Counted found;
        for (auto& [set, table] : levels.back())
            for (const auto& entry : table.entries()) found.emplace_back(entry.key, entry.number);
        std::sort(found.begin(), found.end());
        return found;
    }

  private:
    // The tables of what comes after `set`.
    bool extend(uint64_t set, const std::vector<Table::Entry>& table, std::vector<Level>& levels) {
        for (uint64_t choice : choices(set, left_)) {
            if (left_ < table.size()) return false;
            left_ -= table.size();
            const Step step = this->step(set, choice);
            Table& into = levels[std::popcount(set | choice)][set | choice];
            for (const auto& [key, number] : table)
                if (const auto after = performed(step, key))
                    into[*after] += std::popcount(choice) % 2 ? number : -number;
        }
        return true;
    }

    // All nonempty sets of operations that may come next in any order, and about `most` of them at most: the caller
    // then gives up.
    std::vector<uint64_t> choices(uint64_t set, size_t most) const {
        std::vector<uint64_t> chosen;
        for (int n : following(set)) {
            uint64_t with = 0;
            for (size_t other = 0; other < events_.size(); other++)
                if (int(other) != n && independent(set, events_[n], events_[other])) with |= uint64_t(1) << other;
            for (size_t k = chosen.size(); k-- > 0 && chosen.size() <= most;)
                if (!(chosen[k] & ~with)) chosen.push_back(chosen[k] | uint64_t(1) << n);
            chosen.push_back(uint64_t(1) << n);
        }
        return chosen;
    }

    // The operations that may come next. If one of them is minimal in every execution, it alone: the others can wait.
    std::vector<int> following(uint64_t set) const {
        std::vector<int> next;
        for (size_t n = 0; n < events_.size(); n++) {
            if (set >> n & 1 || !enabled(set, events_[n])) continue;
            if (alone(set, events_[n])) return {int(n)};
            next.push_back(int(n));
        }
        return next;
    }

    bool pending(uint64_t set, const Event& load) const { return load.own >= 0 && !(set >> load.own & 1); }

    bool enabled(uint64_t set, const Event& event) const {
        if (event.before & ~set) return false;
        if (!event.writes)
            return !pending(set, event) || (!events_[event.own].late && !(events_[event.own].sources & ~set));
        return std::ranges::none_of(events_, [&](const Event& load) {
            const uint64_t bit = uint64_t(1) << (&load - events_.data());
            return set & bit && load.guard & ~set && load.hart != event.hart && load.location == event.location &&
                   !pending(set, load);
        });
    }

    // Whether no other hart has anything left that conflicts with it: it is then minimal in every execution from here
    // on.
    bool alone(uint64_t set, const Event& event) const {
        return std::ranges::none_of(events_, [&](const Event& other) {
            return !(set >> (&other - events_.data()) & 1) && other.location == event.location &&
                   other.hart != event.hart && (event.writes || other.writes);
        });
    }

    bool independent(uint64_t set, const Event& a, const Event& b) const {
        if (a.location != b.location || !(a.writes || b.writes)) return true;
        return a.writes != b.writes && pending(set, a.writes ? b : a);
    }

    // What the operations `choice` after `set` do to keys.
    Step step(uint64_t set, uint64_t choice) const {
        Step step;
        for (uint64_t rest = choice; rest; rest &= rest - 1) {
            const Event& event = events_[std::countr_zero(rest)];
            const Location& at = locations_[event.location];
            if (event.field >= 0 || ~event.possible) {
                const bool forwarded = pending(set, event);
                step.reads.push_back({event.possible, forwarded ? -1 : at.field,
                                      forwarded ? events_[event.own].value : uint8_t(0), event.field});
                if (event.field >= 0) step.cleared |= Key(63) << 6 * event.field;
            }
            if (event.writes && at.field >= 0)
                step.cleared |= Key(63) << 6 * at.field, step.added |= Key(event.value) << 6 * at.field;
        }
        for (size_t x = 0; x < locations_.size(); x++)
            if (locations_[x].field >= 0 && !locations_[x].final && !(readers_[x] & ~(set | choice))) {
                const Key field = Key(63) << 6 * locations_[x].field;
                step.cleared |= field, step.added &= ~field;
            }
        return step;
    }

    static std::optional<Key> performed(const Step& step, Key key) {
        Key after = (key & ~step.cleared) | step.added;
        for (const Read& read : step.reads) {
            const uint8_t value = read.from < 0 ? read.value : uint8_t(key >> 6 * read.from & 63);
            if (!(read.possible >> value & 1)) return std::nullopt;
            if (read.field >= 0) after |= Key(value) << 6 * read.field;
        }
        return after;
    }

    const std::vector<Event>& events_;
    const std::vector<Location>& locations_;
    std::vector<uint64_t> readers_;
    uint64_t left_;
};

}  // namespace

std::optional<Counted> executions(const std::vector<Event>& events, const std::vector<Location>& locations, size_t most,
                                  uint64_t& steps) {
    Count count(events, locations, steps);
    if (!count.few(most)) return std::nullopt;
    auto found = count.all();
    steps = count.left();
    return found;
}

}  // namespace polyloom::riscv
