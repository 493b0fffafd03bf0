# SPDX-License-Identifier: Apache-2.0
"""Time of SSA construction, in seconds, of generated functions (Cytron et al. 1991): flow graphs of several families,
200 variables in memory, three instructions per block.

Besides `graphs.cfg`, structured programs with some jumps to anywhere, graphs are copies of ten blocks, one after the
other: diamonds (`ladder`), loops around loops (`nest`), loops with two entries (`irreducible`). Every variable is used
everywhere, so that up to fifty parameters per block are needed. CPU time of `transform.ssa.construct` alone, the median
of three; the verifier checks the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from statistics import median
from time import thread_time
from typing import Final

import numpy as np

from polyloom.cli.bench.graphs import Edges, cfg
from polyloom.ir.ssa import (
    Access,
    Block,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Return,
    Switch,
    Terminator,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import I32, I64, PTR
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.construct import construct

SIZES: Final = (10**3, 10**4, 10**5)
VARIABLES: Final = 200
_WORD: Final = Access(4)


_COPY: Final = 10
"""Blocks of a copy, of which the last leads to the first of the next."""
_LADDER: Final = ((0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6), (6, 7), (6, 8), (7, 9), (8, 9))
_NEST: Final = (*((k, k + 1) for k in range(9)), (5, 4), (6, 3), (7, 2), (8, 1))
_IRREDUCIBLE: Final = (
    (0, 1),
    (0, 2),
    (1, 2),
    (2, 1),
    (2, 3),
    (3, 4),
    (3, 6),
    (4, 5),
    (5, 6),
    (6, 7),
    (7, 4),
    (6, 8),
    (8, 9),
    (8, 3),
)


def _copies(edges: tuple[tuple[int, int], ...]) -> Callable[[int], Edges]:
    """The graph on n nodes of copies one after the other; a last one that does not fit is a chain."""

    def family(n: int) -> Edges:
        whole = n // _COPY
        first = np.arange(whole).reshape(-1, 1, 1) * _COPY
        links = np.stack([np.arange(1, whole) * _COPY - 1, np.arange(1, whole) * _COPY], axis=1)
        rest = np.stack([np.arange(whole * _COPY, n) - 1, np.arange(whole * _COPY, n)], axis=1)
        return np.concatenate([(np.array(edges) + first).reshape(-1, 2), links, rest]).astype(np.int32)

    return family


FAMILIES: Final[dict[str, Callable[[int], Edges]]] = {
    "cfg": cfg,
    "ladder": _copies(_LADDER),
    "nest": _copies(_NEST),
    "irreducible": _copies(_IRREDUCIBLE),
}


def rows() -> Iterator[dict[str, object]]:
    yield from (measure(family, n) for family in FAMILIES for n in SIZES)


def measure(family: str, n: int, variables: int = VARIABLES) -> dict[str, object]:
    """One row: the function of a family's graph on n blocks, and how long construction takes."""
    function = generate(FAMILIES[family](n - 1), n - 1, variables)
    result = verify(construct(function))
    seconds = median(_seconds(function) for _ in range(3))
    return {
        "graph": family,
        "blocks": len(function.blocks),
        "instructions": sum(len(block.instructions) for block in function.blocks),
        "variables": variables,
        "parameters": sum(len(block.parameters) for block in result.blocks[1:]),
        "seconds": seconds,
    }


def generate(edges: Edges, n: int, variables: int) -> Function:
    """A function whose blocks, after an entry that sets all variables, each load one, compute, and store one."""
    random = Random(n)
    targets: list[list[int]] = [[] for _ in range(n)]
    pairs: list[tuple[int, int]] = edges.tolist()
    for source, target in pairs:
        targets[source].append(target)
    names = [f"v{k}" for k in range(variables)]
    parameter = Value("n", I32)
    setting = [Instruction("alloca", (integer_constant(I64, 4),), (Value(name, PTR),), access=_WORD) for name in names]
    setting += [Instruction("store", (parameter, Value(name, PTR)), access=_WORD) for name in names]
    entry = Block("entry", (parameter,), tuple(setting), Jump(Edge("b0")))
    return Function(
        "generated",
        I32,
        (entry, *(_block(k, targets[k], random.choice(names), random.choice(names)) for k in range(n))),
    )


def _block(k: int, targets: list[int], read: str, written: str) -> Block:
    value, new = Value(f"x{k}", I32), Value(f"y{k}", I32)
    instructions = (
        Instruction("load", (Value(read, PTR),), (value,), access=_WORD),
        Instruction("add", (value, integer_constant(I32, k)), (new,)),
        Instruction("store", (new, Value(written, PTR)), access=_WORD),
    )
    return Block(f"b{k}", (), instructions, _terminator(value, targets))


def _terminator(value: Operand, targets: list[int]) -> Terminator:
    edges = [Edge(f"b{target}") for target in targets]
    if not edges:
        return Return(value)
    return Switch(value, edges[0], tuple(enumerate(edges[1:]))) if len(edges) > 1 else Jump(edges[0])


def _seconds(function: Function) -> float:
    """Of construction alone: the result is freed after the clock is read."""
    start = thread_time()
    made = construct(function)
    seconds = thread_time() - start
    # Freeing a function of 10^5 blocks takes as long as a part of making it, and is not what is measured.
    del made
    return seconds
