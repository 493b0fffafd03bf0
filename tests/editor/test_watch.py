# SPDX-License-Identifier: Apache-2.0
"""`polyloom check --watch`: a change is answered, one that overtakes a check cancels it, and Ctrl-C ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from polyloom.cli.bench.editor import change_seconds, changed_texts
from polyloom.editor.check import Request
from polyloom.editor.watch import watch

GOOD = "parameter N\noutput y[N]: i32\nfor 0 <= i < N do\n  y[i] = add(1, 1)\n"
BAD = GOOD.replace("add", "ad")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "k.pla"
    path.write_text(GOOD)
    return path


def test_each_change_is_checked_again(file: Path) -> None:
    stages = watch(Request(str(file)))
    assert not next(stages).has_errors
    file.write_text(BAD)
    assert next(stages).diagnostics[0].code == "PL0211"
    # As editors save: a new file under the old name.
    other = file.with_name("new")
    other.write_text(GOOD)
    other.rename(file)
    assert not next(stages).has_errors
    file.unlink()
    assert next(stages).diagnostics[0].code == "PL0104"
    stages.close()


def test_a_header_is_a_change_as_well(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text('#include "n.h"\nvoid k(int x[N]) { for (int i = 0; i < N; i++) x[i] = 1; }\n')
    (tmp_path / "n.h").write_text("#define N 4\n")
    stages = watch(Request(str(tmp_path / "k.c")))
    assert not next(stages).has_errors
    (tmp_path / "n.h").write_text("#define M 4\n")
    assert next(stages).diagnostics[0].code == "PL0151"
    stages.close()


def test_a_change_cancels_what_is_solved(tmp_path: Path) -> None:
    """The first file would never be through: Python executes it."""
    path = tmp_path / "k.py"
    path.write_text("while True:\n    pass\n")
    stages = watch(Request(str(path)))
    _after(0.5, path, "x = 1\n")
    assert next(stages).diagnostics[0].code == "PL0132"
    stages.close()


def _after(seconds: float, path: Path, text: str) -> None:
    """Write a file from another process, later."""
    code = f"import time; time.sleep({seconds}); open({str(path)!r}, 'w').write({text!r})"
    subprocess.Popen([sys.executable, "-S", "-c", code])


def test_without_a_terminal_lines_of_json_come_at_once(file: Path) -> None:
    """Its standard input and output are no terminal; an interrupt ends it as it ends every command."""
    words = [sys.executable, "-m", "polyloom", "check", str(file), "--watch", "--json"]
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["diagnostics"] == []
    file.write_text(BAD)
    told = json.loads(process.stdout.readline())
    assert (told["file"], told["stage"], told["diagnostics"][0]["line"]) == (str(file), "language", 4)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_the_table_of_latencies_measures_changes(tmp_path: Path) -> None:
    """Figures are in `polyloom bench editor`; here, that each text is answered by what it says."""
    texts = changed_texts(GOOD, "add")
    found = [errors for _, errors in change_seconds("k.pla", texts, 3)]
    assert found == [1, 0, 1]
