# SPDX-License-Identifier: Apache-2.0
"""The script behind `make polybench`, on a folder that is laid out like PolyBench/C: own kernels, a refused one, a
wrong one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.frontend.python.helpers import KERNELS
from tests.kernels import polybench
from tests.kernels.sizes import PRIMES

from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError

pytestmark = pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`")
STEPS = Path(__file__).parent / "steps" / "floyd_warshall.c"
REFUSED = Path(__file__).parent / "refused" / "indirect.c"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """PolyBench's layout: a header of macros in `utilities`, and every kernel in a folder of its own with a header of
    bounds."""
    (tmp_path / "utilities").mkdir()
    header = (KERNELS / "kernels.h").read_text(encoding="utf-8")
    (tmp_path / "utilities" / "polybench.h").write_text("#define CONSTANT_EXTENTS\n" + header, encoding="utf-8")
    (tmp_path / "utilities" / "polybench.c").write_text("int unused;\n", encoding="utf-8")
    for name, place in (("trisolv", "linear-algebra/solvers"), ("matvec", "linear-algebra/blas")):
        text = (
            (KERNELS / f"{name}.c")
            .read_text(encoding="utf-8")
            .replace('#include "kernels.h"', f'#include <polybench.h>\n#include "{name}.h"')
        )
        _write(tmp_path / place / name / f"{name}.c", text, PRIMES[name])
    _write(tmp_path / "medley" / "floyd-warshall" / "floyd-warshall.c", STEPS.read_text(encoding="utf-8"), {"N": 5})
    text = REFUSED.read_text(encoding="utf-8").replace("void indirect", "void kernel_indirect")
    _write(tmp_path / "medley" / "indirect" / "indirect.c", text, {"N": 5})
    return tmp_path


def _write(path: Path, text: str, bounds: dict[str, int]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    small, large = ("".join(f"#   define {n} {v * k}\n" for n, v in bounds.items()) for k in (1, 100))
    path.with_suffix(".h").write_text(
        f"#  ifdef MINI_DATASET\n{small}#  endif\n\n#  ifdef LARGE_DATASET\n{large}#  endif\n", encoding="utf-8"
    )


def test_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert polybench.main(folder) == 0
    shown = capsys.readouterr()
    results = {line.split("|")[1].strip(): line.split("|")[2].strip() for line in shown.out.splitlines()[2:]}
    assert results == {"matvec": "equal", "trisolv": "equal", "floyd-warshall": "equal", "indirect": "PL0162"}
    assert "indirect: error[PL0162]" in shown.err


def test_a_difference_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def differ(*_: object) -> None:
        raise PolyloomError(Diagnostic("PL0812", "y[0] differs", MISMATCH))

    monkeypatch.setattr(polybench, "run", differ)
    assert polybench.main(folder) == 1
    assert "PL0812" in capsys.readouterr().out


def test_a_folder_without_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert polybench.main(tmp_path) == 1
    assert "has no kernel" in capsys.readouterr().err
