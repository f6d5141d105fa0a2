"""A server of our own, for downloads without a network."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Server(ThreadingHTTPServer):
    """Serves `files` by path, with ranges; stops each answer after `limit` bytes.

    `asked` holds the path and the range of every request.
    """

    limit: int | None = None
    status = 200
    honours_ranges = True

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def ranges(self) -> list[str | None]:
        """The range of every request."""
        return [wanted for _, wanted in self.asked]

    def serve(self, path: str, content: bytes) -> str:
        """Serve `content` at `path` and return its address."""
        self.files[path] = content
        return f"{self.url}{path}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        wanted = self.headers.get("Range")
        server.asked.append((self.path, wanted))
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and server.honours_ranges else 0
        content = server.files[self.path]
        if start and start >= len(content):
            self.send_response(416)
            self.end_headers()
            return
        body = content[start:]
        self.send_response(server.status if server.status != 200 else 206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.limit])

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()
