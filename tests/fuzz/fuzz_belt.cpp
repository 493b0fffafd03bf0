// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry: whatever the words are, the reader refuses them or the belt machine's model runs them, and ends in
// results, in a fault, or after its bundles. An input is a byte that chooses the member, then code.
#include <cstdint>
#include <vector>

#include "belt/model.hpp"

using namespace polyloom::belt;

namespace {

constexpr uint64_t most_cycles = 1 << 12;
constexpr size_t most_events = 1 << 8;

Member member(uint8_t choice) {
    const bool phasing = choice & 1;
    Member made{choice & 2 ? 32u : 8u, 128, phasing, 1, 36, choice & 4 ? 32u : 4u, 512, {}};
    for (unsigned n = 0; n < op_count; ++n) {
        const uint8_t slow = uint8_t(1 + n % 5);
        const bool computes = rows[n].phase == Phase::C && !loads(Op(n));
        using Latencies = std::array<uint8_t, widths>;
        made.latencies.push_back(computes ? Latencies{1, 1, slow, slow, 5} : Latencies{});
    }
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (!size) return 0;
    std::vector<uint8_t> array(256, 3), constant(64, 1);
    try {
        const Program program = decode(member(data[0]), {data + 1, (size - 1) / 8 * 8});
        Options options;
        options.most_cycles = most_cycles;
        options.most_events = most_events;
        // The last one is copied where it is stored to.
        Model model(program,
                    Memory({{1 << 16, 256, array.data(), array.data(), true},
                            {1 << 17, 64, constant.data(), nullptr, false},
                            {1 << 18, 64, constant.data(), nullptr, true}}),
                    options);
        std::vector<Value> arguments;
        for (const Kind& kind : program.routines[0].parameters) {
            Value& value = arguments.emplace_back();
            value.shape(kind.width, kind.lanes_log);
            for (unsigned k = 0; k < value.lanes(); ++k) value.put(k, 1 << 16);
        }
        model.run(arguments);
    } catch (const Malformed&) {
    } catch (const Faulted&) {}
    return 0;
}
