"""Errors that students see; Jupyter shows their message without a traceback."""

from __future__ import annotations


class CheckFailed(AssertionError):
    """An answer is not right. Jupyter shows only the message, without a traceback.

    Args:
        text: the message.
        html: what stands below its first line, with markup.
    """

    def __init__(self, text: str, html: str = "") -> None:
        super().__init__(text)
        self.html, self.shown = html, False

    def show(self) -> None:
        """Display the markup where there is a notebook; only the first line is left to say."""
        from IPython import get_ipython
        from IPython.display import display

        if self.html and hasattr(get_ipython(), "kernel"):
            display({"text/html": self.html, "text/plain": str(self)}, raw=True)
            self.shown = True

    def _render_traceback_(self) -> list[str]:
        lines = str(self).splitlines()
        return lines[:1] if self.shown else lines


class NoSuchHint(ValueError):
    """A task has no hint of this level."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class WrongUse(TypeError):
    """The check was called with something that it cannot take."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]
