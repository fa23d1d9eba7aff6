"""The page in a real browser: it loads, lives, is fit for both themes and all widths and for the keyboard, and comes back."""

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

from driftbandit.live.door.series import deviations, means, pooled
from live_door import ARMS, AT, EXPERIMENT, Process, new_app, served

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.plain,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium here: tools/install-chromium installs it where it can"),
]
COMPILING = 300.0  # seconds: an experiment may be the first to need the compiler
QUIET = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
PARTS = ("tiles", "overall", "rewards", "traffic", "memory", "pace", "waiting", "features", "decisions")


class Browser:
    """Chromium, and what the tests ask of it."""

    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for option in QUIET:
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, Service(DRIVER))

    def open(self, url: str, width: int = 1440, theme: str = "light") -> None:
        """A page that has nothing from before."""
        self.driver.get("about:blank")
        for kind in ("cookies", "local_storage,session_storage"):
            self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": url.partition("#")[0], "storageTypes": kind})
        self.look(width, theme)
        self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        self.driver.get(url)

    def look(self, width: int, theme: str = "light") -> None:
        size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(f"return {script}", *given)

    def told(self, module: str, expression: str, *given: Any) -> Any:
        """What a module of the page makes of something."""
        script = f"import('/page/{module}').then((m) => arguments[arguments.length - 1]({expression}))"
        return self.driver.execute_async_script(script, *given)

    def text(self, selector: str) -> str:
        """As it is seen: of what is hidden, nothing."""
        shown = "((e) => (e?.checkVisibility() ? e.innerText : ''))(document.querySelector(arguments[0]))"
        return str(self.run(shown, selector))

    def press(self, *keys: str) -> None:
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def until(self, right: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if found := right():
                return found
            time.sleep(0.05)
        raise AssertionError(f"not within 20 s: {what}; the page says {self.text('body')[:500]!r}")

    def lives(self) -> None:
        """With its words and its charts."""
        charts = "document.body.dataset.state === 'live' && !!document.querySelector('#traffic canvas')"
        self.until(lambda: self.run(charts) and self.text("#verdict"), "the page lives")

    def complaints(self) -> list[str]:
        return [line["message"] for line in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.driver.quit()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Process(tmp_path_factory.mktemp("demo"), "--demo") as process:
        process.ready()
        yield process.url


@contextlib.contextmanager
def service(folder: Path) -> Iterator[tuple[str, httpx.Client]]:
    app = new_app(folder)
    with served(app) as url, httpx.Client(base_url=url, timeout=COMPILING) as client:
        yield url, client


def play(client: httpx.Client, rounds: int, **more: Any) -> None:
    for k in range(rounds):
        said = client.post(f"{AT}/decisions", json={"id": f"a{k}", "set": "all", **more})
        assert said.status_code == 200, said.text
        client.post(f"{AT}/decisions/a{k}/reward", json={"reward": k % 3 / 2})


def test_the_demo_is_shown_and_lives(browser: Browser, demo: str) -> None:
    browser.open(demo)
    browser.lives()
    browser.until(lambda: all(browser.text(f"#{part}") for part in PARTS), "there is something in every part")
    assert browser.text("#title") == "Is “shop” learning?"
    assert browser.run("document.querySelectorAll('.uplot canvas').length") >= 6
    rounds = "#tiles > div:last-child > dd"
    before = browser.text(rounds)
    browser.until(lambda: browser.text(rounds) != before, "rounds go on")
    newest = browser.text(".decisions tbody tr:first-child .unfold")
    browser.until(lambda: browser.text(".decisions tbody tr:first-child .unfold") != newest, "newer decisions come")
    assert browser.run("performance.getEntriesByType('resource').every(({ name }) => name.startsWith(location.origin))")
    assert browser.complaints() == []


def test_it_holds_still_when_told_to(browser: Browser, demo: str) -> None:
    browser.open(demo)
    browser.lives()
    browser.run("document.getElementById('pause').click()")
    assert browser.text("#connection") == "Paused"
    before = browser.text("main")
    time.sleep(2.2)  # two events
    assert browser.text("main") == before
    browser.run("document.getElementById('pause').click()")
    browser.until(lambda: browser.text("main") != before, "it goes on")


def test_both_themes(browser: Browser, demo: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = (
        "(() => { const c = document.querySelector('#traffic canvas'); "
        "return [...c.getContext('2d').getImageData(c.width - 60, 0, 60, c.height).data].join() })()"
    )
    browser.open(demo, theme="dark")
    browser.lives()
    assert browser.run(ground) == "rgb(20, 22, 26)"
    dark = browser.run(ink)
    browser.look(1440, "light")
    browser.until(lambda: browser.run(ground) == "rgb(255, 255, 255)", "it follows the system")
    assert browser.run(ink) != dark  # charts too
    browser.run("document.getElementById('theme').click()")
    assert browser.run(ground) == "rgb(20, 22, 26)"
    browser.driver.refresh()
    browser.lives()
    assert browser.run(ground) == "rgb(20, 22, 26)"  # remembered
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_nothing_sticks_out(browser: Browser, demo: str, width: int) -> None:
    browser.open(demo, width)
    browser.lives()
    browser.until(lambda: browser.text(".decisions .unfold"), "decisions")
    browser.run("document.querySelector('.unfold').click()")
    browser.until(lambda: browser.text(".opinions"), "an explanation")
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    browser.until(lambda: browser.text("#memory table"), "tables")
    assert browser.run("document.documentElement.scrollWidth") <= width
    out = (
        "[...document.querySelectorAll('main *, header *')].filter((e) => !e.closest('.scroll, .unseen, nav, .u-over') "
        "&& e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML.slice(0, 100))"
    )
    assert browser.run(out) == []
    charts = "[...document.querySelectorAll('.plot')].map((e) => e.firstElementChild.offsetWidth - e.clientWidth)"
    assert all(abs(gap) <= 1 for gap in browser.run(charts))


def test_the_keyboard_reaches_everything(browser: Browser, demo: str) -> None:
    browser.open(demo)
    browser.lives()
    browser.until(lambda: browser.text(".decisions .unfold"), "decisions")
    browser.run("document.getElementById('pause').click()")
    wanted = "[...document.querySelectorAll('a[href], button, summary, input')].filter((e) => e.checkVisibility()).length"
    browser.run("document.activeElement.blur()")
    reached = set()
    rings = []
    for _ in range(browser.run(wanted) + 5):
        browser.press(Keys.TAB)
        at = "document.activeElement"
        if browser.run(f"{at} === document.body"):
            break
        reached.add(browser.run(f"[...document.querySelectorAll('*')].indexOf({at})"))
        rings.append(browser.run(f"getComputedStyle({at}).outlineStyle"))
    assert len(reached) >= browser.run(wanted)
    assert set(rings) == {"solid"}
    browser.run("document.querySelector('.unfold').focus()")
    browser.press(Keys.ENTER)
    browser.until(lambda: browser.text(".opinions"), "an explanation")
    assert browser.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert "Held" in browser.text("#decisions-lead")
    browser.press(Keys.ENTER)
    browser.until(lambda: not browser.text(".opinions"), "it is folded again")
    browser.run("document.querySelector('.sort').focus()")
    browser.press(Keys.ENTER)
    assert browser.run("document.querySelector('th[aria-sort=ascending]').innerText").startswith("Feature")
    names = browser.run("[...document.querySelectorAll('.features tbody th')].map((e) => e.innerText)")
    assert names == sorted(names)


def test_screen_readers_are_not_chattered_at(browser: Browser, demo: str) -> None:
    browser.open(demo)
    browser.until(lambda: "reward in the" in browser.text("#verdict"), "words that change by the second, or could")
    live = "[...document.querySelectorAll('[aria-live], [role=status], [role=alert], [role=log]')].map(({ id }) => id)"
    assert browser.run(live) == ["announcer"]
    count = (
        "['announcer', 'tiles'].forEach((id) => { window[id + '-heard'] = 0; "
        "new MutationObserver(() => (window[id + '-heard'] += 1))"
        ".observe(document.getElementById(id), { childList: true, characterData: true, subtree: true }) })"
    )
    browser.run(count)
    browser.until(lambda: browser.run("window['tiles-heard']") >= 4, "four seconds")
    assert browser.run("window['announcer-heard']") <= 1  # the answer itself may change once
    assert browser.run("[...document.querySelectorAll('.plot')].every((plot) => plot.getAttribute('aria-label'))")
    assert browser.run(
        "[...document.querySelectorAll('button, a, input')].every((e) => e.ariaLabel || e.innerText || e.labels)"
    )
    levels = browser.run("[...document.querySelectorAll('h1, h2, h3')].map(({ tagName }) => tagName)")
    assert levels.count("H1") == 1


def test_it_comes_back_when_the_server_does(browser: Browser, tmp_path: Path) -> None:
    with Process(tmp_path) as first:
        first.ready()
        with httpx.Client(base_url=first.url, timeout=COMPILING) as client:
            client.put(AT, json=EXPERIMENT)
            client.put(f"{AT}/sets/all", json={"arms": ARMS})
            play(client, 5)
        browser.open(first.url)
        browser.lives()
    browser.until(lambda: browser.text("#connection") == "Disconnected", "it notices")
    assert "What you see is from" in browser.text("#notice")
    assert browser.text("#tiles")  # still there to be read
    with Process(tmp_path, "--port", first.url.rpartition(":")[2]) as again:
        again.ready()
        browser.run("document.getElementById('retry').click()")
        browser.until(lambda: browser.text("#connection") == "Live", "it is back")
        assert not browser.run("document.getElementById('notice').checkVisibility()")


def test_from_nothing_to_the_first_decision(browser: Browser, tmp_path: Path) -> None:
    with service(tmp_path) as (url, client):
        browser.open(url)
        browser.until(lambda: "No experiments yet" in browser.text("#notice"), "it says that there is nothing")
        client.put(AT, json=EXPERIMENT)
        client.put(f"{AT}/sets/all", json={"arms": ARMS, "labels": ["<img src=x onerror=document.title='in'>", "b", "c"]})
        browser.until(lambda: "No decisions yet" in browser.text("#notice"), "the experiment is there")
        play(client, 30, baseline=0)
        browser.lives()
        browser.until(lambda: "<img src=x" in browser.text("#decisions"), "a name is shown as it is")
        browser.until(lambda: browser.text("#verdict").startswith("Watching: it would have made "), "an apprentice")
        browser.until(lambda: "of 30 decisions" in browser.text("#baseline"), "how often it agreed")
        assert browser.run("document.title") == "shop – driftbandit live"
        assert "does not tell how much it remembers" in browser.text("#memory")
        browser.driver.get(f"{url}#other")
        browser.until(lambda: "No such experiment" in browser.text("#notice"), "an unknown one")
        browser.driver.get(f"{url}#shop")
        browser.lives()


def test_a_token_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    with service(tmp_path) as (url, client):
        client.put(AT, json=EXPERIMENT)
        client.put(f"{AT}/sets/all", json={"arms": ARMS})
        play(client, 5)
        token = client.post("/v1/tokens", json={"rights": ["admin"]}).json()["token"]
        browser.open(url)
        browser.until(lambda: "A token is needed" in browser.text("#notice"), "it asks")
        assert browser.run("document.activeElement.id") == "token"
        browser.press("wrong", Keys.ENTER)
        browser.until(lambda: "does not open it" in browser.text("#notice"), "it says that it is wrong")
        browser.press(token, Keys.ENTER)
        browser.lives()
        assert browser.run("Object.values(localStorage)") == []
        browser.driver.refresh()
        browser.lives()  # kept in this tab
        browser.run("document.getElementById('forget').click()")
        browser.until(lambda: "A token is needed" in browser.text("#notice"), "it is forgotten")


def test_its_numbers_are_the_servers(browser: Browser, demo: str) -> None:
    """Buckets put together by the page, against the same rewards summed here."""
    browser.open(demo)
    rng = np.random.default_rng(3)
    parts = [rng.normal(0.4, 0.3, size) for size in (40, 1, 7)]
    table = np.array([[0, len(part), part.sum(), (part**2).sum()] for part in parts])
    lots = [[len(part), part.mean(), apart] for part, apart in zip(parts, deviations(table), strict=True)]
    bounds = [0.38, 0.6]  # nearer than one end of the interval
    spread = {"variance": pooled(table), "bounds": bounds}
    made = browser.told("pool.js", "m.summary(arguments[0].reduce(m.add), arguments[1])", lots, spread)
    (mean,), (low,), (high,) = means(table.sum(axis=0, keepdims=True), pooled(table), bounds)
    assert [made["n"], made["mean"], made["low"], made["high"]] == pytest.approx([48, mean, low, high], rel=1e-5)
    gain = browser.told("pool.js", "m.gain(arguments[0])", lots[::2])
    means_ = [parts[0].mean(), parts[2].mean()]
    assert gain["even"] == pytest.approx(np.mean(means_))
    assert gain["difference"] == pytest.approx(np.concatenate([parts[0], parts[2]]).mean() - np.mean(means_))
    within = sum(((part - part.mean()) ** 2).sum() for part in (parts[0], parts[2])) / 45
    half = 1.96 * np.sqrt(within * sum((n / 47 - 0.5) ** 2 / n for n in (40, 7)))
    assert gain["high"] - gain["difference"] == pytest.approx(half)
    assert browser.told("pool.js", "m.gain(arguments[0])", lots[:1]) is None  # with one action there is no choice


def test_what_it_says_follows_from_the_numbers(browser: Browser, demo: str) -> None:
    browser.open(demo)
    now = 1_000_000.0

    def headline(good: float, bad: float, shares: tuple[int, int] = (90, 10)) -> str:
        buckets = 24

        def action(name: str, mean: float, n: int) -> dict[str, Any]:
            each = {"decisions": n, "rewards": n, "mean": mean, "deviations": 0.25 * n}
            return {"action": name, **{key: [value] * buckets for key, value in each.items()}}

        actions = [action("a", good, shares[0]), action("b", bad, shares[1])]
        times = [now - 5.0 * (buckets - k) for k in range(buckets)]
        history = {"span": "30m", "width": 5.0, "times": times, "restarts": [], **action("all", good, 100), "actions": actions}
        history["bounds"] = [None, None]
        counts = {"decisions": 2400, "rewards": 2400, "baselines": 0, "agreed": 0}
        status = {"created": 0.0, "counts": counts, "memory": None, "round": 2400, "waiting": 0, "settings": {}}
        live = {"now": now, "experiment": status, "rates": {"decisions": 20, "rewards": 20}}
        said = browser.told("verdict.js", "m.verdict(arguments[0], arguments[1]).headline", live, history)
        return str(said).replace("\u202f", " ").replace("\u00a0", " ")

    assert headline(0.6, 0.4) == "Learning: reward in the last 10 minutes is 16 % above an even choice."
    assert headline(0.4, 0.6) == "Not learning: reward in the last 10 minutes is 16 % below an even choice."
    assert headline(0.5, 0.5) == "No clear gain: reward in the last 10 minutes cannot be told from that of an even choice."


def test_a_memory_that_is_shorter_for_a_while_is_no_restart(browser: Browser, demo: str) -> None:
    browser.open(demo)

    def shortened(now: float, restarts: list[dict[str, float]]) -> Any:
        history = {"times": [0.0, 5.0, 10.0], "memory": [540.0, 300.0, now], "restarts": restarts}
        live = {"experiment": {"memory": now}}
        return browser.told("verdict.js", "m.shortened(arguments[0], arguments[1])", live, history)

    assert shortened(70.0, [])
    assert not shortened(500.0, [])
    assert not shortened(70.0, [{"round": 7, "at": 5.0}])  # that is why it is shorter


def test_lines_break_where_nothing_happened(browser: Browser, demo: str) -> None:
    browser.open(demo)
    all_ = {"lots": [[20, 0, 0], [1, 0, 0], [0, 0, 0], [20, 0, 0]], "decisions": [20, 1, 0, 20]}
    points = [{"mean": 0.5}, {"mean": None}, {"mean": None}, {"mean": 0.4}]
    kinds = "m.column({ all: arguments[0] }, arguments[1], 'mean').map((value) => (value === null ? 'break' : typeof value))"
    assert browser.told("rewards.js", kinds, all_, points) == ["number", "undefined", "break", "number"]
