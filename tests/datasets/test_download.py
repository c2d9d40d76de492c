"""Downloads against a server on this machine: honest, cut, lying, hostile, absent."""

import dataclasses
import hashlib
import io
import socket
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from typer.testing import CliRunner

from fnmf.cli._app import app
from fnmf.datasets import _parsers, load, loading, registry
from fnmf.datasets._download import DownloadError
from fnmf.datasets._files import DataFileError, arrays_sha256
from fnmf.datasets.registry import Original

CONTENT = "\n".join(f"{i},{i % 3 + 1},{i * 0.5}" for i in range(30_000)).encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def parse(contents):
    table = _parsers._numbers(contents["table.data"], ",")
    return {"X": table[:, [0, 2]], "y": table[:, 1].astype(np.int64) - 1}


class Server(ThreadingHTTPServer):
    """Serves ``files``; names in ``cuts`` lose their connection that many times, half way."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cuts, self.ranges = {}, {}, []

    def url(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.lstrip("/")
        content = self.server.files.get(name)
        if content is None:
            self.send_error(404)
            return
        start = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.server.ranges.append(start)
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        rest = content[start:]
        if self.server.cuts.get(name, 0) > 0:
            self.server.cuts[name] -= 1
            rest = rest[: len(rest) // 2]
        self.wfile.write(rest)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "cache_home", lambda: tmp_path / "cache")
    monkeypatch.delenv("FNMF_DATA_HOME", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def source(monkeypatch, cache):
    """Register a small data set; returns a function that sets where it is served."""

    def register(*addresses, sha256=SHA256):
        arrays = parse({"table.data": CONTENT})
        made = dataclasses.replace(
            registry.SOURCES["glass"],
            stem="table",
            originals=(Original("table.data", addresses, sha256),),
            parse=parse,
            arrays_sha256=arrays_sha256(arrays["X"], arrays["y"]),
        )
        monkeypatch.setitem(registry.SOURCES, "glass", made)
        return made

    return register


def test_a_download_is_kept_and_not_repeated(server, source, cache):
    server.files["table.data"] = CONTENT
    source(server.url("table.data"))
    assert load("glass").data.shape == (30_000, 2)
    server.files.clear()
    assert load("glass").data.shape == (30_000, 2)
    assert [p.name for p in cache.rglob("*") if p.is_file()] == ["table.npz"]


def test_a_cut_transfer_is_continued_where_it_stopped(server, source):
    server.files["table.data"] = CONTENT
    server.cuts["table.data"] = 2
    source(server.url("table.data"))
    assert load("glass").data.shape == (30_000, 2)
    first, second, third = server.ranges
    assert first == 0
    assert len(CONTENT) // 4 < second < third


def test_a_transfer_given_up_is_continued_by_the_next_call(server, source):
    server.files["table.data"] = CONTENT
    server.cuts["table.data"] = 3
    source(server.url("table.data"))
    with pytest.raises(DownloadError):
        load("glass")
    assert load("glass").data.shape == (30_000, 2)
    assert server.ranges == sorted(set(server.ranges))
    assert server.ranges[-1] > len(CONTENT) // 2


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(server, source, cache):
    server.files["table.data"] = CONTENT.replace(b"7", b"8")
    source(server.url("table.data"))
    with pytest.raises(DownloadError, match="hash"):
        load("glass")
    assert [p for p in cache.rglob("*") if p.is_file()] == []
    server.files["table.data"] = CONTENT
    assert load("glass").data.shape == (30_000, 2)


def test_values_are_proved_where_the_original_has_no_known_checksum(server, source, cache):
    server.files["table.data"] = CONTENT.replace(b"7", b"8")
    source(server.url("table.data"), sha256=None)
    with pytest.raises(DownloadError, match="another checksum"):
        load("glass")
    assert [p for p in cache.rglob("*") if p.is_file()] == []


@pytest.mark.parametrize("sha256", [SHA256, None])
@pytest.mark.parametrize("bad", [b"<html>log in first</html>", b"1,2\n", CONTENT[:-9]])
def test_the_next_address_is_tried(server, source, sha256, bad):
    server.files["good/table.data"] = CONTENT
    server.files["bad/table.data"] = bad
    source(
        server.url("missing"), server.url("bad/table.data"), server.url("good/table.data"),
        sha256=sha256,
    )  # fmt: skip
    assert load("glass").data.shape == (30_000, 2)


def test_a_file_inside_an_archive_is_found_and_a_hostile_archive_refused(server, source, cache):
    def zipped(*names):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as packed:
            for name in names:
                packed.writestr(name, CONTENT)
        return buffer.getvalue()

    server.files["a.zip"] = zipped("x/table.data", "../../escape")
    source(server.url("a.zip"))
    with pytest.raises(DownloadError, match="points outside"):
        load("glass")
    assert [p for p in cache.parent.rglob("*") if p.is_file()] == []
    server.files["a.zip"] = zipped("x/table.data")
    assert load("glass").data.shape == (30_000, 2)


def test_without_network_the_message_says_what_to_put_where(source, cache):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/table.data"
    made = source(address)
    with pytest.raises(DownloadError, match="no connection") as caught:
        load("glass")
    for part in (str(cache), "table.data", made.page, "FNMF_DATA_HOME", address):
        assert part in str(caught.value)
    with pytest.raises(FileNotFoundError, match="download=False"):
        load("glass", download=False)


def test_an_original_put_into_a_folder_is_used(source, tmp_path):
    source("http://127.0.0.1:1/table.data")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "table.data").write_bytes(CONTENT)
    assert load("glass", data_home=folder).data.shape == (30_000, 2)
    (folder / "table.data").write_bytes(CONTENT[:-1])
    with pytest.raises(DataFileError, match="SHA-256"):
        load("glass", data_home=folder)


def test_the_command_fetches_verifies_and_reports_damage(server, source, cache):
    server.files["table.data"] = CONTENT
    source(server.url("table.data"))
    run = CliRunner().invoke
    assert "not on this machine" in run(app, ["data", "verify"]).output
    assert run(app, ["data", "fetch", "glass"]).exit_code == 0
    assert "already" in run(app, ["data", "fetch", "Glass"]).output
    assert run(app, ["data", "verify", "glass"]).exit_code == 0
    np.savez(cache / "table.npz", X=np.ones((2, 2)), y=np.zeros(2))
    damaged = run(app, ["data", "verify", "glass"])
    assert damaged.exit_code == 1
    assert "WRONG" in damaged.output
    assert run(app, ["data", "fetch", "nothing"]).exit_code == 2
    assert "cnae-9" in run(app, ["data", "list"]).output


def test_addresses_without_encryption_always_have_a_known_checksum():
    for made in registry.SOURCES.values():
        for original in made.originals:
            plain = [a for a in original.addresses if not a.startswith("https://")]
            assert not plain or original.sha256, original.member
            assert not original.member.endswith(".mat") or original.sha256
