// SPDX-License-Identifier: Apache-2.0
// Any words on any state of the vector unit, of both members, with and without latencies: each executes or faults by
// name, what is constant stays, and the multiplier gives the same where its short way applies and beside operands where
// it does not.
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <memory>
#include <random>

#include "tensix/vector.hpp"
#include "tensix/vector_multiply.hpp"
#include "tensix/vector_word.hpp"

using namespace polyloom::tensix;

namespace {

std::mt19937 any(17);

void scramble(State& state, Member member) {
    state.member = member;
    vector::reset(state.vector);
    for (int k = 0; k < 8; ++k)
        for (uint32_t& lane : state.vector.registers[size_t(k)]) lane = any() >> any() % 32;
    for (auto& row : state.matrix.dst)
        for (uint16_t& datum : row) datum = uint16_t(any());
    for (bool& valid : state.matrix.valid) valid = any() % 8;
    for (uint32_t& word : state.config.thread[0]) word = any() & 0xFFFF;
    state.config.thread[0][0] = 0;
    for (uint32_t& word : state.config.banks[0]) word = any();
    state.vector.flags = {uint32_t(any()), any() % 2 ? 0xFFFFFFFFu : uint32_t(any())};
    if (any() % 4 == 0) state.vector.lane_config.fill(any() & 0xFFFF);
    for (uint32_t& word : state.vector.templates) word = (0x70 + any() % 0x2A) << 24 | (any() & 0xFFFFFF);
    for (uint32_t& word : state.vector.sequences) word = any();
    state.vector.miscellaneous = any() & 0xFFF;
}

void any_words(State& state, bool timed) {
    std::vector<Finding> findings;
    std::vector<Pending> pending;
    vector::Schedule schedule;
    Context context;
    context.findings = &findings;
    if (timed) context.pending = &pending, context.schedule = &schedule;
    for (int k = 0; k < 200; ++k, ++context.cycle) {
        const Word word = (0x6F + any() % 0x2C) << 24 | (any() & 0xFFFFFF);
        try {
            for (const Pending& write : pending)
                if (write.due <= context.cycle) vector::commit(state.vector, write);
            std::erase_if(pending, [&](const Pending& write) { return write.due <= context.cycle; });
            if (timed) vector::advance(state, context);
            (void)vector::timing(state, word, 0);
            vector::execute(state, word, 0, context);
        } catch (const Fault& fault) {
            assert(!fault.finding.kind.empty());
        }
    }
    VectorState fresh;
    vector::reset(fresh);
    for (const size_t constant : {8, 9, 10, 15}) assert(state.vector.registers[constant] == fresh.registers[constant]);
    assert(state.vector.depth >= 0 && state.vector.depth <= 8);
}

void ordinary_operands_beside_special_ones() {
    for (const Member member : {Member::Wormhole, Member::Blackhole}) {
        for (int round = 0; round < 2000; ++round) {
            Lanes x, y, z, alone, beside;
            const auto near = [] { return (any() & 0x807FFFFF) | (110 + any() % 40) << 23; };
            for (int k = 0; k < LANES; ++k) x[k] = near(), y[k] = near(), z[k] = near();
            vector::multiply_add(member, x, y, z, alone);
            for (int k = 0; k < LANES; k += 4) x[k] = 0x7F800000;
            vector::multiply_add(member, x, y, z, beside);
            for (int k = 0; k < LANES; ++k) assert(k % 4 == 0 || alone[k] == beside[k]);
        }
    }
}

// What a word was taken apart into holds in any other state, and when other words have had its places meanwhile.
void words_met_again(State& state, Member member) {
    vector::Words words;
    std::vector<Word> known(3000);
    for (Word& word : known) word = (0x70 + any() % 0x2A) << 24 | (any() & 0xFFFFFF);
    for (int k = 0; k < 20000; ++k) {
        if (k % 500 == 0) scramble(state, member);
        const Word word = known[any() % known.size()];
        const vector::Prepared& found = words.of(state, word);
        const vector::Operation op = vector::decoded(word, member);
        assert(found.word == word && found.op.code == op.code && found.op.immediate == op.immediate);
        assert(found.op.va == op.va && found.op.vb == op.vb && found.op.vc == op.vc && found.op.vd == op.vd);
        const Timing made = vector::timing(state, found, 0), wanted = vector::timing(state, word, 0);
        assert(made.busy == wanted.busy && made.latency == wanted.latency && made.interlocked == wanted.interlocked);
        assert(made.reads == wanted.reads && made.writes == wanted.writes && made.shuffles == wanted.shuffles);
        assert(made.dst_reads.first == wanted.dst_reads.first && made.dst_reads.count == wanted.dst_reads.count);
        assert(made.dst_writes.first == wanted.dst_writes.first && made.dst_writes.count == wanted.dst_writes.count);
    }
}

}  // namespace

int main() {
    const auto state = std::make_unique<State>();
    for (int round = 0; round < 600; ++round) {
        scramble(*state, round & 1 ? Member::Blackhole : Member::Wormhole);
        any_words(*state, round & 2);
    }
    words_met_again(*state, Member::Wormhole);
    words_met_again(*state, Member::Blackhole);
    ordinary_operands_beside_special_ones();
}
