# SPDX-License-Identifier: Apache-2.0
"""File formats of plans of several phases (docs/formats.md)."""
