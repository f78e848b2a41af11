"""The examples in the docstrings of `callboard.testing` are true."""

import doctest
import importlib
import pkgutil

import pytest

import callboard.testing

MODULES = [module.name for module in pkgutil.iter_modules(callboard.testing.__path__)]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_are_true(module: str):
    found = doctest.testmod(importlib.import_module(f"callboard.testing.{module}"))
    assert found.failed == 0
