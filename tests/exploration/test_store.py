# SPDX-License-Identifier: Apache-2.0
"""The folder of a sweep: one writer, no half rows, and a message for whatever else is there."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.exploration import store
from polyloom.exploration.row import decode
from polyloom.exploration.store import Spec

TABLE = "CREATE TABLE rows (key TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID"
SPEC: Spec = {"source": "fir.pla", "sweep": ["N=16,64"], "where": None}


def filled(folder: Path, **rows: str) -> None:
    with store.open_store(str(folder), SPEC) as kept:
        for key, row in rows.items():
            kept.put(key, row)


def code_of(folder: Path, spec: Spec = SPEC) -> tuple[str, str]:
    with pytest.raises(PolyloomError) as error, store.open_store(str(folder), spec):
        pass
    return error.value.code, error.value.diagnostics[0].message


def test_rows_are_kept(tmp_path: Path) -> None:
    filled(tmp_path / "s", a="1", b="2")
    filled(tmp_path / "s", c="3")
    with store.open_store(str(tmp_path / "s"), SPEC) as kept:
        assert [kept.get(key) for key in "abcd"] == ["1", "2", "3", None]


def test_a_row_comes_once(tmp_path: Path) -> None:
    filled(tmp_path / "s", a="1")
    with pytest.raises(PolyloomError):
        filled(tmp_path / "s", a="2")
    with store.open_store(str(tmp_path / "s"), SPEC) as kept:
        assert kept.get("a") == "1"


def test_two_writers(tmp_path: Path) -> None:
    with store.open_store(str(tmp_path), SPEC):
        assert code_of(tmp_path) == ("PL1406", f"another process is writing to the sweep in '{tmp_path}'")
    filled(tmp_path, a="1")


def test_another_process_is_a_writer_until_it_ends(tmp_path: Path) -> None:
    text = (
        "import sys, time\nfrom polyloom.exploration import store\n"
        f"with store.open_store({str(tmp_path)!r}, {SPEC!r}):\n    print(flush=True)\n    time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    assert code_of(tmp_path)[0] == "PL1406"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    filled(tmp_path, a="1")


def test_what_is_different_is_named(tmp_path: Path) -> None:
    filled(tmp_path / "s")
    with (
        pytest.raises(PolyloomError) as error,
        store.open_store(str(tmp_path / "s"), {**SPEC, "sweep": ["N=16"], "seed": 3}),
    ):
        pass
    (found,) = error.value.diagnostics
    assert found.code == "PL1405"
    assert found.notes == ("sweep was N=16,64, and is N=16 now", "seed was not given, and is 3 now")


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    assert code_of(tmp_path) == ("PL1407", f"the folder '{tmp_path}' holds other files, and no sweep")
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]
    assert code_of(tmp_path / "letters.txt")[0] == "PL0808"
    assert code_of(tmp_path / "no" / "where")[0] == "PL0808"


def test_damaged_folders(tmp_path: Path) -> None:
    filled(tmp_path / "s", a="1")
    (tmp_path / "s" / "rows.sqlite").write_bytes(b"no table" * 100)
    assert code_of(tmp_path / "s")[0] == "PL1407"
    (tmp_path / "s" / "spec.json").write_text("{")
    assert code_of(tmp_path / "s")[0] == "PL1407"
    (tmp_path / "s" / "spec.json").write_text("[]")
    assert code_of(tmp_path / "s")[0] == "PL1407"


HOSTILE = {
    "recursive-view": "CREATE VIEW rows(key, row) AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i, hex(zeroblob(1000)) FROM n",
    "view": "CREATE VIEW rows(key, row) AS SELECT 'a', '1'",
    "trigger": f"{TABLE}; CREATE TRIGGER t INSERT ON rows BEGIN SELECT randomblob(1000); END",
    "other-table": f"{TABLE}; CREATE TABLE more (x)",
    "index": f"{TABLE}; CREATE INDEX i ON rows (row)",
    "expression-index": f"{TABLE}; CREATE INDEX i ON rows (hex(row))",
    "check": "CREATE TABLE rows (key TEXT PRIMARY KEY, row TEXT NOT NULL CHECK (length(row) > 0)) WITHOUT ROWID",
    "generated": "CREATE TABLE rows (key TEXT PRIMARY KEY, r TEXT, row TEXT AS (hex(zeroblob(1 << 20)))) WITHOUT ROWID",
    "default": "CREATE TABLE rows (key TEXT PRIMARY KEY, row TEXT DEFAULT (randomblob(9))) WITHOUT ROWID",
    "virtual": "CREATE VIRTUAL TABLE rows USING fts5(key, row)",
    "spaces": "CREATE TABLE rows (key TEXT PRIMARY KEY,  row TEXT NOT NULL) WITHOUT ROWID",
    "with-rowid": "CREATE TABLE rows (key TEXT PRIMARY KEY, row TEXT NOT NULL)",
    "utf-16": f"PRAGMA encoding = 'UTF-16'; {TABLE}",
    "blob-key": f"{TABLE}; INSERT INTO rows VALUES (x'ff', 'a')",
    "blob-row": f"{TABLE}; INSERT INTO rows VALUES ('a', x'ff')",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_schema_is_one_word_by_word(name: str, tmp_path: Path) -> None:
    """SQLite would run whatever another one says, for as long and with as much memory as that takes."""
    filled(tmp_path / "s", a="1")
    (tmp_path / "s" / "rows.sqlite").unlink()
    made = sqlite3.connect(tmp_path / "s" / "rows.sqlite")
    made.executescript(HOSTILE[name])
    made.close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code, message = code_of(tmp_path / "s")
    assert code == "PL1407"
    assert "holds other things than the rows of a sweep" in message or "is no text" in message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (64 << 10)


@pytest.mark.parametrize("name", ["lock", "spec.json", "rows.sqlite", "rows.sqlite-wal", "rows.sqlite-shm"])
@pytest.mark.parametrize("is_there", [False, True])
def test_no_link_is_followed(name: str, is_there: bool, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    filled(tmp_path / "s", a="1")
    before = (tmp_path / "s" / "spec.json").read_bytes()
    if is_there:
        outside.write_bytes(before)
    (tmp_path / "s" / name).unlink(missing_ok=True)
    (tmp_path / "s" / name).symlink_to(outside)
    assert code_of(tmp_path / "s") == ("PL1407", f"the sweep in '{tmp_path / 's'}' cannot be read: {name} is a link")
    assert outside.exists() == is_there
    assert not is_there or outside.read_bytes() == before


@pytest.mark.parametrize("name", ["lock", "spec.json", "rows.sqlite"])
def test_no_pipe_is_waited_for(name: str, tmp_path: Path) -> None:
    filled(tmp_path / "s", a="1")
    (tmp_path / "s" / name).unlink()
    os.mkfifo(tmp_path / "s" / name)
    assert code_of(tmp_path / "s")[1].endswith(f"{name} is no regular file")


def test_a_journal_is_not_played_back(tmp_path: Path) -> None:
    """It can name a file that SQLite then reads, and deletes (sqlite.org/fileformat.html, 3)."""
    filled(tmp_path / "s", a="1")
    (tmp_path / "s" / "rows.sqlite-journal").write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(600))
    assert code_of(tmp_path / "s")[1].endswith("may name other files, and no sweep leaves it")


def test_a_sweep_leaves_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even while its file is made, so that it can be killed at any time."""
    seen = set[str]()

    def watched(connection: sqlite3.Connection) -> None:
        confine(connection)
        connection.set_progress_handler(lambda: seen.update(os.listdir(tmp_path / "s")), 1)

    confine = store._confine  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(store, "_confine", watched)
    filled(tmp_path / "s", a="1", b="2")
    assert seen == {"lock", "spec.json", "rows.sqlite", "rows.sqlite-wal", "rows.sqlite-shm"}


def test_pages_that_are_used_twice_have_an_end(tmp_path: Path) -> None:
    """An inner page whose children are all the same page: some levels of these have no end of rows."""
    filled(tmp_path / "s", **{f"{n:06}": "x" * 60 for n in range(2000)})
    file = tmp_path / "s" / "rows.sqlite"
    with sqlite3.connect(file) as made:
        made.execute("PRAGMA journal_mode = DELETE")
        (root,) = made.execute("SELECT rootpage FROM sqlite_master").fetchone()
    made.close()
    size = 4096
    data = bytearray(file.read_bytes())
    page = data[(root - 1) * size : root * size]
    assert page[0] == 2, "an inner page of an index"
    cells = [int.from_bytes(page[12 + 2 * n : 14 + 2 * n], "big") for n in range(int.from_bytes(page[3:5], "big"))]
    for cell in cells[1:]:
        page[cell : cell + 4] = page[cells[0] : cells[0] + 4]
    data[(root - 1) * size : root * size] = page
    file.write_bytes(data)
    assert code_of(tmp_path / "s")[1].endswith("rows.sqlite: a row comes twice")


@pytest.mark.parametrize(
    "row",
    [
        "[]",
        "{}",
        "1",
        "{",
        '{"level": "guess"}',
        '{"level": ["run"]}',
        '{"level": "run", "cycles": "7"}',
        '{"level": "run", "cycles": true}',
        '{"level": "run", "cycles": 1e9}',
        f'{{"level": "run", "cycles": {1 << 63}}}',
        f'{{"level": "run", "cycles": {"9" * 5000}}}',
        '{"level": "run", "facts": 3}',
        '{"level": "run", "facts": {"x": NaN}}',
        '{"level": "run", "facts": {"x": 1e999}}',
        '{"level": "run", "point": {}}',
        '{"level": "run", "other": 1}',
        '{"level": "run", "facts": ' + "[" * 100000 + "}",
    ],
    ids=range(17),
)
def test_a_row_is_checked(row: str) -> None:
    with pytest.raises(PolyloomError, match="PL1407"):
        decode({"on": "tcpa"}, row)


def test_a_full_disk_keeps_what_was_written(tmp_path: Path) -> None:
    text = f"""
import resource
from polyloom.diagnostics import PolyloomError
from polyloom.exploration import store
try:
    with store.open_store({str(tmp_path / "s")!r}, {SPEC!r}) as kept:
        resource.setrlimit(resource.RLIMIT_FSIZE, ({1 << 16}, {1 << 16}))
        for n in range(1 << 20):
            kept.put(f"key {{n}}", "x" * 100)
            print(n, flush=True)
except PolyloomError as error:
    print(error.code)
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    *numbers, code = ran.stdout.split()
    assert (code, len(numbers) > 5) == ("PL0808", True)
    with store.open_store(str(tmp_path / "s"), SPEC) as kept:
        assert [kept.get(f"key {n}") for n in numbers] == ["x" * 100] * len(numbers)
        kept.put("one more", "y")
    with sqlite3.connect(tmp_path / "s" / "rows.sqlite") as rows:
        assert rows.execute("SELECT count(*) FROM rows").fetchone() == (len(numbers) + 1,)
    rows.close()
