"""The labels of folded code and of folded outputs."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from myst_nb.sphinx_ import HideCodeCellNode

from authoring.sphinx_ext import label_folds


@pytest.mark.parametrize(
    ("where", "label"),
    [
        ("above-input", "Show the code of this output"),
        ("above-output", "Show the output"),
        ("below-input", "Show the output"),
    ],
)
def test_a_label_says_whether_code_or_an_output_is_folded(where, label):
    folded = HideCodeCellNode(
        prompt_show="Show the code", prompt_hide="", classes=[where]
    )
    page = new_document("page")
    page += nodes.container("", folded, nodes.container(nb_element="cell_code_output"))
    app = SimpleNamespace(env=SimpleNamespace(toc_fignumbers={}))
    label_folds(app, page, "page")
    assert folded["prompt_show"] == label
