# SPDX-License-Identifier: Apache-2.0
"""A worker for tests: it dies of the points that are in `POLYLOOM_TEST_DEADLY`, and sleeps at those in
`POLYLOOM_TEST_SLOW`, both texts such as `N=16`."""

from __future__ import annotations

import os
import signal
import time

from polyloom.exploration import worker
from polyloom.exploration.work import Answer, Task, Work


class Deadly(Work):
    def perform(self, task: Task) -> Answer:
        words = [f"{name}={text}" for name, text in task.values]
        if os.environ.get("POLYLOOM_TEST_DEADLY") in words:
            os.kill(os.getpid(), signal.SIGKILL)
        if os.environ.get("POLYLOOM_TEST_SLOW") in words:
            time.sleep(600)
        return super().perform(task)


if __name__ == "__main__":
    worker.main(Deadly)
