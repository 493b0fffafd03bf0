// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

#include <algorithm>

namespace polyloom::minion {

namespace {

bool same_place(const Finding& a, const Finding& b) {
    if (a.kind == Hazard::tensor_error && a.value != b.value) return false;  // two bits of one instruction
    return a.kind == b.kind && a.later.pc == b.later.pc && a.earlier.pc == b.earlier.pc && a.wait == b.wait;
}

uint64_t hash(const Finding& f) {
    uint64_t h = uint64_t(f.kind) * 0x9e3779b97f4a7c15 + uint64_t(f.wait);
    h = (h ^ f.later.pc) * 0xbf58476d1ce4e5b9;
    return (h ^ h >> 29 ^ f.earlier.pc) * 0x94d049bb133111eb;
}

}  // namespace

uint32_t Findings::keep(Finding finding) {
    if (policy == Response::error && !goes_on(finding.kind)) stop = true;
    std::vector<uint32_t>& candidates = places[hash(finding)];
    const auto known = std::find_if(candidates.begin(), candidates.end(),
                                    [&](uint32_t number) { return same_place(list[number], finding); });
    if (known != candidates.end()) {
        ++list[*known].count;
        return *known;
    }
    candidates.push_back(uint32_t(list.size()));
    list.push_back(std::move(finding));
    return candidates.back();
}

}  // namespace polyloom::minion
