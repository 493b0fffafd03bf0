# SPDX-License-Identifier: Apache-2.0
"""Building blocks of every HTML page: the document with its palette and script, SVG, axes with ticks, source panes and
links between them.

A page is one file: nothing is fetched. What has the same key in `data-l` lights up together, whether it is a line of a
source, an operation of a schedule or a line of a listing; the script does that for whoever writes the attribute.
"""
