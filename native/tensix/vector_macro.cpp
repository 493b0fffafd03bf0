// SPDX-License-Identifier: Apache-2.0
// SFPLOADMACRO (facts §1.2.3): an SFPLOAD, and up to four instructions for later cycles, one for each other sub-unit,
// made of templates with some of their registers replaced.
#include "tensix/vector.hpp"
#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

constexpr Word NOP = 0x8F000000, STORE = 0x72000000;
constexpr int STORES = 3;

constexpr const char* NAMES[] = {"simple", "MAD", "round", "store"};

// A template that does not fit its sub-unit executes nothing (page of `SFPLOADMACRO`, CanExecuteOpcode).
void report_misfit(const Run& run, uint32_t number, int unit, Word word) {
    const std::string which = "template " + std::to_string(number) + " of SFPLOADMACRO";
    const std::string what = word ? which + " is of another sub-unit" : which + " was never written";
    run.context.report("captured-template", run.thread, run.word,
                       std::string("the macro's ") + NAMES[unit] + " sub-unit executes nothing: " + what,
                       "write the template before, or select one that fits in the sequence");
}

Word template_of(const Run& run, uint32_t selected, int unit) {
    const VectorState& vector = run.vector();
    if (selected == 1) run.fault("reserved-mode", "a sequence of SFPLOADMACRO selects the reserved template 1");
    const Word word = selected == 2 ? NOP : selected == 3 ? STORE : vector.templates[selected - 4];
    const Operation op = decoded(word, run.state.member);
    const bool fits = op.code == Code::Nop ? unit != STORES : int(sub_unit(op.code)) == unit && op.code != Code::None;
    if (!fits && unit == STORES)
        run.fault("macro-store", "a sequence of SFPLOADMACRO gives the store sub-unit something that is no SFPSTORE");
    if (!fits && selected >= 4) report_misfit(run, selected - 4, unit, word);
    return fits ? word : NOP;
}

// Whether an instruction reads no C of its own, so that it takes its destination's.
bool without_c(Code code) { return code == Code::MulImmediate || code == Code::AddImmediate || code == Code::Lut; }

Scheduled made(const Run& run, Word word, uint32_t bits, int unit, uint32_t address) {
    const uint32_t misc = run.vector().miscellaneous, macro = run.op.macro;
    const Operation op = decoded(word, run.state.member);
    Scheduled entry;
    entry.used = true, entry.thread = run.thread, entry.word = word, entry.pc = run.context.pc, entry.address = address;
    entry.by_instructions = misc >> (8 + unit) & 1;
    entry.vb = op.vb, entry.vc = op.vc, entry.vd = bits & 0x40 ? 16 : run.op.vd;
    if (unit == STORES) {
        if (!(bits & 0x40) && bits & 0x80) entry.vd = op.vd;
        entry.mode = misc >> (4 + macro) & 1 ? run.op.mod : misc & 15;
    } else if (bits & 0x80) {
        entry.vb = run.op.vd;
        if (without_c(op.code)) entry.vc = op.vd;
    } else {
        entry.vc = run.op.vd;
    }
    return entry;
}

}  // namespace

void run_macro(const Run& run) {
    if (!run.context.schedule) run.fault("not-modelled", "SFPLOADMACRO outside a tile is not modelled");
    configure_macros(run.context);
    Schedule& schedule = *run.context.schedule;
    const uint32_t address = place(run.state, run.op, run.thread).address;
    const uint32_t sequence = run.vector().sequences[run.op.macro];
    for (int unit = 0; unit < Schedule::UNITS; ++unit) {
        const uint32_t bits = sequence >> (8 * unit) & 255;
        if (!(bits & 7)) continue;
        Scheduled& slot = schedule.waiting[unit][1 + (bits >> 3 & 7)];
        schedule.count += !slot.used;
        slot = made(run, template_of(run, bits & 7, unit), bits, unit, address);
    }
    schedule.accepted = true;
    run_load(run);
}

}  // namespace polyloom::tensix::vector
