# SPDX-License-Identifier: Apache-2.0
"""Contractions as programs of tensor coprocessors."""
