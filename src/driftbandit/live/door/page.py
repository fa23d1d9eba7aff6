"""The page: static files of this package, read once, and nothing else from anywhere."""

from functools import cache
from importlib.resources import files

from driftbandit.live.door.http import Call, Reply
from driftbandit.live.door.problems import Headers, Refused

MEDIA = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
    ".png": b"image/png",
    ".ico": b"image/x-icon",
    ".woff2": b"font/woff2",
    ".json": b"application/json",
    ".txt": b"text/plain; charset=utf-8",
}
STRICT: Headers = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)


async def page(call: Call) -> Reply:
    return served("index.html")


async def page_file(call: Call) -> Reply:
    return served(call.params[0])


@cache
def contents() -> dict[str, bytes]:
    """By name: only these are ever served, so no path can lead elsewhere."""
    folder = files("driftbandit") / "live" / "page"
    if not folder.is_dir():
        return {}
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file() and ending(file.name) in MEDIA}


def ending(name: str) -> str:
    return name[name.rfind(".") :] if "." in name else ""


def served(name: str) -> Reply:
    body = contents().get(name)
    if body is None:
        raise Refused(404, f"the page has no file {name!r}")
    return Reply(body, MEDIA[ending(name)], headers=STRICT)
