"""One human reading corpus as every reader returns it: texts, readers' measures, and what was mended on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from psymem.data.words.gaps import gap_notes
from psymem.errors import DataError
from psymem.tables import READING, WORDS, check

DURATIONS = (
    "first_fixation_duration",
    "gaze_duration",
    "go_past_time",
    "total_reading_time",
    "first_run_dwell_time",
    "right_bounded_time",
    "single_fixation_duration",
    "self_paced_reading_time",
)
"""Columns of READING in ms. Each is present only where the corpus has exactly this measure, by its definition."""

SCALED = tuple(f"{name}_scaled" for name in DURATIONS)
"""Durations published without their unit, as means scaled to 0-100 (CMCL 2021)."""

COUNTS = ("fixation_count", "regressions_in", "regressions_out", "first_pass_regressions_out")
"""Columns of READING that count. ``regressions_out`` are all, ``first_pass_regressions_out`` those made before any later
word was fixated."""

LONGEST_MS = 60_000.0
"""ms; longer is no ordinary reading of a word."""

AVERAGE_READER = "average"
"""The `subject` of data published as averages over readers only."""


@dataclass(frozen=True)
class Corpus:
    """A reading corpus, ready to be joined with scores.

    Attributes
    ----------
    name
        Name in the registry ("geco").
    words
        WORDS: `text_id, sentence_id, word_id, word` and, where the layout is known, the bool columns
        `line_first` and `line_last`.
    reading
        READING: one row for each reader and word, durations in ms. A word that was not read has NaN durations and
        `skipped` True; where no data exist at all (track loss) there is no row.
    card
        Title, licence, citation, address: the contents of ``corpora/NAME/card.toml``.
    notes
        What was dropped, mended or could not be checked, one plain sentence each, with counts.
    averaged
        Whether the values are means over readers (`subject` is then "average").
    """

    name: str
    words: pd.DataFrame
    reading: pd.DataFrame
    card: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    averaged: bool = False

    def __post_init__(self) -> None:
        """Check both tables, that they speak of the same words, and that no duration is negative."""
        check(self.words, WORDS)
        check(self.reading, READING)
        self._compare_words()
        self._check_durations()
        odd = [*gap_notes(self.words), *_unreadable(self.words), *self._long_times()]
        object.__setattr__(self, "notes", tuple(dict.fromkeys([*self.notes, *odd])))

    def _compare_words(self) -> None:
        """Refuse a corpus without readers' data, or with other words in them than in the text."""
        if self.reading.empty:
            raise DataError(f"The corpus {self.name!r} has no reading data: nobody has read a word in it.")
        key = list(WORDS.key)
        both = self.reading[[*key, "word"]].merge(
            self.words[[*key, "word"]], on=key, how="left", suffixes=("", "_in_text"), validate="many_to_one"
        )
        wrong = both[both["word"] != both["word_in_text"]].drop_duplicates(key)
        if len(wrong):
            shown = "; ".join(
                f"text {r.text_id}, word {r.word_id}: {r.word!r} read, {r.word_in_text!r} in the text"
                for r in wrong.head(5).itertuples()
            )
            raise DataError(
                f"The corpus {self.name!r} has {len(wrong)} word(s) that differ between the readers' data and the "
                f"text: {shown}. Check that both files belong to the same release."
            )

    def _check_durations(self) -> None:
        """Refuse negative times, and means over readers that no mean can be."""
        for column in self.measures:
            negative = self.reading[column] < 0
            if negative.any():
                row = self.reading.loc[negative].iloc[0]
                raise DataError(
                    f"The corpus {self.name!r} has {int(negative.sum())} negative value(s) of {column}, the first for "
                    f"reader {row['subject']}, text {row['text_id']}, word {row['word_id']}: {row[column]}. "
                    "Durations are times in ms; mend the file."
                )

    def _long_times(self) -> list[str]:
        """Say which times are longer than anybody looks at a word; means over readers of that length are refused."""
        notes = []
        for column in (c for c in self.measures if c in DURATIONS):
            long = self.reading[self.reading[column] > LONGEST_MS]
            if long.empty:
                continue
            row = long.loc[long[column].idxmax()]
            said = (
                f"{len(long)} value(s) of {column} are above {LONGEST_MS:,.0f} ms, the longest {row[column]:,.0f} ms "
                f"(reader {row['subject']}, text {row['text_id']}, word {row['word_id']})"
            )
            if self.averaged:
                raise DataError(
                    f"The corpus {self.name!r}: {said}, which no mean over readers is. Mend the file."
                )
            notes.append(
                f"{said}, which is no ordinary reading of a word. Cut-offs leave them out (--longest)."
            )
        return notes

    @property
    def measures(self) -> tuple[str, ...]:
        """Duration columns that this corpus has, in ms or scaled."""
        return tuple(c for c in self.reading.columns if c in (*DURATIONS, *SCALED))


def _unreadable(words: pd.DataFrame) -> list[str]:
    """Say which words have lost a character on their way through an encoding."""
    lost = words[words["word"].str.contains("\ufffd", regex=False)]
    if lost.empty:
        return []
    shown = ", ".join(f"text {r.text_id}, word {r.word_id}: {r.word!r}" for r in lost.head(5).itertuples())
    return [
        f"{len(lost)} word(s) have a character that was lost before the file was published (U+FFFD), so models read another "
        f"word: {shown}{', ...' * (len(lost) > 5)}."
    ]
