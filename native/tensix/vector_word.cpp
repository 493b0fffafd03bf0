// SPDX-License-Identifier: Apache-2.0
#include "tensix/vector_word.hpp"

namespace polyloom::tensix::vector {

namespace {

int32_t extended(uint32_t bits12) { return int32_t(bits12 << 20) >> 20; }

void load_fields(Operation& op, Word word, Member member) {
    const bool wormhole = member == Member::Wormhole;
    op.vd = field(word, 23, 20), op.mod = field(word, 19, 16);
    op.address_mode = wormhole ? field(word, 15, 14) : field(word, 15, 13);
    op.immediate = int32_t(field(word, 9, 0));
}

// [23:12] an immediate, then C, D and the mode: most simple instructions. B is D unless LOADMACRO says otherwise.
void simple_fields(Operation& op, Word word) {
    op.vc = field(word, 11, 8), op.vd = field(word, 7, 4), op.mod = field(word, 3, 0);
    op.vb = op.vd;
    op.immediate = int32_t(field(word, 23, 12));
}

void mad_fields(Operation& op, Word word) {
    simple_fields(op, word);
    op.va = field(word, 19, 16), op.vb = field(word, 15, 12);
}

void immediate_fields(Operation& op, Word word) {
    op.vd = field(word, 7, 4), op.mod = field(word, 3, 0);
    op.vb = op.vc = op.vd;
    op.immediate = int32_t(field(word, 23, 8));
}

void macro_fields(Operation& op, Word word, Member member) {
    load_fields(op, word, member);
    op.macro = field(word, 23, 22);
    op.vd = uint8_t(field(word, 0, 0) << 2 | field(word, 21, 20));
    op.immediate &= ~1;  // bit 0 belongs to VD, and selects nothing in an address
}

void round_fields(Operation& op, Word word, Member member) {
    mad_fields(op, word);
    op.immediate = int32_t(field(word, 20, 16));
    op.rounding = member == Member::Wormhole ? field(word, 21, 21) : field(word, 22, 21);
}

}  // namespace

Operation decoded(Word word, Member member) {
    Operation op;
    const uint32_t code = opcode(word);
    if (code < 0x70 || code > (member == Member::Wormhole ? 0x95u : 0x99u)) return op;
    op.code = Code(code - 0x70);
    switch (op.code) {
        case Code::Load:
        case Code::Store: load_fields(op, word, member); break;
        case Code::LoadImmediate: load_fields(op, word, member), op.immediate = int32_t(field(word, 15, 0)); break;
        case Code::Lut: load_fields(op, word, member); break;
        case Code::LoadMacro: macro_fields(op, word, member); break;
        case Code::MulImmediate:
        case Code::AddImmediate:
        case Code::Config: immediate_fields(op, word); break;
        case Code::Mad:
        case Code::Add:
        case Code::Mul:
        case Code::Mul24: mad_fields(op, word); break;
        case Code::Round: round_fields(op, word, member); break;
        case Code::Shuffle: mad_fields(op, word), op.immediate = extended(field(word, 23, 12)); break;
        case Code::IAdd:
        case Code::Shift: simple_fields(op, word), op.immediate = extended(field(word, 23, 12)); break;
        case Code::DivP2:
        case Code::SetExp: simple_fields(op, word), op.immediate &= 255; break;
        case Code::Reciprocal: simple_fields(op, word), op.vb = field(word, 15, 12); break;
        default: simple_fields(op, word);
    }
    return op;
}

SubUnit sub_unit(Code code) {
    switch (code) {
        case Code::Load:
        case Code::LoadImmediate:
        case Code::LoadMacro:
        case Code::Nop: return SubUnit::Load;
        case Code::Store: return SubUnit::Store;
        case Code::Mad:
        case Code::Add:
        case Code::Mul:
        case Code::MulImmediate:
        case Code::AddImmediate:
        case Code::Lut:
        case Code::LutWide:
        case Code::Mul24: return SubUnit::Mad;
        case Code::Round:
        case Code::Shuffle: return SubUnit::Round;
        default: return SubUnit::Simple;
    }
}

bool capturable(Code code) {
    return code != Code::Config && code != Code::Nop && code != Code::LoadMacro && code != Code::None;
}

}  // namespace polyloom::tensix::vector
