# SPDX-License-Identifier: Apache-2.0
"""README's first screen, tried in an empty environment: `python -m tests.install.first_screen WHEEL`, in `make
wheel-test`.

Every command of the blocks before the second heading is taken from README's own text and run in a new virtual
environment, in a folder that has nothing but the examples; what it prints is compared with what README shows. Only
`pip install .` is given the wheel in the place of the sources, which the goal has just built of them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.docs.test_docs import COMMAND, FENCE, matches

ROOT: Final = Path(__file__).parents[2]
_HEADINGS: Final = 2
_WRITTEN: Final = re.compile(r"--report (\S+)")


def commands(page: str) -> Iterator[tuple[str, str | None]]:
    """Commands of the first screen of a page, in their order, each with the output that is shown, None of an `sh`
    block, which shows none."""
    first = "## ".join(page.split("\n## ")[:_HEADINGS])
    for block in FENCE.finditer(first):
        if block[1] == "sh":
            yield from ((line, None) for line in block[2].splitlines() if line.partition("#")[0].strip())
        elif block[1] == "console":
            _, *parts = COMMAND.split(block[2])
            yield from zip((code.rstrip("\n") for code in parts[::2]), parts[1::2], strict=True)


def try_commands(page: str, wheel: str, environment: Path, folder: Path) -> list[str]:
    """What is wrong with the commands of a page; empty where all do what it shows."""
    # Nothing of this process's own environment may help: not its packages, not its way to find them.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    own = {**kept, "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"}
    found: list[str] = []
    for command, shown in commands(page):
        print(f"$ {command}", flush=True)
        given = re.sub(r"pip install \.(?=\s|$)", f"pip install --quiet '{wheel}'", command)
        done = subprocess.run(
            ["bash", "-c", given], cwd=folder, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode or (shown is not None and not matches(shown, done.stdout)):
            found.append(f"$ {command}\nexit code {done.returncode}, README shows:\n{shown}\nprinted:\n{done.stdout}")
        found += [
            f"$ {command}\nwrites no {file}" for file in _WRITTEN.findall(command) if not (folder / file).exists()
        ]
    return found


def main(words: Sequence[str]) -> int:
    (wheel,) = map(os.path.abspath, words)
    with TemporaryDirectory() as scratch:
        environment, folder = Path(scratch, "environment"), Path(scratch, "folder")
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        folder.mkdir()
        shutil.copytree(ROOT / "examples", folder / "examples")
        found = try_commands((ROOT / "README.md").read_text(encoding="utf-8"), wheel, environment, folder)
    print("\n".join(found) or "README's first screen does what it shows")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
