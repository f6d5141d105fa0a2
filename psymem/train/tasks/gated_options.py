"""From the options of ``psymem train lstm`` and its kin to a training run: presets filled in, corpora read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psymem.data.corpora.corpus import Corpus
from psymem.errors import TrainingError
from psymem.registry import CORPORA
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings
from psymem.train.tasks.gated_objective import GATED_FAMILIES, PRESETS, GatedObjective, parse_count
from psymem.train.tasks.gated_run import Length, train_gated
from psymem.train.text.vocabulary import VocabularyRule

FGL_LAYERS = 3


def run_from_options(family: str, options: Mapping[str, Any]) -> Path:
    """Train a gated network as the options of the command say.

    Parameters
    ----------
    family
        One of :data:`~psymem.train.tasks.gated_objective.FAMILIES`.
    options
        Options by name with underscores; None where the preset decides.

    Returns
    -------
    pathlib.Path
        Folder of the trained model.

    Raises
    ------
    TrainingError
        If options do not go together.
    """
    o = with_preset(family, options)
    data = DataSettings(
        text=tuple(o["text"]),
        again=tuple(o["again"]),
        held_out=tuple(o["held_out"]),
        longest=o["longest"],
        vocabulary=VocabularyRule(
            o["vocabulary_size"], o["minimum_count"], tuple(o["also_vocabulary"]), o["also_minimum_count"]
        ),
    )
    loop = LoopSettings(
        learning_rate=o["learning_rate"],
        beta2=o["beta2"],
        clip=o["clip"],
        schedule=o["schedule"],
        warmup_steps=o["warmup_steps"],
        stop_after=o["stop_after"],
        checkpoint_every=o["checkpoint_every"],
        seed=o["seed"],
    )
    return train_gated(
        data,
        objective_from(family, o),
        loop,
        o["out"],
        length=Length(o["max_tokens"], 0 if o["max_tokens"] else o["epochs"], o["validate_every"]),
        cache=o["corpus_cache"],
        vocabulary_from=o["vocabulary_from"],
        fixation_corpus=_read_corpus(o["fixation_corpus"], o["fixation_data"]),
        threads=o["threads"],
        quiet=o["quiet"],
    )


ONLY_FGP: dict[str, str | None] = {"components": None}
ONLY_GUIDED: dict[str, str | None] = {
    "fixations": "adaptive", "predictor": None, "duration_normalisation": "running", "gate": "paper",
    "fixation_corpus": "",
}  # fmt: skip
"""Options that mean nothing to other families, as they are where they are not given."""


def refuse_idle(family: str, options: Mapping[str, Any]) -> None:
    """Refuse options that would have no effect, where they were given for this family alone.

    Raises
    ------
    TrainingError
        If there is one; its giver expects an effect.
    """
    idle = {} if family.startswith("fgp") else ONLY_FGP
    idle = idle | ({} if family in GATED_FAMILIES else ONLY_GUIDED)
    for name, default in idle.items():
        if options.get(name, default) != default:
            whose = (
                "fgp-rnn and fgp-lstm"
                if name in ONLY_FGP
                else f"{', '.join(GATED_FAMILIES[:-1])} and {GATED_FAMILIES[-1]}"
            )
            raise TrainingError(
                f"--{name.replace('_', '-')} {options[name]} was given, but {family} has no use for it; only {whose} have. "
                "Leave it out."
            )
    if options["max_tokens"] and options.get("epochs") is not None:
        raise TrainingError(
            f"Give either --max-tokens or --epochs; given were {options['max_tokens']} and {options['epochs']}."
        )


def with_preset(family: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in what the preset decides; raises TrainingError if there is no such preset."""
    if options["preset"] not in PRESETS:
        raise TrainingError(f"--preset {options['preset']!r} is not known; expected {' or '.join(PRESETS)}.")
    layers = FGL_LAYERS if family.startswith("fgl") else 1
    default = {**PRESETS[options["preset"]], "layers": layers}
    return default | {k: v for k, v in options.items() if v is not None or k not in default}


def objective_from(family: str, o: Mapping[str, Any]) -> GatedObjective:
    """The network and its objective; see :func:`run_from_options`."""
    same = (
        "embedding_width", "width", "components", "layers", "fixations", "duration_normalisation", "gate", "predictor",
        "batching", "rows", "piece_length", "batch_tokens", "sampled_words", "embedding_dropout", "layer_dropout",
        "embedding_range", "embeddings", "precision", "count",
    )  # fmt: skip
    chosen = {k: o[k] for k in same}
    if family not in GATED_FAMILIES:
        chosen["fixations"] = "adaptive"
    return GatedObjective(
        family,
        parameters=parse_count(o["parameters"]),
        fixation_weight=o["fixation_weight"] if o["fixation_corpus"] else 0.0,
        **chosen,
    )


def _read_corpus(name: str, folder: Path | None) -> Corpus | None:
    """Read the corpus of the multi-task loss; None if none is named."""
    if not name:
        return None
    if folder is None:
        raise TrainingError(
            f"--fixation-corpus {name} needs --fixation-data, the folder with the corpus's files."
        )
    return CORPORA.load(name)(folder)
