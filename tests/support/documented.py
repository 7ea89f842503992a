"""The commands that the pages print, extracted from Markdown and run in a clone."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from graded_class import ROOT
from markdown_it import MarkdownIt

PAGES = ("README.md", "CONTRIBUTING.md", "book/intro.md", "book/grading-a-class.md")
PROGRAMS = (
    *(
        "course",
        "make",
        "python",
        "python3",
        "pip",
        "uv",
        "dask",
        "nbgrader",
        "jupyter",
    ),
    *("jupytext", "jupyter-book", "apt", "apt-get", "dnf", "bash", "git", "cd"),
)


@dataclass(frozen=True)
class Command:
    """A command line on a page, without its comment."""

    page: str
    heading: str
    line: str
    inline: bool = False


def commands(page):
    """List the commands of a page in order: lines of ``sh`` blocks, and those in sentences."""
    found = []
    for heading, token in under_headings(page):
        if is_shell(token):
            lines = map(without_comment, joined(token.content).splitlines())
            found += [Command(page, heading, line) for line in lines if line]
        elif token.type == "inline":
            code = [one.content for one in token.children if one.type == "code_inline"]
            found += [Command(page, heading, one, True) for one in code if runs(one)]
    return found


def under_headings(page):
    """Yield each token of a page's Markdown but the text of headings, with the heading above."""
    text = (ROOT / page).read_text("utf-8")
    heading, after_heading = "", False
    for token in MarkdownIt().parse(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)):
        if token.type == "inline" and after_heading:
            heading = token.content
        else:
            yield heading, token
        after_heading = token.type == "heading_open"


def is_shell(token):
    return token.type == "fence" and token.info.strip() == "sh"


def joined(lines):
    """Join lines of a shell command that are continued."""
    return re.sub(r"\\\n *", "", lines)


def without_comment(line):
    """Remove the comment from a shell command."""
    return re.sub(r"(^|\s+)# .*$", "", line).strip()


def runs(code):
    """Is this code in a sentence a command, rather than a name or a file?"""
    program, _, rest = code.partition(" ")
    return bool(rest) and program.removeprefix(".venv/bin/") in PROGRAMS


def block(page, heading, number=0):
    """Return the text of an ``sh`` block under a heading, with continued lines joined."""
    found = [
        joined(token.content)
        for above, token in under_headings(page)
        if above == heading and is_shell(token)
    ]
    return found[number]


def clone(folder):
    """Clone the repository, and update the clone to the state of the working tree."""
    subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
    for command in (["ls-files", "-z"], ["ls-files", "-z", "-o", "--exclude-standard"]):
        names = subprocess.check_output(["git", *command], cwd=ROOT, text=True)
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
    return folder


def surroundings(folder):
    """Return the environment variables of a user who works offline in ``folder``.

    Programs of ``.venv`` come first in PATH, as the pages assume.
    """
    ours = ("PYTHON", "JUPYTER", "VIRTUAL_ENV", "PIP", "JAX", "PYTEST", "COV_", "MAKE")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(ours)
    }
    config = folder / ".venv" / "settings"
    return kept | {
        "PATH": f"{folder}/.venv/bin:{os.environ['PATH']}",
        # Nothing is downloaded: `furnish` puts the packages into the environment.
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip inverts it: 0 turns build isolation off
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(config / "data"),
        "BROWSER": "/bin/true",
        "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False",
    }


def furnish(folder, sandbox):
    """Put the packages of the tests' own environment into a new ``.venv``.

    A copy would take gigabytes. What a sandbox shows has to be in the environment itself, so for
    a ``sandbox`` every file is hard-linked, and ``folder`` has to be below ROOT, on the same
    disk; otherwise each package is a symbolic link, since 60,000 files take long to remove. The
    course itself is left out, as the page's next command installs it.
    """
    new = folder / ".venv"
    packages = Path(sysconfig.get_path("purelib"))
    target = new / packages.relative_to(sys.prefix)
    shutil.rmtree(target)
    mine = ("known_unknowns", "__editable__")

    def link(source, destination):
        try:
            os.link(source, destination)
        except OSError:  # another disk
            shutil.copy2(source, destination)

    target.mkdir()
    for package in packages.iterdir():
        place = target / package.name
        if package.name.startswith(mine):
            continue
        if not sandbox:
            place.symlink_to(package)
        elif package.is_dir():
            shutil.copytree(package, place, copy_function=link, symlinks=True)
        else:
            link(package, place)
    shutil.copytree(Path(sys.prefix) / "share", new / "share", dirs_exist_ok=True)
    for script in (Path(sys.prefix) / "bin").iterdir():
        text = script.read_bytes()
        own = script.name == "course" or script.name.startswith(("python", "activate"))
        if own or not text.startswith(b"#!"):
            continue
        # Drop the first line or lines, which name the other environment's Python.
        body = text[text.index(b"import ") :] if b"import " in text else text
        start = f"#!/bin/sh\n'''exec' \"{new}/bin/python\" \"$0\" \"$@\"\n' '''\n"
        (new / "bin" / script.name).unlink(missing_ok=True)
        (new / "bin" / script.name).write_bytes(start.encode() + body)
        (new / "bin" / script.name).chmod(0o755)
    # By default the server refuses to run as root, but tests may run as root.
    (new / "settings").mkdir()
    (new / "settings" / "jupyter_server_config.json").write_text(
        '{"ServerApp": {"allow_root": true, "open_browser": false}}'
    )


def shell(lines, folder, **variables):
    """Run lines of a page in ``folder``; return their output."""
    done = subprocess.run(
        ["/bin/bash", "-e", "-c", lines],
        cwd=folder,
        env=surroundings(folder) | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{lines}\n{done.stdout[-4000:]}"
    return done.stdout
