# SPDX-License-Identifier: Apache-2.0
"""Machine descriptions: typed tables read from TOML, every error located in the text."""
