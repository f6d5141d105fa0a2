"""What ``psymem attraction`` refuses, in which words, and that nothing is left behind."""

from __future__ import annotations

import os
import sys

import pytest

from psymem import cli
from psymem.registry import MEASURES


def test_unknown_measure(stimuli, tmp_path, message):
    assert message("-m", "toy", "--stimuli", stimuli, "--measure", "suprisal", "--out", tmp_path / "o") == (
        "There is no measure called 'suprisal'. Did you mean 'surprisal' or 'surprisal-uncorrected'? "
        f"Known: {', '.join(sorted(MEASURES.names()))}."
    )
    assert list(tmp_path.iterdir()) == []


def test_unknown_item_set(tmp_path, message):
    text = message("-m", "toy", "--stimuli", "atraction-core", "--out", tmp_path / "o")
    assert text.startswith("There is no item set called 'atraction-core'. Did you mean 'attraction-core' or ")
    assert list(tmp_path.iterdir()) == []


def test_unknown_engine(stimuli, tmp_path, message):
    text = message("-m", "toy", "--stimuli", stimuli, "--engine", "lme5", "--out", tmp_path / "o")
    assert text.startswith("There is no fitting engine called 'lme5'. Did you mean 'lme4'?")
    assert list(tmp_path.iterdir()) == []


def test_measure_that_the_items_lack_roles_for(tmp_path, items, message):
    path = tmp_path / "roles.csv"
    items.drop(columns=["design", "attractor"]).to_csv(path, index=False)
    text = message("-m", "toy", "--stimuli", path, "--measure", "relative-attention", "--out", tmp_path / "o")
    assert text == (
        "relative-attention needs words marked as target and attractor, but no word has the role attractor "
        "(roles found: critical, spillover, target)."
    )


def test_levels_of_another_form(stimuli, tmp_path, message):
    text = message("-m", "toy", "--stimuli", stimuli, "--levels", "attraction", "--out", tmp_path / "o")
    assert text == "--levels was given 'attraction'; it has to look like 'attraction=none,double'."


def test_weights_that_are_no_numbers(stimuli, tmp_path, message):
    text = message(
        "-m", "toy", "--stimuli", stimuli, "--contrasts", "attraction=late:a,b", "--out", tmp_path / "o"
    )
    assert text == (
        "--contrasts was given the weights 'a,b' for attraction; they have to be numbers separated by commas, one for "
        "each level, as in 'attraction=late:-0.5,0.5'."
    )


def test_significance_in_percent(stimuli, tmp_path, message):
    text = message("-m", "toy", "--stimuli", stimuli, "--significance", "5", "--out", tmp_path / "o")
    assert text == "The significance level is 5; it has to lie between 0 and 1, as in 0.05."


def test_alpha_taken_for_the_level_of_significance(stimuli, tmp_path, message):
    text = message("-m", "toy", "--stimuli", stimuli, "--alpha", "0.05", "--out", tmp_path / "o")
    assert text == (
        "No model was trained with the supertag weight 0.05 (none says a weight in its card). The level of "
        "significance is set by --significance."
    )


def test_a_file_in_place_of_the_folder(stimuli, tmp_path, message):
    (tmp_path / "o").write_text("mine", encoding="utf-8")
    assert message("-m", "toy", "--stimuli", stimuli, "--out", tmp_path / "o") == (
        f"Cannot write results into {tmp_path / 'o'}: it is not a folder. Choose another folder with --out."
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_folder(stimuli, tmp_path, message):
    tmp_path.chmod(0o500)
    assert message("-m", "toy", "--stimuli", stimuli, "--out", tmp_path / "o") == (
        f"Cannot write results into {tmp_path / 'o'} ({tmp_path}): no permission to write there. "
        "Choose another folder with --out."
    )


def test_interruption_while_reading_leaves_nothing(stimuli, tmp_path, monkeypatch, capsys):
    from psymem.backends.toy import ToyBackend

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ToyBackend, "read_many", interrupted)
    arguments = ["psymem", "attraction", "-m", "toy", "--stimuli", str(stimuli), "--out", str(tmp_path / "o")]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    printed = capsys.readouterr().err.strip()
    assert printed == "psymem: Interrupted; finished files were kept, nothing is half-written."
    assert list(tmp_path.iterdir()) == []


def test_trials_are_refused_before_anything_is_read(stimuli, tmp_path, message):
    trials = tmp_path / "trials.csv"
    trials.write_text("subject,item,condition,rt_ms\ns1,1,Z,400\n", encoding="utf-8")
    assert message("-m", "toy", "--stimuli", stimuli, "--human", trials, "--out", tmp_path / "out") == (
        "trials.csv, row 2, column 'condition': item '1' has no condition 'Z'. The item set has A, B, C, D, E, F, G, H."
    )
    assert message("-m", "toy", "--stimuli", stimuli, "--human-engine", "lme4") == (
        "--human-response and --human-engine say how trials are fitted; give them with --human."
    )
