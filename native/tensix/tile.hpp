// SPDX-License-Identifier: Apache-2.0
// A tile: its state, what of it is under way, and the loop over cycles. A cycle has four phases: results that are due
// become visible, units accept words from the wait gates, expanders and FIFOs move, cores execute. At its end the
// scalar unit, unpackers and packers have their turn at L1. Source: tensix.md, "Machine".
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "account/snapshots.hpp"
#include "banks.hpp"
#include "core.hpp"
#include "front.hpp"
#include "noc.hpp"
#include "pack_unit.hpp"
#include "state.hpp"
#include "unit.hpp"
#include "unpack_unit.hpp"
#include "vector.hpp"
#include "vector_word.hpp"

namespace polyloom::tensix {

// A wait of the gate: STALLWAIT's, or with semaphores SEMWAIT's.
struct Latch {
    bool on = false, ends = false;
    uint32_t blocks = 0, conditions = 0, semaphores = 0;
    Entry entry;
};

struct ConfigWrite {
    uint64_t due = 0;
    int thread = -1;  // of a word of a thread's configuration, else -1
    int bank = 0;
    uint32_t index = 0, mask = 0, value = 0;
};

struct GprWrite {
    uint64_t due = 0;
    int thread = 0;
    uint32_t index = 0, mask = 0, value = 0;
};

// What a core has stored to the configuration, on its way.
struct ConfigRequest {
    uint64_t due = 0;
    int bank = 0;
    uint32_t index = 0, value = 0;
};

// An access of the scalar unit to L1, which waits for its bank. Loads are of `count` GPRs; stores have `bytes`.
struct ScalarRequest {
    enum Kind : uint8_t { load, store, swap, increment } kind = load;
    Entry entry;
    int thread = 0;
    uint64_t issued = 0, due = 0;  // and when it is there, if nothing delays it further
    uint32_t address = 0, bytes = 0, to = 0, mask = ~0u;
    std::array<uint32_t, 4> values{};
};

// Work of an unpacker or a packer.
struct UnpackWork {
    unpack::Job job;
    Entry entry;
    uint64_t from = 0;  // the cycle in which it may read first
    size_t event = 0;
    Blocks dst;
};
struct PackWork {
    pack::Job job;
    Entry entry;
    size_t event = 0;
};

// Rows of Dst as they were before the matrix unit wrote them, for SFPLOADs that come too early.
struct Before {
    uint64_t due = 0;  // from then on the new rows are seen
    Blocks rows;
    bool shown = false;  // whether the old rows stand in Dst at present
    std::array<std::array<uint16_t, 16>, 16> data{};
    std::array<bool, 16> valid{};
};

// Who wrote what is read too early.
struct Writer {
    uint64_t cycle = 0, due = 0;
    Entry entry;
    int thread = -1;
    bool interlocked = false;
};

struct UnitState {
    uint64_t free_at = 0, busy_cycles = 0, accepted = 0;
    int last = THREADS - 1;  // the thread that was served last
};

// An instruction that the matrix unit accepted; of the last four cycles.
struct MatrixIssue {
    Word word = 0;
    uint64_t cycle = 0;
};

enum class Stop : uint8_t { Idle, MaxCycles, Deadlock, Fault };

// A span of the trace: a unit's (from UNITS on packer 0 to 3, then the cores), with the word and when it was pushed.
struct Event {
    uint64_t start = 0, end = 0;
    int thread = 0, unit = 0;
    Word word = 0;
    uint32_t pc = 0, index = 0, pushed = 0;
};
constexpr int PACKER_TRACK = UNITS, CORE_TRACK = UNITS + 4;

// Why a thread's cycle was not one in which a unit accepted its word. Bits of STALLWAIT's conditions, units and
// semaphores are added to the first of a row of reasons.
struct Why {
    enum : uint16_t {
        ACCEPTED = 0,    // + unit: a unit accepted the word
        OCCUPIED = 16,   // + unit: the unit has another word
        CONDITION = 32,  // + bit: a STALLWAIT waits
        SEMAPHORE = 48,  // + number: a SEMWAIT waits
        MUTEX = 56,      // an ATGETM waits
        SOURCES = 57,    // the banks of SrcA or SrcB are with the other side
        ROWS = 58,       // rows of Dst are on their way
        REGISTERS = 59,  // registers of the vector unit are on their way
        SCALAR_MEMORY = 60,
        EXPANDER = 61,  // words are between the push FIFO and the wait gate
        CORE = 62,      // the core has pushed nothing
        POLLING = 63,   // the core polls, or waits for what it loads
        ENDED = 64,     // the core is at rest, and nothing is left
    };
};

// Cycles of threads by reason and address of the word, or of the core's instruction where there is no word.
struct Tally {
    static constexpr size_t REASONS = Why::ENDED + 1;
    static constexpr size_t MOST_SNAPSHOTS = 256, FIRST_STEP = 16;

    // Before anything of a cycle is counted: a tile of a grid may have slept through several snapshots.
    void begin(uint64_t cycle) {
        while (cycle >= over_time.next) [[unlikely]]
            over_time.take(sums);
    }
    void add(int thread, uint32_t why, uint32_t pc) {
        ++sums[size_t(thread) * REASONS + why];
        const uint64_t key = uint64_t(pc) << 16 | why << 2 | uint32_t(thread);
        Last& own = last[size_t(thread)];
        if (key != own.key) [[unlikely]]
            own = {key, &counts[key]};
        ++*own.count;
    }
    struct Last {
        uint64_t key = ~uint64_t(0);
        uint64_t* count = nullptr;
    };
    std::unordered_map<uint64_t, uint64_t> counts;
    std::array<Last, THREADS> last{};
    std::array<uint64_t, THREADS * REASONS> sums{};  // of all addresses
    Snapshots over_time;                             // of `sums`
    std::array<uint64_t, THREADS> accepted{};        // behind the cycle in which a unit last accepted a thread's word
};

struct Tile {
    explicit Tile(Member member = Member::Wormhole, Policy policy = Policy::Error);
    Tile(const Tile&) = delete;

    void push(int thread, Word word) { hand[size_t(thread)].push_back(word); }
    // Dst as it is seen at the start of the next cycle, and back.
    void show_before(bool shows);
    void release(int core, std::optional<uint32_t> pc = {});
    void hold(int core);
    // Until nothing is left to do, nothing can move, a fault, or `most` cycles more; or until the word at `watched` in
    // L1, which is 0 where nobody watches, has another value.
    Stop run(uint64_t most);
    void step();
    // As a tile of a grid: a run begins; until `end` or until nothing is left to do, when it sleeps.
    void begin_run();
    void advance(uint64_t end);
    [[nodiscard]] uint64_t wakes_at() const { return asleep ? std::max(cycle, port->station->next()) : cycle; }

    State state;
    Policy policy;
    bool ignore_mmio = false, tracing = false, accounting = false;
    uint32_t watched = 0;
    uint64_t ignored_mmio = 0;
    uint64_t cycle = 0, cycles = 0;  // the cycle that is next; and the count as it is told
    std::vector<Finding> findings;
    std::optional<Finding> fault;
    std::vector<std::string> waits;  // of a deadlock: what each thread and core waits for
    std::vector<Event> events;
    Tally tally;  // of the account, where it is asked for

    std::array<Front, THREADS> fronts;
    std::array<std::deque<Word>, THREADS> hand;  // words that are pushed by hand, one a cycle
    std::array<std::unique_ptr<Core>, CORES> cores;
    std::array<UnitState, UNITS> units;
    std::array<MatrixIssue, 4> matrix_issues{};
    std::array<Latch, THREADS> latches;
    std::array<std::array<uint64_t, UNITS>, THREADS> in_flight{};  // until when a thread has something in a unit
    std::array<uint64_t, THREADS> thread_free{}, memory_until{};
    std::array<int8_t, 8> mutex_last{};
    vector::Words words;
    std::array<Writer, 18> vector_writers{};  // of instructions with a latency above 1
    uint64_t vector_due = 0;                  // until when any of their results are under way
    Writer shuffle;
    std::array<Writer, 128> dst_writers{};
    std::array<std::array<Writer, 64>, THREADS> gpr_writers{};
    std::vector<Pending> pending;
    vector::Schedule schedule;  // of SFPLOADMACRO
    std::vector<ConfigWrite> config_writes;
    std::vector<GprWrite> gpr_writes;
    std::vector<Writer> slow_config;  // WRCFG and REG2FLOP of this cycle, by thread
    std::array<std::vector<ConfigRequest>, CORES> config_requests;
    uint64_t config_slot = ~uint64_t(0), wide_config = ~uint64_t(0) - 1;  // when it was last used; by WRCFG or RDCFG
    uint64_t semaphore_slot = ~uint64_t(0);
    std::array<std::vector<UnpackWork>, 2> unpackers;  // what they have accepted, at most two each
    uint64_t unpack_setup = 0;                         // until when one of them computes an address
    std::array<std::optional<PackWork>, 4> packers;
    std::vector<ScalarRequest> scalar_requests;
    uint32_t working = 0, requested = 0;  // how much of that there is; how many config_requests
    std::array<Before, 4> before{};
    uint64_t before_due = 0;  // of the youngest
    std::array<uint32_t, THREADS> pushed_by_hand{};
    std::array<Fifo<uint32_t, 4>, 16> mailboxes;  // 4 * writer + reader
    std::array<Fifo<uint32_t, 16>, THREADS> pcbufs;
    Banks banks;
    std::unique_ptr<Port> port;  // where a memory lies behind the tile
    bool flush_code = false;
    bool asleep = true;        // of a grid: idle until something arrives
    uint64_t last_effect = 0;  // the last cycle in which more happened than loads and branches of cores
    std::unique_ptr<riscv::Code<Baby>> code;

    [[nodiscard]] bool thread_idle(int thread) const;
    [[nodiscard]] bool idle() const;
    void write_config(int bank, uint32_t index, uint32_t mask, uint32_t value);
    void soft_reset(uint32_t held);
    [[noreturn]] void refuse(int core, const char* kind, const std::string& what, const char* cure) const;
    [[nodiscard]] uint32_t reset_pc(int core) const;
    Context context(const Entry& entry) {
        return {cycle, entry.pc, entry.index, policy == Policy::Off ? nullptr : &findings, &pending, &schedule};
    }
    // A hazard, whose second party is `earlier`.
    void hazard(const char* kind, int thread, const Entry& entry, const Writer& earlier, std::string text,
                std::string cure, bool wrong = true);
    // Ends a run whose policy one of the findings from number `known` on breaks.
    void stop_at_hazard(size_t known) const;
    // Whether what is on its way to a register differs from what an instruction reads in its place.
    [[nodiscard]] bool stale_gpr(int thread, uint32_t index) const;
    [[nodiscard]] bool stale_lanes(int target) const;
    [[nodiscard]] bool stale_config(int bank, uint32_t index) const;
    [[nodiscard]] bool stale_rows(const Blocks& rows) const;
    // Registers outside the cores' local RAM, for cores and the scalar unit (core -1).
    riscv::Answer load(int core, uint32_t address, unsigned size, uint64_t& value);
    riscv::Answer store(int core, uint32_t address, unsigned size, uint32_t value);

  private:
    friend struct Core;
    friend class Grid;
    void make_visible();
    void move_front(int thread);
    [[nodiscard]] int alone() const;
    bool run_alone(int thread, uint64_t end);
    void commit_vector();
    // account.cpp
    void count_cycle();
    [[nodiscard]] std::pair<uint32_t, uint32_t> reason(int thread);
    void accept();
    void accept_vector(int thread);
    void accept_vector(int thread, const Entry& entry, const vector::Prepared& word, const Timing& timing);
    void accept_one_per_unit();
    bool may_accept(int thread, Unit unit, Timing& timing);
    bool may_vector(int thread, const Entry& entry, const Timing& timing);
    bool blocks_ready(const Timing& timing) const;
    bool moves_ready(Word word) const;
    void issue(int thread, Unit unit, const Timing& timing);
    void occupy(int thread, Unit unit, const Entry& entry, const Timing& timing);
    void execute_vector(int thread, const Entry& entry, const vector::Prepared& word, const Timing& timing);
    void note_vector(int thread, const Entry& entry, const Timing& timing);
    void note_writes(int thread, const Entry& entry, const Timing& timing);
    void note_config_use(int thread, const Entry& entry, Unit unit);
    bool config_ready(Word word) const;
    bool unpack_ready(Unit unit, Word word, int thread) const;
    bool pack_ready(Word word) const;
    // movement.cpp
    void issue_unpack(const Entry& entry, int thread, const Timing& timing);
    void issue_pack(const Entry& entry, int thread);
    void keep_rows(const Blocks& rows);
    void move_data();
    void move_scalar();
    void perform(const ScalarRequest& request);
    void move_unpacker(int unit, uint32_t speed);
    void move_packer(int unit);
    void store_config();
    // noc.cpp
    bool load_niu(uint32_t address, uint32_t& value) const;
    riscv::Answer store_niu(int core, uint32_t address, uint32_t value);
    void start_packet(Niu& niu);
    bool move_packet(Stream& stream, int client);
    void finish_packet(Niu& niu, Stream& stream);
    void move_port();
    // station.cpp: the NIUs of a tile on a grid
    uint32_t identity(int noc, uint32_t word) const;
    const char* fault_on_grid(int noc, Request& request) const;
    void move_station();
    void start_request(int noc);
    void dispatch(const Sent& parcel);
    bool transmit(int noc);
    void accept_arrival(int noc, const Arrival& arrival);
    bool receive(int noc);
    bool receive_data(int noc, const Arrival& arrival);
    bool receive_word(int noc, const Parcel& parcel);
    void finish_arrival(int noc, const Parcel& parcel);
    uint32_t perform_atomic(const Parcel& parcel);
    std::string describe_polled(uint32_t address) const;
    // sync.cpp
    bool blocked(int thread, Unit unit, Word word) const;
    bool holds_back(const Latch& latch, int thread) const;
    [[nodiscard]] bool condition(int bit, int thread) const;
    void move_latches();
    bool may_sync(int thread, Word word) const;
    uint32_t conditions_of(const Entry& entry, int thread);
    void execute_sync(const Entry& entry, int thread);
    // scalar.cpp
    Timing scalar_timing(Word word) const;
    bool scalar_ready(const Entry& entry, int thread);
    void execute_scalar(const Entry& entry, int thread, const Timing& timing);
    void load_indirect(const Entry& entry, int thread);
    void store_indirect(const Entry& entry, int thread);
    void atomic(const Entry& entry, int thread);
    void request_l1(ScalarRequest& request, const Entry& entry, int thread, uint64_t latency, uint32_t count);
    void reg_to_flop(const Entry& entry, int thread);
    uint32_t gpr(const Entry& entry, int thread, uint32_t index);
    void put_gpr(int thread, uint32_t index, uint32_t value, uint32_t mask, uint64_t latency, const Entry& entry);
    uint8_t* l1(const Entry& entry, int thread, uint32_t address, uint32_t size);
    // config.cpp
    Timing config_timing(Word word) const;
    void execute_config(const Entry& entry, int thread);

    bool moved = false;
    bool words_left = false;  // some thread still has words, so that the tile is not idle
    bool any_core = false;    // has left reset
    int scalar_holder = -1;   // the thread whose instruction waits in the scalar unit
    uint64_t last_move = 0, last_active = 0;
    bool ever_active = false;
    void active(uint64_t until);
    void tell_deadlock();
    [[nodiscard]] uint64_t timed_until() const;
};

Unit unit_of(Word word);

}  // namespace polyloom::tensix
