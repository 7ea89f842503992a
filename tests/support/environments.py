"""Environments that submissions run in, as ``course grade`` prepares them."""

import atexit
import contextlib
import dataclasses
from pathlib import Path

from labs import COURSE

from grading.execution import expected, runner
from grading.execution.material import LabMaterial
from grading.execution.runner import Environment
from grading.sandbox.bubblewrap import Sandbox, stage_library
from grading.sandbox.warm import Zygote
from grading.settings import Settings

ROOT = Path(__file__).parents[2]


def material_of(name, folder, *, mistakes=True):
    """Return a lab's material, with the expected values of one fixed draw."""
    lab, path = COURSE.lab(name), folder / f"{name}.msgpack"
    drawing = expected.draw(lab, 2024, path)
    atexit.register(drawing.stop) if mistakes else drawing.stop()
    return LabMaterial.read(lab, path)


@contextlib.contextmanager
def prepared(folder, name, limits):
    """Yield an environment with a zygote for one lab; other kernels start cold."""
    library = stage_library(folder / "library")
    settings = Settings(ROOT, folder / "out", limits=limits)
    box = Sandbox(runner.new_folder(), library, limits, hidden=settings.hidden)
    zygote = Zygote(COURSE.lab(name).released(), box)
    try:
        assert zygote.trouble() == ""
        yield Environment(library, settings, {name: zygote.runtime_dirs})
    finally:
        zygote.close()


def limited(environment, **limits):
    """Return the same environment with some limits changed."""
    changed = dataclasses.replace(environment.settings.limits, **limits)
    settings = dataclasses.replace(environment.settings, limits=changed)
    return dataclasses.replace(environment, settings=settings)
