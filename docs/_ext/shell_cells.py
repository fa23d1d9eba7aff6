"""Cells for a shell and for files: run as IPython does, shown without the magic word.

``%%bash`` cells are shown as the commands alone; ``%%writefile NAME`` cells as the file, with its name above.
"""

from pathlib import PurePath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

LANGUAGES = {".py": "python", ".toml": "toml"}


class ShellCells(SphinxPostTransform):
    default_priority = 200

    def run(self, **kwargs: Any) -> None:
        for block in list(self.document.findall(nodes.literal_block)):
            magic, _, text = block.astext().partition("\n")
            if magic == "%%bash":
                block.replace_self(literal(text, "bash"))
            elif magic.startswith("%%writefile "):
                name = magic.split()[1]
                title = nodes.paragraph("", "", nodes.literal(name, name), classes=["file-name"])
                block.replace_self([title, literal(text, LANGUAGES[PurePath(name).suffix])])


def literal(text: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(ShellCells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
