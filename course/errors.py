"""Errors that students see; Jupyter shows their message without a traceback."""

from __future__ import annotations


class CheckFailed(AssertionError):
    """An answer is not right. Jupyter shows only the message, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class NoSuchHint(ValueError):
    """A task has no hint of this level."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class WrongUse(TypeError):
    """The check was called with something that it cannot take."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]
