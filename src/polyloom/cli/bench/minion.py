# SPDX-License-Identifier: Apache-2.0
"""The Minion's model beside the silicon: cycles and bandwidths that were measured on cards at 600 MHz; what compiled
products reach of what is asked for; and how fast the model is on this host.

`off` is how far the model is from the silicon, in percent, or the prediction that chooses mappings from the model.
Rows that begin with `blind` are measurements that nothing was fitted to (minion_memory.py). `of_dram_bound` is the
run's cycles by those that its bytes from and to DRAM need. Host seconds are CPU time of the run with time and hazards
on, without compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom import api
from polyloom._native import minion as native
from polyloom.cli import examples
from polyloom.cli.bench import minion_chains as chains
from polyloom.cli.bench import minion_memory as memory
from polyloom.cli.bench import minion_programs as programs
from polyloom.cli.bench.minion_programs import LINE, SHIRE, Measure
from polyloom.cli.bench.minion_tables import networks, short
from polyloom.cli.bench.minion_tables.sources import compile_source, random_operands
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.run import peer as emulator
from polyloom.targets.minion.run import timing
from polyloom.targets.minion.run.execute import input_bytes
from polyloom.targets.minion.target import TARGET
from polyloom.targets.minion.words import note as notes
from polyloom.targets.minion.words.program import load
from polyloom.targets.target import Job, Loaded

Row = dict[str, object]
HERTZ: Final = 600e6
CHIP: Final = 1024
_COLUMNS: Final = ("what", "silicon", "asked", "model", "off", "unit")


def rows(peer: str | None = None) -> Iterator[Row]:
    """With `peer`, the path of the vendor's emulator, what it takes for the same product."""
    if peer is not None:
        emulator.check(peer)
    for row in _rows(peer):
        yield {column: row.get(column) for column in _COLUMNS}


def _rows(peer: str | None) -> Iterator[Row]:
    yield from map(_measure_row, measures())
    yield from ({**_measure_row(row), "what": f"blind: {row.what}"} for row in memory.blind_rows())
    yield from product_table()
    yield from short.rows()
    yield from chains.rows()
    yield from networks.rows()
    yield from chains.convolution_rows()
    yield from speeds()
    yield from thread_rows()
    if peer is not None:
        yield emulator_row(peer, EMULATED, CHIP)


def measures() -> list[Measure]:
    return [*_tiles(), *_load_measures(), *_messages(), *_home_measures()]


def _measure_row(measure: Measure) -> Row:
    model = measure.model()
    return {
        "what": measure.what,
        "silicon": measure.silicon,
        "model": round(model, 1),
        "off": round(100 * (model / measure.silicon - 1), 1) if measure.silicon else None,
        "unit": measure.unit,
    }


def _tiles() -> list[Measure]:
    def cycles(kind: programs.words.Type, minions: int, *, tenb: bool, own: bool = False) -> Callable[[], float]:
        return lambda: programs.cycles_per_repetition(programs.tiles(kind, tenb=tenb, own=own), minions, 10, 60)

    unit = "cycles an operation"
    return [
        Measure("fp32, B streamed", 529, unit, cycles("fp32", 1, tenb=True)),
        Measure("fp16, B streamed", 529, unit, cycles("fp16", 1, tenb=True)),
        Measure("int8, B streamed", 280, unit, cycles("int8", 1, tenb=True)),
        Measure("fp32, B in L1Scp", 546, unit, cycles("fp32", 1, tenb=False)),
        Measure("fp16, B in L1Scp", 546, unit, cycles("fp16", 1, tenb=False)),
        Measure("int8, B in L1Scp", 318, unit, cycles("int8", 1, tenb=False)),
        Measure("fp32, 32 minions, the same tiles", 529, unit, cycles("fp32", SHIRE, tenb=True)),
        Measure("fp16, 32 minions, the same tiles", 529, unit, cycles("fp16", SHIRE, tenb=True)),
        Measure("int8, 32 minions, the same tiles", 280, unit, cycles("int8", SHIRE, tenb=True)),
        Measure("int8, 32 minions, tiles of their own", 512, unit, cycles("int8", SHIRE, tenb=True, own=True)),
    ]


def _load_measures() -> list[Measure]:
    def cycles(lines: int, address: int, step: int) -> Callable[[], float]:
        return lambda: programs.cycles_per_repetition(programs.loads(lines, address, step), 1, 10, 300)

    # (lines, cycles) as measured on silicon: from the own scratchpad, and from DRAM.
    near = [(16, 160), (8, 81), (4, 45)]
    far = [(16, 730), (8, 320), (4, 144), (1, 73)]
    return [
        *(
            Measure(
                f"tensor_load, {lines} lines, own scratchpad", silicon, "cycles", cycles(lines, programs.SCRATCHPAD, 0)
            )
            for lines, silicon in near
        ),
        *(
            Measure(f"tensor_load, {lines} lines, DRAM", silicon, "cycles", cycles(lines, programs.DRAM, 16 * LINE))
            for lines, silicon in far
        ),
    ]


def _messages() -> list[Measure]:
    def bandwidth() -> float:
        return SHIRE // 2 * 32 * 1024 / programs.cycles_per_repetition(programs.pairs, 64, 2, 12) * HERTZ / 1e12

    return [
        Measure(
            "a register there and back, 0 and 1",
            68,
            "cycles",
            lambda: programs.cycles_per_repetition(programs.messages(1, 1), 2, 2, 12),
        ),
        Measure(
            "a register there and back, 0 and 8",
            114,
            "cycles",
            lambda: programs.cycles_per_repetition(programs.messages(8, 1), 16, 2, 12),
        ),
        Measure(
            "allreduce, 32 minions",
            444,
            "cycles",
            lambda: programs.cycles_per_repetition(programs.allreduce(5), SHIRE, 1, 3),
        ),
        Measure(
            "allreduce, 1,024 minions",
            1393,
            "cycles",
            lambda: programs.cycles_per_repetition(programs.allreduce(10), CHIP, 1, 3),
        ),
        Measure(
            "barrier, 32 minions", 233, "cycles", lambda: programs.cycles_per_repetition(programs.barriers, SHIRE, 1, 5)
        ),
        Measure("pairs, 1 KB each, 1,024 minions", 3.0, "TB/s", bandwidth),
    ]


# Round trips between minion 0 and another by flags in DRAM. The flag's home is the shire of the minion's number, so its
# distance, which is in the third column, decides. No parameter was fitted to
# them; that atomics go one at a time was chosen with them in view.
_FLAGS: Final = (
    (24, 355.2, 1),
    (8, 389.3, 1),
    (3, 374.7, 2),
    (4, 400.2, 3),
    (2, 424.6, 4),
    (5, 496.9, 7),
    (6, 521.6, 8),
    (31, 570.7, 10),
)
# The other minion's shire, cycles, hops; both flags are at shire 0.
_FAR_FLAGS: Final = ((24, 366.7, 1), (1, 389.1, 3), (5, 582.0, 7), (31, 472.9, 10))


def _home_measures() -> list[Measure]:
    """Global accesses, each of which acts at its line's home."""

    def flag(minion: int, minions: int) -> Callable[[], float]:
        return lambda: programs.cycles_per_repetition(programs.flags(0, minion), minions, 5, 25)

    def contended() -> float:
        adding = CHIP - SHIRE
        return programs.cycles_per_repetition(programs.atomics(programs.DRAM, SHIRE), CHIP, 2, 4) / adding

    return [
        Measure("31 shires add to one word, an addition", 10.0, "cycles", contended),
        Measure(
            "barrier, 32 shires, global atomics",
            5018,
            "cycles",
            lambda: programs.cycles_per_repetition(programs.chip_barriers, CHIP, 1, 3),
        ),
        *(
            Measure(
                f"flags there and back, minions 0 and {minion}, {hops} hops to the home",
                cycles,
                "cycles",
                flag(minion, SHIRE),
            )
            for minion, cycles, hops in _FLAGS
        ),
        *(
            Measure(
                f"flags there and back, shires 0 and {shire}, {hops} hops", cycles, "cycles", flag(SHIRE * shire, CHIP)
            )
            for shire, cycles, hops in _FAR_FLAGS
        ),
    ]


# --- compiled products ---


@dataclass(frozen=True, slots=True)
class Product:
    """A product on 1,024 minions: what is asked of some of its figures. `sizes` are N, M, K."""

    element: str
    sizes: tuple[int, int, int]
    resident: bool
    asked: Mapping[str, float]

    @property
    def what(self) -> str:
        """Element, shape, and where the arrays begin."""
        where = "resident" if self.resident else "DRAM to DRAM"
        return f"{self.element} {' x '.join(str(size) for size in self.sizes)}, {where}"


PRODUCTS: Final = (
    Product("f32", (512, 512, 512), True, {"loop_utilization": 0.96, "utilization": 0.92, "host_seconds": 0.8}),
    Product("f16", (512, 512, 512), True, {"loop_utilization": 0.96, "host_seconds": 1.0}),
    Product("i8", (512, 512, 2048), True, {"loop_utilization": 0.88}),
    Product("i8", (512, 512, 512), True, {"host_seconds": 0.4}),
    Product("f32", (1024, 1024, 1024), True, {"utilization": 0.95}),
    Product("f32", (512, 512, 512), False, {"of_dram_bound": 4 / 3, "cycles": 19_500}),
    Product("f16", (512, 512, 512), False, {"cycles": 10_800}),
    Product("i8", (512, 512, 512), False, {"cycles": 6_000}),
    Product("f32", (1024, 1024, 1024), False, {"cycles": 142_400, "host_seconds": 60}),
    Product("f32", (2048, 2048, 2048), False, {"utilization": 0.80, "cycles": 1_115_000}),
)


def product_table() -> Iterator[Row]:
    for product in PRODUCTS:
        yield from product_rows(product)


def product_rows(product: Product) -> list[Row]:
    figures = product_figures(product)
    cycles, predicted = figures["cycles"], figures["predicted_cycles"]
    rows: list[Row] = [
        {"what": product.what, "asked": round(asked, 3), "model": round(figures[name], 3), "unit": name}
        for name, asked in product.asked.items()
    ]
    off = round(100 * (predicted / cycles - 1), 1)
    what = f"{product.what}, predicted {round(predicted)}"
    return [*rows, {"what": what, "model": round(cycles), "off": off, "unit": "cycles"}]


def product_figures(product: Product) -> dict[str, float]:
    """One run on random operands, whose results are not compared: `polyloom run` does that."""
    instance, operands = prepare_product(product)
    job = Job(operands, None, Options())
    # CPU time of the run alone, without compilation.
    start = process_time()
    made: Any = TARGET.run(instance.data, job)
    seconds = process_time() - start
    assert made.cycles is not None
    facts = made.facts
    dram = facts["counters"]["bytes_dram"] / timing.parameters()["mesh_dram"]
    return {
        "cycles": made.cycles,
        "predicted_cycles": facts["predicted_cycles"],
        "loop_utilization": facts["loop_utilization"],
        "utilization": facts["utilization"],
        "of_dram_bound": made.cycles / dram if dram else float("inf"),
        "host_seconds": seconds,
    }


def prepare_product(product: Product) -> tuple[api.Instance, Mapping[str, NDArray[np.generic]]]:
    """Compiled for these sizes, and random operands."""
    n, m, k = product.sizes
    sizes, text = {"N": n, "M": m, "K": k}, short.source(product.element)
    instance = compile_source(text, "product.pla", CHIP, sizes, resident=product.resident)
    return instance, random_operands(instance, sizes)


# --- the vendor's emulator ---

EMULATED: Final = 512


def emulator_row(path: str, size: int, minions: int) -> Row:
    """Seconds of the host for one ELF file in the emulator, by those in this process. Errors: PL1313."""
    instance = api.compile(examples.path("matmul"), on=f"minion:{minions}").prepare_instance(dict.fromkeys("NMK", size))
    random = np.random.default_rng(1)
    operands = {name: random.standard_normal((size, size)).astype(np.float32) for name in "AB"}
    note = notes.decode(instance.data)
    assert note is not None, "it was compiled"
    start = perf_counter()
    TARGET.run(instance.data, Job(operands, None, Options()))
    ours = perf_counter() - start
    program = load([Loaded("matmul.elf", instance.data, None)], (), None, note.machine)
    found = emulator.compare(path, program, list(input_bytes(note, operands)), Place(note.machine, minions), ours)
    return {"what": f"emulator, fp32 {size}", "asked": 5, "model": round(found.ratio, 2), "unit": "times our seconds"}


# --- the host ---


def speeds() -> Iterator[Row]:
    """Instructions per second of CPU time, hazards on; the medians of five runs."""
    yield _speed("scalar code", 30e6, 2_000_000, functional=False)
    yield _speed("the same on both harts, which alternate", 30e6, 2_000_000, functional=False, both=True)
    yield _speed("the same, functional", 100e6, 8_000_000, functional=True)


def thread_rows() -> Iterator[Row]:
    """How much sooner a product has run with two threads of the host than with one: elapsed time, the best of three."""
    products = [Product("f16", (512, 512, 512), True, {}), Product("f32", (512, 512, 512), True, {})]
    yield from (_thread_row(each, "") for each in products)
    yield _thread_row(products[1], ", host without vectors")


def _thread_row(product: Product, where: str) -> Row:
    instance, operands = prepare_product(product)

    def seconds(threads: int) -> float:
        start = perf_counter()
        TARGET.run(instance.data, Job(operands, None, Options(threads=threads)))
        return perf_counter() - start

    # Restored afterwards: the setting is the process's.
    before = native.tensor_wide()
    try:
        # Vectors of the host hide threads' gain: both ways are measured.
        native.set_tensor_wide(before and not where)
        one, two = (min(seconds(threads) for _ in range(3)) for threads in (1, 2))
    finally:
        native.set_tensor_wide(before)
    what = f"2 threads, {product.element} {product.sizes[0]}{where}"
    return {"what": what, "model": round(one / two, 2), "unit": "times as fast as with one"}


def _speed(what: str, asked: float, count: int, *, functional: bool, both: bool = False) -> Row:
    text = programs.scalar(count // 10)

    def timed_run() -> float:
        start = process_time()
        return programs.instructions(text, functional=functional, both=both) / (process_time() - start)

    return {
        "what": what,
        "asked": asked,
        "model": round(median(timed_run() for _ in range(5))),
        "unit": "instructions/s",
    }
