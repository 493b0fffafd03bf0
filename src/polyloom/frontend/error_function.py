# SPDX-License-Identifier: Apache-2.0
"""The error function in single precision as a rational function: erf x = x p(x^2) / q(x^2) for |x| up to 4, where it is
1. The front ends of ONNX and MLIR write it with these polynomials, so that both have the same bits.
"""

from __future__ import annotations

from typing import Final

# 1 - erf(4) is 1.5e-8, less than half of the last bit of 1 in single precision; without the limit the quotient of
# polynomials would leave 1 for large x.
ERF_LIMIT: Final = 4.0
# Minimax in the relative error, 2.5e-8 before rounding; the highest power of x^2 first.
ERF_ABOVE: Final = (
    1.9867650280502858e-06,
    0.00028456535073928535,
    0.0038833681028336287,
    0.053101833909749985,
    0.19354577362537384,
    1.1283791065216064,
)
ERF_BELOW: Final = (
    3.741995897144079e-05,
    0.0011855745688080788,
    0.015207306481897831,
    0.11535028368234634,
    0.5048580169677734,
    1.0,
)
