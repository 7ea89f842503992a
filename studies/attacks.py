"""The hostile corpus as notebooks: one file of ``tests/hostile/`` is one attack.

A file begins with a docstring that says what the attack does; cells follow in jupytext's
percent format. A cell's title is the name of its task, the name followed by ``check`` for the
task's check, ``own`` for a cell that the student added, or the id of another cell. An empty
task cell gets the honest answer; if an attack has only a log-posterior cell, the cells of the
other tasks are added with honest answers. A cell marked ``computed`` contains an expression
that evaluates to the cell's source, for sources too long to store.
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
    """Return an attack by its name, or ``honest``, as the bytes of a submitted notebook."""
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
    """Return the sentence that says what an attack does."""
    return ast.get_docstring(ast.parse(_text(name).partition("\n# %%")[0]))


def _text(name: str) -> str:
    return (CORPUS / f"{name}.py").read_text("utf-8")


def _written(name: str) -> list[tuple[str, str, list[str]]]:
    """List title, source and tags of an attack's cells, added honest ones included."""
    _, *cells = jupytext.reads(_text(name), "py:percent").cells
    found = []
    for cell in cells:
        computed = cell.metadata.get("computed")
        source = eval(cell.source) if computed else cell.source
        found.append((cell.metadata["title"], source, cell.metadata.get("tags", [])))
    if [title for title, *_ in found] == ["log-posterior"]:
        return [("reparametrise", "", []), *found, ("log-prior", "", [])]
    return found
