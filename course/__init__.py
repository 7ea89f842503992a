"""The machinery of the course: checks, data and plots for its notebooks, and the tools around them."""

from course.feedback import check

__all__ = ["check"]
