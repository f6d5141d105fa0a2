"""Write the invented sample of Natural Stories, in the layout of its repository.

    python tests/data/samples/make_natural_stories.py corpora/natural-stories/sample

Traps: quotation marks that quote nothing; the word "NA"; times of 100 and 3,000 ms and a number written as 1e3; a story
with too few right answers; a misprint shown to readers (words.tsv has the right word); a word split by the parses; files
in alphabetical order of words.
"""

import sys
from pathlib import Path

STORIES = {1: ['"If', "you", "can't", "peak.", "NA", "comes."], 2: ["null", "ends."]}
AS_WRITTEN = {(1, 4): "peek ."}
SENTENCES = {1: [["1.1", "1.2", "1.3.1", "1.3.2", "1.4.1", "1.4.2"], ["1.5", "1.6"]], 2: [["2.1", "2.2"]]}
# reader, correct, story, times
TIMES = [
    ("A1", 6, 1, [250, 300, 100, 101, 3000, 2999]),
    ("A2", 5, 1, [260, 310, 400, "1e3", 350, 420]),
    ("A3", 4, 1, [200, 200, 200, 200, 200, 200]),
    ("A1", 6, 2, [333, 444]),
]


def kept():
    for reader, correct, story, times in TIMES:
        for zone, time in enumerate(times, start=1):
            yield reader, correct, story, zone, time


def table(folder: Path, name: str, header: str, rows: list) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [header.split(), *rows]
    text = "".join("\t".join(str(c) for c in line) + "\n" for line in lines)
    (folder / name).write_bytes(text.encode("utf-8"))


def write(folder: Path) -> None:
    times = folder / "naturalstories_RTS"
    words = [(w, zone, story) for story, ws in STORIES.items() for zone, w in enumerate(ws, start=1)]
    table(times, "all_stories.tok", "word zone item", words)
    rows = [
        (reader, 900, correct, story, zone, time, STORIES[story][zone - 1], 2, 0, 0, 0, 0)
        for reader, correct, story, zone, time in kept()
    ]
    header = (
        "WorkerId WorkTimeInSeconds correct item zone RT word nItem meanItemRT sdItemRT gmeanItemRT gsdItemRT"
    )
    table(times, "processed_RTs.tsv", header, rows)
    means = []
    for word, zone, story in words:
        good = [
            float(t)
            for _, c, s, z, t in kept()
            if (s, z) == (story, zone) and c > 4 and 100 < float(t) < 3000
        ]
        means.append((word, zone, story, len(good), sum(good) / len(good), "NA", "NA", "NA"))
    header = "word zone item nItem meanItemRT sdItemRT gmeanItemRT gsdItemRT"
    table(times, "processed_wordinfo.tsv", header, sorted(means))
    lines = []
    for word, zone, story in words:
        whole = AS_WRITTEN.get((story, zone), word)
        lines += [(f"{story}.{zone}.whole", whole), (f"{story}.{zone}.word", whole.split()[0])]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.tsv").write_bytes("".join("\t".join(line) + "\n" for line in lines).encode("utf-8"))
    blocks = [
        "".join(
            f"{n}\tx\t_\tX\tX\t_\t0\troot\t_\tTokenId={token}\n" for n, token in enumerate(sentence, start=1)
        )
        for sentences in SENTENCES.values()
        for sentence in sentences
    ]
    parses = folder / "parses" / "ud"
    parses.mkdir(parents=True, exist_ok=True)
    (parses / "stories-aligned.conllx").write_bytes("\n".join(blocks).encode("utf-8"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
