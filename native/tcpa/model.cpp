// SPDX-License-Identifier: Apache-2.0
// One clock for all placements. In each cycle input generators put their tokens, output generators take theirs, and
// every active element issues one instruction per unit. A write is entered when it is issued, with the first cycle that
// sees it; latencies are positive, so the order of elements and units within a cycle does not matter.
#include "model.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

#include "decode.hpp"
#include "state.hpp"
#include "terms.hpp"

namespace polyloom::tcpa {
namespace {

constexpr const char* type_names[] = {"i8", "i16", "i32", "f32", "u8", "u16", "u32", "bool", "f64"};

template <class T>
Word loaded(const uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return word(value);
}

// The element of an array's storage as a word.
Word load_element(Type type, const uint8_t* at) {
    switch (type) {
        case Type::i8: return loaded<int8_t>(at);
        case Type::i16: return loaded<int16_t>(at);
        case Type::i32: return loaded<int32_t>(at);
        case Type::u16: return loaded<uint16_t>(at);
        case Type::f64: return loaded<uint64_t>(at);
        case Type::u8: return *at;
        case Type::boolean: return *at != 0;
        default: return loaded<uint32_t>(at);
    }
}

// The low bytes of a word; the order of bytes is that of the host, as NumPy's is.
void store_element(Type type, uint8_t* at, Word value) {
    const auto byte = uint8_t(value);
    const auto half = uint16_t(value);
    const auto single = uint32_t(value);
    switch (bytes_of(type)) {
        case 1: std::memcpy(at, &byte, 1); return;
        case 2: std::memcpy(at, &half, 2); return;
        case 4: std::memcpy(at, &single, 4); return;
        default: std::memcpy(at, &value, 8);
    }
}

// The type that an instruction takes as its operand `source`.
uint32_t wanted_type(const Code& code, unsigned source) {
    return uint32_t(operation_of(code.opcode) == Operation::select && source == 0 ? Type::i32 : type_of(code.opcode));
}

// What values are: numbers, without and with a trace; element types, in a static run (`verify`), which has no data and
// collects in a Report what is never used; or terms (terms.hpp). The choice is made at compile time, because it stands
// in the innermost loops.
enum class Mode : uint8_t { numbers, traced, types, terms };

// A configuration that runs on its rectangle of the array.
template <Mode M>
class Rectangle {
    static constexpr bool Static = M == Mode::types, Traced = M == Mode::traced, Symbolic = M == Mode::terms;

  public:
    Rectangle(const Placement& placement, const Machine& machine, Recording* recording = nullptr,
              Terms* terms = nullptr, bool first_fault = false);

    // The next cycle after `now` in which something happens.
    int64_t next(int64_t now) const {
        return !active_.empty() ? now + 1 : std::min({readers_.next(), writers_.next(), activation()});
    }
    void cycle(int64_t now);
    void account();
    Result finish();
    void check_end() const;
    void count();
    static void count_instruction(ClassCounts& own, const Code& code, int64_t times);
    friend class polyloom::tcpa::Stepper;
    friend struct polyloom::tcpa::Stepper::State;
    friend struct polyloom::tcpa::Stepper::Body;
    // With `first_fault`: throws the earliest fault before cycle `now`, and what overflows in it.
    void check_past(int64_t now);

  private:
    [[noreturn]] void fail(Cause cause, int64_t cycle, uint32_t element, int unit, const std::string& what) const;
    [[noreturn]] void fail(Cause cause, int64_t cycle, const BorderPort& port, const std::string& what) const;
    static std::string name(const Fifo& fifo);
    static uint64_t stored_bytes(const Array& array) { return Symbolic ? sizeof(Word) : bytes_of(Type(array.type)); }

    template <class Check>
    void postpone(Check&& check);

    void intern_immediates();
    void build_elements();
    void connect();
    std::vector<Place> idle_connections() const;

    int64_t activation() const { return waiting_.empty() ? never : waiting_.back()->start; }
    void stream(Streams& streams, int64_t now);
    void put(const Stream& stream, uint64_t address, int64_t now);
    void take(const Stream& stream, uint64_t address, int64_t now);

    void step_signals();
    void note_unread_signals(int64_t step);
    void element(Element& element, int64_t now);
    void retire(Element& element);
    void inspect(const Element& element, UnitState& unit, const Code& code, int64_t now) const;
    [[gnu::always_inline]] void issue(Element& element, UnitState& unit, const Code& code, int64_t now);
    void note_driven(const Element& element, const Code& code);
    Word compute(const Element& element, const UnitState& unit, const Code& code, const Word* operands,
                 int64_t now) const;
    bool branch(const Element& element, UnitState& unit, const Code& code);
    void note_branch(const Element& element, const Code& code, uint32_t number);

    [[gnu::always_inline]] void settle(Element& element, General& general, size_t index, int64_t now);
    [[gnu::always_inline]] Word read(Element& element, const UnitState& unit, uint32_t index, int64_t now);
    Word take_recorded(Element& element, const UnitState& unit, const Code& code, unsigned source, int64_t now);
    [[gnu::always_inline]] Word pop(Fifo& fifo, const UnitState& unit, int64_t now);
    [[noreturn]] void fail_pop(const Fifo& fifo, const UnitState& unit, int64_t now) const;
    [[gnu::always_inline]] void push(Fifo& fifo, int unit, Token token, int64_t now);
    void push_slowly(Fifo& fifo, int unit, Token token, int64_t now);
    void check_room(Fifo& fifo, int64_t now) const;
    [[gnu::always_inline]] void count_arrived(Fifo& fifo, int64_t now) const;
    void raise_high(Fifo& fifo) const;
    void note_late(const Fifo& fifo, int64_t slack);
    void note_dead(const Element& element, size_t index, int64_t cycle);

    const Config& config_;
    const Placement& placement_;
    const Machine& machine_;
    Recording* const recording_;  // of a static run of single elements
    Terms* const terms_;
    const bool first_fault_;
    std::optional<Fault> postponed_;
    Wires wires_;
    Result result_;
    Programs programs_;
    std::vector<Element> elements_;  // only those with a program
    // The registers that elements refer to, in deques because references must stay valid while more are added.
    std::deque<std::vector<General>> generals_;
    std::deque<std::vector<Queue>> later_;
    std::deque<std::vector<Fifo>> fifos_;
    std::deque<std::vector<Output>> outputs_;
    std::vector<int32_t> element_at_;         // their positions, row by row
    std::vector<Element*> waiting_, active_;  // waiting: the last one starts first
    std::map<BorderPort, std::vector<Sink>> entries_;
    std::map<BorderPort, int64_t> entry_links_;  // crossings of a token to all its sinks
    std::map<BorderPort, Fifo> exits_;
    std::map<BorderPort, Bank> banks_;
    Streams readers_, writers_;
    std::vector<Buffer<uint8_t>> written_;  // by output array and word
    int64_t first_issue_ = -1, last_write_ = -1;
    static constexpr size_t MOST_SNAPSHOTS = 512;
    std::vector<uint64_t> held_;  // empty without an account
    bool uniform_ = true;
    std::vector<BankAccess>* accesses_ = nullptr;  // where a debugger wants them

    // Control signals of the latest steps, one bit each. Elements see a step one after another, with the controller's
    // delays, so the ring has as many steps as the farthest element is behind the first one.
    size_t signal_words_ = 0;
    int64_t ring_ = 1, generated_ = 0, used_steps_ = 0;
    std::vector<uint64_t> signals_, readings_;
    std::vector<int64_t> digits_;
};

template <Mode M>
void Rectangle<M>::fail(Cause cause, int64_t cycle, uint32_t element, int unit, const std::string& what) const {
    const int row = placement_.row + int(element / config_.columns),
              column = placement_.column + int(element % config_.columns);
    throw Fault(cause, cycle, row, column, unit, what);
}

template <Mode M>
void Rectangle<M>::fail(Cause cause, int64_t cycle, const BorderPort& port, const std::string& what) const {
    static constexpr const char* sides[] = {"pe", "north", "east", "south", "west"};
    fail(cause, cycle, wires_.element(port), -1,
         what + " at the " + sides[int(port.side)] + " bank of channel " + std::to_string(port.channel));
}

template <Mode M>
std::string Rectangle<M>::name(const Fifo& fifo) {
    return (fifo.is_port ? "border port " : fifo.feedback ? "fd" : "id") + std::to_string(fifo.index);
}

// Keeps the earliest of the faults that `check` throws, where the first one in time is asked for.
template <Mode M>
template <class Check>
void Rectangle<M>::postpone(Check&& check) {
    if (!first_fault_) return check();
    try {
        check();
    } catch (const Fault& fault) {
        if (!postponed_ || fault.cycle < postponed_->cycle) postponed_.emplace(fault);
    }
}

template <Mode M>
void Rectangle<M>::check_past(int64_t now) {
    if (!first_fault_) return;
    for (Element& element : elements_)
        for (Fifo& fifo : element.fifos) postpone([&] { count_arrived(fifo, now); });
    for (const auto& exit : exits_) {
        const auto& tokens = exit.second.tokens;
        if (tokens.empty() || tokens.front().ready >= now) continue;
        postpone([&] {
            fail(Cause::stray_token, tokens.front().ready, exit.first, "a token arrives and no enabled step is due");
        });
    }
    if (postponed_ && (postponed_->cycle < now || postponed_->cause == Cause::overflow)) throw Fault(*postponed_);
}

// Whether all operations have one latency. Values then become ready in the order of their issue, and need no sorting.
static bool uniform(const Machine& machine) {
    uint16_t latency = 0;
    for (const Unit& unit : machine.units)
        for (uint16_t l : unit.latency) {
            if (latency && l && l != latency) return false;
            if (l) latency = l;
        }
    return true;
}

template <Mode M>
Rectangle<M>::Rectangle(const Placement& placement, const Machine& machine, Recording* recording, Terms* terms,
                        bool first_fault)
    : config_(*placement.config), placement_(placement), machine_(machine), recording_(recording), terms_(terms),
      first_fault_(first_fault), wires_(config_),
      programs_(decode(config_, machine, Static ? &result_.report.coverage : nullptr)),
      digits_(config_.extents.size()) {
    result_.issues.resize(machine.units.size());
    uniform_ = uniform(machine);
    if constexpr (Symbolic) intern_immediates();
    build_elements();
    connect();
    const Controller& controller = config_.controller;
    ring_ = int64_t(signal_ring(config_));
    signal_words_ = (controller.signals.size() + 63) / 64;
    signals_.resize(signal_words_ * size_t(ring_));
    if constexpr (Static) readings_.resize(signals_.size());
}

// Immediates are constants of the type that their instruction takes.
template <Mode M>
void Rectangle<M>::intern_immediates() {
    for (auto& units : programs_)
        for (auto& program : units)
            for (Code& code : program)
                for (unsigned n = 0; n < code.sources; ++n)
                    if (code.file[n] == File::immediate)
                        code.source[n] = terms_->constant(Type(wanted_type(code, n)), code.source[n]);
}

template <Mode M>
void Rectangle<M>::build_elements() {
    const Controller& controller = config_.controller;
    element_at_.assign(config_.element_class.size(), -1);
    for (uint32_t index = 0; index < config_.element_class.size(); ++index) {
        const int32_t number = config_.element_class[index];
        if (number < 0) continue;
        const ElementProgram& words = config_.classes[size_t(number)];
        const auto used = registers_used(words, wires_.connections(index));
        Element element;
        element.index = index;
        const int64_t row = index / config_.columns, column = index % config_.columns;
        element.start = controller.start + controller.row_delay * (controller.south ? config_.rows - 1 - row : row) +
                        controller.column_delay * (controller.east ? config_.columns - 1 - column : column);
        element.number = number;
        element.general = generals_.emplace_back(used[0]);
        element.later = later_.emplace_back(used[0]);
        element.fifos = fifos_.emplace_back(used[1] + used[2]);
        element.output = outputs_.emplace_back(used[3]);
        for (size_t n = 0; n < element.fifos.size(); ++n) {
            Fifo& fifo = element.fifos[n];
            fifo.feedback = fifo.driven = n < used[1];
            fifo.index = uint8_t(fifo.feedback ? n : n - used[1]);
            fifo.element = index;
            const auto& depths = fifo.feedback ? words.feedback_depths : words.input_depths;
            if (fifo.index < depths.size()) fifo.depth = uint32_t(depths[fifo.index]);
        }
        element.inputs = uint32_t(used[1]);
        for (size_t u = 0; u < words.programs.size(); ++u)
            if (!words.programs[u].empty()) {
                const std::vector<Code>& program = programs_[size_t(number)][u];
                element.running.push_back({program.data(), int32_t(u), 0, &program});
            }
        element_at_[index] = int32_t(elements_.size());
        elements_.push_back(std::move(element));
    }
    for (Element& element : elements_)
        if (!element.running.empty()) waiting_.push_back(&element);
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Element* a, const Element* b) { return a->start > b->start; });
}

template <Mode M>
void Rectangle<M>::connect() {
    for (const Generator& generator : config_.generators) {
        const BorderPort port{generator.side, generator.position, generator.channel};
        const Array& array = config_.arrays[generator.array];
        Stream stream{&generator, port, Scan(*generator.domain, config_.extents)};
        if (!stream.scan.done()) stream.due = generator.delay + stream.scan.step() * config_.initiation_interval;
        stream.words = words_of(array);
        stream.bank = &banks_[port];
        if (!array.is_output) stream.sinks = &entries_[port];
        (array.is_output ? writers_ : readers_).add(std::move(stream));
    }
    const auto attach = [&](uint32_t element, uint32_t connection, Fifo& fifo) {
        const auto driver = wires_.driver(element, connection);
        if (!driver) return;
        const Sink sink{&fifo, machine_.hop_delay * driver->links()};
        if (driver->border) {
            const auto entry = entries_.find(*driver->border);
            if (entry == entries_.end()) return;
            entry->second.push_back(sink);
            entry_links_[*driver->border] += driver->links();
            fifo.fed = true;
        } else {
            if (element_at_[driver->element] < 0) return;
            Output& output = elements_[size_t(element_at_[driver->element])].output[driver->index];
            output.sinks.push_back(sink);
            output.links += driver->links();
            output.registers += !fifo.is_port;
        }
        fifo.driven = true;
    };
    for (uint32_t index = 0; index < config_.wrapper.size(); ++index) {
        const auto& connections = wires_.connections(index);
        for (uint32_t n = 0; n < connections.size(); ++n) {
            const Port sink = connections[n].sink;
            if (const auto port = wires_.border(index, sink)) {
                Fifo& exit = exits_[*port];
                exit.element = index;
                exit.is_port = true;
                exit.index = uint8_t(port->channel);
                attach(index, n, exit);
            } else if (sink.location == Location::pe && element_at_[index] >= 0) {
                Element& element = elements_[size_t(element_at_[index])];
                attach(index, n, element.fifos[element.inputs + sink.index]);
            }
        }
    }
    for (Stream& writer : writers_.all)
        if (const auto exit = exits_.find(writer.port); exit != exits_.end()) writer.exit = &exit->second;
    for (const Array& array : config_.arrays) {
        const uint64_t words = array.is_output ? words_of(array) : 0;
        written_.emplace_back(words);
        result_.outputs.emplace_back(Static ? 0 : words * stored_bytes(array));
    }
}

template <Mode M>
void Rectangle<M>::cycle(int64_t now) {
    // Time starts with the first issue.
    while (first_issue_ >= 0 && uint64_t(now - first_issue_) >= result_.held.next) [[unlikely]]
        result_.held.take(held_);
    stream(readers_, now);
    stream(writers_, now);
    while (activation() <= now) {
        active_.push_back(waiting_.back());
        waiting_.pop_back();
    }
    bool halted = false;
    for (Element* e : active_) {
        element(*e, now);
        halted |= e->running.empty();
    }
    if (halted) std::erase_if(active_, [](const Element* e) { return e->running.empty(); });
}

// Lets all generators work whose next step is due: each walks its enable domain in scan order, and makes the one access
// that its bank can take in this cycle.
template <Mode M>
void Rectangle<M>::stream(Streams& streams, int64_t now) {
    while (streams.next() <= now) {
        Stream& stream = streams.pop();
        const Generator& g = *stream.generator;
        if (stream.bank->last_access == now) fail(Cause::bank_conflict, now, stream.port, "two accesses in a cycle");
        stream.bank->last_access = now;
        const int64_t address = affine(g.coefficients, stream.scan.digits(), g.base);
        if (address < 0 || uint64_t(address) >= stream.words)
            fail(Cause::address, now, stream.port,
                 "word " + std::to_string(address) + " lies outside " + config_.arrays[g.array].name);
        ++stream.accesses;
        config_.arrays[g.array].is_output ? take(stream, uint64_t(address), now) : put(stream, uint64_t(address), now);
        if (!stream.scan.advance())
            fail(Cause::overlap, now, stream.port, "two convex sets of the enable domain overlap");
        if (stream.scan.done()) continue;
        stream.due = g.delay + stream.scan.step() * config_.initiation_interval;
        streams.wait(stream);
    }
}

template <Mode M>
void Rectangle<M>::put(const Stream& stream, uint64_t address, int64_t now) {
    const uint32_t array = stream.generator->array;
    const Type type = Type(config_.arrays[array].type);
    const Word value = Static     ? Word(type)
                       : Symbolic ? loaded<Word>(placement_.inputs[array].data() + address * sizeof(Word))
                                  : load_element(type, placement_.inputs[array].data() + address * bytes_of(type));
    if constexpr (Traced)
        if (accesses_) accesses_->push_back({int32_t(array), false, address, value});
    for (const Sink& sink : *stream.sinks) push(*sink.fifo, -1, {now + sink.delay, value}, now);
}

// A token at a border port must be taken in the cycle in which it arrives: there is no buffer.
template <Mode M>
void Rectangle<M>::take(const Stream& stream, uint64_t address, int64_t now) {
    const uint32_t array = stream.generator->array;
    if (!stream.exit || stream.exit->tokens.empty() || stream.exit->tokens.front().ready > now)
        fail(Cause::missing_token, now, stream.port, "the address generator is enabled and no token arrives");
    const Token token = stream.exit->tokens.front();
    if (token.ready < now)
        fail(Cause::stray_token, token.ready, stream.port, "a token arrives and no enabled step is due");
    stream.exit->tokens.pop();
    if (Static && token.value != any_type && token.value != config_.arrays[array].type)
        fail(
            Cause::type, now, stream.port,
            std::string("a value of type ") + type_names[token.value] + " is written to " + config_.arrays[array].name);
    if (written_[array][address])
        fail(Cause::double_write, now, stream.port,
             "word " + std::to_string(address) + " of " + config_.arrays[array].name + " is written twice");
    written_[array][address] = 1;
    if constexpr (!Static) {
        const Type type = Symbolic ? Type::f64 : Type(config_.arrays[array].type);
        store_element(type, &result_.outputs[array][address * bytes_of(type)], token.value);
    }
    if constexpr (Traced)
        if (accesses_) accesses_->push_back({int32_t(array), true, address, token.value});
    last_write_ = now;
}

// Computes the control signals of step `generated_`, over those of a step that every element has left. Steps are
// generated in order, when the first element reaches them, so that digits count up like an odometer.
template <Mode M>
void Rectangle<M>::step_signals() {
    if constexpr (Static) note_unread_signals(generated_ - ring_);
    const auto& signals = config_.controller.signals;
    uint64_t* words = signals_.data() + size_t(generated_ & (ring_ - 1)) * signal_words_;
    std::fill_n(words, signal_words_, 0);
    if constexpr (Static)
        std::fill_n(readings_.data() + size_t(generated_ & (ring_ - 1)) * signal_words_, signal_words_, 0);
    for (size_t s = 0; s < signals.size(); ++s)
        if (contains(*signals[s], digits_)) words[s / 64] |= uint64_t(1) << (s % 64);
    ++generated_;
    for (size_t m = 0; m < digits_.size(); ++m) {
        if (++digits_[m] < config_.extents[m] || m + 1 == digits_.size()) break;
        digits_[m] = 0;
    }
}

// Reports signals that are 1 in a step in which no branch reads them; called when the step leaves the ring.
template <Mode M>
void Rectangle<M>::note_unread_signals(int64_t step) {
    if (step < 0) return;
    auto& wasted = result_.report.wasted;
    for (size_t s = 0; s < config_.controller.signals.size(); ++s) {
        const size_t word = size_t(step & (ring_ - 1)) * signal_words_ + s / 64;
        if (((signals_[word] & ~readings_[word]) >> (s % 64) & 1) == 0) continue;
        if (std::none_of(wasted.begin(), wasted.end(), [&](const Place& p) { return p.index == int32_t(s); }))
            wasted.push_back({0, int32_t(s), step});
    }
}

// One cycle of an element. A step takes `initiation_interval` cycles, its slots; the signals of the step hold in all of
// them.
template <Mode M>
void Rectangle<M>::element(Element& element, int64_t now) {
    if (element.slot == 0) {
        if (element.step >= config_.controller.steps)
            fail(Cause::runaway, now, element.index, element.running[0].unit,
                 "the unit runs on after the controller's last step");
        used_steps_ = std::max(used_steps_, element.step + 1);
        if (element.step == generated_) step_signals();
        element.signals = signals_.data() + size_t(element.step & (ring_ - 1)) * signal_words_;
    }
    bool halted = false;
    for (UnitState& unit : element.running) {
        const Code& code = *unit.at;
        ++code.executed;
        if constexpr (Static)
            if (code.coverage) code.coverage->executed = true;
        if (code.opcode != opcode_nop) {
            issue(element, unit, code, now);
            if (unit.held) [[unlikely]]
                *unit.held += code.holds;
        } else if (code.outside)
            fail(Cause::outside_program, now, element.index, unit.unit, "the program ends without halting");
        if (!branch(element, unit, code)) {
            unit.at = nullptr;
            halted = true;
        }
    }
    if (halted) retire(element);
    if (++element.slot == config_.initiation_interval) {
        element.slot = 0;
        ++element.step;
    }
}

// Counts for the account over time what instructions that issue hold their units for, by class and unit.
template <Mode M>
void Rectangle<M>::account() {
    held_.resize(config_.classes.size() * machine_.units.size());
    result_.held.start(held_.size(), MOST_SNAPSHOTS, 1);
    for (Element& element : elements_)
        for (UnitState& unit : element.running)
            unit.held = &held_[size_t(element.number) * machine_.units.size() + size_t(unit.unit)];
}

// Drops the units that halted.
template <Mode M>
void Rectangle<M>::retire(Element& element) {
    std::erase_if(element.running, [](const UnitState& unit) { return !unit.at; });
    int64_t& shortest = result_.report.shortest;
    if (shortest < 0 || element.step < shortest) shortest = element.step + 1;
}

// The rare checks before an instruction issues; only instructions that decoding marks as special need them.
template <Mode M>
void Rectangle<M>::inspect(const Element& element, UnitState& unit, const Code& code, int64_t now) const {
    if (code.latency == 0)
        fail(Cause::no_operation, now, element.index, unit.unit,
             "the unit has no operation " + std::to_string(code.opcode));
    if (now < unit.free)
        fail(Cause::busy, now, element.index, unit.unit, "the unit is still busy with its last operation");
    if (!machine_.units[size_t(unit.unit)].pipelined) unit.free = now + code.latency;
}

template <Mode M>
inline void Rectangle<M>::issue(Element& element, UnitState& unit, const Code& code, int64_t now) {
    if (code.special) inspect(element, unit, code, now);
    Word operands[max_sources] = {};
    for (unsigned n = 0; n < code.sources; ++n) {
        if (code.file[n] == File::rd)
            operands[n] = read(element, unit, uint32_t(code.source[n]), now);
        else if (Static && recording_ && code.file[n] == File::fd && code.source[n] >= element.inputs)
            operands[n] = take_recorded(element, unit, code, n, now);
        else if (code.file[n] == File::fd)
            operands[n] = pop(element.fifos[code.source[n]], unit, now);
        else
            operands[n] = code.source[n];
    }
    const Token result{now + code.latency, compute(element, unit, code, operands, now)};
    const uint8_t* to = code.destination.data();
    for (unsigned n = code.to_general; n; --n, ++to) {
        General& general = element.general[*to];
        settle(element, general, *to, now);
        if (!general.write(result, element.later[*to]))
            postpone([&] {
                fail(Cause::double_write, result.ready, element.index, unit.unit,
                     "two writes to rd" + std::to_string(*to) + " in a cycle");
            });
    }
    for (unsigned n = code.to_feedback; n; --n, ++to) push(element.fifos[*to], unit.unit, result, now);
    for (unsigned n = code.to_output; n; --n, ++to) {
        Output& output = element.output[*to];
        if (!output.write(result.ready, now, uniform_))
            postpone([&] {
                fail(Cause::double_write, result.ready, element.index, unit.unit,
                     "two writes to od" + std::to_string(*to) + " in a cycle");
            });
        if constexpr (Static)
            if (recording_)
                recording_->given[size_t(element.number)][*to].push_back({result.ready, uint32_t(result.value)});
        for (const Sink& sink : output.sinks)
            push(*sink.fifo, unit.unit, {result.ready + sink.delay, result.value}, now);
    }
    if constexpr (Static) note_driven(element, code);
    if (first_issue_ < 0) first_issue_ = now;
    if constexpr (Traced) {
        Trace& trace = result_.trace;
        trace.element.push_back(int32_t(element.index));
        trace.unit.push_back(unit.unit);
        trace.pc.push_back(int32_t(unit.pc()));
        trace.cycle.push_back(now);
        trace.opcode.push_back(code.opcode);
        trace.value.push_back(result.value);
    }
}

template <Mode M>
void Rectangle<M>::note_driven(const Element& element, const Code& code) {
    const unsigned registers = code.to_general + code.to_feedback;
    for (unsigned n = 0; n < registers + code.to_output; ++n)
        code.coverage->driven[code.position[n]] |= n < registers || !element.output[code.destination[n]].sinks.empty();
}

template <Mode M>
Word Rectangle<M>::compute(const Element& element, const UnitState& unit, const Code& code, const Word* operands,
                           int64_t now) const {
    if constexpr (Static) {
        const Operation operation = operation_of(code.opcode);
        for (unsigned n = 0; n < code.sources; ++n) {
            const uint32_t wanted = wanted_type(code, n);
            if (operands[n] == wanted || operands[n] == any_type) continue;
            fail(Cause::type, now, element.index, unit.unit,
                 "operand " + std::to_string(n) + " is of type " + type_names[operands[n]] +
                     " where the instruction takes " + type_names[wanted]);
        }
        return Word(result_of(operation, type_of(code.opcode)));
    }
    if constexpr (Symbolic)
        return terms_->apply_later(operation_of(code.opcode), type_of(code.opcode), Terms::Id(operands[0]),
                                   Terms::Id(operands[1]), Terms::Id(operands[2]));
    if (code.special && divides(code.opcode) && operands[1] == 0)
        fail(Cause::division_by_zero, now, element.index, unit.unit, "integer division by zero");
    return code.function(operands[0], operands[1], operands[2]);
}

// False when the unit halts.
template <Mode M>
inline bool Rectangle<M>::branch(const Element& element, UnitState& unit, const Code& code) {
    if (code.branch == Branch::next) {
        ++unit.at;
    } else if (code.branch == Branch::halt) {
        return false;
    } else {
        uint32_t number = 0;
        for (unsigned n = 0; n < code.signals; ++n)
            number |= uint32_t(element.signals[code.signal[n] / 64] >> (code.signal[n] % 64) & 1) << n;
        unit.at = code.targets[number];
        if constexpr (Static) note_branch(element, code, number);
    }
    return true;
}

// Notes the code that a branch met, and for each of its signals narrows the set of control signals that always had the
// same value: the lowest of these could have been read instead.
template <Mode M>
void Rectangle<M>::note_branch(const Element& element, const Code& code, uint32_t number) {
    if (code.branch != Branch::select) return;
    const auto row = size_t(element.signals - signals_.data());
    code.coverage->codes[number] = 1;
    for (size_t n = 0; n < code.signals; ++n) {
        readings_[row + code.signal[n] / 64] |= uint64_t(1) << (code.signal[n] % 64);
        for (size_t w = 0; w < signal_words_; ++w)
            code.coverage->equals[n][w] &= number >> n & 1 ? signals_[row + w] : ~signals_[row + w];
    }
}

// Reports a value that was overwritten, or left at the end, and that nothing read: once for each register.
template <Mode M>
void Rectangle<M>::note_dead(const Element& element, size_t index, int64_t cycle) {
    auto& unread = result_.report.unread;
    const auto same = [&](const Place& p) { return p.element == int32_t(element.index) && p.index == int32_t(index); };
    if (std::none_of(unread.begin(), unread.end(), same))
        unread.push_back({int32_t(element.index), int32_t(index), cycle});
}

// Lets writes take effect that are ready by cycle `now`. Registers are settled only when they are touched, which costs
// nothing for those that are not.
template <Mode M>
inline void Rectangle<M>::settle(Element& element, General& general, size_t index, int64_t now) {
    while (general.waiting && general.next.ready <= now) {
        if constexpr (Static)
            if (general.defined && !general.read) note_dead(element, index, general.next.ready);
        general.take_next(element.later[index]);
    }
}

template <Mode M>
inline Word Rectangle<M>::read(Element& element, const UnitState& unit, uint32_t index, int64_t now) {
    General& general = element.general[index];
    settle(element, general, index, now);
    if (!general.defined)
        fail(Cause::undefined, now, element.index, unit.unit,
             "rd" + std::to_string(index) + " is read before it is written");
    general.read = true;
    return general.value;
}

// Tokens that are still on their way take no room in the FIFO; those that have arrived do.
template <Mode M>
inline void Rectangle<M>::count_arrived(Fifo& fifo, int64_t now) const {
    if (fifo.tokens.latest() <= now) fifo.arrived = fifo.tokens.size();
    while (fifo.arrived < fifo.tokens.size() && fifo.tokens[fifo.arrived].ready <= now) ++fifo.arrived;
    if (fifo.arrived > fifo.high) raise_high(fifo);
}

template <Mode M>
void Rectangle<M>::raise_high(Fifo& fifo) const {
    fifo.high = fifo.arrived;
    if (fifo.high > fifo.depth)
        fail(Cause::overflow, fifo.tokens[fifo.depth].ready, fifo.element, -1,
             name(fifo) + " holds more than its depth of " + std::to_string(fifo.depth));
}

template <Mode M>
void Rectangle<M>::fail_pop(const Fifo& fifo, const UnitState& unit, int64_t now) const {
    if (fifo.last_pop == now)
        fail(Cause::two_pops, now, fifo.element, unit.unit, name(fifo) + " is read twice in a cycle");
    if (!fifo.driven)
        fail(Cause::undriven, now, fifo.element, unit.unit, name(fifo) + " is read and nothing drives its port");
    fail(Cause::underflow, now, fifo.element, unit.unit, name(fifo) + " is read and holds no token");
}

// Occupancy rises only between pops, so that its maximum is found by looking at every pop.
template <Mode M>
inline Word Rectangle<M>::pop(Fifo& fifo, const UnitState& unit, int64_t now) {
    if (fifo.last_pop == now || fifo.tokens.empty() || fifo.tokens.front().ready > now) fail_pop(fifo, unit, now);
    count_arrived(fifo, now);
    const Token token = fifo.tokens.front();
    if constexpr (Static) note_late(fifo, now - token.ready);
    fifo.tokens.pop();
    --fifo.arrived;
    fifo.last_pop = now;
    return token.value;
}

// From an id that holds whatever is asked for.
template <Mode M>
Word Rectangle<M>::take_recorded(Element& element, const UnitState& unit, const Code& code, unsigned source,
                                 int64_t now) {
    Fifo& fifo = element.fifos[code.source[source]];
    if (fifo.last_pop == now) fail_pop(fifo, unit, now);
    fifo.last_pop = now;
    recording_->taken[size_t(element.number)][fifo.index].push_back({now, wanted_type(code, source)});
    return any_type;
}

template <Mode M>
void Rectangle<M>::note_late(const Fifo& fifo, int64_t slack) {
    auto& late = result_.report.late;
    const auto same = [&](const Place& p) { return p.element == int32_t(fifo.element) && p.index == fifo.index; };
    if (fifo.fed && slack && std::none_of(late.begin(), late.end(), same))
        late.push_back({int32_t(fifo.element), fifo.index, slack});
}

template <Mode M>
inline void Rectangle<M>::push(Fifo& fifo, int unit, Token token, int64_t now) {
    if (!fifo.tokens.append(token)) push_slowly(fifo, unit, token, now);
}

// What `append` does not take: a full ring, or a token that is ready before the latest one.
template <Mode M>
void Rectangle<M>::push_slowly(Fifo& fifo, int unit, Token token, int64_t now) {
    if (fifo.tokens.full() && !fifo.tokens.empty()) check_room(fifo, now);
    if (!fifo.tokens.insert(token))
        postpone([&] {
            fail(Cause::double_write, token.ready, fifo.element, unit,
                 "two tokens enter " + name(fifo) + " in a cycle");
        });
}

// Bounds the memory of FIFOs whose tokens are never taken: before a ring grows, what has arrived must fit the depth,
// and at a border port nothing may have arrived at all.
template <Mode M>
void Rectangle<M>::check_room(Fifo& fifo, int64_t now) const {
    if (!fifo.is_port) return count_arrived(fifo, now);
    if (fifo.tokens.front().ready < now)
        fail(Cause::stray_token, fifo.tokens.front().ready, fifo.element, -1,
             "a token arrives at a border port and no enabled step is due");
}

static int32_t packed(Port port) { return int32_t(port.index * 8 + uint32_t(port.location)); }

// The connections that no token passes. Paths are walked from each place where a token ends, a register or a bank, back
// to what drives it; what no such path passes is idle.
template <Mode M>
std::vector<Place> Rectangle<M>::idle_connections() const {
    std::vector<std::vector<uint8_t>> busy;
    for (uint32_t index = 0; index < config_.wrapper.size(); ++index)
        busy.emplace_back(wires_.connections(index).size());
    const auto carries = [&](const Driver& driver) {
        if (!driver.border) {
            const int32_t at = element_at_[driver.element];
            return at >= 0 && elements_[size_t(at)].output[driver.index].latest >= 0;
        }
        const auto same = [&](const Stream& s) { return s.port == *driver.border && !s.generator->domain->empty(); };
        return std::any_of(readers_.all.begin(), readers_.all.end(), same);
    };
    for (uint32_t index = 0; index < busy.size(); ++index)
        for (uint32_t n = 0; n < busy[index].size(); ++n) {
            const Port sink = wires_.connections(index)[n].sink;
            if (sink.location == Location::pe ? element_at_[index] < 0 : !wires_.border(index, sink)) continue;
            const auto driver = wires_.driver(index, n);
            if (!driver || !carries(*driver)) continue;
            for (const WireConnection& c : driver->path) busy[c.element][c.connection] = 1;
        }
    std::vector<Place> idle;
    for (uint32_t index = 0; index < busy.size(); ++index)
        for (uint32_t n = 0; n < busy[index].size(); ++n)
            if (const auto [sink, source] = wires_.connections(index)[n]; !busy[index][n])
                idle.push_back({int32_t(index), packed(source), packed(sink)});
    return idle;
}

// Counts what instructions did, element by element of each class alike, then what wires and banks did.
template <Mode M>
void Rectangle<M>::count() {
    std::vector<int64_t> elements(config_.classes.size());
    for (const Element& element : elements_) ++elements[size_t(element.number)];
    for (size_t number = 0; number < programs_.size(); ++number) {
        ClassCounts& own = result_.by_class.emplace_back();
        auto& executed = result_.executed.emplace_back(programs_[number].size());
        for (size_t unit = 0; elements[number] && unit < programs_[number].size(); ++unit)
            for (const Code& code : programs_[number][unit]) {
                const int64_t times = code.executed / elements[number];
                executed[unit].push_back(times);
                count_instruction(own, code, times);
                if (code.opcode != opcode_nop) result_.issues[unit] += code.executed;
            }
        add(result_.counts, own.counts, elements[number]);
    }
    Counts& counts = result_.counts;
    for (const Element& element : elements_) {
        const auto& writes = result_.by_class[size_t(element.number)].outputs;
        for (size_t n = 0; n < std::min(writes.size(), element.output.size()); ++n) {
            counts.hops += writes[n] * element.output[n].links;
            counts.fifo_writes += writes[n] * element.output[n].registers;
        }
    }
    for (const Stream& reader : readers_.all) {
        counts.bank_reads += reader.accesses;
        counts.fifo_writes += reader.accesses * int64_t(reader.sinks->size());
        const auto links = entry_links_.find(reader.port);
        if (links != entry_links_.end()) counts.hops += reader.accesses * links->second;
    }
    for (const Stream& writer : writers_.all) counts.bank_writes += writer.accesses;
}

template <Mode M>
void Rectangle<M>::count_instruction(ClassCounts& own, const Code& code, int64_t times) {
    own.counts.fetches += times;
    if (code.opcode == opcode_nop) return;
    own.counts.operations[code.opcode] += times;
    for (unsigned n = 0; n < code.sources; ++n) {
        own.counts.register_reads += code.file[n] == File::rd ? times : 0;
        own.counts.fifo_reads += code.file[n] == File::fd ? times : 0;
    }
    own.counts.register_writes += times * code.to_general;
    own.counts.fifo_writes += times * code.to_feedback;
    const unsigned registers = code.to_general + code.to_feedback;
    for (unsigned n = registers; n < registers + code.to_output; ++n) {
        own.outputs.resize(std::max<size_t>(own.outputs.size(), code.destination[n] + 1));
        own.outputs[code.destination[n]] += times;
    }
}

// What must not be left over when nothing happens any more: tokens at border ports and in FIFOs.
template <Mode M>
void Rectangle<M>::check_end() const {
    for (const auto& [port, exit] : exits_)
        if (!exit.tokens.empty())
            fail(Cause::stray_token, exit.tokens.front().ready, port, "a token arrives and no enabled step is due");
    for (const Element& element : elements_)
        for (const Fifo& fifo : element.fifos)
            if (!fifo.tokens.empty())
                fail(Cause::leftover, fifo.tokens.front().ready, element.index, -1,
                     name(fifo) + " still holds " + std::to_string(fifo.tokens.size()) + " tokens at the end");
}

template <Mode M>
Result Rectangle<M>::finish() {
    check_past(never);
    count();
    check_end();
    result_.feedback_high.resize(config_.classes.size());
    result_.input_high.resize(config_.classes.size());
    for (Element& element : elements_) {
        for (const Fifo& fifo : element.fifos) {
            auto& high = (fifo.feedback ? result_.feedback_high : result_.input_high)[size_t(element.number)];
            high.resize(std::max<size_t>(high.size(), fifo.index + 1));
            high[fifo.index] = std::max(high[fifo.index], fifo.high);
        }
        if constexpr (Static)
            for (size_t n = 0; n < element.general.size(); ++n) {
                settle(element, element.general[n], n, never);
                if (element.general[n].defined && !element.general[n].read) note_dead(element, n, never);
            }
    }
    if constexpr (Static) {
        result_.report.steps = used_steps_;
        // Steps past the last one that an element uses are reported by their number alone.
        while (generated_ < std::min(config_.controller.steps, used_steps_)) step_signals();
        for (int64_t step = std::max<int64_t>(0, generated_ - ring_); step < generated_; ++step)
            note_unread_signals(step);
        result_.report.idle = idle_connections();
    }
    for (int64_t count : result_.issues) result_.operations += count;
    result_.first_issue = std::max<int64_t>(first_issue_, 0);
    result_.cycles = first_issue_ < 0 || last_write_ < 0 ? 0 : last_write_ + 1 - first_issue_;
    return std::move(result_);
}

// Runs all placements on one clock. Time jumps to the next cycle in which something happens in any of them. `poll` is
// called after about a million cycles of elements, so that its cost does not depend on the region.
template <Mode M>
std::vector<Result> run_all(std::span<const Placement> placements, const Machine& machine, const Options& options) {
    std::deque<Rectangle<M>> rectangles;
    int64_t elements = 1, passed = 0;  // cycles of an element since the last poll
    for (const Placement& placement : placements) {
        rectangles.emplace_back(placement, machine, nullptr, options.terms, options.first_fault);
        elements += int64_t(placement.config->rows) * placement.config->columns;
        if (options.account) rectangles.back().account();
    }
    for (int64_t now = -1;;) {
        if (options.poll && (passed += elements) >= 1 << 20) options.poll(now), passed = 0;
        int64_t next = never;
        for (const auto& rectangle : rectangles) next = std::min(next, rectangle.next(now));
        if (next == never) break;
        now = next;
        for (auto& rectangle : rectangles) rectangle.check_past(now);
        for (auto& rectangle : rectangles) rectangle.cycle(now);
    }
    std::vector<Result> results;
    for (auto& rectangle : rectangles) results.push_back(rectangle.finish());
    return results;
}

using Run = Rectangle<Mode::traced>;

}  // namespace

// Elements and active lists point into the rectangle, whose containers keep their places: a copy of them stays valid
// there, and nowhere else.
struct Stepper::State {
    explicit State(const Run& from, int64_t now)
        : cycle(now), elements(from.elements_), generals(from.generals_), later(from.later_), fifos(from.fifos_),
          waiting(from.waiting_), active(from.active_), exits(from.exits_), banks(from.banks_), readers(from.readers_),
          writers(from.writers_), first_issue(from.first_issue_), last_write(from.last_write_),
          generated(from.generated_), used_steps(from.used_steps_), signals(from.signals_), digits(from.digits_) {
        for (const auto& outputs : from.outputs_)
            for (const Output& output : outputs) ways.emplace_back(output.pending, output.latest);
        for (size_t n = 0; n < from.written_.size(); ++n) {
            const auto &bytes = from.result_.outputs[n], &marks = from.written_[n];
            outputs.emplace_back(bytes.size() ? &bytes[0] : nullptr, bytes.size() ? &bytes[0] + bytes.size() : nullptr);
            written.emplace_back(marks.size() ? &marks[0] : nullptr, marks.size() ? &marks[0] + marks.size() : nullptr);
        }
    }

    void restore(Run& to) const {
        std::ranges::copy(elements, to.elements_.begin());
        for (size_t n = 0; n < generals.size(); ++n) {
            std::ranges::copy(generals[n], to.generals_[n].begin());
            std::ranges::copy(later[n], to.later_[n].begin());
            std::ranges::copy(fifos[n], to.fifos_[n].begin());
        }
        auto way = ways.begin();
        for (auto& all : to.outputs_)
            for (Output& output : all) std::tie(output.pending, output.latest) = *way++;
        to.waiting_ = waiting;
        to.active_ = active;
        // Sinks and streams point to the entries of these maps, which therefore stay where they are.
        for (const auto& [port, exit] : exits) to.exits_.at(port) = exit;
        for (const auto& [port, bank] : banks) to.banks_.at(port) = bank;
        to.readers_ = readers;
        to.writers_ = writers;
        to.first_issue_ = first_issue;
        to.last_write_ = last_write;
        to.generated_ = generated;
        to.used_steps_ = used_steps;
        std::ranges::copy(signals, to.signals_.begin());
        to.digits_ = digits;
        for (size_t n = 0; n < outputs.size(); ++n) {
            std::ranges::copy(outputs[n], outputs[n].empty() ? nullptr : &to.result_.outputs[n][0]);
            std::ranges::copy(written[n], written[n].empty() ? nullptr : &to.written_[n][0]);
        }
    }

    uint64_t bytes() const {
        uint64_t sum = sizeof *this + elements.size() * sizeof(Element) + signals.size() * 8;
        for (const auto& each : outputs) sum += each.size();
        for (const auto& each : written) sum += each.size();
        for (const auto& each : generals) sum += each.size() * (sizeof(General) + sizeof(Queue));
        for (const auto& each : later)
            for (const Queue& queue : each) sum += queue.bytes();
        for (const auto& each : fifos)
            for (const Fifo& fifo : each) sum += sizeof fifo + fifo.tokens.bytes();
        for (const auto& [pending, latest] : ways) sum += sizeof pending + sizeof latest + pending.bytes();
        return sum +
               (readers.all.size() + writers.all.size()) * (sizeof(Stream) + 16 * digits.size() * sizeof(int64_t));
    }

    int64_t cycle;
    std::vector<Element> elements;
    std::deque<std::vector<General>> generals;
    std::deque<std::vector<Queue>> later;
    std::deque<std::vector<Fifo>> fifos;
    std::vector<std::pair<Queue, int64_t>> ways;
    std::vector<Element*> waiting, active;
    std::map<BorderPort, Fifo> exits;
    std::map<BorderPort, Bank> banks;
    Streams readers, writers;
    int64_t first_issue, last_write, generated, used_steps;
    std::vector<uint64_t> signals;
    std::vector<int64_t> digits;
    std::vector<std::vector<uint8_t>> outputs, written;
};

struct Stepper::Body {
    Body(const Config& of, const Machine& on, std::vector<std::vector<uint8_t>> given)
        : config(of), machine(on), inputs(std::move(given)), placement{&config, 0, 0, {}} {
        for (const auto& bytes : inputs) placement.inputs.emplace_back(bytes);
        run.emplace(placement, machine, nullptr, nullptr, true);
        run->accesses_ = &accesses;
    }
    const Config config;
    const Machine machine;
    const std::vector<std::vector<uint8_t>> inputs;
    Placement placement;
    std::vector<BankAccess> accesses;
    std::optional<Run> run;
    int64_t now = -1;
};

Stepper::Stepper(const Config& config, const Machine& machine, std::vector<std::vector<uint8_t>> inputs)
    : body_(std::make_unique<Body>(config, machine, std::move(inputs))) {}
Stepper::~Stepper() = default;

bool Stepper::step() {
    Run& run = *body_->run;
    run.result_.trace = {};
    body_->accesses.clear();
    const int64_t next = run.next(body_->now);
    if (next == never) {
        run.check_past(never);
        run.check_end();
        return false;
    }
    run.check_past(next);
    run.cycle(next);
    body_->now = next;
    return true;
}

int64_t Stepper::cycle() const { return body_->now; }
const Trace& Stepper::operations() const { return body_->run->result_.trace; }
const std::vector<BankAccess>& Stepper::accesses() const { return body_->accesses; }

std::vector<Held> Stepper::registers(uint32_t index) const {
    const Run& run = *body_->run;
    std::vector<Held> found;
    if (index >= run.element_at_.size() || run.element_at_[index] < 0) return found;
    const Element& element = run.elements_[size_t(run.element_at_[index])];
    for (uint32_t n = 0; n < element.general.size(); ++n) {
        // As an instruction of the next cycle would read it; the register itself is settled when it is touched.
        General general = element.general[n];
        Queue rest = element.later[n];
        while (general.waiting && general.next.ready <= body_->now + 1) general.take_next(rest);
        Held& held = found.emplace_back(Held{File::rd, n, {}});
        if (general.defined) held.values.push_back(general.value);
    }
    for (const Fifo& fifo : element.fifos) {
        Held& held = found.emplace_back(Held{fifo.feedback ? File::fd : File::io, fifo.index, {}});
        for (uint32_t n = 0; n < fifo.tokens.size(); ++n) held.values.push_back(fifo.tokens[n].value);
    }
    return found;
}

std::pair<std::vector<uint8_t>, std::vector<uint8_t>> Stepper::output(size_t array) const {
    const State state(*body_->run, 0);
    return {state.outputs.at(array), state.written.at(array)};
}

std::shared_ptr<const Stepper::State> Stepper::save() const { return std::make_shared<State>(*body_->run, body_->now); }
void Stepper::restore(const State& state) {
    state.restore(*body_->run);
    body_->now = state.cycle;
    body_->run->postponed_.reset();
    body_->run->result_.trace = {};
    body_->accesses.clear();
}
uint64_t bytes_of(const Stepper::State& state) { return state.bytes(); }

void add(Counts& sum, const Counts& of, int64_t times) {
    for (auto each : {&Counts::fetches, &Counts::register_reads, &Counts::register_writes, &Counts::fifo_reads,
                      &Counts::fifo_writes, &Counts::bank_reads, &Counts::bank_writes, &Counts::hops})
        sum.*each += times * of.*each;
    for (size_t n = 0; n < sum.operations.size(); ++n) sum.operations[n] += times * of.operations[n];
}

Result record(const Config& config, const Machine& machine, Recording& recording,
              const std::function<void(int64_t)>& poll) {
    const Config single = one_of_each(config);
    const Placement placement{&single, 0, 0, {}};
    for (const ElementProgram& element : config.classes) {
        const auto used = registers_used(element, {});
        recording.taken.emplace_back(used[2]);
        recording.given.emplace_back(used[3]);
    }
    Rectangle<Mode::types> rectangle(placement, machine, &recording);
    int64_t passed = 0;
    for (int64_t now = rectangle.next(-1); now != never; now = rectangle.next(now)) {
        if (poll && (passed += single.columns) >= 1 << 20) poll(now), passed = 0;
        rectangle.cycle(now);
    }
    for (auto& of_class : recording.given)
        for (auto& events : of_class) std::ranges::sort(events);
    return rectangle.finish();
}

std::vector<Result> run(std::span<const Placement> placements, const Machine& machine, const Options& options) {
    if (options.terms) return run_all<Mode::terms>(placements, machine, options);
    if (options.check_only) return run_all<Mode::types>(placements, machine, options);
    return options.trace ? run_all<Mode::traced>(placements, machine, options)
                         : run_all<Mode::numbers>(placements, machine, options);
}

}  // namespace polyloom::tcpa
