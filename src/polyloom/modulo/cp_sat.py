# SPDX-License-Identifier: Apache-2.0
"""CP-SAT, set up so that the same question has the same answer on every run.

Its Python module is imported where it is first used, and pandas, which that module imports for series of variables,
where one is made: a second of processor time that nobody need wait for who has none.
"""

from __future__ import annotations

import builtins
import sys
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Pandas(ModuleType):
    """pandas, imported for the first name of it that is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("pandas"), name)


class _WithoutPandas(Loader):
    """Loader of a module that sees `_Pandas` where it imports pandas."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        pandas = _Pandas("pandas")
        # Types of annotations, which are all that the module asks for before a series is made.
        types = {"Index": object, "Series": object}

        def import_(name: str, *more: Any, **named: Any) -> Any:
            return pandas if name == "pandas" else builtins.__import__(name, *more, **named)

        # A module's own builtins (Python's reference, section 4.2.2): nobody else's imports change, in no thread.
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": import_}
        vars(pandas).update(types)
        self.loader.exec_module(module)
        for name in types:
            del vars(pandas)[name]


_NAME = "ortools.sat.python.cp_model"
if TYPE_CHECKING or _NAME in sys.modules:
    from ortools.sat.python import cp_model
else:
    _spec = find_spec(_NAME)
    _spec.loader = LazyLoader(_WithoutPandas(_spec.loader))
    sys.modules[_NAME] = cp_model = module_from_spec(_spec)
    _spec.loader.exec_module(cp_model)


def solver(deterministic_limit: float) -> cp_model.CpSolver:
    """A solver whose limit counts its work, not seconds of a clock."""
    result = cp_model.CpSolver()
    result.parameters.num_workers = 1
    result.parameters.random_seed = 1
    result.parameters.max_deterministic_time = deterministic_limit
    # Its handler ends a search with what there is, and takes Python's own away for good.
    result.parameters.catch_sigint_signal = False
    return result
