# SPDX-License-Identifier: Apache-2.0
"""Vector kernels in C++, read by clang over headers of our own."""
