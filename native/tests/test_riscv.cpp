// SPDX-License-Identifier: Apache-2.0
// The interpreter without Python: programs as words, a custom instruction, code that changes, and traps, under the
// sanitizers.
#include <cstdio>
#include <string>

#include "riscv/execute.hpp"
#include "riscv/executions.hpp"
#include "riscv/float.hpp"
#include "riscv/search.hpp"
#include "tests/expect.hpp"

using namespace polyloom::riscv;

static constexpr uint32_t ALL = 0x3ff, ADDI_A0_1 = 0x00150513, RET = 0x00008067;
static constexpr uint64_t BASE = 0x1000, SIZE = 0x1000;

static void load(Block& memory, const std::vector<uint32_t>& words) {
    std::memcpy(memory.bytes.get(), words.data(), 4 * words.size());
}

template <class P>
static Answer triple(Hart<P>& h, const Decoded<P>& d) {
    h.x[d.rd] = 3 * h.x[d.rs1] + h.x[d.rs2];
    return DONE;
}

// A hart of the package on code at the start of its memory.
template <class P>
struct Program {
    using X = typename P::X;
    Program(const std::vector<uint32_t>& words, X size, uint64_t length = SIZE)
        : memory(BASE, length), code(ALL, X(BASE), size, memory.bytes.get()), hart(code, memory) {
        load(memory, words);
    }
    Block memory;
    Code<P> code;
    Hart<P> hart;
};

template <class P>
static void a_custom_instruction() {
    using X = typename P::X;
    // custom-0 with rd = a0, then with rd = x0; rs1 = a0, rs2 = a1
    Program<P> on({ADDI_A0_1, 0x00b5050b, 0x00b5000b, RET}, 16);
    on.code.custom.push_back({0x0000000b, 0xfe00707f, custom_step<P, triple<P>>});
    on.hart.x[1] = 0x10;
    on.hart.x[11] = 5;
    const Outcome done = on.hart.run(X(BASE), 0x10, 100);
    expect(done.cause == Cause::stop && done.executed == 4, "a custom instruction runs between others");
    expect(on.hart.x[10] == 8 && on.hart.x[0] == 0, "it computes, and writes nothing to x0");
}

static void without_it_the_word_is_illegal() {
    Program<Plain64> on({ADDI_A0_1, 0x00b5050b}, 8);
    const Outcome done = on.hart.run(BASE, 0, 100);
    expect(done.cause == Cause::illegal && done.pc == BASE + 4 && done.word == 0x00b5050b && done.executed == 1,
           "an unknown word is told with its address");
}

static void the_end_of_the_code() {
    Program<Plain64> whole({ADDI_A0_1, ADDI_A0_1}, 8), half({ADDI_A0_1, ADDI_A0_1}, 6);
    const Outcome ended = whole.hart.run(BASE, 0, 100), cut = half.hart.run(BASE, 0, 100);
    expect(ended.cause == Cause::fetch && ended.executed == 2, "code that runs over its end");
    expect(cut.cause == Cause::fetch && cut.pc == BASE + 4 && cut.executed == 1, "half an instruction at the end");
}

static void the_edges_of_memory() {
    constexpr uint32_t LOAD = 0x0005b503;  // ld a0, 0(a1)
    for (const auto& [address, cause] : {std::pair{BASE + SIZE - 8, Cause::stop},
                                         {BASE + SIZE, Cause::load},
                                         {BASE + SIZE - 4, Cause::load},
                                         {BASE - 8, Cause::load},
                                         {~uint64_t(7), Cause::load},
                                         {BASE + 4, Cause::misaligned}}) {
        Program<Plain64> on({LOAD, RET}, 8);
        on.hart.x[1] = 0x10;
        on.hart.x[11] = address;
        const Outcome done = on.hart.run(BASE, 0x10, 100);
        expect(done.cause == cause && (cause == Cause::stop || done.value == address), "a load at an edge");
    }
}

// Every operation on edges in every mode: nothing is asserted but what the sanitizers see, and that results are exact
// where they must be.
template <class F>
static void arithmetic_on_edges() {
    using Bits = typename F::Bits;
    std::vector<Bits> edges{0,
                            1,
                            F::HIDDEN - 1,
                            F::HIDDEN,
                            F::INFINITE - 1,
                            F::INFINITE,
                            F::INFINITE + 1,
                            F::NAN_BITS,
                            Bits(F::GREATEST) << (F::PRECISION - 1),
                            0x5bd1e995};
    for (size_t n = 0, count = edges.size(); n < count; ++n) edges.push_back(edges[n] | F::SIGN);
    uint8_t flags = 0;
    for (int mode = RNE; mode <= RMM; ++mode)
        for (Bits a : edges) {
            to_integer<int32_t, F>(a, mode, flags);
            to_integer<uint64_t, F>(a, mode, flags);
            convert<Single, F>(a, mode, flags);
            convert<Double, F>(a, mode, flags);
            from_integer<F>(int64_t(a), mode, flags);
            sqrt<F>(a, mode, flags);
            for (Bits b : edges) {
                expect(add<F>(a, b, mode, flags) == add<F>(b, a, mode, flags), "a sum commutes");
                expect(mul<F>(a, b, mode, flags) == mul<F>(b, a, mode, flags), "a product commutes");
                div<F>(a, b, mode, flags);
                for (Bits c : edges) fma<F>(a, b, c, mode, flags);
            }
        }
}

static void a_search() {
    std::vector<std::vector<uint64_t>> inputs(2, std::vector<uint64_t>(SAMPLES));
    std::vector<uint64_t> target(SAMPLES);
    uint64_t state = 1;
    for (size_t n = 0; n < SAMPLES; ++n) {
        for (auto& input : inputs) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            input[n] = state ^ state >> 33;
        }
        target[n] = inputs[0][n] & ~inputs[1][n];
    }
    const std::vector<Step> allowed{Step::AND, Step::NOT, Step::XOR, Step::SUB};
    expect(search(inputs, target, allowed, 1, 10).empty(), "one instruction does not suffice");
    expect(search(inputs, target, allowed, 2, 10).size() == 4,
           "a & ~b is a & not b, a & (a ^ b), a ^ (a & b), a - (a & b)");
}

// Two harts: each stores to a location and loads the other.
static void executions_of_store_buffering() {
    const std::vector<Location> locations{{0, 0, false}, {0, 1, false}};
    std::vector<Event> events;
    for (uint8_t hart = 0; hart < 2; hart++) {
        events.push_back({0, 0, 0, ~0ull, -1, hart, hart, 1, true, false, -1});
        events.push_back({0, 0, 0, ~0ull, -1, hart, uint8_t(1 - hart), 0, false, false, int8_t(2 + hart)});
    }
    uint64_t steps = 1000;
    expect(executions(events, locations, 100, steps)->size() == 4, "loads may come before stores");
    events[1].before = 1, events[3].before = 4;
    expect(executions(events, locations, 100, steps)->size() == 3, "behind fences both loads do not read 0");
    expect(!executions(events, locations, 1, steps), "there are more ways");
    steps = 2;
    expect(!executions(events, locations, 100, steps), "two steps do not suffice");
}

int main() {
    executions_of_store_buffering();
    arithmetic_on_edges<Single>();
    arithmetic_on_edges<Double>();
    a_search();
    a_custom_instruction<Plain32>();
    a_custom_instruction<Plain64>();
    without_it_the_word_is_illegal();
    the_end_of_the_code();
    the_edges_of_memory();
    if (!failures) std::printf("ok\n");
    return failures != 0;
}
