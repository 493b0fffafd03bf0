# SPDX-License-Identifier: Apache-2.0
"""Executor protocol: an executor takes tasks and gives their answers, in any order. `Here` is the one of this process.

A task is only begun when the answer before it has been taken, and so been stored. That holds for each worker of the
others, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from polyloom.exploration.work import Answer, Task, Unit, Work


class Executor(Protocol):
    def answers(self, units: Mapping[str, Unit], tasks: Sequence[Task]) -> Iterator[tuple[Task, Answer]]:
        """Each task's answer, once. `units` has every unit that they name."""
        ...


class Here:
    """One task after another in this process. It cannot be interrupted by a limit of time, nor survive a crash."""

    def __init__(self, folder: Path) -> None:
        self._work = Work(folder)

    def answers(self, units: Mapping[str, Unit], tasks: Sequence[Task]) -> Iterator[tuple[Task, Answer]]:
        for task in tasks:
            if task.unit not in self._work.units:
                self._work.open_unit(task.unit, units[task.unit])
            yield task, self._work.perform(task)
