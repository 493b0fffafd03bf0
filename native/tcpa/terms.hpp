// SPDX-License-Identifier: Apache-2.0
// Terms: what a value is made of, whatever the data are. A term is an input, a constant, or an operation on terms, and
// has a number; equal numbers are equal values for all inputs. Every term is kept once (hash consing, Ershov 1958),
// found by a key of 128 bits under a seed that nobody who makes a file can know.
//
// Keys identify what the arithmetic of the element types makes equal bit for bit: copies, constants that are computed,
// sums and products of integers in any order, `select` under its own condition. The key of an integer is an element of
// Z/2^128, those of operations random: a sum's key is the sum of keys, so that no order of summation shows; two
// different sums agree with a probability below 2^-64 (a linear form in random elements that is not 0 modulo 2^32).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "operations.hpp"

namespace polyloom::tcpa {

class Terms {
  public:
    using Id = uint32_t;
    using Key = unsigned __int128;
    // A chain is an operation whose operands have no order and no grouping.
    // An alias is a number that was given before an equal term was found, which is operand 0.
    enum class Kind : uint8_t { none, constant, input, operation, chain, alias };

    // `type` is that of the operands (the last one's), `result` the value's. A constant's bits stand in the first two
    // operands; an input is operand 0's array, its element's number stands in the other two.
    struct Node {
        Key key = 0;
        Kind kind = Kind::none;
        Operation operation = Operation::move;
        Type type = Type::i8, result = Type::i8;
        std::array<Id, 3> operands{};

        uint64_t bits() const { return operands[0] | uint64_t(operands[1]) << 32; }
        uint64_t index() const { return operands[1] | uint64_t(operands[2]) << 32; }
    };

    // With `reassociate` sums and products of floats have no order either. Throws std::bad_alloc beyond `most` terms.
    Terms(uint64_t seed, bool reassociate, uint64_t most);

    Id constant(Type type, Word bits);
    Id input(uint32_t array, uint64_t index, Type type);
    // The term of an operation; operands that it has not are ignored. Never faults: a division by zero is a term.
    Id apply(Operation operation, Type type, Id a, Id b, Id c) {
        settle();
        later_ = false;
        return result(operation, type, resolved(a), resolved(b), resolved(c));
    }
    // The same, but what equals the term is looked for later, when the memory that tells has arrived: the number may
    // become an alias. `settled` gives the one that all equal terms have.
    Id apply_later(Operation operation, Type type, Id a, Id b, Id c);
    Id settled(Id id) {
        settle();
        return resolved(id);
    }

    // Number 0 stands for what nothing has written.
    const Node& operator[](Id id) const { return nodes_[id]; }
    size_t size() const { return nodes_.size(); }
    size_t distinct() const { return nodes_.size() - aliases_; }

  private:
    struct Walk;

    // A place of the table: its number, or 0 where it is free, and the bits of the key that choose the place. Most
    // terms that are not sought are told from the one that is by these, without a look at the term itself.
    struct Slot {
        Id id = 0;
        uint32_t tag = 0;
    };

    // The terms that are still to be looked for, in the order of their numbers: the least of equal ones is kept.
    static constexpr unsigned most_pending = 32;

    Key hashed(uint64_t a, uint64_t b) const;
    Key operation_key(Operation operation, Type type, Id a, Id b, Id c) const;
    Id intern(const Node& node);
    Id append(const Node& node);
    Id postpone(const Node& node);
    size_t place_of(const Node& node, uint32_t tag) const;
    void settle_one();
    void settle() {
        while (pending_) settle_one();
    }
    // The number that equal terms have, of one that was given.
    Id resolved(Id id) {
        while (pending_ && id >= waiting_[first_]) settle_one();
        return nodes_[id].kind == Kind::alias ? nodes_[id].operands[0] : id;
    }
    Id result(Operation operation, Type type, Id a, Id b, Id c);
    Id made(Kind kind, Operation operation, Type type, std::array<Id, 3> operands, Key key);
    Id sum(Operation operation, Type type, Id a, Id b, Key key);
    std::optional<Id> linear(Operation operation, Type type, Id a, Id b);
    std::optional<Id> unordered(Operation operation, Type type, Id a, Id b);
    Key salt(Operation operation, Type type) const { return salt_[unsigned(operation) << 4 | unsigned(type)]; }
    Key member(Operation operation, Type type, Id id) const;
    Key members(Operation operation, Type type, Id id) const;
    Id float_sum(Operation operation, Type type, Id a, Id b);
    Id compared(Operation operation, Type type, Id a, Id b);
    Id choice(Type type, Id condition, Id yes, Id no);
    Id under(Id id, Walk& walk);
    bool is_constant(Id id) const { return constant_[id]; }
    bool is_neutral(Operation operation, Type type, Id id) const;
    void grow();

    std::array<uint64_t, 2> seed_;
    bool reassociate_;
    uint64_t most_;
    std::vector<Node> nodes_;
    std::vector<uint8_t> constant_;  // by node: apart, because every operation asks
    std::vector<Slot> table_;        // open addressing, by the upper bits of tags
    unsigned shift_;                 // of a tag, to a place
    std::vector<Key> salt_;          // by opcode
    size_t aliases_ = 0;
    bool later_ = false;  // whether what is made is postponed
    unsigned pending_ = 0, first_ = 0;
    std::array<Id, most_pending> waiting_{};
};

}  // namespace polyloom::tcpa
