// SPDX-License-Identifier: Apache-2.0
// FMA, quant, store and reduce: one of each is held, and they begin in the order of acceptance, each when the one
// before it has ended; what is younger than an IMA8 that writes only TenC need not wait for it. Effects do not depend
// on time: they are done in that order as soon as those of all older ones are, which only a transfer can delay, so that
// a program that does not wait finds the values of a completed machine. Source: minion.md, "Tensor operations".
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "chip.hpp"
#include "state.hpp"
#include "tensor.hpp"

namespace polyloom::minion {

Answer Chip::enqueue(uint32_t minion, Class c) {
    units[minion].enqueue(c);
    take_effect(minion);
    begin_ready(minion);
    note_busy(minion);
    return riscv::DONE;
}

void Chip::note_busy(uint32_t minion) {
    const bool held = units[minion].holds_registers(), computed = workers.pending(minion);
    minions[minion].busy = (held ? MinionState::HELD : 0) | (computed ? MinionState::COMPUTED : 0);
}

// Before anyone looks at the registers or the flags of hart 0, or changes them.
void Chip::join(uint32_t minion) {
    if (!workers.pending(minion)) return;
    raise(minion, workers.join(minion));
    note_busy(minion);
}

// Does the effects of what is queued, up to a transfer that has not taken place.
void Chip::take_effect(uint32_t minion) {
    Unit& unit = units[minion];
    for (unsigned n = 0; n < unit.queued; ++n) {
        const Class c = unit.order[n];
        Operation& op = unit[c];
        if (op.effected) continue;
        if (c == Class::reduce) return;
        op.effected = true;
        if (c == Class::fma) multiply(minion, op);
        if (c == Class::quant) quantize(minion, op);
        if (c == Class::store) store(minion, op);
    }
}

// Begins whatever may begin; where time is off, what has begun ends at once, and the next one follows.
void Chip::begin_ready(uint32_t minion) {
    Unit& unit = units[minion];
    for (unsigned n = 0; n < unit.queued;) {
        const Class c = unit.order[n];
        Operation& op = unit[c];
        if (!op.running) begin(minion, c);
        if (!op.busy) {
            n = 0;  // it has ended, and is no longer in the queue
            continue;
        }
        if (op.registers || !op.running) return;
        ++n;
    }
}

void Chip::begin(uint32_t minion, Class c) {
    Operation& op = units[minion][c];
    op.running = true;
    op.started = cycle();
    if (c == Class::reduce) return meet(minion);
    if (!options.timed) return complete(minion, c);
    switch (c) {
        case Class::fma: return begin_fma(minion, op);
        case Class::quant: return begin_quant(op);
        default: return post(cycle(), op.hart, EventKind::line, tag(op, Class::store));
    }
}

// Flags of tensor operations go to hart 0.
void Chip::raise(uint32_t minion, uint32_t flags) { *harts[2 * minion]->flags |= flags_kept(flags); }

tensor::Tile Chip::tile_of(uint32_t minion) {
    MinionState& m = minions[minion];
    return {harts[2 * minion]->f, m.l1scp[0].data(), m.tenc[0].data(), units[minion].tenb_running[0].data()};
}

// Under `poison`, lines that an operation reads too early are not what they will be.
tensor::Tile Chip::poisoned(tensor::Tile tile, const Operation& op, Scratchpad& copy) {
    if (!op.poisoned) return tile;
    std::memcpy(copy[0].data(), tile.scp, sizeof copy);
    for (uint64_t rest = op.poisoned; rest; rest &= rest - 1)
        for (unsigned n = 0; n < LINE; n += 4)
            std::memcpy(&copy[unsigned(std::countr_zero(rest))][n], &Hazards::POISON, 4);
    tile.scp = copy[0].data();
    return tile;
}

void Chip::multiply(uint32_t minion, Operation& op) {
    Scratchpad copy;
    const tensor::Tile tile = poisoned(tile_of(minion), op, copy);
    const tensor::Fma fma = tensor::fma(op.value);
    if (!workers.take(fma, minion)) {
        uint32_t flags = 0;
        tensor::multiply(fma, tile, op.mask, op.frm, flags);
        return raise(minion, flags);
    }
    Workers::Product& product = workers.place(minion);
    product.fma = fma, product.tile = tile, product.minion = minion, product.mode = op.frm;
    ::new (&product.operands) tensor::Operands(tensor::operands(fma, tile, op.mask));
    workers.post(minion);
}

void Chip::quantize(uint32_t minion, Operation& op) {
    join(minion);
    uint32_t flags = 0;
    Scratchpad copy;
    tensor::quantize(tensor::quant(op.value), poisoned(tile_of(minion), op, copy), op.frm, flags);
    raise(minion, flags);
}

void Chip::store(uint32_t minion, Operation& op) {
    join(minion);
    const tensor::Store store = tensor::store(op.value, op.x31);
    Scratchpad copy;
    const tensor::Tile tile = poisoned(tile_of(minion), op, copy);
    const Lines& lines = units[minion].lines[unsigned(Class::store)];
    uint8_t row[tensor::LINE];
    for (unsigned i = 0; i < lines.count; ++i) {
        tensor::store_row(store, tile, i, row);
        std::memcpy(memory.at(lines.address[i], store.bytes), row, store.bytes);
    }
}

void Chip::begin_fma(uint32_t minion, Operation& op) {
    const tensor::Fma fma = tensor::fma(op.value);
    const bool integer = fma.is(tensor::Type::int8);
    const auto beyond = integer ? (fma.from_tenb ? Parameter::ima_tenb : Parameter::ima_l1scp)
                                : (fma.from_tenb ? Parameter::fma_tenb : Parameter::fma_l1scp);
    // A step of few micro-operations waits for the pipeline; where none does, that parameter is not used.
    uint64_t step = fma.step();
    if (step < 7) step = std::max(step, parameters[Parameter::fma_step]);
    const uint64_t total = fma.words * step + parameters[beyond];
    if (fma.from_tenb) return run_stream(minion, total);
    post(cycle() + total, op.hart, EventKind::complete, tag(op, Class::fma));
}

// A transformation takes a cycle for each row and register.
void Chip::begin_quant(Operation& op) {
    const tensor::Quant quant = tensor::quant(op.value);
    const uint64_t rows = uint64_t(quant.rows) * ((quant.columns + 7u) / 8u) * quant.count;
    post(cycle() + std::max<uint64_t>(1, rows * parameters[Parameter::quant_row]), op.hart, EventKind::complete,
         tag(op, Class::quant));
}

void Chip::complete(uint32_t minion, Class c) {
    Unit& unit = units[minion];
    Operation& op = unit[c];
    op.busy = op.running = false;
    if (c == Class::fma) {
        if (!unit.counts[Unit::FMA_CYCLES]) unit.first_fma = op.started;
        unit.last_fma = cycle();
        unit.counts[Unit::FMA_CYCLES] += cycle() - op.started;
    }
    if (options.trace) spans.add({op.started, cycle(), minion, 2 + unsigned(c), op.value, op.pc});
    if (options.timed && c == Class::store) last = std::max(last, cycle());
    if (is_load(c)) return wake_minion(minion);
    unit.dequeue(c);
    if (options.timed || c == Class::reduce) begin_ready(minion);
    note_busy(minion);
    wake_minion(minion);
}

// Whether what tensor_wait names is under way. Hart 1 waits only for its own loads to L2Scp and its cache operations.
bool Chip::pending(const HartState& h, unsigned event) const {
    const Unit& unit = units[h.number / 2];
    const bool second = h.number & 1;
    const auto busy = [&](Class c) { return !second && unit.busy(c); };
    switch (event) {
        case 0:
        case 1: return busy(Class::load) && unit[Class::load].id == event;
        case 2:
        case 3: {
            const Operation& op = unit[event == 2 ? Class::load_l2_0 : Class::load_l2_1];
            return op.busy && op.hart == h.number;
        }
        case 4:
        case 5:
        case 6: return options.timed && unit.operations[second][event - 4] > h.now;
        case 7: return busy(Class::fma);
        case 8: return busy(Class::store);
        case 9: return busy(Class::reduce);
        case 10: return busy(Class::quant);
        default: return false;
    }
}

Answer Chip::tensor_wait(HartState& h, uint64_t value) {
    const unsigned event = value & 15;
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    if (pending(h, event)) {
        if (event < 4 || event > 6) return hold(h, Waits::event, event);
        h.resume = units[h.number / 2].operations[h.number & 1][event - 4];
    }
    ++units[h.number / 2].counts[Unit::WAITS];
    note_operand(h, "tensor_wait", tensor::unused_of_wait(value));
    if (hazards_on()) hazards.waited(h.number, event);
    return go(h);
}

Answer Chip::registers(HartState& h) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    return units[h.number / 2].holds_registers() ? hold(h, Waits::registers, 0) : go(h);
}

}  // namespace polyloom::minion
