# SPDX-License-Identifier: Apache-2.0
"""Memory limit of this process: the least of the machine's, its control group's and its own address-space limit.

Whatever a file or a command declares is compared with it before anything of that size is allocated. The one place where
that is done is `require_memory`, so that an input which is merely large ends in a message, not in a killed process.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from polyloom.diagnostics import INPUT, Diagnostic, PolyloomError, Span

_GROUP: Final = Path("/sys/fs/cgroup/memory.max")


def require_memory(needed: int, what: str, help: str, *, code: str = "PL0605", span: Span | None = None) -> None:
    """Require memory: refuse what needs more bytes than there are; `what` begins the message. Errors: `code`."""
    if needed <= available_bytes():
        return
    message = f"{what} needs {size_text(needed)} of memory; there are {size_text(available_bytes())}"
    raise PolyloomError(Diagnostic(code, message, INPUT, span, help=help))


def size_text(count: int) -> str:
    """Size in bytes for people."""
    if count < 2**20:
        return f"{count} bytes"
    return f"{count / 2**30:.3g} GiB" if count < 2**70 else "far more than a machine can have"


def available_bytes() -> int:
    """Available bytes: without a known limit, the largest size of an object."""
    return min(_physical_memory(), _group_limit(), _address_space_limit())


def _physical_memory() -> int:
    # Systems without `sysconf`, or without these names of it.
    with suppress(AttributeError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return sys.maxsize


def _group_limit() -> int:
    """Limit of the control group: version 2 of Linux's control groups writes a number or `max` (Linux manual,
    cgroups(7))."""
    with suppress(OSError, ValueError):
        return int(_GROUP.read_text(encoding="ascii"))
    return sys.maxsize


def _address_space_limit() -> int:
    """Limit of the address space of this process (getrlimit(2), Linux manual)."""
    # The module exists on POSIX systems alone.
    with suppress(ImportError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        return sys.maxsize if limit == resource.RLIM_INFINITY else limit
    return sys.maxsize
