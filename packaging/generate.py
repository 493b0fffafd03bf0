# SPDX-License-Identifier: Apache-2.0
"""Generated headers: texts that are made of the package's tables whenever it is built.

    python packaging/generate.py FOLDER     into FOLDER/riscv and FOLDER/minion for the native code,
                                            into FOLDER/include/tensix for programs of a tile's cores

CMake runs this in pip's isolated environment: it needs the standard library alone. A file whose text is the same stays
as it is, and what includes it is not compiled again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

_SOURCES = Path(__file__).resolve().parents[1] / "src"


def texts() -> Iterator[tuple[str, str]]:
    """The path of every generated header, and its text."""
    from polyloom.riscv import header as riscv
    from polyloom.targets.minion.words import header as minion
    from polyloom.targets.tensix import header as tensix

    yield "riscv/table.hpp", f"{riscv.table_header()}\n"
    yield "minion/packed_table.hpp", f"{minion.header()}\n"
    yield from ((f"include/tensix/{name}", text) for name, text in tensix.files())


def write(folder: Path) -> None:
    for name, text in texts():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(_SOURCES))
    write(Path(sys.argv[1]))
