"""Words and numbers of reports."""

from __future__ import annotations

import re

import pandas as pd

from psymem.measures.columns import describe, split_column


def short_name(measure: str) -> str:
    """Name of a measure column in a table head; of a chosen head: "Relative attention, head 4:3"."""
    column, head = split_column(measure)
    known = describe(column)
    name = known.label[0].upper() + known.label[1:] if known else column
    return name + (f", head {head}" if head else "")


def measure_in_words(measure: str) -> str:
    """Describe a measure column in a sentence."""
    column, head = split_column(measure)
    known = describe(column)
    name = (known.in_words or known.label) if known else column
    return name + (f" of layer {head.replace(':', ', head ')}" if head else "")


def unit(measure: str) -> str:
    """Return the unit of a measure column with a blank before it, "" if it has none."""
    known = describe(measure)
    return f" {known.unit}" if known and known.unit else ""


def in_words(response: str) -> str:
    """Name of a column of reading times: "gaze duration", "go-past time", "self-paced reading time"."""
    return re.sub("(self|go|right|first)_(paced|past|bounded|run)", r"\1-\2", response).replace("_", " ")


def number(value: float, digits: int = 3) -> str:
    """Format a number with a real minus sign; "NA" if missing."""
    return "NA" if pd.isna(value) else f"{value:z.{digits}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Format a p-value as in APA style: "< .001", "= .721"; "NA" if missing."""
    if pd.isna(p):
        return "NA"
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1)


def stars(p: float) -> str:
    """Three, two or one star for p below .001, .01 and .05."""
    return "" if pd.isna(p) else "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def listing(names: list[str]) -> str:
    """Join with commas and "and"."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else "none"


def minus(text: str) -> str:
    """Write hyphens between blanks as minus signs."""
    return text.replace(" - ", " − ")
