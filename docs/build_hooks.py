"""What mkdocs does beside its own: pages link to files of the repository (``../analyses/results/x.csv``) as GitHub has them.

Every such file is made part of the site under its path in the repository, and the link is led there; a file that does
not exist stays a broken link, which a strict build refuses.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(\.\./([^)#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the repository that pages link to."""
    pages = list(files.documentation_pages())
    for path in sorted({path for page in pages for path in LINK.findall(page.content_string)}):
        if (REPOSITORY / path).is_file():
            files.append(File.generated(config, path, abs_src_path=str(REPOSITORY / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files of the repository to their place in the site."""
    return LINK.sub(r"](\1", markdown) if "/" not in page.file.src_uri else markdown
