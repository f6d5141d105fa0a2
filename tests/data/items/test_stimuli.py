"""Item sets in spreadsheets: what is read, which word has which role, and the whole message of what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import psymem
from psymem.data.items.stimuli import ItemSet, examine, read_item_set
from psymem.errors import DataError, StimuliError, UnknownNameError
from psymem.tables import STIMULI, check

HEADER = "item,condition,number,sentence,target,attractor,critical\n"
GOOD = HEADER + (
    "1,sg,singular,The dog near the cat barks at the old man.,dog,cat,barks\n"
    "1,pl,plural,The dogs near the cat bark at the old man.,dogs,cat,bark\n"
    "2,sg,singular,The key to the box rusts in the rain.,key,box,rusts\n"
    "2,pl,plural,The keys to the box rust in the rain.,keys,box,rust\n"
)


def save(folder: Path, text: str, name: str = "items.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text(text, encoding=encoding)
    return path


def problems(folder: Path, text: str) -> list[str]:
    return examine(save(folder, text)).messages


def rows_of(item_set: ItemSet, text_id: str) -> pd.DataFrame:
    return item_set.words[item_set.words["text_id"] == text_id].reset_index(drop=True)


def test_a_spreadsheet_becomes_one_row_per_word(tmp_path):
    found = rows_of(read_item_set(save(tmp_path, GOOD)), "1-pl")
    expected = pd.DataFrame(
        {
            "text_id": "1-pl",
            "sentence_id": 1,
            "word_id": range(1, 11),
            "word": ["The", "dogs", "near", "the", "cat", "bark", "at", "the", "old", "man."],
            "item": "1",
            "condition": "pl",
            "region": [
                "",
                "target",
                "",
                "",
                "attractor",
                "critical",
                *(f"spillover_{n}" for n in (1, 2, 3)),
                "",
            ],
            "role": ["", "target", "", "", "attractor", "critical", *["spillover"] * 3, ""],
            "number": "plural",
        }
    )
    pd.testing.assert_frame_equal(found, expected)


def test_what_an_item_set_says_about_itself(tmp_path):
    found = read_item_set(save(tmp_path, GOOD, "barking.csv"))
    assert (found.name, found.factors, found.design, found.card) == ("barking", ["number"], None, {})
    assert (found.items, found.conditions, found.notes) == (["1", "2"], ["sg", "pl"], [])
    assert found.controls is None
    assert check(found.words, STIMULI) is found.words
    assert found.sentences.loc[3].to_dict() == {
        "text_id": "2-pl",
        "item": "2",
        "condition": "pl",
        "number": "plural",
        "sentence": "The keys to the box rust in the rain.",
    }
    assert psymem.load_stimuli(found.path).equals(found.words)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_encodings_and_separators_make_no_difference(tmp_path, encoding, separator):
    text = GOOD.replace("old", "naïve").replace(",", separator)
    expected = read_item_set(save(tmp_path, GOOD.replace("old", "naïve"), "plain.csv"))
    found = read_item_set(save(tmp_path, text, encoding=encoding))
    pd.testing.assert_frame_equal(found.words, expected.words)


def test_words_that_look_like_something_else_stay_words(tmp_path):
    text = "item,condition,truth,sentence,critical\n1,NA,true,null NA true 1.50 None,true\n"
    found = read_item_set(save(tmp_path, text))
    assert found.words["word"].tolist() == ["null", "NA", "true", "1.50", "None"]
    assert found.words["condition"].unique().tolist() == ["NA"]
    assert found.words["truth"].unique().tolist() == ["true"]


# columns -----------------------------------------------------------------------------------------------------


def test_regions_are_joined_in_the_order_of_the_columns(tmp_path):
    text = (
        "item,condition,region:target,region:pp,region:adverb,region:critical,region:spillover,attractor\n"
        "1,a,The dog,near the cat,-,barks,at the man,cat\n"
        "1,b,The dog,near the cat,often,barks,at the man,cat\n"
    )
    found = read_item_set(save(tmp_path, text))
    assert found.sentences["sentence"].tolist() == [
        "The dog near the cat barks at the man",
        "The dog near the cat often barks at the man",
    ]
    first = rows_of(found, "1-a")
    assert first["role"].tolist() == ["", "target", "", "", "attractor", "critical", *["spillover"] * 3]
    assert first["region"].tolist() == [
        *["target"] * 2, *["pp"] * 3, "critical", "spillover_1", "spillover_2", "spillover_3"
    ]  # fmt: skip


def test_covariates_are_carried_and_comments_are_not(tmp_path):
    text = "item,condition,sentence,critical,covariate:zipf,comment\n1,a,Dogs bark,bark,4.5,\n1,b,Cats purr,purr,3.1,odd\n"
    found = read_item_set(save(tmp_path, text))
    assert found.factors == []
    assert found.words["zipf"].tolist() == ["4.5", "4.5", "3.1", "3.1"]
    assert "comment" not in found.words


def test_a_factor_may_vary_between_items(tmp_path):
    text = "item,condition,animacy,sentence,critical\n1,a,yes,Dogs bark,bark\n1,b,yes,Dogs run,run\n2,a,no,Cars stop,stop\n"
    found = read_item_set(save(tmp_path, text))
    assert found.factors == ["animacy"]
    assert found.notes == ["items.csv: item '2' lacks condition b."]


# notes -----------------------------------------------------------------------------------------------------
def test_blanks_and_invisible_characters_are_put_right_and_noted(tmp_path):
    text = "item,condition,sentence,critical\n1,a,The  dog\u00a0bar\u00adks\u200b cafe\u0301,barks\n"
    found = read_item_set(save(tmp_path, text))
    assert found.words["word"].tolist() == ["The", "dog", "barks", "café"]
    assert found.notes == [
        "Repeated or special blanks, invisible or decomposed characters were put right in 1 row(s) of items.csv, "
        "first row 2."
    ]


def test_same_sentences_and_mixed_scripts_are_noted(tmp_path):
    header = "item,condition,sentence,critical\n"
    text = f"{header}1,a,Dogs bark,bark\n1,b,Dogs bark,bark\n2,a,Traffi\u0441 stops,stops\n2,b,Ok go,go\n"
    assert read_item_set(save(tmp_path, text)).notes == [
        "items.csv, row 3: item '1' has the same sentence in conditions a and b.",
        "items.csv, row 4: the word 'Traffi\u0441' mixes Cyrillic and Latin letters; no model will know it.",
    ]


# problems --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "item,condition",
            "item,Condition",
            [
                "items.csv, row 1: there is no column 'condition' (column 'Condition' has capitals: write 'condition')."
                " The file has item, Condition, number, sentence, target, attractor, critical."
            ],
        ),
        (
            ",critical\n",
            ",verb\n",
            [
                "items.csv, row 1: there is no column 'critical'. "
                "The file has item, condition, number, sentence, target, attractor, verb."
            ],
        ),
        (
            "number",
            "word",
            ["items.csv, row 1, column 'word': psymem uses this name itself; rename the column."],
        ),
        (
            "number",
            "region:a",
            ["items.csv, row 1, column 'sentence': give either 'sentence' or 'region:' columns, not both."],
        ),
        ("dog,cat,barks", ",cat,barks", [
            "items.csv, row 2, column 'target': the cell is empty. Write - if this sentence has none."
        ]),
        ("1,sg,", ",sg,", ["items.csv, row 2, column 'item': the cell is empty."]),
        ("1,sg,singular", "1,sg,", ["items.csv, row 2, column 'number': the cell is empty."]),
        (
            "cat,barks",
            "cats,barks",
            ["items.csv, row 2, column 'attractor': 'cats' is not in its sentence "
             "'The dog near the cat barks at the old man.'."],
        ),
        (
            "near the cat barks",
            "near the dog barks",
            [
                "items.csv, row 2, column 'target': 'dog' occurs 2 times in 'The dog near the dog barks at the old man.'; "
                "write dog#1 for the first, dog#2 for the second.",
                "items.csv, row 2, column 'attractor': 'cat' is not in its sentence "
                "'The dog near the dog barks at the old man.'.",
            ],
        ),
        (
            "dog,cat,barks",
            "dog#2,cat,barks",
            ["items.csv, row 2, column 'target': 'dog#2' asks for occurrence 2 of 'dog', there are 1."],
        ),
        (
            "dog,cat,barks",
            "dog,cat,-",
            ["items.csv, row 2, column 'critical': every sentence needs a critical word; "
             "this is where measures are read off."],
        ),
        (
            "dog,cat,barks",
            "dog,barks,barks",
            ["items.csv, row 2, column 'attractor': the attractor and the critical word are the same word of the sentence."],
        ),
        (
            "1,pl,plural",
            "1,sg,singular",
            [
                "items.csv, row 3, column 'condition': item '1' in condition 'sg' is already in row 2.",
            ],
        ),
        (
            "2,pl,plural",
            "2,pl,plurl",
            ["items.csv, row 5, column 'number': 'plurl', but condition 'pl' has 'plural' in row 3. A factor has one level "
             "per condition, or one per item; call other columns 'covariate:NAME' or 'comment'."],
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_row_and_column(tmp_path, old, new, expected):
    assert problems(tmp_path, GOOD.replace(old, new, 1)) == expected


def test_spillover_has_to_follow(tmp_path):
    text = "item,condition,sentence,critical,spillover\n1,a,Dogs bark at men,bark,at night\n"
    assert problems(tmp_path, text) == [
        "items.csv, row 2, column 'spillover': 'at night' does not follow the critical word in 'Dogs bark at men'."
    ]


def test_a_region_layout_without_a_critical_word_is_refused(tmp_path):
    text = "item,condition,region:a,region:critical\n1,a,Dogs,-\n"
    assert problems(tmp_path, text) == [
        "items.csv, row 2, column 'critical': every sentence needs a critical word; this is where measures are read off."
    ]


def test_reading_raises_with_the_first_problems_and_points_at_the_rest(tmp_path):
    text = HEADER + "".join(f"{n},sg,singular,The dog barks.,dog,,barks\n" for n in range(1, 8))
    path = save(tmp_path, text)
    lines = [
        f"items.csv, row {row}, column 'attractor': the cell is empty. Write - if this sentence has none."
        for row in range(2, 7)
    ]
    with pytest.raises(StimuliError) as caught:
        read_item_set(path)
    assert str(caught.value) == "\n".join([*lines, f"... and 2 more: psymem stimuli check {path}"])


def test_unknown_names_offer_near_ones():
    with pytest.raises(UnknownNameError) as caught:
        read_item_set("atraction-core")
    assert str(caught.value) == (
        "There is no item set called 'atraction-core'. Did you mean 'attraction-core' or 'attraction-number' or "
        "'attraction-relative-clause'? "
        "Known: agreement-development, attraction-core, attraction-number, attraction-relative-clause, "
        "lvdm2022-exp3. Or give a CSV file."
    )


def test_a_missing_file_is_a_missing_file(tmp_path):
    save(tmp_path, GOOD)
    with pytest.raises(DataError) as caught:
        read_item_set(tmp_path / "item.csv")
    assert str(caught.value) == f"There is no file {tmp_path / 'item.csv'}. Did you mean items.csv?"


def test_a_folder_with_items_is_a_set_and_any_other_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    save(tmp_path / "mine", GOOD)
    assert read_item_set(tmp_path / "mine").items == ["1", "2"]
    with pytest.raises(DataError) as caught:
        read_item_set(tmp_path)
    assert str(caught.value) == f"{tmp_path} is a folder; a file was expected."


def test_a_broken_card_is_named(tmp_path):
    save(tmp_path, "design = attraction\n", "card.toml")
    with pytest.raises(DataError) as caught:
        read_item_set(save(tmp_path, GOOD))
    assert (
        str(caught.value)
        == f"{tmp_path / 'card.toml'} is not valid TOML: Invalid value (at line 1, column 10)."
    )


# properties ------------------------------------------------------------------------------------------------


cell = st.one_of(st.sampled_from(["", "-", "a", "A", "dog", "dog#2", "the dog", "1"]), st.text(max_size=6))


@given(st.lists(st.tuples(*[cell] * 7), min_size=1, max_size=5))
def test_whatever_the_cells_hold_is_read_or_refused_in_words(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("any") / "items.csv"
    columns = ["item", "condition", "sentence", "target", "attractor", "critical", "spillover"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False, encoding="utf-8", errors="replace")
    try:
        found = read_item_set(path)
    except DataError:
        return
    check(found.words, STIMULI)
    assert found.words.groupby("text_id")["role"].agg(lambda r: (r == "critical").sum()).eq(1).all()


def test_the_schema_survives_a_round_trip_through_json(tmp_path):
    words = read_item_set(save(tmp_path, GOOD)).words
    again = pd.DataFrame(json.loads(words.to_json(orient="records")))
    pd.testing.assert_frame_equal(again, words, check_dtype=False)
