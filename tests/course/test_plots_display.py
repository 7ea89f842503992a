"""Figures in a student's notebook."""

import base64
import io

import nbformat
from nbclient import NotebookClient
from PIL import Image

CELLS = (
    "import matplotlib.pyplot as plt\nfrom course import plots\nplots.use_style()",
    "plt.plot([0, 1])",
)


def test_a_notebook_shows_two_pixels_for_each():
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    book = NotebookClient(nbformat.v4.new_notebook(cells=cells)).execute()
    (output,) = (o for o in book.cells[1].outputs if o.output_type == "display_data")
    picture = base64.b64decode(output.data["image/png"])
    assert (
        Image.open(io.BytesIO(picture)).width
        >= 2 * output.metadata["image/png"]["width"] - 1
    )
