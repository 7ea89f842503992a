"""What the fork server imports and computes, once for all processes that are forked from it."""

import gc
import importlib

from _pytest.config import default_plugins
from jupyter_client.provisioning import KernelProvisionerFactory
from nbformat import current_nbformat, current_nbformat_minor
from nbformat.validator import get_validator

import grading.execution.plugin
import grading.worker  # noqa: F401
from grading.execution.runner import NOT_NEEDED
from grading.submissions.suspicion import oracles

for plugin in set(default_plugins) - set(NOT_NEEDED):  # else each pass imports them
    importlib.import_module(f"_pytest.{plugin}")
gc.disable()  # syntax trees are many objects, but no garbage
oracles()
gc.enable()
KernelProvisionerFactory.instance()  # reads the entry points of every package, once
get_validator(current_nbformat, current_nbformat_minor)  # compiles the schema, once
