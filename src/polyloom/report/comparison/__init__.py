# SPDX-License-Identifier: Apache-2.0
"""Report of a comparison: as text, and as one page with a table, a roofline, and inner loops beside the source."""
