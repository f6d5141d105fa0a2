"""Fetching the published set: from a file, from a server, resumed, and refused when the content is another."""

from __future__ import annotations

import hashlib

import pytest

from psymem.data.items import fetch as fetch_stimuli
from psymem.data.items import stimuli
from psymem.errors import DataError, UnknownNameError

CONTENT = b"Old.item.no\tNew.item.no\n" * 5000
NAME = "lvdm2022-exp3"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PSYMEM_DATA", str(tmp_path / "data"))
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    monkeypatch.setitem(fetch_stimuli.FETCHABLE, NAME, ("items.csv", "http://unused.invalid/", sha256))
    return tmp_path / "data" / "stimuli" / NAME


@pytest.fixture
def address(server):
    return server.serve("/items.csv", CONTENT)


def test_a_download_is_verified_and_kept(folder, server, address):
    path = fetch_stimuli.fetch(NAME, url=address)
    assert path == folder / "items.csv"
    assert path.read_bytes() == CONTENT
    assert [p.name for p in folder.iterdir()] == ["items.csv"]
    assert fetch_stimuli.fetched(NAME) == path
    fetch_stimuli.fetch(NAME, url=address)
    assert server.ranges == [None]


def test_an_interrupted_download_goes_on_where_it_stopped(folder, server, address):
    server.limit = 70_000
    with pytest.raises(DataError) as caught:
        fetch_stimuli.fetch(NAME, url=address)
    kept = (folder / "items.csv.part").stat().st_size
    assert 0 < kept <= 70_000
    assert str(caught.value) == (
        f"The download of {address} stopped: the connection failed. {kept} bytes are kept; run the command again "
        "to go on, or give a copy of the file with --from FILE."
    )
    server.limit = None
    assert fetch_stimuli.fetch(NAME, url=address).read_bytes() == CONTENT
    assert server.ranges == [None, f"bytes={kept}-"]


@pytest.mark.parametrize("part", [CONTENT[:100], CONTENT, CONTENT + b"more"])
def test_any_part_left_behind_leads_to_the_whole_file(folder, server, address, part):
    folder.mkdir(parents=True)
    (folder / "items.csv.part").write_bytes(part)
    assert fetch_stimuli.fetch(NAME, url=address).read_bytes() == CONTENT


def test_a_server_without_ranges_starts_over(folder, server, address):
    server.honours_ranges = False
    folder.mkdir(parents=True)
    (folder / "items.csv.part").write_bytes(b"abc")
    assert fetch_stimuli.fetch(NAME, url=address).read_bytes() == CONTENT


def test_other_content_is_refused_and_not_kept(folder, server, address):
    server.files["/items.csv"] = b"something else"
    with pytest.raises(DataError) as caught:
        fetch_stimuli.fetch(NAME, url=address)
    assert (
        str(caught.value)
        == f"What {address} sent is not the published file (wrong sha256); nothing was kept."
    )
    assert list(folder.iterdir()) == []


def test_a_server_error_is_named(folder, server, address):
    server.status = 503
    with pytest.raises(DataError) as caught:
        fetch_stimuli.fetch(NAME, url=address)
    assert str(caught.value) == (
        f"The download of {address} stopped: the server answered 503. 0 bytes are kept; run the command again "
        "to go on, or give a copy of the file with --from FILE."
    )


def test_a_copy_is_verified(folder, tmp_path):
    copy = tmp_path / "copy.csv"
    copy.write_bytes(CONTENT)
    assert fetch_stimuli.fetch(NAME, copy).read_bytes() == CONTENT
    copy.write_bytes(b"other")
    with pytest.raises(DataError) as caught:
        fetch_stimuli.fetch(NAME, copy)
    assert str(caught.value) == (
        f"{copy} is not the published file: its sha256 is {hashlib.sha256(b'other').hexdigest()}, "
        f"expected {hashlib.sha256(CONTENT).hexdigest()}."
    )
    assert fetch_stimuli.fetched(NAME).read_bytes() == CONTENT
    with pytest.raises(DataError) as caught:
        fetch_stimuli.fetch(NAME, tmp_path / "nothing.csv")
    assert str(caught.value) == f"There is no file {tmp_path / 'nothing.csv'}."


def test_a_set_that_was_not_fetched_or_was_changed_says_how_to_fetch_it(folder):
    with pytest.raises(DataError) as caught:
        stimuli.read_item_set(NAME)
    assert str(caught.value) == (
        "The item set 'lvdm2022-exp3' is not on this machine. Fetch it once with: psymem stimuli fetch lvdm2022-exp3"
    )
    folder.mkdir(parents=True)
    (folder / "items.csv").write_bytes(b"changed")
    with pytest.raises(DataError) as caught:
        stimuli.read_item_set(NAME)
    assert str(caught.value) == (
        f"{folder / 'items.csv'} was changed since it was fetched. Fetch it again: psymem stimuli fetch lvdm2022-exp3"
    )


def test_only_published_sets_are_fetched():
    with pytest.raises(UnknownNameError) as caught:
        fetch_stimuli.fetch("attraction-core")
    assert str(caught.value) == (
        "There is no item set to fetch called 'attraction-core'. Known: lvdm2022-exp3. Bundled sets need no fetching."
    )
