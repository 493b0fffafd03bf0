# SPDX-License-Identifier: Apache-2.0
"""The paper's algorithms on isl (cli/bench/isl) give the library's processor classes, kernels and branches, on every
row of its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl
import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom.cli.bench import instantiation, region_scaling
from polyloom.cli.bench.regions import EXTENTS, LARGE, TRIANGULAR, Region, instance
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.isa import Goto, Halt, If, Instruction, Next

Node = tuple[tuple[Instruction, ...], bool]
"""A kernel without its branch, and whether it halts."""
SLOW = ("conv", "syrk", "lu")
CASES = [
    (kernel, region)
    for kernel in (*EXTENTS, *TRIANGULAR)
    for region in instantiation.regions_of_kernel(kernel)
    if region != LARGE[-1]
]
QUICK = [(kernel, region) for kernel, region in CASES if kernel not in SLOW and region not in LARGE] + [
    ("syrk", (4, 4)),
]
"""Without the convolution, whose six dimensions take the peer as long as all of these together."""


def flow(program: Sequence[Instruction], interval: int) -> tuple[set[Node], set[tuple[Node, Node]]]:
    """Distinct kernels and branches of a program: nodes that were split for the number of branch targets are one."""
    blocks = [tuple(program[at : at + interval]) for at in range(0, len(program), interval)]
    nodes = [((*b[:-1], replace(b[-1], branch=Next())), isinstance(b[-1].branch, Halt)) for b in blocks]
    return set(nodes), {(nodes[n], nodes[t]) for n, b in enumerate(blocks) for t in targets(b[-1], n, interval)}


def targets(last: Instruction, block: int, interval: int) -> set[int]:
    match last.branch:
        case Halt():
            return set()
        case Next():
            return {block + 1}
        case Goto(target):
            return {target // interval}
        case If(_, places):
            return {place // interval for place in places}


def points(elements: isl.Set, shape: Region) -> NDArray[np.bool_]:
    """The elements of a set as a mask, by its constraints."""
    rows, columns = np.indices(shape)
    found = np.zeros(shape, dtype=np.bool_)
    for piece in elements.compute_divs().get_basic_sets():
        assert piece.dim(isl.dim_type.div) == 0
        inside = np.ones(shape, dtype=np.bool_)
        for c in piece.get_constraints():
            a, b = (number(c.get_coefficient_val(isl.dim_type.set, axis)) for axis in range(2))
            value = a * rows + b * columns + number(c.get_constant_val())
            inside &= (value == 0) if c.is_equality() else (value >= 0)
        found |= inside
    return found


def number(value: isl.Val) -> int:
    return int(value.to_python())


def agree(kernel: str, region: Region, *, perfect: bool) -> None:
    ours = concrete_file.decode(instance(kernel, region, perfect=perfect))
    element_class = np.array(ours.element_class)
    found = np.full(element_class.shape, -1)
    peer = instantiation.peer(kernel, region, perfect=perfect)
    assert len(peer.classes) == len(ours.classes)
    for elements, programs in peer.classes:
        mask = points(elements, (ours.rows, ours.columns))
        assert (found[mask] == -1).all(), "two classes have an element in common"
        (name,) = {int(c) for c in element_class[mask]}
        found[mask] = name
        for mine, theirs in zip(programs, ours.classes[name].programs, strict=True):
            assert flow(mine, ours.initiation_interval) == flow(theirs, ours.initiation_interval)
    assert (found == element_class).all()


@pytest.mark.parametrize(("number", "kernel", "region"), [(k, *case) for k, case in enumerate(QUICK)])
def test_classes_and_kernels(number: int, kernel: str, region: Region) -> None:
    """Perfect and imperfect tilings in turns."""
    agree(kernel, region, perfect=kernel in SLOW or number % 2 == 0)


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "region"), CASES)
def test_classes_and_kernels_of_all(kernel: str, region: Region) -> None:
    agree(kernel, region, perfect=True)
    agree(kernel, region, perfect=False)


def test_the_comparison_can_fail() -> None:
    instruction = Instruction(4)
    assert flow((instruction, Instruction(branch=Halt())), 1) != flow((instruction, Instruction(8, branch=Halt())), 1)
    assert flow((Instruction(), instruction, Instruction(branch=Halt())), 1) != flow(
        (Instruction(branch=Goto(2)), instruction, Instruction(branch=Halt())), 1
    )
    assert not points(isl.Set("{ [r, c] : r = c }"), (2, 2))[0, 1]


@pytest.mark.parametrize("kernel", ["bits", "fir", "matmul"])
def test_bytes_an_element(kernel: str) -> None:
    """A further one adds at most 24, and 16 per loop dimension for every access mapping that it takes part in."""
    for small, large in region_scaling.pairs(kernel):
        for perfect in (True, False):
            measured, limit = region_scaling.bytes_an_element(kernel, small, large, own=True, perfect=perfect)
            assert measured <= limit
