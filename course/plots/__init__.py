"""Figures that more than one cell draws. They take NumPy arrays, never models.

Every function takes ``ax`` (by default the current axes) and returns it.
"""

from course.plots import data_views, views
from course.plots.calibration import (
    confidence_histogram,
    median_interval,
    paired_differences,
    reliability_diagram,
    warped_grid,
)
from course.plots.fields import class_map, field, scatter_classes
from course.plots.lines import curves, predictive_band
from course.plots.live import Button, Radio, Slider, live
from course.plots.methods import METHODS, method_intervals
from course.plots.posteriors import density, gaussian_ellipses, probability_map
from course.plots.steps import stepped
from course.plots.style import COLOURS, use_style
from course.plots.weights import class_bars, show_image, weight_diagram

__all__ = [
    "confidence_histogram",
    "median_interval",
    "paired_differences",
    "reliability_diagram",
    "warped_grid",
    "Button",
    "COLOURS",
    "METHODS",
    "Radio",
    "Slider",
    "class_bars",
    "class_map",
    "curves",
    "data_views",
    "density",
    "field",
    "gaussian_ellipses",
    "live",
    "method_intervals",
    "predictive_band",
    "probability_map",
    "scatter_classes",
    "show_image",
    "stepped",
    "use_style",
    "views",
    "weight_diagram",
]
