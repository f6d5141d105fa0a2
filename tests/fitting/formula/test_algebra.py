"""Terms of formulas, as R's terms() lists them."""

from __future__ import annotations

import pytest

from psymem.fitting.formula.algebra import terms_of
from psymem.fitting.formula.expression import parse

BY_R = {
    "a": "1 a",
    "0 + a": "a",
    "a - 1": "a",
    "a + 0 + 1": "1 a",
    "a - 0": "1 a",
    "a*b": "1 a b a:b",
    "a*b*c": "1 a b c a:b a:c b:c a:b:c",
    "a*b - a:b": "1 a b",
    "a:b + a": "1 a a:b",
    "a/b": "1 a a:b",
    "a/b/c": "1 a a:b a:b:c",
    "(a + b)/c": "1 a b a:b:c",
    "(a + b + c)^2": "1 a b c a:b a:c b:c",
    "(a + b + c*d)^2": "1 a b c d a:b a:c a:d b:c b:d c:d a:c:d b:c:d",
    "(a + b*c)^3": "1 a b c a:b a:c b:c a:b:c",
    "1": "1",
    "0": "",
}
"""Right side -> R's intercept and term labels."""


@pytest.mark.parametrize("formula", BY_R)
def test_terms_are_those_of_r(formula):
    found = [":".join(sorted(term)) or "1" for term in terms_of(parse(formula))]
    assert " ".join(found) == BY_R[formula]


def test_r_agrees(rscript):
    import subprocess

    code = "; ".join(
        f'x <- terms(y ~ {f}); cat(if (attr(x, "intercept")) "1", attr(x, "term.labels"), "\\n")'
        for f in BY_R
    )
    said = subprocess.run([rscript, "-e", code], capture_output=True, text=True, check=True).stdout
    assert [line.strip() for line in said.splitlines()] == list(BY_R.values())
