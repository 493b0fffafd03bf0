# SPDX-License-Identifier: Apache-2.0
"""Process pool that survives what its tasks do to it (crashes, lost memory, time limits).

Each worker has one task at a time, so that a worker that dies names its suspect. A suspect is tried again when nothing
else runs, alone, three times: another task may have taken the memory, or somebody else killed the worker. Then it has
its row, like a point that takes too long, and the sweep goes on with a new worker.

The first task of a group goes ahead, and leaves its interpretation in the folder that all workers share; the others
follow on any worker.
"""

from __future__ import annotations

import os
import pickle
import selectors
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final, cast

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError
from polyloom.exploration.messages import receive, send
from polyloom.exploration.row import Level, Row, encode
from polyloom.exploration.serialization import pack
from polyloom.exploration.work import UNITS, Answer, Task, Unit

WORKER = "polyloom.exploration.worker"
ATTEMPTS: Final = 3
"""How often a suspect is tried alone."""
_STARTS: Final = 5
"""Workers that may die one after another before any has started."""


@dataclass(eq=False, slots=True)
class _Worker:
    """`since` is when its task began; `known` are the units that it has."""

    process: subprocess.Popen[bytes]
    known: dict[str, None] = field(default_factory=dict[str, None])
    task: Task | None = None
    since: float = 0.0
    is_ready: bool = False

    @property
    def questions(self) -> Any:
        return self.process.stdin

    @property
    def answers(self) -> Any:
        return self.process.stdout

    def end(self) -> None:
        with suppress(OSError):
            self.questions.close()
        self.process.kill()
        self.process.wait()
        self.answers.close()


@contextmanager
def pool(jobs: int, folder: Path, timeout: float | None = None) -> Generator[Pool]:
    """A pool of up to `jobs` workers; none outlives the context."""
    made = Pool(jobs, folder, timeout)
    try:
        yield made
    finally:
        made.close()


class Pool:
    """An executor."""

    def __init__(self, jobs: int, folder: Path, timeout: float | None) -> None:
        self._jobs, self._folder, self._timeout = jobs, folder, timeout
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._pickled: dict[str, bytes] = {}
        self._failed_starts = 0

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self._selector.close()

    @property
    def processes(self) -> list[int]:
        """The ids of the living workers."""
        return [worker.process.pid for worker in self._workers]

    def answers(self, units: Mapping[str, Unit], tasks: Sequence[Task]) -> Iterator[tuple[Task, Answer]]:
        queue = _Queue(tasks)
        while len(self._workers) < min(self._jobs, len(tasks)):
            self._start()
        while queue.is_left or self._busy:
            self._assign_tasks(units, queue)
            yield from self._collect(queue)

    @property
    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.task is not None]

    def _assign_tasks(self, units: Mapping[str, Unit], queue: _Queue) -> None:
        """Scheduling: tasks for idle workers, as long as there are any; a suspect only where nothing else runs."""
        while (task := queue.next(is_alone=not self._busy)) is not None:
            worker = self._find_idle_worker()
            if worker is None:
                queue.back(task)
                return
            self._assign(worker, units, task, queue)
            if queue.is_suspect(task):
                return

    def _find_idle_worker(self) -> _Worker | None:
        """One that has no task, started if there are fewer than allowed. Errors: PL1411."""
        for worker in self._workers:
            if worker.task is None:
                return worker
        return self._start() if len(self._workers) < self._jobs else None

    def _start(self) -> _Worker:
        """In a session of its own, so that an interrupt of the terminal is for this process alone."""
        words = [sys.executable, "-m", WORKER, str(self._folder)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, env=environment
        )
        worker = _Worker(process)
        self._workers.append(worker)
        self._selector.register(worker.answers, selectors.EVENT_READ, worker)
        return worker

    def _assign(self, worker: _Worker, units: Mapping[str, Unit], task: Task, queue: _Queue) -> None:
        worker.task, worker.since = task, monotonic()
        try:
            if not worker.is_ready:
                # A worker says that it has started: until then its time does not count against the task.
                receive(worker.answers)
                worker.is_ready, self._failed_starts = True, 0
                worker.since = monotonic()
            if task.unit not in worker.known:
                self._ship(worker, task.unit, units[task.unit])
            send(worker.questions, ("task", task))
        except (OSError, EOFError):
            if not worker.is_ready:
                # It died before it had the task.
                self._failed_starts += 1
                if self._failed_starts >= _STARTS:
                    message = f"none of {_STARTS} worker processes could be started"
                    help = "write --jobs 1, and see what this process says"
                    raise PolyloomError(Diagnostic("PL1411", message, INTERNAL, help=help)) from None
                queue.back(task)
            else:
                queue.suspect(task)
            self._bury(worker)

    def _ship(self, worker: _Worker, key: str, unit: Unit) -> None:
        """Errors: PL1412 for what a worker cannot have."""
        if key not in self._pickled:
            self._pickled[key] = pack(unit)
        send(worker.questions, ("unit", key, self._pickled[key]))
        # Asked before the task is sent: a unit that cannot be read there is an error of the sweep, and not a row.
        if (wrong := receive(worker.answers)) is not None:
            raise wrong
        if len(worker.known) >= UNITS:
            del worker.known[next(iter(worker.known))]  # as it did itself
        worker.known[key] = None

    def _collect(self, queue: _Queue) -> Iterator[tuple[Task, Answer]]:
        """The answers that have come, and the rows of tasks that are given up."""
        if not self._busy:
            return
        for key, _ in self._selector.select(self._patience()):
            worker = cast(_Worker, key.data)
            task = worker.task
            try:
                answer = receive(worker.answers)
            except (EOFError, OSError, pickle.UnpicklingError):
                self._bury(worker)
                if task is not None and queue.suspect(task):
                    yield task, _lost_worker_error(task)
                continue
            if not worker.is_ready:
                worker.is_ready = True
                continue
            worker.task = None
            if task is not None:
                # What took too long is not tried again: it would take as long.
                queue.done(task)
                yield task, answer
        for worker in self._busy:
            if self._timeout is not None and monotonic() - worker.since > self._timeout and worker.task is not None:
                task = worker.task
                self._bury(worker)
                queue.done(task)
                yield task, _timeout_row(task, self._timeout)

    def _patience(self) -> float | None:
        """Seconds until the next worker is late."""
        if self._timeout is None:
            return None
        # A millisecond more: woken exactly at the limit, the comparison would still be false, and the loop would spin.
        return max(0.0, min(worker.since for worker in self._busy) + self._timeout - monotonic()) + 0.001

    def _bury(self, worker: _Worker) -> None:
        self._selector.unregister(worker.answers)
        self._workers.remove(worker)
        worker.end()


class _Queue:
    """Tasks that wait. Of a group without an interpretation only the first one is ready."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._ready: deque[Task] = deque()
        self._waiting: dict[str, list[Task]] = {}
        self._suspects: deque[Task] = deque()
        self._attempts: dict[int, int] = {}
        for task in tasks:
            if task.group and task.group in self._waiting:
                self._waiting[task.group].append(task)
            else:
                self._ready.append(task)
                if task.group:
                    self._waiting[task.group] = []

    @property
    def is_left(self) -> bool:
        return bool(self._ready or self._suspects or any(self._waiting.values()))

    def next(self, is_alone: bool) -> Task | None:
        if self._ready:
            return self._ready.popleft()
        return self._suspects.popleft() if is_alone and self._suspects else None

    def is_suspect(self, task: Task) -> bool:
        return task.number in self._attempts

    def back(self, task: Task) -> None:
        """It was not begun."""
        (self._suspects if self.is_suspect(task) else self._ready).appendleft(task)

    def suspect(self, task: Task) -> bool:
        """Its worker died; whether it is given up."""
        tried = self._attempts.get(task.number, 0)
        if tried == ATTEMPTS:
            self.done(task)
            return True
        self._attempts[task.number] = tried + 1
        self._suspects.append(task)
        self._release(task)
        return False

    def done(self, task: Task) -> None:
        self._release(task)

    def _release(self, task: Task) -> None:
        """Release of a group: those that waited for the task. After a death the next one of the group goes ahead."""
        waiting = self._waiting.get(task.group, [])
        self._ready.extend(waiting)
        waiting.clear()


def _lost_worker_error(task: Task) -> str:
    return abandon_task(task, "PL1408", f"its worker process died, {ATTEMPTS} times when nothing else ran")


def _timeout_row(task: Task, timeout: float) -> str:
    return abandon_task(task, "PL1410", f"it took longer than {timeout:g} seconds")


def abandon_task(task: Task, code: str, message: str) -> str:
    """The answer of a task that is not tried any more."""
    level: Level = "predict" if task.kind == "compile" else task.kind
    return encode(Row({}, level, code, message))
