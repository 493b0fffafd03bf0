# SPDX-License-Identifier: Apache-2.0
"""Transformations of one piecewise linear algorithm, whose equations have no order: dependences stay uniform."""
