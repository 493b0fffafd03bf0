// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <utility>

namespace polyloom::belt {

namespace {

constexpr uint64_t patience = uint64_t(1) << 22;  // bundles between two questions whether to go on
constexpr size_t most_depth = 256, most_scopes = 64, most_snapshots = 512;

}  // namespace

Model::Model(const Program& program, Memory memory, Options options)
    : executed(program.bundles.size()), taken(program.issues.size()), program(program), memory(std::move(memory)),
      options(std::move(options)), longest(program.member.most_delay) {
    for (const auto& row : program.member.latencies)
        longest = std::max<uint32_t>(longest, *std::max_element(row.begin(), row.end()));
}

bool Model::run(std::span<const Value> arguments) {
    start(arguments);
    if (options.account) over_time.start(executed.size(), most_snapshots, 1);
    // A part of the run up to each snapshot: within a part nobody asks for one.
    while (over_time.next < options.most_cycles) {
        if (advance(over_time.next)) return true;
        if (counters.cycles < over_time.next) return false;
        over_time.take(executed);
    }
    return advance(options.most_cycles);
}

std::vector<Value> Model::belt() const {
    std::vector<Value> found;
    for (unsigned k = 0; k < scope->filled; ++k) found.push_back(*scope->belt[(scope->front + k) % ring]);
    return found;
}

void Model::start(std::span<const Value> arguments) {
    enter(0);
    for (size_t k = arguments.size(); k--;) {
        Value* value = take();
        value->copy(arguments[k]);
        drop(*scope, value);
    }
}

bool Model::advance(uint64_t cycles) {
    try {
        while (counters.cycles < cycles && (counters.cycles % patience || options.go_on())) {
            begin(program.bundles[frame->bundle]);
            Ended ended = Ended::returned;
            // A bundle that calls goes on where its callee returns to it.
            while (ended == Ended::returned) {
                const Bundle& bundle = program.bundles[frame->bundle];
                ended = call_phase(bundle) ? end(bundle) : Ended::next;
            }
            if (ended == Ended::done) return true;
        }
    } catch (const BadOperands& bad) {
        fail(Fault::operands, bad.what());
    }
    return false;
}

void Model::fail(Fault fault, const std::string& detail, bool of_bundle) const {
    const bool known = current && !of_bundle;
    const uint32_t bundle = frame->bundle - program.routines[frame->routine].first;
    const int slot = known ? current->slot : -1, op = known ? int(current->op) : -1;
    throw Faulted{fault, frame->routine, bundle, slot, op, counters.cycles, detail};
}

void Model::fail_at(unsigned position) const {
    const std::string held = count_of(scope->filled, "operand");
    fail(Fault::position, "it reads b" + std::to_string(position) + ", but the belt has " + held);
}

void Model::drop_none() {
    Value* value = take();
    value->lose_shape();
    drop(*scope, value);
}

void Model::enter(uint32_t routine) {
    if (depth == most_depth) fail(Fault::depth, "calls are more than " + std::to_string(most_depth) + " deep");
    if (depth == frames.size()) frames.push_back(std::make_unique<Frame>());
    frame = frames[depth++].get();
    frame->open = 0;
    frame->routine = routine;
    frame->bundle = program.routines[routine].first;
    frame->time = 0;
    frame->calls = 0;
    frame->scratch.clear();
    counters.depth = std::max(counters.depth, unsigned(depth));
    open_scope();
}

void Model::open_scope() {
    if (frame->open == most_scopes)
        fail(Fault::control, "loops are entered more than " + std::to_string(most_scopes - 1) + " deep");
    if (frame->open == frame->scopes.size()) frame->scopes.push_back(std::make_unique<Scope>());
    scope = frame->scopes[frame->open++].get();
    scope->age = 0;
}

void Model::close_scope() {
    for (unsigned k = 0; scope->flying && k < ring; ++k) {
        for (const Due& due : scope->due[k]) release(due.value);
        scope->due[k].clear();
    }
    scope->flying = scope->loads = 0;
    empty(*scope);
    --frame->open;
    scope = frame->open ? frame->scopes[frame->open - 1].get() : nullptr;
}

void Model::empty(Scope& emptied) {
    for (unsigned k = 0; k < emptied.filled; ++k) release(emptied.belt[(emptied.front + k) % ring]);
    emptied.filled = 0;
}

// Copies of a list's operands: the belt that they lie on may go.
void Model::gather(const Issue& issue) {
    listed.clear();
    for (unsigned k = 0; k < issue.items; ++k) {
        const Item item = program.items[issue.first_item + k];
        Value* value = take();
        listed.push_back(value);
        if (item.position != no_position) {
            value->copy(at(item.position));
            continue;
        }
        if (item.width == shapeless) {
            value->lose_shape();
            continue;
        }
        value->shape(item.width, 0);
        value->make_none();
    }
}

// The first one becomes b0.
void Model::put(Scope& to) {
    while (!listed.empty()) {
        drop(to, listed.back());
        listed.pop_back();
    }
}

std::span<const Issue> Model::of_phase(const Bundle& bundle, Phase phase) const {
    const unsigned from = phase == Phase::R ? 0 : bundle.ends[unsigned(phase) - 1];
    return {program.issues.data() + bundle.first + from, size_t(bundle.ends[unsigned(phase)] - from)};
}

// Phases R and C.
void Model::begin(const Bundle& bundle) {
    ++counters.cycles;
    ++executed[frame->bundle];
    counters.operations += bundle.ends[4];
    counters.high_water = std::max<unsigned>(counters.high_water, bundle.reach);
    if (bundle.rotate) frame->scratch.rotate();
    for (const Issue& issue : of_phase(bundle, Phase::R)) {
        current = &issue;
        if (issue.action == Action::fill) {
            fill(issue);
            continue;
        }
        Value* value = take();
        value->copy(program.constants[issue.constant]);
        give(issue, value);
    }
    drop_fresh();
    for (const Issue& issue : of_phase(bundle, Phase::C)) {
        current = &issue;
        if (issue.action == Action::load)
            load(issue);
        else
            execute(issue);
    }
    if (program.member.phasing) drop_due(bundle, bundle.drops - bundle.others);
}

// False where a callee is entered; called again when it has returned.
bool Model::call_phase(const Bundle& bundle) {
    const std::span<const Issue> calls = of_phase(bundle, Phase::K);
    if (calls.empty()) return true;
    while (frame->calls < calls.size()) {
        current = &calls[frame->calls++];
        if (call(*current)) return false;
    }
    frame->calls = 0;
    for (const Due& due : frame->returned) {
        if (program.member.phasing)
            drop(*scope, due.value);
        else {
            std::vector<Due>& list = scope->due[scope->age % ring];
            list.push_back(due);
            settle(list);
            ++scope->flying;
        }
    }
    frame->returned.clear();
    return true;
}

// Phases P and X, and what comes next.
Model::Ended Model::end(const Bundle& bundle) {
    for (const Issue& issue : of_phase(bundle, Phase::P)) {
        current = &issue;
        const Value* in[3];
        for (unsigned k = 0; k < issue.count; ++k) in[k] = &operand(issue, k);
        Value* made = take();
        if (issue.action == Action::pick)
            pick(in, issue.count, *made);
        else
            recur(*in[0], *in[1], *made);
        give(issue, made);
    }
    drop_fresh();
    const Issue* going = nullptr;
    const Issue* conforming = nullptr;
    for (const Issue& issue : of_phase(bundle, Phase::X)) {
        current = &issue;
        switch (issue.action) {
            case Action::scratchf:
                if (unsigned(issue.offset) > program.member.scratch)
                    fail(Fault::scratch, "it allocates " + count_of(issue.offset, "byte") + " of " +
                                             std::to_string(program.member.scratch));
                frame->scratch.allocate(unsigned(issue.offset), issue.frame, issue.frames);
                break;
            case Action::spill: spill(issue); break;
            case Action::store: store(issue); break;
            case Action::conform: conforming = &issue; break;
            default:
                if (!going && happens(issue)) going = &issue;
        }
    }
    // Operands of lists are read before anything drops at the end of a bundle without phases.
    if (going || conforming) {
        current = going ? going : conforming;
        gather(*current);
    }
    if (!program.member.phasing) drop_due(bundle, bundle.drops);
    ++scope->age;
    ++frame->time;
    if (going) return go(*going);
    if (conforming) empty(*scope), put(*scope);
    if (bundle.next == nowhere) [[unlikely]]
        fail(Fault::control, "control runs past the last bundle of the routine", true);
    frame->bundle = bundle.next;
    return Ended::next;
}

void Model::drop_fresh() {
    for (unsigned k = 0; k < fresh_count; ++k) drop(*scope, fresh[k].value);
    fresh_count = 0;
}

// Results whose time has come. Those that are missing were not issued, because the scope is too young: Nones in front.
void Model::drop_due(const Bundle& bundle, unsigned expected) {
    std::vector<Due>& list = scope->due[scope->age % ring];
    const size_t arrived = list.size() + fresh_count;
    if (arrived != expected) [[unlikely]] {
        const bool young = frame->open > 1 && scope->age + 1 < longest;
        const int all = int(bundle.drops) - int(expected) + int(arrived);
        if (int(expected) < 0 || arrived > expected || !young)
            fail(Fault::drops,
                 "the header says " + count_of(bundle.drops, "drop") + ", but it is " + std::to_string(all), true);
    }
    for (unsigned k = 0; k < fresh_count; ++k) arrive(fresh[k]);
    for (const Due& due : list) arrive(due);
    scope->flying -= unsigned(list.size());
    fresh_count = 0;
    list.clear();
    for (size_t k = arrived; k < expected; ++k) drop_none();
}

void Model::arrive(const Due& due) {
    if (due.state != State::computed) {
        current = due.issue;
        sample(due);
        --scope->loads;
    }
    drop(*scope, due.value);
}

void Model::note(const Issue& issue, const Value& value) {
    const uint32_t bundle = frame->bundle - program.routines[frame->routine].first;
    record.note(options.most_events, {counters.cycles, 0, frame->routine, bundle, issue.slot, issue.op}, value);
    // What a store takes keeps its maker.
    const uint64_t number = ++makers;
    if (told) {
        Told& made = told->emplace_back(Told{number, frame->routine, bundle, issue.slot, issue.op, value, {}, {}, 0});
        // A load is noted when it drops: its operands have moved on by then.
        const bool loads = issue.action == Action::load;
        for (unsigned k = 0; !loads && k + issue.immediate < issue.count; ++k)
            made.operands.push_back(operand(issue, k));
        made.addresses.swap(touched);
        made.bytes = 1u << issue.width;
    }
    touched.clear();
    if (issue.action != Action::store) value.maker = number;
}

}  // namespace polyloom::belt
