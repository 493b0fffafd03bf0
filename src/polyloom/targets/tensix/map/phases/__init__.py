# SPDX-License-Identifier: Apache-2.0
"""Loops that are no products, as phases of vector code: which loop is a vector, and the programs of the threads."""
