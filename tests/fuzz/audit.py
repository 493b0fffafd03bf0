# SPDX-License-Identifier: Apache-2.0
"""The promise of SECURITY.md for files that are data, as a test: every verb that takes them, on files of all kinds and
on damaged ones, opens what its command names and nothing else, starts no process and writes nothing else.

`python -m tests.fuzz.audit COUNT SEED` runs commands in a folder of its own under an audit hook (PEP 578). The hook
does not see native code and SQLite: `audited` runs the same under strace, and reads its log (tracing.py). Beside the
files stand sources with the names that the files tell, which no command names; an opened one is a finding.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.device.devices import ROOT
from tests.fuzz import tracing
from tests.fuzz.allowed import CHILD, Allowed, of_command
from tests.fuzz.isolated import MEMORY, TooLong, heed_limits, limited

from polyloom.diagnostics import INTERNAL

SECONDS: Final = 3.0
"""For a command; what takes long by its nature, such as a run, is ended."""
_FEW: Final = 12
"""Seeds of a kind that are all tried as they are; of more the first, and the last ones, which are made to be odd."""
MANIFEST: Final = "commands.jsonl"
_PROCESSES: Final = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")
_NETWORK: Final = ("socket.connect", "socket.bind", "socket.getaddrinfo", "urllib.Request")
_READS: Final = ("os.listdir", "os.scandir", "sqlite3.connect", "ctypes.dlopen")
_WRITES: Final = (
    *("os.remove", "os.rename", "os.link", "os.symlink", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.truncate"),
    *("os.utime", "os.setxattr"),
)
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Guard:
    """An audit hook, which cannot be taken away; it listens while `allowed` is there."""

    def __init__(self) -> None:
        self.allowed: Allowed | None = None
        self.found: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        allowed = self.allowed
        if allowed is None:
            return
        self.allowed = None  # what is asked for in here
        try:
            if (finding := self._finding(event, arguments, allowed)) is not None:
                self.found.append(finding)
        finally:
            self.allowed = allowed

    def _finding(self, event: str, arguments: tuple[Any, ...], allowed: Allowed) -> str | None:
        if (
            event == "subprocess.Popen"
            and allowed.starts_child
            and list(arguments[1][:3]) == [sys.executable, "-P", CHILD]
        ):
            return None
        if event in (*_PROCESSES, *_NETWORK, "pickle.find_class"):
            return f"{event} {arguments}"
        if event == "open":
            path, _, flags = arguments
            writes = isinstance(flags, int) and flags & _WRITING
            return self._of_path(event, path, allowed, writes=bool(writes))
        if event in _READS:
            return self._of_path(event, arguments[0], allowed, writes=False)
        if event in _WRITES:
            found = [self._of_path(event, path, allowed, writes=True) for path in arguments if _is_path(path)]
            return next(filter(None, found), None)
        return None

    def _of_path(self, event: str, path: Any, allowed: Allowed, *, writes: bool) -> str | None:
        """A handle was opened before, and nothing is opened by what is empty or has a zero byte."""
        if not _is_path(path) or not os.fsdecode(path) or "\0" in os.fsdecode(path):
            return None
        real = os.path.realpath(os.path.join(allowed.folder, os.fsdecode(path)))
        fine = allowed.may_write(real) if writes else allowed.may_read(real)
        return None if fine else f"{event} {'writes' if writes else 'reads'} {real}"


def _is_path(argument: object) -> bool:
    """And no handle or flag."""
    return isinstance(argument, str | bytes) or hasattr(argument, "__fspath__")


def attempt(guard: Guard, words: Sequence[str], run: Callable[[Sequence[str]], object]) -> list[str]:
    """What a command does in the current folder that it may not, an internal error among it.

    Its begin and end stand in a trace of system calls, and what it may do in the manifest."""
    folder, temporary = os.getcwd(), os.environ["TMPDIR"]
    guard.allowed, guard.found = None, []
    allowed = of_command(words, folder, temporary)
    made = {
        "words": words,
        "reads": sorted(allowed.reads),
        "writes": sorted(allowed.writes),
        "child": allowed.starts_child,
    }
    with open(os.path.join(temporary, os.pardir, MANIFEST), "a", encoding="utf-8") as manifest:
        manifest.write(json.dumps({**made, "folder": folder, "temporary": temporary}) + "\n")

    _stopped.clear()
    ended: list[object] = []
    errors = io.StringIO()

    def guarded() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            guard.allowed = allowed
            ended.append(run(words))

    os.access(tracing.BEGIN, os.F_OK)
    try:
        limited(SECONDS, guarded)
    finally:
        guard.allowed = None
        os.access(tracing.END, os.F_OK)
    failed = ended == [INTERNAL] and not _stopped
    return [*guard.found, *([errors.getvalue()] if failed else [])]


def main(arguments: Sequence[str]) -> int:
    """Files of every kind with every command, then `count` damaged ones with a command each."""
    from tests.fuzz import audited_files as kinds

    from polyloom.cli import main as command

    count, seed = map(int, arguments)
    heed_limits(_stop)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, resource.RLIM_INFINITY))
    made, guard, random = kinds.prepare(), Guard(), Random(seed)
    for kind in made:
        few = kind.seeds if len(kind.seeds) <= _FEW else (kind.seeds[0], *kind.seeds[-3:])
        for data, words in product(few, kind.commands):
            kind.place(data)
            if found := attempt(guard, words, command):
                return _reported(kind.file, words, found)
    for _ in range(count):
        kind = random.choice(made)
        kind.place(kind.damage(random.choice(kind.seeds), random))
        words = random.choice(kind.commands)
        if found := attempt(guard, words, command):
            return _reported(kind.file, words, found)
    print(f"{count} damaged files of {len(made)} kinds")
    return 0


def _reported(file: str, words: Sequence[str], found: Sequence[str]) -> int:
    content = Path(file).read_bytes().hex() if Path(file).is_file() else "a folder"
    print("\n".join([content, "polyloom " + " ".join(words), *found]))
    return 1


_stopped: Final[list[int]] = []
"""The alarm, where it rang: what it interrupts, such as native code, may make another error of it."""


def _stop(number: int, frame: object) -> None:
    del frame
    _stopped.append(number)
    raise TooLong


def audited(count: int, seed: int, program: Sequence[str] = ("-P", "-m", "tests.fuzz.audit")) -> str | None:
    """What is found in a process of its own, by its hook and in its trace; None where that is nothing.

    As in the command `polyloom`, imports do not search the current folder (`-P`)."""
    with tempfile.TemporaryDirectory(prefix="polyloom-audit-") as name:
        home = Path(name).resolve()
        for inner in ("own", "tmp"):
            (home / inner).mkdir()
        log = home / "trace"
        environment = {
            **os.environ,
            "TMPDIR": str(home / "tmp"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "POLYLOOM_VERIFY_EACH": "",
        }
        command = [*tracing.command(log), sys.executable, *program, str(count), str(seed)]
        done = subprocess.run(command, cwd=home / "own", env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            return f"exit code {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return tracing.finding(log, home / MANIFEST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
