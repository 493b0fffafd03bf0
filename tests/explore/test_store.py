# SPDX-License-Identifier: Apache-2.0
"""The folder of a sweep: one writer, no half rows, and a message for whatever else is there."""

from __future__ import annotations

import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.exploration import store
from polyloom.exploration.store import Spec

SPEC: Spec = {"source": "fir.pla", "sweep": ["N=16,64"], "where": None}


def filled(folder: Path, **rows: str) -> None:
    with store.opened(str(folder), SPEC) as kept:
        for key, row in rows.items():
            kept.put(key, row)


def code_of(folder: Path, spec: Spec = SPEC) -> tuple[str, str]:
    with pytest.raises(PolyloomError) as error, store.opened(str(folder), spec):
        pass
    return error.value.code, error.value.diagnostics[0].message


def test_rows_are_kept(tmp_path: Path) -> None:
    filled(tmp_path / "s", a="1", b="2")
    filled(tmp_path / "s", c="3")
    with store.opened(str(tmp_path / "s"), SPEC) as kept:
        assert [kept.get(key) for key in "abcd"] == ["1", "2", "3", None]


def test_a_row_comes_once(tmp_path: Path) -> None:
    filled(tmp_path / "s", a="1")
    with pytest.raises(PolyloomError):
        filled(tmp_path / "s", a="2")
    with store.opened(str(tmp_path / "s"), SPEC) as kept:
        assert kept.get("a") == "1"


def test_two_writers(tmp_path: Path) -> None:
    with store.opened(str(tmp_path), SPEC):
        assert code_of(tmp_path) == ("PL1406", f"another process is writing to the sweep in '{tmp_path}'")
    filled(tmp_path, a="1")


def test_another_process_is_a_writer_until_it_ends(tmp_path: Path) -> None:
    text = (
        "import sys, time\nfrom polyloom.exploration import store\n"
        f"with store.opened({str(tmp_path)!r}, {SPEC!r}):\n    print(flush=True)\n    time.sleep(600)"
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
        store.opened(str(tmp_path / "s"), {**SPEC, "sweep": ["N=16"], "seed": 3}),
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


def test_a_full_disk_keeps_what_was_written(tmp_path: Path) -> None:
    text = f"""
import resource
from polyloom.diagnostics import PolyloomError
from polyloom.exploration import store
try:
    with store.opened({str(tmp_path / "s")!r}, {SPEC!r}) as kept:
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
    with store.opened(str(tmp_path / "s"), SPEC) as kept:
        assert [kept.get(f"key {n}") for n in numbers] == ["x" * 100] * len(numbers)
        kept.put("one more", "y")
    with sqlite3.connect(tmp_path / "s" / "rows.sqlite") as rows:
        assert rows.execute("SELECT count(*) FROM rows").fetchone() == (len(numbers) + 1,)
    rows.close()
