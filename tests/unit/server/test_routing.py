"""Routes are read when they are first needed, and are then the same as those that FastAPI reads."""

import subprocess
import sys
from typing import Annotated

from fastapi import FastAPI, Query, Response
from starlette.testclient import TestClient

from callboard.server import routing


def given_a_route() -> tuple[FastAPI, routing.StrictRoute]:
    router = routing.router("Things")

    @router.get("/things/{name}")
    async def thing(name: str, count: Annotated[int, Query(ge=1)]) -> Response:
        return Response(f"{name} {count}")

    (route,) = router.routes
    assert isinstance(route, routing.StrictRoute)
    app = FastAPI()
    app.router.routes += router.routes
    return app, route


def test_a_route_is_read_at_its_first_request_and_only_then():
    app, route = given_a_route()
    unread = route.app
    client = TestClient(app)
    assert client.post("/things/a").status_code == 405
    assert route.app == unread
    assert client.get("/things/a?count=2").text == "a 2"
    read = route.app
    assert read != unread
    assert client.get("/things/b?count=3").text == "b 3"
    assert route.app == read


def test_a_route_has_the_methods_that_it_was_given():
    _, route = given_a_route()
    assert route.methods == {"GET"}
    assert (route.path, route.name) == ("/things/{name}", "thing")


def test_fastapi_is_imported_without_its_models_and_without_the_old_pydantic():
    script = (
        "from callboard.server.lean_imports import import_fastapi; import_fastapi()\n"
        "from callboard.server.routes import sessions; import sys\n"
        "from fastapi.openapi.models import OpenAPI; from pydantic import BaseModel\n"
        "print(OpenAPI.__pydantic_complete__, 'defer_build' in BaseModel.model_config)\n"
        "print('pydantic.v1' in sys.modules)\n"
        "print(OpenAPI(openapi='3.1.0', info={'title': 'T', 'version': '1'}).info.title)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False", "False", "T"]
