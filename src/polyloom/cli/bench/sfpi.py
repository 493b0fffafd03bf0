# SPDX-License-Identifier: Apache-2.0
"""Vector kernels on the Tensix tile: words executed per iteration of 32 numbers, and how long compiling and a sweep
take; and how busy a product of matrices keeps the matrix unit.

`words` are Tensix instructions of an iteration after expansion, with load, store, NOPs and the next row: the difference
between calls of 16 and of 8 iterations, an eighth of it; of `silly` those of its one call. `limit` is what the project
promises, from listings of the vendor's compiler. Every kernel is compared with the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Final, cast

import numpy as np

from polyloom import api
from polyloom.cli.examples import folder
from polyloom.frontend.source import Options as Reading
from polyloom.run.instance import Result
from polyloom.targets import registry
from polyloom.targets.tensix import kernel
from polyloom.targets.tensix.run import sweep

Row = dict[str, object]
_ITERATIONS: Final = 8
_SLOPE: Final = 0x3DCCCCCD
_TILES: Final = np.random.default_rng(0).uniform(-4, 4, (2, 32, 32)).astype(np.float32)
"""A call of 16 iterations goes on behind its face, the last one behind its tile."""


@dataclass(frozen=True, slots=True)
class Case:
    """A file of the examples, the function without its template argument, what initializes, arguments, the limit."""

    file: str
    function: str
    limit: int
    init: str | None = None
    arguments: tuple[tuple[str, int], ...] = ()


CASES: Final = (
    Case("abs", "absolute", 4),
    Case("leaky_relu", "leaky_relu", 6, arguments=(("slope", _SLOPE),)),
    Case("tanh", "tanh_table", 5, "tanh_init"),
    Case("sigmoid", "sigmoid_table", 7, "sigmoid_init"),
    Case("compare_zero", "is_zero", 10),
    Case("sign", "sign", 11),
    Case("clamp", "limited", 15, arguments=(("lower", 0xBF800000), ("upper", 0x3F800000))),
)
SILLY: Final = Case("silly", "silly(true)", 72)
PRODUCTS: Final = ("tf32", "bf16")
_SWEPT: Final = Case("recip", "reciprocal", 5, "reciprocal_init")
"""Some 50 instructions."""


def rows() -> Iterator[Row]:
    yield from map(row, (*CASES, SILLY))
    yield _sweep(_SWEPT)
    yield from map(product, PRODUCTS)


def row(case: Case) -> Row:
    """Of one kernel."""
    return _single_call(case) if case is SILLY else _iteration(case)


def _iteration(case: Case) -> Row:
    start = perf_counter()
    short = run_case(case, f"{case.function}<{_ITERATIONS}>")
    seconds = perf_counter() - start
    long = run_case(case, f"{case.function}<{2 * _ITERATIONS}>")
    # A tile is four calls.
    words = (_instructions(long) - _instructions(short)) / 4 / _ITERATIONS
    worst = max(short, long, key=lambda each: each.verdict != "equal bits")
    return _row(case, short, words, seconds) | {"verdict": worst.verdict}


def _single_call(case: Case) -> Row:
    start = perf_counter()
    found = run_case(case, case.function)
    seconds = perf_counter() - start
    # Four calls more, behind each of which the driver has two words.
    words = (_instructions(run_case(case, case.function, tiles=2)) - _instructions(found)) / 4 - 2
    return _row(case, found, words, seconds)


def _row(case: Case, found: Result, words: float, seconds: float) -> Row:
    data = found.data
    return {
        "kernel": case.file,
        "words": words,
        "limit": case.limit,
        "in the program": data["words"],
        "nops": data["nops"],
        "replayed": data["replayed"],
        "registers": data["registers"],
        "matrix unit": None,
        "verdict": found.verdict,
        "seconds": round(seconds, 2),
    }


def product(format: str) -> Row:
    """A product of matrices of 256 x 256 at fidelity 4: the project promises 80 % of the matrix unit's time."""
    start = perf_counter()
    sizes = {"N": 256, "M": 256, "K": 256}
    found = api.compile(folder() / "matmul.pla", "tensix", format=format).run(sizes)
    data = found.data
    used = cast("dict[str, float]", data["utilization"])["matrix"]
    return {
        "kernel": f"matmul, {format}",
        "words": None,
        "limit": None,
        "in the program": data["words"],
        "nops": None,
        "replayed": data["replayed"],
        "registers": None,
        "matrix unit": f"{used:.1%}",
        "verdict": found.verdict,
        "seconds": round(perf_counter() - start, 2),
    }


def run_case(case: Case, function: str, tiles: int = 1) -> Result:
    """Compiled, run on one tile, compared."""
    target, place = registry.split_place("tensix")
    options = target.options(init=case.init, tiles=tiles)
    path = str(folder() / "sfpi" / f"{case.file}.h")
    subject = api.read_subject(path, target, place, Reading(function=function), options)
    compiled = api.compile_subject(subject, target, place, options)
    return compiled.prepare_instance({}).measure({"dst:bf16": _TILES, **dict(case.arguments)})


def _instructions(found: Result) -> int:
    return int(str(found.data["instructions"]))


def _sweep(case: Case) -> Row:
    """All values of BF16, in seconds."""
    found = run_case(case, f"{case.function}<{_ITERATIONS}>")
    data = found.instance.data
    start = perf_counter()
    values = sweep.sweep_values("bf16", None, None)
    # Every value of BF16: 2^16 numbers, the promise is on that.
    made = sweep.sweep(data, kernel.read_note(data), "bf16", values, {})
    sweep.judge_results(made, sweep.expected_results(made, sweep.load_reference("reciprocal")))
    return _row(case, found, 0, perf_counter() - start) | {"kernel": "sweep of recip", "words": None, "limit": None}
