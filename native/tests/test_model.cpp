// SPDX-License-Identifier: Apache-2.0
// The model on hand-written configurations: the paper's running example on 1x3 elements, and one fault of every cause.
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <functional>
#include <string>

#include "tcpa/kinds.hpp"
#include "tcpa/model.hpp"
#include "tcpa/operations.hpp"
#include "tests/expect.hpp"

using namespace polyloom::tcpa;

static constexpr uint16_t i32(Operation o) { return opcode_of(o, Type::i32); }

static Operand rd(uint32_t n) { return {File::rd, n}; }
static Operand fd(uint32_t n) { return {File::fd, n}; }
static Operand io(uint32_t n) { return {File::io, n}; }
static Operand number(uint32_t n) { return {File::immediate, n}; }

static Instruction operation(Operation o, std::vector<Operand> to, std::vector<Operand> from,
                             Branch branch = Branch::next, uint32_t target = 0) {
    Instruction made{i32(o), std::move(to), std::move(from), branch, {}, {}};
    if (branch == Branch::jump) made.targets = {target};
    return made;
}

static Instruction nop(Branch branch = Branch::next, uint32_t target = 0) {
    Instruction made;
    made.branch = branch;
    if (branch == Branch::jump) made.targets = {target};
    return made;
}

static Instruction select(Instruction made, uint32_t signal, uint32_t zero, uint32_t one) {
    made.branch = Branch::select;
    made.signals = {signal};
    made.targets = {zero, one};
    return made;
}

static Unit generic(uint16_t latency = 1) {
    Unit unit;
    for (uint16_t code = 0; code < operation_count * 16; ++code) unit.latency[code] = valid_opcode(code) ? latency : 0;
    return unit;
}

static Machine machine() { return {{generic(), generic()}, 0}; }

static Shared box(int64_t low, int64_t high) { return std::make_shared<const Domain>(Domain{{{low}, {high}, {}}}); }

// Bit extraction (the paper, Figures 3 to 8) for N = 16 on 1x3 elements with tiles of 6: pi = 2, lambda_K = 12.
// The last element has the four iterations that are left, and writes nothing to its feedback register at the end.
static Config bits() {
    const Instruction first = operation(Operation::move, {rd(0)}, {io(0)});
    const auto shift = [](Operand to) { return operation(Operation::shr, {to}, {rd(0), number(1)}); };
    const Instruction mask = operation(Operation::bit_and, {io(1)}, {rd(0), number(1)});
    const Program moves{first,
                        nop(),
                        operation(Operation::move, {rd(0)}, {fd(0)}),
                        select(nop(), 0, 2, 4),
                        operation(Operation::move, {rd(0)}, {fd(0)}),
                        nop(Branch::halt)};
    Program moves_last = moves;
    moves_last[3] = select(nop(), 1, 2, 4);
    const auto tail = [&](Program program, Instruction last, uint32_t signal) {
        program.insert(program.end(), {nop(), shift(fd(0)), mask, select(shift(fd(0)), signal, 2, 4), mask, last, mask,
                                       nop(Branch::halt)});
        return program;
    };
    Config config;
    config.initiation_interval = 2;
    config.rows = 1;
    config.columns = 3;
    config.extents = {6};
    config.controller = {false, false, 0, 0, 12, 7, {box(4, 4), box(2, 2)}};
    config.classes = {{{moves, tail({}, shift(io(0)), 0)}, {1}, {1}}, {{moves_last, tail({}, nop(), 1)}, {1}, {1}}};
    config.classes[1].programs[1][5] = nop();
    config.element_class = {0, 0, 1};
    const Port pe0{Location::pe, 0}, west{Location::west, 0}, east{Location::east, 0};
    config.wrappers = {{{east, pe0}}, {{east, pe0}, {pe0, west}}, {{pe0, west}}};
    config.wrapper = {0, 1, 2};
    config.arrays = {{"in", 2, {}, {}, false}, {"bits", 2, {16}, {1}, true}};
    config.generators.push_back({Location::west, 0, 0, 0, 0, 0, 0, {0}, 0, box(0, 0)});
    for (uint32_t k = 0; k < 3; ++k)
        config.generators.push_back(
            {Location::north, 1, k, 0, 0, 1, 6 * int64_t(k), {1}, 12 * int64_t(k) + 3, box(0, k < 2 ? 5 : 3)});
    return config;
}

static const uint32_t given = 0xA5C3;

static std::vector<Result> simulate(const Config& config, const Machine& with = machine(), Options options = {},
                                    int copies = 1) {
    check(config);
    std::vector<Placement> placements;
    for (int n = 0; n < copies; ++n) {
        Placement placement{&config, n, 0, {}};
        for (const Array& array : config.arrays)
            placement.inputs.push_back({reinterpret_cast<const uint8_t*>(&given), array.is_output ? 0u : 4u});
        placements.push_back(placement);
    }
    return run(placements, with, options);
}

static uint32_t output(const Result& result, uint32_t n, size_t array = 1) {
    uint32_t value;
    std::memcpy(&value, &result.outputs[array][4 * n], sizeof value);
    return value;
}

static void test_bits() {
    const Result result = std::move(simulate(bits())[0]);
    for (uint32_t n = 0; n < 16; ++n) expect(output(result, n) == (given >> n & 1), "bit " + std::to_string(n));
    expect(result.cycles == 34, "cycles of bits are " + std::to_string(result.cycles));
    expect(result.operations == 16 * 3 - 1, "operations of bits are " + std::to_string(result.operations));
    expect(result.feedback_high[0][0] == 1 && result.input_high[0][0] == 1, "occupancy of bits");
}

static void test_together() {
    const auto results = simulate(bits(), machine(), {}, 3);
    expect(results.size() == 3 && results[2].cycles == 34 && output(results[2], 0) == (given & 1),
           "three copies run as one does");
}

static void test_trace() {
    const Result result = std::move(simulate(bits(), machine(), {true, false})[0]);
    expect(result.trace.cycle.size() == size_t(result.operations), "one trace row an operation");
    expect(result.trace.cycle[0] == 0 && result.trace.value[0] == given && result.trace.element[0] == 0,
           "the first operation reads the input");
}

static void test_static() {
    const Report report = simulate(bits(), machine(), {false, true})[0].report;
    expect(report.steps == 7, "steps that bits needs");
    expect(report.late.empty() && report.unread.empty() && report.idle.empty() && report.wasted.empty(),
           "nothing of bits is unused");
    expect(report.coverage[0][1][3].codes == std::vector<uint8_t>{1, 1}, "both codes of the branch occur");
    expect(report.coverage[0][1][3].equals[0] == std::vector<uint64_t>{1}, "signal 0 alone decides that branch");
    for (const auto& units : report.coverage)
        for (const auto& unit : units)
            for (const Coverage& c : unit) expect(c.executed, "every instruction of bits is executed");
}

static void test_kinds() {
    const Config config = bits();
    const Result each = std::move(simulate(config, machine(), {false, true})[0]);
    const auto once = run_kinds(config, machine());
    expect(once.has_value(), "one element per class tells that bits is right");
    if (!once) return;
    expect(once->feedback_high == each.feedback_high && once->input_high == each.input_high, "occupancy by kinds");
    expect(once->report.steps == each.report.steps && once->report.shortest == each.report.shortest, "steps by kinds");
    for (size_t unit = 0; unit < 2; ++unit)
        for (size_t pc = 0; pc < config.classes[0].programs[unit].size(); ++pc) {
            const Coverage &a = once->report.coverage[0][unit][pc], &b = each.report.coverage[0][unit][pc];
            expect(a.executed == b.executed && a.driven == b.driven && a.codes == b.codes && a.equals == b.equals,
                   "coverage by kinds");
        }
}

// Every fault of the run by elements that does not depend on data, and nothing else, is noticed by kinds.
static void expect_noticed(const Config& config, const Machine& with, const std::string& what) {
    bool faulty = false;
    try {
        const Report report = simulate(config, with, {false, true})[0].report;
        faulty = !report.late.empty() || !report.unread.empty() || !report.idle.empty();
    } catch (const Fault&) {
        faulty = true;
    }
    expect(run_kinds(config, with).has_value() != faulty, what + ", by kinds");
}

static void faults(Cause cause, const std::string& what, const std::function<void(Config&, Machine&)>& change,
                   Options options = {}) {
    Config config = bits();
    Machine with = machine();
    change(config, with);
    expect_noticed(config, with, what);
    try {
        simulate(config, with, options);
        expect(false, what + ": no fault");
    } catch (const Fault& fault) {
        expect(fault.cause == cause, what + ": fault " + std::to_string(int(fault.cause)) + " " + fault.text +
                                         " in cycle " + std::to_string(fault.cycle));
    }
}

static Program& alu(Config& config, size_t unit) { return config.classes[0].programs[unit]; }

static void test_faults() {
    faults(Cause::overflow, "depth 0", [](Config& c, Machine&) { c.classes[0].feedback_depths = {0}; });
    faults(Cause::underflow, "late token", [](Config& c, Machine&) { c.generators[0].delay = 1; });
    faults(Cause::underflow, "popped too early", [](Config&, Machine& m) { m.units[1] = generic(2); });
    faults(Cause::two_pops, "two readers",
           [](Config& c, Machine&) { alu(c, 1)[2] = operation(Operation::bit_and, {io(1)}, {fd(0), number(1)}); });
    faults(Cause::undriven, "no wire", [](Config& c, Machine&) { c.wrapper[1] = 0; });
    faults(Cause::undefined, "rd1", [](Config& c, Machine&) { alu(c, 1)[1].sources[0] = rd(1); });
    faults(Cause::double_write, "rd0 twice", [](Config& c, Machine&) { alu(c, 1)[2].destinations.push_back(rd(0)); });
    faults(Cause::double_write, "od0 twice", [](Config& c, Machine&) { alu(c, 0)[2].destinations = {rd(0), io(1)}; });
    faults(Cause::double_write, "one element twice", [](Config& c, Machine&) { c.generators[1].coefficients = {0}; });
    faults(Cause::bank_conflict, "two banks in one",
           [](Config& c, Machine&) { c.generators.push_back(c.generators[0]); });
    faults(Cause::busy, "blocking", [](Config& c, Machine& m) {
        m.units[1].pipelined = false;
        m.units[1].latency[i32(Operation::bit_and)] = 2;
        for (Generator& g : c.generators) g.delay += g.side == Location::north;
    });
    faults(Cause::no_operation, "no shifter", [](Config&, Machine& m) { m.units[1].latency[i32(Operation::shr)] = 0; });
    faults(Cause::division_by_zero, "by zero",
           [](Config& c, Machine&) { alu(c, 1)[1] = operation(Operation::div, {fd(0)}, {rd(0), number(0)}); });
    faults(Cause::stray_token, "a step short", [](Config& c, Machine&) { c.generators[3].domain = box(0, 2); });
    faults(Cause::missing_token, "a step long", [](Config& c, Machine&) {
        c.generators[3].domain = box(0, 4);
        c.arrays[1].shape = {20};
    });
    faults(Cause::leftover, "never read", [](Config& c, Machine&) {
        alu(c, 1)[0] = operation(Operation::move, {fd(1)}, {number(1)});
        c.classes[0].feedback_depths = {1, 1};
    });
    faults(Cause::outside_program, "past the end", [](Config& c, Machine&) { alu(c, 0)[5] = nop(); });
    faults(Cause::runaway, "for ever", [](Config& c, Machine&) { alu(c, 0)[5] = nop(Branch::jump, 5); });
    faults(Cause::address, "outside bits", [](Config& c, Machine&) { c.arrays[1].shape = {15}; });
    faults(Cause::overlap, "sets share a step", [](Config& c, Machine&) {
        c.generators[1].domain = std::make_shared<const Domain>(2, c.generators[1].domain->front());
    });
    faults(Cause::type, "i16 for i32", [](Config& c, Machine&) { c.arrays[0].type = 1; }, {false, true});
}

static void test_unbounded_push() {
    Config config = bits();
    config.controller.steps = 100000;
    config.classes[0].programs[1] = {operation(Operation::move, {fd(0)}, {number(1)}, Branch::jump, 0)};
    try {
        simulate(config);
        expect(false, "a FIFO that is never read overflows");
    } catch (const Fault& fault) {
        expect(fault.cause == Cause::overflow && fault.cycle < 20,
               "overflow is found soon, not in cycle " + std::to_string(fault.cycle));
    }
}

// One element, three units of latencies 1, 2 and 5, eight steps of one cycle; `programs` may write od0, which a bank
// takes.
static Config lone(std::vector<Program> programs, Shared taken, int64_t delay, std::vector<int64_t> depths = {}) {
    Config config;
    config.rows = config.columns = 1;
    config.extents = {8};
    config.controller.steps = 8;
    config.classes = {{std::move(programs), std::move(depths), {}}};
    config.element_class = {0};
    config.wrappers = {{}};
    config.wrapper = {0};
    config.arrays = {{"y", 2, {8}, {1}, true}};
    config.generators = {{Location::east, 0, 0, 0, 0, 0, 0, {1}, delay, std::move(taken)}};
    return config;
}

static Machine uneven() { return {{generic(1), generic(2), generic(5)}, 0}; }

static Instruction move(Operand to, Operand from, Branch branch = Branch::next) {
    return operation(Operation::move, {to}, {from}, branch);
}

static void test_order_of_readiness() {
    // Tokens leave in the order in which they became ready: 10 (issued in 0, ready in 5) after 20 (issued in 1, ready
    // in 3).
    const Program late{move(fd(0), number(10), Branch::halt)}, early{nop(), move(fd(0), number(20), Branch::halt)};
    const Program reader{nop(), nop(), nop(), nop(), nop(), move(io(0), fd(0)), move(io(0), fd(0), Branch::halt)};
    Result result = std::move(simulate(lone({reader, early, late}, box(5, 6), 1, {2}), uneven())[0]);
    expect(output(result, 5, 0) == 20 && output(result, 6, 0) == 10, "tokens in order of readiness");
    expect(result.feedback_high[0][0] == 2, "a token occupies its place from its ready cycle on");
    // A register shows each write from its ready cycle on: 20 in 3 and 4, 10 from 5 on.
    const Program slow{move(rd(0), number(10), Branch::halt)}, quick{nop(), move(rd(0), number(20), Branch::halt)};
    const Program watch{nop(), nop(), nop(), move(io(0), rd(0)), move(io(0), rd(0)), move(io(0), rd(0), Branch::halt)};
    result = std::move(simulate(lone({watch, quick, slow}, box(3, 5), 1), uneven())[0]);
    expect(output(result, 3, 0) == 20 && output(result, 4, 0) == 20 && output(result, 5, 0) == 10,
           "writes in order of readiness");
}

static void test_equal_readiness() {
    const auto meets = [](Operand to) {
        const Program slow{move(to, number(1), Branch::halt)},
            quick{nop(), nop(), nop(), move(to, number(2), Branch::halt)};
        try {
            simulate(lone({{}, quick, slow}, box(0, 0), 5, {2}), uneven());
            return false;
        } catch (const Fault& fault) {
            return fault.cause == Cause::double_write && fault.cycle == 5;
        }
    };
    expect(meets(rd(0)) && meets(fd(0)) && meets(io(0)),
           "two writes with one ready cycle fault, whatever their latencies");
}

static void test_hops() {
    Config config = bits();
    Machine with = machine();
    with.hop_delay = 3;
    try {
        simulate(config, with);
        expect(false, "a hop takes time");
    } catch (const Fault& fault) {
        expect(fault.cause == Cause::underflow && fault.cycle == 12 && fault.column == 1,
               "the neighbour's value comes too late");
    }
    config.controller.column_delay = 15;
    for (Generator& g : config.generators)
        if (g.side == Location::north) g.delay += 3 * g.position;
    const Result result = std::move(simulate(config, with)[0]);
    expect(result.cycles == 40 && output(result, 15) == (given >> 15 & 1), "a later wavefront makes up for hops");
}

static void test_operations() {
    const auto f = [](float v) { return word(v); };
    const auto d = [](double v) { return word(v); };
    const auto i = [](int32_t v) { return word(v); };
    const auto code = opcode_of;
    expect(execute(code(Operation::add, Type::i8), 127, 1, 0) == i(-128), "i8 addition wraps");
    expect(execute(code(Operation::div, Type::i32), i(INT32_MIN), i(-1), 0) == i(INT32_MIN),
           "the smallest number divided by -1 wraps");
    expect(execute(code(Operation::div, Type::i32), i(-7), 2, 0) == i(-3), "division truncates");
    expect(execute(code(Operation::rem, Type::i32), i(-7), 2, 0) == i(-1), "a remainder has the sign of the dividend");
    expect(execute(code(Operation::floordiv, Type::i32), i(-7), 2, 0) == i(-4), "a floored quotient is rounded down");
    expect(execute(code(Operation::mod, Type::i32), 7, i(-2), 0) == i(-1), "a modulus has the sign of the divisor");
    expect(execute(code(Operation::mod, Type::i32), i(INT32_MIN), i(-1), 0) == 0, "the smallest number modulo -1 is 0");
    expect(execute(code(Operation::floordiv, Type::i8), i(-128), i(-1), 0) == i(-128),
           "the smallest number divided by -1 wraps");
    expect(execute(code(Operation::shl, Type::i16), 1, 17, 0) == 2, "shift amounts count modulo the width");
    expect(execute(code(Operation::shr, Type::i8), i(-128), 1, 0) == i(-64), "shr is arithmetic");
    expect(execute(code(Operation::shr, Type::u8), 128, 1, 0) == 64, "shr of an unsigned number is logical");
    expect(execute(code(Operation::div, Type::u32), 0xffffffffu, 2, 0) == 0x7fffffffu, "u32 divides without a sign");
    expect(execute(code(Operation::lt, Type::u32), 1, 0xffffffffu, 0) == 1, "u32 compares without a sign");
    expect(execute(code(Operation::sub, Type::u16), 0, 1, 0) == 0xffff, "u16 wraps");
    expect(execute(code(Operation::abs, Type::i32), i(INT32_MIN), 0, 0) == i(INT32_MIN),
           "abs of the smallest number wraps");
    expect(execute(code(Operation::min, Type::f32), f(NAN), f(1), 0) == f(1),
           "min returns the operand that is a number");
    expect(execute(code(Operation::min, Type::f32), f(-0.0f), f(0.0f), 0) == f(-0.0f),
           "min returns the first operand of a tie");
    expect(execute(code(Operation::max, Type::f32), f(-0.0f), f(0.0f), 0) == f(-0.0f),
           "max returns the first operand of a tie");
    expect(execute(code(Operation::madd, Type::f32), f(1 + 0x1p-12f), f(1 - 0x1p-12f), f(-1)) == f(-0x1p-24f),
           "multiply-add rounds once");
    expect(execute(code(Operation::madd, Type::f64), d(1 + 0x1p-30), d(1 - 0x1p-30), d(-1)) == d(-0x1p-60),
           "multiply-add of doubles rounds once");
    expect(execute(code(Operation::to_i32, Type::f32), f(3e9f), 0, 0) == i(INT32_MAX), "to_i32 saturates");
    expect(execute(code(Operation::to_u8, Type::f32), f(3e9f), 0, 0) == 255, "to_u8 saturates");
    expect(execute(code(Operation::to_i8, Type::f32), f(-129), 0, 0) == i(-128), "to_i8 saturates");
    expect(execute(code(Operation::to_u32, Type::f32), f(NAN), 0, 0) == 0, "a NaN becomes 0");
    expect(execute(code(Operation::round_i32, Type::f64), d(2.5), 0, 0) == 2, "round_i32 rounds ties to even");
    expect(execute(code(Operation::bits_i32, Type::f32), f(-0.0f), 0, 0) == i(INT32_MIN), "bits_i32 keeps the bits");
    expect(!valid_opcode(code(Operation::sqrt, Type::i32)) && !valid_opcode(code(Operation::bit_and, Type::f32)) &&
               !valid_opcode(code(Operation::mod, Type::f32)) && !valid_opcode(code(Operation::add, Type::boolean)) &&
               !valid_opcode(code(Operation::to_u8, Type::u8)) && !valid_opcode(code(Operation::to_f16, Type::f32)),
           "types an operation lacks");
}

int main() {
    test_operations();
    test_bits();
    test_together();
    test_trace();
    test_static();
    test_kinds();
    test_faults();
    test_unbounded_push();
    test_order_of_readiness();
    test_equal_readiness();
    test_hops();
    std::printf(failures ? "%d failures\n" : "all passed\n", failures);
    return failures != 0;
}
