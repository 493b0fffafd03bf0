# SPDX-License-Identifier: Apache-2.0
"""Worker process of the pool: `python -m polyloom.exploration.worker FOLDER` reads tasks from its standard input and
writes answers to its standard output, until the input ends.

What kernels print goes to the standard error output: the standard output belongs to the messages.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from polyloom.diagnostics import PolyloomError
from polyloom.exploration.messages import receive, send
from polyloom.exploration.serialization import unpack
from polyloom.exploration.work import Work


def main(kind: type[Work] = Work) -> None:
    # The descriptor is copied before 1 becomes 2, so that no `print`, not even one of C, can reach the messages.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions = sys.stdin.buffer
    work = kind(Path(sys.argv[1]))
    send(answers, "ready")
    while True:
        try:
            message: Any = receive(questions)
        except EOFError:
            return
        match message:
            case ("unit", key, data):
                send(answers, _open_unit(work, key, data))
            case ("task", task):
                send(answers, work.perform(task))
            case _:
                return


def _open_unit(work: Work, key: str, data: bytes) -> PolyloomError | None:
    """What is wrong with a unit that cannot be had here, such as one of a module that this process does not find."""
    try:
        work.open_unit(key, unpack(data, work.folder))
    except PolyloomError as error:
        return error
    return None


if __name__ == "__main__":
    main()
