# SPDX-License-Identifier: Apache-2.0
"""Where banks belong, found with sets of channels as bits, is what the rules say that are read channel by channel.
A look at each kind of line notices the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.targets.tcpa.model import naive_ports

from polyloom.cli.bench import regions
from polyloom.targets.tcpa.run.verify import bank_ports, generator_kinds
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete, Generator, bank_route, route_end
from polyloom.targets.tcpa.words.generator_table import decode_outline

CASES = (("matmul", (4, 4)), ("fir", (4, 4)), ("matmul", (5, 3)), ("conv", (3, 4)))
SOME_PAIRS = frozenset(
    ((a, m), (b, n)) for a, m, b, n in product(range(5), range(3), range(5), range(3)) if (a + m * b + n) % 3
)


@cache
def configuration(number: int) -> Concrete:
    kernel, region = CASES[number]
    return concrete_file.decode(regions.instance(kernel, region, perfect=False))


def other(g: Generator, random: Random) -> Generator:
    """Its bank elsewhere."""
    changes = {
        "channel": random.randrange(4),
        "side": random.choice(concrete_file.SIDES),
        "links": random.randrange(2),
        "position": random.randrange(3),
    }
    name = random.choice([*changes, "register"])
    return replace(g, **{name: changes.get(name, random.randrange(4))})


@given(st.integers(0, 2**32 - 1))
def test_misplaced_banks_are_those_of_the_rules(seed: int) -> None:
    random = Random(seed)
    concrete = configuration(random.randrange(len(CASES)))
    generators = list(concrete.generators)
    for _ in range(random.choice((0, 1, 2, 5))):
        at = random.randrange(len(generators))
        generators[at] = other(generators[at], random)
    if random.randrange(5) == 0:
        random.shuffle(generators)
    changed = replace(concrete, generators=tuple(generators))
    assert all(route_end(changed, g) == bank_route(changed, g)[-1] for g in generators)
    read = decode_outline(concrete_file.encode(changed))
    for adjacent in (None, SOME_PAIRS):
        assert generator_kinds.has_correct_banks(read, adjacent) == (
            not any(True for _ in bank_ports.misplaced_banks(changed, adjacent))
        )
        assert list(bank_ports.misplaced_banks(changed, adjacent)) == list(naive_ports.misplaced(changed, adjacent))
