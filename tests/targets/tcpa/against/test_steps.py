# SPDX-License-Identifier: Apache-2.0
"""Files of steps: whatever is changed in the loops around their phases is noticed, and whatever the data are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.ir.steps import Steps, Tree
from polyloom.targets.forms.loops import load_source
from polyloom.targets.tcpa.run import equivalence
from polyloom.targets.tcpa.words.phases import phase_file, steps_file
from polyloom.targets.tcpa.words.phases.phase_file import SYMBOLIC, Phased

N = pl.size("N")


@pl.kernel
def mixed(d: pl.f32[N, N], v: pl.f32[N]) -> None:
    for k in range(N):
        for i in range(N):
            for j in range(N):
                d[i, j] = d[i, j] + d[i, k] * d[k, j]
        for i in range(N):
            v[i] = v[i] * d[k, k] + d[i, k]


SOURCE = load_source(mixed)


@pytest.fixture(scope="module")
def made() -> pl.Instance:
    return pl.compile(SOURCE, on="tcpa:wide").instantiate(N=3, pes=(1, 2))


def _trees(tree: Tree[int]) -> Iterator[Tree[int]]:
    """A step too few at either end, the other direction."""
    for at, node in enumerate(tree):
        if isinstance(node, Steps):
            loops = [
                replace(node, lower=tuple(b + 1 for b in node.lower)),
                replace(node, upper=tuple(b - 1 for b in node.upper)),
                replace(node, step=-node.step),
                *(replace(node, body=body) for body in _trees(node.body)),
            ]
            yield from ((*tree[:at], loop, *tree[at + 1 :]) for loop in loops)


def _orders(phased: Phased) -> Iterator[Phased]:
    """Two phases in another order, which is that of the file."""
    for n in range(1, len(phased.stages)):
        stages = phased.stages
        yield replace(phased, stages=(*stages[: n - 1], stages[n], stages[n - 1], *stages[n + 1 :]))


def _bindings(phased: Phased) -> Iterator[Phased]:
    """Two arrays of one phase changed for each other, as far as their extents allow."""
    for n, stage in enumerate(phased.stages):
        for at in range(1, len(stage.arrays)):
            arrays = (*stage.arrays[: at - 1], stage.arrays[at], stage.arrays[at - 1], *stage.arrays[at + 1 :])
            stages = (*phased.stages[:n], replace(stage, arrays=arrays), *phased.stages[n + 1 :])
            if arrays != stage.arrays:
                yield replace(phased, stages=stages)


def _noticed(data: bytes) -> bool:
    try:
        return not equivalence.prove(data, None, SOURCE, {"N": 3})
    except PolyloomError:
        return True


def test_what_is_changed_around_phases_is_noticed(made: pl.Instance) -> None:
    bound = steps_file.decode(made.data)
    phased = phase_file.decode(SYMBOLIC, bound.symbolic)
    assert not _noticed(made.data)
    others = [*(replace(phased, looped=tree) for tree in _trees(phased.looped)), *_orders(phased), *_bindings(phased)]
    files = [steps_file.encode(replace(bound, symbolic=phase_file.encode(SYMBOLIC, other))) for other in others]
    files.append(steps_file.encode(replace(bound, values=(2,))))
    assert len(files) >= 6
    assert [n for n, data in enumerate(files) if not _noticed(data)] == []


def test_another_source_is_told_apart(made: pl.Instance) -> None:
    assert pl.prove(made, SOURCE)
    nest = SOURCE.nest
    assert nest is not None
    proof = equivalence.prove(made.data, None, replace(SOURCE, nest=replace(nest, body=nest.body * 2)), {"N": 3})
    assert [d.code for d in proof.diagnostics] == ["PL0652", "PL0652"]
