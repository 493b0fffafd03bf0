// SPDX-License-Identifier: Apache-2.0
// The four packers: PACR moves datums of Dst to L1, each packer from its own offset to its own address. Output is
// written 16 bytes at a time; Last and Flush write what waits, padded with zeros, and make the next instruction start
// at a fresh address.
#include <algorithm>

#include "pack_unit.hpp"

namespace polyloom::tensix::pack {
namespace {

[[noreturn]] void fault(const Context& context, int thread, Word word, std::string text) {
    const char* kind = text.ends_with("outside L1") ? "outside-l1" : "not-modelled";
    context.fault(kind, thread, word, std::move(text));
}

uint32_t mask_of(Word word) { return field(word, 11, 8) ? field(word, 11, 8) : 1; }

int counters_of(const Configuration& c, Word word, int thread, int unit) {
    if (!field(word, 7, 7)) return thread;
    const uint32_t named = c(packer::counter_context, packer::sections[unit]);
    return named == 3 ? 0 : int(named);
}

// Which datum of Dst is the first.
uint32_t first_datum(const Configuration& c, const AddressCounter& of, Format from, int unit) {
    const uint32_t kind = uint32_t(from) & 3, bytes = kind == 0 ? 4 : kind == 1 ? 2 : 1, fine = 16 / bytes - 1;
    const uint32_t at = c(packer::base) + of.x[0] * (c(packer::x_stride) & 15) + of.y[0] * c(packer::y_stride) +
                        of.z[0] * c(packer::z_stride) + of.w[0] * c(packer::w_stride);
    return ((at / bytes & ~fine) + (of.x[0] & fine) + (c(packer::dst_offset, unit) << 4)) & 0x3FFF;
}

// Where fresh output goes, in 16 bytes. If packer 0's address has its top bit set, the others' are relative to it.
uint32_t address(const Configuration& c, const AddressCounter& of, int unit) {
    const auto own_address = [&](int k) {
        return c(packer::address, packer::sections[k]) + !c(packer::no_header, packer::sections[k]);
    };
    uint32_t at = own_address(unit);
    if (unit && own_address(0) >> 31) at += own_address(0);
    at += (c(packer::out_base) + of.y[1] * c(packer::out_y_stride) + of.z[1] * c(packer::out_z_stride) +
           of.w[1] * c(packer::out_w_stride)) &
          ~15u;
    const uint16_t limit = packer::limits[unit];
    return at > (c.bank[limit] & 0x1FFFF) * 2 + 1 ? at - (c.bank[limit + 1] & 0x1FFFF) * 2 : at;
}

Packer plan(const State& state, Word word, int thread, int unit) {
    const Configuration c(state, thread);
    const uint16_t at = packer::sections[unit];
    Packer p{};
    p.early = early_of(c);
    p.from = Format(c(packer::in_format, at)), p.to = Format(c(packer::out_format, at));
    p.counters = counters_of(c, word, thread, unit);
    const AddressCounter& of = state.counters[p.counters][2];
    p.count = field(word, 1, 1) ? 0 : of.x[1] - of.x[0] + 1;
    p.first = first_datum(c, of, p.from, unit);
    p.address = address(c, of, unit);
    p.exponent_section = uint32_t(p.to) & 2 ? c(packer::exponent_section, at) : 0;
    return p;
}

const char* refusal(const Configuration& c, const Packer& p, int unit) {
    const uint16_t at = packer::sections[unit];
    const bool uncompressed =
        c(packer::all_uncompressed_override) ? c(packer::all_uncompressed) >> unit & 1 : c(packer::uncompressed, at);
    if (!uncompressed) return "compression by packers is not modelled";
    if (c(alu::stochastic_packer)) return "stochastic rounding by packers is not modelled";
    if (c(packer::from_l1, at)) return "packing from L1 is not modelled";
    if (c(packer::downsample_rate, at)) return "downsampling is not modelled";
    if (c(packer::thresholding, at)) return "exponent thresholds are not modelled";
    if (c(packer::accumulate, at)) return "accumulation in L1 is not modelled";
    if (c(packer::add_offset, at)) return "address offsets of TDMA commands are not modelled";
    if (c(packer::face_enable)) return "edge masks by face are not modelled";
    if (c(alu::descale) && c(alu::descale_mode)) return "descaling by position is not modelled";
    if (!known(uint32_t(p.from)) || !known(uint32_t(p.to)) || !known(uint32_t(p.early.intermediate)))
        return "a reserved data format";
    if (p.count > 0x4000) return "the last X is before the first";
    if (is_block(p.to) && p.count % 16) return "block formats need sixteens of datums";
    const Held early = held_as(p.early.intermediate), late = held_as(p.from);
    const bool same_bits = early == Held::INT32 && late == Held::FP32;
    return early == late || same_bits ? nullptr : "the intermediate format is not that of the late conversion";
}

bool edge(const Configuration& c, PackerState& s, int unit, uint32_t column) {
    const uint32_t rows = c(packer::row_select) >> (2 * unit) & 3;
    const uint32_t set = c(packer::row_mapping, rows) >> (2 * (s.y & 15)) & 3;
    const bool shows = c(packer::edge_mask, set) >> column & 1;
    const uint32_t plane = c(packer::reads_per_plane, unit);
    if (++s.x < 16) return shows;
    s.x = 0;
    uint32_t &inner = c(packer::transposed, unit) ? s.z : s.y, &outer = c(packer::transposed, unit) ? s.y : s.z;
    if (++inner == plane) inner = 0, ++outer;
    return shows;
}

void open(PackerState& s, const Packer& p) {
    if (s.exponents.fresh && uint32_t(p.to) & 2)
        s.exponents.fresh = false, s.exponents.address = (p.address & 0x1FFFF) << 4;
    if (s.data.fresh) s.data.fresh = false, s.data.address = ((p.address + p.exponent_section) & 0x1FFFF) << 4;
}

void append(PackerStream& s, uint32_t value, uint32_t bits) {
    for (uint32_t k = 0; k < bits; k += 8)
        s.waiting[(s.bits + k) / 8] |= uint8_t(value >> k << (bits < 8 ? s.bits % 8 : 0));
    s.bits += bits;
}

// A datum of Dst after both conversions.
uint32_t datum(State& state, const Configuration& c, const Job& j, uint32_t index, const Context& context) {
    const Packer& p = j.packer;
    const uint32_t at = (p.first + index) & 0x3FFF, row = at >> 4, column = at & 15;
    const bool shows = edge(c, state.packers[j.unit], j.unit, column);
    if (j.zeros) return 0;
    std::optional<uint32_t> x = masked(p.early);
    if (shows)
        x = convert_early(
            p.early, p.early.read_32 ? dst::read32(state.matrix, row, column) : dst::read16(state.matrix, row, column));
    if (!x) fault(context, j.thread, j.word, "this early conversion is not offered by the machine");
    if (x = rectify(p.early, *x); !x)
        fault(context, j.thread, j.word, "ReLU needs a positive threshold and floats, or mode 1");
    if (x = convert_late(p.from, p.to, *x); !x)
        fault(context, j.thread, j.word, "this late conversion is not offered by the machine");
    return *x;
}

PackerStream* due(PackerState& s, const Job& job) {
    const bool last = job.ends && job.done == job.packer.count && job.first == job.behind;
    for (PackerStream* stream : {&s.data, &s.exponents})
        if (stream->bits == 128 || (last && stream->bits)) return stream;
    return nullptr;
}

// ADDR_MOD_PACK: steps of Y and Z in both channels.
void advance(const Configuration& c, AddressCounter& of, uint32_t mode) {
    const uint32_t bits = c.thread(own::mode_pack, mode);
    for (int channel = 0; channel < 2; ++channel) {
        const uint32_t y = bits >> (6 * channel), z = bits >> (12 + 2 * channel);
        if (y & 32)
            of.y[channel] = of.y_carriage[channel] = 0;
        else if (y & 16)
            of.y[channel] = of.y_carriage[channel] = (of.y_carriage[channel] + (y & 15)) & 0x1FFF;
        else
            of.y[channel] = (of.y[channel] + (y & 15)) & 0x1FFF;
        if (z & 2)
            of.z[channel] = of.z_carriage[channel] = 0;
        else
            of.z[channel] = (of.z[channel] + (z & 1)) & 0xFF;
    }
}

constexpr bool possible(uint32_t mask) { return mask == 15 || mask == 12 || mask == 3 || !(mask & (mask - 1)); }

}  // namespace

Early early_of(const Configuration& c) {
    Early made{};
    made.intermediate = Format(c(c(alu::dst_override) ? alu::dst_override_format : alu::dst_format));
    made.read_32 = c(packer::read_32), made.is_unsigned = c(packer::read_unsigned);
    made.raw = c(packer::read_raw), made.round_10 = c(packer::round_10);
    made.shift = c(alu::descale) ? c(alu::descale_value) & 31 : 0;
    made.relu = c(alu::relu) & 3, made.threshold = c(alu::threshold);
    made.edge_infinity = c(packer::edge_infinity);
    return made;
}

Timing timing(const State& state, Word word, int thread) {
    Timing made;
    made.unit = Unit::Pack;
    made.interlocked = true;
    if (opcode(word) != PACR) return made;
    uint32_t first = 1024, end = 0;
    for (int unit = 0; unit < 4; ++unit) {
        if (!(mask_of(word) >> unit & 1)) continue;
        const Packer p = plan(state, word, thread, unit);
        if (!p.count || p.count > 0x4000) continue;
        const uint32_t rows = (p.count + 15) / 16, exponents = is_block(p.to) ? (rows + 15) / 16 : 0;
        const uint32_t chunks = (p.count * bits_of(p.to) + 127) / 128 + exponents;
        made.busy = std::max({made.busy, rows, chunks});  // 16 datums and 16 bytes per packer and cycle
        const uint32_t row = p.first >> 4 & 0x3F8, block = (rows + 7) / 8 * 8;
        const uint32_t at = p.early.read_32 ? dst::upper(row) : row;
        first = std::min(first, at), end = std::max(end, at + (p.early.read_32 ? 2 * block : block));
    }
    made.latency = made.busy;
    if (end > first && !field(word, 12, 12)) made.dst_reads = {uint16_t(first), uint16_t(std::min(end, 1024u) - first)};
    return made;
}

bool ready(const State&, Word, int) { return true; }

std::vector<Job> start(State& state, Word word, int thread, const Context& context) {
    if (state.member == Member::Blackhole) fault(context, thread, word, "the packers of Blackhole are not modelled");
    if (opcode(word) != PACR) fault(context, thread, word, "this instruction of the packers is not modelled");
    if (!possible(mask_of(word))) fault(context, thread, word, "these packers cannot work together");
    const Configuration c(state, thread);
    std::array<bool, THREADS> used{};
    std::vector<Job> jobs;
    for (int unit = 0; unit < 4; ++unit) {
        if (!(mask_of(word) >> unit & 1)) continue;
        Job job;
        job.packer = plan(state, word, thread, unit);
        if (const char* why = refusal(c, job.packer, unit)) fault(context, thread, word, why);
        used[job.packer.counters] = true;
        job.word = word, job.thread = thread, job.unit = unit;
        job.zeros = field(word, 12, 12), job.ends = field(word, 0, 0) || field(word, 1, 1);
        open(state.packers[unit], job.packer);
        jobs.push_back(job);
    }
    for (int t = 0; t < THREADS; ++t)
        if (used[t]) advance(c, state.counters[t][2], field(word, 16, 15));
    return jobs;
}

std::optional<uint32_t> full_line(State& state, const Job& job) {
    const PackerStream* stream = due(state.packers[job.unit], job);
    return stream ? std::optional(stream->address) : std::nullopt;
}

void write_line(State& state, Job& job, const Context& context) {
    PackerStream& s = *due(state.packers[job.unit], job);
    if (uint64_t(s.address) + 16 > state.l1.size()) fault(context, job.thread, job.word, "an address outside L1");
    std::copy(s.waiting.begin(), s.waiting.end(), state.l1.begin() + s.address);
    s.address += 16, s.bits = 0, state.moved += 16;
    s.waiting.fill(0);
}

bool emit(State& state, Job& job) {
    if (job.first == job.behind) return false;
    PackerState& s = state.packers[job.unit];
    const bool exponent = job.behind > 1 && job.first == 0;
    append(exponent ? s.exponents : s.data, job.made[size_t(job.first)], job.made_bits[size_t(job.first)]);
    ++job.first;
    return true;
}

uint32_t read(State& state, Job& job, const Context& context) {
    const Configuration c(state, job.thread);
    const Packer& p = job.packer;
    if (!is_block(p.to)) {
        job.made[0] = datum(state, c, job, job.done++, context), job.made_bits[0] = uint8_t(bits_of(p.to));
        job.first = 0, job.behind = 1;
        return 1;
    }
    uint32_t sixteen[16];
    for (uint32_t& each : sixteen) each = datum(state, c, job, job.done++, context);
    const Block b = block(p.to, sixteen);
    job.made[0] = b.exponent, job.made_bits[0] = 8;
    for (size_t k = 0; k < 16; ++k) job.made[k + 1] = b.datums[k], job.made_bits[k + 1] = uint8_t(bits_of(p.to));
    job.first = 0, job.behind = 17;
    return 16;
}

void finish(State& state, const Job& job) {
    if (!job.ends) return;
    PackerState& s = state.packers[job.unit];
    s.data.fresh = s.exponents.fresh = true;
    s.x = s.y = s.z = 0;
}

void execute(State& state, Word word, int thread, Context& context) {
    for (Job& job : start(state, word, thread, context))
        while (!cycle(state, job, context, [](uint32_t) { return true; })) {}
}

}  // namespace polyloom::tensix::pack
