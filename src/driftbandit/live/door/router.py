"""From a method and a path to what answers it: a tree of the path's parts, walked once per request."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from driftbandit.live.door.problems import Refused
from driftbandit.live.fold.records import Right

MOST_KNOWN, LONGEST_KNOWN = 1000, 256


@dataclass(frozen=True)
class Route:
    """One operation: what it takes, what it may answer, who may ask. The documentation is made from this."""

    method: str
    path: str  # "/v1/experiments/{name}"
    handler: Callable[..., Awaitable[Any]]
    summary: str
    right: Right | None = None  # None: anyone
    body: Any = None  # the type of what is sent, where anything is
    answer: Any = None  # the type of what is answered, or a media type
    refusals: tuple[int, ...] = ()  # statuses of problems, besides those of every route
    query: dict[str, Any] = field(default_factory=dict)  # name → type, all optional
    whole: bool = True  # where it concerns no single experiment: whether a token for all of them is needed
    of_experiment: bool = field(init=False)  # whether the first open part of its path names one
    writes: bool = field(init=False)  # to the journal
    lines: bool = False  # takes NDJSON too, one answer per line

    def __post_init__(self) -> None:
        object.__setattr__(self, "of_experiment", self.path.startswith("/v1/experiments/{name}"))
        object.__setattr__(self, "writes", self.method != "GET" and self.right != "read")

    @property
    def name(self) -> str:
        return self.handler.__name__


class Router:
    def __init__(self, routes: tuple[Route, ...]) -> None:
        self.tree: dict[Any, Any] = {}
        self.known: dict[tuple[str, bytes], tuple[Route, list[str]]] = {}
        for route in routes:
            node = self.tree
            for part in route.path.split("/")[1:]:
                node = node.setdefault(None if part.startswith("{") else part.encode(), {})
            node.setdefault("methods", {})[route.method] = route

    def find(self, method: str, path: bytes) -> tuple[Route, list[str]]:
        """The route, and the parts of the path that it left open, in order; those without ids are remembered."""
        known = self.known.get((method, path))
        if known is None:
            known = self._walk(method, path)
            if len(known[1]) < 2 and len(path) < LONGEST_KNOWN:
                if len(self.known) >= MOST_KNOWN:  # of strangers, maybe
                    self.known.clear()
                self.known[method, path] = known
        return known

    def _walk(self, method: str, path: bytes) -> tuple[Route, list[str]]:
        node, found = self.tree, []
        for part in path.split(b"/")[1:]:
            below = node.get(part)
            if below is None:
                below = node.get(None)
                if below is None or not part:
                    raise Refused(404, f"there is nothing at {readable(path)}: /openapi.json lists all there is")
                found.append(readable(part))
            node = below
        methods = node.get("methods")
        if methods is None:
            raise Refused(404, f"there is nothing at {readable(path)}: /openapi.json lists all there is")
        route = methods.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = ", ".join(methods)
            detail = f"{method} is not for {readable(path)}: it takes {allowed}"
            raise Refused(405, detail, headers=((b"allow", allowed.encode()),))
        return route, found


def readable(part: bytes) -> str:
    try:
        return unquote(part.decode("ascii"), errors="strict")
    except UnicodeDecodeError:
        raise Refused(404, "the path must be percent-encoded UTF-8") from None
