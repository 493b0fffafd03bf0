# SPDX-License-Identifier: Apache-2.0
"""The command line in a scratch folder."""

from tests.cli.conftest import call, scratch

__all__ = ["call", "scratch"]
