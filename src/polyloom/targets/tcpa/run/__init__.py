# SPDX-License-Identifier: Apache-2.0
"""Execution side of the array: instantiation of symbolic configurations (the array paper, section 6), the model, and
the reports of a run.
"""
