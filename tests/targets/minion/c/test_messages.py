# SPDX-License-Identifier: Apache-2.0
"""What `polyloom cc` and runs of its programs refuse, each with its place, exit code and help."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.cli import main
from polyloom.frontend.c import clang

pytest.importorskip("ziglang", reason="C needs the extra `c`")

HEAD = "#include <minion.h>\n"
WRONG = {
    "immediate": f"{HEAD}int main(void) {{\n    et_f32x8 x = et_set_f32x8(1);\n    x = et_fswizz_ps(x, 256);\n}}\n",
    "no-constant": f"{HEAD}int main(void) {{\n    int n = (int)get_hart_id();\n    et_mov_m_x(n, 255, 0);\n}}\n",
    "mask": f"{HEAD}int main(void) {{ et_maskand(0, 8, 1); }}\n",
    "type": f"{HEAD}et_i32x8 f(et_f32x8 x) {{ return et_fadd_pi(x, x); }}\nint main(void) {{}}\n",
    "inline": 'int main(void) {\n    __asm__("nop");\n    __asm__ volatile("fslli.pi f0, f1, 77");\n}\n',
    "operators": "typedef int v __attribute__((vector_size(32)));\nv a, b;\nint main(void) { a = a + b; }\n",
    "double": "volatile double x;\nint main(void) { x = x * 3; }\n",
    "no-main": "int run(void) { return 0; }\n",
    "undefined": "void other(void);\nint main(void) { other(); }\n",
    "large": "volatile char x[1 << 29];\nint main(void) { return x[5]; }\n",
    "syntax": "int main(void) { return }\n",
}
ENDS = {
    "barrier": f"{HEAD}int main(void) {{\n    shire_barrier(0, FCC_0, 33, 0xffffffff, 0);\n    return 0;\n}}\n",
    "memory": "int main(void) {\n    *(volatile long *)0x4000000000 = 1;\n}\n",
    "shire": f"{HEAD}int main(void) {{\n    fcc_send(40, THREAD_0, FCC_0, 1);\n    return 0;\n}}\n",
    "failed": "int main(void) { return 3; }\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _shown(capsys: pytest.CaptureFixture[str], status: int) -> str:
    captured = capsys.readouterr()
    return f"exit {status}\n{captured.out}{captured.err}"


@pytest.mark.parametrize("name", WRONG)
def test_sources(name: str, folder: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    (folder / "a.c").write_text(WRONG[name])
    golden(f"source-{name}", _shown(capsys, main(["cc", "a.c", "-o", "a.elf"])))
    assert not (folder / "a.elf").exists()


@pytest.mark.parametrize("name", ENDS)
def test_runs(name: str, folder: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    (folder / "a.c").write_text(ENDS[name])
    assert main(["cc", "a.c", "-o", "a.elf", "-q"]) == 0
    golden(f"run-{name}", _shown(capsys, main(["simulate", "a.elf", "--on", "minion:32", "--functional"])))


def test_commands(folder: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    (folder / "a.txt").write_text("")
    (folder / "a.c").write_text("")
    commands = (
        ["a.c"],
        ["-o", "a.elf"],
        ["a.txt", "-o", "a.elf"],
        ["b.c", "-o", "a.elf"],
        ["a.c", "-o", "a.c"],
        ["a.c", "-o", "a.elf", "--on", "tensix"],
        ["a.c", "-o", "a.elf", "--stack", "0"],
        ["a.c", "-o", "a.elf", "--stack", "9" * 50],
    )
    shown = [f"$ polyloom cc {' '.join(words)}\n{_shown(capsys, main(['cc', *words]))}" for words in commands]
    golden("commands", "\n".join(shown))


def test_clang_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    (folder / "a.c").write_text("int main(void) {}\n")
    clang.clear_caches()
    monkeypatch.setattr(clang, "find_spec", dict[str, None]().get)
    golden("no-clang", _shown(capsys, main(["cc", "a.c", "-o", "a.elf"])))
    clang.clear_caches()


def test_headers(folder: Path) -> None:
    (folder / "include").mkdir()
    assert main(["cc", "--headers", "include"]) == 0
    assert {path.name for path in (folder / "include").iterdir()} == {"minion.h", "minion_simd.h"}
