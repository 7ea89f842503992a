"""The block ``publication`` of ``_config.yml``, and what a student's environment contains."""

import importlib.metadata
import re
import tomllib

import pytest
import yaml
from labs import COURSE
from packaging.requirements import Requirement

from project.errors import CourseError
from project.publication import EXTRAS, Publication, bracketed, extras_of

ROOT = COURSE.root
FILLED = {
    "repository": "https://github.com/ada/known-unknowns",
    "branch": "main",
    "site": "https://ada.github.io/known-unknowns",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture
def read(tmp_path):
    """A function that reads a block from a temporary ``_config.yml``."""

    def read(block):
        text = yaml.safe_dump({"title": "T", "publication": block})
        (tmp_path / "_config.yml").write_text(text, "utf-8")
        return Publication.read(tmp_path)

    return read


def test_a_filled_block_gives_every_address(read):
    published = read(FILLED)
    assert published == Publication(**FILLED)
    assert published.clone == [f"git clone {FILLED['repository']}", "cd known-unknowns"]
    assert published.launchers("exercises/01-a.ipynb") == {
        "Colab": "https://colab.research.google.com/github/ada/known-unknowns/blob/main/"
        "exercises/01-a.ipynb",
        "Binder": "https://mybinder.org/v2/gh/ada/known-unknowns/main"
        "?labpath=exercises%2F01-a.ipynb",
        "Codespaces": "https://codespaces.new/ada/known-unknowns/tree/main",
    }


def test_another_branch_is_cloned_opened_and_installed(read):
    published = read(FILLED | {"branch": "term/2027"})
    assert published.clone[0] == f"git clone -b term/2027 {FILLED['repository']}"
    addresses = published.launchers("exercises/01-a.ipynb")
    assert "/blob/term/2027/" in addresses["Colab"]
    assert "/term%2F2027?" in addresses["Binder"]
    source = published.install_cell(["numpy", "torch", "optax"])
    assert f"known-unknowns[jax,torch] @ git+{FILLED['repository']}@term/2027" in source
    compile(source, "cell", "exec")


@pytest.mark.parametrize(
    "block",
    [None, {}, {"repository": None}, {"repository": "", "branch": "main", "site": ""}],
)
def test_an_empty_block_gives_no_address(read, block):
    published = read(block)
    assert published == Publication()
    assert published.clone == []
    assert published.launchers("exercises/01-a.ipynb") == {}
    assert published.install_cell(["torch"]) == ""


def test_the_block_of_this_checkout_can_be_read():
    Publication.read(ROOT)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("repository", "http://github.com/ada/course", "https://github.com/<owner>/<name>"),
        ("repository", "https://github.com/ada/course/", "without a slash"),
        ("repository", "https://github.com/ada/course.git", "or .git at the end"),
        ("repository", "https://github.com/ada", "<owner>/<name>"),
        ("repository", "https://gitlab.com/ada/course", "https://github.com/"),
        ("repository", 'https://github.com/ada/c"; import os', "https://github.com/"),
        ("repository", ["https://github.com/ada/course"], "https://github.com/"),
        ("branch", 1.5, "in quotes"),
        ("branch", "-f", "the name of a branch"),
        ("branch", "main; ls", "the name of a branch"),
        ("site", "http://ada.github.io", "https://"),
        ("site", "https://ada.github.io/course/", "without a slash at the end"),
        ("site", "ada.github.io", "https://"),
        ("site", 'https://ada.github.io/">', "https://"),
        ("url", "https://github.com/ada/course", "Use repository, branch, site."),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_with_file_key_and_remedy(
    read, tmp_path, key, value, expected
):
    with pytest.raises(CourseError) as error:
        read({key: value})
    said = str(error.value)
    assert said.startswith(f"{tmp_path / '_config.yml'}: `publication")
    assert key in said
    assert expected in said


@pytest.mark.parametrize("block", ["https://github.com/ada/course", [1], 3])
def test_a_block_without_keys_is_refused(read, block):
    with pytest.raises(CourseError, match="Use repository, branch, site"):
        read(block)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("publication:\n  site: x: y\n", ":2: It is not YAML"),
        ("publication: \x07\n", ": It is not YAML"),
        ("- publication\n", ": It has no keys"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_refused(tmp_path, text, said):
    (tmp_path / "_config.yml").write_text(text)
    with pytest.raises(CourseError, match=rf"_config\.yml{said}"):
        Publication.read(tmp_path)


# --- what is installed ----------------------------------------------------------------


def installed(*extras):
    """Return the names of the packages that the course needs with these extras."""
    own = PROJECT["optional-dependencies"]
    waiting = [
        Requirement(line)
        for line in sum((own[name] for name in extras), PROJECT["dependencies"])
    ]
    found = set()
    while waiting:
        one = waiting.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        key = (name, *sorted(one.extras))
        if key in found:
            continue
        found.add(key)
        if name == PROJECT["name"]:
            waiting += [
                Requirement(line) for extra in one.extras for line in own[extra]
            ]
            continue
        try:
            lines = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
        for needed in map(Requirement, lines):
            asked = [{"extra": extra} for extra in ("", *one.extras)]
            marker = needed.marker
            if marker is None or any(map(marker.evaluate, asked)):
                waiting.append(needed)
    return {name for name, *_ in found}


AUTHORS = {"sphinx", "jupyter-book", "playwright", "pytest", "nbval", "jupytext"}


def test_a_students_environment_has_no_tools_of_authors_or_graders():
    packages = installed("student")
    assert {"jax", "torch", "jupyterlab", "scikit-learn"} <= packages
    assert not packages & AUTHORS
    assert installed("dev") >= AUTHORS  # their names are spelled as here


@pytest.mark.parametrize(("extra", "other"), [("jax", "torch"), ("torch", "jax")])
def test_one_framework_comes_without_the_other(extra, other):
    packages = installed(extra)
    assert extra in packages
    assert not packages & {other, "jupyterlab"}


def test_every_package_of_a_framework_is_in_its_extra():
    own = PROJECT["optional-dependencies"]
    listed = {
        Requirement(one).name: key for key in ("jax", "torch") for one in own[key]
    }
    assert listed == EXTRAS
    assert extras_of(["numpy", "torch", "numpyro", "jax"]) == "jax,torch"
    assert bracketed(["numpy", "torch"]) == "[torch]"
    assert bracketed(["numpy"]) == ""
