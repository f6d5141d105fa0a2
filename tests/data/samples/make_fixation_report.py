"""Write two invented fixation reports as EyeLink's Data Viewer exports them, and the words of their texts.

    python tests/data/samples/make_fixation_report.py corpora/fixation-report/sample

Traps: rows that are not in the order of time; ``.`` for a fixation on no word; a fixation of 0 ms; a report in MacRoman;
texts in another order for each reader; a word that nobody fixated.
"""

import sys
from pathlib import Path

HEADER = (
    "RECORDING_SESSION_LABEL TRIAL_INDEX item CURRENT_FIX_INDEX CURRENT_FIX_DURATION "
    "CURRENT_FIX_INTEREST_AREA_INDEX CURRENT_FIX_INTEREST_AREA_LABEL"
).split()
WORDS = {
    "7": ["No", "dog", "didn\u2019t", "bark", "today."],
    "9": ["TRUE", "love"],
}
# text, then (word number or None, ms) in the order of time
SEEN = {
    "r1": [
        ("7", [(1, 200), (2, 180), (2, 120), (4, 250), (3, 150), (None, 90), (3, 60), (2, 70), (4, 100)]),
        ("9", [(2, 300), (1, 210), (1, 0)]),
    ],
    "r2": [("9", [(1, 222), (2, 144)]), ("7", [(1, 205), (3, 225)])],
}


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for reader, texts in SEEN.items():
        lines = ["\t".join(HEADER)]
        for trial, (text, fixated) in enumerate(texts, start=1):
            rows = [
                [reader, trial, text, place, ms, number or ".", WORDS[text][number - 1] if number else "."]
                for place, (number, ms) in enumerate(fixated, start=1)
            ]
            lines += ["\t".join(map(str, row)) for row in (reversed(rows) if reader == "r1" else rows)]
        content = ("\r\n".join(lines) + "\r\n").encode("mac_roman" if reader == "r1" else "utf-8")
        (folder / f"fixations_{reader}.txt").write_bytes(content)
    rows = [f"{t},{n},{w}" for t, words in WORDS.items() for n, w in enumerate(words, start=1)]
    (folder / "texts.csv").write_text("\n".join(["text_id,word_id,word", *rows]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
