# SPDX-License-Identifier: Apache-2.0
"""What is refused, with which code, exit code and help; and the empty space."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.targets.tcpa.instantiate import samples
from tests.targets.tcpa.instantiate.naive import UNLIMITED, symbolic
from tests.targets.tcpa.instantiate.oracle import instantiate, predicted_cycles

from polyloom.codes import CODES
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.words.symbolic import Limits, Symbolic

BITS = symbolic(samples.BITS, rows=None, columns=0, order=(0,), interval=2)


def product(limits: Limits, order: tuple[int, int, int] = (2, 1, 0)) -> Symbolic:
    return symbolic(samples.MATMUL, rows=0, columns=1, order=order, interval=1, limits=limits)


def refused(
    mapped: Symbolic, values: dict[str, int], rows: int = 4, columns: int = 4, **options: tuple[int, ...]
) -> tuple[str, int, str]:
    with pytest.raises(PolyloomError) as caught:
        instantiate(mapped, values, rows, columns, **options)  # pyright: ignore[reportArgumentType]
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.help and diagnostic.code in CODES
    return diagnostic.code, diagnostic.exit_code, diagnostic.message


@pytest.mark.parametrize(
    ("values", "rows", "code", "exit_code"),
    [
        ({}, 1, "PL0230", 1),
        ({"N": 4, "M": 3}, 1, "PL0230", 1),
        ({"N": -1}, 1, "PL0230", 1),
        ({"N": 1 << 31}, 1, "PL0230", 1),
        ({"N": True}, 1, "PL0230", 1),
        ({"N": 2.5}, 1, "PL0230", 1),
        ({"N": 4}, 0, "PL0505", 2),
        ({"N": 4}, 1 << 16, "PL0505", 2),
    ],
)
def test_wrong_input(values: dict[str, int], rows: int, code: str, exit_code: int) -> None:
    assert refused(BITS, values, rows)[:2] == (code, exit_code)


def test_domain_region_and_sizes() -> None:
    some = replace(BITS, assumptions=((replace(BITS.assumptions[0][0], constant=-3),),))
    assert refused(some, {"N": 2}) == ("PL0230", 1, "N = 2 is outside the domain of `test`")
    assert refused(replace(BITS, limits=replace(BITS.limits, columns=4)), {"N": 9}, 1, 5)[0] == "PL0505"
    assert refused(BITS, {"N": 16}, 1, 3, sizes=(5,))[0] == "PL0506"
    assert instantiate(BITS, {"N": 16}, 1, 3, sizes=(7,)).extents == (7,)


@pytest.mark.parametrize(
    ("limits", "code", "message"),
    [
        (replace(UNLIMITED, fifo_depth=4), "PL0511", "tokens, the machine's FIFOs hold 4"),
        (replace(UNLIMITED, branch_flags=0), "PL0512", "successors, but a branch has 1 targets"),
        (replace(UNLIMITED, control_signals=2), "PL0513", "control signals are needed, the machine has 2"),
        (replace(UNLIMITED, signal_sets=1), "PL0514", "convex sets, the machine has 1"),
        (replace(UNLIMITED, counter_bits=2), "PL0515", "the machine has 2"),
        (replace(UNLIMITED, instruction_words=3), "PL0516", "instructions (4 kernel classes of 1), the machine has 3"),
        (replace(UNLIMITED, channels=1), "PL0517", "channels and banks per side, the machine has 1"),
        (replace(UNLIMITED, generator_dimensions=1), "PL0518", "needs 2 dimensions, the machine has 1"),
        (replace(UNLIMITED, delay_bits=2), "PL0519", "the machine has 2"),
        (replace(UNLIMITED, bank_words=9), "PL0520", "words, a bank of the machine has 9"),
    ],
)
def test_capacities(limits: Limits, code: str, message: str) -> None:
    found, exit_code, text = refused(product(limits), {"N": 12, "M": 12, "K": 12})
    assert (found, exit_code) == (code, 3)
    assert message in text


def test_half_spaces_need_a_controller_that_has_them() -> None:
    mapped = symbolic(
        samples.TRIANGLE, rows=0, columns=1, order=(0, 1), interval=1, limits=replace(UNLIMITED, half_spaces=False)
    )
    assert refused(mapped, {"N": 9})[0] == "PL0514"


def test_too_few_channels_name_the_largest_square_that_fits() -> None:
    with pytest.raises(PolyloomError, match="need 5 channels and banks per side, the machine has 4"):
        instantiate(product(replace(UNLIMITED, channels=4)), {"N": 64, "M": 64, "K": 2}, 16, 16)


def test_tiles_that_are_too_small_are_avoided() -> None:
    """A recurrence over one iteration needs larger tiles in time than in the region asked for."""
    mapped = symbolic(samples.BITS, rows=None, columns=0, order=(0,), interval=1)
    code, exit_code, message = refused(mapped, {"N": 8}, 1, 4)
    assert (code, exit_code) == ("PL0510", 3)
    assert "at distance (1,) comes 1 cycles too early" in message


@pytest.mark.parametrize("n", [0])
def test_an_empty_space_does_nothing(n: int) -> None:
    concrete = instantiate(BITS, {"N": n}, 2, 3)
    assert concrete.element_class == ((-1, -1, -1), (-1, -1, -1))
    assert concrete.arrays[1].shape == (0,)
    assert predicted_cycles(concrete) == 0


def test_the_same_input_gives_the_same_words() -> None:
    values = {"N": 11, "M": 7, "K": 5}
    assert instantiate(product(UNLIMITED), values, 3, 3) == instantiate(product(UNLIMITED), values, 3, 3)
