# SPDX-License-Identifier: Apache-2.0
"""Version of the package, at its one place: the build reads it here, as a plain assignment."""

VERSION = "0.1.0"
