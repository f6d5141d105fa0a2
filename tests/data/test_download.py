"""Downloads from a server of our own: no network."""

from __future__ import annotations

import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from psymem.data.download import data_folder, download, sha256_of
from psymem.errors import DataError

CONTENT = bytes(range(256)) * 4000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    requests: list[str | None] = []
    break_off = False
    status = 200

    def do_GET(self):
        asked = self.headers.get("Range")
        type(self).requests.append(asked)
        if self.status != 200:
            self.send_error(self.status)
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", asked).group(1)) if asked else 0
        body = CONTENT[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.break_off else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Handler.requests, Handler.break_off, Handler.status = [], False, 200
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/file.csv"
    running.shutdown()
    running.server_close()


def test_a_file_is_fetched_once(server, tmp_path):
    path = download(server, SHA256, tmp_path / "kept" / "file.csv")
    assert path.read_bytes() == CONTENT
    assert sha256_of(path) == SHA256
    assert download(server, SHA256, path) == path
    assert Handler.requests == [None]
    assert [p.name for p in path.parent.iterdir()] == ["file.csv"]


def test_an_interrupted_download_goes_on(server, tmp_path):
    path, Handler.break_off = tmp_path / "file.csv", True
    with pytest.raises(DataError) as error:
        download(server, SHA256, path)
    kept = (tmp_path / "file.csv.part").stat().st_size
    assert str(error.value).endswith(
        f"{kept} bytes are kept; run the command again to go on, or give a copy of the file with --from FILE."
    )
    assert 0 < kept < len(CONTENT)
    Handler.break_off = False
    assert download(server, SHA256, path).read_bytes() == CONTENT
    assert Handler.requests == [None, f"bytes={kept}-"]


def test_another_content_is_not_kept(server, tmp_path):
    with pytest.raises(DataError) as error:
        download(server, "0" * 64, tmp_path / "file.csv")
    assert str(error.value) == (
        f"What {server} sent is not the published file (wrong sha256); nothing was kept."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_gone(server, tmp_path):
    Handler.status = 404
    with pytest.raises(DataError) as error:
        download(server, SHA256, tmp_path / "file.csv")
    assert str(error.value) == (
        f"The download of {server} stopped: the server answered 404. 0 bytes are kept; run the command again to go on, "
        "or give a copy of the file with --from FILE."
    )


def test_the_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("PSYMEM_DATA", str(tmp_path))
    assert data_folder() == tmp_path
