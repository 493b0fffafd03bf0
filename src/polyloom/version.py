# SPDX-License-Identifier: Apache-2.0
"""The version of the package, at its one place: the build reads it here."""

from typing import Final

VERSION: Final = "0.1.0"
