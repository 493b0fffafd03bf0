# SPDX-License-Identifier: Apache-2.0
"""Watch of a file: it is checked again whenever it changes, or a file that it may include.

Times of modification are polled (stat, POSIX 2008), which works on every file system; editors that save by renaming a
new file are seen too, as the number of the file is compared.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from time import sleep
from typing import Final

from polyloom import frontend
from polyloom.editor.check import Request, Stage
from polyloom.editor.worker import Worker

_POLL: Final = 0.03
"""Seconds between two looks: a tenth of the time in which a change is to be answered."""
_INCLUDED: Final = (".py", ".c", ".h", ".hpp", ".cpp", ".inc")
_MOST: Final = 500
"""Files of a folder that are looked at."""
State = tuple[tuple[str, int, int, int], ...]


def watch(request: Request, poll: float = _POLL) -> Generator[Stage]:
    """Stages of the file as it is, then again after each change, for ever; a check that a change overtakes is given
    up."""
    worker = Worker()
    try:
        while True:
            seen = _file_states(request)
            yield from _changing_stages(worker.start(request), request, seen, poll)
            while _file_states(request) == seen:
                sleep(poll)
    finally:
        worker.cancel()


def _changing_stages(connection: Connection, request: Request, seen: State, poll: float) -> Iterator[Stage]:
    """Stages of one check, which end early where the file is no longer what was `seen`."""
    with connection:
        while True:
            if not connection.poll(poll):
                if _file_states(request) != seen:
                    return
                continue
            try:
                stage = connection.recv()
            except EOFError:
                return
            if stage is None:
                return
            yield stage


def _file_states(request: Request) -> State:
    """Path, number, time and size of the file and of what it may include; nothing of what is not there."""
    options = request.options
    file = Path(frontend.source_file(request.path))
    named = [file, *map(Path, (*options.companions, *options.data))]
    beside = [path for folder in (file.parent, *map(Path, options.includes)) for path in _included_files(folder)]
    found: list[tuple[str, int, int, int]] = []
    for path in dict.fromkeys((*named, *beside)):
        with suppress(OSError, ValueError):
            status = path.stat()
            found.append((os.fspath(path), status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)


def _included_files(folder: Path) -> list[Path]:
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        return sorted(Path(entry.path) for entry in islice(entries, _MOST) if entry.name.endswith(_INCLUDED))
    return []
