"""The "find A" task of Su (2019, section 3.3.1): up to which length one cell remembers a letter.

Networks of each kind are trained to say, after T letters, whether one of them was an A (`psymem.train.tasks.find_a`). A
network that always says yes is right about T of the T + 1 strings, so strings with an A and the one without count half
each: balanced accuracy, 0.5 for such a network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from psymem.errors import TrainingError
from psymem.progress import Progress
from psymem.studies.common.results_folder import drawn, write_results
from psymem.train.tasks.find_a import FindASettings, Networks, correct, strings_with_a_at, train
from psymem.train.tasks.tiny_networks import CELLS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FindAResult:
    """What networks of each kind learnt.

    Attributes
    ----------
    networks
        One row per network: ``cell, length, seed``; ``accuracy`` over all strings, ``accuracy_with_a``,
        ``accuracy_without_a`` and their mean ``balanced_accuracy``; ``loss_nats``; ``solved_at_step`` (NaN if it
        never was right about every string when looked at); and of the string with its A first ``response``, the
        length of what the A left in the memory after the last letter, ``retention``, the same as a share of what the
        A wrote (both linearised for an srn), and ``state_difference``, the distance of that memory from the one
        without an A.
    summary
        One row per cell and length: networks that were right about every string at the end, mean and range of
        balanced accuracy, medians of the rest.
    responses
        For the greatest length: retention of an A read first after each further letter.
    settings
        How they were trained.
    """

    networks: pd.DataFrame
    summary: pd.DataFrame
    responses: pd.DataFrame
    settings: FindASettings
    about: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def figure(self) -> Figure:
        """Accuracy and what is left of an A against length; its decay at the greatest length."""
        from psymem.plotting.find_a import find_a_figure

        return find_a_figure(self.networks, self.summary, self.responses)

    def save(self, folder: str | Path) -> list[Path]:
        """Write find_a.csv, find_a_summary.csv, find_a_responses.csv and the figure, all or none.

        Their names begin with find_a_balanced if half of the strings trained on had no A.
        """
        about = {"settings": asdict(self.settings), **self.about}
        stem = "find_a_balanced" if self.settings.balanced else "find_a"
        tables = {
            stem: self.networks,
            f"{stem}_summary": self.summary,
            f"{stem}_responses": self.responses,
        }
        return write_results(folder, tables, about, figures=drawn({stem: self.figure}))


def find_a(
    cells: Sequence[str] = tuple(CELLS),
    settings: FindASettings | None = None,
    *,
    progress: Progress | None = None,
) -> FindAResult:
    """Train networks of each kind and see what they remember.

    Parameters
    ----------
    cells
        Of "srn", "lstm", "gru", "elstm".
    settings
        Lengths, seeds and training.
    progress
        Called with a kind of cell, the step and the number of steps.

    Raises
    ------
    TrainingError
        For a cell that does not exist or no cell, or if training fails.
    """
    settings = settings or FindASettings()
    if not cells:
        raise TrainingError(f"No cell was given; expected one or more of {', '.join(CELLS)}.")
    for cell in cells:
        if cell not in CELLS:
            raise TrainingError(f"cell={cell!r} is not known; expected one of {', '.join(CELLS)}.")
    tables, responses = [], []
    for cell in dict.fromkeys(cells):
        report = None if progress is None else _named(progress, cell)
        networks, solved = train(cell, settings, report)
        left = first_letter_left(networks)
        tables.append(_table(networks, solved, left))
        responses.append(_responses(networks, left))
    frame = pd.concat(tables, ignore_index=True)
    return FindAResult(frame, summarise(frame), pd.concat(responses, ignore_index=True), settings)


def _named(progress: Progress, cell: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(cell, done, total)


def first_letter_left(networks: Networks) -> np.ndarray:
    """(T, R): length of what an A read first has left in the memory after each letter; linearised for an SRN."""
    longest = int(networks.lengths.max())
    first = np.zeros((len(networks.lengths), 1), dtype=np.int64)
    record = networks.read(strings_with_a_at(first, longest))
    recurrent = networks.parameters["recurrent"]
    slope = 1 - record.hidden**2
    if record.write is None:  # the drive alone, without the bias that is there at every letter
        of = networks.parameters
        left = slope[0] * (of["letters"][:, 1:] @ of["input"])
    else:
        left = record.write[0]
    lengths = [np.linalg.norm(left[:, 0], axis=-1)]
    for t in range(1, longest):
        left = slope[t] * (left @ recurrent) if record.retain is None else record.retain[t] * left
        lengths.append(np.linalg.norm(left[:, 0], axis=-1))
    return np.stack(lengths)


def state_difference(networks: Networks) -> np.ndarray:
    """(R,): distance after the last letter between the memories of an A read first and of no A."""
    longest = int(networks.lengths.max())
    places = np.tile([0, -1], (len(networks.lengths), 1))
    memory = networks.read(strings_with_a_at(places, longest)).memory
    final = memory[networks.lengths - 1, np.arange(len(networks.lengths))]
    return np.linalg.norm(final[:, 0] - final[:, 1], axis=-1)


def _table(networks: Networks, solved: np.ndarray, left: np.ndarray) -> pd.DataFrame:
    """One row per network."""
    shares, loss = correct(networks)
    lengths = networks.lengths
    at_end = left[lengths - 1, np.arange(len(lengths))]
    return pd.DataFrame(
        {
            "cell": networks.kind,
            "length": lengths,
            "seed": [seed for _, seed in networks.settings.runs],
            "accuracy": (shares[:, 0] * lengths + shares[:, 1]) / (lengths + 1),
            "accuracy_with_a": shares[:, 0],
            "accuracy_without_a": shares[:, 1],
            "balanced_accuracy": shares.mean(-1),
            "loss_nats": loss,
            "solved_at_step": solved,
            "response": at_end,
            "retention": np.divide(at_end, left[0], out=np.full(len(lengths), np.nan), where=left[0] > 0),
            "state_difference": state_difference(networks),
        }
    )


def _responses(networks: Networks, left: np.ndarray) -> pd.DataFrame:
    """Retention after each letter in the networks of the greatest length."""
    longest = networks.lengths.max()
    rows = []
    for run in np.flatnonzero(networks.lengths == longest):
        rows.append(
            pd.DataFrame(
                {
                    "cell": networks.kind,
                    "length": longest,
                    "seed": networks.settings.runs[run][1],
                    "letters_since": np.arange(longest),
                    "response": left[:, run],
                    "retention": left[:, run] / left[0, run] if left[0, run] > 0 else np.nan,
                }
            )
        )
    return pd.concat(rows, ignore_index=True)


def summarise(networks: pd.DataFrame) -> pd.DataFrame:
    """One row per cell and length, in the order of the table."""
    groups = networks.groupby(["cell", "length"], sort=False)
    accuracy = groups["balanced_accuracy"]
    solved = groups["accuracy"].agg(lambda a: int((a >= 1).sum()))
    return pd.DataFrame(
        {
            "n_networks": groups.size(),
            "n_right_about_all": solved,
            "balanced_accuracy_mean": accuracy.mean(),
            "balanced_accuracy_min": accuracy.min(),
            "balanced_accuracy_max": accuracy.max(),
            "loss_nats_median": groups["loss_nats"].median(),
            "response_median": groups["response"].median(),
            "retention_median": groups["retention"].median(),
            "state_difference_median": groups["state_difference"].median(),
        }
    ).reset_index()
