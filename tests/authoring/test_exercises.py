"""The exercise generator, on the real chapters and on broken copies of them."""

import ast
import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
from click.testing import CliRunner
from labs import COURSE, LABS, each_lab

from authoring.chapter import read_chapter
from authoring.exercises import differences, generate, packages_of, write
from commands import main
from course.task import find, task_id, tasks_of
from project.errors import CourseError
from project.practicals import Course
from project.publication import Publication, extras_of
from project.source import read_solutions

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path):
    """A temporary copy of the files that the generator reads, with practical 1 only."""
    for folder in ("book", "solutions", "exercises"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "_toc.yml", tmp_path)
    shutil.copy(ROOT / "_config.yml", tmp_path)
    for page in ROOT.glob("book/[!0-9]*.*"):
        shutil.copy(page, tmp_path / "book")
    for page in ROOT.glob("book/01?-deep-ensembles.md"):
        shutil.copy(page, tmp_path / "book")
    package = "solutions/deep_ensembles"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    for path in ROOT.glob("exercises/01?-deep-ensembles.ipynb"):
        shutil.copy(path, tmp_path / "exercises")
    return tmp_path


def written(root):
    """Return the contents of the exercises by name."""
    return {path.name: path.read_bytes() for path in (root / "exercises").iterdir()}


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path.name} no longer holds {old!r}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@cache  # tests only read it
def notebook(lab, **options):
    return nbformat.reads(generate(lab, **options), as_version=4)


# --- generated exercises --------------------------------------------------------------


def test_the_committed_exercises_are_up_to_date():
    assert differences(COURSE) == "", "run `make exercises`"


@each_lab
def test_generation_is_reproducible_byte_for_byte(lab):
    assert generate(lab) == generate(lab)


@each_lab
def test_an_exercise_holds_no_solution(lab):
    """Neither lines between the markers of a task nor the word ``solutions`` are in it."""
    cells = notebook(lab).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert "solutions" not in code
    assert "SOLUTION" not in code
    answers = read_chapter(lab.chapter)
    module = read_solutions(ROOT, answers.stem)
    stubs = {cell["id"]: cell.source for cell in cells}
    for cell in answers.cells:
        if cell.role == "task":
            stub = stubs[cell.task.replace("/", "--")]
            assert "raise NotImplementedError()" in stub
            region = re.findall(
                r"### BEGIN SOLUTION\n(.*?)### END SOLUTION",
                module.definitions[cell.names[0]].source,
                re.DOTALL,
            )
            for line in "".join(region).splitlines():
                assert not line.strip() or line not in stub


@each_lab
def test_every_task_of_the_checks_is_set_once_and_checked(lab):
    labs = COURSE.labs(lab.stem)
    asked = [task for one in labs for task in read_chapter(one.chapter).tasks]
    assert sorted(asked) == sorted(tasks_of(lab.stem))


@each_lab
def test_ids_and_metadata_are_those_of_the_design(lab):
    cells = notebook(lab).cells
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        course = cell.metadata.get("course")
        if course is None:
            assert re.fullmatch(r"c\d{3}", cell["id"])
            assert "nbgrader" not in cell.metadata
            continue
        nbgrader = cell.metadata["nbgrader"]
        assert nbgrader["grade_id"] == cell["id"]
        assert nbgrader["schema_version"] == 3
        assert len(cell["id"]) <= 64
        kinds = [name for name in ("grade", "solution", "locked") if nbgrader[name]]
        task, points = course.get("task", ""), nbgrader.get("points")
        if course["role"] in ("check", "task"):
            check = "--check" * (course["role"] == "check")
            assert cell["id"] == task.replace("/", "--") + check
        if course["role"] == "check":
            assert (kinds, points) == (["grade", "locked"], find(task).points)
        elif course["role"] == "task":
            assert (kinds, points) == (["solution"], None)
        elif course["role"] == "written":
            assert (kinds, points) == (["grade", "solution"], 3)
        else:
            assert (kinds, points) == (["locked"], None)
        locked = {"editable": False, "deletable": False} if "locked" in kinds else {}
        kept = cell.metadata.keys() & {"editable", "deletable"}
        assert {name: cell.metadata[name] for name in kept} == locked


@each_lab
def test_code_of_figures_and_long_given_code_is_collapsed(lab):
    cells = nbformat.read(lab.exercise, as_version=4).cells
    hidden = {c.source: c.metadata["jupyter"] for c in cells if "jupyter" in c.metadata}
    own = [cell for cell in read_chapter(lab.chapter).cells if not cell.role]
    assert {cell.source for cell in own if cell.caption} <= set(hidden)
    given = [c.source for c in cells if c.metadata.get("course") == {"role": "given"}]
    long = {source for source in given if source.count("\n") > 25}
    folded = long | {cell.source for cell in own if cell.folded}
    assert hidden == {source: {"source_hidden": True} for source in folded}


@each_lab
def test_the_markdown_reads_without_extensions(lab):
    text = "\n".join(
        cell.source for cell in notebook(lab).cells if cell.cell_type == "markdown"
    )
    for leftover in (
        "```{",
        ":::{",
        "{cite",
        "{eq}",
        "{glue",
        "{ref}",
        "{numref}",
        ":label:",
        "+++",
    ):
        assert leftover not in text
    assert "How to begin" in text
    for macro in ("E", "N", "KL", "x", "softplus", "sign"):
        assert not re.search(rf"\\{macro}(?![A-Za-z])", text), macro


@each_lab
def test_a_solved_exercise_defines_what_it_uses(lab):
    """Every name that a cell reads at its top level is defined by a cell above it."""
    import builtins

    defined = set(dir(builtins)) | {"get_ipython", "display"}
    for cell in notebook(lab, solved=True).cells:
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        defined |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        defined |= {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.add(node.name)
            if isinstance(node, ast.Import | ast.ImportFrom):
                defined |= {(a.asname or a.name).partition(".")[0] for a in node.names}
        unknown = {node.id for node in names} - defined
        assert not unknown, f"{cell['id']}: {unknown}"


@each_lab
def test_a_chapter_opens_as_a_notebook_and_is_formatted(lab, tmp_path):
    """A round trip through ``ipynb`` loses nothing; its code is formatted as by ruff."""
    book = jupytext.read(lab.chapter)
    path = tmp_path / "chapter.ipynb"
    jupytext.write(book, path)
    again = jupytext.reads(
        jupytext.writes(jupytext.read(path), fmt="md:myst"), fmt="md:myst"
    )
    assert [cell.source for cell in again.cells] == [cell.source for cell in book.cells]
    ruff = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--check",
        "--line-length",
        "80",
        str(path),
    ]
    done = subprocess.run(ruff, capture_output=True, text=True)
    assert done.returncode == 0, (
        f"{lab.chapter.name} is not formatted. Format it with: jupytext --pipe-fmt ipynb --pipe "
        f"'ruff format --line-length 80 --stdin-filename chapter.ipynb -' {lab.chapter}"
    )


PAGES = [
    page
    for page in sorted((ROOT / "book").glob("*.md"))
    if "jupytext:" in page.read_text("utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_written_as_jupytext_writes_it(page):
    """Else whoever edits it as a notebook finds changes that are not theirs."""
    written = jupytext.writes(jupytext.read(page), fmt="md:myst")
    unversioned = re.sub(r"    (format|jupytext)_version: .*\n", "", written, count=2)
    assert page.read_text("utf-8") == unversioned, (
        f"{page.name}: write it as `jupytext --sync {page.name}` does"
    )


def test_names_become_ids():
    assert task_id("deep_ensembles", "gaussian_nll") == "deep-ensembles/gaussian-nll"
    assert task_id("approximate_inference", "LinearVariational") == (
        "approximate-inference/linear-variational"
    )
    assert task_id("x", "VariationalMLP") == "x/variational-mlp"


@each_lab
def test_the_first_cell_says_what_is_missing_and_how_to_get_it(lab):
    cells = [c for c in notebook(lab).cells if c.cell_type == "code"]
    code = cells[
        bool(Publication.read(ROOT).repository) :
    ]  # a fork's first one installs
    assert code[0].id == "ready"
    here = [sys.executable, "-c", code[0].source]
    done = subprocess.run(here, capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("All that this notebook needs is here.\n", "")
    bare = [sys.executable, "-I", "-S", "-c", code[0].source]  # standard library only
    done = subprocess.run(bare, capture_output=True, text=True, cwd=ROOT)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ModuleNotFoundError: course, ")
    assert "README.md says how" in said
    assert "`.venv/bin/jupyter lab exercises`" in said
    needed = {name for name in ("jax", "torch") if f"import {name}\n" in code[1].source}
    assert all(name in said for name in needed)


# --- refused sources ------------------------------------------------------------------


TWICE = "\n:minutes: 1\n:level: core\n```\n\n".join(
    f"```{{task-info}} deep-ensembles/{name}" for name in ("haeds", "heads")
)
CHAPTER, SOLUTIONS = (
    "book/01a-deep-ensembles.md",
    "solutions/deep_ensembles/networks.py",
)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (CHAPTER, ":tags: [task]", ":tags: [tsak]", "'tsak' is unknown"),
        (CHAPTER, ":tags: [task]", ":tags: [task, given]", "the roles task and given"),
        (CHAPTER, "import heads\n", "import heads, mlp\n", "one import and nothing else"),
        (CHAPTER, 'check("deep-ensembles/heads", heads)', 'check("deep-ensembles/heads", mlp)', "must check one task"),
        (CHAPTER, "{task-info} deep-ensembles/heads", "{task-info} deep-ensembles/haeds", "No exercise above"),
        (CHAPTER, "import init_mlp, init_members, init_ensemble, mlp", "import init_mlp, init_members, init_ensemble", "given cell before this one"),
        (CHAPTER, "plots.use_style()", "import solutions", "names `solutions`"),
        (CHAPTER, "plots.use_style()", "# TODO: a figure", "left to write: TODO: a figure"),
        (CHAPTER, "*Goal:", "TODO: the prompt.\n\n*Goal:", "left to write: TODO: the prompt."),
        (CHAPTER, "plots.use_style()", "from math import prod as jnp", "takes the name of `import jax.numpy as jnp`"),
        (CHAPTER, "plots.use_style()", "from math import prod as mlp", "takes the name of `the definition of mlp`"),
        (CHAPTER, "plots.use_style()", "glue('a', 1)", "glues a number"),
        (CHAPTER, "plots.use_style()", "x = (", "does not parse"),
        (CHAPTER, "{cite:t}`lakshminarayanan2017`", "{cite:t}`nobody1999`", "not in references.bib"),
        (CHAPTER, "{cite:t}`lakshminarayanan2017`", "{frobnicate}`x`", "does not know the role"),
        (CHAPTER, "```{prf:definition}", "```{frobnicate}", "does not know the directive"),
        (CHAPTER, "equation {eq}`eq:fgsm`", "equation {eq}`eq:none`", "No equation is labelled"),
        (CHAPTER, "equation {eq}`eq:fgsm`", "{numref}`fig-adam`", "has no text of its own"),
        (CHAPTER, ":minutes: 10", ":minutes: some", "how long it takes"),
        (CHAPTER, ":level: core", ":level: hard", "has no level"),
        (CHAPTER, "```{task-info} deep-ensembles/heads", TWICE, "Did you mean deep-ensembles/heads"),
        (SOLUTIONS, "def heads(", "def heeds(", "does not define heads"),
        ("solutions/deep_ensembles/likelihoods.py", "    ### END SOLUTION", "", "is inside the region"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_sources_is_named_and_nothing_is_written(
    copy, file, old, new, words
):
    edit(copy / file, old, new)
    before = written(copy)
    with pytest.raises(CourseError) as error:
        write(Course.read(copy))
    assert words in str(error.value)
    assert re.search(r"\.(md|py):\d+: ", str(error.value))
    assert written(copy) == before
    assert len(before) == 2


# --- the command line -----------------------------------------------------------------


def run(root, *arguments, monkeypatch):
    monkeypatch.chdir(root)
    return CliRunner().invoke(main, list(arguments))


def test_check_passes_fails_with_a_diff_and_is_mended(copy, monkeypatch):
    assert run(copy, "exercises", "--check", monkeypatch=monkeypatch).exit_code == 0
    edit(copy / SOLUTIONS, "keeps every division", "keeps each division")
    failed = run(copy, "exercises", "--check", monkeypatch=monkeypatch)
    assert failed.exit_code == 1
    assert "+++ exercises/01a-deep-ensembles.ipynb (generated)" in failed.output
    assert "keeps each division" in failed.output
    assert "Update them with `course exercises`" in failed.output
    assert run(copy, "exercises", monkeypatch=monkeypatch).exit_code == 0
    assert run(copy, "exercises", "--check", monkeypatch=monkeypatch).exit_code == 0


def test_a_solution_alone_that_changes_is_noticed_in_given_code(copy, monkeypatch):
    edit(copy / SOLUTIONS, "jnp.zeros(n_out)", "jnp.ones(n_out)")
    assert run(copy, "exercises", "--check", monkeypatch=monkeypatch).exit_code == 1


def test_wrong_use_exits_with_two(copy, monkeypatch, tmp_path_factory):
    unknown = run(copy, "exercises", "no_such_practical", monkeypatch=monkeypatch)
    assert unknown.exit_code == 2
    named = "There are deep_ensembles (deep_ensembles_a, deep_ensembles_b)."
    assert named in unknown.output
    edit(copy / CHAPTER, ":tags: [task]", ":tags: [tsak]")
    broken = run(copy, "exercises", monkeypatch=monkeypatch)
    assert broken.exit_code == 2
    assert "01a-deep-ensembles.md:" in broken.output
    outside = run(
        tmp_path_factory.mktemp("elsewhere"), "exercises", monkeypatch=monkeypatch
    )
    assert outside.exit_code == 2
    assert "not in a checkout" in outside.output


def test_a_stray_exercise_is_reported(copy):
    stray = copy / "exercises/09-stray.ipynb"
    stray.write_text(json.dumps({}))
    assert "belongs to no chapter" in differences(Course.read(copy))


def test_help_shows_an_example_for_each_command():
    for name in main.commands:
        text = CliRunner().invoke(main, [name, "--help"]).output
        assert "Example:" in text
        assert f"course {name}" in text


def test_readme_tells_the_time_and_the_frameworks_of_the_practicals():
    minutes, extras = 0, {}
    for practical in COURSE.practicals:
        needed = {}
        for lab in practical.labs:
            cells = lab.released().cells
            minutes += int(re.search(r"take about (\d+) minutes", cells[0].source)[1])
            needed[lab] = extras_of(packages_of(lab, cells))
        same = len({*needed.values()}) == 1
        for lab, needs in needed.items():
            name = str(int(lab.number)) + ("" if same else lab.part)
            extras.setdefault(needs, {})[name] = lab
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"All tasks together take about {minutes / 60:.0f} hours." in readme
    assert f"only lab {next(iter(extras.pop('jax,torch')))} needs both" in readme
    for extra, (*most, last) in extras.items():
        practicals = f"{', '.join(most)} and {last}" if most else last
        project = f"'.[{extra}]'" if extra else "."
        assert f"| {practicals} | `{project} jupyterlab` |" in readme


def test_each_chapter_has_its_exercise():
    for lab in LABS:
        assert lab.exercise.exists()
