# SPDX-License-Identifier: Apache-2.0
"""Build cache: programs that tests compile from C++, kept in `build/tests` by the digest of everything that they are
made of (content-addressed, as ccache(1) does). Whoever needs the same one at the same time waits for it.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_KEPT: Final = Path(__file__).parents[1] / "build" / "tests"


def kept_program(name: str, parts: Iterable[str | bytes], build: Callable[[Path], Path]) -> Path:
    """Program that `build` makes in an empty folder; `parts` are texts, flags and versions of tools that decide it. Of
    each `name` only the last one is kept.
    """
    digest = sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        # With lengths, so that no text can end in the beginning of the next one.
        digest.update(len(data).to_bytes(8, "little") + data)
    made = _KEPT / f"{name}-{digest.hexdigest()}"
    _KEPT.mkdir(parents=True, exist_ok=True)
    with (_KEPT / f"{name}.lock").open("w") as lock:
        # The other worker of pytest-xdist asks at the same time; two builds take as long as two of everything.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            for old in _KEPT.glob(f"{name}-*"):
                old.unlink()
            with TemporaryDirectory() as folder:
                shutil.copy(build(Path(folder)), partial := _KEPT / f"{name}.part")
            # A build that was interrupted leaves nothing under the name.
            partial.replace(made)
    return made
