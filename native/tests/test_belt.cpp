// SPDX-License-Identifier: Apache-2.0
// The belt machine's model under sanitizers: a program by hand, random programs that the reader accepts, and words that
// it must refuse. Whatever they are, a run ends in a result, in a fault, or after its bundles.
#include <cstdio>
#include <random>
#include <string>

#include "belt/model.hpp"
#include "tests/expect.hpp"

using namespace polyloom::belt;

using Words = std::vector<uint64_t>;
using Random = std::mt19937_64;

static unsigned draw(Random& random, unsigned end) { return unsigned(random() % end); }

static Member member(bool phasing) {
    Member made{8, 128, phasing, 1, 20, 6, 256, {}};
    using Latencies = std::array<uint8_t, widths>;
    for (const Row& row : rows)
        made.latencies.push_back(row.phase == Phase::C ? Latencies{1, 1, 1, 3, 5} : Latencies{});
    return made;
}

static std::span<const uint8_t> bytes_of(const Words& words) {
    return {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 8};
}

// An operation with random fields that fit it. `bundles` and `routines` bound targets; positions are small, `filled`
// bounds a list's.
static void add_issue(Random& random, Words& words, Op op, unsigned slot, unsigned bundles, unsigned routines,
                      unsigned filled = 4) {
    const auto [least, most] = operands_of(op);
    unsigned count = least + draw(random, most - least + 1u);
    uint64_t word = uint64_t(op) | slot << 8;
    unsigned width = 0, lanes = 0;
    if (states_width(op))
        width = op == Op::op_con || draw(random, 3)
                    ? 3
                    : 1 + draw(random, op == Op::op_loads || op == Op::op_loadu ? 3 : 5);
    if (states_lanes(op) && !draw(random, 3)) lanes = draw(random, loads(op) ? 4 : 9 - std::max(width, 3u));
    word |= uint64_t(width) << 16 | uint64_t(lanes) << 19;
    if (op == Op::op_con) {
        words.push_back(word | uint64_t(draw(random, 2) ? 0x1000 + 4 * draw(random, 8) : draw(random, 4)) << 32);
        return;
    }
    for (unsigned k = 0; k < count; ++k) word |= uint64_t(draw(random, 5)) << (25 + 6 * k);
    const bool is_load = loads(op);
    if (is_load || op == Op::op_store) {
        word |= uint64_t(count == most ? 1 + draw(random, 4) : 0) << 43 |
                uint64_t(is_load ? 1 + draw(random, 20) : 0) << 46 | uint64_t(draw(random, 8)) << 52;
    } else if (moves_scratch(op)) {
        word |= uint64_t(4 * draw(random, 16)) << 44;
    } else if (op == Op::op_scratchf) {
        word |= uint64_t(32) << 25 | uint64_t(1 + draw(random, 3)) << 37 | uint64_t(128) << 44;
    } else if (takes_immediate(op) && draw(random, 2)) {
        word &= ~(uint64_t(63) << (25 + 6 * (count - 1)));
        word |= uint64_t(1) << 43 | uint64_t(draw(random, 256)) << 44;
    }
    word |= uint64_t(count) << 22;
    if (!takes_list(op)) {
        words.push_back(word);
        return;
    }
    const bool is_call = row_of(op).action == Action::call,
               targets = row_of(op).action == Action::transfer && op != Op::op_retn;
    const unsigned items = is_call ? 2 : op == Op::op_retn ? 1 : 8;
    words.push_back(word | uint64_t(items) << 31 |
                    uint64_t(is_call   ? draw(random, routines)
                             : targets ? draw(random, bundles)
                                       : 0)
                        << 44);
    uint64_t list = 0;
    for (unsigned k = 0; k < items; ++k) list |= uint64_t(draw(random, 4) ? draw(random, filled) : 131) << 8 * k;
    words.push_back(list);
}

// Operations that suit operands of width w, or any.
constexpr Op friendly[] = {Op::op_add,      Op::op_subss,   Op::op_xor,   Op::op_maxs, Op::op_shl,
                           Op::op_con,      Op::op_con,     Op::op_con,   Op::op_pick, Op::op_recur,
                           Op::op_load,     Op::op_leavetr, Op::op_inner, Op::op_brtr, Op::op_calltr,
                           Op::op_scratchf, Op::op_spill,   Op::op_fill,  Op::op_retn};

// Where the headers of bundles are, by routine.
using Headers = std::vector<std::vector<size_t>>;

// Two routines (w, w) -> w of random bundles, whose headers count what would drop if all latencies were 1.
static Words random_program(Random& random, Headers& headers) {
    Words words{2};
    headers.assign(2, {});
    for (unsigned routine = 0; routine < 2; ++routine) {
        const unsigned bundles = 3 + draw(random, 6);
        const size_t head = words.size();
        words.push_back(0), words.push_back(0x030303);
        for (unsigned b = 0; b < bundles; ++b) {
            const size_t header = words.size();
            words.push_back(0);
            headers[routine].push_back(header);
            const unsigned ops = b ? draw(random, 5) : 1;
            unsigned drops = 0;
            for (unsigned k = 0; k < ops; ++k) {
                const Op op = !b                ? Op::op_conform
                              : draw(random, 4) ? friendly[draw(random, std::size(friendly))]
                                                : Op(draw(random, op_count));
                add_issue(random, words, op, k << 3, bundles, 2, b ? 4 : 2);
                drops += row_of(op).action == Action::call ? 1 : results_of(op);
            }
            const uint64_t back = b > 1 && !draw(random, 3) ? 1 + draw(random, b) : 0;
            words[header] = ops | uint64_t(drops + !draw(random, 8)) << 8 | uint64_t(draw(random, 2)) << 16 |
                            back << 32 | uint64_t(words.size() - header - 1) << 48;
        }
        words[head] = (words.size() - head - 2) | uint64_t(bundles) << 32 | uint64_t(2) << 48 | uint64_t(1) << 56;
    }
    return words;
}

static Value word(uint32_t number) {
    Value value;
    value.shape(2, 0);
    value.put(0, number);
    return value;
}

enum class End { returned, stopped, faulted, refused };

static End end_of(const Words& words, bool phasing, Faulted* fault = nullptr) {
    std::vector<uint8_t> data(64, 3), constant(5, 1);
    try {
        const Program program = decode(member(phasing), bytes_of(words));
        Options options;
        options.most_cycles = 300;
        options.most_events = 100;
        Model model(program,
                    Memory({{0x1000, data.size(), data.data(), data.data(), true},
                            {0x2000, constant.size(), constant.data(), nullptr, false}}),
                    options);
        const std::vector<Value> arguments(program.routines[0].parameters.size(), word(0x1000));
        return model.run(arguments) ? End::returned : End::stopped;
    } catch (const Malformed&) {
        return End::refused;
    } catch (const Faulted& faulted) {
        if (fault) *fault = faulted;
        return End::faulted;
    }
}

// Headers that are wrong are corrected a few times, so that programs get further.
static End end_after_repairs(Words& words, const Headers& headers, bool phasing) {
    Faulted fault{};
    for (unsigned tries = 0; tries < 16; ++tries) {
        const End end = end_of(words, phasing, &fault);
        if (end != End::faulted || fault.fault != Fault::drops) return end;
        uint64_t& header = words[headers[fault.routine][fault.bundle]];
        header = (header & ~uint64_t(0xff00)) |
                 uint64_t(std::stoul(fault.detail.substr(fault.detail.rfind(' ') + 1)) & 0xff) << 8;
    }
    return End::faulted;
}

static void test_sum() {
    // r0(n, s): E0 add(b0, b1); F0 retn(b0)
    const uint64_t add = uint64_t(Op::op_add) | uint64_t(2) << 22 | uint64_t(1) << 31,
                   retn = uint64_t(Op::op_retn) | 1 << 8 | uint64_t(1) << 31;
    const Words words{1,        4 | uint64_t(1) << 32 | uint64_t(2) << 48 | uint64_t(1) << 56,
                      0x030303, 2 | 1 << 8 | uint64_t(3) << 48,
                      add,      retn,
                      0};
    const Program program = decode(member(true), bytes_of(words));
    Model model(program, Memory({}), {});
    const Value arguments[] = {word(40), word(2)};
    expect(model.run(arguments), "the sum returns");
    expect(model.results.size() == 1 && model.results[0].bits(0) == 42, "the sum is 42");
    expect(model.counters.cycles == 1 && model.counters.operations == 2, "the sum takes a bundle of two operations");
}

static void test_random_programs() {
    Random random(1);
    unsigned ends[4] = {};
    for (unsigned k = 0; k < 8000; ++k) {
        Headers headers;
        Words words = random_program(random, headers);
        ++ends[unsigned(end_after_repairs(words, headers, k & 1))];
    }
    std::printf("random programs: %u returned, %u stopped, %u faulted, %u refused\n", ends[0], ends[1], ends[2],
                ends[3]);
    expect(ends[unsigned(End::refused)] == 0, "the reader accepts what is well-formed");
    expect(ends[unsigned(End::returned)] > 100 && ends[unsigned(End::stopped)] > 100, "some programs run");
}

static void test_random_words() {
    Random random(2);
    for (unsigned k = 0; k < 20000; ++k) {
        Headers headers;
        Words words = random_program(random, headers);
        const unsigned changes = 1 + draw(random, 3);
        for (unsigned n = 0; n < changes; ++n)
            words[draw(random, unsigned(words.size()))] ^= uint64_t(1) << draw(random, 64);
        if (!draw(random, 8)) words.resize(draw(random, unsigned(words.size())));
        if (!words.empty() && !draw(random, 16)) words[draw(random, unsigned(words.size()))] = random();
        end_of(words, k & 1);
    }
}

int main() {
    test_sum();
    test_random_programs();
    test_random_words();
    std::printf(failures ? "%d failures\n" : "all tests passed\n", failures);
    return failures != 0;
}
