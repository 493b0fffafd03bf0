// SPDX-License-Identifier: Apache-2.0
// Compares the circuits of one format with the host's arithmetic: `sweep NAME COUNT SEED`, where COUNT is 0 for all
// operands, prints how many were compared, how many differ, seconds of CPU, and the first difference.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "operands.h"

namespace {

struct Tally {
    uint64_t compared = 0, differences = 0;
    uint32_t operands[3] = {}, circuit = 0, host = 0;
};

void compare(const Block* blocks, const Block& circuit, const Block& host, Tally& tally) {
    tally.compared += COUNT;
    if (!std::memcmp(circuit.words, host.words, sizeof(Block))) return;
    for (int n = 0; n < COUNT; ++n) {
        if (circuit.words[n] == host.words[n]) continue;
        if (tally.differences++) continue;
        for (int operand = 0; operand < 3; ++operand) tally.operands[operand] = blocks[operand].words[n];
        tally.circuit = circuit.words[n];
        tally.host = host.words[n];
    }
}

bool sweep(const Operation& operation, uint64_t count, uint32_t seed, Tally& tally) {
    Block blocks[3] = {}, circuit, host;
    Slice slices[3][32] = {}, results[32];
    // Integers have 32 bits in every format.
    const int places = operation.number == 33 ? 32 : PLACES;
    const uint64_t end = count ? count : 1ull << places * operation.operands;
    for (uint64_t first = 0; first < end; first += COUNT) {
        if (count) {
            random_operands(seed, first, operation.operands, blocks);
            for (int operand = 0; operand < operation.operands; ++operand) slices_of(blocks[operand], slices[operand]);
        } else {
            count_operands(first, operation.operands, places, blocks, slices);
        }
        if (!reference(operation.number, operation.is_signed, blocks[0].words, blocks[1].words, blocks[2].words, host.words))
            return false;
        operation.circuit(slices[0], slices[1], slices[2], results);
        transpose(reinterpret_cast<Lanes*>(results));
        std::memcpy(circuit.words, results, sizeof(Block));
        compare(blocks, circuit, host, tally);
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    for (int n = 0; n < operation_count; ++n) {
        if (std::strcmp(operations[n].name, argv[1])) continue;
        Tally tally;
        const std::clock_t begin = std::clock();
        if (!sweep(operations[n], std::strtoull(argv[2], nullptr, 10), std::strtoul(argv[3], nullptr, 10), tally)) return 2;
        std::printf("%llu %llu %.1f", static_cast<unsigned long long>(tally.compared),
                    static_cast<unsigned long long>(tally.differences), double(std::clock() - begin) / CLOCKS_PER_SEC);
        if (tally.differences)
            std::printf(" %x %x %x: %x, the host %x", tally.operands[0], tally.operands[1], tally.operands[2], tally.circuit,
                        tally.host);
        std::puts("");
        return 0;
    }
    return 2;
}
