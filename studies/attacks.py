"""The hostile corpus as notebooks: one file of ``hostile/`` is one attack.

A file begins with a docstring, which says what the attack does; cells follow, in jupytext's
percent format. A cell's title is the name of its task, with ``check`` behind it for its check,
``own`` for a cell of the student's own, or the id of another cell. With nothing written in it, a
task's cell holds the honest answer; honest answers also stand around a single attack on
log-posterior. In a cell marked ``computed``, an expression stands for a text that is too long
to keep.
"""

import ast
import json
from functools import cache
from pathlib import Path

import jupytext

CORPUS = Path(__file__).parents[1] / "tests/hostile"
ATTACKS = sorted(path.stem for path in CORPUS.glob("*.py"))
PREFIX = "bayes-by-backprop"
HONEST = {
    "reparametrise": "def reparametrise(mu, rho, epsilon):\n"
    "    return mu + F.softplus(rho) * epsilon",
    "log-posterior": "def log_posterior(w, mu, rho):\n"
    "    return Normal(mu, F.softplus(rho)).log_prob(w)",
    "log-prior": "def log_prior(w, prior_std):\n"
    "    return Normal(0.0, prior_std).log_prob(w)",
}


@cache
def notebook(name: str) -> bytes:
    """An attack by its name, or ``honest``, as the file that is handed in."""
    cells = dict.fromkeys(HONEST, "").items() if name == "honest" else _written(name)
    made = []
    for title, source, *tags in cells:
        task, _, check = title.partition(" ")
        role = {"role": "check" if check else "task", "task": f"{PREFIX}/{task}"}
        own = sum(cell["id"].startswith("own-") for cell in made)
        id_ = f"own-{own}" if title == "own" else title
        made.append(
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"{PREFIX}--{task}{check and '--check'}"
                if task in HONEST
                else id_,
                "metadata": {"course": role} if task in HONEST else {},
                "outputs": [],
                "source": source or ("" if check else HONEST[task]),
            }
        )
        if any(tags):
            made[-1]["metadata"]["tags"] = tags[0]
    metadata = {
        "course": {"practical": "bayes_by_backprop"},
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
    }
    whole = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole).encode()


def does(name: str) -> str:
    """What an attack does, in a sentence."""
    return ast.get_docstring(ast.parse(_text(name).partition("\n# %%")[0]))


def _text(name: str) -> str:
    return (CORPUS / f"{name}.py").read_text("utf-8")


def _written(name: str) -> list[tuple[str, str, list[str]]]:
    """The titles, the sources and the tags of an attack's cells."""
    _, *cells = jupytext.reads(_text(name), "py:percent").cells
    found = []
    for cell in cells:
        computed = cell.metadata.get("computed")
        source = eval(cell.source) if computed else cell.source
        found.append((cell.metadata["title"], source, cell.metadata.get("tags", [])))
    if [title for title, *_ in found] == ["log-posterior"]:
        return [("reparametrise", "", []), *found, ("log-prior", "", [])]
    return found
