"""Write an invented sample of a plain table with a file of all words.

    python tests/data/samples/make_csv.py corpora/csv/sample

Traps: the words "null", "NA" and "true"; NA, an empty cell and a dot for missing; a word that nobody read.
"""

import sys
from pathlib import Path

READING = """subject,text_id,word_id,word,gaze_duration,total_reading_time
s1,A,1,null,210,250
s1,A,2,NA,NA,180
s1,A,3,true,,
s2,A,1,null,190.5,190.5
s2,A,3,true,300,.
"""
TEXTS = """text_id,sentence_id,word_id,word
A,1,1,null
A,1,2,NA
A,2,3,true
A,2,4,end.
"""


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reading.csv").write_bytes(READING.encode("utf-8"))
    (folder / "texts.csv").write_bytes(TEXTS.encode("utf-8"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
