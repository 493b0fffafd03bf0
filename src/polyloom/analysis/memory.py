# SPDX-License-Identifier: Apache-2.0
"""The memory that this process may have: the least of the machine's, its control group's and its own address-space limit."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_GROUP: Final = Path("/sys/fs/cgroup/memory.max")


def available_bytes() -> int:
    """Without a known limit, the largest size of an object."""
    return min(_machine(), _group(), _process())


def _machine() -> int:
    with suppress(AttributeError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return sys.maxsize


def _group() -> int:
    """Version 2 of Linux's control groups writes a number or `max`."""
    with suppress(OSError, ValueError):
        return int(_GROUP.read_text(encoding="ascii"))
    return sys.maxsize


def _process() -> int:
    with suppress(ImportError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        return sys.maxsize if limit == resource.RLIM_INFINITY else limit
    return sys.maxsize
