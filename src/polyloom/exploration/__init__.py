# SPDX-License-Identifier: Apache-2.0
"""Design-space exploration: sizes, regions and machines, predicted by the thousand and verified where it matters
(docs/explore.md).

`explore` makes points of axes (`ranges.py`, `space.py`), asks an executor for their rows (`flow.py`, `work.py`), keeps
each in a folder (`store.py`), and gives a `Sweep`. Executors are this process, a pool of processes, and Dask.
"""
