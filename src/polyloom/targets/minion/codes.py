# SPDX-License-Identifier: Apache-2.0
"""Codes of the Minion target: machines, files and runs PL1300 to PL1329; of the compiler, of the notation and of
hazards in files of their own."""

from __future__ import annotations

from polyloom.targets.minion.codes_gemm import CODES as GEMM
from polyloom.targets.minion.codes_hazards import CODES as HAZARDS
from polyloom.targets.minion.codes_host import CODES as HOST
from polyloom.targets.minion.codes_loops import CODES as LOOPS
from polyloom.targets.minion.codes_packed import CODES as PACKED
from polyloom.targets.minion.codes_source import CODES as SOURCE

CODES: dict[str, tuple[str, str]] = {
    **HOST,
    **GEMM,
    **LOOPS,
    **PACKED,
    **HAZARDS,
    **SOURCE,
}
