# SPDX-License-Identifier: Apache-2.0
"""What a nest becomes: formulas, stages, and how their arrays lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.targets.tensix.loops.stages import kernels

import polyloom as pl
from polyloom import frontend
from polyloom.analysis.contraction import Matrix
from polyloom.analysis.formulas_system import system_formulas
from polyloom.frontend.source import Source
from polyloom.ir.formula import Apply, Formulas, Leaf, Sum
from polyloom.ir.stage import Formula, Product
from polyloom.sets import Affine
from polyloom.targets.forms.loops import load_source
from polyloom.targets.tensix.map.loops.form import TILE
from polyloom.transform.stages.layout_assignment import Multiplied, assign_layouts
from polyloom.transform.stages.stage_cutting import cut_stages

KERNELS = Path(__file__).parents[5] / "examples" / "kernels"


def formulas(source: Source) -> Formulas:
    assert source.system is not None
    return system_formulas(source.system)


def test_what_an_empty_loop_leaves_out_is_dropped() -> None:
    """gemm's C is beta C where NK is 0; with elements, it is that and a sum."""
    found = formulas(frontend.load(str(KERNELS / "gemm.py")))
    scaled, whole = found.definitions
    assert isinstance(whole.term, Apply) and whole.term.operation == "add"
    first, added = whole.term.operands
    assert isinstance(first, Leaf) and first.array == scaled.name
    assert isinstance(added, Sum) and added.dimension == "k" and whole.extents["k"] == Affine.symbol("NK")
    assert [(o.array, o.definition, o.at) for o in found.outputs] == [("C", whole.name, (0, 1))]


def test_a_part_of_what_a_stage_makes_is_an_output() -> None:
    """doitgen's sums are those of the last row."""
    found = formulas(frontend.load(str(KERNELS / "doitgen.py")))
    last = {o.array: o.at for o in found.outputs}
    assert last == {"A": (0, 1, 2), "total": (Affine.symbol("NR") - 1, Affine.symbol("NQ") - 1, 0)}


def test_scalars_are_multiplied_behind_the_sum() -> None:
    product, rest = cut_stages(formulas(frontend.load(str(KERNELS / "gemm.py"))), TILE).stages
    assert isinstance(product, Product) and isinstance(rest, Formula)
    assert product.reads == ("A", "B") and product.roundings == 1
    assert {"alpha", "beta"} <= {*rest.reads} and rest.summed == (Affine.symbol("NK"),)


@pytest.mark.parametrize(("kernel", "turned"), [(kernels.gram, [True]), (kernels.layers, [False, False])])
def test_how_factors_lie(kernel: object, turned: list[bool]) -> None:
    found = assign_layouts(cut_stages(formulas(load_source(kernel)), TILE))
    assert [each.turned for each in found if isinstance(each, Multiplied)] == turned


def test_gemver_keeps_x_as_a_row() -> None:
    """y A is computed with A as it is, and A x takes that row turned."""
    program = cut_stages(formulas(frontend.load(str(KERNELS / "gemver.py"))), TILE)
    found = [e for e in assign_layouts(program) if isinstance(e, Multiplied)]
    assert [(e.result.rows, e.result.columns, e.turned) for e in found] == [((), (0,), False), ((0,), (), True)]
    assert found[0].contraction.left == Matrix("y", (), (0,))


def test_a_run_ends_where_the_watched_word_changes() -> None:
    tile = pl.tensix.Tile()
    code = [0x00008137, 0x00700193, 0x00312023, 0x00312223, 0x00100073]  # lui, addi, two stores, ebreak
    tile.l1[0x6000 : 0x6000 + 20] = list(b"".join(word.to_bytes(4, "little") for word in code))
    tile.native.watched = 0x8000
    tile.release("t0", 0x6000)
    first = tile.run()
    assert first.stop == "max-cycles" and (tile.l1[0x8000], tile.l1[0x8004]) == (7, 0)
    assert tile.run().stop == "idle" and tile.l1[0x8004] == 7
