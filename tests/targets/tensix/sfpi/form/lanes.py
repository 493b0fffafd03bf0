# SPDX-License-Identifier: Apache-2.0
"""Small kernels and what they leave in Dst: rows as vectors of 32 lanes, in 32 bits."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.build import Builder
from polyloom.targets.tensix.source.oracle.interpret import State, interpret
from polyloom.targets.tensix.source.oracle.rounding import Words
from polyloom.targets.tensix.words.isa import Member

LANES = np.arange(32, dtype=np.uint32)
RAW = 4
"""A mode of loads and stores that keeps all 32 bits."""


def floats(*values: float) -> Words:
    """32 lanes, the values repeated."""
    return np.resize(np.array(values, np.float32), 32).view(np.uint32)


def ints(*values: int) -> Words:
    return np.resize(np.array(values, np.int64), 32).astype(np.uint32)


def kernel(body: Callable[[Builder], None], *parameters: str) -> Function:
    builder = Builder("kernel", tuple((name, I32) for name in parameters))
    body(builder)
    return builder.finish()


def started(*rows: Words, member: Member = "wormhole", format: str = "fp32") -> State:
    """Dst with the rows from address 0 on, two apart."""
    made = State(member, 1, format)
    for k, row in enumerate(rows):
        everywhere = np.ones(32, np.bool_)
        made.dst.store(RAW, 2 * k, row, everywhere, everywhere, everywhere)
    return made


def row(state: State, k: int) -> Words:
    return state.dst.load(RAW, 2 * k)[0][0]


def known(state: State, k: int) -> NDArray[np.bool_]:
    return state.dst.load(RAW, 2 * k)[1][0]


def ran(
    body: Callable[[Builder], None],
    *rows: Words,
    arguments: Sequence[int] = (),
    names: Sequence[str] = (),
    contract: bool = True,
    member: Member = "wormhole",
) -> State:
    return interpret(kernel(body, *names), arguments, started(*rows, member=member), contract=contract)
