# SPDX-License-Identifier: Apache-2.0
"""The headers of vector kernels in C++, and what writes the one of operations."""
