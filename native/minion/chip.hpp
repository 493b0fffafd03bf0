// SPDX-License-Identifier: Apache-2.0
// The chip: harts, tensor units, barriers and credits, and the loop over events that gives each its turn. Harts execute
// ordinary instructions by themselves on their own clocks; an instruction that touches anything shared calls a member
// of Chip, which answers NOT_YET until the hart's cycle is the least of all. Source: minion.md, "Many minions".
//
// Before any call a hart has set `now`, the cycle in which the instruction issues, and `pc`. An answer NOT_YET leaves
// everything as it was: the chip has noted the reason in `wait` and tries the instruction again when that has gone.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "events.hpp"
#include "fabric.hpp"
#include "memory.hpp"
#include "parameters.hpp"
#include "riscv/policies.hpp"
#include "state.hpp"
#include "tensor.hpp"
#include "unit.hpp"
#include "wait.hpp"

namespace polyloom::minion {

struct Core;

using riscv::Answer;

// Options of a run, as the command line has them.
struct Options {
    unsigned minions = 1;
    bool timed = true, errata = false, trace = false;
    uint8_t hazards = 2;  // 0 off, 1 report, 2 error, 3 poison
    unsigned threads = 1;
    uint64_t max_cycles = ~uint64_t(0) >> HART_BITS;
    unsigned shires = 32, l2_kib = 512, l3_kib = 1024, scratchpad_kib = 2560;
};

enum class Stop : uint8_t { passed, failed, deadlock, trap, hazard, max_cycles };

struct Result {
    Stop stop = Stop::passed;
    uint64_t cycles = 0, instructions = 0, pc = 0, value = 0;
    uint32_t hart = 0, cause = 0, word = 0;
};

// What a cache operation does, for its time and its wait.
enum class CacheOperation : uint8_t { prefetch, flush, evict, lock, unlock };

struct Chip {
    explicit Chip(const Options& options);
    ~Chip();
    Chip(const Chip&) = delete;

    Result run(uint64_t entry);

    // Whether it is the hart's turn. First in each shared instruction whose effect is not one of the members below,
    // which ask themselves.
    Answer turn(HartState& h);

    // CSR writes of tensor operations: 0x800 reduce, 0x801 fma, 0x804 coop, 0x806 quant, 0x83F load, 0x85F load_l2,
    // 0x87F store. x31 is taken from h.x[31].
    Answer tensor(HartState& h, unsigned csr, uint64_t value);
    Answer tensor_wait(HartState& h, unsigned event);
    // Before a floating-point or SIMD instruction while h.minion->busy is not 0.
    Answer registers(HartState& h);

    Answer flb(HartState& h, uint64_t operand, uint64_t& old);
    Answer fcc(HartState& h, uint64_t operand);
    Answer fccnb(HartState& h, uint64_t& value);
    Answer sleep(HartState& h);
    Answer validation(HartState& h, unsigned number, uint64_t value);
    // An aligned access of 8 bytes to an ESR, after the check of privilege; ABSENT where there is none.
    Answer esr(HartState& h, uint64_t address, bool store, uint64_t& value);
    // hpmcounter3 to 8 by 3 to 8, and their selectors.
    Answer counter(HartState& h, unsigned number, uint64_t& value);
    Answer set_counter(HartState& h, unsigned number, uint64_t value);
    Answer set_event(HartState& h, unsigned number, uint64_t value);

    // Time of a cache operation whose effect has been done: `count` lines from `address` on.
    Answer cache(HartState& h, CacheOperation what, unsigned level, unsigned id, uint64_t address, unsigned count,
                 uint64_t stride);
    // When a line that misses L1 is there; it needs the turn. `code` from the instruction cache.
    Answer miss(HartState& h, uint64_t address, bool store, bool code, uint64_t& there);

    Options options;
    Parameters parameters;
    std::string printed;

  private:
    enum class EventKind : uint8_t { hart, credit, line, complete };
    // What the loop keeps of a hart beside its state.
    struct Seat {
        std::unique_ptr<Core> core;
        uint64_t executed = 0;
        bool queued = false, ended = false;
    };

    // chip.cpp: the loop
    void handle(const Event& event);
    void run_hart(uint32_t number, uint64_t cycle);
    void after_run(uint32_t number, const riscv::Outcome& outcome);
    void post(uint64_t cycle, uint32_t hart, EventKind kind, uint64_t data = 0);
    void queue_hart(uint32_t number, uint64_t cycle);
    Answer hold(HartState& h, Waits kind, uint32_t a);
    Answer go(HartState& h);
    [[nodiscard]] bool ready(const HartState& h) const;
    void wake(uint32_t number);
    void wake_minion(uint32_t minion);
    Result finish();
    // sync.cpp
    void give_credits(HartState& h, unsigned shire, unsigned which, uint32_t mask);
    void arrive_credits(const Event& event);
    uint64_t credit_time(unsigned from, unsigned to);
    // accept.cpp: what a CSR write of a tensor operation does at once
    Answer accept_load(HartState& h, uint64_t value);
    Answer accept_load_l2(HartState& h, uint64_t value);
    Answer accept_fma(HartState& h, uint64_t value);
    Answer accept_quant(HartState& h, uint64_t value);
    Answer accept_store(HartState& h, uint64_t value);
    Answer accept_reduce(HartState& h, uint64_t value);
    Answer accept_coop(HartState& h, uint64_t value);
    Operation& take(HartState& h, Class c, uint64_t value);
    Answer fails(HartState& h, uint16_t error);
    uint8_t* tensor_bytes(HartState& h, uint64_t address, unsigned bytes, riscv::Access access, uint64_t& physical);
    uint8_t* scratchpad_line(const HartState& h, unsigned line);
    uint8_t* line_of(HartState& h, Class c, uint64_t address, unsigned bytes, riscv::Access access);
    // engines.cpp: loads
    static uint64_t tag(const Operation& op, Class c);
    void on_operation(const Event& event);
    void begin_load(uint32_t minion, Class c);
    void next_line(uint32_t minion, Class c);
    uint64_t store_pace(const Operation& op);
    void begin_stream(uint32_t minion, unsigned lines);
    void drop_stream(uint32_t minion);
    void ask_stream(uint32_t minion);
    void stream_line(uint32_t minion);
    void run_stream(uint32_t minion, uint64_t total);
    void use_line(uint32_t minion, Stream& s, unsigned j);
    // queue.cpp: operations on registers
    Answer enqueue(uint32_t minion, Class c);
    void begin_ready(uint32_t minion);
    void begin(uint32_t minion, Class c);
    void begin_fma(uint32_t minion, Operation& op);
    void begin_quant(uint32_t minion, Operation& op);
    void begin_store(uint32_t minion, Operation& op);
    void complete(uint32_t minion, Class c);
    [[nodiscard]] bool pending(const HartState& h, unsigned event) const;
    tensor::Tile tile_of(uint32_t minion);
    void raise(uint32_t minion, uint32_t flags);
    // rendezvous.cpp
    void meet(uint32_t minion);
    void transfer(uint32_t from, uint32_t to);
    uint64_t message_time(uint32_t from, uint32_t to);
    void second_peer(uint32_t receiver, uint32_t sender);
    void count_mismatch(uint32_t minion, uint32_t peer);

  public:
    Memory memory;
    Fabric fabric;
    std::vector<MinionState> minions;
    std::vector<ShireState> shires;

  private:
    Events events;
    std::vector<Unit> units;
    std::vector<Seat> seats;
    std::vector<HartState*> harts;
    std::array<uint64_t, 32> flb_free{};
    HartState* running = nullptr;
    uint64_t last = 0, lost_credits = 0, waited_tenb = 0;
    uint32_t alive = 0;
    bool stopped = false;
    Result result;
};

}  // namespace polyloom::minion
