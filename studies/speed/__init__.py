"""Benchmarks: the speed of the solutions beside other ways to compute the same."""
