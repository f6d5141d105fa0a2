"""What mkdocs does beside its own: pages link to files of the repository (``../analyses/results/x.csv``) as GitHub has them.

Every such file is made part of the site under its path in the repository, and the link is led there; a file that does
not exist stays a broken link, which a strict build refuses. ``<!-- cards: corpora -->`` becomes a table of the cards of the
corpora.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(\.\./([^)#]+)")
CARDS = "<!-- cards: corpora -->"
CARD_ROWS = ("name", "licence", "get", "citation")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the repository that pages link to."""
    pages = list(files.documentation_pages())
    for path in sorted({path for page in pages for path in LINK.findall(page.content_string)}):
        if (REPOSITORY / path).is_file():
            files.append(File.generated(config, path, abs_src_path=str(REPOSITORY / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files of the repository to their place in the site, and put the cards of the corpora in."""
    if "/" in page.file.src_uri:
        return markdown
    return LINK.sub(r"](\1", markdown).replace(CARDS, table_of_cards())


def table_of_cards() -> str:
    """Return licence, source and citation of every corpus that has one, as a Markdown table."""
    cards = [
        tomllib.loads(p.read_text(encoding="utf-8")) for p in sorted(REPOSITORY.glob("corpora/*/card.toml"))
    ]
    rows = [
        [re.sub(r"([\[\]|*])", r"\\\1", str(card[key])) for key in CARD_ROWS]
        for card in cards
        if "get" in card
    ]
    lines = [["corpus", "licence", "how to get it", "cite"], ["---"] * len(CARD_ROWS), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
