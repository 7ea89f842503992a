"""Errors that students see; Jupyter shows the message of ours without a traceback."""

from __future__ import annotations

import inspect

CELLS_ABOVE = (
    "If a cell above defines it, run that cell first: "
    "in the menu, Run → Run All Above Selected Cell."
)


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


def advise_on_names() -> None:
    """Let IPython say below a ``NameError`` that a cell above may define the name."""
    from IPython import get_ipython

    if shell := get_ipython():
        shell.set_custom_exc((NameError,), _show_with_advice)


def _show_with_advice(shell, kind, error, traceback, tb_offset=None) -> None:
    from IPython.core import ultratb

    told = kind is NameError  # not UnboundLocalError
    shows_notes = "__notes__" in inspect.getsource(ultratb)  # Colab's IPython does not
    if told and shows_notes:
        error.add_note(CELLS_ABOVE)
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
    if told and not shows_notes:
        print(CELLS_ABOVE)
