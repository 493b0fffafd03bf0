# SPDX-License-Identifier: Apache-2.0
"""The notes of a release, from CHANGELOG.md: `python packaging/notes.py v1.2.3`.

A tag that is not the package's version, or that the changelog has no section for, is an error.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def version() -> str:
    """The one place of the version."""
    found = re.search(r'^VERSION: Final = "([^"]+)"$', (ROOT / "src/polyloom/version.py").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def notes(changelog: str, tag: str, known: str) -> str:
    """The section of a tag. Errors: ValueError says what to write."""
    if tag != f"v{known}":
        raise ValueError(f"the tag {tag} is not the version {known} of src/polyloom/version.py: tag v{known}")
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL))
    found = next((text for title, text in sections.items() if title.split()[0] == known), None)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no section {known}: write `## {known}` where `## Unreleased` stands")
    return found.strip() + "\n"


if __name__ == "__main__":
    try:
        print(notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), sys.argv[1], version()), end="")
    except ValueError as error:
        sys.exit(str(error))
