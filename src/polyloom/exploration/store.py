# SPDX-License-Identifier: Apache-2.0
"""The folder of a sweep: `spec.json`, what is explored, and `rows.sqlite`, what is known.

A row is committed before the next one is asked for, so that a sweep that ends at any moment, however it ends, goes on
where it was. One process at a time writes: it holds a lock (flock) that the kernel gives back when it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from polyloom import files
from polyloom.diagnostics import PolyloomError, input_error

Spec = Mapping[str, Any]
SPEC: Final = "spec.json"
ROWS: Final = "rows.sqlite"
_LOCK: Final = "lock"
_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID"


class Store:
    """The rows by key, in memory and, if there is a folder, on the disk first."""

    def __init__(self, rows: sqlite3.Connection | None = None) -> None:
        self._connection = rows
        self._rows: dict[str, str] = {}
        if rows is not None:
            self._rows = dict(rows.execute("SELECT key, row FROM rows"))

    def get(self, key: str) -> str | None:
        return self._rows.get(key)

    def put(self, key: str, row: str) -> None:
        """Once for each key. Errors: PL0808 where there is no room."""
        if self._connection is not None:
            self._connection.execute("INSERT INTO rows VALUES (?, ?)", (key, row))
        self._rows[key] = row

    def __len__(self) -> int:
        return len(self._rows)


@contextmanager
def opened(folder: str | None, spec: Spec) -> Generator[Store]:
    """The rows of this sweep; without a folder there are none yet. Errors: PL0808, PL1405 to PL1407."""
    if folder is None:
        yield Store()
        return
    path = Path(folder)
    try:
        with _locked(path):
            _check(path, spec)
            connection = _connect(path)
            try:
                yield Store(connection)
            finally:
                connection.close()
    except sqlite3.Error as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: sqlite3.Error) -> PolyloomError:
    if isinstance(error, sqlite3.OperationalError):
        help = "make room, and write the same command again: every row that was computed before is kept"
        return input_error("PL0808", f"cannot write '{path / ROWS}': {error}", help=help)
    return _damaged(path, f"{ROWS}: {error}")


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Errors: PL0808, PL1406, PL1407 for a folder that holds something else."""
    try:
        path.mkdir(exist_ok=True)
        if not (path / SPEC).exists() and any(name.name not in (_LOCK, ROWS) for name in path.iterdir()):
            message = f"the folder '{path}' holds other files, and no sweep"
            raise input_error("PL1407", message, help="name a new folder, or that of a sweep")
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        help = "name a folder that you may write to"
        raise input_error("PL0808", f"cannot write '{path}': {reason}", help=help) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        message = f"another process is writing to the sweep in '{path}'"
        raise input_error("PL1406", message, help="wait until it ends, or name another folder") from None
    try:
        yield
    finally:
        os.close(handle)


def _check(path: Path, spec: Spec) -> None:
    """Writes the specification where there is none. Errors: PL1405, PL1407."""
    text = json.dumps(spec, indent=2) + "\n"
    if not (path / SPEC).exists():
        files.write({str(path / SPEC): text.encode()})
        return
    try:
        known = json.loads(files.read(str(path / SPEC)))
    except ValueError as error:
        raise _damaged(path, f"{SPEC}: {error}") from None
    if not isinstance(known, dict):
        raise _damaged(path, f"{SPEC} holds no specification")
    if differences := _differences(known, json.loads(text)):  # pyright: ignore[reportUnknownArgumentType]  # of JSON
        message = f"the folder '{path}' holds another sweep"
        help = "write the command that the folder was made by, or name another folder"
        raise input_error("PL1405", message, notes=tuple(differences), help=help)


def _differences(known: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    names = dict.fromkeys((*asked, *known))
    return [
        f"{name} was {_shown(known.get(name))}, and is {_shown(asked.get(name))} now"
        for name in names
        if known.get(name) != asked.get(name)
    ]


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "not given"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown(each)}" for name, each in value.items())  # pyright: ignore[reportUnknownVariableType]
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType]


def _connect(path: Path) -> sqlite3.Connection:
    """Each statement is a transaction. A write-ahead log survives the end of the process without a wait for the disk;
    where the machine itself loses power the last rows may be missing, and are computed again."""
    connection = sqlite3.connect(path / ROWS, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _damaged(path: Path, what: str) -> PolyloomError:
    help = f"remove '{path}', and explore again"
    return input_error("PL1407", f"the sweep in '{path}' cannot be read: {what}", help=help)
