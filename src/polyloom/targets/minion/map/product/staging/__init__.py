# SPDX-License-Identifier: Apache-2.0
"""Staging of operands: second harts bring what first harts multiply."""
