# SPDX-License-Identifier: Apache-2.0
"""`functions.txt` by a rule, which looks at no result:

    python -m tests.mlir.select_functions FOLDER PROJECT=COMMIT ...

Of each project the files are taken whose path and project have the least SHA-256, as many as the project may have: a
sample that nobody chose. Of a file one function is taken, that of the least SHA-256, of the functions that

- have operations of the dialects that docs/mlir.md lists alone, and among them a loop or an operation of linalg;
- store to an array, or return a value: others compute nothing;
- have arrays of a rank, whose elements are of types that our machines have, and neither vectors nor complex numbers;
- call no function that has no body, or that is not such a function itself;
- are no examples of errors (`expected-error`), and have one name in their file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

FILES: Final = 11
"""Of a project, the most files with such functions."""
DIALECTS: Final = frozenset(
    ("func", "affine", "scf", "arith", "math", "index", "memref", "tensor", "linalg", "bufferization")
)
ELEMENTS: Final = frozenset(
    ("i1", "i8", "i16", "i32", "si8", "si16", "si32", "ui8", "ui16", "ui32", "f16", "f32", "f64", "index")
)
_FUNCTION: Final = re.compile(r"^\s*func\.func\s+(?:private\s+|public\s+)?@(?P<name>[\w.$-]+)", re.MULTILINE)
_OPERATION: Final = re.compile(r"(?:^|=|\{)\s*\"?(?P<dialect>[a-z_]\w*)\.[a-z_][\w.]*", re.MULTILINE)
_LOOP: Final = re.compile(r"\b(?:(?:affine|scf)\.(?:for|parallel|forall)|linalg\.\w+)")
_EFFECT: Final = re.compile(r"\.store\b|\blinalg\.\w+|\bmemref\.copy\b|\breturn\"?\s*[%(]")
_OTHER_TYPE: Final = re.compile(r"vector<|complex<|\*x|<\*|![a-z_]\w*\.\w|dense_resource")
_ELEMENT: Final = re.compile(r"(?:memref|tensor)<(?:[?\d]+\s*x\s*)*(?P<element>\w+)")
_CALL: Final = re.compile(r"\bcall @(?P<name>[\w.$-]+)")


def meant_functions(text: str, elements: frozenset[str] = ELEMENTS) -> list[str]:
    """The functions of a file that the rule takes."""
    bodies = {name: body for name, body in _functions(text) if body is not None}
    meant = {name for name, body in bodies.items() if _is_meant(body, elements)}
    while True:
        # Who calls another function is what that function is.
        kept = {name for name in meant if all(called in meant for called in _CALL.findall(bodies[name]))}
        if kept == meant:
            return [name for name in bodies if name in kept and _computes(bodies[name])]
        meant = kept


def _functions(text: str) -> Iterator[tuple[str, str | None]]:
    """Names and texts of functions; None of a name that several have, of which none is meant then."""
    code = re.sub(r"//(?!\s*expected-error)[^\n]*", "", text)
    found = list(_FUNCTION.finditer(code))
    names = [each["name"] for each in found]
    for n, each in enumerate(found):
        end = found[n + 1].start() if n + 1 < len(found) else len(code)
        yield each["name"], code[each.start() : end] if names.count(each["name"]) == 1 else None


def _is_meant(body: str, elements: frozenset[str]) -> bool:
    used = {operation["dialect"] for operation in _OPERATION.finditer(body)}
    types = {found["element"] for found in _ELEMENT.finditer(body)}
    has_body = re.search(r"\breturn\b", body) is not None
    return (
        used <= DIALECTS
        and types <= elements
        and has_body
        and not re.search(_OTHER_TYPE, body)
        and "expected-error" not in body
    )


def _computes(body: str) -> bool:
    return _LOOP.search(body) is not None and _EFFECT.search(body) is not None


def list_lines(folder: Path, commits: Mapping[str, str]) -> Iterator[str]:
    """The text of `functions.txt` for checkouts in a folder."""
    for project, commit in commits.items():
        root = folder / project.partition("/")[2]
        yield f"{project} {commit}"
        taken = dict[str, str]()
        files = sorted((path.relative_to(root).as_posix() for path in root.rglob("*.mlir")), key=_order(project))
        for file in files:
            names = meant_functions((root / file).read_text(errors="replace"))
            if names and len(taken) < FILES:
                taken[file] = min(names, key=_order(file))
        for file, name in sorted(taken.items()):
            yield f"  {file} {name}"


def _order(salt: str) -> Callable[[str], str]:
    """An order that nobody chose."""
    return lambda name: sha256(f"{salt}/{name}".encode()).hexdigest()


if __name__ == "__main__":
    print("\n".join(list_lines(Path(sys.argv[1]), dict(each.split("=") for each in sys.argv[2:]))))
