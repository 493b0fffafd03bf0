// SPDX-License-Identifier: Apache-2.0
#include "hazards.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace polyloom::minion {

namespace {

// The tensor_wait that proves an operation of a place complete. A LoadB has none: its FMA's.
constexpr std::array<int, PENDING> EVENT = {0, 1, 7, 2, 3, 7, 10, 8, 9};
constexpr unsigned bit(Pending place) { return 1u << unsigned(place); }
constexpr unsigned QUEUE = bit(Pending::fma) | bit(Pending::quant) | bit(Pending::store) | bit(Pending::reduce);

// Calls f(place) for each of some places.
template <class F>
void each(unsigned places, F f) {
    for (; places; places &= places - 1) f(unsigned(std::countr_zero(places)));
}

// "f0 to f31", "lines 3 to 5 of L1Scp": the first run of bits is enough to find the place.
std::string named(const char* form, uint64_t bits, const char* many) {
    const int first = std::countr_zero(bits), last = first + std::countr_one(bits >> first) - 1;
    char text[64];
    if (first == last)
        std::snprintf(text, sizeof text, form, first);
    else
        std::snprintf(text, sizeof text, many, first, last);
    return text;
}
std::string lines(uint64_t bits) { return named("L1Scp line %d", bits, "L1Scp lines %d to %d"); }
std::string floats(uint32_t bits) { return named("f%d", bits, "f%d to f%d"); }

std::string printed(const char* form, unsigned a, unsigned b = 0) {
    char text[128];
    std::snprintf(text, sizeof text, form, a, b);
    return text;
}

}  // namespace

Hazards::Hazards(Findings& findings, Record& record, unsigned count, bool errata)
    : findings(findings), record(record), errata(errata), minions(count), watch(count), peers(count),
      rounds((count + 31) / 32) {
    record.reader_of = [this](uint64_t line) { return reader(line); };
}

Record::Reader Hazards::reader(uint64_t line) const {
    Record::Reader found;
    for (const Minion& minion : minions)
        each(minion.pending, [&](unsigned place) {
            const Place& held = minion.places[place];
            for (const Row& row : held.reads)
                if ((row.address ^ line) >> 6 == 0 && !found.name)
                    found = {held.operation.site, held.operation.name, EVENT[place]};
        });
    return found;
}

void Hazards::clash(Hazard kind, unsigned place, const Accepted& older, const Site& later, const char* name,
                    std::string what) {
    Finding found;
    found.kind = kind;
    found.later = later, found.later_name = name;
    found.earlier = older.site, found.earlier_name = older.name;
    found.what = std::move(what);
    found.wait = EVENT[place];
    findings.add(std::move(found));
}

// An operation is complete: what it read may change, what it wrote is visible.
void Hazards::over(Minion& minion, unsigned place) {
    Place& held = minion.places[place];
    if (!(minion.pending >> place & 1)) return;
    minion.pending &= ~(1u << place);
    record.tensor_read_over(held.reads);
    record.tensor_write_over(held.writes, held.operation.site.hart);
    if (errata && held.operation.f_writes) {
        minion.unrefreshed = held.operation.f_writes, minion.last = held.operation.last_register;
        minion.writer = held.operation.site, minion.writer_name = held.operation.name;
    }
}

void Hazards::prove(Minion& minion, unsigned place) {
    const Place& held = minion.places[place];
    if (!(minion.pending >> place & 1)) return;
    if (QUEUE >> place & 1)
        each(minion.pending & QUEUE, [&](unsigned other) {
            const Place& older = minion.places[other];
            if (older.sequence < held.sequence && older.operation.in_order) over(minion, other);
        });
    // An FMA that took B from TenB has had all of it.
    const Place& stream = minion.places[unsigned(Pending::load_b)];
    if (place == unsigned(Pending::fma) && held.operation.tenb && stream.sequence < held.sequence)
        over(minion, unsigned(Pending::load_b));
    over(minion, place);
}

uint64_t Hazards::check_lines(Minion& minion, const Accepted& operation) {
    uint64_t early = 0;
    each(minion.pending, [&](unsigned place) {
        const Accepted& older = minion.places[place].operation;
        if (const uint64_t clashing = operation.scp_reads & older.scp_writes) {
            early |= clashing;
            clash(Hazard::scp_read, place, older, operation.site, operation.name, lines(clashing));
        }
        if (const uint64_t clashing = operation.scp_writes & (older.scp_reads | older.scp_writes))
            clash(Hazard::scp_write, place, older, operation.site, operation.name, lines(clashing));
    });
    return early;
}

// Pairs that need a wait whatever lines they touch.
void Hazards::check_ports(Minion& minion, const Accepted& operation) {
    const auto conflict = [&](Pending older) {
        if (!minion.is_pending(older)) return;
        const Accepted& held = minion.places[unsigned(older)].operation;
        clash(Hazard::port, unsigned(older), held, operation.site, operation.name, "L1Scp");
    };
    const Place& store = minion.places[unsigned(Pending::store)];
    const Place& fma = minion.places[unsigned(Pending::fma)];
    const bool multiplies = operation.place == Pending::fma || operation.place == Pending::quant;
    if (multiplies && store.operation.from_scp) conflict(Pending::store);
    if (operation.place == Pending::store && operation.from_scp) conflict(Pending::fma), conflict(Pending::quant);
    if (operation.place == Pending::load_b && !fma.operation.tenb) conflict(Pending::fma);
}

uint64_t Hazards::accept(const Accepted& operation) {
    const uint32_t number = operation.site.hart >> 1;
    Minion& minion = minions[number];
    const unsigned place = unsigned(operation.place);
    prove(minion, place);
    const uint64_t early = check_lines(minion, operation);
    check_ports(minion, operation);
    record.tensor_read(operation.reads, operation.site, operation.name);
    record.tensor_write(operation.writes, operation.site, operation.name, EVENT[place]);
    Place& held = minion.places[place];
    held.operation = operation;
    held.reads.assign(operation.reads.begin(), operation.reads.end());
    held.writes.assign(operation.writes.begin(), operation.writes.end());
    held.operation.reads = {}, held.operation.writes = {};
    held.sequence = ++sequence, minion.pending |= 1u << place;
    update_watch(number);
    return findings.policy == Response::poison ? early : 0;
}

void Hazards::cancelled(uint32_t minion) {
    over(minions[minion], unsigned(Pending::load_b));
    update_watch(minion);
}

void Hazards::waited(uint32_t hart, unsigned event) {
    record.complete(hart, event);
    Minion& minion = minions[hart >> 1];
    each(minion.pending & ~bit(Pending::load_b), [&](unsigned place) {
        if (EVENT[place] == int(event) && minion.places[place].operation.site.hart == hart) prove(minion, place);
    });
    update_watch(hart >> 1);
}

void Hazards::update_watch(uint32_t number) {
    const Minion& minion = minions[number];
    watch[number] = minion.pending || minion.unrefreshed;
}

uint32_t Hazards::registers(const Site& site, const char* name, uint32_t reads, uint32_t writes, bool refresh) {
    if (site.hart & 1) return 0;
    Minion& minion = minions[site.hart >> 1];
    uint32_t early = 0;
    each(minion.pending & QUEUE, [&](unsigned place) {
        const Accepted& older = minion.places[place].operation;
        const uint32_t clashing = (reads & older.f_writes) | (writes & (older.f_reads | older.f_writes));
        early |= reads & older.f_writes;
        if (clashing) clash(Hazard::register_access, place, older, site, name, floats(clashing));
    });
    if (minion.unrefreshed) check_refreshed(minion, site, name, reads, refresh);
    return findings.policy == Response::poison ? early : 0;
}

void Hazards::check_refreshed(Minion& minion, const Site& site, const char* name, uint32_t reads, bool refresh) {
    if (refresh && reads >> minion.last & 1) {
        minion.unrefreshed = 0;
        update_watch(site.hart >> 1);
    } else if (reads & minion.unrefreshed) {
        Finding found;
        found.kind = Hazard::erratum_129;
        found.later = site, found.later_name = name;
        found.earlier = minion.writer, found.earlier_name = minion.writer_name;
        found.what = floats(reads & minion.unrefreshed);
        found.cure = printed("fmv.x.w x0, f%u after the wait, before other reads", minion.last);
        findings.add(std::move(found));
    }
}

void Hazards::read_flags(const Site& site) {
    const Minion& minion = minions[site.hart >> 1];
    if (site.hart & 1) return;
    each(minion.pending & QUEUE, [&](unsigned place) {
        const Accepted& older = minion.places[place].operation;
        if (older.flags) clash(Hazard::flags, place, older, site, "csr read", "fcsr");
    });
}

void Hazards::read_error(const Site& site) {
    const Minion& minion = minions[site.hart >> 1];
    each(minion.pending, [&](unsigned place) {
        const Accepted& older = minion.places[place].operation;
        if (older.site.hart == site.hart) clash(Hazard::error, place, older, site, "csr read", "tensor_error");
    });
}

void Hazards::ready(uint32_t receiver, uint32_t sender, int height, const Site& site) {
    if (sender >= peers.size()) return;
    for (const Peer& peer : peers[sender])
        if (peer.height == height && peer.receiver == receiver) return;
    for (const Peer& peer : peers[sender]) {
        if (peer.height != height) continue;
        Finding found;
        found.kind = Hazard::two_peers;
        found.later = site, found.later_name = "tensor_reduce";
        found.earlier = peer.site, found.earlier_name = "tensor_reduce";
        found.value = sender;
        found.what = printed(height < 0 ? "the ready bit of minion %u" : "the ready bit of minion %u at height %u",
                             sender, unsigned(height));
        found.cure = "let one of them start its receive after the other's transfer: order them by credits";
        findings.add(std::move(found));
    }
    peers[sender].push_back({receiver, height, site});
}

void Hazards::received(uint32_t receiver, uint32_t sender, int height) {
    if (sender >= peers.size()) return;
    std::erase_if(peers[sender], [&](const Peer& peer) { return peer.receiver == receiver && peer.height == height; });
}

void Hazards::count_mismatch(const Site& sender, unsigned sent, const Site& receiver, unsigned expected) {
    Finding found;
    found.kind = Hazard::count_mismatch;
    found.later = receiver, found.later_name = "tensor_reduce";
    found.earlier = sender, found.earlier_name = "tensor_reduce";
    found.value = expected;
    found.what = printed(sent == 1 ? "COUNT: the sender has %u register, the receiver expects %u"
                                   : "COUNT: the sender has %u registers, the receiver expects %u",
                         sent, expected);
    found.cure = "name the same COUNT on both sides";
    findings.add(std::move(found));
}

void Hazards::barrier(const Site& site, unsigned shire, unsigned number, unsigned participants, unsigned present) {
    if (shire >= rounds.size() || number >= 32) return;
    Round& round = rounds[shire][number];
    if (present == 0) round = {participants, site};
    const bool differs = round.participants && round.participants != participants;
    if (!differs && present < participants) return;
    Finding found;
    found.kind = Hazard::barrier_mismatch;
    found.later = site, found.later_name = "flb";
    found.earlier = round.site, found.earlier_name = "flb";
    found.value = participants;
    found.what =
        differs ? printed("the barrier's participants: %u joined for, then %u", round.participants, participants)
                : printed("the barrier's counter is %u, and %u participants never match it", present, participants);
    found.cure = "name the same number of participants in each join, and begin at 0";
    findings.add(std::move(found));
}

void Hazards::barrier_left(unsigned shire, unsigned number, unsigned present) {
    if (!present || shire >= rounds.size() || !rounds[shire][number].participants) return;
    const Round& round = rounds[shire][number];
    Finding found;
    found.kind = Hazard::barrier_left;
    found.later = round.site, found.later_name = "flb";
    found.value = round.participants;
    found.what =
        printed("a barrier for %u participants, and the run ends when its counter is %u", round.participants, present);
    found.cure = "let as many harts join as the barrier names, or clear its counter";
    findings.add(std::move(found));
}

void Hazards::unfinished(const Site& site, const char* name, const char* why, const char* cure) {
    Finding found;
    found.kind = Hazard::unfinished;
    found.later = site, found.later_name = name, found.what = why, found.cure = cure;
    findings.add(std::move(found));
}

Finding Hazards::credit(Hazard kind, const Site& site, uint32_t hart, unsigned counter, const char* cure) {
    Finding found;
    found.kind = kind;
    found.later = site, found.later_name = "store to CREDINC";
    found.value = hart;
    found.what = printed("credit counter %u of hart %u", counter, hart);
    found.cure = cure;
    return found;
}

Finding Hazards::credit_overflow(const Site& site, uint32_t hart, unsigned counter) {
    return credit(Hazard::credit_overflow, site, hart, counter, "take credits before 65,536 of them have been given");
}

void Hazards::lost_credit(const Site& site, uint32_t hart, unsigned counter) {
    findings.add(
        credit(Hazard::lost_credit, site, hart, counter, "leave minions that were not started out of the mask"));
}

}  // namespace polyloom::minion
