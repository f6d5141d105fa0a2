"""What the models of a table were trained on, and how: part of its report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psymem.checkpoints import describe
from psymem.replications.language_model_runs import DEFAULTS, RunSettings
from psymem.replications.language_models import LanguageModelTable
from psymem.train.tasks.gated_objective import PRESETS


def recipe(settings: RunSettings, table: LanguageModelTable) -> str:
    """Return a Markdown list: text, vocabulary, networks, training, and where fixations are from."""
    chosen = {**PRESETS[settings.preset], **_given(settings)}
    lines = [_text(settings), _vocabulary(chosen), _networks(chosen), _reading(chosen), _training(chosen)]
    if settings.predictor is not None and any(row.needs_predictor for row in table.rows):
        lines.append(_predictor(settings.predictor))
    if settings.fixation_corpus and any(row.multi_task for row in table.rows):
        lines.append(
            f"Multi-task: fixations of the corpus {Path(str(settings.fixation_data)).name} "
            f"(format {settings.fixation_corpus}), their loss weighted 0.3."
        )
    return "\n".join(f"- {line}" for line in lines)


def _given(settings: RunSettings) -> dict[str, Any]:
    """Options that the preset does not decide."""
    return {k: v for k, v in {**DEFAULTS, **settings.options}.items() if v is not None}


def _text(settings: RunSettings) -> str:
    return (
        f"Text: {_names(settings.text)} for training; {_names(settings.held_out)} held out, to choose the best weights; "
        f"{_names(settings.test)} for the test."
    )


def _vocabulary(chosen: dict[str, Any]) -> str:
    return (
        f"Vocabulary: the {chosen['vocabulary_size']:,} most frequent words at most, that occur "
        f"{chosen['minimum_count']} time(s) or more; others are one unknown word, which is predicted too."
    )


def _networks(chosen: dict[str, Any]) -> str:
    vectors = chosen.get("embeddings")
    return (
        f"Networks: embeddings {chosen['embedding_width']} wide, "
        f"{f'first values from {Path(vectors).name}' if vectors else 'random first values'}; {chosen['components']} "
        f"components (FGP); dropout {chosen['embedding_dropout']:g} of embeddings, {chosen['layer_dropout']:g} of layers."
    )


def _reading(chosen: dict[str, Any]) -> str:
    softmax = "the exact softmax"
    if chosen["sampled_words"]:
        softmax = f"{chosen['sampled_words']:,} competitors per batch (perplexities are by the exact softmax)"
    how = "each sentence by itself"
    if chosen["batching"] == "stream":
        how = f"one stream in {chosen['rows']} rows, gradients going back {chosen['piece_length']} words on average"
    return f"Reading: {how}; {softmax}."


def _training(chosen: dict[str, Any]) -> str:
    length = f"{chosen['max_tokens']:,} words" if chosen["max_tokens"] else f"{chosen['epochs']} passes"
    schedule = "halved whenever a pass brings no gain"
    if chosen["schedule"] == "linear":
        schedule = f"rising over {chosen['warmup_steps']} steps, then falling to 0"
    return f"Training: {length}; Adam with a rate of {chosen['learning_rate']:g}, {schedule}."


def _predictor(folder: Path) -> str:
    """The fixed predictor with its errors, which its card has."""
    card = describe(folder).card
    return (
        f"Fixed predictor: {card['title']}, trained on {card['trained_on']}; on its test sentences its error is "
        f"{card['test_l1']:.2f} (absolute) and {card['test_mse']:.2f} (squared) of 12 levels; the mean level alone has "
        f"{card['test_l1_of_mean_level']:.2f} and {card['test_mse_of_mean_level']:.2f}."
    )


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(f"`{Path(p).name}`" for p in paths)
