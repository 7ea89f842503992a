"""The figures that more than one cell draws. They take NumPy arrays and know no model.

Every function takes ``ax`` (by default the current axes) and returns it.
"""

from course.plots.fields import class_map, field, scatter_classes
from course.plots.lines import curves, predictive_band
from course.plots.style import COLOURS, use_style

__all__ = [
    "COLOURS",
    "class_map",
    "curves",
    "field",
    "predictive_band",
    "scatter_classes",
    "use_style",
]
