"""A headless browser over its debugging pipe (no driver needed), and made-up models."""

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 60

_CUT_OFF = """[...document.querySelectorAll('body *')].filter(e => e.checkVisibility()
  && !e.closest('.hidden') && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1
  && getComputedStyle(e).overflowX !== 'visible')
  .map(e => e.tagName + '.' + e.className + ' ' + e.textContent.trim().slice(0, 40))"""


class Browser:
    """Speaks the DevTools protocol: JSON ended by a zero byte, on descriptors 3 and 4."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="fnmf-browser-")
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        # High numbers first, so that neither is 3 or 4 when the child puts them there.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_read, to_write)]

        def connect() -> None:
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={self._profile}",
                "--window-size=1200,900",
                "about:blank",
            ],
            preexec_fn=connect,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (*ends, to_read, to_write):
            os.close(fd)
        self._buffer = b""
        self._numbers = itertools.count(1)
        self.events: list[dict] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = None
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    _session = None

    def call(self, method: str, **params):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _receive(self) -> dict:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            chunk = os.read(self._in, 1 << 16)
            assert chunk, "the browser ended"
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, *, width=1200, height=900, dark=False, address="") -> None:
        # A page that is open already would only be told of its new address.
        self.call("Page.navigate", url="about:blank")
        self.js("1")
        self.events.clear()
        scheme = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media="", features=features)
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call("Page.navigate", url=path.as_uri() + address)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._receive())
        # The page unpacks its numbers after it has been loaded, and says when it is done.
        end = time.monotonic() + PATIENCE
        script = self.js("document.querySelector('script:not([type])') !== null")
        while script and self.js("document.documentElement.dataset.ready") != "yes":
            assert time.monotonic() < end, "the page's script does not get ready"
            time.sleep(0.02)

    def on_paper(self) -> list:
        """What sticks out at the side of an A4 page, as print lays it out."""
        self.call("Emulation.setEmulatedMedia", media="print", features=[])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=688,
            height=1017,
            deviceScaleFactor=1,
            mobile=False,
        )
        return self.js(
            "[...document.querySelectorAll('main *')].filter(e => e.checkVisibility() &&"
            " !e.closest('.hidden') && e.getBoundingClientRect().width > 1 &&"
            " e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)"
            ".map(e => e.tagName + ' ' + e.textContent.slice(0, 30))"
        )

    def fits(self) -> bool:
        """Whether nothing sticks out at the side of the window."""
        return self.js("(e => e.scrollWidth <= e.clientWidth)(document.documentElement)")

    def cut_off(self) -> list:
        """Elements whose text is wider than they are."""
        return self.js(_CUT_OFF)

    def every(self, selector: str, of: str = "e.textContent") -> list:
        """What ``of`` tells of every element ``e`` of a selector."""
        return self.js(f"[...document.querySelectorAll({selector!r})].map(e => {of})")

    def js(self, expression: str):
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def key(self, name: str, *, shift: bool = False) -> None:
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        codes |= {"Escape": 27, "Tab": 9, "Enter": 13, " ": 32}
        text = {"text": {"Enter": "\r", " ": " "}[name]} if name in ("Enter", " ") else {}
        text |= {"modifiers": 8} if shift else {}
        code = codes[name]
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code, **text
            )

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def move(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        steps = [("mousePressed", start), *(("mouseMoved", at) for at in (middle, end))]
        for kind, (x, y) in [*steps, ("mouseReleased", end)]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def fit_warnings(self) -> list:
        """Everything a reader would find in the console, and every request that left the page."""
        self.js("1")
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                found.append(params)
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    found.append(url)
        return found

    def screenshot(self, path, *, full=True) -> None:
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        path.write_bytes(base64.b64decode(data["data"]))

    def close(self) -> None:
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)
        shutil.rmtree(self._profile, ignore_errors=True)


@pytest.fixture(scope="session")
def browser():
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(
            "NO BROWSER FOUND: the page was NOT tested in a real browser. "
            "Install Chromium (`make browser`) and run the tests again."
        )
    running = Browser(program)
    yield running
    running.close()


class MadeUp(ClusterMixin, BaseEstimator):
    """A fitted model of any size, with every attribute the page can show."""

    def __init__(self, n_components=3, *, max_iter=50, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y=None):
        rng = np.random.default_rng(self.random_state)
        n, d = X.shape
        k = self.n_components
        self.n_features_in_ = d
        self.labels_ = np.arange(n) % k
        self.embedding_ = np.abs(rng.normal(0.1, 0.08, (n, k)))
        self.embedding_[np.arange(n), self.labels_] += 1
        self.components_ = rng.random((k, d))
        weights = rng.random((3, d)) ** 4
        self.feature_weights_ = weights / weights.sum(axis=1, keepdims=True)
        self.assignments_ = np.full((n, 3), 1 / 3)
        self.feature_importances_ = self.feature_weights_.mean(axis=0)
        self.effective_features_ = 1 / (self.feature_weights_**2).sum(axis=1)
        self.graph_ = sp.csr_array(np.eye(n, k=1) + np.eye(n, k=-1)) if n < 2000 else None
        total = 100 / np.arange(1, 41) + 3
        self.history_ = np.array(
            list(zip(total, total * 0.9, total * 0.05, total * 0.05, strict=True)),
            dtype=[
                ("total", "f8"),
                ("reconstruction", "f8"),
                ("diversity", "f8"),
                ("smoothness", "f8"),
            ],
        )
        self.objective_ = float(total[-1])
        self.n_iter_ = 40
        return self


@pytest.fixture
def make():
    def _make(n=120, d=10, k=3):
        rng = np.random.default_rng(1)
        X = rng.random((n, d))
        X[np.arange(n), np.arange(n) % k % d] += 2
        return SimpleNamespace(model=MadeUp(k).fit(X), X=X)

    return _make


@pytest.fixture
def page(make, tmp_path):
    import fnmf

    def _page(n=120, d=10, k=3, *, confidence=False, same=False, **options):
        case = make(n, d, k)
        path = tmp_path / "report.html"
        if labels := options.pop("labels", None):
            case.model.labels_ = [labels[c] for c in case.model.labels_]
        if confidence:
            case.model.sample_confidence_ = np.linspace(0.01, 0.99, n)
            case.model.second_labels_ = (np.asarray(case.model.labels_) + 1) % k
        if same:
            case.model.embedding_ = np.eye(k)[case.model.labels_]
        fnmf.report(case.model, case.X, path, **options)
        _page.case = case
        return path

    return _page
