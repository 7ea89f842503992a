"""Which statements of a student's cell define, and which act."""

import ast
import time

import pytest
from assembled import ROOT, STEMS, answers, each_practical, probes, reference, released

from course.grading.handed_in.answers import Added
from course.grading.handed_in.effects import Effects, parsed
from course.grading.judging.assemble import assemble, cell_id, differing
from course.source import read_solutions
from course.task import tasks_of

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
    ],
)
def test_definitions_do_not_act(source):
    assert quiet(source)


@pytest.mark.parametrize(
    "source",
    [
        # Calls for their effect, loops, and what is no plain Python.
        "print(1)",
        "x = print(1)",
        "helper(1)",
        "torch.manual_seed(0)",
        "for x in SIZES: pass",
        "while True: pass",
        "assert helper(1) == 2",
        "with torch.no_grad(): x = 1",
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
        # What reaches into Python.
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


@each_practical
def test_no_solution_and_no_given_code_acts(stem):
    """So an honest notebook is judged in one go; the references themselves are, too."""
    notebook, solutions = released(stem), read_solutions_of(stem)
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
    tasks = set(reference(stem))
    honest = answers(reference(stem))
    both = [
        assemble(notebook, honest, tasks, {}, probes(stem), effects=one)
        for one in (effects, None)
    ]
    assert differing(*both) == set()


@each_practical
def test_other_right_answers_do_not_act(stem):
    source = (ROOT / f"tests/right_answers/{stem}.py").read_text("utf-8")
    # Written beside the solutions, which a student's own would be.
    source = source.replace("ref.", "").replace("from solutions", "from torch")
    effects = Effects([source])
    acting = [
        ast.unparse(node) for node in parsed(source).body if not effects.defines(node)
    ]
    assert acting == []


def read_solutions_of(stem):
    return [one.shown() for one in read_solutions(ROOT, stem).definitions.values()]


STEM = "bayes_by_backprop"
FIRST, SECOND = "bayes-by-backprop/reparametrise", "bayes-by-backprop/log-posterior"


def test_of_cells_that_act_only_what_answers_reach_is_run():
    """In an added cell, in an answer's own and in an edited one of the release."""
    first = "def late(): return SCALE\nhistory = train(1)\nprint(late())"
    answer = (
        "def spread(rho): return F.softplus(rho) + late()\n"
        "print(spread)\nreparametrise = spread\nother = 1"
    )
    calm = "def log_posterior(w, mu, rho):\n\n    return w  # as it stands"
    notebook = assemble(
        released(STEM),
        student := answers(
            {FIRST: answer, SECOND: calm},
            added=(
                Added("added--0000", cell_id(FIRST), first),
                Added("added--0001", cell_id(SECOND), "SCALE = 2\nprint(SCALE)"),
                Added("added--0002", cell_id(SECOND), "table = {}\ntable['a'] = 3"),
            ),
            around={
                "c003": "import numpy as np\nseeded = builtins.setattr(np, 'x', 1)"
            },
        ),
        {FIRST, SECOND},
        {},
        probes(STEM),
        effects=Effects([answer, calm, first]),
    )
    sources = {cell.id: cell.source for cell in notebook.cells}
    assert sources["added--0000"] == "def late():\n    return SCALE"
    assert sources["added--0001"] == "SCALE = 2"
    assert sources["added--0002"] == "table = {}\ntable['a'] = 3"
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
    ],
    ids=lambda source: source[:12],
)
def test_hostile_sources_take_seconds(source):
    start = time.process_time()
    quiet(source[:100_000])
    assert time.process_time() - start < 10


def test_every_task_is_in_the_corpus():
    assert all(set(reference(stem)) == set(tasks_of(stem)) for stem in STEMS)
