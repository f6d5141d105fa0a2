"""Write the synthetic sample of GECO: both workbooks, cell by cell, as Excel saves them.

Every trap of the published files is in it; words and times are invented. Run it from the repository's root:
``python tests/data/samples/make_geco.py``.
"""

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path("corpora/geco/sample")
HEADER = """PP_NR GROUP LANGUAGE_RANK LANGUAGE PART TRIAL TRIAL_FIXATION_COUNT TRIAL_TOTAL_READING_TIME
WORD_ID_WITHIN_TRIAL WORD_ID WORD WORD_AVERAGE_FIX_PUPIL_SIZE WORD_FIXATION_COUNT WORD_FIXATION_% WORD_RUN_COUNT
WORD_FIRST_RUN_START_TIME WORD_FIRST_RUN_END_TIME WORD_FIRST_RUN_FIXATION_COUNT WORD_FIRST_RUN_FIXATION_%
WORD_GAZE_DURATION WORD_SECOND_RUN_START_TIME WORD_SECOND_RUN_END_TIME WORD_SECOND_RUN_FIXATION_COUNT
WORD_SECOND_RUN_FIXATION_% WORD_THIRD_RUN_START_TIME WORD_THIRD_RUN_END_TIME WORD_THIRD_RUN_FIXATION_COUNT
WORD_THIRD_RUN_FIXATION_% WORD_FIRST_FIXATION_DURATION WORD_FIRST_FIXATION_INDEX WORD_FIRST_FIXATION_RUN_INDEX
WORD_FIRST_FIXATION_TIME WORD_FIRST_FIXATION_VISITED_WORD_COUNT WORD_FIRST_FIXATION_X WORD_FIRST_FIXATION_Y
WORD_FIRST_FIX_PROGRESSIVE WORD_SECOND_FIXATION_DURATION WORD_SECOND_FIXATION_RUN WORD_SECOND_FIXATION_TIME
WORD_SECOND_FIXATION_X WORD_SECOND_FIXATION_Y WORD_THIRD_FIXATION_DURATION WORD_THIRD_FIXATION_RUN
WORD_THIRD_FIXATION_TIME WORD_THIRD_FIXATION_X WORD_THIRD_FIXATION_Y WORD_LAST_FIXATION_DURATION
WORD_LAST_FIXATION_RUN WORD_LAST_FIXATION_TIME WORD_LAST_FIXATION_X WORD_LAST_FIXATION_Y WORD_GO_PAST_TIME
WORD_SELECTIVE_GO_PAST_TIME WORD_TOTAL_READING_TIME WORD_TOTAL_READING_TIME_% WORD_SPILLOVER WORD_SKIP""".split()

# WORD_ID, word shown, sentence in the material as published (None: the material lacks the word), top, left
WORDS = [
    ("1-41-84", "He", "1-283", 93, 66),
    ("1-41-85", "felt", "1-283", 93, 100),
    ("1-41-86", "much", "1-283", 93, 150),
    (
        "1-41-87",
        "better.",
        "1-284",
        142,
        66,
    ),  # the last word of 1-283; from here on every number is a word early
    ("1-41-88", "It", "1-284", 142, 140),
    ("1-41-89", "was", None, None, None),
    ("1-41-90", "late.", "1-285", 208, 66),  # at the margin, so "was" ended the line before
    ("1-41-91", "She", "1-285", 208, 120),
    ("1-42-1", "said", "1-285", 93, 66),
    ("1-42-2", "null.", "1-286", 93, 110),
    ("1-42-3", "We", "1-286", 93, 160),
    ("1-42-4", "left.", "1-286", 93, 190),
    ("2-5-13", "A", "2-2", 93, 780),
    ("2-5-14", "wastepaper", "2-2", 93, 809),  # broken at the line's end: both halves have the whole word
    ("2-5-15", "wastepaper", "2-2", 142, 66),
    ("2-5-16", "basket.", "2-2", 142, 150),
    ("2-5-17", "NA", "#N/A", 142, 220),
    ("2-5-18", "burns", "2-3", 142, 250),
    ("2-57-42", "Off", "2-524", 208, 719),
    (
        "2-57-43",
        "wind-blown",
        None,
        None,
        None,
    ),  # broken at the line's end, and the material has neither half
    ("2-57-44", "wind-blown", None, None, None),
    ("2-57-45", "sails.", "2-524", 274, 189),
    ("2-57-46", "Had", "2-525", 274, 260),
    ("2-57-47", "had", None, None, None),  # said twice, on one line
    ("2-57-48", "had", None, None, None),
    ("2-57-49", "gone.", "2-525", 274, 400),
    ("3-132-18", "gravely.", "3-1269", 208, 330),
    ("3-132-19", "Unknown 19", None, None, None),  # a dash, which nobody named
    ("3-132-20", "To", "3-1270", 208, 440),
    ("4-65-101", "Say:", "4-471", 93, 66),
    ("4-65-102", "#NAME?", None, None, None),
    ("4-65-103", "indeed!", "4-471", 93, 200),
    ("4-96-85", "A", "4-672", 93, 66),
    ("4-96-86", False, "4-672", 93, 90),
    ("4-96-87", "step", "4-672", 93, 140),
    ("4-97-1", True, None, None, None),
]
UNTIMED = [("4-97-2", "hello", "4-673", 93, 110), ("4-97-3", "there", "4-673", 93, 160)]
"""In the material, but without a row of any reader."""

# fixations, first run: fixations and time, first fixation, go-past, selective go-past, total, skip
FIXATED = {
    ("pp21", "1-41-84"): (2, 2, 410, 190, 410, 410, 410, 0),
    ("pp21", "1-41-85"): (1, 1, 215, 215, 215, 215, 215, 0),
    ("pp21", "1-41-86"): (1, 1, 180, 180, ".", ".", 180, 1),  # skipped at first, looked at later
    ("pp21", "1-41-87"): (3, 1, 240, 240, 650, 420, 500, 0),
    ("pp21", "2-5-14"): (1, 1, 300, 300, 300, 300, 300, 0),
    ("pp21", "2-5-15"): (1, 1, 310, 310, 310, 310, 310, 0),
    ("pp21", "2-57-43"): (1, 1, 280, 280, 280, 280, 280, 0),
    ("pp21", "2-57-44"): (1, 1, 290, 290, 290, 290, 290, 0),
    ("pp21", "2-57-45"): (0, 0, 0, 0, 0, 0, 0, 1),  # unread, with zeros instead of points
    ("pp21", "3-132-19"): (1, 1, 120, 120, 120, 120, 120, 0),
    ("pp21", "4-65-102"): (1, 1, 205, 205, 205, 205, 205, 0),
    ("pp21", "4-96-86"): (1, 1, 260, 260, 260, 260, 260, 0),
    ("pp22", "1-41-84"): (1, 1, 333, 333, 333, 333, 333, 0),
    ("pp22", "4-97-1"): (2, 1, 150, 150, 150, 150, 275, 0),
}


def letters(number):
    name = ""
    while number >= 0:
        name, number = chr(65 + number % 26) + name, number // 26 - 1
    return name


class Book:
    """A workbook whose strings are shared, as Excel writes them."""

    def __init__(self):
        self.strings, self.sheets = {}, {}

    def cell(self, place, value):
        if value is None:
            return ""
        if isinstance(value, bool):
            return f'<c r="{place}" s="1" t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            return f'<c r="{place}"><v>{value}</v></c>'
        if value.startswith("#NAME?"):
            return f'<c r="{place}" t="e"><f>-x</f><v>{value}</v></c>'
        index = self.strings.setdefault(value, len(self.strings))
        return f'<c r="{place}" s="1" t="s"><v>{index}</v></c>'

    def sheet(self, name, rows):
        lines = []
        for number, row in enumerate(rows, start=1):
            cells = "".join(self.cell(f"{letters(i)}{number}", value) for i, value in enumerate(row))
            lines.append(f'<row r="{number}" spans="1:{len(row)}">{cells}</row>')
        self.sheets[name] = "".join(lines)

    def save(self, path):
        head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        package = "http://schemas.openxmlformats.org/package/2006"
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        sheets = [(f"rId{i}", f"worksheets/sheet{i}.xml", n) for i, n in enumerate(self.sheets, start=1)]
        overrides = [("workbook.xml", "sheet.main"), ("sharedStrings.xml", "sharedStrings")]
        overrides += [(target, "worksheet") for _, target, _ in sheets]
        relations = [(i, "worksheet", target) for i, target, _ in sheets]
        relations.append(("rId99", "sharedStrings", "sharedStrings.xml"))
        parts = {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            + "".join(f'<Override PartName="/xl/{p}" ContentType="{kind}.{k}+xml"/>' for p, k in overrides)
            + "</Types>",
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            + "".join(f'<sheet name="{n}" sheetId="{i[3:]}" r:id="{i}"/>' for i, _, n in sheets)
            + "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
            + "".join(f'<Relationship Id="{i}" Type="{office}/{k}" Target="{t}"/>' for i, k, t in relations)
            + "</Relationships>",
            "xl/sharedStrings.xml": f'<sst xmlns="{main}">'
            + "".join(f"<si><t>{escape(s)}</t></si>" for s in self.strings)
            + "</sst>",
        }
        for _, target, name in sheets:
            parts[f"xl/{target}"] = (
                f'<worksheet xmlns="{main}"><sheetData>{self.sheets[name]}</sheetData></worksheet>'
            )
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, text in parts.items():
                file.writestr(zipfile.ZipInfo(name, (2017, 1, 1, 0, 0, 0)), head + text, zipfile.ZIP_DEFLATED)


def data_rows():
    yield HEADER
    for reader in ("pp21", "pp22"):
        for word_id, word, *_ in WORDS:
            if reader == "pp22" and word_id.startswith("2-5-"):
                continue  # this reader's page was lost
            part, trial, number = map(int, word_id.split("-"))
            row = dict.fromkeys(HEADER, ".")
            row |= {"PP_NR": reader, "GROUP": "monolingual", "LANGUAGE_RANK": "L1", "LANGUAGE": "English"}
            row |= {
                "PART": part,
                "TRIAL": trial,
                "WORD_ID_WITHIN_TRIAL": number,
                "WORD_ID": word_id,
                "WORD": word,
            }
            row |= {"WORD_FIXATION_COUNT": 0, "WORD_RUN_COUNT": 0, "WORD_SKIP": 1, "WORD_FIXATION_%": 0}
            if (reader, word_id) in FIXATED:
                fixations, in_run, run, first, past, selective, total, skip = FIXATED[reader, word_id]
                row |= {"WORD_FIXATION_COUNT": fixations, "WORD_FIRST_RUN_FIXATION_COUNT": in_run}
                row |= {"WORD_GAZE_DURATION": run, "WORD_FIRST_FIXATION_DURATION": first}
                row |= {"WORD_GO_PAST_TIME": past, "WORD_SELECTIVE_GO_PAST_TIME": selective}
                row |= {"WORD_TOTAL_READING_TIME": total, "WORD_SKIP": skip, "WORD_FIXATION_%": 0.0833}
            yield list(row.values())


def material_rows():
    yield (
        "WORD_ID SENTENCE_ID CHRON_ID WORD PART_OF_SPEECH CONTENT_WORD WORD_LENGTH IA_AREA IA_TOP IA_BOTTOM "
        "IA_LEFT IA_RIGHT"
    ).split()
    for number, (word_id, word, sentence, top, left) in enumerate(WORDS + UNTIMED, start=1):
        if sentence is None:
            continue
        bare = str(word).strip(".:!")
        speech = "NA" if word is False else "Noun"
        yield [word_id, sentence, number, bare, speech, True, len(bare), 3000, top, top + 49, left, left + 49]


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    reading = Book()
    reading.sheet("DATA", data_rows())
    reading.save(FOLDER / "MonolingualReadingData.xlsx")
    material = Book()
    material.sheet("SENTENCE", [["SENTENCE_ID", "SENTENCE"], ["1-283", "He felt much better."]])
    material.sheet("ALL", material_rows())
    material.save(FOLDER / "EnglishMaterial.xlsx")
