// SPDX-License-Identifier: Apache-2.0
// A concrete configuration as the loader finds it in a file (docs/formats.md), before the model decodes it for speed.
// The members mirror `polyloom.targets.tcpa.words.concrete`, whose docstrings define them; digits are innermost first.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace polyloom::tcpa {

struct HalfSpace {
    std::vector<int64_t> coefficients;
    int64_t constant = 0;
};

struct ConvexSet {
    std::vector<int64_t> lower, upper;
    std::vector<HalfSpace> half_spaces;
};

using Domain = std::vector<ConvexSet>;
// One in memory for all that share it in the file.
using Shared = std::shared_ptr<const Domain>;

struct Controller {
    bool south = false, east = false;
    int64_t start = 0, row_delay = 0, column_delay = 0, steps = 0;
    std::vector<Shared> signals;
};

// Register files of an operand field; `io` is od in a destination and id in a source.
enum class File : uint8_t { rd, fd, io, immediate };

// `value` is the register's index, or an immediate's bits.
struct Operand {
    File file = File::rd;
    uint64_t value = 0;
};

enum class Branch : uint8_t { next, halt, jump, select };

constexpr uint16_t opcode_nop = 63 << 4;
constexpr size_t max_sources = 3;

struct Instruction {
    uint16_t opcode = opcode_nop;
    std::vector<Operand> destinations, sources;
    Branch branch = Branch::next;
    std::vector<uint32_t> signals;  // of `select`
    std::vector<uint32_t> targets;  // one of `jump`, 2^signals of `select`
};

using Program = std::vector<Instruction>;

struct ElementProgram {
    std::vector<Program> programs;
    std::vector<int64_t> feedback_depths, input_depths;
};

// Locations of a wrapper port, and the borders of a rectangle, which use the last four.
enum class Location : uint8_t { pe, north, east, south, west };

struct Port {
    Location location = Location::pe;
    uint32_t index = 0;
    auto operator<=>(const Port&) const = default;
};

struct Connection {
    Port sink, source;
    auto operator<=>(const Connection&) const = default;
};

// The element `links` away from the border port has `reg` connected with it: an id, or the od of an output.
struct Generator {
    Location side = Location::north;
    uint32_t reg = 0, position = 0, channel = 0, links = 0, array = 0;
    int64_t base = 0;
    std::vector<int64_t> coefficients;
    int64_t delay = 0;
    Shared domain;
};

struct Array {
    std::string name;
    uint8_t type = 0;  // its number in `Type`
    std::vector<int64_t> shape, strides;
    bool is_output = false;
    int64_t base = 0;  // the first element's word in its memory; the addresses of generators are less it
};

struct Config {
    std::string kernel, machine;
    uint64_t machine_hash = 0;
    int64_t initiation_interval = 1;
    uint32_t rows = 0, columns = 0;
    std::vector<int64_t> extents;
    Controller controller;
    std::vector<ElementProgram> classes;
    std::vector<int32_t> element_class;  // row by row; -1 is an empty tile
    std::vector<std::vector<Connection>> wrappers;
    std::vector<uint32_t> wrapper;  // row by row
    std::vector<Generator> generators;
    std::vector<Array> arrays;
};

// Words that the array's elements lie in: one past the last element's word, 0 when the array has no element.
uint64_t words_of(const Array& array);

struct FormatError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a file declares is more than the memory that it may take.
struct TooLarge : std::runtime_error {
    explicit TooLarge(uint64_t needed)
        : std::runtime_error("the configuration does not fit into memory"), bytes(needed) {}
    uint64_t bytes;
};

uint64_t wire_bytes(const Config& config);                  // of all connections
uint64_t run_bytes(const Config& config, bool check_only);  // of a run, all in all
uint64_t most_operations(const Config& config);             // of a run, at most
// Steps in which generators of an array are enabled, at most.
uint64_t accesses(const Config& config, size_t array);
uint64_t signal_ring(const Config& config);  // steps whose signals a run keeps

// Refuses whatever would send the model outside its tables: indices, ranks, signs, digits outside the tile.
void check(const Config& config, uint64_t most_bytes = std::numeric_limits<uint64_t>::max());

// Reads the bytes of a concrete configuration; throws FormatError when they are not one, TooLarge where it would take
// more than `most_bytes`.
Config load(std::span<const uint8_t> bytes, uint64_t most_bytes = std::numeric_limits<uint64_t>::max());

}  // namespace polyloom::tcpa
