"""Whence: long-term memory for AI agents that write software."""

from whence.version import __version__

__all__ = ["__version__"]
