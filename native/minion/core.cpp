// SPDX-License-Identifier: Apache-2.0
// The policies of a Minion's hart, its custom rows, and runs.
#include "core.hpp"

#include <utility>

#include "access.hpp"
#include "chip.hpp"
#include "floats.hpp"
#include "spaces.hpp"

namespace polyloom::minion {

namespace {

using riscv::Cause;
using riscv::DONE;

constexpr unsigned FLB = 0x820;
constexpr uint64_t CODE_PAGE = 1 << 16, SMALL_PAGE = 1 << 12;
constexpr uint64_t TRAPS_AT_MOST = 4096;
constexpr unsigned SLEEP_BYTES = 4;  // of wfi, and of a write to stall

template <class P>
Answer machine_return(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    const auto from = d.imm == 0x30200073 ? Privilege::machine : Privilege::supervisor;
    const Answer answer = return_from(*h.state.hart, from);
    return answer.kind == Answer::jump ? go_to(h, answer.value) : answer;
}

template <class P>
Answer wait_for_interrupt(riscv::Hart<P>& h, const riscv::Decoded<P>&) {
    present(h);
    if (!may_wait(*h.state.hart)) return riscv::ABSENT;
    return sleep(h.state);
}

template <class P>
Answer fence_addresses(riscv::Hart<P>& h, const riscv::Decoded<P>&) {
    if (!may_fence(*h.state.hart)) return riscv::ABSENT;
    h.state.codes->template of<P>().renew();
    h.state.minion->translations = {};
    return go_to(h, behind(h));
}

template <class P>
void add_privileged(std::vector<riscv::Custom<P>>& rows) {
    rows.push_back({0x30200073, 0xffffffff, riscv::custom_step<P, machine_return<P>>});
    rows.push_back({0x10200073, 0xffffffff, riscv::custom_step<P, machine_return<P>>});
    rows.push_back({0x10500073, 0xffffffff, riscv::custom_step<P, wait_for_interrupt<P>>});
    rows.push_back({0x12000073, 0xfe007fff, riscv::custom_step<P, fence_addresses<P>>});
}

template <class P>
void add_rows(Codes& codes, const Latencies& latencies) {
    riscv::Code<P>& pattern = codes.of<P>().pattern;
    add_privileged(pattern.custom);
    add_floats(pattern.custom, codes.needs, latencies);
    add_packed(pattern, codes.needs, latencies);
}

}  // namespace

std::shared_ptr<Codes> make_codes(bool timed, const Latencies& latencies) {
    auto codes = std::make_shared<Codes>(latencies);
    timed ? add_rows<Timed>(*codes, latencies) : add_rows<Functional>(*codes, latencies);
    return codes;
}

Answer View::load(uint64_t address, unsigned, uint64_t& value) const {
    return memory->region_of(address) == Region::esr ? chip->esr(*hart, address, false, value) : riscv::ABSENT;
}

Answer View::store(uint64_t address, unsigned, uint64_t value) const {
    return memory->region_of(address) == Region::esr ? chip->esr(*hart, address, true, value) : riscv::ABSENT;
}

namespace {

constexpr uint32_t POISON = Hazards::POISON;

uint32_t register_bit(uint8_t base, unsigned number) { return base == Need::F ? 1u << (number & 31) : 0; }

// fmv.x.w and fmvs.x.ps to x0, which refresh a register (erratum 1.29).
bool refreshes(uint32_t word) { return (word & 0xfff07fff) == 0xe0000053 || (word & 0xfe007fff) == 0xe000207b; }

template <class P>
POLYLOOM_COLD Answer check_registers(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    HartState& state = *h.state.hart;
    const Need& need = h.state.codes->needs.of(d.op);
    const auto word = uint32_t(d.imm);
    const uint32_t reads = register_bit(need.rs1, word >> 15) | register_bit(need.rs2, word >> 20) |
                           register_bit(need.rs3, word >> 27) | (need.stores ? 1u << (word >> 7 & 31) : 0);
    present(h);
    Chip& chip = *h.state.chip;
    const Site site{state.number, state.pc, state.now};
    const uint32_t early = chip.hazards.registers(site, "floating-point instruction", reads,
                                                  register_bit(need.rd, word >> 7), refreshes(word));
    if (chip.findings.stop) return riscv::leave(Cause::exit);
    for (unsigned n = 0; early >> n; ++n)
        if (early >> n & 1) std::fill(std::begin(h.f[n].lane), std::end(h.f[n].lane), POISON);
    return DONE;
}

}  // namespace

template <class P>
Answer floating(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    HartState& state = *h.state.hart;
    if (!floats_on(state)) [[unlikely]]
        return riscv::trap(Cause::illegal);
    if (h.state.minion->busy) [[unlikely]] {
        present(h);
        if (h.state.minion->busy & MinionState::HELD)
            if (const Answer answer = h.state.chip->registers(state); answer.kind != Answer::done) return answer;
        h.state.chip->join(state.number / 2);
    }
    if (!(state.number & 1) && h.state.chip->hazards.watched(state.number / 2)) [[unlikely]]
        return check_registers(h, d);
    return DONE;
}

template <bool TIMED>
Answer Policy<TIMED>::control(H& h, unsigned number, const riscv::Change& change, uint64_t& old) {
    present(h);
    HartState& state = *h.state.hart;
    const Answer answer = access_control(h.state, number, change, old);
    if constexpr (TIMED) {
        if (h.timing.timeline && state.resume > state.clock)
            h.timing.timeline->wait(number == FLB ? Stall::barrier : Stall::cache_operation, state.clock, state.resume,
                                    state.pc);
        state.clock = std::max(state.clock, state.resume);
    }
    if (answer.kind != Answer::done || !change.writes || !(number >> 8 & 3)) return answer;
    return h.state.chip->findings.stop ? riscv::leave(Cause::exit) : go_to(h, behind(h));
}

template <bool TIMED>
Answer Policy<TIMED>::call(H& h) {
    return riscv::trap(riscv::exception(8 + unsigned(h.state.hart->privilege)));
}

template <bool TIMED>
Answer Policy<TIMED>::breakpoint(H& h) {
    return riscv::trap(Cause::breakpoint, h.place->pc);
}

template <bool TIMED>
Answer Policy<TIMED>::trap(H& h, uint64_t pc, Cause cause, uint64_t value) {
    HartState& state = *h.state.hart;
    present(h);
    if (cause == Cause::illegal) {
        unsigned there = 0;
        const uint64_t word = h.code->word(pc, there);
        value = (word & 3) == 3 ? uint32_t(word) : uint16_t(word);
    }
    const uint64_t to = enter_trap(state, riscv::exception_number(cause), value, pc);
    if (!to) return riscv::ABSENT;
    if constexpr (TIMED) state.clock += h.timing.needs->branch;
    settle(h);
    return riscv::jump(to);
}

// Code is taken in by pages: large ones of DRAM, small ones where addresses are translated.
template <bool TIMED>
Answer Policy<TIMED>::fetch(H& h, uint64_t address) {
    const HartState& state = *h.state.hart;
    if (h.code->holds(address)) return riscv::ABSENT;
    const AddressSpace space = code_space(state);
    uint64_t physical = 0;
    const Answer answer = walked(*h.state.memory, space, h.state.shire->number, address, 2, Use::fetch, physical);
    if (answer.kind != Answer::done) return answer;
    // Erbium's ROM and SRAM are small, and MPROT protects pages of 4 KiB.
    const bool small = translates(space) || h.state.memory->member == Member::erbium;
    const uint64_t size = small ? SMALL_PAGE : CODE_PAGE, offset = physical % size;
    const uint8_t* bytes = h.state.memory->at(physical - offset, size);
    if (!bytes) return riscv::ABSENT;
    h.code->add(address - offset, size, bytes);
    return DONE;
}

template struct Policy<true>;
template struct Policy<false>;

template Answer floating(riscv::Hart<Timed>&, const riscv::Decoded<Timed>&);
template Answer floating(riscv::Hart<Functional>&, const riscv::Decoded<Functional>&);
template Answer shared(riscv::Hart<Timed>&, uint64_t, unsigned, Kind, bool, uint8_t*&);
template Answer shared(riscv::Hart<Functional>&, uint64_t, unsigned, Kind, bool, uint8_t*&);

struct Core::Body {
    virtual ~Body() = default;
    virtual void start(uint64_t pc) = 0;
    virtual riscv::Outcome run() = 0;
    [[nodiscard]] virtual uint64_t pc() const = 0;
};

namespace {

// What go_to depends on. A hart keeps to it during a run; between runs another hart may have changed it.
struct Settled {
    uint64_t mstatus = ~uint64_t(0), interrupts = 0, satp = 0, matp = 0, generation = 0;
    Privilege privilege = Privilege::machine;
    bool operator==(const Settled&) const = default;
};

void finish(riscv::Hart<Timed>& hart, HartState& state, const riscv::Outcome& outcome) {
    if (outcome.cause == Cause::wait && !hart.timing.refused) hart.timing.withdraw(state);
    hart.timing.refused = false;
}
void finish(riscv::Hart<Functional>&, HartState& state, const riscv::Outcome& outcome) {
    state.clock += outcome.executed;
}

template <class P>
struct Bound final : Core::Body {
    Bound(const Context& context, std::shared_ptr<Codes> shared)
        : state(*context.hart),
          hart(*shared->of<P>().of(key_of_space(state)), View{context.memory, &state, context.chip}),
          codes(std::move(shared)) {
        hart.state = context;
        state.x = hart.x, state.f = hart.f, state.flags = &hart.flags, state.rounding = &hart.rounding;
        if constexpr (P::Timing::PRESENT)
            hart.timing.needs = &codes->needs, hart.timing.timeline = context.chip->timeline(state.number);
    }

    void start(uint64_t pc) override { hart.pc = pc; }
    [[nodiscard]] uint64_t pc() const override { return hart.pc; }

    // No hart is in a run here, so that code that was flushed can go.
    riscv::Outcome run() override {
        auto& retired = codes->of<P>().retired;
        if (!retired.empty()) retired.clear(), ++codes->generation;
        const MinionState& minion = *state.minion;
        if (minion.excl_mode && minion.excl_mode >> 1 != (state.number & 1))
            state.clock = std::max(state.clock, state.window);
        if (state.asleep && state.trap.mip & state.trap.mie) {
            hart.pc += SLEEP_BYTES;  // the sleep is over, and an interrupt comes behind it
            state.asleep = false;
        }
        if (state.clock >= state.window) return {Cause::wait, hart.pc, 0, 0, 0};
        const Settled now{state.trap.mstatus, state.trap.mip & state.trap.mie,
                          minion.satp,        minion.matp,
                          codes->generation,  state.privilege};
        if (now != settled) hart.pc = go_to(hart, hart.pc).value, settled = now;
        // A timed run ends when an instruction may not issue, but a trap in a handler of traps issues none.
        const uint64_t cycles = state.window - state.clock;
        const riscv::Outcome outcome = hart.run(P::Timing::PRESENT ? std::max(cycles, TRAPS_AT_MOST) : cycles);
        finish(hart, state, outcome);
        return outcome;
    }

    HartState& state;
    Settled settled;
    riscv::Hart<P> hart;
    std::shared_ptr<Codes> codes;
};

template <class P>
std::unique_ptr<Core::Body> bound(const Context& context, std::shared_ptr<Codes> codes) {
    return std::make_unique<Bound<P>>(context, std::move(codes));
}

}  // namespace

Core::Core(Chip& chip, Memory& memory, std::shared_ptr<Codes> codes, HartState& hart) {
    const Context context{&hart, hart.minion, hart.minion->shire, &chip, &memory, codes.get()};
    body = chip.options.timed ? bound<Timed>(context, std::move(codes)) : bound<Functional>(context, std::move(codes));
}
Core::~Core() = default;

void Core::start(uint64_t pc) { body->start(pc); }
riscv::Outcome Core::run() { return body->run(); }
uint64_t Core::pc() const { return body->pc(); }

}  // namespace polyloom::minion

namespace polyloom::riscv {

template struct Code<minion::Timed>;
template struct Hart<minion::Timed>;
template struct Code<minion::Functional>;
template struct Hart<minion::Functional>;

}  // namespace polyloom::riscv
