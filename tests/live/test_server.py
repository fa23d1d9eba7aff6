"""The process: started, killed, started again, told to stop; slow clients, many clients."""

import http.client
import os
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from driftbandit.cli import main
from driftbandit.live.door import server
from live_door import ARMS, AT, EXPERIMENT, Process, new_app, served

pytestmark = pytest.mark.plain


def test_killed_and_started_again_it_is_as_it_was(tmp_path: Path) -> None:
    said: dict[str, Any] = {}
    with Process(tmp_path).ready() as first, httpx.Client(base_url=first.url) as client:
        client.put(AT, json=EXPERIMENT).raise_for_status()
        client.put(f"{AT}/sets/all", json={"arms": ARMS}).raise_for_status()
        stop = threading.Event()

        def load(worker: int) -> None:
            with httpx.Client(base_url=first.url) as mine:
                for k in range(10_000):
                    id = f"{worker}-{k}"
                    try:
                        answer = mine.post(f"{AT}/decisions", json={"id": id, "set": "all"})
                        rewarded = mine.post(f"{AT}/decisions/{id}/reward", json={"reward": 0.5}) if k % 2 else None
                    except httpx.TransportError:
                        return
                    said[id] = answer.json(), rewarded and rewarded.json()
                    if stop.is_set():
                        return

        threads = [threading.Thread(target=load, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        while len(said) < 100:
            time.sleep(0.01)
        os.kill(first.process.pid, signal.SIGKILL)
        for thread in threads:
            thread.join()
    with Process(tmp_path).ready() as second, httpx.Client(base_url=second.url) as client:
        for id, (answer, receipt) in said.items():
            again = client.post(f"{AT}/decisions", json={"id": id, "set": "all"}).json()
            assert again["repeat"]
            assert [again[part] for part in ("index", "round", "at")] == [answer[part] for part in ("index", "round", "at")]
            found = client.get(f"{AT}/decisions/{id}").json()
            assert found["state"] == "rewarded" or receipt is None
        os.kill(second.process.pid, signal.SIGTERM)
        assert second.process.wait(30) == 0
        assert "stopped" in second.rest()
    assert main(["journal", "verify", str(tmp_path / "live.db")]) == 0


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    with Process(tmp_path).ready(), Process(tmp_path) as second:
        assert second.process.wait(60) == 2
        assert "open already, here or in another process" in second.rest()


def test_another_address_needs_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Process(tmp_path, "--host", "0.0.0.0") as refused:
        assert refused.process.wait(60) == 2
        assert "has no tokens" in refused.rest()
    assert main(["token", "make", str(tmp_path / "live.db"), "--rights", "read"]) == 2
    assert main(["token", "make", str(tmp_path / "live.db"), "--rights", "admin"]) == 0
    token = capsys.readouterr().out.strip().splitlines()[-1]
    with Process(tmp_path, "--host", "0.0.0.0").ready() as there:
        url = there.url.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{url}/v1/experiments").status_code == 401
        assert httpx.get(f"{url}/v1/experiments", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_the_commands_of_a_journal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "live.db")
    assert main(["token", "make", path, "--rights", "admin", "--note", "me"]) == 0
    capsys.readouterr()
    assert main(["token", "list", path]) == 0
    key, rest = capsys.readouterr().out.strip().split(maxsplit=1)
    assert rest == "admin in all experiments  me"
    assert main(["token", "revoke", path, key]) == 0
    assert main(["token", "list", path]) == 0
    assert "no tokens" in capsys.readouterr().out
    assert main(["journal", "verify", path]) == 0
    assert main(["journal", "compact", path]) == 0
    assert main(["journal", "verify", str(tmp_path / "none.db")]) == 2


def test_many_idle_connections_keep_nobody_out(tmp_path: Path) -> None:
    server.more_files()
    with served(new_app(tmp_path)) as url:
        where = urlsplit(url)
        assert where.hostname is not None
        idle = [socket.create_connection((where.hostname, where.port or 0)) for _ in range(1000)]
        try:
            assert httpx.get(f"{url}/readyz").status_code == 200
        finally:
            for each in idle:
                each.close()


def test_a_slow_client_is_shown_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SLOW", 1)
    monkeypatch.setattr(server, "IDLE", 1)
    with served(new_app(tmp_path)) as url:
        where = urlsplit(url)
        lines = (f"POST {AT}/decisions HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Content-Length: 100")
        head = "\r\n".join([*lines, "", "{"])
        for begun in (head, head[:20]):
            with socket.create_connection((where.hostname or "", where.port or 0), timeout=30) as slow:
                slow.sendall(begun.encode())
                assert slow.recv(1000) == b""
        assert httpx.get(f"{url}/healthz").status_code == 200


def test_a_body_without_end_is_refused(tmp_path: Path) -> None:
    with served(new_app(tmp_path)) as url:
        where = urlsplit(url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=30)
        httpx.put(f"{url}{AT}", json=EXPERIMENT).raise_for_status()

        def endless() -> Any:
            for _ in range(40):
                yield b"x" * (1 << 16)

        said: Any = None
        try:
            connection.request("POST", f"{AT}/decisions", endless(), {"Content-Type": "application/json"}, encode_chunked=True)
        except (BrokenPipeError, ConnectionResetError):
            said = 413  # it hung up while we were still talking
        said = said or connection.getresponse().status
        assert said == 413
        connection.close()


def test_server_sent_events(tmp_path: Path) -> None:
    app = new_app(tmp_path)
    with served(app) as url:
        httpx.put(f"{url}{AT}", json=EXPERIMENT).raise_for_status()
        with httpx.stream("GET", f"{url}/live?experiment=shop", timeout=30) as stream:
            assert stream.headers["content-type"] == "text/event-stream"
            kinds = []
            for line in stream.iter_lines():
                if line.startswith("event:"):
                    kinds.append(line)
                if len(kinds) == 2:
                    break
        assert kinds == ["event: status"] * 2
        assert httpx.get(f"{url}/live?experiment=none").status_code == 404
        with httpx.stream("GET", f"{url}/live", timeout=30) as stream:
            lines = stream.iter_lines()
            assert next(line for line in lines if line.startswith("event")) == "event: experiments"
            app.host.leave()  # on the way out streams end by themselves
            list(lines)
