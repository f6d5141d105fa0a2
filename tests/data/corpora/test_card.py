"""One schema for the cards of corpora."""

from __future__ import annotations

import pytest

from psymem.data.corpora.card import checked_card
from psymem.errors import DataError, UnknownNameError

CARD = {
    "name": "mine",
    "title": "A corpus",
    "licence": "CC BY 4.0",
    "citation": "Me (2024).",
    "address": "",
    "language": "English",
    "get": "Ask me.",
    "checked_on": "an invented sample",
    "description": "Five texts.",
    "files": [{"name": "times.csv", "holds": "times"}],
}


def test_without_fetch_nothing_is_fetched():
    assert checked_card("mine", CARD) == {**CARD, "fetch": "none", "why_not_fetched": ""}


FILE = {"name": "times.csv", "holds": "times"}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"title": None, "get": None}, DataError, "The card of the corpus 'mine' lacks title, get."),
        (
            {"readers": "ten"},
            DataError,
            "The card of the corpus 'mine' says readers = 'ten'; expected a whole number.",
        ),
        (
            {"license": "MIT"},
            UnknownNameError,
            "There is no entry of the card of the corpus 'mine' called 'license'. Did you mean 'licence' or 'files'? Known: address, "
            "archive, checked_on, citation, defects, description, fetch, files, get, language, language_code, licence, name, note, "
            "readers, sample, title, why_not_fetched.",
        ),
        (
            {"fetch": "archiv"},
            UnknownNameError,
            "There is no way to fetch in the card of the corpus 'mine' called 'archiv'. Did you mean 'archive'? Known: "
            "archive, direct, none.",
        ),
        (
            {"fetch": "archive"},
            DataError,
            "The [archive] of the card of the corpus 'mine' lacks url, checksum, file.",
        ),
        (
            {"fetch": "direct"},
            DataError,
            "The card of the corpus 'mine' says fetch = 'direct', and none of its files has a url.",
        ),
        (
            {"files": [{"name": "times.csv"}]},
            DataError,
            "The [[files]] of the card of the corpus 'mine' lacks holds.",
        ),
        (
            {"files": [{**FILE, "url": "https://here"}]},
            DataError,
            "The file times.csv in the card of the corpus 'mine' needs both url and checksum.",
        ),
    ],
    ids=["lacking", "kind", "unknown", "way", "archive", "direct", "file", "checksum"],
)
def test_what_a_card_cannot_say(change, error, message):
    card = {k: v for k, v in {**CARD, **change}.items() if v is not None}
    with pytest.raises(error) as caught:
        checked_card("mine", card)
    assert str(caught.value) == message
