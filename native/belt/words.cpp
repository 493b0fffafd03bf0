// SPDX-License-Identifier: Apache-2.0
// From words to a program; docs/formats.md (Belt words) has every bit. Words that it does not describe are refused.
#include <algorithm>

#include "compute.hpp"
#include "program.hpp"

namespace polyloom::belt {

namespace {

constexpr unsigned kinds = 6, codes = 6, most_position = 63;
constexpr uint8_t none_item = 128;
constexpr char kind_names[] = "EFRPWL";

struct Field {
    unsigned first, bits;
    constexpr uint64_t mask() const { return ((uint64_t(1) << bits) - 1) << first; }
    constexpr uint64_t of(uint64_t word) const { return word >> first & ((uint64_t(1) << bits) - 1); }
};

constexpr Field number{0, 8}, slot{8, 8}, kind{8, 3}, width{16, 3}, lanes{19, 3}, count{22, 3},
    operands[] = {{25, 6}, {31, 6}, {37, 6}};
constexpr Field immediate_flag{43, 1}, immediate_value{44, 8}, scale{43, 3}, delay{46, 6}, offset{52, 12},
    place{44, 20}, frame{25, 12}, frames{37, 7};
constexpr Field literal{32, 32}, items{31, 6}, target{44, 16};

class Reader {
  public:
    Reader(Program& program, std::span<const uint8_t> code) : program(program), code(code) {
        if (code.size() % 8) throw Malformed(code.size(), "the code is no whole number of words");
    }

    void read() {
        const uint64_t routines = take();
        if (!routines || routines > code.size() / 8) fail("the number of routines is " + std::to_string(routines));
        for (uint64_t n = 0; n < routines; ++n) routine();
        if (at != code.size()) throw Malformed(at, "words follow the last routine");
        finish();
    }

  private:
    Program& program;
    std::span<const uint8_t> code;
    size_t at = 0;

    [[noreturn]] void fail(const std::string& what) const { throw Malformed(at - 8, what); }

    uint64_t take() {
        if (code.size() - at < 8) throw Malformed(at, "a word is missing");
        uint64_t word;
        std::memcpy(&word, code.data() + at, 8);
        at += 8;
        return word;
    }

    // Bytes in words, eight in each; what is left of the last word is 0.
    std::vector<uint8_t> bytes(unsigned number_of_bytes) {
        std::vector<uint8_t> made;
        while (made.size() < number_of_bytes) {
            const uint64_t word = take();
            for (unsigned k = 0; k < 8; ++k) made.push_back(uint8_t(word >> 8 * k));
        }
        if (std::any_of(made.begin() + number_of_bytes, made.end(), [](uint8_t b) { return b; }))
            fail("unused bits are not 0");
        made.resize(number_of_bytes);
        return made;
    }

    void routine() {
        const uint64_t head = take();
        const unsigned parameters = unsigned(head >> 48 & 0xff), results = unsigned(head >> 56);
        Routine made{uint32_t(program.bundles.size()), uint32_t(head >> 32 & 0xffff), {}, {}};
        if (!made.bundles) fail("a routine has no bundle");
        const std::vector<uint8_t> types = bytes(parameters + results);
        for (unsigned n = 0; n < types.size(); ++n)
            (n < parameters ? made.parameters : made.results).push_back(type(types[n]));
        if (std::max(made.parameters.size(), made.results.size()) > program.member.belt)
            fail("a routine has more parameters or results than the belt holds");
        const size_t start = at;
        for (uint32_t n = 0; n < made.bundles; ++n) bundle(made, n);
        if ((at - start) / 8 != (head & 0xffffffff))
            throw Malformed(start - 8, "the words of a routine are not as many as its head says");
        program.routines.push_back(std::move(made));
    }

    Kind type(uint8_t byte) const {
        const unsigned code_of_width = byte & 7, lanes_log = byte >> 4 & 7;
        const bool known = code_of_width && code_of_width < codes && !(byte & 0x88);
        if (!known || 1u << (code_of_width - 1 + lanes_log) > most_bytes) fail("a type is no type");
        return {uint8_t(code_of_width - 1), uint8_t(lanes_log)};
    }

    void bundle(const Routine& routine, uint32_t n) {
        const uint64_t head = take();
        const size_t start = at;
        if (head & 0xfffe0000) fail("unused bits are not 0");
        const unsigned ops = head & 0xff, back = unsigned(head >> 32 & 0xffff), words = unsigned(head >> 48);
        if (back > n + 1) fail("a bundle goes back before its routine");
        Bundle made;
        made.first = uint32_t(program.issues.size());
        made.drops = uint8_t(head >> 8);
        made.rotate = head >> 16 & 1;
        made.next = back ? routine.first + n + 1 - back : n + 1 < routine.bundles ? routine.first + n + 1 : nowhere;
        for (unsigned k = 0; k < ops; ++k) {
            issue(routine);
            if (k && program.issues[made.first + k - 1].slot >= program.issues.back().slot)
                fail("operations are not in the order of their slots");
        }
        if ((at - start) / 8 != words)
            throw Malformed(start - 8, "the words of a bundle are not as many as its header says");
        program.bundles.push_back(made);
    }

    void issue(const Routine& routine) {
        const uint64_t word = take();
        if (number.of(word) >= op_count || kind.of(word) >= kinds || width.of(word) >= codes)
            fail("a word is no operation");
        Issue made{Op(number.of(word)), row_of(Op(number.of(word))).action,
                   uint8_t(kind.of(word) << 5 | slot.of(word) >> 3)};
        const bool has_width = width.of(word) != 0;
        if (has_width != states_width(made.op)) refuse(made, has_width ? "it states a width" : "it states no width");
        if (has_width) made.width = uint8_t(width.of(word) - 1);
        made.lanes_log = uint8_t(lanes.of(word));
        if (made.lanes_log && !states_lanes(made.op)) refuse(made, "it states lanes");
        if (has_width && 1u << (made.width + made.lanes_log) > most_bytes)
            refuse(made, "it states more lanes than the longest vector has");
        made.count = uint8_t(count.of(word));
        uint64_t known = number.mask() | slot.mask() | width.mask() | lanes.mask() | count.mask();
        if (made.op == Op::op_con)
            known |= constant(made, word);
        else
            known |= rest(made, word, routine);
        if (word & ~known) refuse(made, "unused bits are not 0");
        made.kernels = quick_kernels(made.op);
        program.issues.push_back(made);
    }

    [[noreturn]] void refuse(const Issue& issue, const std::string& what) const {
        fail(slot_name(issue.slot) + " " + std::string(row_of(issue.op).name) + ": " + what);
    }

    uint64_t constant(Issue& made, uint64_t word) {
        u128 bits = literal.of(word);
        if (made.count > 2 || (made.count && bits))
            refuse(made, "its literal is not written in the one way that the format allows");
        const unsigned more = made.count;
        made.count = 0;
        if (more) bits = take();
        if (more == 2) bits |= u128(take()) << 64;
        if ((more == 1 && !(bits >> 32)) || (more == 2 && !(bits >> 64)))
            refuse(made, "its literal is not written in the one way that the format allows");
        if (made.width < 4 && bits >> (8u << made.width)) refuse(made, "its literal is wider than its width");
        Value& value = keep(made);
        value.shape(made.width, made.lanes_log);
        for (unsigned k = 0; k < value.lanes(); ++k) value.put(k, bits);
        return literal.mask();
    }

    Value& keep(Issue& made) {
        made.constant = uint32_t(program.constants.size());
        return program.constants.emplace_back();
    }

    // The fields of an operation's own layout; gives their bits.
    uint64_t rest(Issue& made, uint64_t word, const Routine& routine) {
        const auto [least, most] = operands_of(made.op);
        if (made.count < least || made.count > most) refuse(made, "it has " + count_of(made.count, "operand"));
        uint64_t known = 0;
        for (unsigned k = 0; k < made.count; ++k) {
            made.position[k] = uint8_t(operands[k].of(word));
            known |= operands[k].mask();
            if (made.position[k] >= most_position) refuse(made, "no belt has such a position");
        }
        if (takes_list(made.op)) return known | list(made, word, routine);
        if (moves_scratch(made.op)) {
            made.offset = int32_t(place.of(word));
            made.rotating = one_of(made.op, Op::op_fill, Op::op_spill);
            return known | place.mask();
        }
        if (made.op == Op::op_scratchf) {
            made.offset = int32_t(place.of(word));
            made.frame = uint16_t(frame.of(word));
            made.frames = uint16_t(frames.of(word));
            if (!made.frame != !made.frames || int32_t(made.frame * made.frames) > made.offset)
                refuse(made, "its frames are larger than what it allocates");
            return known | place.mask() | frame.mask() | frames.mask();
        }
        if (loads(made.op) || made.op == Op::op_store) return known | memory(made, word, most);
        if (!immediate_flag.of(word)) return known | immediate_flag.mask();
        if (!takes_immediate(made.op) || made.position[made.count - 1])
            refuse(made, "it takes no immediate, or has a position beside it");
        made.immediate = true;
        belt::immediate(keep(made), int8_t(immediate_value.of(word)));
        return known | immediate_flag.mask() | immediate_value.mask();
    }

    uint64_t memory(Issue& made, uint64_t word, unsigned most) {
        if (scale.of(word) > 4) refuse(made, "its scale is none");
        if ((made.count == most) != (scale.of(word) != 0))
            refuse(made, "it has an index without a scale, or a scale without an index");
        made.scale = uint8_t(scale.of(word) ? 1u << (scale.of(word) - 1) : 0);
        made.offset = int32_t(offset.of(word) << 20) >> 20;
        made.delay = uint8_t(delay.of(word));
        if (!made.delay != (made.op == Op::op_store)) refuse(made, "it has a delay, or none");
        if (made.delay && (made.delay < program.member.least_delay || made.delay > program.member.most_delay))
            refuse(made, "no load of the member has its delay");
        if ((made.op == Op::op_loads || made.op == Op::op_loadu) && made.width > 2)
            refuse(made, "it widens to four bytes");
        if (made.op != Op::op_load && made.op != Op::op_store && 4u << made.lanes_log > most_bytes)
            refuse(made, "it states more lanes than the longest vector has");
        return scale.mask() | delay.mask() | offset.mask();
    }

    uint64_t list(Issue& made, uint64_t word, const Routine& routine) {
        made.items = uint32_t(items.of(word));
        made.target = uint16_t(target.of(word));
        made.first_item = uint32_t(program.items.size());
        const bool is_call = made.action == Action::call;
        const bool goes = made.action == Action::transfer && made.op != Op::op_retn;
        if (goes && made.target >= routine.bundles) refuse(made, "its target is outside of the routine");
        if (!goes && !is_call && made.target) refuse(made, "it has a target");
        if (made.items > program.member.belt) refuse(made, "its list is longer than the belt");
        for (const uint8_t byte : bytes(made.items)) {
            const bool none = byte >= none_item;
            if (none ? byte >= none_item + codes : byte >= most_position) refuse(made, "an item of its list is none");
            const uint8_t width = byte == none_item ? shapeless : uint8_t(byte - none_item - 1);
            program.items.push_back(none ? Item{no_position, width} : Item{byte, 0});
        }
        return items.mask() | (goes || is_call ? target.mask() : 0);
    }

    // Operations in the order in which they act, once all routines are known.
    void finish() {
        for (Bundle& bundle : program.bundles) {
            const size_t index = size_t(&bundle - program.bundles.data());
            const auto first = program.issues.begin() + bundle.first;
            const bool is_last = index + 1 == program.bundles.size();
            const auto last = program.issues.begin() + long(is_last ? program.issues.size() : (&bundle)[1].first);
            std::stable_sort(first, last, [](const Issue& a, const Issue& b) { return rank(a) < rank(b); });
            for (auto i = first; i != last; ++i)
                for (unsigned p = unsigned(row_of(i->op).phase); p < 5; ++p) ++bundle.ends[p];
            for (auto i = first; i != last; ++i) count_in(bundle, *i);
        }
    }

    // Phase, and within phase X: scratchf, spills and stores, transfers, conform.
    static unsigned rank(const Issue& issue) {
        const unsigned phase = 4 * unsigned(row_of(issue.op).phase);
        if (issue.action == Action::scratchf) return phase;
        return phase + (issue.action == Action::transfer ? 2 : issue.action == Action::conform ? 3 : 1);
    }

    void count_in(Bundle& bundle, const Issue& issue) {
        for (unsigned k = 0; k + issue.immediate < issue.count; ++k)
            bundle.reach = std::max(bundle.reach, uint8_t(issue.position[k] + 1));
        for (unsigned k = 0; k < issue.items; ++k) {
            const Item item = program.items[issue.first_item + k];
            if (item.position != no_position) bundle.reach = std::max(bundle.reach, uint8_t(item.position + 1));
        }
        if (issue.action == Action::call) {
            if (issue.target >= program.routines.size())
                throw Malformed(0, slot_name(issue.slot) + " call: it names no routine");
            bundle.others = uint16_t(bundle.others + program.routines[issue.target].results.size());
        } else if (row_of(issue.op).phase != Phase::C) {
            bundle.others = uint16_t(bundle.others + results_of(issue.op));
        }
    }
};

void check(const Member& member) {
    const auto fail = [](const char* what) { throw Malformed(0, what); };
    if (member.belt < 4 || member.belt >= most_position) fail("the belt's length is none");
    if (member.latencies.size() != op_count) fail("the member's operations are not those of this version");
    if (!member.least_delay || member.least_delay > member.most_delay || member.most_delay > 63)
        fail("the delays of loads contradict each other");
    if (member.scratch > 1u << 16) fail("the scratchpad is larger than any");
    for (const auto& row : member.latencies)
        for (const uint8_t latency : row)
            if (latency > 63) fail("a latency is longer than any");
    for (unsigned n = 0; n < op_count; ++n)
        if (rows[n].phase == Phase::C && !loads(Op(n)) && std::ranges::count(member.latencies[n], 0))
            fail("an operation of phase C has no latency");
}

}  // namespace

std::string count_of(long number, const char* thing) {
    return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

std::string slot_name(unsigned slot) { return std::string(1, kind_names[slot >> 5]) + std::to_string(slot & 31); }

Program decode(Member member, std::span<const uint8_t> code) {
    check(member);
    Program program;
    program.member = std::move(member);
    Reader(program, code).read();
    return program;
}

}  // namespace polyloom::belt
