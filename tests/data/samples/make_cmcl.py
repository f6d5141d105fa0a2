"""Write an invented sample of the CMCL 2021 shared-task tables.

    python tests/data/samples/make_cmcl.py corpora/cmcl/sample

Traps: values scaled to 0-100, not ms; the mark <EOS>; a word read by nobody; the words "NA" and "null"; a comma in a
quoted word; the test set, which has zeros only.
"""

import sys
from pathlib import Path

HEADER = "sentence_id,word_id,word,nFix,FFD,GPT,TRT,fixProp\n"
TRAIN = """0,0,NA,28.5,4.5,6.25,10.5,94.5
0,1,"null,",0.0,0.0,0.0,0.0,0.0
0,2,won.<EOS>,12.5,3.5,5.25,4.75,76.5
1,0,True,100.0,5.5,100.0,9.0,100.0
1,1,story.<EOS>,17.5,4.25,4.5,6.0,88.25
"""
TEST = """800,0,It's,0,0,0,0,0
800,1,over.<EOS>,0,0,0,0,0
"""


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.csv").write_bytes((HEADER + TRAIN).encode("utf-8"))
    (folder / "test_data.csv").write_bytes((HEADER + TEST).encode("utf-8"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
