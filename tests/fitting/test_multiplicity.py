from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psymem.errors import DataError, UnknownNameError
from psymem.fitting.multiplicity import adjust

P = [0.01, 0.04, np.nan, 0.03, 0.005, 0.5, 0.04]
# R 4.2.2: p.adjust(p, method)
R_ADJUSTED = {
    "holm": [0.05, 0.12, np.nan, 0.12, 0.03, 0.50, 0.12],
    "bonferroni": [0.06, 0.24, np.nan, 0.18, 0.03, 1.00, 0.24],
}


@pytest.mark.parametrize("method", R_ADJUSTED)
def test_equals_r_p_adjust(method):
    np.testing.assert_allclose(adjust(P, method), R_ADJUSTED[method], rtol=1e-14)


def test_nothing_to_adjust():
    assert adjust([]).shape == (0,)
    assert np.isnan(adjust([np.nan])).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_raw_and_bonferroni_and_keeps_the_order(p):
    raw, holm, bonferroni = np.array(p), adjust(p), adjust(p, "bonferroni")
    assert (holm >= raw).all()
    assert (holm <= bonferroni).all()
    assert (np.diff(holm[np.argsort(raw, kind="stable")]) >= 0).all()


def test_a_value_that_is_no_probability():
    with pytest.raises(DataError) as error:
        adjust([0.2, 1.5])
    assert str(error.value) == "p-values lie between 0 and 1; number 2 is 1.5."


def test_an_unknown_method():
    with pytest.raises(UnknownNameError) as error:
        adjust([0.2], "holms")
    assert str(error.value) == (
        "There is no correction for multiple tests called 'holms'. Did you mean 'holm'? Known: bonferroni, holm, none."
    )
