# SPDX-License-Identifier: Apache-2.0
"""Every example in README.md, ARCHITECTURE.md, CONTRIBUTING.md and docs/ runs and prints what the page shows.

Fenced blocks of one page run in order, in one scratch folder that holds examples/. `console` blocks are commands after
`$ ` and their output, both streams together; a command may fail only where the page shows an error. `python` blocks
share their names; an `output` block after one is what it printed. A `cpp` block is the file kernel.h. In
expected output `...` stands for any text.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.forked import Forks, environment, fork, forked

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*\n)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """A shell command or a Python text, the line where it stands, and what the page shows for it (None: nothing
    shown)."""

    line: int
    code: str
    is_python: bool
    expected: str | None


def steps(page: str) -> Iterator[Step]:
    blocks = [(m[1], m[2], page.count("\n", 0, m.start(2)) + 1) for m in FENCE.finditer(page)]
    for number, (language, body, line) in enumerate(blocks):
        if language == "console":
            head, *parts = COMMAND.split(body)
            assert not head, f"line {line}: a console block starts with `$ `"
            for code, expected in zip(parts[::2], parts[1::2], strict=True):
                yield Step(line, code, False, expected)
        elif language == "python":
            following = blocks[number + 1] if number + 1 < len(blocks) else ("", "", 0)
            yield Step(line, body, True, following[1] if following[0] == "output" else None)
        elif language == "cpp":
            yield Step(line, f"cat >kernel.h <<'END'\n{body}END\n", False, None)


PLAIN = re.compile(r"polyloom (?:[^|;&<>$`*?\\\n']|'[^'\n]*')*\n")
"""A command that needs no shell."""


class Interpreter:
    """One Python process for the blocks of a page, which share their names; a marker ends the output of each."""

    def __init__(self, forks: Forks, folder: Path) -> None:
        with TemporaryDirectory() as pipes:
            given, printed = (os.path.join(pipes, name) for name in ("given", "printed"))
            os.mkfifo(given)
            os.mkfifo(printed)
            fork(forks, folder, None, given, printed)
            # Each end of a pipe waits for the other one, so both sides open them in one order.
            self.given = open(given, "wb")  # noqa: SIM115 (until `close`)
            self.printed = open(printed, "rb")  # noqa: SIM115 (until `close`)

    def run(self, code: str) -> tuple[str, int]:
        """What a block prints, and 0; a process that ends within a block is a failure, too."""
        data = code.encode()
        self.given.write(b"%d\n%s" % (len(data), data))
        self.given.flush()
        output = b""
        for line in self.printed:
            text, marker, status = line.partition(b"\0")
            output += text
            if marker:
                return output.decode(), int(status)
        return output.decode(), 1

    def close(self) -> None:
        self.given.close()
        # It ends when its last block has.
        assert self.printed.read() == b""
        self.printed.close()


def run(command: list[str], folder: Path) -> tuple[str, int]:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout, done.returncode


def matches(expected: str, got: str) -> bool:
    want, have = ("\n".join(line.rstrip() for line in text.rstrip().split("\n")) + "\n" for text in (expected, got))
    return doctest.OutputChecker().check_output(want, have, doctest.ELLIPSIS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, forks: Forks) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    interpreter: Interpreter | None = None
    for step in steps(page.read_text(encoding="utf-8")):
        if step.is_python:
            interpreter = interpreter or Interpreter(forks, tmp_path)
            output, status = interpreter.run(step.code)
        elif PLAIN.fullmatch(step.code):
            output, status = forked(forks, shlex.split(step.code)[1:], tmp_path)
        else:
            output, status = run(["bash", "-c", step.code], tmp_path)
        where = f"{page.relative_to(ROOT)}:{step.line}: {step.code.rstrip()}"
        shows_error = not step.is_python and "error[" in (step.expected or "")
        assert (status != 0) == shows_error, f"{where}\nexit code {status}\n{output}"
        assert step.expected is None or matches(step.expected, output), (
            f"{where}\nexpected:\n{step.expected}\ngot:\n{output}"
        )
    if interpreter is not None:
        interpreter.close()


def test_a_forked_command_is_like_any_other(tmp_path: Path, forks: Forks) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for line in ("run examples/bits.pla N=many", "show examples/bits.pla", "run --help", "explain"):
        assert forked(forks, line.split(), tmp_path) == run(["polyloom", *line.split()], tmp_path)
    assert forked(forks, ["run", "examples/bits.pla"], tmp_path)[1] == 1
    assert not PLAIN.fullmatch("polyloom show a.plsc | head -1\n")
    assert PLAIN.fullmatch("polyloom select 'c ? a : -b' --isa rv64i_zicond\n")
    assert not PLAIN.fullmatch("polyloom select 'c ? a : -b' > kept\n")


def test_blocks_of_a_page_share_their_names(tmp_path: Path, forks: Forks) -> None:
    interpreter = Interpreter(forks, tmp_path)
    assert interpreter.run("a = 1\nprint(a)\n") == ("1\n", 0)
    assert interpreter.run("print(a + 1, end='')\n") == ("2", 0)
    assert interpreter.run("import sys\nprint(b, file=sys.stderr)")[1] == 1
    assert interpreter.run("raise SystemExit")[1] == 1
    interpreter.close()


def test_a_wrong_output_is_noticed() -> None:
    assert matches("a ... c\n", "a b c\n")
    assert not matches("a ... c\n", "a b d\n")
    page = "```console\n$ echo a\na\n$ echo b\nb\n```\n\n```python\nprint(1)\n```\n\n```output\n1\n```\n"
    assert list(steps(page)) == [
        Step(2, "echo a\n", False, "a\n"),
        Step(2, "echo b\n", False, "b\n"),
        Step(9, "print(1)\n", True, "1\n"),
    ]
