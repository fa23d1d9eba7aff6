"""The service described: OpenAPI 3.1, made from the table of routes and the very types that check requests."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from driftbandit import __version__
from driftbandit.live.door.api import Id, Name
from driftbandit.live.door.problems import Problem
from driftbandit.live.door.router import Route

REF = "#/components/schemas/{name}"
ANYWHERE = (400, 503)  # what any route may answer, besides its own
PARTS: dict[str, Any] = {"name": Name, "set": Name, "id": Id, "action": str, "key": str, "file": str}


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    kinds = [kind for route in routes for kind in (route.body, route.answer) if kind is not None and not isinstance(kind, str)]
    queries = [kind for route in routes for kind in route.query.values()]
    wanted = [*dict.fromkeys(kinds), Problem]
    schemas, components = msgspec.json.schema_components([*wanted, *PARTS.values(), *queries], ref_template=REF)
    named = dict(zip(wanted, schemas, strict=False))
    parts = dict(zip(PARTS, schemas[len(wanted) :], strict=False))
    asked = iter(schemas[len(wanted) + len(parts) :])
    paths: dict[str, Any] = {}
    for route in routes:
        query = [parameter("query", name, next(asked)) for name in route.query]
        inside = [parameter("path", name, parts[name]) for name in re.findall(r"{(\w+)}", route.path)]
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route, named, [*inside, *query])
    return {
        "openapi": "3.1.0",
        "info": {"title": "driftbandit", "version": __version__, "description": ABOUT},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


ABOUT = (
    "Decisions that are durable when they are answered. An id, made by the caller, is a promise: the same id gives the same "
    "answer, so a request that got no answer may be sent again."
)


def operation(route: Route, named: dict[Any, Any], parameters: list[Any]) -> dict[str, Any]:
    said: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.name,
        "parameters": parameters,
        "responses": answers(route, named),
        "security": [{"token": []}] if route.right else [],
    }
    if route.right:
        said["description"] = f"Needs the right to {route.right}, where the service has tokens."
    if route.body is not None:
        media = {"application/json": {"schema": named[route.body]}}
        if route.lines:
            media["application/x-ndjson"] = {"schema": {"type": "string"}}
        said["requestBody"] = {"required": True, "content": media}
    return said


def answers(route: Route, named: dict[Any, Any]) -> dict[str, Any]:
    kind = route.answer
    content = {kind: {"schema": {"type": "string"}}} if isinstance(kind, str) else {"application/json": {"schema": named[kind]}}
    if route.lines:
        content["application/x-ndjson"] = {"schema": {"type": "string"}}
    found: dict[str, Any] = {"200": {"description": "done, now or before", "content": content}}
    refused = {"application/problem+json": {"schema": named[Problem]}}
    for status in refusals(route):
        found[str(status)] = {"description": HTTPStatus(status).phrase, "content": refused}
    return found


def refusals(route: Route) -> list[int]:
    own = set(route.refusals)
    own |= {401, 403} if route.right else set()
    own |= {413, 415, 422} if route.body is not None else set()
    return sorted(own | set(ANYWHERE))


def parameter(place: str, name: str, schema: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}
