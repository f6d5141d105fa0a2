"""``psymem perplexity``: how well a model of ours predicts a text."""

from __future__ import annotations

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("perplexity")(perplexity)


def perplexity(
    model: list[str] = typer.Option(..., help="Bundled model or model folder; may be repeated."),
    text: list[Path] = typer.Option(
        ..., help="Text file (.txt, .txt.gz, .conllu) or folder; may be repeated."
    ),
    protocol: str = typer.Option(
        "normal", help="normal, or timkey2023 (no sentence start or end, first word unscored)."
    ),
    longest: int = typer.Option(64, help="Tokens per sentence at most, sentence start included."),
    out: Path | None = typer.Option(None, help="CSV file to write as well."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Perplexity of text under a model of ours, exact, each sentence alone."""
    import json

    import pandas as pd

    from psymem import checkpoints
    from psymem.io.outputs import write_table
    from psymem.train.loop.evaluation import perplexity_of_files

    rows = []
    for name in [n for m in model for n in checkpoints.expand(m)]:
        found = perplexity_of_files(checkpoints.find(name), text, protocol, longest)
        rows.append(
            {
                "model": name,
                "protocol": protocol,
                "perplexity": found.perplexity,
                "perplexity_without_unknown": found.perplexity_known,
                "unknown_share": found.unknown_share,
                "n_predictions": found.n,
            }
        )
    frame = pd.DataFrame(rows)
    if out is not None:
        write_table(frame, out, {"text": [str(t) for t in text], "protocol": protocol, "longest": longest})
    typer.echo(json.dumps(rows, indent=2) if as_json else frame.round(4).to_string(index=False))
