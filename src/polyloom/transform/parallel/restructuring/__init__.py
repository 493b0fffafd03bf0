# SPDX-License-Identifier: Apache-2.0
"""Restructuring of outermost loops: arrays of bytes narrowed, matrix products apart, neighbours fused, the loop that
most workers share first.
"""
