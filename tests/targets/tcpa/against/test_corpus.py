# SPDX-License-Identifier: Apache-2.0
"""Every loop of the corpus that runs, and every kernel, is proved: the compiler makes nothing for which the list of
equalities in docs/against.md is too short."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.corpus.corpus import EQUAL, FOLDER, Loop, loops
from tests.kernels.sizes import PRIMES

import polyloom as pl
from polyloom.frontend.source import Options

KERNELS = Path(__file__).parents[4] / "examples" / "kernels"


@pytest.mark.long
@pytest.mark.parametrize("loop", [loop for loop in loops() if loop.expected == EQUAL], ids=str)
def test_a_loop_of_the_corpus(loop: Loop) -> None:
    compiled = pl.compile(FOLDER / loop.source, on="tcpa:wide", options=Options(loop.name, shapes=loop.shapes))
    pairs = dict(pair.split("=") for pair in loop.values.split())
    sizes = {name: int(pairs[name]) for name in compiled.parameters}
    assert pl.prove(compiled.instantiate(sizes, pes=(2, 2)), compiled.source)


@pytest.mark.long
@pytest.mark.parametrize("ending", ["py", "c"])
@pytest.mark.parametrize("name", PRIMES)
def test_a_kernel(name: str, ending: str) -> None:
    compiled = pl.compile(KERNELS / f"{name}.{ending}", on="tcpa:wide")
    sizes = {n: PRIMES[name][n.upper()] for n in compiled.parameters}
    assert pl.prove(compiled.instantiate(sizes, pes=(2, 2)), compiled.source)
