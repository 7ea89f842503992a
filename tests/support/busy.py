"""Load on the processors from other programs."""

import contextlib
import subprocess
import sys


@contextlib.contextmanager
def busy_loops(count):
    """Run this many processes that keep a processor busy."""
    # Linux may divide processor time between sessions first, so each loop gets its own session.
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
