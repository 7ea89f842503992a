"""Experiments and benchmarks that take minutes; the book includes some of their results."""
