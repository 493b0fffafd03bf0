// SPDX-License-Identifier: Apache-2.0
// The cycle-accurate model of a tightly coupled processor array (docs/targets/tcpa.md), driven by configurations alone.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "account/snapshots.hpp"
#include "config.hpp"

namespace polyloom::tcpa {

// One functional unit: cycles by opcode, 0 where it lacks the operation.
struct Unit {
    std::array<uint16_t, 1024> latency{};
    bool pipelined = true;
};

struct Machine {
    std::vector<Unit> units;
    int64_t hop_delay = 0;
};

// The number is the last two digits of the diagnostic code.
enum class Cause : uint8_t {
    overflow = 10,
    underflow,
    two_pops,
    undriven,
    undefined,
    double_write,
    bank_conflict,
    busy,
    no_operation,
    division_by_zero,
    stray_token,
    missing_token,
    leftover,
    outside_program,
    runaway,
    address,
    type,
    overlap,
};

// `unit` is -1 when no functional unit is to blame; row and column are those of the whole array.
struct Fault : std::exception {
    Fault(Cause why, int64_t when, int r, int c, int u, std::string what)
        : cause(why), cycle(when), row(r), column(c), unit(u), text(std::move(what)) {}
    const char* what() const noexcept override { return text.c_str(); }

    Cause cause;
    int64_t cycle;
    int row, column, unit;
    std::string text;
};

// A configuration in a rectangle whose first element is (row, column), and the bytes of each input array
// (an empty span for an output, and for every array of a static run).
struct Placement {
    const Config* config = nullptr;
    int row = 0, column = 0;
    std::vector<std::span<const uint8_t>> inputs;
};

// One row for every operation that was issued, in order of cycles; `element` counts row by row.
struct Trace {
    std::vector<int32_t> element, unit, pc;
    std::vector<int64_t> cycle;
    std::vector<uint16_t> opcode;
    std::vector<uint64_t> value;
};

// What a static run saw of one instruction in any element of its class.
struct Coverage {
    bool executed = false;
    std::vector<uint8_t> driven;                // by destination: an od that led somewhere, or no od
    std::vector<uint8_t> codes;                 // by branch code
    std::vector<std::vector<uint64_t>> equals;  // by signal position: signals with equal values in every reading
};

struct Place {
    int32_t element = 0, index = 0;
    int64_t number = 0;
};

// What only a static run collects; a list holds the first place of each kind and element.
struct Report {
    std::vector<std::vector<std::vector<Coverage>>> coverage;  // by class, unit, instruction
    int64_t steps = 0;                                         // of the controller that some element needs
    int64_t shortest = -1;                                     // steps of the unit that halts first, -1 without a unit
    std::vector<Place> late;    // an id that a generator feeds, popped `number` cycles after the token
    std::vector<Place> unread;  // a general register written and not read before `number`
    std::vector<Place> idle;    // a connection that carries no token to an id or a bank
    std::vector<Place> wasted;  // signal `index` is 1 in step `number`, where no branch reads it
};

// Zeros that cost memory only where they are touched, as most of an output array may not be.
template <class T>
class Buffer {
  public:
    explicit Buffer(uint64_t size)
        : size_(size), words_(size ? static_cast<T*>(std::calloc(size, sizeof(T))) : nullptr) {
        if (size && !words_) throw std::bad_alloc();
    }
    uint64_t size() const { return size_; }
    T& operator[](uint64_t n) const { return words_.get()[n]; }
    T* release() { return words_.release(); }

  private:
    struct Free {
        void operator()(T* words) const { std::free(words); }
    };
    uint64_t size_;
    std::unique_ptr<T, Free> words_;
};

// Accesses of a run, by what they are of. A value that several registers take counts for each of them, and so do the
// crossings from wrapper to wrapper on its ways, its hops. An instruction that does nothing is fetched, too.
struct Counts {
    int64_t fetches = 0, register_reads = 0, register_writes = 0, fifo_reads = 0, fifo_writes = 0, bank_reads = 0,
            bank_writes = 0, hops = 0;
    std::vector<int64_t> operations = std::vector<int64_t>(1024);  // by opcode

    bool operator==(const Counts&) const = default;
};

// What one element of a class counts, and its writes by od.
struct ClassCounts {
    Counts counts;
    std::vector<int64_t> outputs;
};

void add(Counts& sum, const Counts& of, int64_t times);

struct Result {
    Result() = default;
    Result(Result&&) = default;
    Result& operator=(Result&&) = default;

    std::vector<Buffer<uint8_t>> outputs;  // by array: its elements' bytes; empty for inputs
    int64_t cycles = 0, operations = 0, first_issue = 0;
    std::vector<int64_t> issues;                                   // by unit
    std::vector<std::vector<uint32_t>> feedback_high, input_high;  // by class and register: greatest occupancy
    Counts counts;
    std::vector<ClassCounts> by_class;
    // How often an element of a class executed each instruction, by class, unit, instruction.
    std::vector<std::vector<std::vector<int64_t>>> executed;
    // Cycles that units are held by what they issued, by class and unit, of all its elements: from the first issue on,
    // where the account is asked for.
    Snapshots held;
    Trace trace;
    Report report;
};

class Terms;

struct Options {
    bool trace = false;
    // No data: values are element types, and every rule that does not depend on data is checked and counted.
    bool check_only = false;
    // Called with the cycle some times per second; what it throws ends the run.
    std::function<void(int64_t)> poll = {};
    // Values are terms of this store, inputs and outputs 64 bits per word, with the number of a term.
    Terms* terms = nullptr;
    // Throws the first fault in time. Otherwise it is the first that is found, which may be of a later cycle (a second
    // write, seen when it issues) or of an earlier one (tokens that are looked at when the next one is taken).
    bool first_fault = false;
    bool account = false;
};

// A value that an element takes or gives, relative to the element's start; `type` is what the instruction takes or
// makes.
struct Event {
    int64_t cycle = 0;
    uint32_t type = 0;
    auto operator<=>(const Event&) const = default;
};

// By class and register: the pops of each id, and what becomes ready at each od, both in ascending order.
struct Recording {
    std::vector<std::vector<std::vector<Event>>> taken, given;
};

// A static run of one element of every class that occurs, alone and without banks, from cycle 0 on: its ids hold
// whatever is asked for. What an element does, and when, depends on its class and start alone, for control signals are
// those of its step.
Result record(const Config& config, const Machine& machine, Recording& recording,
              const std::function<void(int64_t)>& poll);

// An access to a bank, as debuggers see it: of the word `address` of an array.
struct BankAccess {
    int32_t array = 0;
    bool writes = false;
    uint64_t address = 0, value = 0;
};

// What a register holds: `file` is rd, fd or id; of a FIFO the tokens in order, with those still on their way. Of a
// general register that was never written there are no values.
struct Held {
    File file = File::rd;
    uint32_t index = 0;
    std::vector<uint64_t> values;
};

// A run of one configuration that stops between cycles, for debuggers. Snapshots are copies of all that changes; they
// belong to the stepper that made them.
class Stepper {
  public:
    Stepper(const Config& config, const Machine& machine, std::vector<std::vector<uint8_t>> inputs);
    ~Stepper();
    Stepper(const Stepper&) = delete;

    // The next cycle in which something happens; false where nothing is left. Throws Fault, also for what is left over
    // at the end.
    bool step();
    int64_t cycle() const;                            // of the last step, -1 before the first
    const Trace& operations() const;                  // of the last step
    const std::vector<BankAccess>& accesses() const;  // of the last step
    std::vector<Held> registers(uint32_t element) const;
    // Bytes of an output array, and whether each of its words is written.
    std::pair<std::vector<uint8_t>, std::vector<uint8_t>> output(size_t array) const;

    struct State;
    struct Body;
    std::shared_ptr<const State> save() const;
    void restore(const State& state);

  private:
    std::unique_ptr<Body> body_;
};
uint64_t bytes_of(const Stepper::State& state);

// Runs configurations on disjoint rectangles side by side from cycle 0 on; throws Fault.
std::vector<Result> run(std::span<const Placement> placements, const Machine& machine, const Options& options);

}  // namespace polyloom::tcpa
