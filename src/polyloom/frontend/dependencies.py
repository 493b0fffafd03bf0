# SPDX-License-Identifier: Apache-2.0
"""Dependencies of a source file: what it includes or imports, for whoever has to know whether any of them has changed.

They are found without compiling or executing: every `#include` of a C file counts (C17, section 6.10.2), whatever the
conditions around it say, and every `import` of a Python file. What is installed (headers of the compiler, packages) is
not looked at. A C file that computes the name in an `#include` hides a header from this.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Final

from polyloom.frontend.source import Options

_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_INSTALLED: Final = ("site-packages", "dist-packages")


def source_dependencies(path: str, folders: Sequence[str] = ()) -> tuple[Path, ...]:
    """Dependencies in the order of their names, without the file itself; `folders` are those of `-I`. Nothing for what
    cannot be read, which its front end refuses.
    """
    if path.endswith(".mlir"):
        return ()  # a module of MLIR names no other file
    found = (
        _imported_modules(path)
        if path.endswith(".py")
        else _reachable_headers(Path(path), [Path(folder) for folder in folders])
    )
    return tuple(sorted(found - {Path(path).resolve()}))


def dependencies_with_options(path: str, options: Options) -> tuple[Path, ...]:
    """Dependencies of a source that is read with `options`: those of the file, and `--with` files with theirs."""
    found = set(source_dependencies(path, options.includes))
    for other in options.companions:
        found.update((Path(other).resolve(), *source_dependencies(other, options.includes)))
    return tuple(sorted(found))


def _reachable_headers(path: Path, folders: Sequence[Path]) -> set[Path]:
    found, waiting = set[Path](), [path.resolve()]
    while waiting:
        if (file := waiting.pop()) in found:
            continue
        found.add(file)
        with suppress(OSError):
            waiting += _find_includes(file, file.read_bytes(), folders)
    return found


def _find_includes(file: Path, text: bytes, folders: Sequence[Path]) -> Iterator[Path]:
    """Resolution of include directives as C looks for files: a name in quotes is first beside the file (C17, section
    6.10.2).
    """
    for match in _INCLUDE.finditer(text):
        quoted, bracketed = match.groups()
        name = (quoted or bracketed).decode("utf-8", "surrogateescape")
        places = (folder / name for folder in ([file.parent, *folders] if quoted else folders))
        if (here := next(filter(Path.is_file, places), None)) is not None:
            yield here.resolve()


def _imported_modules(path: str) -> set[Path]:
    """Modules that a Python file imports, transitively; of a package the file `__init__.py`."""
    finder = ModuleFinder([str(Path(path).parent), *filter(_is_user_folder, sys.path)], excludes=["polyloom"])
    # What it cannot compile, Python cannot execute either; its own reading of names has defects, too.
    with suppress(OSError, SyntaxError, ValueError, AttributeError, RecursionError):
        finder.run_script(path)
    files = (getattr(module, "__file__", None) for module in finder.modules.values())
    return {Path(file).resolve() for file in files if file is not None and file.endswith(".py")}


def _is_user_folder(folder: str) -> bool:
    """Whether a folder of `sys.path` is the user's, and neither Python's own nor that of installed packages."""
    whole = Path(folder).resolve()
    belongs = any(whole.is_relative_to(prefix) for prefix in (sys.prefix, sys.base_prefix))
    return not belongs and whole.name not in _INSTALLED
