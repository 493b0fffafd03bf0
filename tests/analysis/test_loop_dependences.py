# SPDX-License-Identifier: Apache-2.0
"""Dependences that loops carry, privatizable scalars and value ranges, against all instances of random nests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from tests.kernels.nests import kernel
from tests.transform.parallel.caches import turns

from polyloom import frontend
from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.analysis.loop_ranges import loop_ranges, trip_count
from polyloom.analysis.privatizable import enclosing_path, privatizable
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options
from polyloom.ir.instance_counts import count_instances
from polyloom.ir.nest import Assign, If, Loop, Nest, Node, accesses, loop_nodes, statements
from polyloom.transform.parallel.specialization import specialize

Values = dict[str, int]


def nest_of(tmp_path: Path, seed: int) -> Nest | None:
    path = tmp_path / "nest.py"
    path.write_text(kernel(seed), encoding="utf-8")
    try:
        nest, _ = frontend.python_nest(str(path), Options())
    except PolyloomError as error:
        assert error.code == "PL0242", "no iteration of a random nest may write an argument"
        return None
    return specialize(nest, dict.fromkeys(nest.parameters, Random(seed).randint(2, 5)))


def instances(nodes: Sequence[Node], values: Values) -> Iterator[tuple[Assign, Values]]:
    for node in nodes:
        match node:
            case Assign():
                yield node, values
            case If():
                yield from instances(node.body if node.condition.contains(values) else node.orelse, values)
            case Loop():
                for value in turns(node, values):
                    yield from instances(node.body, {**values, node.name: value})


def carries(nest: Nest, loop: Loop, private: frozenset[str]) -> bool:
    """By looking at every pair of accesses to one element."""
    outer = [node.name for node in enclosing_path(nest.body, loop) or () if isinstance(node, Loop)]
    touched: dict[object, list[tuple[int, bool]]] = {}
    for assign, values in instances(nest.body, {}):
        if loop.name in values:
            around = tuple(values[name] for name in outer)
            for reference, is_write in ((assign.target, True), *((r, False) for r in accesses(assign.value))):
                if reference.name not in private:
                    at = reference.name, around, tuple(index.evaluate(values) for index in reference.index)
                    touched.setdefault(at, []).append((values[loop.name], is_write))
    return any(a[0] != b[0] and (a[1] or b[1]) for found in touched.values() for a in found for b in found)


@pytest.mark.parametrize("seed", range(40))
def test_carried_dependences(seed: int, tmp_path: Path) -> None:
    nest = nest_of(tmp_path, seed)
    if nest is None:
        return
    dependences = LoopDependences(nest)
    for loop in loop_nodes(nest.body):
        path = (*(enclosing_path(nest.body, loop) or ()), loop)
        for private in (frozenset[str](), privatizable(nest, path)):
            assert (dependences.carried_dependence(loop.name, private) is not None) == carries(nest, loop, private)


def read_before(nest: Nest, loop: Loop, name: str) -> bool:
    """Whether some iteration of the loop reads what another one, or nobody in it, wrote; or what it leaves is read."""
    writer: tuple[object, ...] | None = None
    for assign, values in instances(nest.body, {}):
        here = tuple(values.items())[: list(values).index(loop.name) + 1] if loop.name in values else ()
        if any(read.name == name for read in accesses(assign.value)) and writer != here and (writer or here):
            return True
        if assign.target.name == name:
            writer = here
    return False


@pytest.mark.parametrize("seed", range(40))
def test_privatizable_scalars(seed: int, tmp_path: Path) -> None:
    """What is privatizable is no other iteration's; the converse does not hold, since bounds are not looked at."""
    nest = nest_of(tmp_path, seed)
    for loop in loop_nodes(nest.body) if nest is not None else ():
        assert nest is not None
        for name in privatizable(nest, (*(enclosing_path(nest.body, loop) or ()), loop)):
            assert not read_before(nest, loop, name)


@pytest.mark.parametrize("seed", range(40))
def test_ranges_and_counts(seed: int, tmp_path: Path) -> None:
    nest = nest_of(tmp_path, seed)
    if nest is None:
        return
    known, counts = loop_ranges(nest.body), dict[str, int]()
    for assign, values in instances(nest.body, {}):
        counts[assign.name] = counts.get(assign.name, 0) + 1
        assert all(known[name][0] <= value <= known[name][1] for name, value in values.items())
    for statement in statements(nest):
        assert count_instances(statement, {}) == counts.get(statement.assign.name, 0)
    for loop in loop_nodes(nest.body):
        if not enclosing_path(nest.body, loop):
            assert trip_count(loop, known) == len(turns(loop, {}))
