# SPDX-License-Identifier: Apache-2.0
"""Commands in processes of their own, forked from one that has loaded every target: a process from the start takes a
second of processor time to load them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

FORKS = """
import json, os, resource, sys, traceback
from polyloom import api
from polyloom.cli import main
from polyloom.targets import registry


def redirect(given, printed):
    for number, (name, how) in enumerate(((given, os.O_RDONLY), (printed, os.O_WRONLY | os.O_CREAT))):
        os.dup2(os.open(name, how), number)
    os.dup2(1, 2)


def run_command(words):
    try:
        return main(words)
    except SystemExit as left:
        return left.code or 0


def run_blocks():
    names, status = {"__name__": "__main__"}, 0
    while size := sys.stdin.buffer.readline():
        try:
            exec(compile(sys.stdin.buffer.read(int(size)), "<page>", "exec"), names)
            status = 0
        except Exception:
            traceback.print_exc()
            status = 1
        sys.stderr.flush()
        print(f"\\0{status}", flush=True)
    return status


list(registry.load_targets())
for line in sys.stdin:
    folder, words, given, printed, memory = json.loads(line)
    if not (child := os.fork()):
        os.chdir(folder)
        redirect(given, printed)
        # What this process has read of its own requests is not read by the blocks of a page.
        sys.stdin = open(0, closefd=False)
        status = 1
        try:
            if memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            status = run_blocks() if words is None else run_command(words)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    print(0 if words is None else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process that has loaded every target, and is forked for each command and for the blocks of each page."""
Forks = subprocess.Popen[str]


@contextmanager
def loaded_process() -> Generator[Forks]:
    words = [sys.executable, "-c", FORKS]
    process = subprocess.Popen(words, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.communicate()
    assert process.returncode == 0


def fork(
    forks: Forks, folder: Path, words: Sequence[str] | None, given: str, printed: str, memory: int | None = None
) -> int:
    """Exit code of a command, or 0 for a process that reads blocks from `given`; `memory` limits its address space, in
    bytes."""
    assert forks.stdin is not None and forks.stdout is not None
    print(json.dumps([str(folder), words, given, printed, memory]), file=forks.stdin, flush=True)
    return int(forks.stdout.readline())


def forked(forks: Forks, words: Sequence[str], folder: Path, memory: int | None = None) -> tuple[str, int]:
    """What `polyloom` prints for these words, both streams together, and its exit code."""
    with NamedTemporaryFile() as printed:
        status = fork(forks, folder, list(words), os.devnull, printed.name, memory)
        return printed.read().decode(), status


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1"}
