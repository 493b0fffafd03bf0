# SPDX-License-Identifier: Apache-2.0
"""A short run of the fuzzer, and every input that a longer one (`make fuzz`) ever found fault with."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz import fuzzing

SECONDS = 15
REASON = fuzzing.missing()


@pytest.mark.skipif(REASON is not None, reason=str(REASON))
def test_no_input_crashes_or_leaves_its_buffers(tmp_path: Path) -> None:
    done = fuzzing.fuzz(fuzzing.build(), tmp_path / "corpus", SECONDS)
    assert done.returncode == 0, done.stderr[-4000:]
    assert fuzzing.runs(done.stderr) > 200
