# SPDX-License-Identifier: Apache-2.0
"""What a process asked the system for, as strace wrote it down, against what its commands may do (allowed.py)."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.fuzz.allowed import CHILD, Allowed

BEGIN, END = "/polyloom-audit/begin", "/polyloom-audit/end"
"""Paths that are asked for around each command, in the order of the manifest."""
_OPENS: Final = ("open", "openat", "openat2", "creat")
_WRITES: Final = (
    *("unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mkdir"),
    *(
        "mkdirat",
        "rmdir",
        "mknod",
        "mknodat",
        "chmod",
        "fchmodat",
        "chown",
        "lchown",
        "fchownat",
        "truncate",
        "utimensat",
    ),
    *("setxattr", "lsetxattr"),
)
_PROCESSES: Final = ("execve", "execveat", "fork", "vfork", "clone", "clone3")
_NETWORK: Final = ("connect", "bind", "sendto")
_ASKS: Final = ("access", "faccessat", "faccessat2")
_LINE: Final = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")
_STRING: Final = re.compile(r'(?:(?:AT_FDCWD|\d+)(?:<((?:[^>\\]|\\.)*)>)?, )?"((?:[^"\\]|\\.)*)"')
_OPENED: Final = re.compile(r"= \d+<((?:[^>\\]|\\.)*)>")
_ESCAPE: Final = re.compile(r"\\(x[0-9a-f]{2}|[0-7]{1,3}|.)")
_NAMED: Final = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f"}


def missing() -> str | None:
    """What this machine lacks."""
    return None if shutil.which("strace") else "strace is not installed (Debian package `strace`)"


def command(log: Path) -> list[str]:
    """What stands before a program that is traced."""
    calls = ",".join(f"?{call}" for call in (*_OPENS, *_WRITES, *_PROCESSES, *_NETWORK, *_ASKS))
    return ["strace", "-f", "--seccomp-bpf", "-y", "-qq", "-s", "4096", "-e", f"trace={calls}", "-o", str(log)]


def finding(log: Path, manifest: Path) -> str | None:
    """The first thing that each command did and may not do; an error where the trace does not have all commands."""
    commands = [json.loads(line) for line in manifest.read_text(encoding="utf-8").splitlines()]
    number, current, found = -1, None, list[str]()
    with log.open(encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            if BEGIN in line:
                number += 1
                made = commands[number]
                current = Allowed(
                    made["folder"],
                    made["temporary"],
                    frozenset(made["reads"]),
                    frozenset(made["writes"]),
                    made["child"],
                )
            elif END in line:
                current = None
            elif current is not None and (what := _of_line(line, current)) is not None:
                found.append(f"polyloom {' '.join(commands[number]['words'])}\n{what}\n{line}")
                current = None
    if found:
        return "".join(found)
    return None if number + 1 == len(commands) and commands else f"{number + 1} of {len(commands)} commands are traced"


def _of_line(line: str, allowed: Allowed) -> str | None:
    match = _LINE.match(line)
    if match is None:
        return None  # the end of a call that is written in two lines, a signal, an exit
    call, rest = match.groups()
    if call in _PROCESSES:
        # What is started is judged by its name, where it may be something at all.
        is_child = allowed.starts_child and (CHILD in rest or not call.startswith("exec"))
        return None if "CLONE_THREAD" in rest or is_child else f"{call} starts a process"
    if call in _NETWORK:
        return f"{call} uses the network"
    if call in _OPENS:
        writes = re.search(r"\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND)\b", rest) is not None or call == "creat"
        return _of_paths(call, _opened(rest, allowed), allowed, writes=writes)
    if call in _WRITES:
        return _of_paths(call, list(_paths(rest, allowed)), allowed, writes=True)
    return None


def _of_paths(call: str, paths: Sequence[str], allowed: Allowed, *, writes: bool) -> str | None:
    for path in paths:
        if not (allowed.may_write(path) if writes else allowed.may_read(path)):
            return f"{call} {'writes' if writes else 'reads'} {path}"
    return None


def _opened(rest: str, allowed: Allowed) -> list[str]:
    """The file that was opened, wherever links led; that was asked for, where none was."""
    if (found := _OPENED.search(rest)) is not None:
        return [_text(found[1])]
    return list(_paths(rest, allowed))


def _paths(rest: str, allowed: Allowed) -> Iterator[str]:
    """The arguments that are paths, from the folder of their handle or the current one."""
    for match in _STRING.finditer(rest):
        folder, name = match.groups()
        yield os.path.normpath(os.path.join(_text(folder) if folder else allowed.folder, _text(name)))


def _text(quoted: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "x" and len(code) == 3:
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code[0] in "01234567" else _NAMED.get(code, code)

    text = _ESCAPE.sub(plain, quoted)
    return text.encode("latin-1", "replace").decode("utf-8", "surrogateescape") if text.isascii() is False else text
