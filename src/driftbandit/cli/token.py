"""``token``: who may call a service."""

import argparse
import os
from typing import Any

from driftbandit.cli.opened import opened
from driftbandit.cli.options import Commands, Examples

RIGHTS = ("decide", "reward", "read", "admin")


def add_token(commands: Commands) -> None:
    command = commands.add_parser(
        "token",
        help="make, list and revoke the tokens that callers of a service need",
        description="Make, list and revoke tokens. A token is shown once, when it is made; the journal keeps only its SHA-256. "
        "Rights: decide, reward, read (status, metrics, preview), admin (all of these, plus experiments and tokens); for all "
        "experiments or for some. As soon as one token exists, every caller needs one.",
        epilog="""examples:
  driftbandit token make shop.db --rights admin --note "me"
  driftbandit token make shop.db --rights decide reward --experiments shop --note "web shop"
  driftbandit token list shop.db
  driftbandit token revoke shop.db 3f9c0a1b2c3d
While a service has the journal open, give its address instead, with an admin token in DRIFTBANDIT_TOKEN:
  driftbandit token make http://127.0.0.1:8000 --rights read --note "dashboard" """,
        formatter_class=Examples,
    )
    verbs = command.add_subparsers(title="what to do", metavar="make | list | revoke", dest="verb", required=True)
    make = add_verb(verbs, "make", "make a token and print it", make_token)
    make.add_argument("--rights", nargs="+", type=right, metavar="RIGHT", required=True,
                      help=f"what the token allows: {', '.join(RIGHTS)}")  # fmt: skip
    make.add_argument("--experiments", nargs="+", metavar="NAME", help="where (default: in all, including future ones)")
    make.add_argument("--note", default="", help="whose token it is", metavar="TEXT")
    add_verb(verbs, "list", "list tokens by their keys", list_tokens)
    revoke = add_verb(verbs, "revoke", "revoke a token, immediately and permanently", revoke_token)
    revoke.add_argument("key", metavar="KEY", help="as `driftbandit token list` shows it")


def add_verb(verbs: Commands, name: str, about: str, run: Any) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
    verb.add_argument("journal", metavar="PATH|URL", help="the journal, or the address of the service that has it open")
    verb.set_defaults(run=run)
    return verb


def right(text: str) -> str:
    if text not in RIGHTS:
        hint = "; put the path first: driftbandit token make PATH --rights …" if is_path(text) else ""
        raise argparse.ArgumentTypeError(f"unknown right {text!r}: there are {', '.join(RIGHTS)}{hint}")
    return text


def is_path(text: str) -> bool:
    return is_address(text) or "." in text or "/" in text


def make_token(chosen: argparse.Namespace) -> None:
    wanted = {"rights": chosen.rights, "experiments": chosen.experiments, "note": chosen.note}
    if is_address(chosen.journal):
        print(ask(chosen.journal, "POST", "tokens", wanted)["token"])
        return
    from driftbandit.live.door.tokens import draw

    with opened(chosen.journal) as service:
        if not service.tokens and ("admin" not in chosen.rights or chosen.experiments):
            raise ValueError(
                "the first token must have --rights admin and be for all experiments, or nobody could make another"
            )
        text, token = draw(**wanted)
        service.commits.through(service.make_token(token))
        print(text)


def list_tokens(chosen: argparse.Namespace) -> None:
    if is_address(chosen.journal):
        found = ask(chosen.journal, "GET", "tokens")["tokens"]
    else:
        from driftbandit.live.door.tokens import key_of

        with opened(chosen.journal) as service:
            found = [
                {"key": key_of(token), "rights": token.rights, "experiments": token.experiments, "note": token.note}
                for token in service.tokens.values()
            ]
    for token in found:
        where = "all experiments" if token["experiments"] is None else ", ".join(token["experiments"])
        print(f"{token['key']}  {', '.join(token['rights'])} in {where}  {token.get('note', '')}".rstrip())
    if not found:
        print("no tokens: anyone on this machine may do anything")


def revoke_token(chosen: argparse.Namespace) -> None:
    if is_address(chosen.journal):
        ask(chosen.journal, "DELETE", f"tokens/{chosen.key}")
    else:
        from driftbandit.live.door.tokens import find

        with opened(chosen.journal) as service:
            service.commits.through(service.revoke_token(find(service.tokens, chosen.key).digest))
    print(f"revoked: {chosen.key}")


def is_address(journal: str) -> bool:
    return journal.startswith(("http://", "https://"))


def ask(url: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    from driftbandit.live.client import Client, ServiceError

    token = os.environ.get("DRIFTBANDIT_TOKEN")
    with Client(url, token) as client:
        try:
            return client.ask(method, path, body)
        except ServiceError as error:
            hint = "; set DRIFTBANDIT_TOKEN to an admin's token" if error.status == 401 and not token else ""
            raise OSError(f"{url}: {error}{hint}") from None
