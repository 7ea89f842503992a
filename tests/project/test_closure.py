"""The closure of a source is exactly its dependencies; outputs and grades are cached by it."""

import ast
import re
import shutil
from functools import cache
from pathlib import Path

import jupytext
import pytest

import course
from authoring.chapter import needs
from authoring.sphinx_ext import OWN
from grading.sandbox.bubblewrap import Limits
from grading.store import machinery_of
from project.closure import closure, digest_of
from project.errors import CourseError
from project.practicals import Course

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path for path in sorted((ROOT / "book").glob("*.md"))}
NEEDS = cache(lambda: {name: needs(ROOT, path) for name, path in PAGES.items()})
DEEP = {"01a-deep-ensembles", "01b-deep-ensembles"}
BACKPROP = {"03a-bayes-by-backprop", "03b-bayes-by-backprop"}
FILE = re.compile(r"[\w./*-]+\.(csv|json|npz|ipynb|md|mplstyle|toml|txt)")


@pytest.fixture
def project(tmp_path):
    files = {
        "p/__init__.py": "from p.a import x",
        "p/a.py": "def f():\n    from . import b\nx = 'style.txt'",
        "p/b.py": "NAME = 'p.run.it'",
        "p/run/__init__.py": "",
        "p/run/it.py": "",
        "p/style.txt": "",
        "p/other.py": "import p",
        "data/one/x.csv": "",
        "data/one/y.csv": "",
        "data/two.csv": "",
        "q.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def found(project, source, *more):
    paths = closure(project, source, project / "page.md", *more)
    return {path.relative_to(project).as_posix() for path in paths}


PACKAGE = {"p/__init__.py", "p/a.py", "p/b.py", "p/style.txt"}
RUN = {"p/run/__init__.py", "p/run/it.py"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import p", PACKAGE | RUN),
        ("import p.b as b", PACKAGE | RUN),
        ("def f():\n    from p import b", PACKAGE | RUN),
        ("import q, json, numpy.linalg", {"q.py"}),
        ("x = 'data/two.csv'", {"data/two.csv"}),
        ("x = ROOT / 'data/one'", {"data/one/x.csv", "data/one/y.csv"}),
        ("x = 'data'; y = '/'; z = '../..'; w = '\\ud800/\\0'", set()),
        ("x = 'A text in which p.b stands, and data/two.csv.'", set()),
    ],
)
def test_what_is_imported_run_or_read_is_found(project, source, names):
    assert found(project, source) == names


def test_modules_that_no_import_shows_can_be_named(project):
    assert found(project, "", "q", "missing.module") == {"q.py"}


def test_the_digest_follows_names_and_contents(project):
    paths = closure(project, "import p, q", project / "page.md")
    before = digest_of(project, paths)
    assert before == digest_of(project, [*paths])
    assert project / "q.py" in paths
    digests = {before, digest_of(project, paths - {project / "q.py"})}
    for path in paths:
        path.write_bytes(path.read_bytes() + b"\n")
        digests.add(digest_of(project, paths))
    moved = (project / "q.py").rename(project / "r.py")
    digests.add(digest_of(project, paths - {project / "q.py"} | {moved}))
    assert len(digests) == len(paths) + 3


def test_a_page_that_does_not_parse_is_named(project):
    page = project / "page.md"
    header = "---\njupytext:\n  text_representation:\n    format_name: myst\n---\n"
    page.write_text(f"{header}\n```{{code-cell}} ipython3\nx = (\n```\n")
    with pytest.raises(CourseError, match=r"page\.md"):
        needs(project, page)


# --- this project ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("grading/reports/templates/base.css", set()),
        ("grading/reports/report.py", set()),
        ("authoring/release.py", set()),
        ("studies/grading/results.json", {"grading-a-class"}),
        ("studies/which_method/results.csv", {"05-which-method"}),
        ("studies/uci/results.csv", {"uci-table"}),
        ("studies/shift/results.csv", {"shift-study", "05-which-method"}),
        ("studies/shift/ranks.py", {"shift-study", "05-which-method"}),
        ("studies/shift/published.csv", {"shift-study"}),
        ("course/checks/deep_ensembles/predictions.py", DEEP),
        ("solutions/deep_ensembles/losses.py", DEEP | {"posteriors-after-2021"}),
        ("solutions/bayes_by_backprop/layers.py", BACKPROP),
        ("course/nuts.py", {"03a-bayes-by-backprop"}),
    ],
)
def test_an_edit_runs_just_the_pages_that_use_it(name, pages):
    path = ROOT / name
    assert path.is_file()
    assert {page for page, paths in NEEDS().items() if path in paths} == pages


def test_no_page_is_read_again_because_of_an_edit_of_another():
    """Every page depends on the extensions of the build, so these depend on no page."""
    paths = closure(ROOT, "", ROOT / "_config.yml", *OWN)
    assert ROOT / "authoring" / "numbering.py" in paths
    assert not [path for path in paths if path.suffix == ".md"]


def test_every_file_that_a_page_names_is_one_that_it_depends_on():
    """Otherwise an edit of the file would leave outdated numbers in the page."""
    for path in PAGES.values():
        files = {file.name for file in NEEDS()[path.stem]}
        for cell in jupytext.reads(path.read_text("utf-8"), fmt="md:myst").cells:
            if cell.cell_type != "code":
                continue
            for node in ast.walk(ast.parse(cell.source)):
                match node:
                    case ast.Constant(value=str(text)) if FILE.fullmatch(text):
                        assert any(Path(one).match(Path(text).name) for one in files), (
                            f"{path.name}: {text}"
                        )


def test_a_grade_depends_on_what_judges_it_and_on_no_report(tmp_path, monkeypatch):
    for folder in ("book", "course", "exercises", "grading", "project", "solutions"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    monkeypatch.setattr(course, "__file__", str(tmp_path / "course/__init__.py"))

    def machinery(sandboxed=True):
        return {
            lab.name: machinery_of(lab, Limits(), sandboxed)
            for lab in Course.read(tmp_path).labs()
        }

    now = machinery()
    everybody = set(now)

    def changed_by(name):
        nonlocal now
        before, path = now, tmp_path / name
        path.write_bytes(path.read_bytes() + b"\n")
        now = machinery()
        return {lab for lab in before if before[lab] != now[lab]}

    parts = ("execution/verdicts.py", "sandbox/zygote.py", "submissions/effects.py")
    for part in (*parts, "worker.py", "bounded.py"):
        assert changed_by(f"grading/{part}") == everybody
    for other in ("reports/report.py", "reports/templates/report.html.j2", "app.py"):
        assert changed_by(f"grading/{other}") == set()
    assert changed_by("course/judge.py") == everybody
    one = {"deep_ensembles_a", "deep_ensembles_b"}
    assert changed_by("course/checks/deep_ensembles/predictions.py") == one
    assert changed_by("solutions/deep_ensembles/losses.py") == one
    assert changed_by("exercises/01a-deep-ensembles.ipynb") == {"deep_ensembles_a"}
    assert not set(now.values()) & set(machinery(sandboxed=False).values())
