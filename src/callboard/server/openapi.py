"""The OpenAPI document: shapes and payloads as pydantic models, which FastAPI can describe."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from inspect import getdoc
from types import UnionType
from typing import (
    Annotated,
    Final,
    ForwardRef,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model
from starlette.routing import BaseRoute

from callboard.board.replies import PlateList, Recorded
from callboard.engine.inbox import InteractionPage
from callboard.engine.offers import EdgeInfo, PhaseInfo, WorkflowInfo
from callboard.engine.operations import Forked
from callboard.engine.sessions import SessionInfo, SessionPage
from callboard.events.envelope import Event
from callboard.events.failures import ErrorDescription
from callboard.events.payloads.plates import BackgroundWork
from callboard.events.payloads.workflow import PatchOperation
from callboard.events.shapes import Shape, ShapeMember, is_moment, members, unmarked
from callboard.server.routing import StrictRoute

NAMES: Final[Mapping[type, str]] = {
    BackgroundWork: "Background",
    EdgeInfo: "Edge",
    ErrorDescription: "Problem",
    Event: "EventEnvelope",
    Forked: "ForkResult",
    InteractionPage: "InteractionsPage",
    PatchOperation: "Patch",
    PhaseInfo: "Phase",
    PlateList: "Plates",
    Recorded: "Heard",
    SessionInfo: "Session",
    SessionPage: "SessionsPage",
    WorkflowInfo: "Workflow",
}
"""Names in the document, and so in TypeScript, of classes that are named differently there."""

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

_Field = tuple[str, tuple[object, object]]
_UNFINISHED: Final[set[type]] = set()
"""Classes whose models are being built. Where they contain themselves, only the name is used."""


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


@cache
def model_of(kind: type) -> type[BaseModel]:
    """The model of a shape, or of a `TypedDict`, which may have additional keys."""
    if is_typeddict(kind):
        _UNFINISHED.add(kind)
        model = _model(kind, _keys(kind), base=_Open)
        _UNFINISHED.remove(kind)
        model.model_rebuild(_types_namespace={model.__name__: model})
        return model
    told = members(cast("type[Shape]", kind))
    narrowed = [one.narrowed for one in told if one.narrowed]
    if not narrowed:
        return _model(kind, [_field(one, one.type) for one in told])
    by, types = narrowed[0].by, narrowed[0].types
    variants: dict[object, tuple[str, ...]] = {}
    for value, type in types.items():
        variants[type] = (*variants.get(type, ()), value)
    models = [_variant(kind, told, by, values) for values in variants.values()]
    root = cast("type[BaseModel]", RootModel[Annotated[_any_of(models), Field(discriminator=by)]])
    return _model(kind, [], base=root)


def _variant(
    kind: type, told: Iterable[ShapeMember], by: str, values: tuple[str, ...]
) -> type[BaseModel]:
    """The model of a shape whose field `by` has one of these values."""
    words = "".join(word.capitalize() for word in values[0].split("_"))
    return _model(kind, [_field(one, _narrowed(one, by, values)) for one in told], words)


def _narrowed(member: ShapeMember, by: str, values: tuple[str, ...]) -> object:
    if member.narrowed:
        return _any_of([member.narrowed.types[values[0]], None])
    return Literal[values] if member.name == by else member.type


def _model(
    kind: type, told: Iterable[_Field], prefix: str = "", base: type[BaseModel] = BaseModel
) -> type[BaseModel]:
    make = cast("Callable[..., type[BaseModel]]", create_model)
    name = prefix + NAMES.get(kind, kind.__name__)
    return make(name, __base__=base, __doc__=getdoc(kind), **dict(told))


def _field(member: ShapeMember, type: object) -> _Field:
    default = None if member.can_miss else ...
    field = Field(default, alias=member.key, description=member.about)
    return member.name, (documented(type), field)


def _keys(kind: type) -> Iterator[_Field]:
    """The keys of a `TypedDict`. Some can't be attribute names."""
    required = cast("frozenset[str]", kind.__required_keys__)
    for key, hint in get_type_hints(kind).items():
        field = Field(... if key in required else None, alias=key)
        yield f"key_{key}", (documented(hint), field)


def documented(hint: object) -> object:
    """A type that pydantic can describe."""
    kind, _ = unmarked(hint)
    if is_moment(hint):
        return Moment
    if isinstance(kind, type) and kind in _UNFINISHED:
        return ForwardRef(NAMES.get(kind, kind.__name__))
    if isinstance(kind, type) and (is_typeddict(kind) or issubclass(kind, Shape)):
        return model_of(kind)
    origin, inner = get_origin(kind), [documented(one) for one in get_args(kind)]
    if origin in (Union, UnionType):
        return object if object in inner else _any_of(inner)
    if origin in (list, tuple, Sequence):
        return list[inner[0]]
    if origin in (dict, Mapping):
        return dict[str, inner[1]]
    return cast("object", kind)


def _any_of(kinds: Iterable[object]) -> object:
    first, *others = cast("Iterable[type]", kinds)
    return reduce(lambda union, one: union | one, others, cast("UnionType", first))


def document(app: FastAPI, routes: Iterable[BaseRoute]) -> dict[str, object]:
    """The OpenAPI document of an application with these routes."""
    documented = [
        route.documented(model_of) if isinstance(route, StrictRoute) else route for route in routes
    ]
    return get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=documented,
        separate_input_output_schemas=app.separate_input_output_schemas,
    )
