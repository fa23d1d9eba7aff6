"""Bearer tokens: 256 random bits, of which only the SHA-256 is kept, and what each gives the right to."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from typing import get_args

from driftbandit.live.door.problems import Refused
from driftbandit.live.errors import Invalid, NotFound
from driftbandit.live.fold.records import Right, Token

RIGHTS: tuple[Right, ...] = get_args(Right)
PREFIX = b"drift_"
CHALLENGE = ((b"www-authenticate", b"Bearer"),)
SOME = "any experiment"  # in place of a name, by identity: no caller's text is this one


def draw(rights: Iterable[str], experiments: Iterable[str] | None = None, note: str = "") -> tuple[str, Token]:
    """The token to hand out, which nobody can tell again, and what is kept of it."""
    wanted = set(rights)
    if not wanted or not wanted <= set(RIGHTS):
        raise Invalid(f"rights must be some of {', '.join(RIGHTS)}, got {', '.join(sorted(wanted)) or 'none'}", "rights")
    token = PREFIX.decode() + secrets.token_urlsafe(32)
    kept = tuple(right for right in RIGHTS if right in wanted)
    return token, Token(digest_of(token.encode()), kept, None if experiments is None else tuple(experiments), note)


def digest_of(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def key_of(token: Token) -> str:
    """By which people speak of a token."""
    return token.digest.hex()[:12]


def find(tokens: Mapping[bytes, Token], key: str) -> Token:
    found = [token for token in tokens.values() if token.digest.hex().startswith(key)] if len(key) >= 12 else []
    if len(found) != 1:
        raise NotFound(f"there is no token with the key {key!r}: `driftbandit token list` shows their keys, of 12 digits")
    return found[0]


def carried(tokens: Mapping[bytes, Token], header: bytes | None) -> Token | None:
    """The token that an Authorization header carries, if it is one of these.

    It is looked up by its digest, of which no caller can choose a part, and compared in constant time.
    """
    scheme, _, sent = (header or b"").partition(b" ")
    if scheme.lower() != b"bearer":
        return None
    digest = digest_of(sent.strip())
    token = tokens.get(digest)
    return token if token is not None and hmac.compare_digest(token.digest, digest) else None


def allows(token: Token, right: Right, experiment: str | None) -> bool:
    """An admin may do all; what concerns no single experiment needs a token for all of them."""
    if right not in token.rights and "admin" not in token.rights:
        return False
    return token.experiments is None or experiment is SOME or experiment in token.experiments


def admit(tokens: Mapping[bytes, Token], header: bytes | None, right: Right, experiment: str | None) -> Token:
    """The caller's token, if it gives this right."""
    token = carried(tokens, header)
    if token is None:
        raise Refused(401, "a valid token is needed: send 'Authorization: Bearer drift_…'", headers=CHALLENGE)
    if not allows(token, right, experiment):
        where = SOME if experiment is SOME else f"experiment {experiment!r}" if experiment else "the service as a whole"
        raise Refused(403, f"this token does not give the right to {right} in {where}")
    return token
