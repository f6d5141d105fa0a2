"""What is shown while text is read."""

from __future__ import annotations

import re

import pytest

from psymem.train.text import reading
from psymem.train.text.files import read_sentences
from psymem.train.text.reading import watched


@pytest.fixture
def files(tmp_path):
    """Two texts and a treebank."""
    (tmp_path / "a.txt").write_text("A dog barks .\n" * 500, encoding="utf-8")
    (tmp_path / "b.txt").write_text("A cat sleeps .\n" * 123, encoding="utf-8")
    (tmp_path / "c.conllu").write_text("# text = A bird sings .\n1\tA\n" * 77, encoding="utf-8")
    return sorted(tmp_path.iterdir())


def test_lines_say_how_far_it_is_and_end_at_the_whole(files, capsys, monkeypatch):
    monkeypatch.setattr(reading, "EVERY", 0.0)
    total = sum(p.stat().st_size for p in files)
    monkeypatch.setattr(reading, "MEBIBYTE", 1)
    with watched("encoding the text", files, quiet=False):
        n = sum(1 for path in files for _ in read_sentences(path))
    assert n == 500 + 123 + 77
    lines = capsys.readouterr().err.splitlines()
    pattern = rf"psymem train: encoding the text, ([\d,.]+) of {total:,}\.0 MiB, \d+\.\d min left"
    done = [float(re.fullmatch(pattern, line).group(1).replace(",", "")) for line in lines]
    assert done == sorted(done)
    assert done[-1] == total
    assert len(done) > 100


def test_a_short_reading_and_a_quiet_one_say_nothing(files, capsys, monkeypatch):
    with watched("encoding the text", files, quiet=False):
        assert len(list(read_sentences(files[0]))) == 500
    monkeypatch.setattr(reading, "EVERY", 0.0)
    with watched("encoding the text", files, quiet=True):
        list(read_sentences(files[0]))
    list(read_sentences(files[0]))
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar(files, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with watched("encoding the text", files, quiet=False):
        for path in files:
            list(read_sentences(path))
    assert "psymem train: encoding the text" in capsys.readouterr().err
