# SPDX-License-Identifier: Apache-2.0
"""A process of the pool: `python -m polyloom.exploration.worker FOLDER` reads tasks from its standard input and writes
answers to its standard output, until the input ends.

What kernels print goes to the standard error output: the standard output belongs to the messages.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from polyloom.exploration.messages import receive, send
from polyloom.exploration.work import Work


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions = sys.stdin.buffer
    work = Work(Path(sys.argv[1]))
    send(answers, "ready")
    while True:
        try:
            message: Any = receive(questions)
        except EOFError:
            return
        match message:
            case ("path", path):
                sys.path[:] = path
            case ("unit", key, data):
                send(answers, _known(work, key, data))
            case ("task", task):
                send(answers, work.perform(task))
            case _:
                return


def _known(work: Work, key: str, data: bytes) -> str | None:
    """What is wrong with a unit that cannot be had here, such as one of a module that this process does not find."""
    import pickle

    try:
        work.know(key, pickle.loads(data))
    except Exception as error:  # whatever unpickling raises
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    main()
