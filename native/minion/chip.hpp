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

#include "deadlock.hpp"
#include "events.hpp"
#include "fabric.hpp"
#include "hazards.hpp"
#include "memory.hpp"
#include "parameters.hpp"
#include "record.hpp"
#include "riscv/policies.hpp"
#include "state.hpp"
#include "tensor.hpp"
#include "tensor_unused.hpp"
#include "timeline.hpp"
#include "translate.hpp"
#include "unit.hpp"
#include "wait.hpp"
#include "workers.hpp"

namespace polyloom::riscv {
struct Outcome;
}

namespace polyloom::minion {

class Core;
struct Codes;

using riscv::Answer;

// Options of a run, as the command line has them.
struct Options {
    unsigned minions = 1;
    bool timed = true, errata = false, trace = false, account = false;
    Response hazards = Response::error;
    unsigned threads = 1;
    uint64_t max_cycles = ~uint64_t(0) >> HART_BITS;
    size_t most_spans = Spans::MOST;  // of the trace
    Member member = Member::et_soc_1;
    unsigned shires = 32, l2_kib = 512, l3_kib = 1024, scratchpad_kib = 2560;
};

enum class Stop : uint8_t { passed, failed, deadlock, trap, hazard, max_cycles, tensor_error };

struct Result {
    Stop stop = Stop::passed;
    uint64_t cycles = 0, instructions = 0, pc = 0, value = 0;
    uint32_t hart = 0, cause = 0, word = 0;
};

// What a cache operation does, for its time and its wait.
enum class CacheOperation : uint8_t { prefetch, flush, evict, lock, unlock };

struct Chip {
    explicit Chip(const Options& options, const Parameters& parameters = {});
    ~Chip();
    Chip(const Chip&) = delete;

    Result run(uint64_t entry);
    // The same in parts, for debuggers: one event at a time, of which a hart's is one cycle, as long as there are any.
    // Then `finish` tells what `run` does.
    void start(uint64_t entry);
    bool advance();
    Result finish();
    // An instruction or several of a hart: its pc before them, and the cycle.
    struct Ran {
        uint32_t hart;
        uint64_t pc, cycle, executed;
    };
    std::vector<Ran>* ran = nullptr;
    uint64_t ahead;  // cycles that a hart may run ahead of the slowest
    [[nodiscard]] uint64_t pc(uint32_t hart) const;
    [[nodiscard]] const HartState& hart(uint32_t number) const { return *harts[number]; }
    [[nodiscard]] bool ended(uint32_t hart) const { return seats[hart].ended; }

    // Whether it is the hart's turn. First in each shared instruction whose effect is not one of the members below,
    // which ask themselves.
    Answer turn(HartState& h);

    // CSR writes of tensor operations: 0x800 reduce, 0x801 fma, 0x804 coop, 0x806 quant, 0x83F load, 0x85F load_l2,
    // 0x87F store. x31 is taken from h.x[31].
    Answer tensor(HartState& h, unsigned csr, uint64_t value);
    Answer tensor_wait(HartState& h, uint64_t value);
    // Before a floating-point or SIMD instruction while h.minion->busy has HELD.
    Answer registers(HartState& h);
    // Before it while h.minion->busy has COMPUTED, and before the flags of hart 0 are read or written.
    void join(uint32_t minion);

    Answer flb(HartState& h, uint64_t operand, uint64_t& old);
    Answer fcc(HartState& h, uint64_t operand);
    Answer fccnb(HartState& h, uint64_t& value);
    Answer sleep(HartState& h);
    Answer validation(HartState& h, unsigned number, uint64_t value);
    // tensor_error gets a bit, of an instruction of the hart or of whatever the finding tells; it is written.
    void set_error(HartState& h, unsigned bit, const char* name, const std::string& why);
    void set_error(HartState& of, unsigned bit, Finding found);
    void write_error(HartState& h, uint16_t value);
    void faults(HartState& h, const char* name, uint64_t address);
    // An aligned access of 8 bytes to an ESR, after the check of privilege; ABSENT where there is none.
    Answer esr(HartState& h, uint64_t address, bool store, uint64_t& value);
    // hpmcounter3 to 8 by 3 to 8, and their selectors.
    Answer counter(HartState& h, unsigned number, uint64_t& value);
    Answer set_counter(HartState& h, unsigned number, uint64_t value);
    Answer event(HartState& h, unsigned number, uint64_t& value);
    Answer set_event(HartState& h, unsigned number, uint64_t value);

    // L1 has changed its mode, which is two bits.
    void mode_changed(HartState& h, unsigned before, unsigned after);
    // Time of a cache operation whose effect has been done: `count` lines from `address` on.
    Answer cache(HartState& h, CacheOperation what, unsigned level, unsigned id, uint64_t address, unsigned count,
                 uint64_t stride);
    // When what a hart's own instruction gets from behind L1 is there; it needs the turn.
    Answer fetch(HartState& h, uint64_t address, Traffic use, uint64_t& there);

    Options options;
    Parameters parameters;
    Memory memory;
    Fabric fabric;
    Findings findings;
    Record record;
    Hazards hazards;
    Deadlock deadlock;
    std::vector<MinionState> minions;
    std::vector<ShireState> shires;
    std::string printed;
    std::vector<Reason> reasons;  // of a deadlock
    Spans spans;                  // of the trace
    Account account;              // of cycles, where it is asked for
    Columns passed{PASSED_KINDS, PASSED_COLUMNS};
    std::vector<uint64_t> lives;  // of the account: cycles of each hart up to its end
    // That of a hart, if there is a trace in time.
    Timeline* timeline(uint32_t hart) { return timelines.empty() ? nullptr : &timelines[hart]; }
    // What happened, by name.
    [[nodiscard]] std::vector<std::pair<std::string, uint64_t>> counters() const;

  private:
    enum class EventKind : uint8_t { hart, credit, line, complete };
    // The event that a hart has selected for a counter, and how often it had happened then.
    struct Selected {
        uint8_t event = 0;
        uint64_t since = 0;
    };
    static constexpr unsigned FIRST_COUNTER = 3, COUNTERS = 6, SHARED_COUNTERS = 4, COUNTER_BITS = 40;
    static constexpr unsigned CYCLES = 1, RETIRED_0 = 2, RETIRED_1 = 3;
    // Of a neighbourhood, by thread: what is left of minions that selected another event since, and of writes.
    struct Pmu {
        std::array<std::array<uint64_t, COUNTERS>, 2> kept{};
    };
    // Credits on their way.
    struct Gift {
        uint32_t mask = 0;
        uint16_t shire = 0;
        uint8_t thread = 0, counter = 0;
        Site giver;
    };
    // What the loop keeps of a hart beside its state.
    struct Seat {
        std::unique_ptr<Core> core;
        uint64_t executed = 0, ticket = 0;
        std::array<Selected, SHARED_COUNTERS> selected{};
        Wait waited;                // what it was woken from, until the instruction has been done
        size_t span = Spans::NONE;  // its last one in a trace without time
        bool queued = false, ended = false;
    };

    // chip.cpp: the loop
    void handle(const Event& event);
    void run_hart(uint32_t number);
    riscv::Outcome run_once(uint32_t number);
    uint64_t next_key();
    [[nodiscard]] bool current(const Event& event) const;
    bool goes_on(uint32_t number, const riscv::Outcome& outcome);
    void post(uint64_t cycle, uint32_t hart, EventKind kind, uint64_t data = 0);
    // The cycle of what is being done: of an instruction, or of an event.
    [[nodiscard]] uint64_t cycle() const { return running ? running->now : events.cycle(); }
    void queue_hart(uint32_t number, uint64_t cycle);
    Answer hold(HartState& h, Waits kind, uint32_t a);
    Answer go(HartState& h);
    [[nodiscard]] bool ready(const HartState& h) const;
    void wake(uint32_t number);
    void wake_minion(uint32_t minion);
    void where_it_runs();
    // outcome.cpp: what a run leaves
    void note_stall(const HartState& h);
    void trace_run(uint32_t number, uint64_t from, uint64_t to);
    void trace_end();
    void explain();
    // hazard.cpp: what the checks are told
    [[nodiscard]] bool hazards_on() const { return options.hazards != Response::off; }
    [[nodiscard]] Site site_of(uint32_t minion, const Operation& op) const;
    struct Told {
        uint8_t last_register = 0;
        bool tenb = false, flags = false, from_scp = false;
        uint32_t row = tensor::LINE;
        uint64_t to = 0;  // lines that a load to L2Scp writes
        unsigned written = 0;
    };
    void tell(Class c, Operation& op, const char* name, const tensor::Effects& effects, Told told);
    // sync.cpp
    void give_credits(HartState& h, unsigned shire, unsigned which, uint32_t mask);
    static uint32_t receiver(const Gift& gift, unsigned minion);
    void arrive_credits(const Event& event);
    uint64_t credit_time(unsigned from, unsigned to);
    // esr.cpp
    void interrupt(unsigned shire, uint64_t mask, bool pending);
    void enable(unsigned shire);
    // pmu.cpp
    [[nodiscard]] uint64_t count_of(uint32_t hart, unsigned event, uint64_t now) const;
    uint64_t& kept(const HartState& h, unsigned number);
    [[nodiscard]] uint64_t adds(const HartState& h, unsigned number) const;
    // accept.cpp: what a CSR write of a tensor operation does at once
    void cooperate(const HartState& h, Operation& op);
    Answer accept_load(HartState& h, uint64_t value);
    Answer accept_load_l2(HartState& h, uint64_t value);
    Answer accept_fma(HartState& h, uint64_t value);
    Answer accept_quant(HartState& h, uint64_t value);
    Answer accept_store(HartState& h, uint64_t value);
    Answer accept_reduce(HartState& h, uint64_t value);
    Answer accept_coop(HartState& h, uint64_t value);
    Operation& take(HartState& h, Class c, uint64_t value);
    Answer fails(HartState& h, unsigned bit, const char* name, const std::string& why);
    Answer scratchpad_off(HartState& h, const char* name);
    bool errors_left();
    bool pairs(HartState& h, const char* name, const tensor::Fma& fma);
    bool left_over();
    void note_operand(HartState& h, const char* name, tensor::Unused unused);
    uint8_t* tensor_bytes(HartState& h, uint64_t address, unsigned bytes, Use use, uint64_t& physical);
    static uint64_t scratchpad_address(const HartState& h, unsigned line);
    uint8_t* scratchpad_line(const HartState& h, unsigned line);
    uint8_t* line_of(HartState& h, Class c, uint64_t address, unsigned bytes, Use use);
    // engines.cpp: loads and stores in time
    static uint64_t tag(const Operation& op, Class c);
    void on_operation(const Event& event);
    void prefetch(const Event& event, bool second) const;
    void begin_load(uint32_t minion, Class c);
    Served serve(uint32_t minion, uint64_t address, Class c);
    void trace_line(uint32_t minion, uint64_t address, const Served& served, uint64_t pc);
    std::array<uint64_t, MEMORY_SHIRES> memory_traced{};
    void ask_line(uint32_t minion, Class c);
    void take_line(uint32_t minion, Class c, const Served& served);
    void next_line(uint32_t minion, Class c, const Served& served);
    uint64_t load_pace(unsigned line, bool dram);
    uint64_t store_pace(const Operation& op);
    void begin_stream(uint32_t minion, unsigned lines);
    void drop_stream(uint32_t minion);
    void ask_stream(uint32_t minion);
    void stream_line(uint32_t minion, const Served& served);
    void run_stream(uint32_t minion, uint64_t total);
    void use_line(uint32_t minion, Stream& s, unsigned j);
    // queue.cpp: operations on registers
    Answer enqueue(uint32_t minion, Class c);
    void note_busy(uint32_t minion);
    void begin_ready(uint32_t minion);
    void begin(uint32_t minion, Class c);
    void take_effect(uint32_t minion);
    void multiply(uint32_t minion, Operation& op);
    void quantize(uint32_t minion, Operation& op);
    void store(uint32_t minion, Operation& op);
    void begin_fma(uint32_t minion, Operation& op);
    void begin_quant(Operation& op);
    void complete(uint32_t minion, Class c);
    [[nodiscard]] bool pending(const HartState& h, unsigned event) const;
    tensor::Tile tile_of(uint32_t minion);
    static tensor::Tile poisoned(tensor::Tile tile, const Operation& op, Scratchpad& copy);
    void raise(uint32_t minion, uint32_t flags);
    // rendezvous.cpp
    void meet(uint32_t minion);
    void transfer(uint32_t from, uint32_t to);
    uint64_t message_time(uint32_t from, uint32_t to);

    std::shared_ptr<Codes> codes;
    Events events;
    std::vector<Unit> units;
    std::vector<Seat> seats;
    std::vector<Pmu> pmu;
    std::vector<HartState*> harts;
    std::vector<Timeline> timelines;  // by hart
    std::vector<std::array<uint32_t, tensor::ERRORS>>
        setters;                     // by hart and bit of tensor_error: the place that set it
    std::vector<uint64_t> flb_free;  // by shire: when its counters take another join
    std::vector<std::array<std::array<uint32_t, 2>, 32>> groups;  // by shire, group and engine: who asks for a line
    static constexpr unsigned STALL_KINDS = CLASSES + 1;
    std::array<uint64_t, STALL_KINDS + 8> stalls{};
    std::vector<Gift> gifts;
    std::vector<uint32_t> free_gifts;
    HartState* running = nullptr;
    uint64_t last = 0;
    uint32_t alive = 0;
    bool stopped = false;
    Result result;
    Workers workers;  // the last member: its threads write what the others hold
};

}  // namespace polyloom::minion
