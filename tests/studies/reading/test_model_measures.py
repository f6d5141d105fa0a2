"""Tables of scores made elsewhere, and families of instances."""

from __future__ import annotations

import pandas as pd
import pytest

from psymem.errors import DataError
from psymem.studies.reading.model_measures import families, read_scores

WORDS = pd.DataFrame(
    {"text_id": ["1", "1"], "sentence_id": 1, "word_id": [1, 2], "word": ["null", "NA"]}
).astype({"text_id": "str", "word": "str"})


def test_scores_keep_words_as_they_are_and_are_named_after_the_file(tmp_path):
    path = tmp_path / "gpt.csv"
    path.write_text("text_id,word_id,word,bits\n1,1,null,2.5\n1,2,NA,NA\n", encoding="utf-8")
    found = read_scores(path, WORDS)
    assert found["word"].tolist() == ["null", "NA"]
    assert found["model"].tolist() == ["gpt", "gpt"]
    assert found["bits"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "text_id,word_id,bits\n1,1,2\n",
            "{} has no column 'word'; it has text_id, word_id, bits. A table of scores has text_id, word_id, word and "
            "the measures.",
        ),
        ("text_id,word_id,word,tag\n1,1,null,N\n", "{} has no column of numbers to take as a measure."),
        (
            "text_id,word_id,word,bits\n1,1,nil,2\n",
            "{} (s) has 1 word(s) that differ from the text: text 1, word 1: 'null' in the text, 'nil' there. Join "
            "tables of the same release.",
        ),
        (
            "text_id,word_id,word,bits\n1,w1,null,2\n",
            "{}: column 'word_id' holds text where a whole number is expected in every row.",
        ),
        (
            "text_id,word_id,word,bits\n1,1,null,2\n1,NA,NA,3\n",
            "{}, row 3, column 'word_id': NA (1 such cell(s)); a whole number is expected.",
        ),
        (
            "text_id,word_id,word,bits\n1,1.5,null,2\n",
            "{}, row 2, column 'word_id': 1.5 (1 such cell(s)); a whole number is expected.",
        ),
        (
            "text_id,word_id,word,bits\n1,1,null,2\n1,2,NA,inf\n",
            "{}, row 3, column 'bits': inf (1 such cell(s)); a finite number or NA is expected.",
        ),
    ],
)
def test_tables_that_are_no_scores(tmp_path, content, message):
    path = tmp_path / "s.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_scores(path, WORDS)
    assert str(caught.value) == message.format(path)


def test_one_instance_is_called_by_its_own_name():
    models = pd.Series(["m/1", "m/2", "n/1", "gpt2"])
    assert families(models) == {"m": ["m/1", "m/2"], "n/1": ["n/1"], "gpt2": ["gpt2"]}


def test_what_scores_say_of_unknown_words_and_later_ones_is_kept(tmp_path):
    """Else values that look at later words, read back from a table of psymem score, would pass for causal ones."""
    path = tmp_path / "s.csv"
    path.write_text(
        "text_id,word_id,word,oov,causal,bits\n1,1,null,True,False,2\n1,2,NA,False,False,3\n",
        encoding="utf-8",
    )
    found = read_scores(path, WORDS)
    assert found["oov"].tolist() == [True, False]
    assert found["causal"].tolist() == [False, False]
