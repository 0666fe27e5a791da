# SPDX-License-Identifier: MIT
"""The files of the site, for MkDocs (mkdocs.yml).

Pages are Markdown files of the repository, at their own paths: so their links hold on the site as they do in
the repository, and no page is a copy. A file or folder that is no page becomes one where a page links to it:
source code and data as text, a folder as a list. The API reference by Doxygen is part of the site.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["*.md", "docs/**/*.md", "bench/*.md", "bench/results/*.md"]
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
LANGUAGES = {
    ".c": "c",
    ".cpp": "cpp",
    ".cs": "csharp",
    ".h": "c",
    ".hpp": "cpp",
    ".json": "json",
    ".py": "python",
    ".rs": "rust",
    ".yml": "yaml",
}
PICTURES = {".png", ".jpg", ".jpeg", ".svg", ".webp"}


def text_outside_code(text: str) -> list[tuple[bool, str]]:
    """The page in parts: (is it prose?, text)."""
    parts = re.split(r"(?ms)^(```.*?^```$)", text)
    return [(i % 2 == 0, part) for i, part in enumerate(parts)]


def target_of(page: str, link: str) -> Path | None:
    """The file or folder of the repository that a link of a page leads to, or none if it leads elsewhere."""
    if re.match(r"[a-z]+:", link):
        return None
    target = ROOT / posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    return target if target.exists() else None


def page_for(target: Path) -> str | None:
    """The page of a file or folder that is no page itself; none for pages and pictures."""
    name = target.relative_to(ROOT).as_posix()
    if target.is_dir():
        return name + "/index.md"
    return None if target.suffix in {".md", *PICTURES} else name + ".md"


def rewritten(page: str, text: str) -> str:
    """The text of a page with links to the pages of files and folders."""

    def rewrite(link: re.Match[str]) -> str:
        target = target_of(page, link[2])
        name = page_for(target) if target else None
        if name is None:
            return link[0]
        return link[1] + posixpath.relpath(name, posixpath.dirname(page) or ".") + link[3]

    return "".join(LINK.sub(rewrite, part) if prose else part for prose, part in text_outside_code(text))


def made_page(target: Path) -> str:
    """The text of the page that shows a file or a folder."""
    name = target.relative_to(ROOT).as_posix()
    if target.is_dir():
        files = sorted(path for path in target.rglob("*") if path.is_file() and "detail" not in path.parts)
        lines = []
        for path in files:
            link = path.relative_to(target).as_posix()
            lines.append(f"![{link}]({link})" if path.suffix in PICTURES else f"- [{link}]({link})")
        return f"# {name}\n\n" + "\n".join(lines) + "\n"
    language = LANGUAGES.get(target.suffix, "text")
    return f"# {name}\n\n```{language}\n{target.read_text(encoding='utf-8').rstrip()}\n```\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    theme = [file for file in files if not Path(file.abs_src_path or "").is_relative_to(ROOT / "docs")]
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for pattern in PAGES
        for path in sorted(ROOT.glob(pattern))
    }
    names = {*texts, "docs/site/site.css", "docs/site/iframe-worker.js"}
    made: dict[str, str] = {}
    waiting = list(texts.items())
    while waiting:
        page, text = waiting.pop()
        for prose, part in text_outside_code(text):
            for link in LINK.finditer(part) if prose else ():
                target = target_of(page, link[2])
                name = page_for(target) if target else None
                if target and name is None:
                    names.add(target.relative_to(ROOT).as_posix())  # another page, or a picture
                elif target and name and name not in made:
                    made[name] = made_page(target)
                    waiting.append((name, made[name]))

    def file(name: str, folder: Path) -> File:
        return File(name, str(folder), config.site_dir, config.use_directory_urls)

    pages = [file(name, ROOT) for name in sorted(names)]
    generated = [File.generated(config, name, content=text) for name, text in sorted(made.items())]
    api = Path(os.environ.get("PARAFIELD_API", ROOT / "build" / "api"))  # its HTML lies in a folder api/
    reference = [file(p.relative_to(api).as_posix(), api) for p in sorted(api.rglob("*")) if p.is_file()]
    return Files([*theme, *pages, *generated, *reference])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Keeps options such as --preset in one piece where a line of prose ends; code blocks stay as they are."""

    def whole(code: re.Match[str]) -> str:
        options = re.sub(r"(?<![\w-])--?[\w-]*\w", r'<span class="option">\g<0></span>', code[2])
        return code[1] + options + code[3]

    return re.sub(r"((?<!</span>)<code>)([^<]*)(</code>)", whole, html)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if page.file.generated_by:
        page.meta["search"] = {"exclude": True}  # source code would hide the pages that explain
    return rewritten(page.file.src_uri, markdown)
