# SPDX-License-Identifier: Apache-2.0
"""Blocks that are chosen: the search alone, with costs that are formulas, then programs that do not fit as one nest."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden

import polyloom as pl
from polyloom.api import load_source
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError, infeasible, input_error
from polyloom.frontend.source import Options
from polyloom.targets.tcpa.block_choice import LoopExtent, choose_blocks, list_extents, minimum_cycles

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

EXAMPLES = Path(__file__).parents[4] / "examples" / "kernels"
LOOPS = (LoopExtent("i", 0, 20), LoopExtent("j", 1, 25), LoopExtent("k", 2, 30))
N, M, K = pl.sizes("N M K")


def steps(sizes: Mapping[str, int], loops: tuple[LoopExtent, ...] = LOOPS) -> int:
    return prod(-(-loop.extent // sizes.get(loop.name, loop.extent)) for loop in loops)


def test_outer_loops_go_first_and_large_blocks_where_room_is_short() -> None:
    asked = list[Mapping[str, int]]()

    def attempt(sizes: Mapping[str, int]) -> int:
        asked.append(sizes)
        if sizes["i"] > 7:
            raise infeasible("PL0511", "a FIFO is short")
        return 100 * steps(sizes)

    # 5 is the half of a half; half as much again makes three blocks of four.
    assert choose_blocks(LOOPS, "PL0511", attempt) == {"i": 7}
    assert asked[0] == {"i": 10}


def test_inner_loops_follow_where_outer_ones_do_not_suffice() -> None:
    def attempt(sizes: Mapping[str, int]) -> int:
        if sizes["i"] * sizes.get("j", 25) > 16:
            raise infeasible("PL0511", "a FIFO is short")
        return 100 * steps(sizes)

    found = choose_blocks(LOOPS, "PL0511", attempt)
    assert found is not None and set(found) == {"i", "j"} and found["i"] * found["j"] <= 16


def test_small_blocks_go_first_where_signals_are_short() -> None:
    asked = list[int]()

    def attempt(sizes: Mapping[str, int]) -> int:
        asked.append(sizes["i"])
        if sizes["i"] > 4:
            raise infeasible("PL0513", "signals are short")
        return 100 * steps(sizes)

    assert choose_blocks(LOOPS, "PL0513", attempt) == {"i": 4}
    assert asked[0] == 1


def test_illegal_blocks_and_machines_that_are_too_small() -> None:
    def refuse(sizes: Mapping[str, int]) -> int:
        if set(sizes) != {"i"}:
            raise input_error("PL0266", "the order changes")
        raise infeasible("PL0511", "a FIFO is short")

    assert choose_blocks(LOOPS, "PL0511", refuse) is None
    with pytest.raises(PolyloomError, match="PL0230"):
        choose_blocks(LOOPS, "PL0511", lambda _: (_ for _ in ()).throw(input_error("PL0230", "another error")))
    assert choose_blocks((), "PL0511", lambda _: 1) is None


def test_inner_loops_are_cut_within_single_iterations_of_outer_ones() -> None:
    """As in sweeps over a grid, one step of time each: longer blocks of time need what later blocks of space give."""

    def attempt(sizes: Mapping[str, int]) -> int:
        if sizes["i"] > 1 and set(sizes) != {"i"}:
            raise input_error("PL0266", "the order changes")
        if sizes["i"] * sizes.get("j", 25) > 16:
            raise infeasible("PL0511", "a FIFO is short")
        return 100 * steps(sizes)

    assert choose_blocks(LOOPS, "PL0511", attempt) == {"i": 1, "j": 13}


def test_all_loops_are_cut_where_transfers_count() -> None:
    """As in a product: what a block reads grows with its faces."""
    loops = tuple(LoopExtent(name, depth, 1024) for depth, name in enumerate("ijk"))

    def attempt(sizes: Mapping[str, int]) -> int:
        i, j, k = (sizes.get(name, 1024) for name in "ijk")
        if i * j > 1024 or i * k > 4096 or k * j > 4096:
            raise infeasible("PL0511", "a FIFO is short")
        return steps(sizes, loops) * (i * j * k // 16 + 200)

    assert choose_blocks(loops, "PL0511", attempt, 1024**3 // 16 * 5 // 4) == {"i": 32, "j": 32, "k": 128}
    # Without a goal, too, where no blocks of a few loops fit.
    assert choose_blocks(loops, "PL0511", attempt) == {"i": 32, "j": 32, "k": 128}
    assert minimum_cycles((*loops, LoopExtent("k2", 2, 5)), 16) == 1024**3 // 16


@given(st.lists(st.integers(1, 40), min_size=1, max_size=3), st.integers(1, 200))
@settings(max_examples=40)
def test_what_is_chosen_fits(extents: list[int], room: int) -> None:
    """Whenever blocks of one iteration fit, some are found, and they fit."""
    loops = tuple(LoopExtent(f"i{n}", n, extent) for n, extent in enumerate(extents))

    def size(sizes: Mapping[str, int]) -> int:
        return prod(sizes.get(loop.name, loop.extent) for loop in loops)

    def attempt(sizes: Mapping[str, int]) -> int:
        if size(sizes) > room:
            raise infeasible("PL0520", "a bank is short")
        return steps(sizes, loops) * 10 + size(sizes)

    found = choose_blocks(loops, "PL0520", attempt)
    if prod(extents) > 1:
        assert found is not None and size(found) <= room


@pl.kernel
def triangle(A: pl.i32[N, N]) -> None:
    for i in range(1, N):
        for j in range(i):
            for k in range(j, i + 2):
                A[i, j] += k


def test_extents_of_triangular_loops() -> None:
    nest = pl.compile(triangle, on="tcpa:wide").source
    assert nest is not None and nest.nest is not None
    found = {loop.name: (loop.depth, loop.extent) for loop in list_extents(nest.nest, {"N": 9})}
    # i in 1..8, j in 0..7, k in 0..9.
    assert found == {"i": (0, 8), "j": (1, 8), "k": (2, 10)}


PRODUCT = """import polyloom as pl

N, M, K = pl.sizes("N M K")


@pl.kernel
def product(A: pl.i32[N, K], B: pl.i32[K, M], C: pl.i32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("product")
    (path / "product.py").write_text(PRODUCT, encoding="utf-8")
    small = 'name = "small"\nbased_on = "wide"\nfifo_depth = 16\nbank_words = 64\n'
    (path / "small.toml").write_text(small, encoding="utf-8")
    return path


def test_a_product_runs_in_blocks_that_fit(folder: Path) -> None:
    compiled = pl.compile(folder / "product.py", on=f"tcpa:{folder}/small.toml:2x2")
    # What fits runs as one nest.
    assert not compiled.instantiate(N=3, M=3, K=3).run().warnings
    result = compiled.instantiate(N=16, M=16, K=16).run()
    assert result.verified
    (warning,) = result.warnings
    assert warning.code == "PL0825" and warning.exit_code == 0
    assert result.data["phases"] and warning.help is not None
    # What the warning says does the same; where extents are odd constants, unrolling may take another loop.
    block = warning.help.split()[2]
    again = pl.compile(folder / "product.py", on=compiled.on, block=block).instantiate(N=16, M=16, K=16).run()
    assert again.verified and again.cycles == result.cycles and not again.warnings


def test_blocks_that_were_chosen_are_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    monkeypatch.chdir(folder)
    code = main(["run", "product.py", "--on", "tcpa:small.toml:2x2", "N=16", "M=16", "K=8"])
    told = capsys.readouterr()
    golden("chosen_blocks", f"exit {code}\n{told.err}{told.out.splitlines()[0] if told.out else ''}\n")
    # A mapping or blocks of the user's are taken as they are.
    assert main(["run", "product.py", "--on", "tcpa:small.toml:2x2", "N=8", "M=8", "K=64", "--block", "i=8"]) == 3


def test_chosen_blocks_keep_the_association_of_sums() -> None:
    """A cut inner loop of a reassociated sum would differ from the equations, which are compared bit for bit."""
    source = load_source(EXAMPLES / "mttkrp.py", Options(reassociate=True))
    run = pl.compile(source, on="tcpa:mid16").instantiate({"NI": 10, "NJ": 12, "NK": 10, "NL": 12}, pes=(4, 4)).run()
    assert [warning.code for warning in run.warnings] == ["PL0825"]
    assert run.verified
