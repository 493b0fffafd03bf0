# SPDX-License-Identifier: Apache-2.0
"""`functions.txt` by a rule, which looks at no result:

    python -m tests.mlir.select_functions FOLDER PROJECT=COMMIT ...

A file is taken where the SHA-256 of its project and path is below a part of its range: a sample that nobody chose. Of
such a file all functions are taken whose operations are of the dialects that docs/mlir.md lists, that have a loop or an
operation of linalg, and whose types are ranked and of no vectors.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

PART: Final = 0.2
"""Of all files."""
DIALECTS: Final = frozenset(
    ("func", "affine", "scf", "arith", "math", "index", "memref", "tensor", "linalg", "bufferization")
)
_FUNCTION: Final = re.compile(r"^\s*func\.func\s+(?:private\s+|public\s+)?@(?P<name>[\w.$-]+)", re.MULTILINE)
_OPERATION: Final = re.compile(r"(?:^|=|\{)\s*\"?(?P<dialect>[a-z_]\w*)\.[a-z_][\w.]*", re.MULTILINE)
_LOOP: Final = re.compile(r"\b(?:(?:affine|scf)\.(?:for|parallel)|linalg\.\w+)")
_OTHER_TYPE: Final = re.compile(r"vector<|complex<|\*x|<\*|![a-z_]\w*\.\w")


def is_sampled(project: str, file: str) -> bool:
    """Whether a file is in the sample."""
    return int(sha256(f"{project}/{file}".encode()).hexdigest()[:8], 16) < PART * 2**32


def meant_functions(text: str) -> Iterator[str]:
    """The functions of a file that the rule takes."""
    code = re.sub(r"//[^\n]*", "", text)
    found = list(_FUNCTION.finditer(code))
    names = [each["name"] for each in found]
    for n, each in enumerate(found):
        end = found[n + 1].start() if n + 1 < len(found) else len(code)
        body = code[each.start() : end]
        used = {operation["dialect"] for operation in _OPERATION.finditer(body)}
        # A name that stands in several parts of a file names none of them.
        if used <= DIALECTS and _LOOP.search(body) and not _OTHER_TYPE.search(body) and names.count(each["name"]) == 1:
            yield each["name"]


def list_lines(folder: Path, commits: Mapping[str, str]) -> Iterator[str]:
    """The text of `functions.txt` for checkouts in a folder."""
    for project, commit in commits.items():
        root = folder / project.partition("/")[2]
        yield f"{project} {commit}"
        for path in sorted(root.rglob("*.mlir")):
            file = path.relative_to(root).as_posix()
            names = list(meant_functions(path.read_text(errors="replace"))) if is_sampled(project, file) else []
            if names:
                yield f"  {file} {' '.join(names)}"


if __name__ == "__main__":
    print("\n".join(list_lines(Path(sys.argv[1]), dict(each.split("=") for each in sys.argv[2:]))))
