"""Classification of the statements in a student's cell: those that define, and those that act."""

import ast
import time

import pytest
from assembled import (
    ROOT,
    STEMS,
    answers,
    each_name,
    each_practical,
    probes,
    reference,
    released,
)
from labs import COURSE

from course.task import tasks_of
from grading.execution.assemble import assemble, differing
from grading.submissions.answers import Added
from grading.submissions.effects import Effects, _read
from grading.submissions.forms import parsed
from project.practicals import cell_id
from project.source import read_solutions

IMPORTS = """
import builtins, functools, json, math, os, sys
import jax, jax.numpy as jnp, numpy as np, torch
import torch.nn.functional as F
from functools import partial
from torch import Tensor, nn
from torch.distributions import Normal
SIZES = [1, 2]
def helper(x): return x + 1
def freeze(net):
    for p in net.parameters():
        p.requires_grad = False
    return net
"""


def quiet(source):
    return Effects([IMPORTS, source]).quiet(source)


@pytest.mark.parametrize(
    "source",
    [
        "'''A text.'''\nimport os, sys\nfrom IPython.display import Markdown",
        "SIZES = [1, 2]\nrate: float = 0.1\na, b = SIZES\nmodel = None",
        "log_prior = helper\nshape = (2,) * len(SIZES)",
        "half = partial(torch.mul, 2.0)\nfast = jax.jit(helper)",
        "x = torch.tensor([1.0])\ny = helper(x).sum()",
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'",
        "if torch.cuda.is_available():\n    device = 'cuda'\nelse:\n    device = 'cpu'",
        "try:\n    import optax\nexcept ImportError:\n    optax = None",
        "table = {}\ntable['a'] = helper(1)",
        "net = freeze(nn.Linear(2, 2))",
        "@functools.cache\ndef f(n): return n",
        "@jax.custom_jvp\ndef f(x): return x\nf.defjvps(lambda t, a, x: t)",
        "class Net(nn.Module):\n    '''One.'''\n    size = 3\n"
        "    def __init__(self):\n        super().__init__()\n        self.a = nn.Tanh()\n"
        "    def forward(self, x):\n        self.seen = x\n        return self.a(x)",
        "def f(net):\n    net.eval()\n    net.layer.weight.data[0] = 1\n    print(net)",
        "def f(x):\n    '''Not __globals__.'''\n    out = torch.zeros(3)\n    out[0] = x\n    return out",
        "def f(x):\n    step = torch.compile(helper)\n    return getattr(x, 'grad')",
        "def f(net):\n    for p in net.parameters():\n        p.requires_grad = False",
        "f = lambda x: getattr(x, 'requires_grad', False)",
        "with torch.no_grad():\n    ONE = torch.ones(1)\n    ONE += 1",
        "xp = torch\ndef f(x): return xp.exp(x)",
        "tiny = sys.float_info.min\ndef f(): return sys.maxsize",
        "def f(x):\n    assert x > 0\n    display(x)\n    return x",
        "class A:\n    def __init__(self):\n        for n in range(2):\n"
        "            setattr(self, f'layer{n}', nn.Linear(1, 1))\n"
        "    def forward(self, n):\n        return getattr(self, f'layer{n}')",
        "rows = []\nrows.append(helper(1))",
        "x = torch.tensor(3.0, dtype=torch.float64)\ndef f(): x.requires_grad = True",
        "def f(input, vars): return input + vars",
        "import sympy\ndef f(x):\n    a = sympy.Symbol('a')\n"
        "    return sympy.log(x) / 2 + sympy.S.Half * sympy.pi + a",
        "from sympy import *\ndef f(x): return Rational(1, 2) * log(x)",
        "from torch.utils.data import DataLoader\ndef f(x): return DataLoader(x)",
        "from torch.nn.functional import *\ndef f(x): return softplus(x)",
    ],
)
def test_definitions_do_not_act(source):
    assert quiet(source)


@pytest.mark.parametrize(
    "source",
    [
        # Calls for their effects, loops, and code that is not plain Python.
        "print(1)",
        "x = print(1)",
        "helper(1)",
        "torch.manual_seed(0)",
        "for x in SIZES: pass",
        "for x in SIZES: torch.manual_seed(x)",
        "def f():\n    for a, b in zip([1], [Normal]): b.mean = helper",
        "def f():\n    a, b = Normal.a\n    b.mean = helper",
        "def f():\n    for a, (b, c) in [(1, [2, Normal])]: c.mean = helper",
        "with torch.no_grad(): torch.manual_seed(0)",
        "while True: pass",
        "assert helper(1) == 2",
        "del SIZES",
        "if True:\n    print(1)",
        "%time x = 1",
        "x = (",
        "class A:\n    print(1)",
        # Patches.
        "json.dumps = helper",
        "def f():\n    json.dumps = helper",
        "class A:\n    json.dumps = helper",
        "class A:\n    def f(self):\n        torch.Tensor.detach = helper",
        "t = torch\ndef f():\n    t.Tensor.detach = helper",
        "N = Normal\ndef f():\n    N.log_prob = helper",
        "def f(t=torch.Tensor):\n    t.detach = helper",
        "def f():\n    for t in (torch.Tensor, Normal):\n        t.detach = helper",
        "def f():\n    [torch.Tensor][0].detach = helper",
        "def f(t): t.detach = helper\nx = f(torch.Tensor)",
        "def f(t): t.detach = helper\nx = list(map(f, [torch.Tensor]))",
        "def f(t): return t\nx = f(torch)",
        "def f(): return torch",
        "x = functools.update_wrapper(torch.Tensor, helper, ('abs',), ())",
        "x = functools.wraps(helper, ('abs',), ())(torch.Tensor)",
        "x = functools.total_ordering(Normal)",
        "from functools import wraps\nx = wraps(helper)(torch.Tensor)",
        "import dataclasses\nx = dataclasses.dataclass(Normal)",
        "from dataclasses import dataclass as d\nx = d(Normal)",
        "setattr(torch, 'abs', None)",
        "x = setattr(torch, 'abs', None)",
        "def f(): setattr(torch, 'abs', None)",
        "def f(): torch.__dict__['abs'] = None",
        "def f(): object.__setattr__(torch, 'abs', None)",
        "def f(): torch.__setattr__('abs', None)",
        "def f(): globals()['helper'] = None",
        "def f(): vars(torch).update(abs=None)",
        "def f(): sys.modules['json'] = None",
        "def f(): torch.sys.modules['json'] = None",
        "def f(): get_ipython().run_cell = None",
        "def f(): del json.dumps",
        "def f():\n    for json.dumps in SIZES: pass",
        "def f():\n    with torch.no_grad() as json.dumps: pass",
        "(lambda: setattr(torch, 'abs', None))",
        "f = lambda: setattr(torch, 'abs', None)",
        # Patches through a name, attribute, function or container of the student's.
        "from torch.nn.functional import *\ndef f(): softplus.x = helper",
        "softplus.x = helper",
        "q = type\ndef f(a): q(a).mean = helper",
        "def f(a): type(a).mean = helper",
        "def f(a):\n    k = type(a)\n    k.mean = helper",
        "def f(a): a.__class__.mean = helper",
        "def f(a):\n    k = a.__class__\n    k.mean = helper",
        "a1 = torch\na2 = a1\na3 = a2\na4 = a3\na5 = a4\ndef f(): a5.abs = helper",
        "def f():\n    box = []\n    box.append(torch.Tensor)\n    box[0].abs = helper",
        "def f():\n    box = {}\n    box['a'] = Normal\n    box['a'].mean = helper",
        "class A: pass\ndef f():\n    A.k = Normal\n    A.k.mean = helper",
        "class A:\n    k = Normal\ndef f(): A().k.mean = helper",
        "def g(): return Normal\ndef f(): g().mean = helper",
        "def g(): return Normal\ndef f():\n    k = g()\n    k.mean = helper",
        "g = lambda: Normal\ndef f(): g().mean = helper",
        "def f():\n    k = getattr(torch, 'Tensor')\n    k.abs = helper",
        "def f():\n    k = functools.reduce(max, [Normal])\n    k.mean = helper",
        "def f():\n    match Normal:\n        case k: k.mean = helper",
        "def f():\n    for k in map(lambda k: k, [Normal]): k.mean = helper",
        "def f(): [k for k in [Normal]][0].mean = helper",
        "def p(self): self.mean = helper\nx = p(Normal)",
        "class A:\n    def p(self): self.mean = helper\nx = A.p(Normal)",
        "class A:\n    def p(self): self.mean = helper\nx = list(map(A.p, [Normal]))",
        "def p(k): k.mean = helper\nq = p\nx = q(Normal)",
        "def p(k): k.mean = helper\nx = {'p': p}['p'](Normal)",
        "def p(k): setattr(k, 'mean', helper)",
        "def p(self): setattr(self, 'mean', helper)\nx = p(Normal)",
        "rows = sys.path\nrows.append('x')",
        "xp = torch\nxp.abs = helper",
        "xp = torch\ndef f(t): t.abs = helper\nx = f(xp)",
        # Functions that run strings as code.
        "from sympy import S\nx = S('__import__')",
        "import sympy\nx = sympy.S('print(1)')",
        "import sympy\nx = sympy.S(f'{1}')",
        "import sympy\nx = sympy.sympify(helper)",
        "import sympy\nx = sympy.lambdify([], helper)",
        "from sympy import *\nx = lambdify([], helper)",
        "from sympy import *\nx = parse_expr(helper)",
        "s = __import__('sympy')",
        "from types import FunctionType\nx = FunctionType(helper, {})",
        "import types\nx = types.FunctionType(helper, {})",
        "from string import Formatter\nx = Formatter().get_field('a', (), {})",
        "import enum\ndef f(): return enum.bltns.exec",
        "def f(): return torch.serialization.pickle.loads",
        "def f(): return torch.utils.benchmark.Timer('x')",
        "from torch.utils.benchmark import Timer\ndef f(): return Timer('x')",
        "import torch.utils.benchmark as b\ndef f(): return b.Timer('x')",
        "from torch import serialization as s\ndef f(): return s.a",
        "xp = torch\ndef f(): return xp.serialization.pickle",
        "from os import *\nx = 1",
        "class A:\n    exec = 1\n    def f(self): exec('x = 1')",
        "class A:\n    exec('x = 1')",
        "def g(exec): return exec\ndef f(): exec('x = 1')",
        "if SIZES: exec = exec\nelse:\n    def f(): exec('x = 1')",
        # Access to Python's internals.
        "def f(): return functools.reduce(getattr, ['__glo' + 'bals__'], helper)",
        "def g(self, n): return getattr(self, n)",
        "def g(x): return getattr(x, f'{x}')",
        "def g(x): return getattr(x, f'g{x}')",
        "def f(): return builtins.exec",
        "def f():\n    import builtins as b\n    return b",
        "def f(): return eval('1')",
        "def f(): return sys._getframe(1)",
        "def f(e): return e.__traceback__.tb_frame.f_back",
        "def f(): return helper.__globals__",
        "def f(): return getattr(helper, '__glo' + 'bals__')",
        "def f(): return getattr(helper, '__globals__')",
        "def f(): return '{0.__globals__}'.format(helper)",
        "take = getattr",
        "def f(): return list(map(getattr, [helper], ['__glo' + 'bals__']))",
        "def f():\n    match helper:\n        case object(__globals__=g): return g",
        "def f(x: 'eval(chr(49))'): return x",
        "def f() -> 'helper()': ...",
        "x: 'helper()' = 1",
        "from numpy.testing import runstring\ndef f(): runstring('', {})",
        "def f(): np.testing.runstring('', {})",
        "def f(): return torch.load('x')",
        "def f(): return torch.utils.cpp_extension.load_inline('x', '')",
        "def f(): return torch._os.environ",
        "from torch import sys as s\ndef f(): return s.modules",
        "def f(): return open('torch.py', 'w')",
        "def f(): return ().__class__.__base__.__subclasses__()",
        "def __import__(name): return None",
        "__builtins__ = {}",
        "import math as __import__",
        "def f(x):\n    global __import__\n    __import__ = x",
        "@(lambda f: setattr(torch, 'abs', f))\ndef f(): ...",
        "def f(x=setattr(torch, 'abs', None)): ...",
        "def f(x: setattr(torch, 'abs', None)): ...",
        "class A(metaclass=builtins.type): pass",
    ],
)
def test_whatever_else_acts(source):
    assert not quiet(source)


@each_name
def test_no_solution_and_no_given_code_acts(name):
    """So an honest notebook, like the reference itself, is judged in a single pass."""
    notebook = released(name)
    solutions = read_solutions_of(COURSE.labs(name)[0].stem)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    effects = Effects([*code, *solutions])
    given = [
        cell.source
        for cell in notebook.cells
        if cell.metadata.get("course", {}).get("role") in ("given", "task")
    ]
    assert [
        source for source in [*solutions, *given] if not effects.quiet(source)
    ] == []
    tasks = set(reference(name))
    honest, probed = answers(reference(name)), probes(name)
    both = [
        assemble(notebook, honest, tasks, {}, probed, effects=one)
        for one in (effects, None)
    ]
    assert differing(*both) == set()


@each_practical
def test_other_right_answers_do_not_act(stem):
    source = (ROOT / f"tests/right_answers/{stem}.py").read_text("utf-8")
    # These answers refer to the solutions; a student's would be in the same notebook.
    source = source.replace("ref.", "").replace("from solutions", "from torch")
    effects = Effects([source])
    acting = [
        ast.unparse(node) for node in parsed(source).body if not effects.defines(node)
    ]
    assert acting == []


@pytest.mark.parametrize("name", ["sympy", "ｓympy"])
def test_sympy_runs_no_texts_while_nothing_acts(name, monkeypatch):
    import sympy.parsing.sympy_parser as parser

    monkeypatch.setattr(parser, "parse_expr", parser.parse_expr)
    source = f"import {name}\ndef reparametrise(mu, rho, epsilon): return mu"
    made = [
        assemble(
            released(STEM),
            answers({FIRST: source}),
            {FIRST},
            {},
            probes(STEM),
            guarded=one,
        )
        for one in (True, False)
    ]
    assert made[1].cells == made[0].cells[1:]
    names = {}
    exec(made[0].cells[0].source, names)
    sympy = __import__("sympy")
    with pytest.raises(TypeError):
        sympy.log("1 + 1")
    assert sympy.log(sympy.S(1)) == 0
    assert "sympy" not in names


def read_solutions_of(stem):
    return [one.shown() for one in read_solutions(ROOT, stem).definitions.values()]


STEM = "bayes_by_backprop"
FIRST, SECOND = "bayes-by-backprop/reparametrise", "bayes-by-backprop/log-posterior"


def test_of_cells_that_act_only_what_answers_reach_is_run():
    """This holds for an added cell, an answer's cell, and an edited cell of the release.

    A cell that defines and shows is run without what shows.
    """
    first = "def late(): return SCALE\nhistory = train(1)\nprint(late())"
    answer = (
        "def spread(rho): return F.softplus(rho) + late()\n"
        "train(spread)\nreparametrise = spread\nother = 1"
    )
    calm = "def log_posterior(w, mu, rho):\n\n    return w  # as it stands"
    notebook = assemble(
        released(STEM),
        student := answers(
            {FIRST: answer, SECOND: calm},
            added=(
                Added("added--0000", cell_id(FIRST), first),
                Added("added--0001", cell_id(SECOND), "SCALE = 2\ntrain(SCALE)"),
                Added("added--0002", cell_id(SECOND), "table = {}\ntable['a'] = 3"),
                Added("added--0003", cell_id(SECOND), "other = 2\nprint(other)"),
            ),
            around={
                "c003": "import numpy as np\nseeded = builtins.setattr(np, 'x', 1)"
            },
        ),
        {FIRST, SECOND},
        {},
        probes(STEM),
        effects=Effects([answer, calm, first, "table = {}"]),
    )
    sources = {cell.id: cell.source for cell in notebook.cells}
    assert sources["added--0000"] == "def late():\n    return SCALE"
    assert sources["added--0001"] == "SCALE = 2"
    assert sources["added--0002"] == "table = {}\ntable['a'] = 3"
    assert sources["added--0003"] == "other = 2\n"
    assert sources[cell_id(FIRST)] == (
        "def spread(rho):\n    return F.softplus(rho) + late()\nreparametrise = spread"
    )
    assert sources[cell_id(SECOND)] == calm
    assert "c003" not in sources
    everything = assemble(released(STEM), student, {FIRST, SECOND}, {}, probes(STEM))
    assert differing(notebook, everything) >= {
        *("added--0000", "added--0001", cell_id(FIRST)),
    }
    assert cell_id(SECOND) not in differing(notebook, everything)


@pytest.mark.parametrize(
    "source",
    [
        "x" + ".a" * 800 + " = 1\n" * 30,
        ("x" + ".a" * 800 + " = 1\n") * 60,
        "f" + "(1)" * 900 + "\n",
        "a = b\n" * 16_000,
        "\n".join(f"a{n} = a{n + 1}" for n in range(7_000)),
        "x = [" + "torch, " * 14_000 + "]",
        "x = '" + "__a__" * 19_000 + "'",
        "def f():\n" + " for x in y: x.a = 1\n" * 4_000,
        "for " + "a, " * 5_000 + " in [" + "torch, " * 5_000 + "]: pass",
        "for " + "a, " * 5_000 + " in [" + "[a], " * 5_000 + "]: pass",
        "a, " * 9_000 + " = " + "torch, " * 9_001,
    ],
    ids=lambda source: source[:12],
)
def test_hostile_sources_take_seconds(source):
    start = time.process_time()
    quiet(source[:100_000])
    assert time.process_time() - start < 10


def test_every_task_is_in_the_corpus():
    assert all(set(reference(stem)) == set(tasks_of(stem)) for stem in STEMS)


def test_what_names_a_place_in_a_kept_cell_is_kept_with_it():
    """The id of an object that is freed could name a place in another cell as well."""
    cell = _read("i, (a, b) = made()\nfor j, (c, (d, e)) in made():\n    pass")
    found = {one.removesuffix("()") for edge in cell.edges for one in edge}
    places = {one for one in found if one.startswith("#")}
    assert len(places) == 5
    assert places <= {f"#{id(value)}" for _, value in cell.bindings}
