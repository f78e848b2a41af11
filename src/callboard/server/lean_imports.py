"""What a server imports first: a fast event loop, and FastAPI without what we never use."""

import asyncio
import sys
from collections.abc import Callable
from importlib import import_module

from pydantic import BaseModel


def import_fastapi() -> None:
    """Import FastAPI quickly.

    Its models of OpenAPI documents are built when they are first used: they take a tenth of a
    server's start. To find out that no parameter is a model of the old pydantic, it would import
    that too.
    """
    BaseModel.model_config["defer_build"] = True
    try:
        utils = import_module("fastapi.utils")
    finally:
        del BaseModel.model_config["defer_build"]
    utils.__dict__["annotation_is_pydantic_v1"] = _is_never_old


def _is_never_old(annotation: object) -> bool:
    return False


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """What makes a server's event loop: uvloop, which is faster. Windows has only asyncio's."""
    if sys.platform == "win32":
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop
