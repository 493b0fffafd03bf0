// SPDX-License-Identifier: Apache-2.0
// Accounts over time: whatever the length of a run, snapshots are at multiples of their step, and columns lose nothing.
#include "account/columns.hpp"
#include "account/snapshots.hpp"
#include "tests/expect.hpp"

using namespace polyloom;

// A count that grows by three each cycle: every snapshot is three times the cycle that it is of.
static void keep_snapshots(uint64_t cycles) {
    Snapshots kept;
    expect(kept.next == Snapshots::NEVER, "no snapshot is due before the start");
    kept.start(2, 8, 1);
    for (uint64_t cycle = 1; cycle <= cycles; ++cycle)
        if (cycle == kept.next) {
            const uint64_t counts[] = {3 * cycle, cycle};
            kept.take(counts);
        }
    expect(kept.taken() < 8 && kept.rows().size() == 2 * kept.taken(), "snapshots are few");
    expect(kept.taken() * kept.step() <= cycles && (kept.taken() + 1) * kept.step() > cycles, "no snapshot is missing");
    for (size_t n = 0; n < kept.taken(); ++n)
        expect(kept.rows()[2 * n] == 3 * (n + 1) * kept.step(), "a snapshot is of its cycle");
}

// Stretches that follow each other, each of another kind than the one before; the last one is taken back.
static void fill_columns(uint64_t stretches) {
    Columns made(3, 8);
    uint64_t at = 0, sums[3]{};
    for (uint64_t n = 0; n < stretches; ++n) {
        const uint64_t end = at + n % 7;
        made.add(n % 3, at, end), sums[n % 3] += end - at;
        at = end;
    }
    made.add(1, at, at + 5), made.take_back(1, at, at + 5);
    uint64_t found[3]{};
    for (size_t n = 0; n < made.rows().size(); ++n) found[n % 3] += made.rows()[n];
    for (size_t kind = 0; kind < 3; ++kind) expect(found[kind] == sums[kind], "columns sum to what was added");
    expect(made.rows().size() <= 3 * 8 && made.width() * 8 >= at, "columns are few");
    for (size_t n = 0; (n + 1) * made.width() <= at; ++n)
        expect(made.rows()[3 * n] + made.rows()[3 * n + 1] + made.rows()[3 * n + 2] == made.width(),
               "a column is full");
}

int main() {
    for (const uint64_t cycles : {0, 1, 7, 8, 9, 100, 1000}) keep_snapshots(cycles);
    for (const uint64_t stretches : {0, 1, 5, 50, 500}) fill_columns(stretches);
    return failures != 0;
}
