# SPDX-License-Identifier: Apache-2.0
"""Row store of a sweep: `spec.json`, what is explored, and `rows.sqlite`, what is known (docs/explore.md).

A row is committed before the next one is asked for, so that a sweep that ends at any moment, however it ends, goes on
where it was. One process at a time writes: it holds a lock (flock) that the kernel gives back when it ends.

A folder may be a stranger's. Nothing in it is followed that is no file of its own, and `rows.sqlite` is data: SQLite
runs views, triggers and expressions of a schema, and plays back a journal that names other files, so there is one
schema, word by word, and no journal (sqlite.org/security.html).
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import stat
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from polyloom import files, memory
from polyloom.diagnostics import PolyloomError, input_error

Spec = Mapping[str, Any]
SPEC: Final = "spec.json"
ROWS: Final = "rows.sqlite"
_LOCK: Final = "lock"
_LOG: Final = f"{ROWS}-wal"
_INDEX: Final = f"{ROWS}-shm"
_JOURNAL: Final = f"{ROWS}-journal"
_SCHEMA: Final = "CREATE TABLE rows (key TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID"
_CONTENT: Final = ("table", "rows", "rows", _SCHEMA)
"""The only row of the schema."""
_LONGEST: Final = 1 << 24
"""Bytes of a row."""
_COPIES: Final = 4
"""What is made of the rows takes several times their size."""


class Store:
    """The rows by key, in memory and, if there is a connection, on the disk first."""

    def __init__(self, known: Mapping[str, str] | None = None, connection: sqlite3.Connection | None = None) -> None:
        self._connection = connection
        self._rows = dict(known or {})

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
def open_store(folder: str | None, spec: Spec) -> Generator[Store]:
    """The rows of this sweep; without a folder there are none yet. Errors: PL0808, PL1405 to PL1407."""
    if folder is None:
        yield Store()
        return
    path = Path(folder)
    try:
        with _lock(path):
            _check_specification(path, spec)
            connection = _connect(path)
            try:
                yield Store(dict(_read_rows(connection, path)), connection)
            finally:
                connection.close()
    except sqlite3.Error as error:
        raise _unwritable_error(path, error) from None


def _unwritable_error(path: Path, error: sqlite3.Error) -> PolyloomError:
    if isinstance(error, sqlite3.OperationalError):
        help = "make room, and write the same command again: every row that was computed before is kept"
        return input_error("PL0808", f"cannot write '{path / ROWS}': {error}", help=help)
    return _damaged_error(path, f"{ROWS}: {error}")


@contextmanager
def _lock(path: Path) -> Generator[None]:
    """Errors: PL0808, PL1406, PL1407 for a folder that holds something else."""
    try:
        path.mkdir(exist_ok=True)
        _check_ownership(path)
        if not (path / SPEC).exists() and any(name.name not in (_LOCK, ROWS) for name in path.iterdir()):
            message = f"the folder '{path}' holds other files, and no sweep"
            raise input_error("PL1407", message, help="name a new folder, or that of a sweep")
        # Not through a link, and without waiting for what is no file: the folder may be a stranger's.
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except (OSError, ValueError) as error:
        raise files.unwritable_folder(path, error) from None
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


def _check_ownership(path: Path) -> None:
    """Ownership check: PL1407 for what is no file of the folder's own, such as a link, and for what no sweep leaves."""
    for name in (SPEC, ROWS, _LOCK, _LOG, _INDEX, _JOURNAL):
        try:
            mode = os.lstat(path / name).st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise _damaged_error(path, f"{name} is {'a link' if stat.S_ISLNK(mode) else 'no regular file'}")
        if name == _JOURNAL:
            raise _damaged_error(path, f"{name} may name other files, and no sweep leaves it")


def _check_specification(path: Path, spec: Spec) -> None:
    """Writes the specification where there is none. Errors: PL1405, PL1407."""
    text = json.dumps(spec, indent=2) + "\n"
    if not (path / SPEC).exists():
        files.write({str(path / SPEC): text.encode()})
        return
    try:
        known = json.loads(files.read(str(path / SPEC)))
    except ValueError as error:
        raise _damaged_error(path, f"{SPEC}: {error}") from None
    if not isinstance(known, dict):
        raise _damaged_error(path, f"{SPEC} holds no specification")
    # Through JSON on both sides: tuples are lists there.
    if differences := _differences(known, json.loads(text)):  # pyright: ignore[reportUnknownArgumentType]  # of JSON
        message = f"the folder '{path}' holds another sweep"
        help = "write the command that the folder was made by, or name another folder"
        raise input_error("PL1405", message, notes=tuple(differences), help=help)


def _differences(known: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    names = dict.fromkeys((*asked, *known))
    return [
        f"{name} was {_shown_value(known.get(name))}, and is {_shown_value(asked.get(name))} now"
        for name in names
        if known.get(name) != asked.get(name)
    ]


def _shown_value(value: Any) -> str:
    if value is None or value == []:
        return "not given"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown_value(each)}" for name, each in value.items())  # pyright: ignore[reportUnknownVariableType]
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType]


def _connect(path: Path) -> sqlite3.Connection:
    """Write-ahead log (sqlite.org/wal.html); each statement is a transaction. The log survives the end of the process
    without a wait for the disk; where the machine itself loses power the last rows may be missing, and are computed
    again. Errors: PL1407.
    """
    has_log, is_new = _has_log(path / ROWS), not (path / ROWS).exists()
    connection = sqlite3.connect(path / ROWS, isolation_level=None)
    try:
        _confine(connection)
        if not has_log:  # it gets one without a journal: who is killed leaves none
            connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        _check_schema(connection, path)
    except (sqlite3.Error, PolyloomError):
        connection.close()
        for name in (ROWS, _LOG, _INDEX) if is_new else ():  # no half of a file where there was no room for it
            (path / name).unlink(missing_ok=True)
        raise
    return connection


def _has_log(rows: Path) -> bool:
    """Whether a file is read and written with a write-ahead log (sqlite.org/fileformat.html, 1.3.3)."""
    if not rows.exists():
        return False
    with rows.open("rb") as file:
        return file.read(20)[18:] == b"\2\2"


def _confine(connection: sqlite3.Connection) -> None:
    """What the file says is data. The limits hold for the schema as well."""
    # Texts that are not UTF-8 would raise in the middle of a query; as bytes they are judged one by one.
    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}")


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Makes the table in a new file. Errors: PL1407 for another schema."""
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 2"
    found = connection.execute(schema).fetchall()
    if not found:
        connection.execute(_SCHEMA)
        found = connection.execute(schema).fetchall()
    encoding = connection.execute("PRAGMA encoding").fetchone()
    if found != [tuple(text.encode() for text in _CONTENT)] or encoding != (b"UTF-8",):
        raise _damaged_error(path, f"{ROWS} holds other things than the rows of a sweep")


def _read_rows(connection: sqlite3.Connection, path: Path) -> Iterator[tuple[str, str]]:
    """The rows. Their keys rise, and together they are no longer than the file: where pages of a damaged file are used
    twice, there is no end of rows. Errors: PL1407."""
    rest = sum(os.lstat(path / name).st_size for name in (ROWS, _LOG) if (path / name).exists())
    if rest > memory.available_bytes() // _COPIES:
        raise _damaged_error(path, f"{ROWS} is too large for the memory that there is")
    last: bytes | None = None
    for key, row in connection.execute("SELECT key, row FROM rows"):
        if not isinstance(key, bytes) or not isinstance(row, bytes):
            raise _damaged_error(path, f"{ROWS}: a row is no text")
        # Every row is somewhere in the file, so that all rows together cannot be longer than it.
        rest -= len(key) + len(row)
        if (last is not None and key <= last) or rest < 0:
            raise _damaged_error(path, f"{ROWS}: a row comes twice")
        last = key
        try:
            yield key.decode(), row.decode()
        except UnicodeDecodeError:
            raise _damaged_error(path, f"{ROWS}: a row is no text") from None


def _damaged_error(path: Path, what: str) -> PolyloomError:
    help = f"remove '{path}', and explore again"
    return input_error("PL1407", f"the sweep in '{path}' cannot be read: {what}", help=help)
