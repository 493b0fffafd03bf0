# SPDX-License-Identifier: Apache-2.0
"""Functions of other projects' tests, by name: `functions.txt` has for each project its commit, and per file the
functions that a rule takes, which looks at no result (`select_functions.py`). The files themselves are not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).parent / "functions.txt"


@dataclass(frozen=True, slots=True)
class Named:
    """A function in a file of a project at a commit."""

    project: str
    commit: str
    file: str
    name: str

    def path(self, folder: Path) -> Path:
        """Where it is, in a folder of checkouts that are called as the projects are."""
        return folder / self.project.partition("/")[2] / self.file


def listed_functions(text: str | None = None) -> Iterator[Named]:
    """The functions of the list: lines `project commit`, then indented lines `file name name ...`."""
    project, commit = "", ""
    for line in (LIST.read_text() if text is None else text).splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if line.startswith(" "):
            yield from (Named(project, commit, words[0], name) for name in words[1:])
        else:
            project, commit = words
