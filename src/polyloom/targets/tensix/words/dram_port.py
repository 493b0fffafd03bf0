# SPDX-License-Identifier: Apache-2.0
"""DRAM port of a tile: how much passes between L1 and the memory behind the tile, and how late.

A NoC carries a flit of 32 bytes a cycle in each direction (ISA documentation, WormholeB0/NoC/README.md, "Performance").
A request and its response pass the torus of 10 by 12 routers once around, of 9 cycles each, and four links of about 5
cycles between NIUs and routers: 218 cycles for every pair of tiles that share no row and no column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MEMORY: Final = 1 << 30
"""Bytes of a channel (ISA documentation, WormholeB0/DRAMTile/README.md)."""
FLIT: Final = 32
_ROUTERS: Final = 10 + 12
_ROUTER_CYCLES: Final = 9
_LINK_CYCLES: Final = 5
_MEMORY_CYCLES: Final = 100
"""Access of the memory: no public page states it; this is the order of a row access of GDDR6."""


@dataclass(frozen=True, slots=True)
class DramPort:
    """Bytes of the memory; bytes a cycle for each NoC and direction; cycles from a request to its answer."""

    memory_bytes: int
    bytes_per_cycle: int = FLIT
    latency: int = _ROUTERS * _ROUTER_CYCLES + 4 * _LINK_CYCLES + _MEMORY_CYCLES
