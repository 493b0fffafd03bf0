# SPDX-License-Identifier: Apache-2.0
"""Integers of 64 bits as pairs of 32 (Warren, Hacker's Delight, 2nd edition, sections 2-16, 2-17 and 8-2): what C calls
`long long` where it is data, on machines whose elements have 32 bits.

Counters, sizes and subscripts of 64 bits are not data, and stay what they are.
"""

from __future__ import annotations

from polyloom.frontend.c.wide.statements import as_pairs

__all__ = ["as_pairs"]
