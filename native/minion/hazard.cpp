// SPDX-License-Identifier: Apache-2.0
// What the checks hear of tensor operations: what each reads and writes, at its acceptance and before its effect.
#include <array>

#include "chip.hpp"

namespace polyloom::minion {

namespace {

constexpr Pending place_of(Class c, unsigned id) {
    switch (c) {
        case Class::load: return id ? Pending::load_1 : Pending::load_0;
        case Class::load_b: return Pending::load_b;
        case Class::load_l2_0: return Pending::load_l2_0;
        case Class::load_l2_1: return Pending::load_l2_1;
        case Class::fma: return Pending::fma;
        case Class::quant: return Pending::quant;
        case Class::store: return Pending::store;
        default: return Pending::reduce;
    }
}

}  // namespace

Site Chip::site_of(uint32_t minion, const Operation& op) const {
    return {2 * minion + (op.hart & 1), op.pc, op.accepted};
}

// `row` is how many bytes of each line a load reads or a store writes. Lines of L1Scp that are read too early are kept,
// for `poison`.
void Chip::tell(Class c, Operation& op, const char* name, const tensor::Effects& effects, Told told) {
    if (!hazards_on()) return;
    const uint32_t minion = op.hart / 2;
    const Lines& lines = units[minion].lines[unsigned(c)];
    Accepted accepted;
    accepted.place = place_of(c, op.id), accepted.site = site_of(minion, op), accepted.name = name;
    accepted.scp_reads = effects.scp_reads, accepted.scp_writes = effects.scp_writes;
    accepted.f_reads = effects.f_reads, accepted.f_writes = effects.f_writes;
    accepted.last_register = told.last_register, accepted.tenb = told.tenb, accepted.flags = told.flags;
    accepted.in_order = op.registers, accepted.from_scp = told.from_scp;
    std::array<Row, 64> reads, writes;
    unsigned read = 0, written = 0;
    for (unsigned n = 0; n < lines.count; ++n)
        if (c == Class::store)
            writes[written++] = {lines.address[n], told.row};
        else if (is_load(c))
            reads[read++] = {lines.address[n], told.row};
    for (unsigned n = 0; n < told.written; ++n) writes[written++] = {told.to + tensor::LINE * n, tensor::LINE};
    accepted.reads = {reads.data(), read}, accepted.writes = {writes.data(), written};
    op.poisoned = hazards.accept(accepted);
    if (options.hazards != Response::poison) op.poisoned = 0;
}

}  // namespace polyloom::minion
