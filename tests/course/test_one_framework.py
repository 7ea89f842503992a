"""Every practical's checks work where no framework but its own is installed."""

import pytest
from frameworks import by_framework, framework_of, said
from labs import COURSE
from seeds import SOAK, first_seed

OTHER = {"jax": ("torch",), "torch": ("jax", "jaxlib", "numpyro", "optax")}
OTHER["numpy"] = (*OTHER["jax"], *OTHER["torch"])  # it needs neither
# Of these all tasks are judged, of the others the first; each commit draws others.
WHOLE = set(COURSE.stems if SOAK else COURSE.stems[first_seed() % 3 :: 3])
IMPORTS = """
import contextlib, importlib, io, json, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from course import check, data, nuts, plots
from course.task import find, stem_of
"""
JUDGE = """
with contextlib.redirect_stdout(io.StringIO()) as shown:
    for id_ in sys.argv[1:]:
        solutions = importlib.import_module(f"solutions.{stem_of(id_)}")
        check(id_, getattr(solutions, find(id_).name))
lines = shown.getvalue().splitlines()
print(json.dumps([line.split()[1] for line in lines if line.startswith("✓ ")]))
"""


def ticked(framework, ids):
    """Check the solutions of these tasks; return those with a tick."""
    return said(IMPORTS.format(blocked=OTHER[framework]), JUDGE, *ids)


@pytest.mark.long
@pytest.mark.parametrize("stems", by_framework(COURSE.stems), ids="-".join)
def test_the_checks_work_without_the_other_framework(stems):
    """Importing one check imports all of its practical."""
    ids = []
    for stem in stems:
        tasks = [id_ for lab in COURSE.labs(stem) for id_ in lab.tasks()]
        ids += tasks if stem in WHOLE else tasks[:1]
    assert ticked(framework_of(stems[0]), ids) == ids


@pytest.mark.long
def test_a_framework_that_is_missing_is_noticed():
    with pytest.raises(AssertionError, match="No module named 'jax'"):
        ticked("torch", ["warm-up/squared-errors"])
