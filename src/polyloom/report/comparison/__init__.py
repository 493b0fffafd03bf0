# SPDX-License-Identifier: Apache-2.0
"""A comparison drawn: as text, and as one page with a table, a roofline, and inner loops beside the source."""
