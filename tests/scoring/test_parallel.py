"""Several processes and a Dask cluster give the scores of one process."""

from __future__ import annotations

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import PsymemError
from psymem.scoring.parallel import Workers, compute_parts
from psymem.scoring.score import Run

TEXTS = ["The key to the cabinets was rusty .", "She said it soon opened .", "The dog chased the cat ."] * 3


@pytest.fixture
def run(small_checkpoint, small_pretrained) -> Run:
    """Nine sentences for three models, in pieces of about 20 words."""
    return Run(
        TEXTS,
        [str(small_checkpoint), str(small_pretrained("gpt2")), "toy"],
        ["surprisal", "attention-entropy"],
    )


def scores(run: Run, workers: Workers, **options) -> pd.DataFrame:
    """All pieces in one table."""
    return pd.concat(compute_parts(run, workers=workers, words_at_once=20, **options), ignore_index=True)


def test_two_processes_give_the_scores_of_one(run):
    done = []
    expected = scores(run, Workers())
    found = scores(run, Workers(jobs=2), progress=lambda *step: done.append(step))
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert len(expected) == 3 * sum(len(t.split()) for t in TEXTS)
    assert done[-1] == ("pieces", len(done), len(done))
    assert len(done) > 4


def test_chosen_pieces_only(run):
    parts = run.parts(20)
    found = list(compute_parts(run, [3, 1], words_at_once=20))
    pd.testing.assert_frame_equal(found[0], parts[3]())
    pd.testing.assert_frame_equal(found[1], parts[1]())


@pytest.mark.extra
def test_dask_cluster_gives_the_scores_of_one_process(run):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        found = scores(run, Workers(dask=cluster.scheduler_address))
    pd.testing.assert_frame_equal(found, scores(run, Workers()), check_exact=True)


@pytest.mark.extra
def test_no_scheduler_at_the_address(run, monkeypatch):
    distributed = pytest.importorskip("distributed")

    def refuse(*_, **__):
        raise OSError("nobody there")

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(PsymemError) as caught:
        scores(run, Workers(dask="tcp://127.0.0.1:1"))
    assert str(caught.value) == (
        "No Dask scheduler answers at 'tcp://127.0.0.1:1'. Start one with 'dask scheduler', workers with 'dask worker "
        "ADDRESS', and give the address that the scheduler prints, as in tcp://10.0.0.5:8786."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "--jobs is 0; it is a number of processes from 1 up, or -1 for all cores."),
        (
            {"jobs": 2, "dask": "tcp://a:1"},
            "Give --jobs (this machine) or --dask (a cluster), not both.",
        ),
    ],
)
def test_impossible_workers(options, message):
    with pytest.raises(PsymemError) as caught:
        Workers(**options)
    assert str(caught.value) == message


def test_command_writes_the_same_file_with_two_processes(tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    for jobs in ("1", "2"):
        out = tmp_path / f"scores{jobs}.csv"
        command = ["score", "--text", str(tmp_path / "text.txt"), "--model", "toy", "--words-at-once", "20"]
        result = CliRunner().invoke(build(), [*command, "--jobs", jobs, "--out", str(out), "--quiet"])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "scores1.csv").read_bytes() == (tmp_path / "scores2.csv").read_bytes()
