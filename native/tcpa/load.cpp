// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a concrete configuration (docs/formats.md). Except for names and checksums, every word ends up in
// a `Config`. What the format leaves open, such as whether a register exists, is for `check` and the model to say.
#include <algorithm>
#include <array>
#include <string>

#include "config.hpp"
#include "operations.hpp"

namespace polyloom::tcpa {
namespace {

constexpr size_t header = 32, section_count = 7, checked_from = 16;

class Reader {
  public:
    Reader() = default;
    explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

    bool done() const { return position_ == bytes_.size(); }
    size_t left() const { return bytes_.size() - position_; }

    std::span<const uint8_t> take(size_t size) {
        if (size > left()) throw FormatError("a section ends too early");
        position_ += size;
        return bytes_.subspan(position_ - size, size);
    }

    uint64_t number(size_t size) {
        uint64_t value = 0;
        unsigned shift = 0;
        for (uint8_t byte : take(size)) {
            value |= uint64_t(byte) << shift;
            shift += 8;
        }
        return value;
    }

    uint8_t u8() { return uint8_t(number(1)); }
    uint32_t u16() { return uint32_t(number(2)); }
    uint32_t u32() { return uint32_t(number(4)); }
    int64_t i32() { return int32_t(number(4)); }

    // A count of items. Each takes at least one byte, so that a count above what is left is refused before anything is
    // allocated for it.
    size_t count(size_t size) {
        const uint64_t value = number(size);
        if (value > left()) throw FormatError("more items are announced than the section holds");
        return size_t(value);
    }

    std::string text() {
        uint64_t length = 0;
        for (unsigned shift = 0;; shift += 7) {
            const uint8_t byte = u8();
            length |= uint64_t(byte & 127) << shift;
            if (byte < 128) break;
            if (shift > 49) throw FormatError("a name is too long");
        }
        const auto bytes = take(length);
        return {bytes.begin(), bytes.end()};
    }

  private:
    std::span<const uint8_t> bytes_;
    size_t position_ = 0;
};

template <class T, class Read>
std::vector<T> list(size_t count, Read&& read) {
    std::vector<T> items;
    for (size_t n = 0; n < count; ++n) items.push_back(read());
    return items;
}

uint64_t fletcher64(std::span<const uint8_t> bytes) {
    constexpr uint64_t modulus = 0xffffffff;
    uint64_t low = 0, high = 0;
    for (Reader words(bytes); !words.done();) {
        low = (low + words.u32()) % modulus;
        high = (high + low) % modulus;
    }
    return high << 32 | low;
}

// Splits the file. A file is canonical: one checksum, no gap between sections, zeros as padding, so that one changed
// bit is found and equal configurations are equal files.
std::array<Reader, section_count> sections(std::span<const uint8_t> bytes, uint64_t& stamp) {
    Reader head(bytes);
    if (bytes.size() % 4 || bytes.size() < header + 4 * section_count ||
        !std::ranges::equal(head.take(4), std::string_view("PLCC")))
        throw FormatError("not a concrete configuration");
    if (head.u32() != 5) throw FormatError("another format version");
    if (head.number(8) != fletcher64(bytes.subspan(checked_from))) throw FormatError("the checksum does not match");
    stamp = head.number(8);
    const uint64_t names_hash = head.number(8);
    std::array<Reader, section_count> made;
    size_t start = header + 4 * section_count;
    for (Reader& section : made) {
        const size_t end = head.u32(), padded = (end + 3) / 4 * 4;
        if (end < start || padded > bytes.size()) throw FormatError("the section table is malformed");
        section = Reader(bytes.subspan(start, end - start));
        for (uint8_t pad : bytes.subspan(end, padded - end))
            if (pad) throw FormatError("padding is not zero");
        if (&section == &made.back() && fletcher64(bytes.subspan(start, padded - start)) != names_hash)
            throw FormatError("the hash of the names does not match");
        start = padded;
    }
    if (start != bytes.size()) throw FormatError("bytes follow the last section");
    return made;
}

Operand operand(uint8_t byte) { return {File(byte >> 6), uint32_t(byte & 63)}; }

Instruction instruction(Reader& in) {
    Instruction made;
    const uint8_t first = in.u8(), second = in.u8();
    made.opcode = uint16_t((first & 63) << 4 | second >> 4);
    made.branch = Branch(first >> 6);
    const unsigned sources = made.opcode == opcode_nop ? 0 : arity(operation_of(made.opcode));
    made.destinations = list<Operand>(second & 15, [&] { return operand(in.u8()); });
    made.sources = list<Operand>(sources, [&] { return operand(in.u8()); });
    for (unsigned n = 0; n < sources; ++n)
        if (Operand& source = made.sources[n]; source.file == File::immediate)
            source.value = in.number(immediate_bytes(made.opcode, n));
    if (made.branch == Branch::jump) made.targets = {in.u16()};
    if (made.branch == Branch::select) {
        const size_t signals = in.u8();
        if (signals == 0 || signals > 15) throw FormatError("a branch reads an impossible number of control signals");
        made.signals = list<uint32_t>(signals, [&] { return in.u8(); });
        made.targets = list<uint32_t>(size_t(1) << signals, [&] { return in.u16(); });
    }
    return made;
}

std::vector<int64_t> depths(Reader& in) {
    return list<int64_t>(in.count(1), [&] { return in.u32(); });
}

ElementProgram element_program(Reader& in) {
    ElementProgram made;
    made.programs =
        list<Program>(in.count(1), [&] { return list<Instruction>(in.count(2), [&] { return instruction(in); }); });
    made.feedback_depths = depths(in);
    made.input_depths = depths(in);
    return made;
}

Port port(Reader& in) {
    const uint32_t value = in.u16();
    return {Location(value % 8), value / 8};
}

Connection connection(Reader& in) {
    const Port sink = port(in);
    return {sink, port(in)};
}

ConvexSet convex_set(Reader& in, size_t rank) {
    ConvexSet made;
    made.lower = list<int64_t>(rank, [&] { return in.u32(); });
    made.upper = list<int64_t>(rank, [&] { return in.u32(); });
    made.half_spaces = list<HalfSpace>(in.count(2), [&] {
        HalfSpace half;
        half.coefficients = list<int64_t>(rank, [&] { return in.i32(); });
        half.constant = in.i32();
        return half;
    });
    return made;
}

using Pool = std::vector<Shared>;

const Shared& pooled(const Pool& pool, Reader& in) {
    const uint32_t number = in.u32();
    if (number >= pool.size()) throw FormatError("a domain does not exist");
    return pool[number];
}

Controller controller(Reader& in, const Pool& pool) {
    Controller made;
    made.south = in.u8() != 0;
    made.east = in.u8() != 0;
    made.start = in.u32();
    made.row_delay = in.u32();
    made.column_delay = in.u32();
    made.steps = in.u32();
    made.signals = list<Shared>(in.count(2), [&] { return pooled(pool, in); });
    return made;
}

Array array(Reader& in) {
    Array made;
    const uint8_t packed = in.u8();
    const unsigned rank = in.u8();
    made.type = packed >> 1;
    made.is_output = packed & 1;
    made.shape = list<int64_t>(rank, [&] { return in.u32(); });
    made.strides = list<int64_t>(rank, [&] { return in.u32(); });
    return made;
}

void place(Reader& in, std::vector<Array>& arrays) {
    const uint32_t number = in.u16();
    if (number >= arrays.size()) throw FormatError("an array is placed that does not exist");
    in.u16();  // each array is a memory of the model's own, whatever bank it shares
    arrays[number].base = in.u32();
}

Generator generator(Reader& in, const Pool& pool, size_t rank) {
    Generator made;
    made.side = Location(std::min(in.u16(), 4u) + 1);
    made.reg = in.u16();
    made.position = in.u16();
    made.channel = in.u16();
    made.links = in.u16();
    made.array = in.u16();
    made.base = in.i32();
    made.coefficients = list<int64_t>(rank, [&] { return in.i32(); });
    made.delay = in.u32();
    made.domain = pooled(pool, in);
    return made;
}

// What the configuration was made of, which decides nothing: candidate, parameters, symbolic file.
void made_of(Reader& names) {
    const uint32_t known = names.u8();
    if (known > 1) throw FormatError("a flag is neither 0 nor 1");
    if (!known) return;
    names.u32();
    names.take(4 * names.count(1));
    names.take(names.count(4));
}

}  // namespace

Config load(std::span<const uint8_t> bytes, uint64_t most_bytes) {
    Config config;
    auto parts = sections(bytes, config.machine_hash);
    Reader &head = parts[0], &classes = parts[1], &wrappers = parts[2], &maps = parts[3], &domains = parts[4],
           &generators = parts[5], &names = parts[6];
    config.initiation_interval = head.u32();
    config.rows = head.u16();
    config.columns = head.u16();
    config.extents = list<int64_t>(head.count(1), [&] { return head.u32(); });
    const size_t rank = config.extents.size(), elements = size_t(config.rows) * config.columns;
    const auto pool = list<Shared>(domains.count(4), [&] {
        return std::make_shared<const Domain>(
            list<ConvexSet>(domains.count(2), [&] { return convex_set(domains, rank); }));
    });
    config.controller = controller(head, pool);
    config.arrays = list<Array>(head.count(2), [&] { return array(head); });
    for (size_t places = head.count(2); places; --places) place(head, config.arrays);
    config.classes = list<ElementProgram>(classes.count(2), [&] { return element_program(classes); });
    config.wrappers = list<std::vector<Connection>>(
        wrappers.count(2), [&] { return list<Connection>(wrappers.count(2), [&] { return connection(wrappers); }); });
    const size_t class_bytes = config.classes.size() + 1 <= 256 ? 1 : 2,
                 wrapper_bytes = config.wrappers.size() <= 256 ? 1 : 2;
    config.element_class = list<int32_t>(elements, [&] { return int32_t(maps.number(class_bytes)) - 1; });
    config.wrapper = list<uint32_t>(elements, [&] { return uint32_t(maps.number(wrapper_bytes)); });
    config.generators = list<Generator>(generators.count(4), [&] { return generator(generators, pool, rank); });
    for (Generator& g : config.generators)
        if (g.array < config.arrays.size()) g.base -= config.arrays[g.array].base;
    config.kernel = names.text();
    config.machine = names.text();
    names.text();  // the digest of the program, which decides nothing
    for (Array& array : config.arrays) array.name = names.text();
    made_of(names);
    for (const Reader* section : {&head, &classes, &wrappers, &maps, &domains, &generators, &names})
        if (!section->done()) throw FormatError("bytes follow a section's last item");
    check(config, most_bytes);
    return config;
}

}  // namespace polyloom::tcpa
