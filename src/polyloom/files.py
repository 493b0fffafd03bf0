# SPDX-License-Identifier: Apache-2.0
"""File access: files are read whole or refused with a reason; outputs checked before any work, written whole or not at
all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePath
from typing import Final

from polyloom import buffers, memory, temporary
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error

_COPIES: Final = 4
"""What is made of a file takes several times its size."""
_LISTED: Final = 2000
"""Names of a folder among which a near one is looked for."""
_NEAR: Final = 0.75
_PLACE: Final = "give a path in an existing directory that you may write to"
_ROOM: Final = "make room there, or give a path where there is room"


# Every instruction of a program asks it for the few files that its lines are of.
@lru_cache(maxsize=256)
def recorded_name(path: str) -> str:
    """Recorded source name, as another file calls a source: as it was typed where that is relative and without `..`,
    else its last part. So the bytes of a file do not depend on the folder that it was made in, and lead nowhere else.
    """
    return path if is_recorded_name(path) else next((p for p in reversed(_path_parts(path)) if p != ".."), "")


def is_recorded_name(name: str) -> bool:
    """Whether a name within a file is relative, and without `..`."""
    return not PurePath(name).is_absolute() and ".." not in _path_parts(name)


def stray_name_diagnostic(name: str) -> Diagnostic:
    """Diagnostic PL0707 for a name within a file that is not as `recorded_name` makes it."""
    message = f"the file names the source '{name}': such a name is relative, and without `..`"
    return Diagnostic("PL0707", message, help="create the file again with this version; do not trust one from others")


def _path_parts(path: str) -> tuple[str, ...]:
    """Parts of a path without its root."""
    pure = PurePath(path)
    return pure.relative_to(pure.anchor).parts


def read(path: str | os.PathLike[str]) -> bytes:
    """Contents of a file that the user names. Errors: PL0807."""
    if path == "":
        raise input_error(
            "PL0807", "the name of a file is empty", help="give the path of an existing file that you may read"
        )
    try:
        return read_regular(path)
    except (OSError, TypeError, ValueError) as error:  # ValueError: a path with a zero byte
        too_large = isinstance(error, OSError) and error.errno == errno.EFBIG
        help = (
            "give a smaller file"
            if too_large
            else _suggest_file(path, "give the path of an existing file that you may read")
        )
        raise input_error("PL0807", f"cannot read '{path}': {_reason(error)}", help=help) from None


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """Contents of a regular file. A pipe or a device, whose reading may have no end, is an OSError, and so is what is
    too large for the memory; a path with a zero byte is a ValueError."""
    # Asked before it is opened: opening a pipe without a writer would wait for ever.
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        raise OSError(errno.EINVAL, "it is not a regular file")
    with Path(path).open("rb") as file:
        # Of the open file: the name may stand for another one by now.
        if os.fstat(file.fileno()).st_size > memory.available_bytes() // _COPIES:
            raise OSError(errno.EFBIG, "it is too large for the memory that there is")
        return file.read()


def read_part(path: str, start: int, count: int) -> bytes:
    """Bytes of a file that the user names, from a place on; fewer where it ends before. Errors: PL0807."""
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise OSError(errno.EINVAL, "it is not a regular file")
        with Path(path).open("rb") as file:
            file.seek(start)
            return file.read(count)
    except (OSError, ValueError, OverflowError) as error:  # ValueError: a path with a zero byte
        help = _suggest_file(path, "give the path of an existing file that you may read")
        raise input_error("PL0807", f"cannot read '{path}': {_reason(error)}", help=help) from None


def read_source(path: str, kind: str) -> bytes:
    """Contents of a source, of a kind such as `Python`, or of its unsaved buffer. Errors: PL0104."""
    if (unsaved := buffers.unsaved_text(path)) is not None:
        return unsaved.encode("utf-8", "surrogateescape")
    try:
        return read_regular(path)
    except (OSError, ValueError) as error:
        message = f"cannot read {path or 'a file without a name'}: {_reason(error)}"
        # M is said "em".
        article = "an" if kind == "MLIR" else "a"
        raise input_error(
            "PL0104", message, help=_suggest_file(path, f"give the path of {article} {kind} file")
        ) from None


def _suggest_file(path: object, otherwise: str) -> str:
    """Help line for a file that cannot be read: one of the same folder and ending whose name is near."""
    wanted = Path(str(path))
    with contextlib.suppress(OSError, ValueError):  # ValueError: a path with a zero byte
        if not wanted.exists():
            with os.scandir(wanted.parent) as found:
                beside = [Path(entry.name) for entry in islice(found, _LISTED)]
            stems = [file.stem for file in beside if file.suffix == wanted.suffix]
            if close := get_close_matches(wanted.stem, stems, 1, _NEAR):
                return f"did you mean '{wanted.with_name(close[0] + wanted.suffix)}'?"
    return otherwise


def check_outputs(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Check outputs before any work: refuse one that cannot be written, that is an input, or that is given twice.
    Errors: PL0808, PL0809."""
    # By real paths: `a`, `./a` and a link to it are one file.
    sources = {_real_path(path): path for path in inputs}
    seen: set[str] = set()
    for path in outputs:
        real = _real_path(path)
        if real in sources:
            raise input_error(
                "PL0809", f"the output '{path}' is the input '{sources[real]}'", help="write to another file"
            )
        if real in seen:
            raise input_error("PL0809", f"the output '{path}' is given twice", help="write to another file")
        seen.add(real)
        if (reason := _refusal(path)) is not None:
            raise _unwritable(path, reason)


def write(files: Mapping[str, bytes]) -> None:
    """Atomic write: every file through a temporary neighbour that then takes its name (rename, POSIX 2008), and the
    mode of what it overwrites; a link is followed, and stays. Errors: PL0808."""
    for path, data in files.items():
        try:
            if (reason := _refusal(path)) is not None:
                raise _unwritable(path, reason)
            _replace_file(_follow_link(path), data)
        except (OSError, ValueError) as error:
            is_full = isinstance(error, OSError) and error.errno in temporary.FULL
            raise _unwritable(path, _reason(error), _ROOM if is_full else _PLACE) from None


def make_folder(path: str) -> None:
    """Make a folder, if there is none of that name. Errors: PL0808."""
    try:
        Path(path).mkdir(exist_ok=True)
    except (OSError, ValueError) as error:
        raise unwritable_folder(path, error) from None


def unwritable_folder(path: str | os.PathLike[str], error: Exception) -> PolyloomError:
    """PL0808 for a folder in which nothing can be written."""
    return _unwritable(os.fspath(path), _reason(error), "name a folder that you may write to")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _real_path(path: str) -> str:
    """Real path; one with a zero byte, which names nothing, stays as it is until it is read or written."""
    return path if "\0" in path else os.path.realpath(path)


def _follow_link(path: str) -> Path:
    """Target of a link, and any other path as it is."""
    return Path(os.path.realpath(path) if os.path.islink(path) else path)


def _replace_file(path: Path, data: bytes) -> None:
    """Replace a file. It is on the disk before the name changes, so that a crash leaves the old file or the new one."""
    before = path.stat() if path.exists() else None
    with temporary.temporary_file(path.parent, 0o666 if before is None else before.st_mode & 0o777) as (handle, new):
        # Before the content is written: nobody reads it who could not read the old file.
        if before is not None:
            _keep_owner(handle, before)
        with open(handle, "wb", closefd=False) as file:
            file.write(data)
        # Before the name changes: a file system may write names first, and a crash would leave an empty file.
        os.fsync(handle)
        os.replace(new, path)
    _sync_folder(path.parent)


def _keep_owner(handle: int, before: os.stat_result) -> None:
    """Keep owner, group and mode of the file that is overwritten; another owner's or group's file is not run with the
    rights of ours."""
    # Without set-user-ID and set-group-ID: they would be those of this user.
    bits = 0o7777
    try:
        os.fchown(handle, before.st_uid, before.st_gid)
    except OSError:
        bits = 0o777
    os.fchmod(handle, before.st_mode & bits)


def _sync_folder(folder: Path) -> None:
    """Flush a folder's names to the disk. Not every file system can; the data are on the disk already."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with contextlib.suppress(OSError):
            os.fsync(handle)
        os.close(handle)


def _refusal(path: str) -> str | None:
    """Reason why an output cannot be written there; None where it can."""
    if not path:
        return "the name is empty"
    try:
        return _obstacle(_follow_link(path))
    except OSError as error:  # of a name that is too long
        return _reason(error)


def _obstacle(path: Path) -> str | None:
    """Obstacle to writing a file there, in words; None without one."""
    if path.is_dir():
        return "it is a directory"
    if not path.parent.is_dir():
        return f"there is no directory '{path.parent}'"
    if path.exists() and not path.is_file():
        return "it is not a regular file"
    if path.exists() and not os.access(path, os.W_OK):
        return "it is write-protected"
    return None if os.access(path.parent, os.W_OK | os.X_OK) else f"the directory '{path.parent}' is write-protected"


def _unwritable(path: str, reason: str, help: str = _PLACE) -> PolyloomError:
    return input_error("PL0808", f"cannot write '{path}': {reason}", help=help)
