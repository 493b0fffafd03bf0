# SPDX-License-Identifier: Apache-2.0
"""Which paths a command may open: those that its words name, temporary files beside outputs and in `TMPDIR`, and what
the interpreter and its libraries read of their installation.

SECURITY.md promises this for files that are data; `audit.py` checks it in the process, `tracing.py` from outside.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polyloom
from polyloom import _native
from polyloom.exploration import store
from polyloom.frontend import is_array_file

_OUTPUTS: Final = ("-o", "--report", "--trace", "--out")
_SWEEP: Final = (store.SPEC, store.ROWS, "lock", f"{store.ROWS}-wal", f"{store.ROWS}-shm")
_TEMPORARY: Final = re.compile(r"\.polyloom-[0-9a-f]+\.new")
_MACHINE: Final = (
    *("/proc/self/", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/sys/vm/", "/proc/filesystems"),
    *("/sys/fs/cgroup", "/sys/devices/system/", "/dev/null", "/dev/urandom", "/dev/tty"),
    *(
        "/etc/ld.so.",
        "/etc/localtime",
        "/etc/locale.alias",
        "/usr/lib",
        "/lib",
        "/usr/share/zoneinfo",
        "/usr/share/locale",
    ),
    *("/usr/local/lib", "/usr/lib64", "/lib64"),
)
"""What libraries and interpreters look at."""


def _installed() -> tuple[str, ...]:
    """Python, its packages, and this one with its native modules, wherever an editable installation builds them."""
    own = [
        str(Path(polyloom.__file__).parents[1]),
        str(Path(polyloom.__file__).parent),
        *polyloom.__path__,
        *_native.__path__,
    ]
    # Compiled modules of a process whose Python writes none beside the sources (tests/conftest.py).
    compiled = filter(None, [os.environ.get("PYTHONPYCACHEPREFIX")])
    known = (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *own, *compiled)
    return tuple(sorted({os.path.realpath(path) + "/" for path in known} | {f"{path}/" for path in known}))


INSTALLED: Final = _installed()
CHILD: Final = str(Path(polyloom.__file__).parent / "frontend" / "onnx" / "child.py")
"""The one program that is started: for models alone."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Real paths; `folder` is the current one, in which inputs and outputs are."""

    folder: str
    temporary: str
    reads: frozenset[str]
    writes: frozenset[str]
    starts_child: bool = False
    """Whether a process may be started: the one that infers shapes of a model."""

    def may_read(self, path: str) -> bool:
        return path in self.reads or self.may_write(path) or f"{path}/".startswith((*_MACHINE, *INSTALLED))

    def may_write(self, path: str) -> bool:
        if path in self.writes or path == "/dev/null" or f"{path}/".startswith(f"{self.temporary}/"):
            return True
        beside = os.path.dirname(path) in {os.path.dirname(known) for known in self.writes}
        return beside and _TEMPORARY.fullmatch(os.path.basename(path)) is not None


def of_command(words: Sequence[str], folder: str, temporary: str) -> Allowed:
    """What a word names is read, what stands behind an option of an output is written. Folders are listed: that of an
    output, and a sweep's own."""
    reads, writes = set[str](), set[str]()
    for n, word in enumerate(words):
        option = words[n - 1] if n else ""
        part = word.rpartition("=")[2] if option == "--out" else word
        if option in _OUTPUTS:
            writes.add(_real(folder, part))
        elif option == "--resume":
            inside = _real(folder, word)
            writes |= {inside, *(os.path.join(inside, name) for name in _SWEEP)}
        else:
            reads |= {_real(folder, each) for each in (word, *re.split("[=:@,]", word)) if _is_there(folder, each)}
    reads |= {os.path.dirname(path) for path in writes}
    starts_child = any(map(is_array_file, words))
    return Allowed(folder, temporary, frozenset(reads), frozenset(writes), starts_child)


def _is_there(folder: str, name: str) -> bool:
    return bool(name) and name not in (".", "..") and os.path.lexists(os.path.join(folder, name))


def _real(folder: str, path: str) -> str:
    return os.path.realpath(os.path.join(folder, path))
