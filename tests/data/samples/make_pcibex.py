"""Write an invented results file of PCIbex.

    python tests/data/samples/make_pcibex.py corpora/pcibex/sample

Traps: columns named in comments that change within the file; two people at one address; a comma inside a cell; rows of
other controllers; "null" as a word; a participant's comments begin anew.
"""

import sys
from pathlib import Path

FIRST = (
    "Results reception time",
    "MD5 hash of participant's IP address",
    "Controller name",
    "Order number of item",
    "Inner element number",
    "Label",
    "Latin Square Group",
    "PennElementType",
    "PennElementName",
    "Parameter",
    "Value",
    "EventTime",
)
ADDRESS = "0cc175b9c0f1b6a831c399e269772661"
SENTENCES = {"1": "No%2C the null hypothesis fell.", "2": "It was Jos%C3%A9's."}
TIMES = {
    "1700000001": {"1": [310, 295, 402, 388, 350], "2": [301, 280, 333]},
    "1700000002": {"2": [412, 0, 390], "1": [444, 401, 512, 498, 470]},
}


def write(folder: Path) -> None:
    lines = []
    for received, read in TIMES.items():
        lines += [
            "# Results on Tuesday November 14 2023 22:13:21 UTC",
            "# USER AGENT: Mozilla/5.0 (X11, Linux)",
        ]
        lines += ["# Design number was non-random = 2", "#", "# Columns below this comment are as follows:"]
        lines += [f"# {n}. {name}." for n, name in enumerate([*FIRST, "item", "Comments"], start=1)]
        start = [received, ADDRESS, "PennController"]
        lines.append(
            ",".join(
                [
                    *start,
                    "0",
                    "0",
                    "consent",
                    "NULL",
                    "PennController",
                    "0",
                    "_Trial_",
                    "Start",
                    "17",
                    "undefined",
                    "NULL",
                ]
            )
        )
        lines += [
            f"# {n}. {name}."
            for n, name in enumerate(
                ["item", "Reading time", "Newline?", "Sentence (or sentence MD5)", "Comments"], start=13
            )
        ]
        for order, (item, times) in enumerate(read.items(), start=1):
            for n, (word, ms) in enumerate(zip(SENTENCES[item].split(), times, strict=True), start=1):
                cells = [
                    *start,
                    str(order),
                    "0",
                    "reading",
                    "NULL",
                    "Controller-DashedSentence",
                    "DashedSentence",
                ]
                lines.append(
                    ",".join([*cells, str(n), word, "17", item, str(ms), "false", SENTENCES[item], "NULL"])
                )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
