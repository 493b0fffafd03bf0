# SPDX-License-Identifier: Apache-2.0
"""`polyloom doctor`: a check of the installation. Every part is loaded, and one program runs the whole way."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import polyloom
from polyloom import _native
from polyloom.cli import examples
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.diagnostics import INPUT, Diagnostic
from polyloom.extras import AGAIN, install_command


def arguments(parser: Parser) -> None:
    del parser


def execute(options: Request) -> Answer:
    del options
    rows = [(name, *_check_outcome(check)) for name, check in _CHECKS.items()]
    failed = [name for name, good, _ in rows if not good]
    text = "\n".join(f"{'ok    ' if good else 'FAILED'}  {name:14} {what}" for name, good, what in rows)
    data = {"ok": not failed, "checks": [{"name": name, "ok": good, "found": what} for name, good, what in rows]}
    help = AGAIN
    found = (
        (Diagnostic("PL0814", f"this installation is not whole: {', '.join(failed)}", INPUT, help=help),)
        if failed
        else ()
    )
    return Answer(data, text, found)


def _check_outcome(check: Callable[[], str]) -> tuple[bool, str]:
    try:
        return True, check()
    except Exception as error:  # whatever is wrong is what the user asked for
        return False, f"{type(error).__name__}: {error}".splitlines()[0]


def _package(name: str) -> Callable[[], str]:
    def check() -> str:
        importlib.import_module(name)
        return version(name)

    return check


def _check_c() -> str:
    """Tools of the extra [c], whose absence is no fault."""
    try:
        return ", ".join(f"{name} {_package(name)()}" for name in ("ziglang", "llvmlite"))
    except (ImportError, PackageNotFoundError):
        return f"not installed; for C: {install_command('c')}"


def _modules() -> str:
    modules = sorted(path.stem for path in Path(_native.__file__).parent.glob("*.pyi"))
    for name in modules:
        importlib.import_module(f"polyloom._native.{name}")
    return f"{', '.join(modules)}: loaded"


def _self_test() -> str:
    from polyloom import api

    # A small program that passes through all parts: front end, solver, native library and model.
    result = api.compile(examples.path("bits"), on="tcpa:paper:1x3").instantiate(N=16).run()
    return f"bits, N = 16 on 1x3 elements: {result.cycles} cycles, {result.verdict}"


_CHECKS: Final[dict[str, Callable[[], str]]] = {
    "python": platform.python_version,
    "polyloom": lambda: polyloom.__version__,
    "numpy": _package("numpy"),
    "islpy": _package("islpy"),
    "ortools": _package("ortools"),
    "extra [c]": _check_c,
    "native model": _modules,
    "examples": lambda: str(examples.folder()),
    "self-test": _self_test,
}
