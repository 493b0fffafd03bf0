// SPDX-License-Identifier: Apache-2.0
// CSR writes of tensor operations: whether the operation is taken, what is sampled, which errors it has, and the bytes
// that loads fetch. An operation that fails completes at once. Sources: facts §6; minion.md, "Tensor operations".
#include <cstring>

#include "chip.hpp"
#include "state.hpp"
#include "tensor.hpp"

namespace polyloom::minion {

namespace {

using riscv::ILLEGAL;

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

// The host's address of bytes that a tensor operation of the hart accesses; null is a fault.
uint8_t* Chip::tensor_bytes(HartState& h, uint64_t address, unsigned bytes, Use use, uint64_t& physical) {
    if (translated(memory, h, address, bytes, use, physical).kind != Answer::done) return nullptr;
    // Erbium's ROM is read by instructions alone (sw-sysemu, pma_er.cpp).
    if (memory.region_of(physical) == Region::rom) return nullptr;
    return memory.at(physical, bytes);
}

// Line of the shire's own scratchpad.
uint64_t Chip::scratchpad_address(const HartState& h, unsigned line) {
    const uint64_t shire = h.number / HARTS_PER_SHIRE;
    return Memory::SCRATCHPAD + shire * Memory::SCRATCHPAD_PITCH + uint64_t(tensor::LINE) * line;
}

uint8_t* Chip::scratchpad_line(const HartState& h, unsigned line) {
    return memory.at(scratchpad_address(h, line), tensor::LINE);
}

// Translates the next source of an operation and appends it to the lines that its engine fetches; null is a fault.
uint8_t* Chip::line_of(HartState& h, Class c, uint64_t address, unsigned bytes, Use use) {
    uint64_t physical;
    uint8_t* const found = tensor_bytes(h, address, bytes, use, physical);
    if (!found) return nullptr;
    Lines& lines = units[h.number / 2].lines[unsigned(c)];
    lines.address[lines.count++] = physical;
    return found;
}

// The group as tensor_coop has it: the same minions of each of its neighbourhoods.
void Chip::cooperate(const HartState& h, Operation& op) {
    const tensor::Coop coop = tensor::coop(h.tensor_coop);
    op.group = coop.group & 31;
    for (unsigned n = 0; n < NEIGHBOURHOODS; ++n)
        if (coop.neighbourhoods >> n & 1) op.members |= uint32_t(coop.minions) << MINIONS_PER_NEIGHBOURHOOD * n;
    const uint32_t own = uint32_t(1) << h.number / 2 % MINIONS_PER_SHIRE;
    if (!(op.members & own) || op.members == own) op.members = 0;
}

Answer Chip::accept_load(HartState& h, uint64_t value) {
    const tensor::Load load = tensor::load(value, h.x[31]);
    const Class c = load.to_b ? Class::load_b : Class::load;
    const uint32_t minion = h.number / 2;
    Unit& unit = units[minion];
    if (load.coop && !cooperates(h)) return ILLEGAL;
    if (unit.busy(c) && !(load.to_b && unit.stream.live)) return hold(h, Waits::place, uint32_t(c));
    const char* const name = load.to_b ? "tensor_load_b" : "tensor_load";
    note_operand(h, name, tensor::unused(load, value, h.x[31]));
    if (!scratchpad_on(h)) return scratchpad_off(h, name);
    if (load.bad() && !load.to_b)
        return fails(h, tensor::BAD_TRANSFORM, name,
                     "there is no transformation " + std::to_string(unsigned(load.transform)));
    if (load.to_b && unit.stream.live) drop_stream(minion);

    Operation& op = take(h, c, value);
    op.id = load.id;
    if (load.coop) cooperate(h, op);
    unit.lines[unsigned(c)].count = unit.lines[unsigned(c)].next = 0;
    alignas(64) uint8_t data[64 * tensor::LINE];
    const unsigned all = tensor::sources(load);
    unsigned there = 0;
    for (; there < all; ++there) {
        if (tensor::skipped(load, op.mask, there)) continue;
        const tensor::Source source = tensor::source(load, there);
        const uint8_t* const from = line_of(h, c, source.address, source.bytes, Use::load);
        if (!from) {
            faults(h, name, source.address);
            break;
        }
        std::memcpy(data + tensor::LINE * there, from, source.bytes);
    }
    tensor::Effects effects = tensor::effects(load);
    if (load.masked && !load.to_b)
        for (unsigned i = 0; i < load.rows; ++i)
            if (!(op.mask >> i & 1)) effects.scp_writes &= ~(uint64_t(1) << (load.start + i) % tensor::SCP_LINES);
    tell(c, op, name, effects, {.row = tensor::source(load, 0).bytes});
    ++unit.counts[Unit::TL_INST], unit.counts[Unit::TL_OPS] += all;
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
    static constexpr const char* NAME = "tensor_load_l2";
    note_operand(h, NAME, tensor::unused(load, value, h.x[31]));
    Operation& op = take(h, c, value);
    op.id = load.id;
    unit.lines[unsigned(c)].count = unit.lines[unsigned(c)].next = 0;
    std::array<uint8_t*, 16> from{}, to{};
    for (unsigned i = 0; i < load.rows; ++i) {
        if (load.masked && !(op.mask >> i & 1)) continue;
        const uint64_t address = tensor::address_of(load.address + i * load.stride);
        to[i] = scratchpad_line(h, load.line + i);
        from[i] = to[i] ? line_of(h, c, address, tensor::LINE, Use::load) : nullptr;
        if (!from[i]) {
            faults(h, NAME, to[i] ? address : scratchpad_address(h, load.line + i));
            break;
        }
    }
    ++unit.counts[Unit::LOAD_L2];
    tell(c, op, NAME, {}, {.to = scratchpad_address(h, load.line), .written = load.rows});
    for (unsigned i = 0; i < load.rows; ++i)
        if (from[i]) std::memmove(to[i], from[i], tensor::LINE);
    begin_load(minion, c);
    return riscv::DONE;
}

Answer Chip::accept_fma(HartState& h, uint64_t value) {
    const tensor::Fma fma = tensor::fma(value);
    const uint32_t minion = h.number / 2;
    Unit& unit = units[minion];
    if (!fma.legal() || (fma.is(tensor::Type::fp32) && *h.rounding > 4)) return ILLEGAL;
    if (unit.busy(Class::fma)) return hold(h, Waits::place, uint32_t(Class::fma));
    static constexpr const char* NAME = "tensor_fma";
    note_operand(h, NAME, tensor::unused(fma, value));
    const bool paired = pairs(h, NAME, fma);
    if (!paired || !scratchpad_on(h)) {
        if (unit.stream.live) drop_stream(minion);
        return scratchpad_on(h) ? go(h) : scratchpad_off(h, NAME);
    }
    Operation& op = take(h, Class::fma, value);
    op.registers = fma.uses_registers();
    const auto last = uint8_t(2 * (fma.rows - 1) + (fma.columns > 8));
    tell(Class::fma, op, NAME, tensor::effects(fma),
         {.last_register = last, .tenb = fma.from_tenb, .flags = !fma.is(tensor::Type::int8)});
    ++unit.counts[Unit::TFMA_INST];
    unit.counts[fma.is(tensor::Type::int8)   ? Unit::TIMA_OPS
                : fma.is(tensor::Type::fp16) ? Unit::TXFMA_3216_OPS
                                             : Unit::TXFMA_32_OPS] += fma.micro_operations();
    if (fma.from_tenb) unit.stream.live = false, unit.stream.paired = true, unit.tenb_running = unit.tenb;
    return enqueue(minion, Class::fma);
}

Answer Chip::accept_quant(HartState& h, uint64_t value) {
    const tensor::Quant quant = tensor::quant(value);
    if (*h.rounding > 4) return ILLEGAL;
    const uint32_t minion = h.number / 2;
    if (units[minion].busy(Class::quant)) return hold(h, Waits::place, uint32_t(Class::quant));
    static constexpr const char* NAME = "tensor_quant";
    note_operand(h, NAME, tensor::unused(quant, value));
    if (quant.lines() && !scratchpad_on(h)) return scratchpad_off(h, NAME);
    Operation& op = take(h, Class::quant, value);
    const auto last = uint8_t((quant.freg + 2 * (quant.rows - 1) + (quant.columns > 8)) % 32);
    tell(Class::quant, op, NAME, tensor::effects(quant), {.last_register = last, .flags = true});
    ++units[minion].counts[Unit::TQUANT_INST];
    return enqueue(minion, Class::quant);
}

// The rows' addresses are translated here, and written when the store's turn comes.
Answer Chip::accept_store(HartState& h, uint64_t value) {
    const tensor::Store store = tensor::store(value, h.x[31]);
    const uint32_t minion = h.number / 2;
    Unit& unit = units[minion];
    if (unit.busy(Class::store)) return hold(h, Waits::place, uint32_t(Class::store));
    if (store.coop && !cooperates(h)) return ILLEGAL;
    const char* const name = store.from_scp ? "tensor_store_scp" : "tensor_store";
    note_operand(h, name, tensor::unused(store, value, h.x[31]));
    if (store.from_scp && !scratchpad_on(h)) return scratchpad_off(h, name);
    if (!store.legal)
        return fails(
            h, tensor::BAD_STORE, name,
            "rows of " + std::to_string(store.bytes) + " bytes do not go with COOP " + std::to_string(store.coop));
    Operation& op = take(h, Class::store, value);
    Lines& lines = unit.lines[unsigned(Class::store)];
    lines.count = lines.next = 0;
    for (unsigned i = 0; i < store.rows; ++i)
        if (const uint64_t row = tensor::address_of(store.row(i));
            !line_of(h, Class::store, row, store.bytes, Use::store)) {
            faults(h, name, row);
            break;
        }
    tell(Class::store, op, name, tensor::effects(store), {.from_scp = store.from_scp, .row = store.bytes});
    ++unit.counts[Unit::TS_INST], unit.counts[Unit::TS_OPS] += lines.count;
    return enqueue(minion, Class::store);
}

// A step that the minion skips, and one of no registers, takes nothing and waits for nobody.
Answer Chip::accept_reduce(HartState& h, uint64_t value) {
    const tensor::Reduce reduce = tensor::reduce(value);
    const uint32_t minion = h.number / 2;
    const tensor::Reduce::Part part = reduce.part(minion);
    if (units[minion].busy(Class::reduce)) return hold(h, Waits::place, uint32_t(Class::reduce));
    if (reduce.rounds() && *h.rounding > 4) return ILLEGAL;
    const char* const name = tensor::name_of(reduce.command);
    note_operand(h, name, tensor::unused(reduce, value));
    if (options.member == Member::erbium && (reduce.is_tree() ? reduce.height > 2 : reduce.peer > 7))
        return fails(h, tensor::BAD_REDUCE, name, "Erbium has minions 0 to 7 and heights 0 to 2");
    if (part.bad)
        return fails(h, tensor::BAD_REDUCE, name,
                     part.peer == minion ? "its partner is its own minion"
                                         : "there is no function " + std::to_string(reduce.funct));
    if (part.role == tensor::Role::skips || reduce.count == 0) return go(h);
    Operation& op = take(h, Class::reduce, value);
    tell(Class::reduce, op, name, tensor::effects(reduce, part.role),
         {.last_register = uint8_t((reduce.freg + reduce.count - 1) % 32), .flags = reduce.rounds()});
    ++units[minion].counts[Unit::TREDUCE_INST];
    return enqueue(minion, Class::reduce);
}

Answer Chip::accept_coop(HartState& h, uint64_t value) {
    note_operand(h, "tensor_coop", tensor::unused(tensor::coop(value), value));
    h.tensor_coop = uint32_t(value);
    return go(h);
}

}  // namespace polyloom::minion
