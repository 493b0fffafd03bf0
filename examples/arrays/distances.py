# SPDX-License-Identifier: Apache-2.0
"""A kernel whose types follow from the arrays of its first call."""

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl


@pl.kernel
def distances(points: Any, centre: Any) -> Any:
    d = points - centre
    return np.sqrt((d * d).sum(axis=1))
