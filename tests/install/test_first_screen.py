# SPDX-License-Identifier: Apache-2.0
"""What of README the goal `make wheel-test` tries, and that it notices a command that does something else."""

from __future__ import annotations

from pathlib import Path

from tests.install.first_screen import ROOT, commands, try_commands

PAGE = """# Title

```sh
pip install .
# a comment
true  # another one
```

```console
$ echo one two
one two
$ echo three
...three
```

## First

```console
$ echo 4 cycles --report page.html
5 cycles --report page.html
```

## Second

```sh
exit 1
```
"""


def test_the_first_screen_installs_and_runs() -> None:
    found = list(commands((ROOT / "README.md").read_text(encoding="utf-8")))
    assert [command.split()[0] for command, _ in found] == ["pip", "pip", "polyloom", "polyloom"]
    assert [shown is None for _, shown in found] == [True, True, False, False]
    assert found[0][0] == "pip install ." and "--report gemm.html" in found[2][0]


def test_other_output_and_missing_files_are_noticed(tmp_path: Path) -> None:
    """In an environment whose pip only repeats what it is given."""
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text('#!/bin/sh\ntest "$*" = "install --quiet /a wheel.whl"\n')
    pip.chmod(0o755)
    found = try_commands(PAGE, "/a wheel.whl", tmp_path, tmp_path)
    assert [line.split("\n")[1][:24] for line in found] == ["exit code 0, README show", "writes no page.html"]
    assert all(line.startswith("$ echo 4 cycles") for line in found)
    assert try_commands(PAGE, "/another.whl", tmp_path, tmp_path)[0].startswith("$ pip install .\nexit code 1")
