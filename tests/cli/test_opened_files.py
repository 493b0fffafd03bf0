# SPDX-License-Identifier: Apache-2.0
"""A run of a C function opens the files that its command names and what these include, and none beside them: `--with`
is no search, under whatever names functions and headers are declared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.device.devices import ROOT
from tests.fuzz import tracing
from tests.fuzz.allowed import INSTALLED

pytest.importorskip("ziglang", reason="C needs the extra `c`")
REASON = tracing.missing()

FILES: Final = {
    "main.c": '#include <stdint.h>\n#include "own.h"\nvoid f(int32_t n, const float x[n], float y[n]) {\n'
    "  for (int i = 0; i < n; i++) y[i] = twice(x[i]);\n}\n",
    "own.h": "float twice(float x);\n",
    "helper.c": '#include "own.h"\nfloat twice(float x) {\n  return x + x;\n}\n',
    # What a search would find: another definition, a file of the function's name, headers, options of compilers.
    "another.c": "float twice(float x) {\n  return 3 * x;\n}\n",
    "twice.c": "float twice(float x) {\n  return 4 * x;\n}\n",
    "main.h": "#error not named\n",
    "helper.h": "#error not named\n",
    "stdint.h": "#error not named\n",
    ".clang": "--not-named\n",
}
_OPENED: Final = re.compile(r"\b(?:open|openat)\(.*= \d+<((?:[^>\\]|\\.)*)>")
_SYSTEM: Final = ("/usr/", "/lib", "/etc/", "/dev/", "/proc/", "/sys/", *INSTALLED, f"{ROOT}/")


def opened_files(folder: Path, words: str) -> set[str]:
    """Names of the files, not below the system or the installation, that a command has opened."""
    log, temporary = folder.parent / "log", folder.parent / "temporary"
    temporary.mkdir()
    program = [sys.executable, "-m", "polyloom", *words.split()]
    trace = ["strace", "-f", "-y", "-qq", "-s", "4096", "-e", "trace=?open,?openat", "-o", str(log)]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run([*trace, *program], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "equal bits" in done.stdout
    paths = set(_OPENED.findall(log.read_text(encoding="utf-8", errors="surrogateescape")))
    known = (*_SYSTEM, f"{temporary}/")
    return {os.path.relpath(p, folder) for p in paths if not Path(p).is_dir() and not p.startswith(known)}


@pytest.mark.skipif(REASON is not None, reason=str(REASON))
def test_only_named_files_are_opened(tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = opened_files(folder, "run main.c --function f --with helper.c n=4 --on tcpa:1x1")
    assert found == {"main.c", "own.h", "helper.c"}
