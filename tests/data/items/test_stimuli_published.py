"""The published items: read in their own layout, by name or as a file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from psymem.data.items.attraction_design import CONDITIONS
from psymem.data.items.stimuli import ItemSet, examine, read_item_set

LAYOUT = "Old.item.no\tNew.item.no\tcondition\thead\tppmod\tadverb\tverb\n"
FOLDER = Path("data") / "stimuli" / "laurinavichyute_malsburg_2022_exp3"


def save(folder: Path, rows: str) -> Path:
    path = folder / "mine.csv"
    path.write_text(LAYOUT + rows, encoding="utf-8")
    return path


def item(verb: str = "HIDE OUT", head: str = "The old key", ppmod: str = "of Some coffee jars ") -> str:
    return "".join(f"7\t5\t{c}\t{head}\t{ppmod}\tsoon\t{verb}\n" for c in "abcdehgf")


def test_the_layout_is_recognised_in_any_file(tmp_path):
    found = read_item_set(save(tmp_path, item()))
    first = found.words[found.words["text_id"] == "5-A"]
    assert first["word"].tolist() == "the old key of some coffee jars soon hide out".split()
    assert first["role"].tolist() == ["", "", "target", "", "", "", "attractor", "", "critical", ""]
    assert first["region"].tolist() == [*["head"] * 3, *["ppmod"] * 4, "adverb", "verb", "verb"]
    assert (found.name, found.design, found.factors) == ("mine", "attraction", ["attraction", "violation"])
    assert found.conditions == list("ABCDEFGH")


def test_an_empty_cell_is_named(tmp_path):
    assert examine(save(tmp_path, item().replace("soon", "", 1))).messages == [
        "mine.csv, row 2, column 'adverb': the cell is empty."
    ]


# the real file ---------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def published(shared) -> ItemSet:
    return read_item_set(shared / FOLDER / "exp3_no_compounds.csv")


@pytest.mark.shared
def test_the_published_set(published):
    assert published.name == "lvdm2022-exp3"
    assert published.items == [str(n) for n in range(1, 28)]
    assert published.conditions == list(CONDITIONS)
    assert len(published.sentences) == 27 * 8
    assert published.words["word"].str.islower().all()
    assert published.words.groupby("text_id")["role"].apply(lambda r: sorted(r[r != ""])).map(
        tuple
    ).unique().tolist() == [("attractor", "critical", "target")]
    assert published.notes == [
        "Blanks around cells of exp3_no_compounds.csv were dropped in 44 row(s), first row 53.",
        "exp3_no_compounds.csv is separated by tabs.",
        "All words of exp3_no_compounds.csv were lower-cased; items have the numbers of New.item.no.",
        "Conditions in small letters were read as A-H in 216 row(s) of exp3_no_compounds.csv.",
        "exp3_no_compounds.csv, row 67: item '9' has the same sentence in conditions A and B.",
    ]


@pytest.mark.shared
def test_published_sentences_and_roles_against_plain_pandas(published, shared):
    raw = pd.read_csv(shared / FOLDER / "exp3_no_compounds.csv", sep="\t", dtype=str)
    parts = raw[["head", "ppmod", "adverb", "verb"]].apply(lambda column: column.str.lower().str.split())
    expected = pd.DataFrame(
        {
            "text_id": raw["New.item.no"] + "-" + raw["condition"].str.upper(),
            "sentence": parts.sum(axis=1).str.join(" "),
            "target": parts["head"].str[-1],
            "attractor": parts["ppmod"].str[-1],
            "critical": parts["verb"].str[0],
        }
    )
    roles = published.words[published.words["role"] != ""].pivot(
        index="text_id", columns="role", values="word"
    )
    found = published.sentences[["text_id", "sentence"]].merge(
        roles.reset_index(), on="text_id", validate="one_to_one"
    )
    merged = expected.merge(found, on="text_id", validate="one_to_one", suffixes=("", "_found"))
    assert len(merged) == 216
    for column in ("sentence", "target", "attractor", "critical"):
        assert merged[column].tolist() == merged[f"{column}_found"].tolist()


@pytest.mark.shared
def test_published_factors_agree_with_the_published_results(published, shared):
    results = pd.read_csv(shared / FOLDER / "exp3_results.csv", dtype=str, keep_default_na=False)
    pairs = results[["condition", "attraction", "violation"]].drop_duplicates()
    assert {r.condition.upper(): (r.attraction, r.violation) for r in pairs.itertuples()} == CONDITIONS


@pytest.mark.shared
def test_the_original_file_is_read_too_and_its_cyrillic_letter_is_noted(shared):
    found = read_item_set(shared / FOLDER / "expt3.csv")
    assert len(found.sentences) == 216
    assert found.notes[-1] == (
        "expt3.csv, row 42: the word 'traffi\u0441' mixes Cyrillic and Latin letters; no model will know it."
    )
