# SPDX-License-Identifier: Apache-2.0
"""Rows of the summary."""

from __future__ import annotations

from polyloom.targets.belt.run.facts import Facts, summary


def test_every_reason_of_open_code_is_told_in_words() -> None:
    """The words of `LoopFacts.reason`; what the importer says is a text already."""
    for reason in ("never", "ratio", "stations", "schedule", "none", "belt", "scratch"):
        loop: Facts = {"line": 3, "pipelined": False, "reason": reason}
        rows = summary({"cycles": 1, "operations": 1, "loops": [loop], "bundles": 1, "belt_bytes": 8})
        text = dict(rows)["loop, line 3"].removeprefix("open code: ")
        assert len(text.split()) > 1, reason
