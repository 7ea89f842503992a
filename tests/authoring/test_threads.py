"""Notebooks use one thread where more would only wait for each other.

Measured beside busy processes, the training of small networks took 4 to 13 times as long with
two threads as with one.
"""

from labs import LABS


def test_notebooks_that_train_with_pytorch_use_one_thread():
    found = {}
    for lab in LABS:
        code = [c.source for c in lab.released().cells if c.cell_type == "code"]
        imports = any("import torch" in source for source in code)
        found[lab.chapter.stem] = (
            imports,
            any("torch.set_num_threads(1)" in source for source in code),
        )
    assert len({name for name, (imports, _) in found.items() if imports}) > 5
    assert [name for name, (imports, one) in found.items() if imports != one] == []
