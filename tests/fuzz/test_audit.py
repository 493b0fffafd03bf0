# SPDX-License-Identifier: Apache-2.0
"""Files that are data make Polyloom open, write and start nothing but what its commands name (SECURITY.md); and the
audit would notice if they did."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.fuzz import audit, tracing
from tests.fuzz.allowed import of_command

REASON = tracing.missing()
needs_strace = pytest.mark.skipif(REASON is not None, reason=str(REASON))
SEED = 3


@needs_strace
def test_no_file_makes_a_command_open_another() -> None:
    assert audit.audited(40, SEED) is None


@needs_strace
@pytest.mark.long
def test_no_file_of_ten_thousand_makes_a_command_open_another() -> None:
    assert audit.audited(10_000, SEED) is None


WITHIN = """
import contextlib, ctypes, os, shutil, sqlite3, subprocess, sys
from tests.fuzz.audit import Guard, attempt
libc = ctypes.CDLL(None)
libc.system(None)
ATTACH = "attach 'decoy' as d; select * from d.sqlite_master;"
guard, heard = Guard(), 0
for name, action in {actions!r}.items():
    for old in os.listdir():
        shutil.rmtree(old) if os.path.isdir(old) and not os.path.islink(old) else os.remove(old)
    open("given", "w").close(); open("decoy", "w").close()
    os.symlink("decoy", "link"); os.symlink("missing", "nowhere")
    os.mkdir("s"); os.symlink("../decoy", "s/rows.sqlite")
    with contextlib.suppress(OSError):
        attempt(guard, {words!r}, lambda words: eval(action))
    if guard.found:
        print(name, guard.found[0][:120], sep=": ")
    heard += bool(guard.found)
sys.exit(heard)
"""
"""Each action as a command, in a folder of the same files; what the hook heard of it is printed."""
HARMLESS = {
    "reads what is named": "open('given').read()",
    "writes what is named": "open('out', 'w').write('x')",
    "writes through a neighbour": "(open('.polyloom-01ef.new', 'w'), os.replace('.polyloom-01ef.new', 'out'))",
    "writes temporary files": "open(os.environ['TMPDIR'] + '/x', 'w')",
    "reads Python": "open(os.__file__)",
    "asks whether there is something": "(os.path.exists('decoy'), os.path.exists('/etc/passwd'))",
}
HARMFUL = {
    "reads a neighbour": "open('decoy')",
    "reads a file of the system": "open('/etc/passwd')",
    "writes through a link": "open('nowhere', 'a')",
    "writes what is read": "open('given', 'a')",
    "reads the folder": "os.listdir('..')",
    "removes": "os.remove('decoy')",
    "makes a folder": "os.mkdir('new')",
    "makes a link": "os.symlink('decoy', 'new')",
    "renames": "os.rename('decoy', 'new')",
    "starts a process": "subprocess.run(['true'])",
    "forks": "os.fork() or os._exit(0)",
    "uses the network": "__import__('socket').create_connection(('127.0.0.1', 9))",
    "executes a pickle": "__import__('pickle').loads(b'cos\\nsystem\\n.')",
    "opens a data base": "sqlite3.connect('decoy').execute('select 1').fetchall()",
}
UNHEARD = {
    "C reads a neighbour": "libc.open(b'decoy', 0)",
    "C writes a neighbour": "libc.open(b'decoy', 1)",
    "C creates": "libc.creat(b'new', 420)",
    "C removes": "libc.unlink(b'decoy')",
    "C starts a process": "libc.system(b'true')",
    "SQLite attaches": "sqlite3.connect('given').executescript(ATTACH)",
    "SQLite follows a link": "libc.open(b's/rows.sqlite', 2)",
}
"""By no hook of Python."""
WORDS = ("explore", "given", "--out", "y=out", "--resume", "s")


def audited(actions: Mapping[str, str]) -> str:
    """What was found. All in one process, since each takes a second to begin."""
    return audit.audited(0, 0, ("-c", WITHIN.format(words=WORDS, actions=dict(actions)))) or ""


@needs_strace
def test_what_is_allowed() -> None:
    assert audited(HARMLESS) == ""


@needs_strace
def test_what_the_hook_hears() -> None:
    first, *heard = audited(HARMFUL).splitlines()
    assert first == f"exit code {len(HARMFUL)}"
    assert [line.partition(":")[0] for line in heard] == list(HARMFUL)


@needs_strace
def test_what_the_trace_shows() -> None:
    found = audited(UNHEARD)
    assert found.count("polyloom explore given") == len(UNHEARD), found


def test_what_a_command_names(tmp_path: Path) -> None:
    for name in ("a.plcc", "x.npy", "m.toml", "decoy"):
        (tmp_path / name).touch()
    words = [
        "simulate",
        "a.plcc",
        "--in",
        "x=x.npy",
        "--out",
        "y=y.npy",
        "--on",
        "tcpa:m.toml",
        "--report",
        "sub/p.html",
    ]
    allowed = of_command(words, str(tmp_path), str(tmp_path / "tmp"))
    assert {os.path.basename(p) for p in allowed.reads} >= {"a.plcc", "x.npy", "m.toml"}
    assert {os.path.basename(p) for p in allowed.writes} == {"y.npy", "p.html"}
    here = str(tmp_path)
    assert allowed.may_read(f"{here}/a.plcc") and not allowed.may_write(f"{here}/a.plcc")
    assert not allowed.may_read(f"{here}/decoy")
    assert allowed.may_write(f"{here}/.polyloom-00ff.new") and not allowed.may_write(f"{here}/other")
    assert allowed.may_write(os.path.join(here, "tmp", "x")) and not allowed.may_write(os.path.join(here, "tmp2"))
    assert allowed.may_read(sys.executable) or allowed.may_read(os.path.realpath(os.__file__))
    assert not any(allowed.may_read(p) for p in ("/etc/passwd", os.path.expanduser("~/.bashrc")))
