"""Suspicious code that a person should look at is found, and honest work is not flagged."""

import ast
import base64
import json
import random
import time

import nbformat
import pytest
from assembled import ROOT, each_practical, reference
from labs import COURSE
from student_notebook import ONE, RELEASED, cell, code, exercise, index

from grading.flags import FLAGS, LOOK
from grading.submissions.answers import read_answers
from grading.submissions.suspicion import oracles, suspicions
from project.source import read_solutions

CODES = {"interpreter", "patched-module", "long-literal", "like-checks"}
CHECKS = ROOT / "course/checks"
BLOB = base64.b64encode(random.Random(0).randbytes(600)).decode()
NUMBERS = list(random.Random(0).randbytes(800))
PROSE = (ROOT / "README.md").read_text("utf-8")[:2_000]


def found(source, given="import json, sys, torch\nfrom torch import nn"):
    return {code for code, _, _ in suspicions({"cell": source}, {"given": given})}


class Renamed(ast.NodeTransformer):
    """Disguise a copy: rename plain names, write integers as floats, drop tolerances."""

    def visit_Name(self, node):
        return ast.Name(f"my_{node.id}", node.ctx)

    def visit_Call(self, node):
        close = isinstance(node.func, ast.Name) and node.func.id == "Close"
        return self.visit(node.args[0]) if close else self.generic_visit(node)

    def visit_arg(self, node):
        return ast.arg(f"my_{node.arg}")

    def visit_Constant(self, node):
        whole = type(node.value) is int
        return ast.Constant(float(node.value)) if whole else node


def copied():
    """Yield the oracles that are long enough to be recognised: place, imports and tree."""
    for place in oracles():
        where, _, line = place.partition(":")
        tree = ast.parse((CHECKS / f"{where}.py").read_text("utf-8"))
        one = next(
            node
            for node in ast.walk(tree)
            if getattr(node, "lineno", 0) == int(line)
            and isinstance(node, ast.FunctionDef | ast.Lambda)
        )
        head = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        texts = [text for text in map(ast.unparse, head) if "course" not in text]
        imports = "\n".join(texts)
        if isinstance(one, ast.Lambda):
            one = ast.Assign([ast.Name("f", ast.Store())], one, lineno=1)
        yield place, imports, one


@each_practical
def test_honest_work_looks_honest(stem):
    """Checks released cells, solutions and other right answers, alone and in one cell."""
    cells = {
        f"{lab.name} {cell.id}": cell.source
        for lab in COURSE.labs(stem)
        for cell in lab.released().cells
        if cell.cell_type == "code"
    }
    solutions = {
        name: one.shown()
        for name, one in read_solutions(ROOT, stem).definitions.items()
    }
    other = (ROOT / f"tests/right_answers/{stem}.py").read_text("utf-8")
    corpus = cells | solutions | reference(stem) | {"other": other}
    corpus["solutions"] = "\n\n".join(solutions.values())
    assert list(suspicions(corpus, cells)) == []


def test_every_long_oracle_is_known_again():
    """In the middle of a cell, unchanged or with other names, a copy is recognised."""
    around = "{}\ndef before(x):\n    return x\n\n\n{}\n\n\ndef after(y):\n    return y"
    places = set()
    for place, imports, one in copied():
        places.add(place)
        assert "like-checks" in found(around.format(imports, ast.unparse(one))), place
        other = ast.unparse(ast.fix_missing_locations(Renamed().visit(one)))
        if "from scipy" not in imports and "from torch" not in imports:
            assert "like-checks" in found(around.format(imports, other)), place
    assert len(places) > 50


COPY = """
from {package} import {name} as {other}
import scipy.special as sp
import numpy as xp
def log_posterior(w, mu, rho):
    s = xp.logaddexp(0, rho)
    slope = ((w - mu) ** 2 / s ** 2 - 1) / s
    return {{"a": torch.tensor({call}(w, mu, s)), "b": torch.tensor((mu - w) / s**2),
            "c": torch.tensor((w - mu) / s**2.0), "d": slope * sp.expit(rho)}}
"""


def test_a_copied_oracle_is_known_again_whatever_it_imports():
    """Uses a hand-written copy of the oracle of log-posterior."""
    scipy = COPY.format(
        package="scipy", name="stats", other="st", call="st.norm.logpdf"
    )
    norm = COPY.format(package="scipy.stats", name="norm", other="n", call="n.logpdf")
    assert found(scipy) == found(norm) == {"like-checks"}


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("exec('x = 1')", "interpreter"),
        ("def f(): return eval('1')", "interpreter"),
        ("compile('1', '', 'eval')", "interpreter"),
        ("import builtins as b", "interpreter"),
        ("from inspect import currentframe", "interpreter"),
        ("import inspect\ninspect.stack()", "interpreter"),
        ("def f():\n    import gc\n    return gc.get_objects()", "interpreter"),
        ("import ctypes.util", "interpreter"),
        ("sys._getframe(1)", "interpreter"),
        ("getattr(sys, '_getframe')", "interpreter"),
        ("f.__code__", "interpreter"),
        ("__import__('builtins')", "interpreter"),
        ("def __import__(name): ...", "interpreter"),
        ("json.dumps = None", "patched-module"),
        ("from json import *\ndumps.x = None", "patched-module"),
        ("t = torch\nu = t\nu.abs = None", "patched-module"),
        ("def f():\n    torch.Tensor.detach = None", "patched-module"),
        ("setattr(json, 'dumps', None)", "patched-module"),
        ("T = torch.Tensor\nT.detach = None", "patched-module"),
        ("sys.modules['json'] = None", "patched-module"),
        ("get_ipython().run_cell = None", "patched-module"),
        (f"x = {BLOB!r}", "long-literal"),
        (f"x = {BLOB.encode()!r}", "long-literal"),
        (f"x = f'{BLOB}'", "long-literal"),
        (f"x = {[BLOB[n : n + 15] for n in range(0, len(BLOB), 15)]}", "long-literal"),
        (
            f"x = {' '.join(BLOB[n : n + 7] for n in range(0, 800, 7))!r}",
            "long-literal",
        ),
        (f"x = {NUMBERS[:350]}\ny = {NUMBERS[350:]}", "long-literal"),
        (f"x = {int.from_bytes(NUMBERS)}", "long-literal"),
        (f"def f():\n    {BLOB!r}\nx = f.__doc__", "long-literal"),
        ("import base64\nx = base64.b64decode('aa')", "long-literal"),
        ("import zlib\nx = zlib.decompress(b'aa')", "long-literal"),
        ("import pickle\nx = pickle.loads(b'aa')", "long-literal"),
        ("x = ''.join(chr(int(d, 16)) for d in 'a b'.split())", "long-literal"),
        ("x = int('ff', 16)", "long-literal"),
        ("x = bytes([1, 2]).decode()\ny = bytearray(3)", "long-literal"),
        ("x = 'abc'.translate(str.maketrans('ab', 'ba'))", "long-literal"),
    ],
)
def test_what_a_person_should_see_is_found(source, code):
    assert found(source) == {code}


@pytest.mark.parametrize(
    "source",
    [
        "model.eval()\nstep = torch.compile(model)\nimport re\nre.compile('a')",
        "torch.backends.cudnn.deterministic = True",
        "import matplotlib.pyplot as plt\nplt.rcParams['font.size'] = 12",
        "import os, sys\nos.environ['X'] = '1'\nsys.path.append('..')",
        "net = nn.Linear(1, 2)\nnet.scale = 2\nnet.weight.data[0] = 1",
        "class A:\n    def f(self):\n        self.x = 1",
        f"def f():\n    {PROSE!r}\n    return 1",
        "def f():\n    '" + "".join(map(chr, range(0x4E00, 0x5200))) + "'",
        f"print({PROSE[:1_000]!r})",
        "print('" + "-" * 2_000 + "')",
        "x = [0.5, 1.0, 2.0] * 100\nurl = 'https://example.org/" + "a/" * 100 + "'",
        "x = " + str([n / 10 for n in range(100)]),
        "import gc\ngc.collect()",
        "import inspect\nprint(inspect.signature(print))",
        "def eval(model):\n    return model\nx = eval(1)",
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "InteractiveShell.ast_node_interactivity = 'all'",
        "import numpy as np\nnp.float = float",
        "def f(mu, rho, g):\n"
        "    return mu + F.softplus(rho) * torch.randn(mu.shape, generator=g)",
        "def f(a, b):\n    return (a**2 + b**2) ** 0.5",
        "def f(a, b):\n    return torch.sqrt(a**2 + b**2)",
        "x = 10**100\ny = 1_000_000",
    ],
)
def test_ordinary_work_is_not(source):
    assert found(source) == set()


def test_flags_name_the_cell_and_are_to_be_looked_at():
    assert FLAGS.keys() >= CODES
    assert CODES | {"acting-code"} <= LOOK
    notebook = exercise()
    cell(notebook, ONE)["source"] = "import ctypes\n" + RELEASED_ANSWER
    place = index(notebook, ONE)
    notebook["cells"].insert(place, code("import json\njson.dumps = None"))
    cell(notebook, "c003")["source"] += "\nexec('')"
    answers = read_answers(json.dumps(notebook).encode(), RELEASED)
    told = {(flag.code, flag.where) for flag in answers.flags if flag.code in CODES}
    assert told == {
        ("interpreter", ONE),
        ("patched-module", "added--0000"),
        ("interpreter", "c003"),
    }
    (one,) = [one for one in answers.flags if one.where == ONE]
    assert one.message.endswith("(ctypes).")
    untouched = read_answers(nbformat.writes(RELEASED).encode(), RELEASED)
    assert not {flag.code for flag in untouched.flags} & CODES


RELEASED_ANSWER = "def reparametrise(mu, rho, epsilon):\n    return mu"


@pytest.mark.parametrize(
    "source",
    [
        "x = [" + "1, " * 33_000 + "]",
        "a" + ".b" * 900 + " = 1\n" + "json.a" + ".b" * 900 + " = 1",
        "(\n" * 50_000,
        "'" * 99_999,
        "x = 1;" * 16_000,
        "json.a = 1\n" * 9_000,
        ("json" + ".a" * 800 + " = 1\n") * 60,
    ],
    ids=lambda source: source[:9],
)
def test_hostile_sources_take_seconds(source):
    start = time.process_time()
    found(source)
    assert time.process_time() - start < 10


def test_only_so_much_is_looked_at_and_that_is_said():
    own = {f"c{n}": "x = 1\n" * 10_000 for n in range(5)} | {"last": "import ctypes"}
    told = list(suspicions(own))
    assert told == [("much-code", "c3", "")]
    assert "much-code" in LOOK
