"""What went wrong, as RFC 9457 has it: application/problem+json with a status, a title, what to do, and the field."""

import math
from http import HTTPStatus
from typing import Any

import msgspec

from driftbandit.live.errors import Conflict, Full, Gone, Invalid, LiveError, NotFound

MEDIA_TYPE = b"application/problem+json"

Headers = tuple[tuple[bytes, bytes], ...]


class Problem(msgspec.Struct, omit_defaults=True, kw_only=True):
    """An error as it is answered."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    field: str | None = None  # which part of the request was wrong, as a path: "arms[3][0]"


class Refused(Exception):
    """A request that cannot be granted."""

    def __init__(self, status: int, detail: str, *, field: str | None = None, headers: Headers = ()) -> None:
        super().__init__(detail)
        self.status, self.detail, self.field, self.headers = status, detail, field, headers

    def problem(self) -> Problem:
        return Problem(title=HTTPStatus(self.status).phrase, status=self.status, detail=self.detail, field=self.field)


def come_again(status: int, detail: str, seconds: float) -> Refused:
    """Not now: 429 where the caller asks too much, 503 where the service cannot."""
    return Refused(status, detail, headers=((b"retry-after", str(max(1, math.ceil(seconds))).encode()),))


def wrong_shape(error: msgspec.ValidationError, kind: Any) -> Refused:
    """What msgspec says of a body of the wrong shape, with the field apart: "Expected `float`, got `str` - at `$.arms[0]`"."""
    words, _, place = str(error).partition(" - at ")
    field = place.strip("`").removeprefix("$").removeprefix(".")
    if "unknown field" in words and not field:
        words += f": known are {', '.join(kind.__struct_fields__)}"
    return Refused(422, words, field=field or None)


SENT_AS: dict[str | None, str] = {"fields": "context", "value": "reward"}  # what the service calls otherwise


def refusal_of(error: LiveError) -> Refused:
    """What the service said, as HTTP says it."""
    match error:
        case Invalid():
            return Refused(422, str(error), field=SENT_AS.get(error.field, error.field))
        case Gone():
            return Refused(410, str(error))
        case NotFound():
            return Refused(404, str(error))
        case Conflict():
            return Refused(409, str(error))
        case Full():
            return come_again(429, str(error), 1)
    return come_again(503, str(error), 5)
