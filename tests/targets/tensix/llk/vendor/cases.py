# SPDX-License-Identifier: Apache-2.0
"""All cases of the table, a source at least once where it has a golden."""

from __future__ import annotations

from typing import Final

from tests.targets.tensix.llk.vendor.state_cases import STATE_CASES
from tests.targets.tensix.llk.vendor.tile_cases import TILE_CASES
from tests.targets.tensix.llk.vendor.vector_cases import VECTOR_CASES

CASES: Final = (*TILE_CASES, *VECTOR_CASES, *STATE_CASES)
