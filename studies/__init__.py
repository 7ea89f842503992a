"""Runs that take minutes, and write pages that the book includes."""
