"""Columns of .xlsx files as different programs write them."""

import zipfile

import pytest

from psymem.errors import DataError
from psymem.io import spreadsheet
from psymem.io.spreadsheet import read_columns

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(path, rows, *, strings="", target="worksheets/sheet1.xml"):
    """Write a workbook with the sheet Data from the XML of its rows."""
    parts = {
        "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{OFFICE}"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        f'relationships"><Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="{target}"/></Relationships>',
        "xl/worksheets/sheet1.xml": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>",
    }
    if strings:
        parts["xl/sharedStrings.xml"] = f"<sst {MAIN}>{strings}</sst>"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


HEADER = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>word</t></is></c><c r="B1" t="str"><v>skipped</v></c>'
    '<c r="AB1" t="inlineStr"><is><t>ms</t></is></c></row>'
)


def read(path, columns=("word", "ms")):
    frame = read_columns(path, columns, [], sheet="Data")
    return {row: tuple(frame.loc[row]) for row in frame.index}


def test_every_kind_of_cell_is_text(tmp_path):
    rows = (
        HEADER
        + '<row r="2"><c r="A2" t="inlineStr"><is><t>null</t></is></c><c r="AB2"><v>210.0</v></c></row>'
        + '<row r="3"><c t="s" s="4" r="A3"><v>0</v></c><c r="AB3" s="2"><f>A1*2</f><v>0.5</v></c></row>'
        + '<row r="4"><c r="A4" t="s"><v>1</v></c><c r="AB4" t="e"><v>#N/A</v></c></row>'
        + '<row r="6"><c r="A6" t="b"><v>1</v></c><c r="B6"><v>7</v></c><c r="AB6" s="1"/></row>'
        + '<row r="7"><c r="A7" t="inlineStr"><is><r><t>half </t></r><r><t>&amp; half</t></r></is></c></row>'
    )
    strings = "<si><t>NA</t></si><si><r><t>ca</t></r><r><t>f&#233;</t></r><rPh><t>kana</t></rPh></si>"
    path = workbook(tmp_path / "x.xlsx", rows, strings=strings)
    assert read(path) == {
        2: ("null", "210"),
        3: ("NA", "0.5"),
        4: ("caf\u00e9", "#N/A"),
        6: ("TRUE", ""),
        7: ("half & half", ""),
    }


def test_rows_that_fall_on_the_edge_of_a_block_are_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(spreadsheet, "CHUNK", 97)
    rows = HEADER + "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>w{n}</t></is></c><c r="AB{n}"><v>{n}</v></c></row>'
        for n in range(2, 200)
    )
    assert read(workbook(tmp_path / "x.xlsx", rows)) == {n: (f"w{n}", str(n)) for n in range(2, 200)}


def test_the_only_sheet_may_have_any_name_and_its_path_may_be_absolute(tmp_path):
    rows = HEADER + '<row r="2"><c r="AB2"><v>5</v></c></row>'
    path = workbook(tmp_path / "x.xlsx", rows, target="/xl/worksheets/sheet1.xml")
    assert read_columns(path, ["ms"], [], sheet="DATA")["ms"].tolist() == ["5"]


def test_a_header_without_rows_is_refused(tmp_path):
    path = workbook(tmp_path / "x.xlsx", HEADER)
    with pytest.raises(DataError) as error:
        read(path)
    assert str(error.value) == f"{path}: the sheet 'Data' has a header but no rows."


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError) as error:
        read(tmp_path / "none.xlsx")
    assert str(error.value) == f"There is no file {tmp_path / 'none.xlsx'}."
