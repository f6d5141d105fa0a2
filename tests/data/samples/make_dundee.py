"""Write the synthetic sample of the Dundee corpus: aligned columns, three encodings, every trap of the real files.

Words and times are invented. Run it from the repository's root: ``python tests/data/samples/make_dundee.py``.
"""

from pathlib import Path

FOLDER = Path("corpora/dundee/sample")

# screen, line, word; a-grave (0x85) and a-acute (0xA0) of code page 437 are blanks elsewhere
TEXTS = {
    1: [
        (1, 1, "Voil\u00e0,"),
        (1, 1, '"Well,"'),
        (1, 1, "caf\u00e9"),
        (1, 1, "null"),
        (1, 2, "NA"),
        (1, 2, "\u00a35"),
        (1, 2, "m\u00e1s."),
        (2, 1, "(He)"),
        (2, 1, "left."),
    ],
    2: [(1, 1, "So."), (1, 1, "It"), (1, 1, "goes.")],
}
BLINK, AWAY = "*Blink", "*Off-screen"

# word number (or what else happened), ms; (number, word number in the file) for a fixation between words (-99) and
# for a gap in time (0)
EVENTS = {
    ("sa", 1, "cp1252"): [
        (1, 200),
        (BLINK, 150),
        (1, 100),
        (2, 180),
        (4, 250),
        (3, 120),
        (4, 90),
        (AWAY, 300),
        (5, 210),
        ((5, -99), 150),
        (5, 60),
        ((8, -99), 80),
        (6, 190),
        ((6, 0), 70),  # a gap in time, which is no fixation
        (6, 60),
        (8, 230),
        (8, 0),
    ],
    ("sb", 1, "latin-1"): [(3, 100), (1, 70)],
    ("sa", 2, "ascii"): [(1, 111), (3, 222)],
}
IN_TEXT_ORDER = {("sc", 1, "cp437"): {1: [(150, 1)], 3: [(130, 3)], 4: [(140, 2)]}}
"""Of each word fixated: ms and number of the fixation."""

TREEBANK = {1: [[1, 2], [3, 4, 5, 6, 7], [8]], 2: [[1], [2, 3]]}
"""Words of each sentence; sentences are numbered through, and word 9 of text 1 is lacking."""


def bare(word):
    return word.strip('",.()')


def event_line(cells):
    return f"{cells[0]:<22}" + "".join(f"{cell:>7}" for cell in cells[1:])


def events_in_time(reader, text, happened):
    yield event_line("WORD TEXT LINE OLEN WLEN XPOS WNUM FDUR OBLP WDLP LAUN TXFR".split())
    for what, ms in happened:
        if isinstance(what, str):
            yield event_line([what, 1, 0, 0, 0, 12, -99, ms, 0, 0, 0, 0])
            continue
        number, shown = what if isinstance(what, tuple) else (what, what)
        screen, line, word = TEXTS[text][number - 1]
        yield event_line([word, screen, line, len(word), len(bare(word)), 20, shown, ms, 2, 2, -4, 310])


def events_in_text(reader, text, fixated):
    yield event_line("WORD TEXT LINE OLEN WLEN XPOS WNUM FDUR OBLP WDLP FXNO TXFR".split())
    for number, (screen, line, word) in enumerate(TEXTS[text], start=1):
        sizes = [len(word), len(bare(word))]
        for ms, order in fixated.get(number, []):
            yield event_line([word, screen, line, *sizes, 20, number, ms, 2, 2, order, 310])
        if number not in fixated:
            yield event_line([word, -99, line, *sizes, -99, number, -99, -99, -99, -99, 310])


def words_in_text(text):
    places = {}
    for number, (screen, line, word) in enumerate(TEXTS[text], start=1):
        in_screen = places[screen] = places.get(screen, 0) + 1
        in_line = places[screen, line] = places.get((screen, line), 0) + 1
        cells = [
            text,
            screen,
            line,
            in_line,
            in_screen,
            7 * in_line,
            len(word),
            len(bare(word)),
            0,
            0,
            0,
            number,
            42,
        ]
        yield f"{word:<20}" + "".join(f"{cell:>6}" for cell in cells)


def treebank_rows():
    yield "Word\tPOS\tItemno\tWNUM\tSentenceID\tID"
    sentence = 0
    for text, sentences in TREEBANK.items():
        for numbers in sentences:
            sentence += 1
            for number in numbers:
                word = TEXTS[text][number - 1][2]
                yield f"{bare(word)}\tNN\t{text}\t{number}\t{sentence}\t{number}"
                if word != bare(word):  # punctuation is a token of its own, with the word's number
                    yield f'"\t``\t{text}\t{number}\t{sentence}\t{number}'


def write(name, lines, encoding, end="\r\n"):
    (FOLDER / name).write_bytes((end.join(lines) + end).encode(encoding))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for text in TEXTS:
        write(f"tx{text:02d}wrdp.dat", words_in_text(text), "cp437")
    for (reader, text, encoding), happened in EVENTS.items():
        write(f"{reader}{text:02d}ma1p.dat", events_in_time(reader, text, happened), encoding)
    for (reader, text, encoding), fixated in IN_TEXT_ORDER.items():
        lines = [*events_in_text(reader, text, fixated), "\x1a"]  # the end-of-file character of DOS
        write(f"{reader}{text:02d}ma2p.dat", lines, encoding)
    write("TheDundeeTreebank_v1-0.csv", treebank_rows(), "utf-8", "\n")
