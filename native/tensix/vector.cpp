// SPDX-License-Identifier: Apache-2.0
#include "tensix/vector.hpp"

#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

// A later write of a register that is visible no later than an earlier one wins over it.
void Run::write(int target, const Lanes& value, uint32_t lanes, int latency) const {
    if (!lanes) return;
    std::vector<Pending>* pending = context.pending;
    if (!pending) return blend(vector().registers[size_t(target)], value, lanes);
    for (Pending& earlier : *pending)
        if (earlier.target == target && earlier.due >= context.cycle + uint64_t(latency)) earlier.lanes &= ~lanes;
    if (latency <= 1 && !late) return blend(vector().registers[size_t(target)], value, lanes);
    pending->emplace_back(context.cycle + uint64_t(latency), target, lanes, value);
}

void commit(VectorState& vector, const Pending& write) {
    blend(vector.registers[size_t(write.target)], write.value, write.lanes);
}

namespace {

// A finding at once only where no macro can come, outside a tile.
void report_capture(const Run& run) {
    Schedule* schedule = run.context.schedule;
    if (!run.context.findings || (schedule && schedule->configured)) return;
    const bool store = run.op.code == Code::Store;
    const char* kind = store ? "store-from-constant" : "captured-template";
    const char* text = store ? "SFPSTORE from L12 to L15 stores nothing: the word becomes a template"
                             : "with a destination from 12 on the word becomes a template of SFPLOADMACRO";
    const char* cure = store ? "copy the register to one of L0 to L7 with SFPMOV, and store that"
                             : "name L0 to L7, or configure templates with SFPCONFIG";
    std::vector<Finding>& findings = schedule ? schedule->captured : *run.context.findings;
    findings.push_back(run.context.finding(kind, run.thread, run.word, text, cure));
}

// Words whose VD is 12 or more become a template of SFPLOADMACRO and execute nothing, but that SFPLOAD and SFPSTORE
// advance the counters.
bool captured(const Run& run) {
    if (!capturable(run.op.code)) return false;
    const uint32_t executing = configured(run.vector(), NO_BACKDOOR);
    if (executing == ALL) return false;
    if (executing) run.fault("lanes-differ", "columns disagree on DISABLE_BACKDOOR_LOAD of LaneConfig");
    run.vector().templates[run.op.vd - 12u] = run.word;
    report_capture(run);
    return true;
}

void dispatch(const Run& run) {
    switch (run.op.code) {
        case Code::Load: return run_load(run);
        case Code::LoadImmediate: return run_load_immediate(run);
        case Code::Store: return run_store(run);
        case Code::LoadMacro: return run_macro(run);
        case Code::Lut:
        case Code::LutWide: return run_table(run);
        case Code::Mad:
        case Code::Add:
        case Code::Mul:
        case Code::MulImmediate:
        case Code::AddImmediate:
        case Code::Mul24: return run_multiply(run);
        case Code::SetCC:
        case Code::EnableCC:
        case Code::Push:
        case Code::Pop:
        case Code::Complement: return run_flags(run);
        case Code::Mov: return run_move(run);
        case Code::Config: return run_config(run);
        case Code::Swap: return run_swap(run);
        case Code::Round: return run_round(run);
        case Code::Shuffle: return run_shuffle(run);
        case Code::LessEqual:
        case Code::Greater:
        case Code::Reciprocal: return run_blackhole(run);
        case Code::Nop: return;
        case Code::None: run.fault("unknown-word", "no instruction of this member's vector unit");
        default: return run_simple(run);
    }
}

// What the front end hands over, as against what SFPLOADMACRO scheduled.
void begin(const Run& run) {
    if (run.op.vd < 12 || !captured(run)) return dispatch(run);
    if (run.op.code != Code::Load && run.op.code != Code::Store) return;
    Operation nothing = run.op;
    nothing.vd = 8, nothing.mod = 11;
    dispatch({run.state, nothing, run.word, run.thread, run.context, 0});
}

Operation of_template(const Scheduled& entry, Member member) {
    Operation op = decoded(entry.word, member);
    op.vb = entry.vb, op.vc = entry.vc, op.vd = entry.vd, op.scheduled = true;
    if (op.code == Code::Store) op.mod = entry.mode;
    return op;
}

void execute_scheduled(State& state, const Scheduled& entry, Context& context) {
    const Operation op = of_template(entry, state.member);
    const uint32_t pc = context.pc;
    context.pc = entry.pc;
    dispatch({state, op, entry.word, entry.thread, context, enabled(state.vector), true, entry.address});
    context.pc = pc;
}

void count_down(Schedule& schedule) {
    if (schedule.waits()) return;
    for (auto& unit : schedule.waiting) {
        for (int k = 0; k < Schedule::LONGEST; ++k) unit[k] = unit[k + 1];
        unit[Schedule::LONGEST] = {};
    }
}

}  // namespace

void advance(State& state, Context& context) {
    Schedule& schedule = *context.schedule;
    schedule.busy = 0;
    if (schedule.count) {
        count_down(schedule);
        schedule.before = state.vector.flags;
        constexpr int LAST_IS_SIMPLE[] = {1, 2, 3, 0};  // which alone changes flags
        for (const int unit : LAST_IS_SIMPLE) {
            Scheduled& due = schedule.waiting[unit][0];
            if (!due.used) continue;
            schedule.busy |= 1u << unit;
            const Scheduled entry = due;
            due = {}, --schedule.count;
            execute_scheduled(state, entry, context);
        }
    }
    schedule.accepted = false;
}

void execute(State& state, Word word, int thread, Context& context) {
    execute(state, prepared(state, word), thread, context);
}

void execute(State& state, const Prepared& word, int thread, Context& context) {
    const Operation& op = word.op;
    Run run{state, op, word.word, thread, context, enabled(state.vector)};
    Schedule* schedule = context.schedule;
    if (!schedule || !(schedule->busy | uint32_t(schedule->count))) return begin(run);
    schedule->accepted = true;
    const SubUnit unit = sub_unit(op.code);
    if (unit != SubUnit::Load && schedule->busy >> int(unit) & 1) {
        run.report("lost-collision", "an instruction that SFPLOADMACRO scheduled takes this cycle of the sub-unit",
                   "issue SFPNOP here, or change the delay");
        return;
    }
    // What executes in the same cycle sees the flags from before it.
    const Flags after = state.vector.flags;
    const bool shared = schedule->busy;
    if (shared && unit != SubUnit::Simple) {
        state.vector.flags = schedule->before;
        run.lanes = enabled(state.vector), run.late = true;
    }
    begin(run);
    if (shared && unit != SubUnit::Simple) state.vector.flags = after;
}

bool ready(const State&, Word, int) { return true; }

}  // namespace polyloom::tensix::vector
