# SPDX-License-Identifier: Apache-2.0
"""Dask executor, for sweeps that outgrow one machine (extra `dask`; docs/explore.md).

A unit goes to the cluster once, with its symbolic file: workers compile only what a target compiles for each size.
Tasks go in batches, those of one group together, so that a worker that gets a batch interprets once. Where a worker
dies, the scheduler gives its batch to another one, a few times (`distributed.scheduler.allowed-failures`). A batch that
is given up is split, and each of its points is tried when nothing else runs; one that is given up again has its row.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any, Final

from polyloom import extras, temporary
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.exploration.pool import abandon_task
from polyloom.exploration.serialization import pack, unpack
from polyloom.exploration.work import Answer, Task, Unit, Work
from polyloom.version import VERSION

# Dask takes about a millisecond per task, a predicted point less: batches hide that.
BATCH: Final = 64
"""Tasks of one batch, at most."""
# One that runs and one that waits, so that no thread idles while an answer travels.
_AHEAD: Final = 2
"""Batches that each thread of the cluster has, at most."""
WAIT: Final = 10
"""Seconds for a scheduler to answer."""


@dataclass(frozen=True, slots=True)
class Batch:
    tasks: tuple[Task, ...]
    is_suspect: bool = False


@contextmanager
def cluster(address: str, timeout: float | None = None) -> Generator[Cluster]:
    """The workers of a scheduler. Errors: PL0801 for a limit of time, PL1414, PL1415."""
    if timeout is not None:
        help = "leave one of them out: with --jobs, processes of this machine are ended"
        raise PolyloomError(Diagnostic("PL0801", "workers of a scheduler have no --timeout", USAGE, help=help))
    with _silence_logs():
        client = _client(address)
        try:
            yield Cluster(client, address)
        finally:
            with suppress(Exception):  # a scheduler that is gone cannot be told
                client.close(timeout=2)


@contextmanager
def _silence_logs() -> Generator[None]:
    """What goes wrong becomes a message of ours; Dask would print it, too, with tracebacks."""
    with suppress(ImportError):
        import_module("distributed")  # which gives its loggers their levels
    known = (name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed")
    before = {log: log.level for log in map(logging.getLogger, known)}
    for log in before:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in before.items():
            log.setLevel(level)


def _client(address: str) -> Any:
    try:
        distributed = import_module("distributed")
    except ImportError:
        message = "Dask is not installed"
        raise input_error(
            "PL1414", message, help=f"here and on the workers: `{extras.install_command('dask')}`"
        ) from None
    try:
        # Not the default client: a caller's own Dask code in this process must not meet it.
        client = distributed.Client(address, timeout=WAIT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise _unreachable(address, error) from None
    try:
        _check_workers(client, address)
    except BaseException:
        client.close(timeout=2)
        raise
    return client


def _unreachable(address: str, error: object) -> PolyloomError:
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    message = f"the Dask scheduler at {address} does not answer: {reason}"
    help = "start one (`dask scheduler`), and give its address; rows that --resume keeps are not computed again"
    return input_error("PL1414", message, help=help)


def _check_workers(client: Any, address: str) -> None:
    """Version check: every worker has this version. Errors: PL1414 without workers, PL1415."""
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=WAIT)
    # Rows of two versions in one table could not be compared, so that versions are asked for before any task.
    found: Mapping[str, str] = client.run(version)
    if not found:
        raise _unreachable(address, "it has no workers")
    for worker, theirs in sorted(found.items()):
        if theirs != VERSION:
            message = f"the worker at {worker} has Polyloom {theirs}, and here is {VERSION}"
            raise input_error("PL1415", message, help="install the same version on all workers")


def version() -> str:
    """Called on every worker."""
    return VERSION


class Cluster:
    """An executor."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address

    def answers(self, units: Mapping[str, Unit], tasks: Sequence[Task]) -> Iterator[tuple[Task, Answer]]:
        """Errors: PL1414 where the scheduler is lost."""
        distributed = import_module("distributed")
        queue = deque(_batches(tasks))
        suspects: deque[Batch] = deque()
        try:
            # Scattered once: a task then carries a key, and not the bytes of its unit.
            shipped = {key: self._client.scatter(pack(unit), hash=False) for key, unit in units.items()}
            finished = distributed.as_completed(loop=self._client.loop)
            running: dict[Any, Batch] = {}
            while queue or suspects or running:
                for future, batch in self._submit_batches(queue, suspects, len(running), shipped):
                    running[future] = batch
                    finished.add(future)
                future = next(finished)
                yield from self._gather_answers(future, running.pop(future), suspects)
        except (OSError, RuntimeError, distributed.CancelledError) as error:
            raise _unreachable(self._address, error) from None

    def _submit_batches(
        self, queue: deque[Batch], suspects: deque[Batch], running: int, shipped: Mapping[str, Any]
    ) -> Iterator[tuple[Any, Batch]]:
        """Submission: enough batches for every thread; a suspect only where nothing else runs."""
        most = _AHEAD * max(1, sum(self._client.nthreads().values()))
        while queue and running < most:
            yield self._start(batch := queue.popleft(), shipped), batch
            running += 1
        if suspects and not running:
            yield self._start(batch := suspects.popleft(), shipped), batch

    def _start(self, batch: Batch, shipped: Mapping[str, Any]) -> Any:
        units = {task.unit: shipped[task.unit] for task in batch.tasks}
        # Not pure: Dask must not give the answer of an equal task from its memory. It also retries dead workers' tasks
        # by itself.
        return self._client.submit(perform, units, batch.tasks, pure=False, retries=0)

    def _gather_answers(self, future: Any, batch: Batch, suspects: deque[Batch]) -> Iterator[tuple[Task, Answer]]:
        distributed = import_module("distributed")
        try:
            found: list[Answer] = future.result(timeout=WAIT)
        except distributed.KilledWorker:
            # Alone in its batch and alone on the cluster, so that no other task can be the cause.
            if batch.is_suspect:
                message = "its worker died again and again, at last with nothing running beside it"
                yield batch.tasks[0], abandon_task(batch.tasks[0], "PL1408", message)
            else:
                suspects.extend(Batch((task,), is_suspect=True) for task in batch.tasks)
            return
        yield from zip(batch.tasks, found, strict=True)


def _batches(tasks: Sequence[Task]) -> Iterator[Batch]:
    """Batches of tasks in their order; those of one group are not divided unless they are too many."""
    own: list[Task] = []
    for task in tasks:
        starts = own and (task.group != own[-1].group or task.kind == "compile")
        if len(own) == BATCH or (starts and task.group) or (own and task.kind == "compile"):
            yield Batch(tuple(own))
            own = []
        own.append(task)
    if own:
        yield Batch(tuple(own))


_STACK: Final = ExitStack()
_LOCK: Final = Lock()


@cache
def _worker_state() -> Work:
    """Of a worker process, with a folder for as long as it lives."""
    atexit.register(_STACK.close)
    return Work(_STACK.enter_context(temporary.temporary_folder()))


def perform(units: Mapping[str, bytes], tasks: Sequence[Task]) -> list[Answer]:
    """Called on a worker: the answers of a batch. Threads of one worker take turns."""
    with _LOCK:
        work = _worker_state()
        # By content: keys of two clients, or of two sweeps, may be equal and mean different units.
        named = {key: hashlib.sha256(data).hexdigest() for key, data in units.items()}
        answers = list[Answer]()
        for task in tasks:
            known = named[task.unit]
            if known not in work.units:
                work.open_unit(known, unpack(units[task.unit], work.folder))
            answers.append(work.perform(replace(task, unit=known)))
        return answers
