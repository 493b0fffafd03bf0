# SPDX-License-Identifier: Apache-2.0
"""Editor support: diagnostics of a source while it is written, and intervals of loops when they are solved
(docs/editors.md).
"""
