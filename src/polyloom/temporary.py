# SPDX-License-Identifier: Apache-2.0
"""Temporary files and folders that do not outlive a run, not even one that is killed: the next run removes what it has
left.

Each is locked (flock(2), Linux manual) as long as the process lives that has made it. The kernel gives the lock back
however the process ends, so a lock that can be taken belongs to a dead one; unlike the number of a process, a lock is
not reused, and file systems in a network know it on all their hosts. Where one has no locks nothing is removed. Who has
taken the lock looks once more whether the name still stands for what is locked: between making and locking, another run
may take a new file for one that is left, and remove it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator
from functools import cache, partial
from pathlib import Path
from secrets import token_hex
from typing import Final, Literal

from polyloom.diagnostics import PolyloomError, input_error

_FILE: Final = re.compile(r"\.polyloom-[0-9a-f]{16}\.new")
_FOLDER: Final = re.compile(r"polyloom-run-[0-9a-f]{16}")
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What says that there is no room."""
# Never through a link, and never waiting: a pipe of such a name would block the open.
_EXISTING: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@contextlib.contextmanager
def temporary_file(parent: Path, mode: int) -> Generator[tuple[int, Path]]:
    """New file in the folder `parent`, open for writing, with `mode` less the umask; removed at the end unless it was
    renamed.

    Removes what dead processes have left there. Its name has a fixed length, because those of files are bounded.
    """
    # In the folder of the output: a rename is atomic within one file system only.
    _sweep(parent, _FILE, os.O_RDWR, os.unlink)
    handle, path = _create_locked(partial(_new_file, parent, mode))
    try:
        yield handle, path
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(handle)


def _new_file(parent: Path, mode: int) -> tuple[int, Path]:
    path = parent / f".polyloom-{token_hex(8)}.new"
    # A random name and O_EXCL: no file or link that somebody has put there is ever opened.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode), path


@contextlib.contextmanager
def temporary_folder() -> Generator[Path]:
    """New folder that is this user's alone, for as long as the context lasts. The first one of a process removes those
    of dead processes.

    Errors: PL0808 where there is no room for it or for what is written into it.
    """
    try:
        parent = tempfile.gettempdir()
        _sweep_folders(parent)
        handle, path = _create_locked(partial(_new_folder, parent))
    except OSError as error:
        raise _space_error(error) from None
    try:
        yield path
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise _space_error(error) from None
    finally:
        # Before the lock is given back: until then no other run touches it.
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _new_folder(parent: str) -> tuple[int, Path] | None:
    """New folder with an open handle; None where another run removed it in between."""
    path = Path(parent, f"polyloom-run-{token_hex(8)}")
    path.mkdir(mode=0o700)
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | _EXISTING), path
    except FileNotFoundError:  # another run took it for left
        return None


def _space_error(error: OSError) -> PolyloomError:
    help = "make room, or set TMPDIR to a folder that you may write to"
    return input_error("PL0808", f"cannot write a temporary file: {error.strerror}", help=help)


def _create_locked(make: Callable[[], tuple[int, Path] | None]) -> tuple[int, Path]:
    """Locked file or folder that `make` makes; made again as often as another run takes it for left in between."""
    while True:
        if (made := make()) is None:
            continue
        # A file system without locks is no reason to fail: there nothing is ever removed.
        if _try_lock(made[0]) != "of another" and _is_same_file(*made):
            return made
        os.close(made[0])


@cache
def _sweep_folders(parent: str) -> None:
    """Sweep the folder of temporary files once for each process: it may hold thousands, of all users."""
    _sweep(Path(parent), _FOLDER, os.O_RDONLY | os.O_DIRECTORY, lambda path: shutil.rmtree(path, ignore_errors=True))


def _sweep(parent: Path, names: re.Pattern[str], flags: int, remove: Callable[[Path], None]) -> None:
    """Remove what dead processes of this user have left in a folder."""
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(parent)):
            if names.fullmatch(name):
                _remove_if_left(parent / name, flags, remove)


def _remove_if_left(path: Path, flags: int, remove: Callable[[Path], None]) -> None:
    """Remove a file or folder of this user's whose lock is free: its process is dead."""
    try:
        handle = os.open(path, flags | _EXISTING)
    except OSError:
        return
    with contextlib.suppress(OSError):
        # Of this user alone: the folder may be everybody's.
        if os.fstat(handle).st_uid == os.geteuid() and _try_lock(handle) == "ours" and _is_same_file(handle, path):
            remove(path)
    os.close(handle)


def _try_lock(handle: int) -> Literal["ours", "of another", "unknown"]:
    """Owner of the lock, ours if it was free; unknown where the file system has none."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "of another"
    except OSError:
        return "unknown"
    return "ours"


def _is_same_file(handle: int, path: Path) -> bool:
    """Whether the name stands for what is open."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
