"""Who may do what: tokens that are wrong, revoked, of another experiment, without the right."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from driftbandit.live.door import tokens
from driftbandit.live.errors import Invalid, NotFound
from live_door import ARMS, AT, EXPERIMENT, bearer, shop
from live_door import make_token as make

pytestmark = pytest.mark.plain


def test_rights_and_experiments(tmp_path: Path) -> None:
    async def story() -> None:
        async with shop(tmp_path) as (_, client):
            await client.put("/v1/experiments/other", json=EXPERIMENT)
            refused = await client.post("/v1/tokens", json={"rights": ["decide"]})
            assert refused.status_code == 422  # the first must be an admin's
            admin = (await make(client, None, rights=["admin"]))["token"]
            decider = (await make(client, admin, rights=["decide"], experiments=["shop"]))["token"]
            rewarder = (await make(client, admin, rights=["reward"], experiments=["shop"]))["token"]
            reader = (await make(client, admin, rights=["read"], experiments=["shop"]))["token"]
            decision = {"id": "a", "arms": ARMS}

            async def status(method: str, path: str, token: str | None, body: Any = None) -> int:
                headers = bearer(token) if token else {}
                return (await client.request(method, path, json=body, headers=headers)).status_code

            assert await status("POST", f"{AT}/decisions", None, decision) == 401
            assert await status("POST", f"{AT}/decisions", "drift_" + "x" * 43, decision) == 401
            assert await status("POST", f"{AT}/decisions", decider[:-1], decision) == 401
            assert await status("POST", f"{AT}/decisions", decider, decision) == 200
            assert await status("POST", f"{AT}/decisions", rewarder, decision) == 403
            assert await status("POST", "/v1/experiments/other/decisions", decider, decision) == 403
            assert await status("POST", "/v1/experiments/none/decisions", decider, decision) == 403  # nor is told what there is
            assert await status("POST", f"{AT}/decisions/a/reward", decider, {"reward": 1}) == 403
            assert await status("POST", f"{AT}/decisions/a/reward", rewarder, {"reward": 1}) == 200
            assert await status("GET", f"{AT}/status", rewarder) == 403
            assert await status("GET", f"{AT}/status", reader) == 200
            assert await status("GET", "/metrics", reader) == 403
            assert await status("GET", "/metrics", admin) == 200
            assert await status("GET", "/v1/tokens", reader) == 403
            assert await status("DELETE", AT, decider) == 403
            assert await status("GET", "/healthz", None) == 200
            listed = await client.get("/v1/experiments", headers=bearer(reader))
            assert [one["name"] for one in listed.json()["experiments"]] == ["shop"]
            assert await status("GET", "/live?experiment=other", reader) == 403

    asyncio.run(story())


def test_a_revoked_token_is_worth_nothing_and_stays_so(tmp_path: Path) -> None:
    async def story() -> tuple[str, str]:
        async with shop(tmp_path) as (_, client):
            admin = (await make(client, None, rights=["admin"]))["token"]
            made = await make(client, admin, rights=["read"], note="a dashboard")
            assert (await client.get(AT, headers=bearer(made["token"]))).status_code == 200
            assert (await client.delete(f"/v1/tokens/{made['key']}", headers=bearer(admin))).status_code == 200
            assert (await client.get(AT, headers=bearer(made["token"]))).status_code == 401
            assert (await client.delete(f"/v1/tokens/{made['key']}", headers=bearer(admin))).status_code == 404
            return admin, made["token"]

    async def later(admin: str, revoked: str) -> None:
        async with shop(tmp_path) as (_, client):
            assert (await client.get(AT, headers=bearer(revoked))).status_code == 401
            listed = await client.get("/v1/tokens", headers=bearer(admin))
            assert [one["rights"] for one in listed.json()["tokens"]] == [["admin"]]
            assert "token" not in listed.json()["tokens"][0]

    asyncio.run(later(*asyncio.run(story())))


def test_the_journal_does_not_hold_the_token(tmp_path: Path) -> None:
    async def story() -> str:
        async with shop(tmp_path) as (_, client):
            token: str = (await make(client, None, rights=["admin"]))["token"]
            return token

    token = asyncio.run(story())
    assert tmp_path.joinpath("live.db").exists()
    for file in tmp_path.iterdir():
        assert token.encode() not in file.read_bytes()
        assert token.removeprefix("drift_").encode() not in file.read_bytes()


def test_tokens_are_random_and_known_by_their_digest() -> None:
    made = [tokens.draw(["read"]) for _ in range(100)]
    assert len({text for text, _ in made}) == 100
    assert all(len(text) == len("drift_") + 43 for text, _ in made)  # 256 bits, 6 to a character
    known = {token.digest: token for _, token in made}
    text, token = made[7]
    assert tokens.carried(known, b"Bearer " + text.encode()) is token
    assert tokens.carried(known, b"bearer  " + text.encode() + b" ") is token
    for header in (None, b"", b"Bearer", b"Bearer ", b"Basic " + text.encode(), b"Bearer " + text.encode() + b"x", b"\xff"):
        assert tokens.carried(known, header) is None
    assert tokens.find(known, tokens.key_of(token)) is token
    with pytest.raises(NotFound):
        tokens.find(known, tokens.key_of(token)[:4])
    with pytest.raises(Invalid):
        tokens.draw(["everything"])
    with pytest.raises(Invalid):
        tokens.draw([])


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what is meant for it, and only digests, of which no caller can choose a part."""
    seen: list[tuple[bytes, bytes]] = []

    def compare(a: bytes, b: bytes) -> bool:
        seen.append((a, b))
        return a == b

    monkeypatch.setattr("driftbandit.live.door.tokens.hmac.compare_digest", compare)
    text, token = tokens.draw(["read"])
    assert tokens.carried({token.digest: token}, b"Bearer " + text.encode()) is token
    assert seen == [(token.digest, token.digest)]


def test_the_last_token_that_may_do_all_stays(tmp_path: Path) -> None:
    """Without it nobody could make another; without any, a service that others can reach would be open to all."""

    async def story() -> None:
        async with shop(tmp_path) as (_, client):
            first = await make(client, None, rights=["admin"])
            await make(client, first["token"], rights=["read"])
            await make(client, first["token"], rights=["admin"], experiments=["shop"])

            async def revoke(key: str, token: str) -> httpx.Response:
                return await client.delete(f"/v1/tokens/{key}", headers=bearer(token))

            refused = await revoke(first["key"], first["token"])
            assert refused.status_code == 409
            assert "make another" in refused.json()["detail"]
            second = await make(client, first["token"], rights=["admin", "read"])
            assert (await revoke(first["key"], second["token"])).status_code == 200

    asyncio.run(story())


def test_no_name_stands_for_any_experiment(tmp_path: Path) -> None:
    async def story() -> None:
        async with shop(tmp_path) as (_, client):
            admin = (await make(client, None, rights=["admin"]))["token"]
            reader = (await make(client, admin, rights=["read"], experiments=["shop"]))["token"]
            for name in ("*", "%2A", "any"):
                said = await client.get(f"/v1/experiments/{name}/status", headers=bearer(reader))
                assert said.status_code == 403
            decider = (await make(client, admin, rights=["decide"], experiments=["shop"]))["token"]
            said = await client.get("/v1/experiments", headers=bearer(decider))
            assert (said.status_code, said.json()["detail"]) == (
                403,
                "this token does not give the right to read in any experiment",
            )

    asyncio.run(story())
