// SPDX-License-Identifier: Apache-2.0
// CSR writes of tensor operations: whether the operation is taken, what is sampled, which errors it has, and the bytes
// that loads fetch. An operation that fails completes at once. Sources: facts §6; minion.md, "Tensor operations".
#include <cstring>

#include "chip.hpp"
#include "state.hpp"
#include "tensor.hpp"

namespace polyloom::minion {

namespace {

constexpr Answer ILLEGAL{Answer::trap, riscv::Cause::illegal, 0};

bool scratchpad_on(const HartState& h) { return h.minion->mode == L1Mode::scratchpad; }
bool cooperates(const HartState& h) { return h.minion->shire->coop_mode; }

}  // namespace

Answer Chip::tensor(HartState& h, unsigned csr, uint64_t value) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    switch (csr) {
        case tensor::REDUCE: return accept_reduce(h, value);
        case tensor::FMA: return accept_fma(h, value);
        case tensor::COOP: return accept_coop(h, value);
        case tensor::QUANT: return accept_quant(h, value);
        case tensor::LOAD: return accept_load(h, value);
        case tensor::LOAD_L2: return accept_load_l2(h, value);
        case tensor::STORE: return accept_store(h, value);
        default: return ILLEGAL;
    }
}

// Puts an operation into its place; operands are those of now.
Operation& Chip::take(HartState& h, Class c, uint64_t value) {
    go(h);
    Unit& unit = units[h.number / 2];
    Operation& op = unit[c];
    op = {};
    op.value = value, op.x31 = h.x[31], op.pc = h.pc, op.accepted = op.started = h.now;
    op.sequence = ++unit.sequence, op.hart = uint16_t(h.number), op.mask = h.tensor_mask, op.frm = *h.rounding;
    op.busy = true;
    return op;
}

Answer Chip::fails(HartState& h, uint16_t error) {
    h.tensor_error |= error;
    return go(h);
}

// The host's address of bytes that a tensor operation of the hart accesses; null is a fault.
uint8_t* Chip::tensor_bytes(HartState& h, uint64_t address, unsigned bytes, riscv::Access access, uint64_t& physical) {
    if (translated(h, address, access, physical).kind != Answer::done) return nullptr;
    physical = memory.canonical(physical, h.number / HARTS_PER_SHIRE);
    return memory.at(physical, bytes);
}

// Line of the shire's own scratchpad.
uint8_t* Chip::scratchpad_line(const HartState& h, unsigned line) {
    const uint64_t shire = h.number / HARTS_PER_SHIRE;
    return memory.at(Memory::SCRATCHPAD + shire * Memory::SCRATCHPAD_PITCH + uint64_t(tensor::LINE) * line,
                     tensor::LINE);
}

// Translates the next source of an operation and appends it to the lines that its engine fetches; null is a fault.
uint8_t* Chip::line_of(HartState& h, Class c, uint64_t address, unsigned bytes, riscv::Access access) {
    uint64_t physical;
    uint8_t* const found = tensor_bytes(h, address, bytes, access, physical);
    if (!found) return nullptr;
    Lines& lines = units[h.number / 2].lines[unsigned(c)];
    lines.address[lines.count++] = physical;
    return found;
}

Answer Chip::accept_load(HartState& h, uint64_t value) {
    const tensor::Load load = tensor::load(value, h.x[31]);
    const Class c = load.to_b ? Class::load_b : Class::load;
    const uint32_t minion = h.number / 2;
    Unit& unit = units[minion];
    if (load.coop && !cooperates(h)) return ILLEGAL;
    if (unit.busy(c) && !(load.to_b && unit.stream.live)) return hold(h, Waits::place, uint32_t(c));
    if (!scratchpad_on(h)) return fails(h, tensor::SCRATCHPAD_OFF);
    if (load.bad() && !load.to_b) return fails(h, tensor::BAD_TRANSFORM);
    if (load.to_b && unit.stream.live) drop_stream(minion);

    Operation& op = take(h, c, value);
    op.id = load.id;
    unit.lines[unsigned(c)].count = unit.lines[unsigned(c)].next = 0;
    alignas(64) uint8_t data[64 * tensor::LINE];
    const unsigned all = tensor::sources(load);
    unsigned there = 0;
    for (; there < all; ++there) {
        if (tensor::skipped(load, op.mask, there)) continue;
        const tensor::Source source = tensor::source(load, there);
        const uint8_t* const from = line_of(h, c, source.address, source.bytes, riscv::Access::load);
        if (!from) break;
        std::memcpy(data + tensor::LINE * there, from, source.bytes);
    }
    if (there < all) h.tensor_error |= tensor::MEMORY_FAULT;
    tensor::place(load, op.mask, data, there, load.to_b ? unit.tenb[0].data() : h.minion->l1scp[0].data());
    if (load.to_b) begin_stream(minion, load.rows);
    begin_load(minion, c);
    return riscv::DONE;
}

Answer Chip::accept_load_l2(HartState& h, uint64_t value) {
    const tensor::LoadL2 load = tensor::load_l2(value, h.x[31]);
    const Class c = load.id ? Class::load_l2_1 : Class::load_l2_0;
    const uint32_t minion = h.number / 2;
    Unit& unit = units[minion];
    if (unit.busy(c)) return hold(h, Waits::place, uint32_t(c));
    Operation& op = take(h, c, value);
    op.id = load.id;
    unit.lines[unsigned(c)].count = unit.lines[unsigned(c)].next = 0;
    for (unsigned i = 0; i < load.rows; ++i) {
        if (load.masked && !(op.mask >> i & 1)) continue;
        const uint64_t address = tensor::address_of(load.address + i * load.stride);
        const uint8_t* const from = line_of(h, c, address, tensor::LINE, riscv::Access::load);
        uint8_t* const to = scratchpad_line(h, load.line + i);
        if (!from || !to) {
            h.tensor_error |= tensor::MEMORY_FAULT;
            break;
        }
        std::memmove(to, from, tensor::LINE);
    }
    begin_load(minion, c);
    return riscv::DONE;
}

Answer Chip::accept_fma(HartState& h, uint64_t value) {
    const tensor::Fma fma = tensor::fma(value);
    const uint32_t minion = h.number / 2;
    Unit& unit = units[minion];
    if (!fma.legal() || (fma.is(tensor::Type::fp32) && *h.rounding > 4)) return ILLEGAL;
    if (unit.busy(Class::fma)) return hold(h, Waits::place, uint32_t(Class::fma));
    if (!scratchpad_on(h)) return fails(h, tensor::SCRATCHPAD_OFF);
    if (fma.from_tenb != unit.stream.live || (unit.stream.live && unit.stream.lines != fma.words)) {
        if (unit.stream.live) drop_stream(minion);
        return fails(h, tensor::PAIRING);
    }
    Operation& op = take(h, Class::fma, value);
    op.registers = fma.uses_registers();
    if (fma.from_tenb) unit.stream.live = false, unit.stream.paired = true, unit.tenb_running = unit.tenb;
    return enqueue(minion, Class::fma);
}

Answer Chip::accept_quant(HartState& h, uint64_t value) {
    const tensor::Quant quant = tensor::quant(value);
    if (quant.rounds() && *h.rounding > 4) return ILLEGAL;
    const uint32_t minion = h.number / 2;
    if (units[minion].busy(Class::quant)) return hold(h, Waits::place, uint32_t(Class::quant));
    if (quant.lines() && !scratchpad_on(h)) return fails(h, tensor::SCRATCHPAD_OFF);
    take(h, Class::quant, value);
    return enqueue(minion, Class::quant);
}

// The rows' addresses are translated here, and written when the store's turn comes.
Answer Chip::accept_store(HartState& h, uint64_t value) {
    const tensor::Store store = tensor::store(value, h.x[31]);
    const uint32_t minion = h.number / 2;
    Unit& unit = units[minion];
    if (unit.busy(Class::store)) return hold(h, Waits::place, uint32_t(Class::store));
    if (store.from_scp && !scratchpad_on(h)) return fails(h, tensor::SCRATCHPAD_OFF);
    if (!store.legal) return fails(h, tensor::BAD_STORE);
    if (store.coop && !cooperates(h)) return ILLEGAL;
    take(h, Class::store, value);
    Lines& lines = unit.lines[unsigned(Class::store)];
    lines.count = lines.next = 0;
    for (unsigned i = 0; i < store.rows; ++i)
        if (!line_of(h, Class::store, tensor::address_of(store.row(i)), store.bytes, riscv::Access::store)) {
            h.tensor_error |= tensor::MEMORY_FAULT;
            break;
        }
    return enqueue(minion, Class::store);
}

// A step that the minion skips, and one of no registers, takes nothing and waits for nobody.
Answer Chip::accept_reduce(HartState& h, uint64_t value) {
    const tensor::Reduce reduce = tensor::reduce(value);
    const uint32_t minion = h.number / 2;
    const tensor::Reduce::Part part = reduce.part(minion);
    if (units[minion].busy(Class::reduce)) return hold(h, Waits::place, uint32_t(Class::reduce));
    if (part.bad) return fails(h, tensor::BAD_REDUCE);
    if (part.role == tensor::Role::skips || reduce.count == 0) return go(h);
    take(h, Class::reduce, value);
    return enqueue(minion, Class::reduce);
}

Answer Chip::accept_coop(HartState& h, uint64_t value) {
    h.tensor_coop = uint32_t(value);
    return go(h);
}

}  // namespace polyloom::minion
