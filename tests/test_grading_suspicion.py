"""What a person should look at: found where it is, and nowhere in honest work."""

import ast
import io
import json
import keyword
import time
import tokenize

import nbformat
import pytest
from assembled import ROOT, each_practical, reference, released
from student_notebook import ONE, RELEASED, cell, code, exercise, index

from course.grading.flags import FLAGS, LOOK
from course.grading.handed_in.answers import read_answers
from course.grading.handed_in.suspicion import LEAST, _tokens, suspicions
from course.source import read_solutions

CODES = {"interpreter", "patched-module", "long-literal", "like-checks"}
CHECKS = sorted((ROOT / "course/checks").rglob("*.py"))
# Too short to tell from what anybody might write.
SHORT = {"six_errors", "softplus", "_factor"}


def found(source, given="import json, sys, torch\nfrom torch import nn"):
    return {code for code, _, _ in suspicions({"cell": source}, {"given": given})}


def functions(path):
    """The functions at the top of a module of the checks, with their sources."""
    source = path.read_text("utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, ast.get_source_segment(source, node)


def renamed(source):
    """Other names for everything that is not behind a dot, other spaces, no docstring."""
    tokens, before = [], ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string
        own = token.type == tokenize.NAME and not keyword.iskeyword(text)
        tokens.append((token.type, f"my_{text}" if own and before != "." else text))
        before = text
    return ast.unparse(ast.parse(tokenize.untokenize(tokens)))


@each_practical
def test_honest_work_looks_honest(stem):
    """Released cells, solutions, other right answers, each alone and all of them in a cell."""
    cells = {c.id: c.source for c in released(stem).cells if c.cell_type == "code"}
    solutions = {
        name: one.shown()
        for name, one in read_solutions(ROOT, stem).definitions.items()
    }
    other = (ROOT / f"tests/right_answers/{stem}.py").read_text("utf-8")
    corpus = cells | solutions | reference(stem) | {"other": other}
    corpus["solutions"] = "\n\n".join(solutions.values())
    assert list(suspicions(corpus, cells)) == []


@pytest.mark.parametrize(
    "path", CHECKS, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_function_of_the_checks_is_known_again(path):
    """In the middle of a cell, as it is and with all its names changed."""
    for name, source in functions(path):
        if len(_tokens(ast.unparse(ast.parse(source)))) < LEAST:
            assert name in SHORT
            continue
        around = "def before(x):\n    return x\n\n\n{}\n\n\ndef after(y):\n    return y"
        assert "like-checks" in found(around.format(source)), name
        assert "like-checks" in found(around.format(renamed(source))), name


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("exec('x = 1')", "interpreter"),
        ("def f(): return eval('1')", "interpreter"),
        ("compile('1', '', 'eval')", "interpreter"),
        ("import builtins as b", "interpreter"),
        ("from inspect import currentframe", "interpreter"),
        ("def f():\n    import gc", "interpreter"),
        ("import ctypes.util", "interpreter"),
        ("sys._getframe(1)", "interpreter"),
        ("getattr(sys, '_getframe')", "interpreter"),
        ("f.__code__", "interpreter"),
        ("__import__('builtins')", "interpreter"),
        ("def __import__(name): ...", "interpreter"),
        ("json.dumps = None", "patched-module"),
        ("def f():\n    torch.Tensor.detach = None", "patched-module"),
        ("setattr(json, 'dumps', None)", "patched-module"),
        ("T = torch.Tensor\nT.detach = None", "patched-module"),
        ("sys.modules['json'] = None", "patched-module"),
        ("get_ipython().run_cell = None", "patched-module"),
        ("x = '" + "a1" * 600 + "'", "long-literal"),
        ("x = [" + "'abcdefghijklmnopqrstuvwxyz', " * 60 + "]", "long-literal"),
        ("x = [" + "1.5, " * 500 + "]", "long-literal"),
        ("x = " + "9" * 4_000, "long-literal"),
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
        "'''" + "Words of a long explanation. " * 100 + "'''",
        "x = [0.5, 1.0, 2.0] * 100\nurl = 'https://example.org/" + "a/" * 100 + "'",
        "x = 10**100\ny = 1_000_000",
    ],
)
def test_ordinary_work_is_not(source):
    assert found(source) == set()


def test_flags_name_the_cell_and_are_to_be_looked_at():
    assert FLAGS.keys() >= CODES
    assert CODES | {"acting-code"} <= LOOK
    notebook = exercise()
    cell(notebook, ONE)["source"] = "import gc\n" + RELEASED_ANSWER
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
    (gc,) = [one for one in answers.flags if one.where == ONE]
    assert gc.message.endswith("(gc).")
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
    own = {f"c{n}": "x = 1\n" * 10_000 for n in range(5)} | {"last": "import gc"}
    told = list(suspicions(own))
    assert told == [("much-code", "c3", "")]
    assert "much-code" in LOOK
