"""Fetching corpora from a server of our own: whole, resumed, verified; licensed ones never."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

import psymem
from psymem.data.corpora import catalogue as corpora
from psymem.data.corpora import fetch as fetch_corpora
from psymem.data.corpora.fetch import fetch_corpus
from psymem.errors import DataError
from psymem.registry import CORPORA

SAMPLES = Path(__file__).resolve().parents[3] / "corpora"


@pytest.fixture
def served(server, monkeypatch, tmp_path):
    """Cards of Natural Stories and UCL whose files are those of the samples, on our server."""
    monkeypatch.setenv("PSYMEM_DATA", str(tmp_path / "data"))
    card = corpora.read_card("natural-stories")
    for file in [f for f in card["files"] if "url" in f]:
        content = (SAMPLES / "natural-stories" / "sample" / file["name"]).read_bytes()
        server.files[f"/{file['name']}"] = content
        file["url"] = f"{server.url}/{file['name']}"
        file["checksum"] = f"sha256:{hashlib.sha256(content).hexdigest()}"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted((SAMPLES / "ucl" / "sample").iterdir()):
            archive.writestr(f"MOESM1/data/{path.name}", path.read_bytes())
            archive.writestr(f"MOESM1/{path.name}.large", bytes(range(256)) * 1000)
            archive.writestr(f"__MACOSX/MOESM1/data/{path.name}", b"")
    server.files["/ucl.zip"] = packed.getvalue()
    ucl = corpora.read_card("ucl")
    ucl["archive"] |= {
        "url": f"{server.url}/ucl.zip",
        "checksum": f"md5:{hashlib.md5(packed.getvalue()).hexdigest()}",
    }
    cards = {"natural-stories": card, "ucl": ucl}
    monkeypatch.setattr(fetch_corpora, "read_card", lambda name: cards.get(name) or corpora.read_card(name))
    return cards


def test_files_are_fetched_once_and_can_be_read(served, server, tmp_path):
    folder, notes = fetch_corpus("natural-stories")
    assert folder == tmp_path / "data" / "corpora" / "natural-stories"
    assert notes == [
        "naturalstories_RTS/processed_RTs.tsv (times per reader and word) has to be got by hand: "
        "https://github.com/languageMIT/naturalstories"
    ]
    corpus = psymem.load_corpus("natural-stories", folder)
    assert corpus.averaged
    assert len(corpus.reading) == 8
    asked = len(server.asked)
    assert asked == 4
    fetch_corpus("natural-stories", folder)
    assert len(server.asked) == asked


def test_an_archive_is_fetched_resumed_and_unpacked(served, server, tmp_path):
    folder = tmp_path / "ucl"
    server.limit = 100_000
    with pytest.raises(DataError) as caught:
        fetch_corpus("ucl", folder)
    archive = folder / "13428_2012_313_MOESM1_ESM.zip"
    kept = archive.with_name(archive.name + ".part").stat().st_size
    assert str(caught.value) == (
        f"The download of {server.url}/ucl.zip stopped: the connection failed. {kept} bytes are kept; run the command "
        f"again to go on, or put a copy of the file there: {archive}."
    )
    server.limit = None
    assert fetch_corpus("ucl", folder) == (folder, [])
    assert server.asked == [("/ucl.zip", None), ("/ucl.zip", f"bytes={kept}-")]
    assert len(psymem.load_corpus("ucl", folder).reading) == 13


def test_other_content_is_not_kept(served, server, tmp_path):
    server.files["/ucl.zip"] += b"more"
    with pytest.raises(DataError) as caught:
        fetch_corpus("ucl", tmp_path / "ucl")
    assert str(caught.value) == (
        f"What {server.url}/ucl.zip sent is not the published file (wrong md5); nothing was kept."
    )
    assert list((tmp_path / "ucl").iterdir()) == []


@pytest.mark.parametrize("name", [n for n in CORPORA.names() if corpora.read_card(n)["fetch"] == "none"])
def test_others_are_never_fetched_but_explained(name, tmp_path):
    card = corpora.read_card(name)
    with pytest.raises(DataError) as caught:
        fetch_corpus(name, tmp_path)
    assert str(caught.value) == (
        f"psymem does not fetch the corpus {name!r}. {card['why_not_fetched']} {card['get']}"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extra
def test_the_archive_is_the_one_that_pymovements_downloads():
    pymovements = pytest.importorskip("pymovements")
    archive = corpora.read_card("ucl")["archive"]
    known = pymovements.DatasetLibrary.get("UCL").resources
    assert {(r.source.url, f"md5:{r.source.md5}") for r in known} == {(archive["url"], archive["checksum"])}
