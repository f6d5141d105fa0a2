"""Downloads from a server of our own: no network."""

from __future__ import annotations

import hashlib

import pytest

from psymem.errors import DataError
from psymem.io.download import data_folder, download, sha256_of

CONTENT = bytes(range(256)) * 4000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def address(server):
    return server.serve("/file.csv", CONTENT)


def test_a_file_is_fetched_once(server, address, tmp_path):
    path = download(address, SHA256, tmp_path / "kept" / "file.csv")
    assert path.read_bytes() == CONTENT
    assert sha256_of(path) == SHA256
    assert download(address, SHA256, path) == path
    assert server.ranges == [None]
    assert [p.name for p in path.parent.iterdir()] == ["file.csv"]


def test_an_interrupted_download_goes_on(server, address, tmp_path):
    path, server.limit = tmp_path / "file.csv", len(CONTENT) // 2
    with pytest.raises(DataError) as error:
        download(address, SHA256, path)
    kept = (tmp_path / "file.csv.part").stat().st_size
    assert str(error.value).endswith(
        f"{kept} bytes are kept; run the command again to go on, or give a copy of the file with --from FILE."
    )
    assert 0 < kept < len(CONTENT)
    server.limit = None
    assert download(address, SHA256, path).read_bytes() == CONTENT
    assert server.ranges == [None, f"bytes={kept}-"]


def test_another_content_is_not_kept(address, tmp_path):
    with pytest.raises(DataError) as error:
        download(address, "0" * 64, tmp_path / "file.csv")
    assert str(error.value) == (
        f"What {address} sent is not the published file (wrong sha256); nothing was kept."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_gone(server, address, tmp_path):
    server.status = 404
    with pytest.raises(DataError) as error:
        download(address, SHA256, tmp_path / "file.csv")
    assert str(error.value) == (
        f"The download of {address} stopped: the server answered 404. 0 bytes are kept; run the command again to go on, "
        "or give a copy of the file with --from FILE."
    )


def test_the_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("PSYMEM_DATA", str(tmp_path))
    assert data_folder() == tmp_path
