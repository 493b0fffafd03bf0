// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry: whatever the bytes are, the loader refuses them or the model runs them, with data and without, and
// ends in a result or in a fault. An input is a concrete configuration; its checksums are repaired. Runs are stopped
// after some cycles.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tcpa/model.hpp"
#include "tcpa/operations.hpp"

using namespace polyloom::tcpa;

namespace {

constexpr uint64_t most_bytes = uint64_t(1) << 26;
constexpr int64_t most_cycles = 1 << 14;
constexpr size_t header = 32, sections = 7;

struct Enough {};

uint32_t word(const std::vector<uint8_t>& bytes, size_t at) {
    uint32_t value;
    std::memcpy(&value, bytes.data() + at, 4);
    return value;
}

// The checksum of docs/formats.md, so that altered files get past it.
void store_sum(std::vector<uint8_t>& bytes, size_t from, size_t at) {
    uint64_t a = 0, b = 0;
    for (size_t i = from; i + 4 <= bytes.size(); i += 4) {
        a = (a + word(bytes, i)) % 0xFFFFFFFF;
        b = (b + a) % 0xFFFFFFFF;
    }
    const uint64_t sum = b << 32 | a;
    std::memcpy(bytes.data() + at, &sum, 8);
}

void repair(std::vector<uint8_t>& bytes) {
    if (bytes.size() < header + 4 * sections || bytes.size() % 4) return;
    const size_t names = (size_t(word(bytes, header + 4 * (sections - 2))) + 3) / 4 * 4;
    store_sum(bytes, std::min(names, bytes.size()), 24);
    store_sum(bytes, 16, 8);
}

Machine machine(size_t units) {
    Machine made;
    made.hop_delay = 1;
    made.units.resize(units);
    for (size_t u = 0; u < units; ++u) {
        std::fill(made.units[u].latency.begin(), made.units[u].latency.end(), uint16_t(1 + u % 3));
        made.units[u].pipelined = u % 4 != 3;
    }
    return made;
}

void simulate(const Config& config, bool trace, bool check_only) {
    size_t units = 0;
    for (const ElementProgram& e : config.classes) units = std::max(units, e.programs.size());
    std::vector<std::vector<uint8_t>> given;
    Placement placement{&config, 0, 0, {}};
    for (const Array& array : config.arrays) {
        const bool is_read = !array.is_output && !check_only;
        given.emplace_back(is_read ? words_of(array) * bytes_of(Type(array.type)) : 0, 1);
    }
    for (const auto& bytes : given) placement.inputs.emplace_back(bytes);
    try {
        run({&placement, 1}, machine(units), {trace, check_only, [](int64_t cycle) {
                                                  if (cycle > most_cycles) throw Enough{};
                                              }});
    } catch (const Fault&) {
    } catch (const Enough&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::vector<uint8_t> bytes(data, data + size);
    repair(bytes);
    try {
        const Config config = load(bytes, most_bytes);
        uint64_t needed = run_bytes(config, false);
        for (size_t a = 0; a < config.arrays.size() && needed <= most_bytes; ++a)
            needed += 8 * std::min(words_of(config.arrays[a]), most_bytes);
        if (needed > most_bytes || most_operations(config) > most_bytes) return 0;
        simulate(config, false, true);
        simulate(config, true, false);
    } catch (const FormatError&) {
    } catch (const TooLarge&) {}
    return 0;
}
