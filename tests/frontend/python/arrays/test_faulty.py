# SPDX-License-Identifier: Apache-2.0
"""What is said of faulty kernels of arrays: always a located diagnostic with a help, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.frontend.python.arrays.faulty import texts

from polyloom.codes import CODES
from polyloom.diagnostics import INPUT, PolyloomError
from polyloom.frontend.python import load_kernel

TEXTS = texts()


@pytest.mark.parametrize("name", TEXTS)
def test_faulty_kernel_is_explained(name: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.py").write_text(TEXTS[name], encoding="utf-8")
    with pytest.raises(PolyloomError) as caught:
        assert load_kernel("f.py").nest
    error = caught.value
    assert error.exit_code == INPUT
    assert all(d.code in CODES and d.help is not None and d.span is not None for d in error.diagnostics)
    golden(f"errors/{name}", str(error))
