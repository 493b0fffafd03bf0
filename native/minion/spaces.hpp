// SPDX-License-Identifier: Apache-2.0
// Code in every address space, for all harts of a chip, and where a hart goes on. `settle` looks at what traps and
// control registers have done to privilege and translation, and gives the hart the code and the fast path of data that
// go with it.
#pragma once

#include <map>
#include <utility>

#include "control.hpp"
#include "riscv/execute.hpp"
#include "translate.hpp"

namespace polyloom::minion {

constexpr uint32_t EXTENSIONS = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 7 | 1 << 8;  // imc_zicsr_zifencei; f is custom rows

// What decides which code is at an address: the root of the page tables, and the privilege.
using SpaceKey = std::pair<uint64_t, Privilege>;

inline SpaceKey key_of_space(const HartState& hart) {
    const bool machine = hart.privilege == Privilege::machine;
    const uint64_t root = machine ? hart.minion->matp : hart.minion->satp;
    return {root >> 60 ? root : 0, hart.privilege};
}

// Decoded code of one type of hart, by address space. What was flushed with its translation, or because there were too
// many spaces, is kept until no hart runs.
template <class P>
struct Spaces {
    static constexpr size_t MOST = 256;

    riscv::Code<P>* of(const SpaceKey& key) {
        if (codes.size() >= MOST && !codes.contains(key)) renew();
        auto& code = codes[key];
        if (!code) {
            code = std::make_unique<riscv::Code<P>>(EXTENSIONS);
            code->custom = pattern.custom;
        }
        return code.get();
    }
    void renew() {
        for (auto& [key, code] : codes)
            if (key.first) retired.push_back(std::move(code));
        std::erase_if(codes, [](const auto& each) { return !each.second; });
    }

    riscv::Code<P> pattern{EXTENSIONS};  // has the rows, and no code
    std::map<SpaceKey, std::unique_ptr<riscv::Code<P>>> codes;
    std::vector<std::unique_ptr<riscv::Code<P>>> retired;
};

struct Codes {
    explicit Codes(const Latencies& latencies) : needs(latencies) {}
    template <class P>
    Spaces<P>& of() {
        if constexpr (P::Timing::PRESENT)
            return timed;
        else
            return functional;
    }

    Needs needs;
    uint64_t generation = 0;  // of code that was flushed with its translation
    Spaces<Timed> timed;
    Spaces<Functional> functional;
};

template <class P>
void settle(riscv::Hart<P>& h) {
    HartState& state = *h.state.hart;
    const AddressSpace data = data_space(state);
    const bool machine_mode = data.privilege == Privilege::machine;
    state.plain_from = h.state.memory->plain_from(machine_mode);
    state.plain_bytes = translates(data) ? 0 : h.state.memory->plain_to(machine_mode) - state.plain_from;
    h.code = h.state.codes->template of<P>().of(key_of_space(state));
}

// Goes on at an address, or at the handler of an interrupt that is pending there.
template <class P>
Answer go_to(riscv::Hart<P>& h, uint64_t pc) {
    HartState& state = *h.state.hart;
    if (const uint64_t cause = pending_interrupt(state)) [[unlikely]]
        if (const uint64_t to = enter_trap(state, cause, 0, pc)) pc = to;
    settle(h);
    return riscv::jump(pc);
}

template <class P>
uint64_t behind(const riscv::Hart<P>& h) {
    return h.place->pc + h.place->bytes;
}

}  // namespace polyloom::minion
