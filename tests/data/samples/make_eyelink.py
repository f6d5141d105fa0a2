"""Write two invented interest-area reports as EyeLink's Data Viewer exports them, one per reader.

    python tests/data/samples/make_eyelink.py corpora/eyelink/sample

Traps: tabs without quoting (a label begins with a quotation mark); one file UTF-8, one UTF-16; ``.`` for missing, 0 for
sums of unread words; texts in another order for each reader; skipped in first pass and read later.
"""

import sys
from pathlib import Path

HEADER = (
    "RECORDING_SESSION_LABEL TRIAL_INDEX item IA_ID IA_LABEL IA_FIRST_FIXATION_DURATION IA_FIRST_RUN_DWELL_TIME "
    "IA_FIRST_RUN_FIXATION_COUNT IA_REGRESSION_PATH_DURATION IA_SELECTIVE_REGRESSION_PATH_DURATION IA_DWELL_TIME "
    "IA_FIXATION_COUNT IA_REGRESSION_IN_COUNT IA_REGRESSION_OUT_COUNT IA_REGRESSION_OUT_FULL_COUNT IA_SKIP"
)
ROWS = {
    "r1.txt": """
r1 1 7 1 "No 190 190 1 190 190 400 2 1 0 0 0
r1 1 7 2 cats," 210 410 2 410 410 410 2 0 0 1 0
r1 1 7 3 null . 0 0 . . 0 0 0 0 0 1
r1 1 7 4 said. 250 250 1 670 460 460 2 0 1 1 0
r1 2 9 1 TRUE 180 180 1 . . 180 1 0 0 0 1
r1 2 9 2 love 300 300 1 300 300 300 1 0 0 0 0
""",
    "r2.txt": """
r2 1 9 1 TRUE 222 222 1 222 222 222 1 0 0 0 0
r2 1 9 2 love . 0 0 . . 0 0 0 0 0 1
r2 2 7 1 "No 205 205 1 205 205 205 1 0 0 0 0
r2 2 7 2 cats," 215 215 1 215 215 215 1 0 0 0 0
r2 2 7 3 null 225 225 1 225 225 225 1 0 0 0 0
r2 2 7 4 said. 235 235 1 235 235 235 1 0 0 0 0
""",
}
ENCODINGS = {"r1.txt": "utf-8", "r2.txt": "utf-16"}


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in ROWS.items():
        lines = [HEADER, *rows.strip().splitlines()]
        text = "".join("\t".join(line.split()) + "\r\n" for line in lines)
        (folder / name).write_bytes(text.encode(ENCODINGS[name]))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
