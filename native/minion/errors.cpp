// SPDX-License-Identifier: Apache-2.0
// tensor_error: which instruction has set which bit, why, and what is set when the run ends. Instructions that set a
// bit do not trap and nothing of them, or a part, is done, so that a program that does not look has lost them. Source:
// ET Programmer's Reference Manual, 9.2.5.
#include <array>
#include <bit>
#include <cstdio>
#include <string>

#include "chip.hpp"
#include "spaces.hpp"
#include "state.hpp"
#include "tensor.hpp"

namespace polyloom::minion {

namespace {

// What helps, by bit.
constexpr std::array<const char*, tensor::ERRORS> CURES = {
    "",
    "transformations are 0 to 2 and 5 to 7",
    "",
    "take credits before 65,536 of them have been given",
    "switch L1Scp on: write 1, then 3 to mcache_control",
    "a set has at most three locked lines, each in its own way: unlock one before",
    "give the LoadB as many lines as the FMA has words in a row of A, and each LoadB an FMA that takes B from TenB",
    "name memory that the hart may access, as far as the last row reaches",
    "rows have 16, 32 or 64 bytes of one hart, 16 or 32 of each of two, or 16 of each of four",
    "name another minion, and a function of fadd, fmax, fmin, add, max, min and move",
};

std::string bit_of_error(unsigned bit, const std::string& why) {
    return "bit " + std::to_string(bit) + " of tensor_error: " + why;
}

// Bits `first` to `last` of a word, by the lowest run of those that are set.
std::string bits_named(uint64_t bits) {
    const int first = std::countr_zero(bits), last = first + std::countr_one(bits >> first) - 1;
    const std::string number = std::to_string(first);
    return first == last ? "bit " + number : "bits " + number + " to " + std::to_string(last);
}

}  // namespace

void Chip::set_error(HartState& of, unsigned bit, Finding found) {
    found.value = bit;
    if (found.cure.empty()) found.cure = CURES[bit];
    const uint32_t place = findings.keep(std::move(found));
    uint32_t& setter = setters[of.number][bit];
    if (!(of.tensor_error >> bit & 1)) setter = place;
    of.tensor_error |= uint16_t(1u << bit);
}

void Chip::set_error(HartState& h, unsigned bit, const char* name, const std::string& why) {
    Finding found;
    found.kind = Hazard::tensor_error;
    found.later = {h.number, h.pc, h.now}, found.later_name = name;
    found.what = bit_of_error(bit, why);
    set_error(h, bit, std::move(found));
}

// A CSR write: it clears what it does not set.
void Chip::write_error(HartState& h, uint16_t value) {
    const uint16_t before = h.tensor_error;
    h.tensor_error &= value;
    for (unsigned bit = 0; bit < tensor::ERRORS; ++bit)
        if ((value & ~before) >> bit & 1) set_error(h, bit, "csr write", "the program writes it");
}

// What is set when the run ends, each with who has set it.
bool Chip::errors_left() {
    bool any = false;
    for (const HartState* h : harts)
        for (unsigned bit = 0; bit < tensor::ERRORS; ++bit)
            if (h->tensor_error >> bit & 1) findings.stands(setters[h->number][bit]), any = true;
    return any;
}

// --- operations ------------------------------------------------------------------------------------------------------

Answer Chip::fails(HartState& h, unsigned bit, const char* name, const std::string& why) {
    set_error(h, bit, name, why);
    return go(h);
}

Answer Chip::scratchpad_off(HartState& h, const char* name) {
    return fails(h, tensor::SCRATCHPAD_OFF, name, "L1Scp is off");
}

// What an operand has that does nothing, or what is not defined.
void Chip::note_operand(HartState& h, const char* name, tensor::Unused unused) {
    if (!unused.any() || !hazards_on()) return;
    if (unused.high && !translates(data_space(h))) unused.word |= unused.high;
    Finding found;
    found.later = {h.number, h.pc, h.now}, found.later_name = name;
    if (unused.undefined) {
        found.kind = Hazard::undefined, found.what = unused.undefined, found.cure = "mend its operand";
        findings.add(found);
    }
    if (!unused.word && !unused.x31 && !unused.address) return;
    found.kind = Hazard::ignored_bits;
    if (unused.word) found.what = bits_named(unused.word) + " of its operand";
    if (unused.x31) found.what += (unused.word ? " and " : "") + bits_named(unused.x31) + " of x31";
    if (found.what.empty()) found.what = "bits of its rows' addresses, which lie at multiples of their size";
    found.cure = unused.x31 ? "a stride is a multiple of 64 bytes, of stores from registers one of 16"
                            : "write 0 there, and addresses that are multiples of what is loaded or stored";
    findings.add(std::move(found));
}

// Whether B comes from where the LoadB before the FMA says.
bool Chip::pairs(HartState& h, const char* name, const tensor::Fma& fma) {
    const Unit& unit = units[h.number / 2];
    const Stream& stream = unit.stream;
    if (fma.from_tenb == stream.live && (!stream.live || stream.lines == fma.words)) return true;
    const std::string words = std::to_string(fma.words) + (fma.words == 1 ? " line" : " lines");
    std::string why = "it takes B from L1Scp, but a LoadB waits for its FMA";
    if (!stream.live) why = "it takes B from TenB, but no LoadB waits for an FMA";
    if (stream.live && fma.from_tenb)
        why = "it takes " + words + " from TenB, but the LoadB has " + std::to_string(stream.lines);
    set_error(h, tensor::PAIRING, name, why);
    return false;
}

// Of the first row or line that is not there; those before it are done.
void Chip::faults(HartState& h, const char* name, uint64_t address) {
    char number[24];
    std::snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(address));
    const std::string lacks =
        translates(data_space(h)) ? "that it may not access" : "which is " + memory.name_of(address);
    set_error(h, tensor::MEMORY_FAULT, name, std::string("it accesses ") + number + ", " + lacks);
}

}  // namespace polyloom::minion
