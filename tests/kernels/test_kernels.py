# SPDX-License-Identifier: Apache-2.0
"""Every kernel of examples/kernels runs on the array as its own source runs, the Python function and the C function
alike.

`run` compares the model of the array with the equations and with the source that was compiled; here the result is also
compared with the source in the other language. `make test-long` compiles every kernel from both, for every element
type, region and size.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.frontend.python.helpers import KERNELS, assert_same
from tests.kernels.running import LANGUAGES, Language, compiled, in_type, run, types
from tests.kernels.sizes import MINI, PRIMES

from polyloom.cli.bench.polybench import REASSOCIATED
from polyloom.frontend import c, python
from polyloom.frontend.source import Options
from polyloom.ir.operations import ElementType

pytestmark = [
    pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`"),
    pytest.mark.usefixtures("roughly_scheduled"),
]
REGION = (4, 4)
REGIONS = ((1, 1), (2, 3), REGION)
PRODUCT = [(name, language, dtype) for name in MINI for language in LANGUAGES for dtype in types(name)]


@pytest.mark.parametrize(("name", "language"), [(name, LANGUAGES[n % 2]) for n, name in enumerate(MINI)])
def test_kernel_runs_as_both_sources_do(name: str, language: Language) -> None:
    """Compiled from one language only: tests/frontend/c/test_kernels.py shows that both give one nest."""
    made = compiled(KERNELS / f"{name}.{language}", name, types(name)[0])
    inputs, result = run(made, PRIMES[name], REGION)
    assert result.verified
    assert result.data["proved_minimal"] is not False
    operations = [o for view in result.views for o in view.operations]
    assert operations
    assert all(o.provenance is not None and o.provenance.line for o in operations)
    if name not in REASSOCIATED:
        read, ending = (c.load, "c") if language == "py" else (python.load, "py")
        nest, function = read(str(KERNELS / f"{name}.{ending}"), Options())
        assert_same(function({p: PRIMES[name][p.upper()] for p in nest.parameters}, inputs), result.outputs)


@pytest.mark.long
@pytest.mark.parametrize(("name", "language", "dtype"), PRODUCT)
def test_kernel_runs_in_every_type_at_every_size(
    name: str, language: Language, dtype: ElementType, tmp_path: Path
) -> None:
    made = compiled(in_type(name, language, dtype, tmp_path), name, dtype)
    for sizes in (MINI, PRIMES):
        for region in REGIONS:
            assert run(made, sizes[name], region)[1].verified


@pytest.mark.parametrize(
    ("name", "language", "dtype"), [case for case in PRODUCT if case[2] == "i32" and case[2] != types(case[0])[0]]
)
def test_another_type_is_the_same_kernel(name: str, language: Language, dtype: ElementType, tmp_path: Path) -> None:
    read = c.load if language == "c" else python.load
    nest, _ = read(str(in_type(name, language, dtype, tmp_path)), Options())
    assert {s.dtype for s in nest.storage} == {dtype}
