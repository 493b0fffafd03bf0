# SPDX-License-Identifier: Apache-2.0
"""Pointers of C as arrays and counters: what each points into, live ranges, exchanges, walks."""
