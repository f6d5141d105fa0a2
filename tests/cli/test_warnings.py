"""Warnings as a user of the command line sees them."""

from __future__ import annotations

import warnings

from psymem.cli.app import _warn_in_words
from psymem.errors import PsymemWarning


def test_ours_are_one_line_each_once_and_others_stay_as_they_are(capsys, monkeypatch):
    others = []
    monkeypatch.setattr(warnings, "showwarning", _warn_in_words(lambda *given, **_: others.append(given[0])))
    with monkeypatch.context() as patch:
        patch.setattr(warnings, "filters", [("always", None, Warning, None, 0)])
        for _ in range(2):
            warnings.warn("components=5 does not divide 12.", PsymemWarning, stacklevel=1)
        warnings.warn("of another kind", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "psymem: warning: components=5 does not divide 12.\n"
    assert [str(w) for w in others] == ["of another kind"]
