"""A machine on which other programs want the processors."""

import contextlib
import subprocess
import sys


@contextlib.contextmanager
def busy_loops(count):
    """While this many other processes compute without end."""
    # Linux may share processors between sessions first: each has one of its own.
    loops = [
        subprocess.Popen(
            [sys.executable, "-c", "while True: pass"], start_new_session=True
        )
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
