"""The description and the service agree: generated requests, good and bad, are answered as it says."""

import contextlib
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode

from live_door import ARMS, AT, EXPERIMENT, new_app, served

pytestmark = pytest.mark.plain

EXAMPLES = 8  # for each operation, good ones and bad ones
UNBOUNDED = "/live"  # an answer without end


def test_every_answer_is_as_described(tmp_path: Path) -> None:
    with served(new_app(tmp_path)) as url:
        httpx.put(f"{url}{AT}", json=EXPERIMENT).raise_for_status()
        httpx.put(f"{url}{AT}/sets/all", json={"arms": ARMS}).raise_for_status()
        made = httpx.post(f"{url}/v1/tokens", json={"rights": ["admin"]})
        headers = {"Authorization": f"Bearer {made.json()['token']}"}
        described = schemathesis.openapi.from_url(f"{url}/openapi.json")
        tried = 0
        for found in described.get_all_operations():
            operation: Any = found.ok()  # type: ignore[union-attr]
            if operation.path != UNBOUNDED:
                tried += try_all(operation, url, headers)
        assert tried > 200


def try_all(operation: Any, url: str, headers: dict[str, str]) -> int:
    load_all_checks()
    semantic = {"positive_data_acceptance"}  # what is of the right shape may still ask for what is not there
    checks = [check for check in CHECKS.get_all() if check.__name__ not in semantic]
    tried = 0
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def one(case: Any) -> None:
            nonlocal tried
            tried += 1
            if isinstance(case.body, dict) and isinstance(case.body.get("dim"), int):
                case.body["dim"] = min(case.body["dim"], 3)  # without the compiler, a large one takes minutes to try
            case.call_and_validate(base_url=url, headers=headers, checks=checks)

        with contextlib.suppress(Unsatisfiable):  # where nothing is sent, nothing can be wrong
            one()
    return tried
