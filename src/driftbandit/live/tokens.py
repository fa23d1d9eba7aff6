"""Bearer tokens: a public key by which one is found, and 256 random bits of which only the SHA-256 is kept."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from driftbandit.live.problems import Refused

Right = Literal["decide", "reward", "read", "admin"]
RIGHTS: tuple[Right, ...] = ("decide", "reward", "read", "admin")
CHALLENGE = ((b"www-authenticate", b"Bearer"),)
PREFIX = "drift"
MOST = 1000


@dataclass(frozen=True)
class Token:
    """What is known of a token: not the token."""

    key: str
    digest: bytes  # SHA-256 of its secret
    rights: frozenset[str]
    experiments: frozenset[str] | None = None  # None: all
    note: str = ""

    def allows(self, right: str, experiment: str | None) -> bool:
        """An admin of an experiment may do all there; what concerns no single experiment needs a token for all."""
        if right not in self.rights and "admin" not in self.rights:
            return False
        return self.experiments is None or (experiment is not None and experiment in self.experiments)


def make(rights: Iterable[str], experiments: Iterable[str] | None = None, note: str = "") -> tuple[str, Token]:
    """The token to hand out, shown once, and what is kept of it."""
    rights = frozenset(rights)
    if not rights or not rights <= set(RIGHTS):
        raise ValueError(f"rights must be some of {', '.join(RIGHTS)}, got {', '.join(sorted(rights)) or 'none'}")
    key, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    named = None if experiments is None else frozenset(experiments)
    return f"{PREFIX}_{key}_{secret}", Token(key, digest_of(secret), rights, named, note)


def digest_of(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


class Guard:
    """Who may do what. Without tokens anyone may do anything, so without tokens only this machine is listened to."""

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self.tokens = {token.key: token for token in tokens}

    def admit(self, header: bytes | None, right: str, experiment: str | None) -> None:
        if not self.tokens:
            return
        token = self.known(header)
        if token is None:
            raise Refused(401, "a valid token is needed: send 'Authorization: Bearer drift_…'", headers=CHALLENGE)
        if not token.allows(right, experiment):
            where = f"experiment {experiment!r}" if experiment else "the service as a whole"
            raise Refused(403, f"this token does not give the right to {right} in {where}")

    def known(self, header: bytes | None) -> Token | None:
        """The token that a header carries. The secret is compared in constant time, whether its key is known or not."""
        scheme, _, sent = (header or b"").partition(b" ")
        parts = sent.strip().decode("latin-1").split("_", 2)
        if scheme.lower() != b"bearer" or len(parts) != 3 or parts[0] != PREFIX:
            return None
        token = self.tokens.get(parts[1], NOBODY)
        same = hmac.compare_digest(digest_of(parts[2]), token.digest)
        return token if same and token is not NOBODY else None


NOBODY = Token("", bytes(32), frozenset())
