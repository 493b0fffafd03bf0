# SPDX-License-Identifier: Apache-2.0
"""Sign extension, beside the integers of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyloom.twos_complement import sign_extend


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@given(value=st.integers(-(1 << 70), 1 << 70))
def test_low_bits_are_the_integer_of_their_width(value: int, bits: int) -> None:
    low = np.array(value % (1 << bits), f"u{bits // 8}")
    assert sign_extend(value, bits) == int(low.view(f"i{bits // 8}"))


def test_a_width_that_no_machine_has() -> None:
    assert [sign_extend(value, 3) for value in range(8)] == [0, 1, 2, 3, -4, -3, -2, -1]
