"""What commands that read with a model have in common: case, punctuation, notes about the text."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.scoring.reading import Reading

SUITE = {
    "meta": {"name": "agreement", "metric": "sum"},
    "region_meta": {"1": "start", "2": "verb"},
    "predictions": [{"type": "formula", "formula": "(2;%bad%) > (2;%good%)"}],
    "items": [
        {
            "item_number": 1,
            "conditions": [
                {
                    "condition_name": name,
                    "regions": [
                        {"region_number": 1, "content": "The keys"},
                        {"region_number": 2, "content": verb},
                    ],
                }
                for name, verb in (("good", "were ."), ("bad", "was ."))
            ],
        }
    ],
}
CONLLU = "1\tThe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tkeys\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n3\twere\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
ITEMS = """item,condition,sentence,target,attractor,critical,number
1,a,The key to the cabinet was old,key,cabinet,was,singular
1,b,The key to the cabinets was old,key,cabinets,was,plural
2,a,The dog of the cat was old,dog,cat,was,singular
2,b,The dog of the cats was old,dog,cats,was,plural
3,a,The art of the museum was old,art,museum,was,singular
3,b,The art of the dogs was old,art,dogs,was,plural
"""


@pytest.fixture
def commands(tmp_path):
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    pair = {"sentence_good": "The keys were .", "sentence_bad": "The keys was .", "UID": "agreement"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    (tmp_path / "parsed.conllu").write_text(CONLLU)
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "text.txt").write_text("The keys were .\n")
    out = ["--out", str(tmp_path / "out")]
    return {
        "score": ["score", "--text", str(tmp_path / "text.txt"), "--out", str(tmp_path / "scores.csv")],
        "suite": ["suite", str(tmp_path / "suite.json"), "--keep-oov", *out],
        "pairs": ["pairs", str(tmp_path / "pairs.jsonl"), "--keep-oov", *out],
        "heads": ["heads", "--conllu", str(tmp_path / "parsed.conllu"), *out],
        "attraction": [
            *("attraction", "--stimuli", str(tmp_path / "items.csv"), "--measure", "surprisal", "--keep-oov"),
            *("--formula", "y ~ number + (1|item)", *out),
        ],
    }


@pytest.mark.parametrize("name", ["score", "suite", "pairs", "heads", "attraction"])
def test_every_command_passes_notes_on(name, commands, uncased_pretrained):
    command = [*commands[name], "--model", str(uncased_pretrained)]
    found = CliRunner().invoke(build(), command)
    assert found.exit_code == 0, found.output
    noted = [line for line in found.stderr.splitlines() if line.startswith("Note: ")]
    assert noted == [
        f"Note: The vocabulary of {uncased_pretrained} has no words with capitals, and the text has; they are taken to "
        "pieces or unknown. Use --lower-case (lower_case=True) (the first word with capitals is 'The')."
    ]
    lowered = CliRunner().invoke(build(), [*command, "--lower-case"])
    assert lowered.exit_code == 0, lowered.output
    assert "Note: The vocabulary" not in lowered.stderr


@pytest.mark.parametrize("name", ["score", "suite", "pairs", "heads", "attraction"])
def test_every_command_takes_the_settings_of_the_model(name, commands, small_pretrained, tmp_path):
    command = [*commands[name], "--model", str(small_pretrained("gpt2")), "--quiet"]
    options = ["--spaced-punctuation", "--device", "cpu", "--dtype", "bfloat16"]
    found = CliRunner().invoke(build(), [*command, *options])
    assert found.exit_code == 0, found.output
    sidecars = [tmp_path / "scores.json"] if name == "score" else sorted((tmp_path / "out").glob("*.json"))
    settings = json.loads(sidecars[0].read_text())["models"][0]["settings"]
    assert (settings["punctuation"], settings["precision"]) == ("spaced", "bfloat16")


def test_settings_not_given_are_left_to_the_models():
    assert Reading().settings == {}
    asked = Reading(
        bos=False, punctuation="spaced", device="mps", batch_tokens=64, others={"fixation_seed": 2}
    )
    assert asked.settings == {
        "bos": False,
        "punctuation": "spaced",
        "device": "mps",
        "batch_tokens": 64,
        "fixation_seed": 2,
    }


READING_OPTIONS = {
    *("--no-bos", "--lower-case", "--context", "--spaced-punctuation", "--heads", "--query"),
    *("--device", "--dtype", "--batch-tokens"),
}


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("score", set()),
        ("attraction", set()),
        ("reading", set()),
        ("fixations", {"--heads", "--query"}),
        ("heads", {"--heads"}),
        ("suite", {"--heads", "--query"}),
        ("pairs", {"--heads", "--query"}),
        ("memory", {"--heads", "--query", "--context"}),
    ],
)
def test_every_command_that_reads_has_all_reading_options(name, without):
    command = typer.main.get_command(build()).commands[name]
    options = {flag for parameter in command.params for flag in parameter.opts}
    assert options >= READING_OPTIONS - without
    assert not options & without


def test_significance_and_seed_mean_the_same_everywhere():
    commands = typer.main.get_command(build()).commands
    seeds = {}
    for name, command in commands.items():
        for parameter in command.params:
            if "--alpha" in parameter.opts and name != "train":
                assert "supertag" in parameter.help, name
            if "--seed" in parameter.opts:
                seeds[name] = parameter.default
    assert len(seeds) > 8
    assert set(seeds.values()) <= {1, None}, seeds
