// SPDX-License-Identifier: Apache-2.0
// The record of who wrote what, the pairs that need a wait, and explanations of deadlocks, each alone. Source: the
// facts, "Ordering rules", and minion.md, "Memory".
#include <cstdio>
#include <string>

#include "minion/deadlock.hpp"
#include "minion/hazards.hpp"
#include "minion/tensor_words.hpp"
#include "tests/expect.hpp"

using namespace polyloom::minion;

static constexpr uint64_t DRAM = 0x8000800000, SCRATCHPAD = 0x80000000;
static constexpr uint64_t LATER = 0x1000;

// 64 minions: shires 0 and 1.
struct Machine {
    explicit Machine(bool errata = false) : hazards(findings, record, 64, errata) {}

    Findings findings{Response::report};
    Record record{findings, 64};
    Hazards hazards;

    void load(uint32_t hart, uint64_t address, unsigned size = 8) { record.load(address, size, hart, LATER, 9); }
    void store(uint32_t hart, uint64_t address, unsigned size = 8) { record.store(address, size, hart, 0x500, 5); }
    void flush(uint32_t hart, uint64_t address, unsigned level = 2) {
        record.flush(address, level, {hart, 0x600, 6});
        record.complete(hart, 6);
    }
    void evict(uint32_t hart, uint64_t address, unsigned level = 2) {
        record.evict(address, level, {hart, 0x700, 7});
        record.complete(hart, 6);
    }
    void accept(Pending place, const char* name, uint64_t reads, uint64_t writes, uint64_t pc = 0x100) {
        Accepted operation;
        operation.place = place, operation.name = name, operation.site = {0, pc, 1};
        operation.scp_reads = reads, operation.scp_writes = writes;
        hazards.accept(operation);
    }
    // The kinds found since, each once.
    std::string found() {
        std::string all;
        for (; seen < findings.all().size(); ++seen) {
            const Finding& each = findings.all()[seen];
            all += (all.empty() ? "" : " ") + std::string(HAZARD_NAMES[unsigned(each.kind)]);
            if (each.wait >= 0) all += ":" + std::to_string(each.wait);
        }
        return all;
    }
    size_t seen = 0;
};

static void a_flush_makes_stores_visible() {
    Machine m;
    m.store(0, DRAM), m.load(0, DRAM), m.load(1, DRAM);
    expect(m.found().empty(), "harts of one minion share an L1 in shared mode");
    m.load(2, DRAM + 8);
    expect(m.found().empty(), "bytes that nobody wrote are not stale");
    m.load(2, DRAM);
    expect(m.found() == "stale_read", "a store is not visible to another minion");
    m.flush(0, DRAM, 1), m.load(2, DRAM);
    expect(m.findings.all()[0].count == 2, "nor is a flush where the reader has an older copy");
    m.evict(2, DRAM, 1), m.load(2, DRAM);
    expect(m.findings.all()[0].count == 2, "until it is evicted");
    m.load(64, DRAM);
    expect(m.findings.all()[0].count == 3, "a flush to L2 is not visible in another shire");
    m.flush(0, DRAM, 2), m.evict(64, DRAM, 1), m.load(64, DRAM);
    expect(m.findings.all()[0].count == 4, "whose L2 has an older copy");
    m.evict(64, DRAM, 2), m.load(64, DRAM);
    expect(m.findings.all()[0].count == 4 && m.findings.all().size() == 1, "until that is evicted too");
}

static void a_flush_needs_its_wait() {
    Machine m;
    m.store(0, DRAM), m.record.flush(DRAM, 2, {0, 0x600, 6});
    m.load(2, DRAM);
    expect(m.found() == "cache_operation:6", "what is being flushed is not visible");
    m.store(0, DRAM + 8);
    expect(m.found() == "cache_operation:6", "a line is not written while it is flushed");
    m.record.complete(0, 6);
    m.store(0, DRAM + 16);
    expect(m.found().empty(), "but after wait 6");
}

static void a_line_has_one_writer() {
    Machine m;
    m.store(0, DRAM), m.store(2, DRAM + 8);
    expect(m.found() == "shared_line", "two L1s");
    m.store(0, DRAM + 64), m.flush(0, DRAM + 64), m.store(2, DRAM + 64);
    expect(m.found().empty(), "one after the other");
    m.record.mode(4, 0, 1), m.store(8, DRAM + 128), m.store(9, DRAM + 136);
    expect(m.findings.all()[0].count == 2, "harts of a minion whose L1 is split");
}

static void modes_lose_what_is_dirty() {
    Machine m;
    m.store(0, DRAM), m.record.mode(0, 0, 1), m.load(0, DRAM);
    expect(m.found() == "stale_read", "split");
    m.store(1, DRAM + 64), m.store(0, DRAM + 128), m.record.mode(0, 1, 3);
    m.load(1, DRAM + 64);
    expect(m.found().empty(), "hart 1 keeps its sets when the L1Scp comes");
    m.load(0, DRAM + 128);
    expect(m.findings.all()[0].count == 2, "hart 0 loses its own");
    Machine n;
    n.store(0, DRAM), n.load(2, DRAM + 64);
    for (unsigned way = 0; way < 4; ++way)
        for (unsigned set = 0; set < 16; ++set) n.record.set_way(0, set, way, 2, false);
    n.record.mode(0, 0, 1), n.load(0, DRAM), n.load(2, DRAM);
    expect(n.found().empty(), "nothing is lost that was evicted by set and way");
}

static void local_and_global_accesses() {
    Machine m;
    const Site far{64, LATER, 9}, near{2, LATER, 9};
    m.record.access(Reach::home, DRAM, 8, true, true, {0, 0x500, 5});
    m.record.access(Reach::home, DRAM, 8, true, true, far);
    expect(m.found().empty(), "global ones meet at home");
    m.record.access(Reach::l2, DRAM + 64, 8, false, true, {0, 0x500, 5});
    m.record.access(Reach::l2, DRAM + 64, 8, true, false, near);
    expect(m.found().empty(), "local ones in the shire");
    m.record.access(Reach::l2, DRAM + 64, 8, true, false, far);
    expect(m.found() == "stale_read", "and not beyond");
    m.load(4, DRAM + 128), m.record.access(Reach::home, DRAM + 128, 8, false, true, {0, 0x500, 5}),
        m.load(4, DRAM + 128);
    expect(m.findings.all()[0].count == 2, "neither changes copies in L1s");
    m.record.access(Reach::l2, SCRATCHPAD, 8, false, true, {0, 0x500, 5});
    m.record.access(Reach::home, SCRATCHPAD, 8, true, false, far);
    expect(m.found().empty(), "a scratchpad has no L2");
}

static Accepted moving(Pending place, const char* name, std::span<const Row> reads, std::span<const Row> writes) {
    Accepted operation;
    operation.place = place, operation.name = name, operation.site = {0, 0x100, 1};
    operation.reads = reads, operation.writes = writes;
    return operation;
}

static void stores_of_tensors() {
    Machine m;
    const Row whole{DRAM, 64}, half{DRAM + 64, 32}, other{DRAM + 96, 32};
    m.hazards.accept(moving(Pending::store, "tensor_store", {}, {&whole, 1}));
    m.load(2, DRAM);
    expect(m.found() == "memory_read:8", "a store is not visible before its wait");
    m.store(0, DRAM);
    expect(m.found() == "memory_write:8", "nor are its lines written");
    m.hazards.accept(moving(Pending::store, "tensor_store", {}, {&half, 1}));
    m.hazards.waited(0, 8), m.load(4, DRAM + 64);
    expect(m.found() == "undrained_store", "half a line stays in the write buffer");
    m.load(4, DRAM + 96);
    expect(m.found().empty(), "the other half is not concerned");
    m.hazards.accept(moving(Pending::store, "tensor_store", {}, {&other, 1}));
    m.hazards.waited(0, 8), m.load(64, DRAM + 64);
    expect(m.found().empty(), "until the line is full");
    m.load(6, DRAM + 64);
    expect(m.found() == "stale_read", "but the L2 of shire 0 has an older copy by now");
}

static void loads_of_tensors() {
    Machine m;
    const Row line{DRAM, 64};
    m.store(0, DRAM);
    m.hazards.accept(moving(Pending::load_0, "tensor_load", {&line, 1}, {}));
    expect(m.found() == "stale_read", "loads skip L1");
    m.flush(0, DRAM);
    m.hazards.waited(0, 0), m.hazards.accept(moving(Pending::load_0, "tensor_load", {&line, 1}, {}));
    expect(m.found().empty(), "and see what was flushed");
    m.store(2, DRAM + 8);
    expect(m.found() == "memory_write:0", "a line is not written while it is read");
    m.hazards.waited(0, 0), m.store(2, DRAM + 8);
    expect(m.findings.all().back().count == 1, "but after the wait");
    const Row there{SCRATCHPAD, 64}, from{DRAM + 128, 64};
    m.hazards.accept(moving(Pending::load_l2_1, "tensor_load_l2", {&from, 1}, {&there, 1}));
    m.load(8, SCRATCHPAD);
    expect(m.found() == "memory_read:3", "a scratchpad's line is read after wait 3");
    m.hazards.waited(1, 3), m.load(10, SCRATCHPAD);
    expect(m.findings.all().back().count == 2, "of the hart that loads");
    m.hazards.waited(0, 3), m.load(12, SCRATCHPAD);
    expect(m.findings.all().back().count == 2, "which is this one");
}

// Each row of the facts' table: with the wait nothing is found, without it the pair is.
static void pairs() {
    struct Pair {
        Pending older, younger;
        uint64_t older_reads, older_writes, younger_reads, younger_writes;
        const char* found;
    };
    const Pair table[] = {
        {Pending::load_0, Pending::fma, 0, 1, 1, 0, "scp_read:0"},
        {Pending::load_1, Pending::fma, 0, 1, 1, 0, "scp_read:1"},
        {Pending::load_0, Pending::quant, 0, 2, 2, 0, "scp_read:0"},
        {Pending::load_0, Pending::store, 0, 2, 2, 0, "scp_read:0"},
        {Pending::load_0, Pending::load_1, 0, 4, 0, 4, "scp_write:0"},
        {Pending::fma, Pending::load_0, 8, 0, 0, 8, "scp_write:7"},
        {Pending::quant, Pending::load_0, 8, 0, 0, 8, "scp_write:10"},
        {Pending::store, Pending::load_0, 8, 0, 0, 8, "scp_write:8"},
        {Pending::store, Pending::fma, 8, 0, 0, 0, "port:8"},
        {Pending::store, Pending::quant, 8, 0, 0, 0, "port:8"},
        {Pending::fma, Pending::store, 0, 0, 1, 0, "port:7"},
        {Pending::quant, Pending::store, 0, 0, 1, 0, "port:10"},
        {Pending::fma, Pending::load_b, 1, 0, 0, 0, "port:7"},
        {Pending::load_0, Pending::fma, 0, 1, 2, 0, ""},
        {Pending::fma, Pending::load_0, 1, 0, 0, 2, ""},
        {Pending::fma, Pending::quant, 1, 0, 1, 0, ""},
        {Pending::load_0, Pending::load_0, 0, 1, 0, 1, ""},
        {Pending::fma, Pending::fma, 1, 0, 1, 0, ""},
    };
    for (const Pair& pair : table)
        for (const bool waits : {false, true}) {
            Machine m;
            Accepted older, younger;
            older.place = pair.older, older.site = {0, 0x100, 1}, older.name = "older";
            younger.place = pair.younger, younger.site = {0, 0x104, 2}, younger.name = "younger";
            older.scp_reads = pair.older_reads, older.scp_writes = pair.older_writes;
            younger.scp_reads = pair.younger_reads, younger.scp_writes = pair.younger_writes;
            older.from_scp = pair.older == Pending::store, younger.from_scp = pair.younger == Pending::store;
            m.hazards.accept(older);
            for (unsigned event = 0; waits && event <= 10; ++event) m.hazards.waited(0, event);
            m.findings.policy = pair.older == Pending::load_1 ? Response::report : Response::poison;
            const uint64_t early = m.hazards.accept(younger);
            const std::string expected = waits ? "" : pair.found, found = m.found();
            expect(found == expected, "pair " + std::to_string(&pair - table) + ": " + found + ", not " + expected);
            const bool poisons = m.findings.policy == Response::poison && expected.rfind("scp_read", 0) == 0;
            expect((early != 0) == poisons, "what is read too early is poison, where that is asked for");
        }
}

static void what_proves_completion() {
    Machine m;
    m.accept(Pending::fma, "tensor_fma", 1, 0), m.accept(Pending::store, "tensor_store", 0, 0);
    m.hazards.waited(0, 8), m.accept(Pending::load_0, "tensor_load", 0, 1);
    expect(m.found().empty(), "the queue runs in program order");
    m.accept(Pending::fma, "tensor_fma", 2, 0), m.accept(Pending::fma, "tensor_fma", 4, 0);
    m.accept(Pending::load_1, "tensor_load", 0, 2);
    expect(m.found().empty(), "the second FMA proves the first complete");
    m.accept(Pending::load_0, "tensor_load", 0, 4);
    expect(m.found() == "scp_write:7", "and not itself");
    Accepted lazy;
    lazy.place = Pending::fma, lazy.scp_reads = 16, lazy.in_order = false, lazy.site = {2, 0x100, 1};
    m.hazards.accept(lazy);
    Accepted store;
    store.place = Pending::store, store.site = {2, 0x104, 2};
    m.hazards.accept(store), m.hazards.waited(2, 8);
    Accepted load;
    load.place = Pending::load_0, load.scp_writes = 16, load.site = {2, 0x108, 3};
    m.hazards.accept(load);
    expect(m.found() == "scp_write:7", "an IMA8 that writes only TenC may be overtaken");
}

static void registers_and_errors() {
    Machine m(true);
    Accepted fma;
    fma.place = Pending::fma, fma.name = "tensor_fma", fma.f_writes = ~0u, fma.flags = true, fma.last_register = 31;
    m.hazards.accept(fma);
    const Site site{0, LATER, 9};
    expect(m.hazards.watched(0) && !m.hazards.watched(1), "a minion is watched");
    expect(m.hazards.registers(site, "fadd.s", 1, 0, false) == 0, "no poison");
    expect(m.found() == "register_access:7", "before the wait");
    m.hazards.read_flags(site), m.hazards.read_error(site);
    expect(m.found() == "flags:7 error:7", "as are flags and errors");
    m.hazards.registers({1, LATER, 9}, "fadd.s", 1, 1, false);
    expect(m.found().empty(), "registers of hart 1 are its own");
    m.hazards.waited(0, 7), m.hazards.registers(site, "fadd.s", 2, 0, false);
    expect(m.found() == "erratum_1.29", "a register that was not refreshed");
    m.hazards.registers(site, "fmv.x.w", 1u << 31, 0, true), m.hazards.registers(site, "fadd.s", 2, 0, false);
    expect(m.findings.all().back().count == 1 && !m.hazards.watched(0), "and one that was");
}

static void many_minions() {
    Machine m;
    m.hazards.ready(2, 1, -1, {4, 0x100, 1}), m.hazards.ready(2, 1, -1, {4, 0x100, 1});
    m.hazards.ready(3, 1, 0, {6, 0x100, 1});
    expect(m.found().empty(), "a ready bit for each height");
    m.hazards.ready(3, 1, -1, {6, 0x104, 2});
    expect(m.found() == "two_peers", "one for all receives");
    m.hazards.barrier({0, 1, 1}, 0, 3, 4, 0), m.hazards.barrier({2, 1, 2}, 0, 3, 4, 1);
    expect(m.found().empty(), "joins");
    m.hazards.barrier({4, 2, 3}, 0, 3, 2, 2);
    expect(m.found() == "barrier_mismatch", "of another number");
    m.hazards.lost_credit({0, 1, 1}, 300, 0);
    expect(!m.findings.stop && m.found() == "lost_credit", "a credit that is lost");
}

static void chains() {
    const auto word = [](unsigned command, unsigned peer, uint64_t count) { return count << 16 | peer << 3 | command; };
    Deadlock deadlock(8);
    const std::vector<Held> mutual{{5, 9, 1, word(0, 7, 32), 0x100, 10}, {7, 9, 1, word(0, 5, 32), 0x200, 20}};
    const std::vector<Blocked> both{{10, {Waits::event, 9, 12, 0x104}}, {14, {Waits::event, 9, 22, 0x204}}};
    std::vector<Reason> reasons = deadlock.explain(both, mutual);
    expect(reasons.size() == 4 && reasons[0].releasers == std::vector<uint32_t>{10}, "a hart waits for its operation");
    expect(reasons[2].text == "sends 32 registers to minion 7" && reasons[2].releasers == std::vector<uint32_t>{14} &&
               reasons[2].note == "minion 7 sends to minion 5 as well: one of the two has to receive first",
           "two that send first: " + reasons[2].note);
    const std::vector<Held> counts{{5, 9, 1, word(0, 7, 32), 0x100, 10}, {7, 9, 1, word(1, 5, 16), 0x200, 20}};
    expect(deadlock.explain(both, counts)[2].note == "minion 7 names 16 registers", "counts");

    deadlock.credited({10, 0x300, 5}, 14, 0), deadlock.credited({10, 0x300, 6}, 14, 0);
    const std::vector<Blocked> credit{{10, {Waits::event, 9, 12, 0x104}}, {14, {Waits::credit, 0, 22, 0x204}}};
    reasons = deadlock.explain(credit, {});
    expect(reasons[1].releasers == std::vector<uint32_t>{10} && reasons[1].gave.size() == 1 &&
               reasons[1].gave[0].pc == 0x300,
           "who gave a credit before");
    const std::vector<Blocked> alone{{10, {Waits::ended}}, {14, {Waits::credit, 1, 22, 0x204}}};
    expect(deadlock.explain(alone, {})[0].note.rfind("unknown", 0) == 0, "or nobody");
    deadlock.joined({14, 0x400, 30}, 0, 2, 2, false);
    reasons = deadlock.explain(credit, {});
    expect(
        reasons[1].note == "barrier 2 of shire 0 has 1 of 2 joins" && reasons[1].releasers == std::vector<uint32_t>{10},
        "who has yet to join");
}

int main() {
    a_flush_makes_stores_visible();
    a_flush_needs_its_wait();
    a_line_has_one_writer();
    modes_lose_what_is_dirty();
    local_and_global_accesses();
    stores_of_tensors();
    loads_of_tensors();
    pairs();
    what_proves_completion();
    registers_and_errors();
    many_minions();
    chains();
    return failures != 0;
}
