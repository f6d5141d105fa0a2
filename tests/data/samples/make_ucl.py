"""Write the invented sample of the UCL corpus (both experiments).

    python tests/data/samples/make_ucl.py corpora/ucl/sample

Traps: 0 and NaN for words not fixated in first pass; the words "NA" and "true"; quotation marks that quote nothing; a
sentence nobody read with eye tracking; reader numbers that mean other people in the other experiment; Windows-1252.
"""

import sys
from pathlib import Path

SENTENCES = {1: '"Is NA true?" she said.', 2: "The caf\u00e9 closed.", 7: "Nobody came."}
EYE = {  # reader, sentence: first fixation, first pass, right-bounded, go-past of each word
    (1, 1): ["200 200 200 200", "0 0 0 0", "210 400 400 650", "NaN NaN NaN NaN", "190 190 250 250"],
    (2, 1): ["220 220 220 220", "180 180 180 180", "0 0 0 0", "240 240 240 240", "260 260 260 260"],
    (1, 2): ["150 150 150 150", "230 470 470 470", "250 250 250 900"],
}
SELF_PACED = {(1, 1): [300, 310, 320, 330, 700], (1, 7): [280, 0], (3, 2): [400, 410, 420]}


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stimuli = ["sent_nr\tsentence\tquestion\tanswer"]
    stimuli += [f"{n}\t{sentence}\t-\t-" for n, sentence in SENTENCES.items()]
    keys = "subj_nr sent_nr sent_pos correct answer_time word_pos word"
    files = {"stimuli.txt": [line.split("\t") for line in stimuli]}
    files["eyetracking.RT.txt"] = [f"{keys} RTfirstfix RTfirstpass RTrightbound RTgopast".split()]
    files["selfpacedreading.RT.txt"] = [f"{keys} RT".split()]
    for name, data in (("eyetracking.RT.txt", EYE), ("selfpacedreading.RT.txt", SELF_PACED)):
        for (reader, sentence), times in data.items():
            for place, (word, time) in enumerate(
                zip(SENTENCES[sentence].split(), times, strict=True), start=1
            ):
                files[name].append([reader, sentence, 9, "-", "NaN", place, word, *str(time).split()])
    for name, rows in files.items():
        text = "".join("\t".join(map(str, row)) + "\r\n" for row in rows)
        (folder / name).write_bytes(text.encode("cp1252"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
