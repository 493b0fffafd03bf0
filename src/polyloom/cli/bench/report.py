# SPDX-License-Identifier: Apache-2.0
"""Size and cost of report pages: of every kernel of examples/kernels, at the bounds of `polyloom bench polybench`, and
of gemm on 32x32 elements: bytes, and CPU seconds beyond those of the traced run.

`notebook bytes` is what a notebook shows of the result, `bits` the activity before it is deflated (RFC 1951), `trace
bytes` a trace for Perfetto, `.json.gz`, `uncompressed` the same as `.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import process_time
from typing import Final

from polyloom import api
from polyloom.cli.bench.polybench import REASSOCIATED, REGION, SIZES, path
from polyloom.frontend.source import Options
from polyloom.report import trace
from polyloom.run.instance import Result

LARGE: Final = (32, 32)
"""A region whose picture has a thousand elements."""


def rows() -> Iterator[dict[str, object]]:
    yield from (_row(kernel, sizes, REGION) for kernel, sizes in SIZES.items())
    yield _row("gemm", {"NI": 64, "NJ": 64, "NK": 32}, LARGE)


def _row(kernel: str, sizes: Mapping[str, int], region: tuple[int, int]) -> dict[str, object]:
    source = api.load_source(path(kernel), Options(reassociate=kernel in REASSOCIATED))
    compiled = api.compile(source, on="tcpa:wide")
    result = compiled.instantiate(sizes, pes=region).run(trace=True)
    # The run is over: what follows is the page's own cost.
    start = process_time()
    page = result.page()
    seconds = process_time() - start
    found = result.activity
    return {
        "kernel": kernel,
        "bounds": "x".join(map(str, sizes.values())),
        "elements": f"{region[0]}x{region[1]}",
        "operations": result.execution.operations,
        "page bytes": len(page.encode()),
        "notebook bytes": len(result._repr_mimebundle_()["text/html"].encode()),  # pyright: ignore[reportPrivateUsage]  # the name is a convention of notebooks
        "bits": 8 * len(found.bits) if found is not None else None,
        "seconds": round(seconds, 2),
        **(_trace_sizes(result) if region == REGION else {"trace bytes": None, "uncompressed": None}),
    }


def _trace_sizes(result: Result) -> dict[str, object]:
    made = trace.perfetto(result.trace)
    return {"trace bytes": len(trace.compress_trace(made)), "uncompressed": len(made)}
