# SPDX-License-Identifier: Apache-2.0
"""Batched products: parts of arrays, one or many of one shape."""
