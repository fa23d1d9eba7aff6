"""Figures and tables to one self-contained HTML page: no network, no fonts, no other files."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from driftbandit.core.files import write_atomically
from driftbandit.figures.files import as_svg
from driftbandit.report.tables import Grid, Verdict

PIXELS_PER_INCH = 96


@dataclass(frozen=True)
class Plate:
    """A figure in both themes, with its caption."""

    name: str
    caption: str
    light: Figure
    dark: Figure


@dataclass(frozen=True)
class Section:
    """A heading and what follows it: paragraphs, verdicts, figures, tables, in this order."""

    heading: str
    text: Sequence[str] = ()
    plates: Sequence[Plate] = ()
    grids: Sequence[Grid] = ()
    verdicts: Sequence[Verdict] = ()


def write_page(path: Path, title: str, lead: str, sections: Sequence[Section], footer: str) -> None:
    """Write the page; a reader of the path sees either the old page or the complete new one."""
    templates = Environment(
        loader=PackageLoader("driftbandit", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["picture"] = _picture
    templates.filters["pixels"] = _pixels
    templates.filters["marked"] = _marked
    templates.tests["numeric"] = _is_numeric
    template = templates.get_template("page.html.jinja")
    text = template.render(title=title, lead=lead, sections=sections, footer=footer)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda file: file.write(text.encode()))


def _picture(figure: Figure) -> str:
    """The figure as a data URL: an image of its own, so that names inside one figure never clash with those of another."""
    return "data:image/svg+xml;base64," + b64encode(as_svg(figure).encode()).decode()


def _marked(text: str) -> Markup:
    """The text, escaped, with `code` as code and addresses as links."""
    code = re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(re.sub(r"https://[\w./-]*\w", r'<a href="\g<0>">\g<0></a>', code))


def _pixels(figure: Figure) -> tuple[int, int]:
    width, height = figure.get_size_inches()
    return round(width * PIXELS_PER_INCH), round(height * PIXELS_PER_INCH)


def _is_numeric(cell: str) -> bool:
    return cell.lstrip("+-−≈<> ")[:1].isdigit()
