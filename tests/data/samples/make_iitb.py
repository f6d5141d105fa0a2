"""Write the invented sample of IITB Eye-tracking and Sentiment Analysis-II.

    python tests/data/samples/make_iitb.py corpora/iitb/sample

Traps: the aspect before the text, of one, two or three words; a text with commas and quotation marks with backslashes;
a word that the screen had in two pieces; blanks after words; "TRUE" for true; a broken apostrophe; fixations on no word (0,
#N/A); 0 ms; the misspelt file name.
"""

import sys
from pathlib import Path

TEXTS = r"""
1,I work hard to be true,-1,Work,http://example.org,Yes,-1,-1,-1,-1,-1,-1,-1
2,"Don\'t ask, she said \""no\"" again.",-1,My boss,http://example.org,No,-1,-1,-1,-1,-1,-1,-1
3,Couldnt care less...Bob will win again soon,1,Radio,http://example.org,No,1,1,1,1,1,1,1
"""
FIXATIONS = '''
P1,1,1,Aspect--Work,300
P1,1,2,I,200
P1,1,3,work ,210
P1,1,3,work,190
P1,1,0,#N/A,80
P1,1,7,TRUE,250
P1,1,4,hard,180
P1,1,5,to,0
P1,2,1,Aspect--My,150
P1,2,2,boss,140
P1,2,3,Don\uff92t,220
P1,2,5,she,230
P1,2,4,"ask,",240
P1,2,7,"""no""",260
P2,3,1,Aspect,100
P2,3,2,:,101
P2,3,4,Couldn't,211
P2,3,6,less...,212
P2,3,7,Bob,213
P2,3,8,will,214
P2,3,9,win,215
P2,3,10,again,216
P2,3,11,soon,217
'''


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    header = "Text_ID,Text,Default_Polarity,Aspect,Source,Sarcasm,P1,P2,P3,P4,P5,P6,P7"
    (folder / "text_and_annorations.csv").write_bytes((header + TEXTS).encode("utf-8"))
    header = "Participant_ID,Text_ID,Word_ID,Word,Fixation_Duration"
    (folder / "Fixation_sequence.csv").write_bytes((header + FIXATIONS).encode("utf-8"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
