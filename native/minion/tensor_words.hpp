// SPDX-License-Identifier: Apache-2.0
// The words that tensor CSRs take, as fields. What a word means beside its CSR, x31 and nothing else is decided here;
// which hart, mode and mask it meets is not. Source: ET Programmer's Reference Manual, chapter 9.
#pragma once

#include <array>
#include <cstdint>

namespace polyloom::minion::tensor {

// CSR numbers.
enum Csr : unsigned {
    REDUCE = 0x800,
    FMA = 0x801,
    CONV_SIZE = 0x802,
    CONV_CTRL = 0x803,
    COOP = 0x804,
    MASK = 0x805,
    QUANT = 0x806,
    ERROR = 0x808,
    WAIT = 0x830,
    LOAD = 0x83F,
    LOAD_L2 = 0x85F,
    STORE = 0x87F,
};

// Bits of tensor_error, by number. Source: "tensor_error CSR", 9.2.5.
enum Error : uint8_t {
    BAD_TRANSFORM = 1,
    CREDIT_OVERFLOW = 3,
    SCRATCHPAD_OFF = 4,
    LOCK_FAILED = 5,
    PAIRING = 6,
    MEMORY_FAULT = 7,
    BAD_STORE = 8,
    BAD_REDUCE = 9,
    ERRORS = 10,
};

constexpr unsigned SCP_LINES = 48, LINE = 64;

// To memory addresses of 48 bits, sign-extended.
constexpr uint64_t address_of(uint64_t bits) { return uint64_t(int64_t(bits << 16) >> 16); }

enum class Transform : uint8_t { plain, interleave8, interleave16, bad3, bad4, transpose8, transpose16, transpose32 };

struct Load {
    bool masked = false, coop = false, to_b = false;
    Transform transform = Transform::plain;
    uint8_t start = 0;  // the first line of L1Scp, as written: it wraps at 48
    uint8_t rows = 1;   // lines of the destination
    uint8_t id = 0;
    uint64_t address = 0, stride = 0;

    [[nodiscard]] bool bad() const { return transform == Transform::bad3 || transform == Transform::bad4; }
};

struct LoadL2 {
    bool masked = false;
    uint32_t line = 0;  // of the issuing shire's scratchpad
    uint8_t rows = 1, id = 0;
    uint64_t address = 0, stride = 0;
};

enum class Type : uint8_t { fp32 = 0, fp16 = 1, int8 = 3 };

struct Fma {
    bool masked = false, to_registers = false, b_unsigned = false, a_unsigned = false, from_tenb = false, first = false;
    uint8_t type = 0;                          // of enum Type, or 2 and 4 to 7, which are illegal
    uint8_t columns = 4, rows = 1, words = 1;  // N, M, words of 32 bits in a row of A
    uint8_t offset = 0, b_start = 0, a_start = 0;

    [[nodiscard]] bool legal() const { return type == 0 || type == 1 || type == 3; }
    [[nodiscard]] bool is(Type t) const { return type == uint8_t(t); }
    // Whether it uses f registers; an IMA8 that writes only TenC does not.
    [[nodiscard]] bool uses_registers() const { return !is(Type::int8) || to_registers; }
    // Micro-operations of one step (one word of each row of A), and of all.
    [[nodiscard]] unsigned step() const { return is(Type::int8) ? rows : rows * ((columns + 7u) / 8u); }
    [[nodiscard]] unsigned micro_operations() const { return words * step(); }
};

struct Quant {
    uint8_t freg = 0, columns = 4, rows = 1, start = 0;
    uint8_t count = 0;                     // transforms before the first that stops
    static constexpr unsigned KNOWN = 10;  // those with greater numbers are undefined
    std::array<uint8_t, 10> transforms{};

    // Lines of L1Scp that transforms 4 to 7 take, one each.
    [[nodiscard]] unsigned lines() const;
};

struct Store {
    bool from_scp = false;
    uint8_t step = 1, start = 0;  // registers or lines
    uint8_t bytes = 64;           // of a row
    uint8_t rows = 1, coop = 0;
    bool legal = true;  // SIZE and COOP
    uint64_t address = 0, stride = 0;

    [[nodiscard]] uint64_t row(unsigned i) const { return (address + i * stride) & ~uint64_t(bytes - 1); }
};

enum class Command : uint8_t { send, receive, broadcast, reduce };
constexpr const char* name_of(Command command) {
    constexpr const char* NAMES[] = {"tensor_send", "tensor_recv", "tensor_broadcast", "tensor_reduce"};
    return NAMES[unsigned(command)];
}
enum class Role : uint8_t { skips, sends, receives };

struct Reduce {
    Command command = Command::send;
    uint8_t freg = 0, funct = 0, count = 0;
    uint16_t peer = 0;  // of send and receive
    uint8_t height = 0;

    struct Part {
        Role role = Role::skips;
        uint16_t peer = 0;
        bool bad = false;  // itself as its peer, or a function that there is none of: BAD_REDUCE, whatever the count
    };
    [[nodiscard]] bool is_tree() const { return command == Command::broadcast || command == Command::reduce; }
    // Whether the rounding mode matters, and an invalid one is an illegal instruction.
    [[nodiscard]] bool rounds() const { return command != Command::send && funct == 0; }
    // What `minion` does in it. Without registers, COUNT 0, nothing happens, but BAD_REDUCE is still set.
    [[nodiscard]] Part part(unsigned minion) const;
};

struct Coop {
    uint8_t neighbourhoods = 0, minions = 0, group = 0;
};

Load load(uint64_t word, uint64_t x31);
LoadL2 load_l2(uint64_t word, uint64_t x31);
Fma fma(uint64_t word);
Quant quant(uint64_t word);
Store store(uint64_t word, uint64_t x31);
Reduce reduce(uint64_t word);
Coop coop(uint64_t word);

// tensor_mask as tensor_conv_size and tensor_conv_ctrl compute it.
uint16_t conv_mask(uint64_t size, uint64_t control);

// What an operation touches of a minion: lines of L1Scp and f registers by bits, as far as its fields tell (masked rows
// count). For hazards and for waits.
struct Effects {
    uint64_t scp_reads = 0, scp_writes = 0;
    uint32_t f_reads = 0, f_writes = 0;
};
Effects effects(const Load& load);
Effects effects(const Fma& fma);
Effects effects(const Quant& quant);
Effects effects(const Store& store);
Effects effects(const Reduce& reduce, Role role);

}  // namespace polyloom::minion::tensor
