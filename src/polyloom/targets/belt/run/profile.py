# SPDX-License-Identifier: Apache-2.0
"""Execution profile: how often the blocks of a run were entered, in a file that `run --counts` writes and `--profile`
reads (docs/targets/belt.md, Loops).

The file is one JSON object: by function and block, as *genasm* names them, a number.
"""

from __future__ import annotations

import json
from typing import Any

from polyloom.diagnostics import input_error
from polyloom.files import read_regular
from polyloom.targets.belt.run.model import Run
from polyloom.targets.belt.source.branch_counts import Counts
from polyloom.targets.belt.words import facts_json
from polyloom.targets.belt.words.program import Program


def write_counts(program: Program, run: Run) -> bytes:
    """Profile of a run: of a block, how often its first bundle was executed."""
    found: dict[str, dict[str, int]] = {}
    for routine, blocks in facts_json.parse_facts(program).blocks.items():
        executed = run.executed.get(routine, ())
        # A block without bundles, at the end of a routine, has no count.
        found[routine] = {name: executed[at] for name, at in blocks.items() if at < len(executed)}
    return json.dumps(found, indent=1, sort_keys=True).encode() + b"\n"


def read(path: str) -> Counts:
    """Profile of a file. Errors: PL1092."""
    try:
        made: Any = json.loads(read_regular(path).decode())
        return {(function, block): _count(n) for function, blocks in made.items() for block, n in blocks.items()}
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it has no counts of blocks"
        help = "write one by `polyloom run FILE ... --on belt --counts counts.json`"
        raise input_error("PL1092", f"cannot read the profile '{path}': {reason}", help=help) from None


def _count(made: Any) -> int:
    if not isinstance(made, int) or isinstance(made, bool) or made < 0:
        raise ValueError
    return made
