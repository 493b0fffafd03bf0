// SPDX-License-Identifier: Apache-2.0
#include "terms.hpp"

#include <bit>
#include <limits>
#include <new>
#include <utility>

namespace polyloom::tcpa {
namespace {

using Key = Terms::Key;
using Id = Terms::Id;

// An operation's result as a word is one of its type; so is a constant's, whatever its upper bits were.
Word wrapped(Type t, Word bits) {
    return t == Type::f32 ? uint32_t(bits) : t == Type::f64 ? bits : execute(opcode_of(Operation::move, t), bits, 0, 0);
}

constexpr unsigned width_of(Type t) { return 8 * bytes_of(t); }
constexpr bool is_signed(Type t) { return t == Type::i8 || t == Type::i16 || t == Type::i32; }
constexpr bool is_zero(Type t, Word bits) { return (t == Type::f32 ? uint32_t(bits << 1) : bits << 1) == 0; }

// The number that an integer's bits mean, taken with a sign whatever its type.
constexpr int64_t signed_value(Type t, Word bits) {
    const unsigned unused = 64 - width_of(t);
    return int64_t(bits << unused) >> unused;
}

// The element e with e o x = x for all x.
Word neutral(Operation o, Type t) {
    const auto of = [&](double value) { return t == Type::f64 ? word(value) : word(float(value)); };
    const Word most = is_signed(t) ? (Word(1) << (width_of(t) - 1)) - 1 : ~Word(0);
    switch (o) {
        case Operation::mul: return is_float(t) ? of(1) : 1;
        case Operation::min: return is_float(t) ? of(std::numeric_limits<double>::infinity()) : wrapped(t, most);
        case Operation::max: return is_float(t) ? of(-std::numeric_limits<double>::infinity()) : wrapped(t, ~most);
        case Operation::bit_and: return wrapped(t, ~Word(0));
        default: return 0;
    }
}

constexpr uint64_t salt_of_members = 1, salt_of_chains = 2, salt_of_constants = 3, salt_of_inputs = 4;

// A bijection that spreads every bit (Stafford's mix 13).
uint64_t stirred(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Keys of constants are multiples of a power of two, hence stirred.
uint32_t tag_of(Key key) {
    const uint64_t folded = uint64_t(key) ^ uint64_t(key >> 64);
    return uint32_t(((folded ^ folded >> 32) * 0x9e3779b97f4a7c15u) >> 32);
}

constexpr unsigned first_bits = 10;

bool associative(Operation o) {
    return o == Operation::mul || o == Operation::min || o == Operation::max || o == Operation::bit_and ||
           o == Operation::bit_or || o == Operation::bit_xor;
}

// Sums of floats keep two halves, of what is added and of what is subtracted: x - x is not 0 where x is infinite.
Key halves(uint64_t added, uint64_t subtracted) { return Key(added) << 64 | subtracted; }
Key both(Key a, Key b) { return halves(uint64_t(a >> 64) + uint64_t(b >> 64), uint64_t(a) + uint64_t(b)); }
Key apart(Key a, Key b) { return halves(uint64_t(a >> 64) - uint64_t(b >> 64), uint64_t(a) - uint64_t(b)); }
Key turned(Key a) { return a >> 64 | a << 64; }

}  // namespace

// What is being read under a condition: terms that stand below `condition` were made before it and cannot choose by it.
struct Terms::Walk {
    Id condition;
    bool holds;
    unsigned left = 4096, depth = 0;  // terms that may be visited
    std::unordered_map<Id, Id> known = {};
};

Terms::Terms(uint64_t seed, bool reassociate, uint64_t most)
    : seed_{stirred(seed + 1), stirred(seed ^ 0x9e3779b97f4a7c15u)}, reassociate_(reassociate), most_(most), nodes_(1),
      constant_(1), table_(size_t(1) << first_bits), shift_(32 - first_bits), salt_(opcode_count) {
    for (unsigned n = 0; n < salt_.size(); ++n) salt_[n] = hashed(salt_of_chains, uint64_t(n >> 4) << 8 | (n & 15));
}

Key Terms::hashed(uint64_t a, uint64_t b) const {
    const uint64_t first = stirred(stirred(seed_[0] ^ a) + b),
                   second = stirred(stirred(seed_[1] + a) ^ std::rotl(b, 32));
    return halves(first ^ seed_[1], second + first);
}

Key Terms::operation_key(Operation operation, Type type, Id a, Id b, Id c) const {
    return hashed(uint64_t(a) << 32 | uint64_t(operation) << 16 | uint64_t(type) << 8, uint64_t(b) << 32 | c);
}

// Where a term is, or the free place that it would take.
size_t Terms::place_of(const Node& node, uint32_t tag) const {
    const size_t mask = table_.size() - 1;
    size_t at = tag >> shift_;
    for (; table_[at].id; at = (at + 1) & mask) {
        if (table_[at].tag != tag) continue;
        const Node& other = nodes_[table_[at].id];
        if (other.key == node.key && other.result == node.result) break;
    }
    return at;
}

Id Terms::append(const Node& node) {
    if (nodes_.size() >= most_) throw std::bad_alloc();
    nodes_.push_back(node);
    constant_.push_back(node.kind == Kind::constant);
    if (2 * nodes_.size() > table_.size() && shift_) grow();
    return Id(nodes_.size() - 1);
}

Id Terms::intern(const Node& node) {
    const uint32_t tag = tag_of(node.key);
    if (const Id found = table_[place_of(node, tag)].id) return found;
    const Id id = append(node);
    table_[place_of(node, tag)] = {id, tag};
    return id;
}

// Gives a number at once, and asks for the memory that tells whether an equal term has one.
Id Terms::postpone(const Node& node) {
    if (pending_ == most_pending) settle_one();
    const Id id = append(node);
    __builtin_prefetch(&table_[tag_of(node.key) >> shift_], 1);
    waiting_[(first_ + pending_++) % most_pending] = id;
    return id;
}

void Terms::settle_one() {
    const Id id = waiting_[first_];
    first_ = (first_ + 1) % most_pending;
    --pending_;
    Node& node = nodes_[id];
    const uint32_t tag = tag_of(node.key);
    Slot& slot = table_[place_of(node, tag)];
    if (!slot.id) {
        slot = {id, tag};
        return;
    }
    node = {.kind = Kind::alias, .operands = {slot.id, 0, 0}};
    ++aliases_;
}

// Places follow the order of tags in the old table as in the new one, so that both are passed once from front to back.
void Terms::grow() {
    std::vector<Slot> larger(2 * table_.size());
    const size_t mask = larger.size() - 1;
    --shift_;
    for (const Slot& slot : table_) {
        if (!slot.id) continue;
        size_t at = slot.tag >> shift_;
        while (larger[at].id) at = (at + 1) & mask;
        larger[at] = slot;
    }
    table_ = std::move(larger);
}

Id Terms::constant(Type type, Word bits) {
    const Word word = wrapped(type, bits);
    const Key key =
        is_integer(type) ? Key(word) << (128 - width_of(type)) : hashed(salt_of_constants << 8 | uint64_t(type), word);
    return intern({key, Kind::constant, Operation::move, type, type, {Id(word), Id(word >> 32), 0}});
}

Id Terms::input(uint32_t array, uint64_t index, Type type) {
    const Key key = hashed(uint64_t(array) << 32 | salt_of_inputs << 8, index);
    return intern({key, Kind::input, Operation::move, type, type, {array, Id(index), Id(index >> 32)}});
}

Id Terms::made(Kind kind, Operation operation, Type type, std::array<Id, 3> operands, Key key) {
    const Node node{key, kind, operation, type, result_of(operation, type), operands};
    return later_ ? postpone(node) : intern(node);
}

Id Terms::apply_later(Operation operation, Type type, Id a, Id b, Id c) {
    if (operation == Operation::move) return a;
    // A choice compares numbers with each other.
    if (operation == Operation::select) return apply(operation, type, a, b, c);
    a = resolved(a);
    b = resolved(b);
    c = resolved(c);
    later_ = true;
    const Id made = result(operation, type, a, b, c);
    later_ = false;
    return made;
}

// Of terms that are no aliases.
Id Terms::result(Operation operation, Type type, Id a, Id b, Id c) {
    const unsigned operands = arity(operation);
    if (operands < 2) b = 0;
    if (operands < 3) c = 0;
    if (operation == Operation::move) return a;
    if (is_constant(a) && (operands < 2 || is_constant(b)) && (operands < 3 || is_constant(c)) &&
        !(divides(opcode_of(operation, type)) && nodes_[b].bits() == 0))
        return constant(result_of(operation, type),
                        execute(opcode_of(operation, type), nodes_[a].bits(), nodes_[b].bits(), nodes_[c].bits()));
    if (operation == Operation::select) return choice(type, a, b, c);
    if (compares(operation)) return compared(operation, type, a, b);
    if (is_integer(type)) {
        // a * b + c wraps like its parts.
        if (operation == Operation::madd)
            return result(Operation::add, type, result(Operation::mul, type, a, b, 0), c, 0);
        if (const auto found = linear(operation, type, a, b)) return *found;
    } else if (reassociate_ &&
               (operation == Operation::add || operation == Operation::sub || operation == Operation::neg)) {
        return float_sum(operation, type, a, b);
    }
    if (const auto found = unordered(operation, type, a, b)) return *found;
    return made(Kind::operation, operation, type, {a, b, c}, operation_key(operation, type, a, b, c));
}

Id Terms::sum(Operation operation, Type type, Id a, Id b, Key key) {
    const unsigned width = width_of(type);
    // Only constants have no bit below the uppermost `width`.
    if (!(key << width)) return constant(type, Word(key >> (128 - width)));
    return made(Kind::operation, operation, type, {a, b, 0}, key);
}

// Sums, differences and multiples of integers.
std::optional<Id> Terms::linear(Operation operation, Type type, Id a, Id b) {
    const Key x = nodes_[a].key, y = nodes_[b].key;
    const auto times = [&](Id factor) { return Key(__int128(int64_t(signed_value(type, nodes_[factor].bits())))); };
    switch (operation) {
        case Operation::add: return sum(operation, type, a, b, x + y);
        case Operation::sub: return sum(operation, type, a, b, x - y);
        case Operation::neg: return sum(operation, type, a, b, -x);
        case Operation::mul:
            if (is_constant(a)) return sum(operation, type, a, b, y * times(a));
            if (is_constant(b)) return sum(operation, type, a, b, x * times(b));
            return std::nullopt;
        case Operation::shl:
            if (!is_constant(b)) return std::nullopt;
            return sum(operation, type, a, b, x << (nodes_[b].bits() & (width_of(type) - 1)));
        default: return std::nullopt;
    }
}

bool Terms::is_neutral(Operation operation, Type type, Id id) const {
    const Node& node = nodes_[id];
    return node.kind == Kind::constant && node.bits() == neutral(operation, type);
}

Key Terms::member(Operation operation, Type type, Id id) const {
    return hashed(salt_of_members, uint64_t(operation) << 48 | uint64_t(type) << 40 | id);
}

// What an operand brings into a chain of one operation: its own members where it is such a chain, else itself.
Key Terms::members(Operation operation, Type type, Id id) const {
    const Node& node = nodes_[id];
    const bool inside = node.kind == Kind::chain && node.operation == operation && node.type == type;
    return inside ? apart(node.key, salt(operation, type)) : member(operation, type, id);
}

// A chain of an operation that is associative and commutative, as the multiset of its members.
std::optional<Id> Terms::unordered(Operation operation, Type type, Id a, Id b) {
    if (!associative(operation) || (is_float(type) && !reassociate_)) return std::nullopt;
    if (is_neutral(operation, type, a)) return b;
    if (is_neutral(operation, type, b)) return a;
    const Key all = both(members(operation, type, a), members(operation, type, b));
    return made(Kind::chain, operation, type, {a, b, 0}, both(all, salt(operation, type)));
}

// Sums of floats whose order is free. `add`, `sub` and `neg` make one kind of chain: the members of what is subtracted
// stand in the other half.
Id Terms::float_sum(Operation operation, Type type, Id a, Id b) {
    constexpr Operation add = Operation::add;
    const auto zero = [&](Id id) { return is_constant(id) && is_zero(type, nodes_[id].bits()); };
    const auto of = [&](Id id) {
        const Node& node = nodes_[id];
        const bool inside =
            node.kind == Kind::chain && node.type == type &&
            (node.operation == add || node.operation == Operation::sub || node.operation == Operation::neg);
        if (inside) return apart(node.key, salt(add, type));
        return zero(id) ? Key(0) : halves(uint64_t(member(add, type, id)), 0);
    };
    if (operation != Operation::neg && zero(b)) return a;
    if (operation == add && zero(a)) return b;
    const Key first = of(a);
    const Key all = operation == Operation::neg   ? turned(first)
                    : operation == Operation::sub ? both(first, turned(of(b)))
                                                  : both(first, of(b));
    return made(Kind::chain, operation, type, {a, b, 0}, both(all, salt(add, type)));
}

// a > b is b < a, and a == b is b == a, for every type.
Id Terms::compared(Operation operation, Type type, Id a, Id b) {
    Operation named = operation;
    Id first = a, second = b;
    if (operation == Operation::gt) named = Operation::lt;
    if (operation == Operation::ge) named = Operation::le;
    if (named != operation || ((operation == Operation::eq || operation == Operation::ne) && b < a))
        std::swap(first, second);
    return made(Kind::operation, operation, type, {a, b, 0}, operation_key(named, type, first, second, 0));
}

Id Terms::choice(Type type, Id condition, Id yes, Id no) {
    if (is_constant(condition)) return nodes_[condition].bits() ? yes : no;
    Walk holds{condition, true}, fails{condition, false};
    yes = under(yes, holds);
    no = under(no, fails);
    if (yes == no) return yes;
    return made(Kind::operation, Operation::select, type, {condition, yes, no},
                operation_key(Operation::select, type, condition, yes, no));
}

// The term where the walk's condition is known: every choice by it is made. What takes too long stays as it is, which
// is the same value.
Id Terms::under(Id id, Walk& walk) {
    id = resolved(id);
    if (id <= walk.condition || !walk.left || walk.depth > 200) return id;
    const Node node = nodes_[id];
    if (node.kind != Kind::operation && node.kind != Kind::chain) return id;
    if (node.operation == Operation::select && node.operands[0] == walk.condition)
        return under(node.operands[walk.holds ? 1 : 2], walk);
    if (const auto found = walk.known.find(id); found != walk.known.end()) return found->second;
    --walk.left;
    ++walk.depth;
    std::array<Id, 3> operands = node.operands;
    for (Id& operand : operands) operand = under(operand, walk);
    --walk.depth;
    const Id made =
        operands == node.operands ? id : result(node.operation, node.type, operands[0], operands[1], operands[2]);
    walk.known.emplace(id, made);
    return made;
}

}  // namespace polyloom::tcpa
