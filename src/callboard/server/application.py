"""The ASGI application: routes, errors, and the guard before them."""

from importlib.metadata import version

from fastapi import FastAPI

from callboard.server import problems
from callboard.server.hook_shortcut import HookShortcut
from callboard.server.routes import (
    control,
    docs,
    health,
    hooks,
    interactions,
    login,
    metrics,
    plates,
    sessions,
    streams,
    ui,
    workflows,
)
from callboard.server.service import Service

_ABOUT = """
Run workflows, answer their questions, watch them live.

Everything needs a token: `Authorization: Bearer TOKEN`. Errors come as
`{"error": {"code", "message", …}}`.
"""

ROUTERS = (
    hooks.router,
    workflows.router,
    sessions.router,
    control.router,
    streams.router,
    interactions.router,
    plates.router,
    login.router,
    health.router,
    metrics.router,
    docs.router,
    ui.router,
)


def build(service: Service) -> FastAPI:
    """Put the application together. The guard is put around it by `callboard.server.running`."""
    app = FastAPI(
        title="Callboard",
        version=version("callboard"),
        description=_ABOUT,
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        # Ours is in `tracing`; FastAPI's would look for a provider at every request.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.service = service
    problems.install(app)
    app.add_middleware(HookShortcut)
    app.state.routes = [route for router in ROUTERS for route in router.routes]
    for router in ROUTERS:
        app.include_router(router)
    return app
