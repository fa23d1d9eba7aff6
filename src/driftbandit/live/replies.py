"""What a client gets back: a decision, or what was wrong."""

from typing import Any

import httpx
import msgspec


class ServiceError(Exception):
    """The service refused, or could not be reached in time."""

    def __init__(self, status: int | None, detail: str, field: str | None = None) -> None:
        super().__init__(f"{detail} (at {field})" if field else detail)
        self.status, self.detail, self.field = status, detail, field


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """What to show. ``offline``: the service did not answer in time, and this is the fallback; its reward is not learnt."""

    id: str
    action: str | None = None
    index: int | None = None
    round: int | None = None
    repeat: bool = False
    agreed: bool | None = None  # with a baseline: whether the policy would have chosen the same
    offline: bool = False


def understood(answer: httpx.Response) -> Any:
    """The body, or the problem that it tells; records, which come one per line, as a list."""
    body: Any = None
    media = answer.headers.get("content-type", "")
    if media.startswith("application/x-ndjson"):
        body = [msgspec.json.decode(line) for line in answer.content.splitlines()]
    elif "json" in media and answer.content:  # a proxy may say something else
        body = msgspec.json.decode(answer.content)
    if answer.is_success:
        return body
    told = body if isinstance(body, dict) else {}
    raise ServiceError(answer.status_code, told.get("detail") or answer.reason_phrase, told.get("field"))
