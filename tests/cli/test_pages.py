# SPDX-License-Identifier: Apache-2.0
"""Every code that the sources raise is in a catalogue, and has a subject on the site's page of codes."""

from __future__ import annotations

import re
from pathlib import Path

import polyloom
from polyloom.cli.explain import SUBJECTS, known_codes


def test_every_code_is_explained() -> None:
    sources = Path(polyloom.__file__).parent.rglob("*.py")
    raised = {
        code
        for path in sources
        if not path.name.startswith("codes")
        for code in re.findall(r'"(PL[01]\d{3})"', path.read_text(encoding="utf-8"))
    }
    assert len(raised) > 300
    assert sorted(raised - set(known_codes())) == []
    assert all(code[:4] in SUBJECTS for code in known_codes())
