# SPDX-License-Identifier: Apache-2.0
"""Every operation that computes, native against `semantics`: all widths, scalars and vectors, None and NaR in any lane.

Both were written from docs/targets/belt.md, one on bits in C++, one on Python's numbers.
"""

from __future__ import annotations

from random import Random
from typing import Final

import pytest
from tests.targets.belt.run.operands import NAR, WIDTHS, lane, operate

from polyloom._native import belt
from polyloom.targets.belt.isa import OPS, ROWS, Op
from polyloom.targets.belt.words.semantics import Lanes, NaR, compute, is_computation

COMPUTED: Final = tuple(op.name for op in ROWS if is_computation(op.name))
_FLOATS: Final = (32, 64)
_MOST: Final = 128
_DRAWS: Final = 60


def widths_of(op: Op) -> list[tuple[int, int | None, int]]:
    """What operands, word and result may have in bits per lane."""
    if op.width == "2":
        return [(bits, None, 2 * bits) for bits in WIDTHS[:-1]]
    if op.name in ("stof", "utof"):
        return [(bits, to, to) for bits in WIDTHS for to in _FLOATS]
    if op.name in ("ftos", "ftou"):
        return [(bits, to, to) for bits in _FLOATS for to in WIDTHS]
    if op.name in ("widenf", "narrowf"):
        return [(32, 64, 64)] if op.name == "widenf" else [(64, 32, 32)]
    if op.name in ("widensv", "widenuv"):
        return [(bits, 2 * bits, 2 * bits) for bits in WIDTHS[:-1]]
    if op.name == "narrowv":
        return [(2 * bits, bits, bits) for bits in WIDTHS[:-1]]
    if op.name.startswith("widen"):
        return [(bits, to, to) for bits in WIDTHS for to in WIDTHS if bits <= to]
    if op.name.startswith("narrow"):
        return [(bits, to, to) for bits in WIDTHS for to in WIDTHS if bits >= to]
    floats = op.unit in ("fp", "div") and op.name.endswith("f")
    boolean = op.width == "b" or op.name in ("any", "all", "smearx", "smeari")
    return [(bits, None, 8 if boolean else bits) for bits in (_FLOATS if floats else WIDTHS)]


def drawn(random: Random, op: Op, bits: int, result: int) -> tuple[list[tuple[int, Lanes]], int]:
    """Operands, and the lanes that the word states."""
    most = _MOST * 8 // max(bits, result, 8) // (2 if op.name == "narrowv" else 1)
    count = 1 << random.randrange(most.bit_length())
    special = random.choice((0, 0, 0.1, 0.5))

    def vector(lanes: int, of: int = bits) -> tuple[int, Lanes]:
        return of, tuple(lane(random, of, special) for _ in range(lanes))

    if op.name in ("splat", "iota", "remaining"):
        return [vector(1)], count
    if op.name in ("shuffle", "extract", "inject"):
        return [vector(count), *([vector(1)] if op.name == "inject" else []), vector(1, random.choice(WIDTHS))], 1
    if op.name in ("widensv", "widenuv"):
        return [vector(max(2, min(count, most)))], 1
    if op.name == "narrowv":
        return [vector(count), vector(count)], 1
    operands = [vector(random.choice((1, count))) for _ in range(random.randint(*op.operands))]
    if op.latency == "shift":
        wide = random.choice([other for other in WIDTHS if other * count <= 8 * _MOST])
        operands[-1] = vector(random.choice((1, count)), wide)
    if op.name == "pick":
        operands[0] = vector(random.choice((1, count)), 8)
    return operands, 1


def plain(lanes: Lanes) -> Lanes:
    """Without the bundles of causes, which only the model knows."""
    return tuple(NaR(x.cause.partition(" in bundle")[0]) if isinstance(x, NaR) else x for x in lanes)


@pytest.mark.parametrize("name", COMPUTED)
def test_native_and_python_agree(name: str) -> None:
    random, op = Random(name), OPS[name]
    for bits, stated, result in widths_of(op):
        for _ in range(_DRAWS):
            operands, lanes = drawn(random, op, bits, result)
            expected = compute(name, bits, result, [of for _, of in operands], lanes)
            found = operate(name, operands, stated, lanes)
            assert [plain(of) for _, of in found] == [plain(of) for of in expected], (bits, stated, operands)


def test_results_have_widths() -> None:
    assert operate("addsw", [(8, (200,)), (8, (100,))]) == [(16, (44,))]
    assert operate("eql", [(64, (1, 2)), (64, (1, 3))]) == [(8, (1, 0))]
    assert operate("remaining", [(32, (3,))], lanes=4) == [(8, (0, 0, 0, 1)), (8, (1,))]
    assert operate("smearx", [(8, (0, 1, 0, 1))]) == [(8, (0, 0, 1, 1)), (8, (1,))]


def test_an_immediate_takes_the_width_of_the_others() -> None:
    for bits in WIDTHS:
        assert operate("add", [(bits, (1, 3))], immediate=-2) == [(bits, ((1 << bits) - 1, 1))]


def test_what_has_no_shape_takes_that_of_the_others() -> None:
    shapeless = (-1, 1, b"", [1], [0])
    found = belt.operate(0, -1, 0, [shapeless, (1, 2, bytes(4), [0, 0], [0, 0])], None, 0)
    assert [(width, lanes, states) for width, lanes, _, states, _ in found] == [(1, 2, [1, 1])]
    assert belt.operate(0, -1, 0, [shapeless, shapeless], None, 0) == [shapeless]


def test_recur_gives_the_initial_value_for_none() -> None:
    assert operate("recur", [(32, (None, 2)), (32, (7, 8))]) == [(32, (7, 2))]
    assert operate("recur", [(32, (NAR,)), (32, (7,))]) == [(32, (NAR,))]


def test_causes_are_told() -> None:
    for name, b, cause in (("divs", 0, "division by zero in bundle 7"), ("addsx", 127, "overflow in bundle 7")):
        ((_, (found,)),) = operate(name, [(8, (127,)), (8, (b,))])
        assert getattr(found, "cause", None) == cause


@pytest.mark.parametrize(
    ("name", "operands", "message"),
    [
        ("add", [(8, (1,)), (16, (1,))], "operands have different widths"),
        ("add", [(8, (1, 2)), (8, (1, 2, 3, 4))], "operands have different numbers of lanes"),
        ("addf", [(16, (1,)), (16, (1,))], "it does not take operands of this width"),
        ("mulsw", [(128, (1,)), (128, (1,))], "it does not take operands of this width"),
        ("extract", [(8, (1, 2)), (8, (1, 2))], "the number of a lane is a vector"),
    ],
)
def test_operands_that_do_not_suit_are_refused(name: str, operands: list[tuple[int, Lanes]], message: str) -> None:
    with pytest.raises(belt.BadOperands, match=message):
        operate(name, operands)
