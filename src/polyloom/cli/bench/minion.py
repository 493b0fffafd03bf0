# SPDX-License-Identifier: Apache-2.0
"""The Minion's model beside the silicon: cycles and bandwidths that were measured on cards at 600 MHz; what compiled
products reach of what is asked for; and how fast the model is on this host.

`off` is how far the model is from the silicon, in percent. `of_dram_bound` is the run's cycles by those that its bytes
from and to DRAM need. Host seconds are CPU time of the run with time and hazards on, without compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any, Final

import numpy as np

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench import minion_programs as programs
from polyloom.targets.minion import timing
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.target import TARGET
from polyloom.targets.target import Job

Row = dict[str, object]
HERTZ: Final = 600e6
LINE: Final = 64
SHIRE, CHIP = 32, 1024


@dataclass(frozen=True, slots=True)
class Measure:
    what: str
    silicon: float
    unit: str
    model: Callable[[], float]


def rows() -> list[Row]:
    return [*(_beside(measure) for measure in measures()), *compiled(), *speeds()]


def measures() -> list[Measure]:
    return [*_tiles(), *_loads(), *_messages()]


def _beside(measure: Measure) -> Row:
    model = measure.model()
    return {
        "what": measure.what,
        "silicon": measure.silicon,
        "model": round(model, 1),
        "off": round(100 * (model / measure.silicon - 1), 1),
        "unit": measure.unit,
    }


def _tiles() -> list[Measure]:
    def cycles(kind: programs.words.Type, minions: int, *, tenb: bool, own: bool = False) -> Callable[[], float]:
        return lambda: programs.each(programs.tiles(kind, tenb=tenb, own=own), minions, 10, 60)

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


def _loads() -> list[Measure]:
    def cycles(lines: int, address: int, step: int) -> Callable[[], float]:
        return lambda: programs.each(programs.loads(lines, address, step), 1, 10, 40)

    near = [(16, 160), (8, 81), (4, 45)]
    far = [(16, 730), (8, 320), (4, 144)]
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
        return SHIRE // 2 * 32 * 1024 / programs.each(programs.pairs, 64, 2, 12) * HERTZ / 1e12

    return [
        Measure(
            "a register there and back, 0 and 1", 68, "cycles", lambda: programs.each(programs.messages(1, 1), 2, 2, 12)
        ),
        Measure(
            "a register there and back, 0 and 8",
            114,
            "cycles",
            lambda: programs.each(programs.messages(8, 1), 16, 2, 12),
        ),
        Measure("allreduce, 32 minions", 444, "cycles", lambda: programs.each(programs.allreduce(5), SHIRE, 1, 3)),
        Measure("allreduce, 1,024 minions", 1393, "cycles", lambda: programs.each(programs.allreduce(10), CHIP, 1, 3)),
        Measure("barrier, 32 minions", 233, "cycles", lambda: programs.each(programs.barriers, SHIRE, 1, 5)),
        Measure("pairs, 1 KB each, 1,024 minions", 3.0, "TB/s", bandwidth),
    ]


# --- compiled products ---


@dataclass(frozen=True, slots=True)
class Product:
    """An fp32 product on 1,024 minions: what is asked of some of its figures."""

    what: str
    size: int
    resident: bool
    asked: Mapping[str, float]


PRODUCTS: Final = (
    Product("fp32 512, resident", 512, True, {"loop_utilization": 0.96, "utilization": 0.92, "host_seconds": 0.8}),
    Product("fp32 1024, resident", 1024, True, {"utilization": 0.95}),
    Product("fp32 512, DRAM to DRAM", 512, False, {"of_dram_bound": 4 / 3}),
    Product("fp32 2048, DRAM to DRAM", 2048, False, {"utilization": 0.80}),
)


def compiled() -> list[Row]:
    return [row for product in PRODUCTS for row in product_rows(product)]


def product_rows(product: Product) -> list[Row]:
    figures = measured(product)
    return [
        {"what": product.what, "asked": round(asked, 3), "model": round(figures[name], 3), "unit": name}
        for name, asked in product.asked.items()
    ]


def measured(product: Product) -> dict[str, float]:
    """One run on random operands, whose results are not compared: `polyloom run` does that."""
    sizes = dict.fromkeys("NMK", product.size)
    instance = api.compile(examples.path("matmul"), on="minion:1024", resident=product.resident).ready(sizes)
    random = np.random.default_rng(1)
    operands = {name: random.standard_normal((product.size,) * 2).astype(np.float32) for name in "AB"}
    job = Job(operands, None, Options())
    start = process_time()
    made: Any = TARGET.run(instance.data, job)
    seconds = process_time() - start
    assert made.cycles is not None
    facts = made.facts
    dram = facts["counters"]["bytes_dram"] / timing.parameters()["mesh_dram"]
    return {
        "loop_utilization": facts["loop_utilization"],
        "utilization": facts["utilization"],
        "of_dram_bound": made.cycles / dram if dram else float("inf"),
        "host_seconds": seconds,
    }


# --- the host ---


def speeds() -> list[Row]:
    """Instructions per second of CPU time, hazards on; the medians of five runs."""
    return [
        _speed("scalar code", 30e6, 2_000_000, functional=False),
        _speed("the same, functional", 100e6, 8_000_000, functional=True),
    ]


def _speed(what: str, asked: float, count: int, *, functional: bool) -> Row:
    text = programs.scalar(count // 10)

    def once() -> float:
        start = process_time()
        return programs.instructions(text, functional=functional) / (process_time() - start)

    return {"what": what, "asked": asked, "model": round(median(once() for _ in range(5))), "unit": "instructions/s"}
