"""Environments that submissions run in, as ``course grade`` prepares them."""

import contextlib
import dataclasses
from pathlib import Path

from grading.execution import expected, runner
from grading.execution.practical import Practical
from grading.execution.runner import Environment
from grading.sandbox.bubblewrap import Sandbox, stage_library
from grading.sandbox.warm import Zygote
from grading.settings import Settings
from project.practicals import released

ROOT = Path(__file__).parents[2]


def practical_of(stem, folder):
    """Return a practical with the expected values of one fixed draw."""
    path = folder / f"{stem}.msgpack"
    expected.draw(stem, 2024, path)
    return Practical.read(ROOT, stem, path)


@contextlib.contextmanager
def prepared(folder, stem, limits):
    """Yield an environment with a zygote for one practical; other kernels start cold."""
    library = stage_library(folder / "library")
    settings = Settings(ROOT, folder / "out", limits=limits)
    box = Sandbox(runner.new_folder(), library, limits, hidden=settings.hidden)
    zygote = Zygote(released(ROOT, stem), box)
    try:
        assert zygote.trouble() == ""
        yield Environment(library, settings, {stem: zygote.runtime_dirs})
    finally:
        zygote.close()


def limited(environment, **limits):
    """Return the same environment with some limits changed."""
    changed = dataclasses.replace(environment.settings.limits, **limits)
    settings = dataclasses.replace(environment.settings, limits=changed)
    return dataclasses.replace(environment, settings=settings)
