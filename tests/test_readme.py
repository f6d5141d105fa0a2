"""The examples of README.md and of the pages in docs/ are run, and print what is shown there.

A block is run where the line before it is ``<!-- run -->``; all blocks of a page share one folder and one
Python session, in reading order, and nothing with other pages. In a ``console`` block, ``$ `` begins a command and the lines up to the next
one are the output it must print. A ``python`` block is run as it is, or compared line by line where it has
``>>>`` prompts. ``<!-- run: exit 2 -->`` expects that exit code and compares what went to stderr;
``<!-- run: with fgp-lstm -->`` is run where a model of that name is bundled. In expected output, ``...`` stands for anything, also for whole lines, and durations such as "12.3 s" match any duration. A block after
``<!-- file: NAME -->`` is written to that file for the examples below it; ``<!-- file: NAME of PAGE.md -->``, without a
block, is the file of that name on another page of docs/.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from psymem import checkpoints

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
README_LINES = 200
"""How long the front page may be; everything else is in docs/."""
BLOCK = re.compile(
    r"^<!-- (?:run(?:: exit (?P<code>\d+)|: with (?P<model>[\w./-]+))?|file: (?P<file>[\w.-]+)) -->\n```(?P<kind>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BORROWED = re.compile(r"^<!-- file: (?P<file>[\w.-]+) of (?P<page>[\w-]+\.md) -->$", re.MULTILINE)
MARK = re.compile(r"^<!-- *(?:run|file).*$", re.MULTILINE)
DURATION = re.compile(r"\b\d+(\.\d+)? (s|min|seconds|minutes)\b")
SECONDS = 300
"""How long one command may take."""


@dataclass(frozen=True)
class Block:
    """One example: its line, language, text, exit code of its last command, bundled model; or the file it stands for."""

    line: int
    kind: str
    body: str
    exit_code: int
    file: str | None
    model: str | None = None


@dataclass(frozen=True)
class Command:
    """One command of a console block and the output shown below it."""

    command: str
    output: str


def blocks_of(markdown: str) -> list[Block]:
    """Return the blocks marked to be run; a mark without a block is an error."""
    found = [
        Block(
            markdown.count("\n", 0, m.start("body")),
            m["kind"],
            m["body"],
            int(m["code"] or 0),
            m["file"],
            m["model"],
        )
        for m in BLOCK.finditer(markdown)
    ]
    marks = [mark for mark in MARK.findall(markdown) if not BORROWED.match(mark)]
    assert len(marks) == len(found), f"{len(marks)} marks, but {len(found)} blocks follow one: {marks}"
    return found


def commands_of(body: str) -> list[Command]:
    """Split a console block into commands, each with the lines shown below it."""
    parts = re.split(r"^\$ ", body.replace("\\\n", ""), flags=re.MULTILINE)
    assert not parts[0].strip(), f"a console block begins with '$ ', not with {parts[0]!r}"
    return [Command(*(p.partition("\n")[::2])) for p in parts[1:]]


def matches(shown: str, printed: str) -> bool:
    """Whether output is as shown; see the module's docstring for what may differ."""
    lines = [DURATION.sub("<time>", text) for text in (shown, printed)]
    shown, printed = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in lines)
    pattern = ".*?".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def run_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command line with this environment's programs, as wide as the pages and without colours."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-c", command],
        env=os.environ | {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def run_console(block: Block, folder: Path) -> list[str]:
    """Run a console block; return what went otherwise than shown."""
    problems = []
    commands = commands_of(block.body)
    for number, example in enumerate(commands, start=1):
        done = run_shell(example.command, folder)
        wanted = block.exit_code if number == len(commands) else 0
        printed = done.stderr if wanted else done.stdout
        if done.returncode != wanted:
            ending = f"ended with {done.returncode}, not {wanted}"
            problems.append(f"$ {example.command}\n{ending}:\n{done.stdout}{done.stderr}")
        elif example.output.strip() and not matches(example.output, printed):
            problems.append(f"$ {example.command}\nshown:\n{example.output}printed:\n{printed}")
    return [f"line {block.line}: {problem}" for problem in problems]


def run_python(block: Block, session: dict[str, object]) -> list[str]:
    """Run a python block in the session shared by all of them; return what went otherwise than shown."""
    if ">>>" not in block.body:
        exec(compile(block.body, f"line {block.line}", "exec"), session)
        return []
    problems: list[str] = []
    example = doctest.DocTestParser().get_doctest(block.body, session, "example", "example", block.line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(example, out=problems.append, clear_globs=False)
    session.update(example.globs)
    return problems


def bundled(model: str) -> bool:
    """Whether a model of this name, or instances of this family, come with psymem."""
    return model in {name for c in checkpoints.bundled() for name in (c.name, c.name.split("/")[0])}


def borrow_files(markdown: str, folder: Path) -> None:
    """Write the files that a page takes from other pages."""
    for mark in BORROWED.finditer(markdown):
        lender = (REPOSITORY / "docs" / mark["page"]).read_text(encoding="utf-8")
        (body,) = [block.body for block in blocks_of(lender) if block.file == mark["file"]]
        (folder / mark["file"]).write_text(body, encoding="utf-8")


def run_blocks(markdown: str, folder: Path) -> list[str]:
    """Run every marked block of a text; return what went otherwise than shown."""
    borrow_files(markdown, folder)
    session: dict[str, object] = {"__name__": "__main__"}
    problems: list[str] = []
    for block in blocks_of(markdown):
        if block.model and not bundled(block.model):
            continue
        if block.file:
            (folder / block.file).write_text(block.body, encoding="utf-8")
            continue
        assert block.kind in {"console", "python"}, f"line {block.line}: cannot run {block.kind!r}"
        problems += run_console(block, folder) if block.kind == "console" else run_python(block, session)
    return problems


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=[p.stem for p in PAGES])
def test_examples_do_what_they_show(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    problems = run_blocks(page.read_text(encoding="utf-8"), tmp_path)
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("page", PAGES, ids=[p.stem for p in PAGES])
def test_links_lead_to_files_that_exist(page: Path):
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_readme_is_a_front_page():
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= README_LINES


# the mechanism itself --------------------------------------------------------------------------------------
def console(body: str, mark: str = "run") -> str:
    """A markdown text with one console block."""
    return f"text\n\n<!-- {mark} -->\n```console\n{body}```\n"


def test_only_marked_blocks_are_run(tmp_path: Path):
    text = "```console\n$ touch unmarked\n```\n" + console("$ touch marked\n")
    assert run_blocks(text, tmp_path) == []
    assert [p.name for p in tmp_path.iterdir()] == ["marked"]


def test_examples_of_a_model_that_is_not_bundled_are_left_out(tmp_path: Path):
    texts = [console(f"$ touch {m}\n", mark=f"run: with {m}") for m in ("cbr-rnn", "no-such-model")]
    assert run_blocks("\n".join(texts), tmp_path) == []
    assert [p.name for p in tmp_path.iterdir()] == ["cbr-rnn"]


def test_a_file_of_another_page_is_written(tmp_path: Path):
    text = "<!-- file: items.csv of own-items.md -->\n\n" + console(
        "$ head -1 items.csv | cut -c1-14\nitem,condition\n"
    )
    assert run_blocks(text, tmp_path) == []


def test_a_mark_without_a_block_is_an_error():
    with pytest.raises(AssertionError, match=r"^1 marks, but 0 blocks follow one: \['<!-- run -->'\]"):
        blocks_of("<!-- run -->\n\n```console\n$ true\n```\n")


def test_shown_output_is_compared(tmp_path: Path):
    assert run_blocks(console("$ echo one; echo two\none\n...\n$ printf 'a  \\nb'\na\nb\n"), tmp_path) == []
    assert run_blocks(console("$ echo one\ntwo\n"), tmp_path) == [
        "line 4: $ echo one\nshown:\ntwo\nprinted:\none\n"
    ]


def test_exit_codes_are_compared_and_errors_are_what_is_shown(tmp_path: Path):
    failing = "$ echo away; echo no such model >&2; exit 2\nno such model\n"
    assert run_blocks(console(failing, mark="run: exit 2"), tmp_path) == []
    (problem,) = run_blocks(console(failing), tmp_path)
    assert problem == f"line 4: {failing.splitlines()[0]}\nended with 2, not 0:\naway\nno such model\n"


def test_long_commands_go_on_after_a_backslash(tmp_path: Path):
    assert run_blocks(console("$ echo one \\\n    two\none two\n"), tmp_path) == []


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("40 items in 12.3 s", "40 items in 9 s", True),
        ("40 items in 12.3 s", "41 items in 12.3 s", False),
        ("first\n...\nlast", "first\n2\n3\nlast", True),
        ("0.1 (*)", "0.1 (*)", True),
        ("0.1", "0.12", False),
        ("", "anything", False),
    ],
)
def test_what_counts_as_the_same_output(shown: str, printed: str, same: bool):
    assert matches(shown, printed) is same


def test_files_are_written_for_the_examples_below(tmp_path: Path):
    text = "<!-- file: a.csv -->\n```text\nitem,condition\n1,A\n```\n\n" + console("$ tail -n 1 a.csv\n1,A\n")
    assert run_blocks(text, tmp_path) == []


def test_python_blocks_share_a_session(tmp_path: Path):
    text = "<!-- run -->\n```python\nx = 2\n```\n\n<!-- run -->\n```python\n>>> x + 1\n3\n>>> y = x\n```\n"
    assert run_blocks(text + "\n<!-- run -->\n```python\n>>> y\n2\n```\n", tmp_path) == []
    (problem,) = run_blocks(text.replace("3\n", "4\n"), tmp_path)
    assert "Expected:\n    4\nGot:\n    3\n" in problem
