"""No page loads anything from the network, or the build fails."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

LOADS = re.compile(r"<(?:script|img|iframe|source|object|embed|link)\b[^>]*?\b(?:src|href|data)=\"((?:https?:)?//[^\"]+)\"")
STYLE = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")
logger = logging.getLogger(__name__)


def check(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    for pattern, ending in ((LOADS, "html"), (STYLE, "css")):
        for page in sorted(Path(app.outdir).rglob(f"*.{ending}")):
            for address in pattern.findall(page.read_text(encoding="utf-8")):
                logger.warning("%s loads %s from the network", page.relative_to(app.outdir), address, type="offline")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
