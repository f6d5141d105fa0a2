"""Published tables of language models: which models, what they were reported to reach, and which was better than which.

A table is a TOML file in analyses/ of the kind "language-models". The models are trained again at any size by
:mod:`psymem.replications.language_model_runs`, and compared with what was published by
:mod:`psymem.replications.language_model_orderings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from psymem.replications.analyses import find_study, studies_of

KIND = "language-models"


@dataclass(frozen=True)
class TableRow:
    """One model of a table.

    Parameters
    ----------
    name, label
        Its name in results and folders; what the table calls it.
    family
        Family of gated networks, such as "fgp-lstm".
    layers
        L; 0 for the family's own.
    fixations
        Where durations come from, as for ``psymem train fgp-lstm --fixations``.
    multi_task
        Whether it learns to predict people's fixations beside words.
    rank
        Importance: rows of rank 1 are trained before those of rank 2, for all seeds.
    published
        Reported perplexity by size, such as {"16M": 70.5}; empty if not on record.
    """

    name: str
    label: str
    family: str
    layers: int = 0
    fixations: str = "adaptive"
    multi_task: bool = False
    rank: int = 1
    published: Mapping[str, float] = field(default_factory=dict)

    @property
    def needs_predictor(self) -> bool:
        """Whether a trained fixation predictor has to be given."""
        return self.fixations == "fixed"


@dataclass(frozen=True)
class Ordering:
    """Two rows of which the first had the lower perplexity in print.

    Parameters
    ----------
    better, worse
        Names of the rows.
    size
        The size at which it was so.
    published
        Their perplexities there.
    otherwise
        Sizes at which it was the other way round.
    """

    better: str
    worse: str
    size: str
    published: tuple[float, float]
    otherwise: tuple[str, ...] = ()


@dataclass(frozen=True)
class LanguageModelTable:
    """One file of analyses/.

    Parameters
    ----------
    name, title, citation, note
        Its name, which is that of the command; what it is, where it is from, what a reader should know.
    text
        What the published models were trained on.
    rows, orderings
        Its models, and pairs of them.
    """

    name: str
    title: str
    citation: str
    text: str
    note: str
    rows: tuple[TableRow, ...]
    orderings: tuple[Ordering, ...]


def table_names() -> list[str]:
    """Names of all tables of this kind, which are those of the commands."""
    return list(studies_of(KIND))


def load_table(name: str) -> LanguageModelTable:
    """Read one table.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    content = find_study(KIND, name)
    rows = tuple(TableRow(**row) for row in content["row"])
    published = {row.name: row.published for row in rows}
    pairs = [tuple(ordering["pair"]) for ordering in content["ordering"]]
    facts = {k: content[k] for k in ("title", "citation", "text", "note")}
    orderings = tuple(_ordering(pair, published, content["decisive"]) for pair in pairs)
    return LanguageModelTable(name, rows=rows, orderings=orderings, **facts)


def _ordering(pair: tuple[str, ...], published: Mapping[str, Mapping[str, float]], size: str) -> Ordering:
    """The row with the lower perplexity at the decisive size first."""
    better, worse = sorted(pair, key=lambda name: published[name][size])
    shared = [s for s in published[better] if s in published[worse]]
    otherwise = tuple(s for s in shared if published[better][s] > published[worse][s])
    return Ordering(better, worse, size, (published[better][size], published[worse][size]), otherwise)
