# SPDX-License-Identifier: Apache-2.0
"""The Minion's model beside the silicon: cycles and bandwidths that were measured on cards at 600 MHz; what compiled
products reach of what is asked for; and how fast the model is on this host.

`off` is how far the model is from the silicon, in percent. Where the compiler refuses, the row has the diagnostic's
code. Host seconds are of the whole run, time and hazards on, compilation not included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench import minion_programs as programs
from polyloom.diagnostics import PolyloomError

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
    return [*(_beside(measure) for measure in measures()), *compiled()]


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
    """Of a compiled product: what is asked of one of its figures."""

    what: str
    size: int
    figure: str
    asked: float
    resident: bool


PRODUCTS: Final = (
    Product("fp32 512, K-loop", 512, "loop_utilization", 0.96, True),
    Product("fp32 512, resident", 512, "utilization", 0.92, True),
    Product("fp32 1024, resident", 1024, "utilization", 0.95, True),
    Product("fp32 2048, DRAM to DRAM", 2048, "utilization", 0.80, False),
)


def compiled() -> list[Row]:
    return [row for product in PRODUCTS for row in _product(product)]


def _product(product: Product) -> list[Row]:
    sizes = dict.fromkeys("NMK", product.size)
    try:
        instance = api.compile(examples.path("matmul"), on="minion:1024", resident=product.resident).instantiate(sizes)
        start = perf_counter()
        result = instance.run()
    except PolyloomError as error:
        return [
            {"what": product.what, "asked": product.asked, "model": error.diagnostics[0].code, "unit": product.figure}
        ]
    return [
        {"what": product.what, "asked": product.asked, "model": result.data[product.figure], "unit": product.figure},
        {"what": f"{product.what}, the run", "model": round(perf_counter() - start, 2), "unit": "host seconds"},
    ]
