# SPDX-License-Identifier: Apache-2.0
"""Local arrays of symbolic sizes as arguments, for machines whose functions have no arrays of such sizes of their own:
the caller gives them room, as a workspace of LAPACK's routines has it."""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.nest import Nest, Storage


def scratch_arguments(nest: Nest) -> tuple[Nest, frozenset[str]]:
    """The nest with arguments in the place of local arrays whose sizes are symbolic, and their names."""
    found = frozenset(s.name for s in nest.storage if _is_symbolic(s))
    storage = tuple(replace(s, role="argument") if s.name in found else s for s in nest.storage)
    return (replace(nest, storage=storage) if found else nest), found


def _is_symbolic(storage: Storage) -> bool:
    return storage.role == "local" and any(not extent.is_constant for extent in storage.shape)
