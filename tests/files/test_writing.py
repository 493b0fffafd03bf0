# SPDX-License-Identifier: Apache-2.0
"""Files are written whole or not at all, keep their mode, and a killed run leaves nothing that outlives the next
one."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyloom import files, temporary
from polyloom.diagnostics import PolyloomError

PAUSED = """
import os, sys
from polyloom import files
replace = os.replace
def paused(*names):
    print("ready", flush=True)
    sys.stdin.readline()
    replace(*names)
os.replace = paused
files.write({sys.argv[1]: b"of the other process"})
"""
IN_A_FOLDER = """
import sys
from polyloom import temporary
with temporary.temporary_folder() as folder:
    (folder / "inside").mkdir()
    (folder / "inside" / "file").write_text("text")
    print(folder, flush=True)
    sys.stdin.readline()
"""
LIMITED = """
import resource, sys
from polyloom import files, temporary
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    if sys.argv[1:]:
        files.write({sys.argv[1]: b"x" * 2000})
    with temporary.temporary_folder() as folder:
        (folder / "file").write_bytes(b"x" * 2000)
except Exception as error:
    print(error)
"""


class Process:
    """A Python program that says a line, and goes on when it is told to."""

    def __init__(self, program: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.line = self._process.stdout.readline().strip()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()

    def go_on(self) -> int:
        self._process.communicate("\n")
        return self._process.returncode


@pytest.fixture
def temporaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary folders, also of programs that are started."""
    folder = tmp_path / "temporaries"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    monkeypatch.setattr(tempfile, "tempdir", None)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("given", [0o600, 0o640, 0o755, 0o666, 0o4755])
def test_an_overwritten_file_keeps_its_mode(given: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(given)
    files.write({str(path): b"new"})
    assert (path.read_bytes(), mode(path), os.listdir(tmp_path)) == (b"new", given, ["file"])


def test_an_overwritten_file_keeps_its_owner_where_that_is_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    if os.geteuid() == 0:
        os.chown(path, 1234, 4321)
    before = path.stat()
    path.chmod(0o4751)
    files.write({str(path): b"new"})
    assert (path.stat().st_uid, path.stat().st_gid, mode(path)) == (before.st_uid, before.st_gid, 0o4751)

    def refused(*given: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refused)
    files.write({str(path): b"newer"})
    assert (path.read_bytes(), mode(path)) == (b"newer", 0o751)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_default_mode(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        files.write({str(tmp_path / "file"): b"new"})
    finally:
        os.umask(before)
    assert mode(tmp_path / "file") == 0o666 & ~mask


def test_a_link_stays_and_what_it_leads_to_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "file"
    target.write_bytes(b"old")
    target.chmod(0o600)
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "dangling").symlink_to("elsewhere/new")
    files.write({str(tmp_path / "link"): b"new", str(tmp_path / "dangling"): b"more"})
    assert (tmp_path / "link").is_symlink() and (tmp_path / "dangling").is_symlink()
    assert (target.read_bytes(), mode(target), (tmp_path / "elsewhere" / "new").read_bytes()) == (
        b"new",
        0o600,
        b"more",
    )


def test_the_longest_name(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    files.write({str(path): b"new"})
    assert path.read_bytes() == b"new"


def test_data_are_on_the_disk_before_the_name_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def noted_sync(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else f"{os.fstat(handle).st_size} bytes")
        sync(handle)

    def noted_replace(source: Path, target: Path) -> None:
        done.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    files.write({str(tmp_path / "file"): b"12345"})
    assert done == ["5 bytes", "rename", "folder"]


def test_what_a_killed_run_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    process = Process(PAUSED, str(path))
    process.kill()
    assert path.read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    files.write({str(tmp_path / "other"): b"new"})
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]


def test_what_a_living_run_writes_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    process = Process(PAUSED, str(path))
    files.write({str(tmp_path / "other"): b"new", str(path): b"of this process"})
    assert len(os.listdir(tmp_path)) == 3
    assert process.go_on() == 0
    assert path.read_bytes() == b"of the other process"
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]


def test_other_files_are_not_removed(tmp_path: Path) -> None:
    """Neither those of alike names, nor what a link with such a name leads to."""
    names = [
        ".polyloom-0123456789abcdef.new~",
        ".polyloom-0123456789ABCDEF.new",
        "polyloom-0123456789abcdef.new",
        ".polyloom-.new",
    ]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / ".polyloom-0000000000000000.new").symlink_to(names[0])
    (tmp_path / ".polyloom-0000000000000001.new").mkdir()
    before = sorted(os.listdir(tmp_path))
    files.write({str(tmp_path / "z"): b"new"})
    assert sorted(os.listdir(tmp_path)) == [*before, "z"]


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    """Locks are of open files, so that threads meet each other as processes do. Each sweeps what the others are
    making."""
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            for time in range(60):
                files.write(
                    {str(tmp_path / "shared"): bytes([number]) * 3000, str(tmp_path / f"own-{number}"): bytes([time])}
                )
                assert len(set((tmp_path / "shared").read_bytes())) == 1
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(os.listdir(tmp_path)) == [*(f"own-{number}" for number in range(6)), "shared"]
    assert {(tmp_path / f"own-{number}").read_bytes() for number in range(6)} == {bytes([59])}


def test_a_new_file_that_another_run_took_for_left_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = os.open, list[str]()

    def unlucky(path: Path, flags: int, mode: int = 0o777) -> int:
        handle = make(path, flags, mode)
        if str(path).endswith(".new") and not made:
            os.unlink(path)
            made.append(str(path))
        return handle

    monkeypatch.setattr(os, "open", unlucky)
    files.write({str(tmp_path / "file"): b"new"})
    assert (made != [], (tmp_path / "file").read_bytes(), os.listdir(tmp_path)) == (True, b"new", ["file"])


def test_without_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / ".polyloom-0123456789abcdef.new"
    left.touch()

    def unknown(handle: int, operation: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", unknown)
    files.write({str(tmp_path / "file"): b"new"})
    assert sorted(os.listdir(tmp_path)) == [left.name, "file"]


def test_a_disk_without_room(tmp_path: Path, temporaries: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True)
    help = "help: make room there, or give a path where there is room\n"
    assert (done.stdout, done.stderr) == (f"error[PL0808]: cannot write '{path}': File too large\n{help}", "")
    assert (path.read_bytes(), sorted(os.listdir(tmp_path))) == (b"old", ["file", "temporaries"])
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    help = "help: make room, or set TMPDIR to a folder that you may write to\n"
    assert (done.stdout, done.stderr) == (f"error[PL0808]: cannot write a temporary file: File too large\n{help}", "")
    assert os.listdir(temporaries) == []


@pytest.mark.parametrize("name", ["", "folder", "nowhere/file", "pipe", "zero\0byte"])
def test_what_cannot_be_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolyloomError) as caught:
        files.write({name: b"new"})
    assert (caught.value.code, sorted(os.listdir(tmp_path))) == ("PL0808", ["folder", "pipe"])


def test_a_write_protected_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def for_reading(path: object, wanted: int) -> bool:
        """As for users who are not the superuser."""
        return wanted == os.R_OK

    monkeypatch.setattr(os, "access", for_reading)
    with pytest.raises(
        PolyloomError, match=f"cannot write '{tmp_path}/file': the directory '{tmp_path}' is write-protected"
    ):
        files.write({str(tmp_path / "file"): b"new"})


def test_folders_of_killed_runs_are_removed_and_no_others(temporaries: Path) -> None:
    dead, living = Process(IN_A_FOLDER), Process(IN_A_FOLDER)
    (temporaries / "polyloom-run-mine").mkdir()
    (temporaries / "polyloom-run-0123456789abcdef").symlink_to(temporaries / "polyloom-run-mine")
    assert Path(dead.line, "inside", "file").exists()
    dead.kill()
    following = Process(IN_A_FOLDER)
    kept = {Path(living.line).name, Path(following.line).name, "polyloom-run-mine", "polyloom-run-0123456789abcdef"}
    assert set(os.listdir(temporaries)) == kept
    assert (living.go_on(), following.go_on()) == (0, 0)
    assert set(os.listdir(temporaries)) == {"polyloom-run-mine", "polyloom-run-0123456789abcdef"}


def test_a_folder_goes_with_its_context(temporaries: Path) -> None:
    with temporary.temporary_folder() as folder:
        (folder / "file").touch()
        assert mode(folder) == 0o700
    assert os.listdir(temporaries) == []
