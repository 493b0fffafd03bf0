# SPDX-License-Identifier: Apache-2.0
"""Speed of the Tensix tile's model beside wolfpine's, a Python model of the same machine, and what the tile itself
takes for products.

A product of 2048 x 2048 matrices runs on one tile, with its arrays in DRAM behind it, and on a grid of 64; both results
are compared with NumPy. Speeds are per second of CPU time, hazards checked and nothing traced. The models take turns;
the ratio is the median of the rounds' ratios. `asked` is what the project promises. Without wolfpine its columns are
empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import thread_time
from typing import Any, Final, cast

import numpy as np

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench import tensix_programs as programs
from polyloom.targets.target import Job
from polyloom.targets.tensix import stages as loops
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.run.grid import Grid
from polyloom.targets.tensix.run.spread import binding_shares, execute_spread, read_result
from polyloom.targets.tensix.run.stages import Limits
from polyloom.targets.tensix.run.tile import UNITS, Tile
from polyloom.targets.tensix.words.arrays import spread_note

Row = dict[str, object]
ROUNDS: Final = 5
_BF16: Final = 5
_VECTOR, _MATRIX = UNITS.index("vector"), UNITS.index("matrix")
_FIRST_OF_VECTOR: Final = 0x70
_PRODUCT: Final = "matmul.pla"
Speed = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted, how many per second are asked for, and how fast each model is."""

    what: str
    asked: int
    ours: Speed
    theirs: Speed | None = None


def rows() -> Iterator[Row]:
    yield from map(_speed, measures())
    yield from _products()
    yield from grid_rows(64)
    for size, asked in ((256, 96), (512, 90), (2048, 88)):
        yield busy_product(size, asked)
    for format in ("bf16", "tf32"):
        yield epilogue("gemm", format, 200)


def measures() -> list[Measure]:
    peer = find_spec("framework") is not None
    vector, matrix = (_peer_vector, _peer_matrix) if peer else (None, None)
    return [
        Measure("SFPU instructions of a sigmoid", 10_000_000, _vector, vector),
        Measure("MVMULs, BF16", 250_000, _matrix, matrix),
        Measure("MVMULs, BF16, Dst of 32 bits", 250_000, lambda: _matrix(wide=True)),
        Measure("cycles, five cores busy", 2_000_000, _cores),
        Measure("cycles, five cores busy and three pushing words", 2_000_000, lambda: _cores(pushing=True)),
    ]


def _speed(measure: Measure) -> Row:
    # In turns, and the ratio per round: the speed of a shared machine changes in seconds.
    rounds = [(measure.ours(), measure.theirs() if measure.theirs else None) for _ in range(ROUNDS)]
    theirs = [there for _, there in rounds if there is not None]
    return {
        "what": measure.what,
        "polyloom": round(median(ours for ours, _ in rounds)),
        "asked": measure.asked,
        "wolfpine": round(median(theirs)) if theirs else None,
        "to wolfpine": round(median(ours / there for ours, there in rounds if there)) if theirs else None,
        "unit": "per second",
    }


def _run_timed(tile: Tile, most: int = 10**8) -> float:
    start = thread_time()
    tile.run(most)
    return thread_time() - start


def _vector() -> float:
    tile = Tile()
    tile.dst_valid[:] = 1
    tile.push("t1", programs.words(programs.SIGMOID_CONSTANTS))
    tile.push("t1", np.tile(programs.words(programs.SIGMOID), 20_000))
    seconds = _run_timed(tile)
    return tile.native.unit(_VECTOR)[0] / seconds


def _matrix(*, wide: bool = False) -> float:
    tile = Tile()
    tile.config[0][1] = _BF16 << 17 | _BF16 << 21 | _BF16 << 25 | wide << 29
    random = np.random.default_rng(1)
    for source in (tile.srca, tile.srcb):
        source[:] = random.integers(0, 256, source.shape) << 11 | random.integers(120, 136, source.shape)
    rows = "\n".join(f"MVMUL dst={8 * (n % 16)}" for n in range(16))
    tile.push("t1", programs.words("SETDVALID 3"))
    tile.push("t1", np.tile(programs.words(rows), 5_000))
    seconds = _run_timed(tile)
    return tile.native.unit(_MATRIX)[0] / seconds


def _cores(*, pushing: bool = False) -> float:
    cycles = 1_000_000
    return cycles / _run_timed(busy_tile(pushing=pushing), cycles)


def busy_tile(*, pushing: bool) -> Tile:
    """Every core retires an instruction in every cycle, or nearly."""
    tile = Tile()
    tile.dst_valid[:] = 1
    texts: dict[programs.Core, str] = dict.fromkeys(("b", "t0", "t1", "t2", "nc"), programs.INTEGERS)
    if pushing:
        texts["t0"] = programs.pushes("SETDMAREG 0, 1, 0, 4\nNOP\n" * 8)
        texts["t1"] = programs.pushes(programs.SIGMOID)
        texts["t2"] = programs.pushes("SETADCXY 1, 0, 0, 0, 0, 15\nNOP\n" * 8)
    for core, text in texts.items():
        programs.place(tile, core, text)
    return tile


def _peer_backend() -> Any:
    return import_module("framework.pe.tensix.tensix").TensixCoProcessor(None).getBackend()


def _peer_vector() -> float:
    backend = _peer_backend()
    backend.getDst().dstRowValid[:] = True
    units = (backend.matrix_unit, backend.vector_unit)
    words = [*programs.words(programs.SIGMOID_CONSTANTS).tolist(), *programs.words(programs.SIGMOID).tolist() * 20]
    start = thread_time()
    for word in words:
        backend.issueInstruction(word, 0)
        # The peer's units are clocked by hand: it has no run of its own without a whole chip.
        units[word >> 24 >= _FIRST_OF_VECTOR].clock_tick(0)
    seconds = thread_time() - start
    return sum(word >> 24 >= _FIRST_OF_VECTOR for word in words) / seconds


def _peer_matrix() -> float:
    backend = _peer_backend()
    owner = import_module("framework.pe.tensix.registers").SrcRegister.SrcClient.MatrixUnit
    backend.config_unit.setConfig(0, 1, _BF16 << 17 | _BF16 << 21 | _BF16 << 25)
    random = np.random.default_rng(1)
    for source in (backend.getSrcA(0), backend.getSrcB(0)):
        shape = source.data.shape
        source.data[:] = random.integers(0, 256, shape) << 11 | random.integers(120, 136, shape)
        source.setAllowedClient(owner)
    word, count = int(programs.words("MVMUL dst=0")[0]), 40
    start = thread_time()
    for _ in range(count):
        backend.issueInstruction(word, 0)
        backend.matrix_unit.clock_tick(0)
    return count / (thread_time() - start)


def _products() -> list[Row]:
    """Of tiles of 32 x 32: cycles of the tile, which do not depend on the host."""
    (one, cycles), (_, of_four), (many, long) = product(1, 1), product(4, 1), product(4, 256)
    return [
        _fact("MVMULs of a phase of a 32x32x32 product", one, 16, "instructions"),
        _fact("matrix time of the product, one phase", cycles, 16, "cycles"),
        _fact("matrix time of the product, four phases", of_four, 64, "cycles"),
        _fact(f"matrix unit busy over {many} MVMULs of 256 products", round(100 * many / long, 1), 90, "per cent"),
    ]


def _fact(what: str, value: float, asked: int | None, unit: str) -> Row:
    return {"what": what, "polyloom": value, "asked": asked, "wolfpine": None, "to wolfpine": None, "unit": unit}


def busy_product(size: int, asked: int) -> Row:
    """Share of the cycles, from the first load to the last store, in which the matrix unit is busy with a product in
    BF16; arrays that L1 does not hold are streamed from DRAM."""
    facts = loop_facts(_PRODUCT, "bf16", dict.fromkeys(("N", "M", "K"), size))
    busy = cast("dict[str, float]", facts["utilization"])["matrix"]
    what = f"matrix unit busy, product of {size}x{size}x{size} in bf16"
    return _fact(f"{what}, from DRAM" if "port" in facts else what, round(100 * busy, 1), asked, "per cent")


def epilogue(kernel: str, format: str, size: int) -> Row:
    """Cycles that a kernel takes beyond those of its bare product."""
    bare = loop_facts(_PRODUCT, format, dict.fromkeys(("N", "M", "K"), size))["cycles"]
    whole = loop_facts(f"kernels/{kernel}.py", format, dict.fromkeys(("NI", "NJ", "NK"), size))["cycles"]
    # The bare product is the one of equations, whose sums are packed in 32 bits.
    added = 100 * (cast(int, whole) / cast(int, bare) - 1)
    return _fact(f"cycles that {kernel} adds to its product, {size}, {format}", round(added, 1), 8, "per cent")


def loop_facts(kernel: str, format: str, sizes: Mapping[str, int]) -> dict[str, object]:
    """Facts of a run of an example, over zeros: cycles do not depend on values. Tests compare results."""
    compiled = api.compile(examples.folder() / kernel, on="tensix", format=format)
    data = compiled.prepare_instance(sizes).data
    inputs = {a.name: np.zeros(a.extents({}), a.dtype) for a in loops.signature(data).inputs}
    ran = loops.run(data, Job(inputs, None, Options()))
    return {**ran.facts, "cycles": ran.cycles}


def product(phases: int, rounds: int) -> tuple[int, int]:
    """MVMULs of so many products, which accumulate, and the cycles from the first to the last."""
    tile = programs.product_tile()
    tile.native.tracing = True
    tile.push("t0", programs.words(programs.UNPACK * rounds))
    tile.push("t1", programs.words(programs.product_recording() + programs.phases(phases) * rounds))
    tile.run()
    issued = [event[0] for event in tile.native.events if event[4] >> 24 == 0x26]
    return len(issued), issued[-1] - issued[0] + 1


def grid_rows(size: int, rows: int = 8, columns: int = 8) -> Iterator[Row]:
    """Product of square matrices of `size` tiles, bf16 at fidelity 2, on one tile and on a grid. Raises AssertionError
    where a result differs from NumPy's.
    """
    # Small integers, whose products and sums are exact at fidelity 2.
    left, right = (np.random.default_rng(n).integers(-8, 9, (32 * size,) * 2).astype(np.float32) for n in range(2))
    what, tiles = f"{32 * size}^3 product in bf16, fidelity 2", f"{rows} x {columns} tiles"
    one = programs.run_streamed_product(left, right)
    grid, many, seconds = run_spread_product(left, right, rows, columns)
    # The largest share names what a faster kernel would have to relieve.
    shares = binding_shares(grid, many)
    binds = max(shares, key=lambda name: shares[name])
    yield _fact(f"{what}: one tile", one, None, "cycles")
    yield _fact(f"{what}: {tiles}", many, None, "cycles")
    yield _fact(f"the same: one tile to {tiles}", round(one / many, 1), 50 if rows * columns == 64 else None, "times")
    for name, share in shares.items():
        label = f"{name} busy on {tiles}{', which binds' if name == binds else ''}"
        yield _fact(label, round(100 * share, 1), None, "per cent")
    yield _fact(
        "cycles of busy tiles, a product on a grid", round(grid.native.stepped / seconds), 300_000, "per second"
    )
    yield _fact("cycles of a grid of 64 tiles, one busy", round(idle_speed()), 1_000_000, "per second")


def run_spread_product(left: Any, right: Any, rows: int, columns: int) -> tuple[Grid, int, float]:
    """A product on a grid: the grid, cycles, seconds. Raises AssertionError where the result is not NumPy's."""
    made = api.compile(examples.path("matmul"), f"tensix:wormhole:{rows}x{columns}", format="bf16", fidelity=2)
    instance = made.prepare_instance({"N": len(left), "K": left.shape[1], "M": right.shape[1]})
    note = spread_note.decode(instance.data)
    assert note is not None
    start = thread_time()
    grid, outcome = execute_spread(instance.data, note, {"A": left, "B": right}, Limits())
    seconds = thread_time() - start
    assert np.array_equal(read_result(grid, note), left @ right)
    return grid, outcome.cycles, seconds


def idle_speed() -> float:
    """Cycles of tiles per second, of a grid of which one tile counts."""
    grid = Grid()
    programs.place(grid[0, 0], "b", "li a0, 200000\ncount: addi a0, a0, -1\nbnez a0, count\nebreak\n")
    start = thread_time()
    cycles = grid.run().cycles
    return len(grid.tiles) * cycles / (thread_time() - start)
