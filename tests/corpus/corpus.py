# SPDX-License-Identifier: Apache-2.0
"""The corpus: loops as people write them, each with sizes to run it with and the constructs that it needs.

`loops.toml` is the table, `polyloom bench corpus` prints it. A loop runs on 2x2 elements of `wide`, where its outputs
are compared with the equations and with its own source. `refused` is the code of a loop that no loop machine can run,
`waits` that of one that is not understood yet: a loop may lose `waits`, and nothing else changes.
"""

from __future__ import annotations

from polyloom.cli.bench.corpus import EQUAL, Loop, folder, loops, outcome

__all__ = ["EQUAL", "FOLDER", "Loop", "loops", "outcome"]

FOLDER = folder()
