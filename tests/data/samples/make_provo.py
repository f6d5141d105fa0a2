"""Write the invented sample of the Provo Corpus, in the format of its Eyetracking_Data file.

    python tests/data/samples/make_provo.py corpora/provo/sample

Traps: Windows-1252; first words without a number; a gap in Word_Number; a number and a QID given twice; Word mangled
(TRUE, FALSE); a sign that is no word; an area with two words; words skipped in first pass and read later; words never
read (0 in sums, NA elsewhere).
"""

import sys
from pathlib import Path

HEADER = (
    "RECORDING_SESSION_LABEL Participant_ID Word_Unique_ID Text_ID Word_Number Sentence_Number "
    "Word_In_Sentence_Number Word Word_Cleaned Word_Length Total_Response_Count Unique_Count OrthographicMatch "
    "OrthoMatchModel IsModalResponse ModalResponse ModalResponseCount Certainty POS_CLAWS Word_Content_Or_Function "
    "Word_POS POSMatch POSMatchModel InflectionMatch InflectionMatchModel LSA_Context_Score "
    "LSA_Response_Match_Score IA_ID IA_LABEL TRIAL_INDEX IA_LEFT IA_RIGHT IA_TOP IA_BOTTOM IA_AREA "
    "IA_FIRST_FIXATION_DURATION IA_FIRST_FIXATION_INDEX IA_FIRST_FIXATION_VISITED_IA_COUNT IA_FIRST_FIXATION_X "
    "IA_FIRST_FIXATION_Y IA_FIRST_FIX_PROGRESSIVE IA_FIRST_FIXATION_RUN_INDEX IA_FIRST_FIXATION_TIME "
    "IA_FIRST_RUN_DWELL_TIME IA_FIRST_RUN_FIXATION_COUNT IA_FIRST_RUN_END_TIME IA_FIRST_RUN_LANDING_POSITION "
    "IA_FIRST_RUN_LAUNCH_SITE IA_FIRST_RUN_START_TIME IA_DWELL_TIME IA_FIXATION_COUNT IA_RUN_COUNT IA_SKIP "
    "IA_REGRESSION_IN IA_REGRESSION_IN_COUNT IA_REGRESSION_OUT IA_REGRESSION_OUT_COUNT IA_REGRESSION_OUT_FULL "
    "IA_REGRESSION_OUT_FULL_COUNT IA_REGRESSION_PATH_DURATION IA_FIRST_SACCADE_AMPLITUDE "
    "IA_FIRST_SACCADE_ANGLE IA_FIRST_SACCADE_END_TIME IA_FIRST_SACCADE_START_TIME"
).split()

# text, area, label, Word, Word_Number, QID, Sentence_Number
AREAS = [
    (18, 1, "He", "NA", "NA", "NA", "NA"),
    (18, 2, "said", "said", "2", "QID2686", "1"),
    (18, 3, "the", "the", "3", "QID2687", "1"),
    (18, 4, "caf\u00e9\u2019s", "caf\u00e9\u2019s", "4", "QID2688", "1"),
    (18, 5, "true,", "TRUE", "6", "QID2690", "1"),  # 5 is missing
    (18, 6, "null", "null", "7", "QID2691", "1"),
    (18, 7, "evolution.", "evolution.", "3", "QID2687", "1"),
    (18, 8, "It", "It", "9", "QID2692", "2"),
    (18, 9, "ended.", "ended.", "10", "QID2693", "2"),
    (55, 1, "NA", "NA", "NA", "NA", "NA"),
    (55, 2, "?", "NA", "NA", "NA", "NA"),
    (55, 3, "is", "is", "2", "QID2687", "1"),
    (55, 4, "profession, writing.", "NA", "NA", "NA", "NA"),
    (55, 5, "false", "FALSE", "5", "QID3000", "2"),
]
# first fixation, first run, fixations in it, go past, total, fixations, skip, regressions in, out in first pass, out
UNREAD = ("NA", "NA", "NA", "NA", 0, 0, 1, 0, 0, 0)
MEASURES = {
    ("Sub01", 18): [
        (200, 200, 1, 200, 200, 1, 0, 0, 0, 0),
        (210, 330, 2, 330, 330, 2, 0, 0, 0, 0),
        UNREAD,
        (250, 250, 1, 430, 250, 1, 0, 0, 1, 1),
        (180, 180, 1, "NA", 180, 1, 1, 1, 0, 0),  # skipped in first pass, read later
        (220, 220, 1, 220, 220, 1, 0, 0, 0, 0),
        (230, 230, 1, 230, 460, 2, 0, 1, 0, 1),  # looked back from after a later word
        UNREAD,
        (300, 500, 2, 500, 500, 2, 0, 0, 0, 0),
    ],
    ("Sub01", 55): [
        (240, 240, 1, 240, 240, 1, 0, 0, 0, 0),
        UNREAD,
        (199, 199, 1, 199, 199, 1, 0, 0, 0, 0),
        (400, 800, 2, 800, 800, 2, 0, 0, 0, 0),
        (150, 150, 1, 150, 150, 1, 0, 0, 0, 0),
    ],
    ("Sub02", 18): [UNREAD, (111, 111, 1, 111, 111, 1, 0, 0, 0, 0), *[UNREAD] * 7],
    ("Sub02", 55): [(160, 160, 1, 160, 160, 1, 0, 0, 0, 0), *[UNREAD] * 4],
}
NAMES = (
    "IA_FIRST_FIXATION_DURATION IA_FIRST_RUN_DWELL_TIME IA_FIRST_RUN_FIXATION_COUNT IA_REGRESSION_PATH_DURATION "
    "IA_DWELL_TIME IA_FIXATION_COUNT IA_SKIP IA_REGRESSION_IN_COUNT IA_REGRESSION_OUT_COUNT "
    "IA_REGRESSION_OUT_FULL_COUNT"
).split()


def quoted(cell: object) -> str:
    text = str(cell)
    return f'"{text}"' if "," in text else text


def write(folder: Path) -> None:
    lines = [",".join(HEADER)]
    for (reader, text), measured in MEASURES.items():
        areas = [a for a in AREAS if a[0] == text]
        for (_, area, label, word, number, qid, sentence), values in zip(areas, measured, strict=True):
            row = dict.fromkeys(HEADER, "NA") | dict(zip(NAMES, values, strict=True))
            row |= {
                "RECORDING_SESSION_LABEL": reader,
                "Participant_ID": reader,
                "Text_ID": text,
                "IA_ID": area,
            }
            row |= {"IA_LABEL": label, "Word": word, "Word_Number": number, "Word_Unique_ID": qid}
            row |= {"Sentence_Number": sentence, "TRIAL_INDEX": text}
            lines.append(",".join(quoted(row[c]) for c in HEADER))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Provo_Corpus-Eyetracking_Data.csv").write_bytes(("\n".join(lines) + "\n").encode("cp1252"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
