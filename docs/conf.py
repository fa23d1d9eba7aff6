"""How the site is built: `make docs`. Offline, warnings are errors, every code cell is run."""

import os
import sys
from pathlib import Path

from sphinx.application import Sphinx

import driftbandit

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ["IPYTHONDIR"] = str(HERE / "_ipython")  # figures are shown as SVG
os.environ["MATPLOTLIBRC"] = str(HERE / "_ipython" / "matplotlibrc")
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # shell cells find the command
os.environ["COLUMNS"] = "88"  # what a shell cell prints fits the page
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

project = "driftbandit"
author = "the driftbandit authors"
project_copyright = author
version = release = driftbandit.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "shell_cells",
    "signatures",
    "completeness",
    "promises",
    "offline",
]
exclude_patterns = [
    "_build",
    "_ipython",
    "suite/suite.md",
    "suite/seed-19.md",
    "real/real.md",
]  # the last three have no title: included
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}

# --- pages that run -------------------------------------------------------------------------------------------------
nb_execution_mode = "force"
nb_execution_raise_on_error = False  # a warning, which is an error here, and shows the cell's traceback
nb_execution_timeout = 1200  # a cell may be the first to compile AdaptiveUCB
nb_execution_in_temp = True
nb_merge_streams = True
nb_execution_show_tb = True
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
copybutton_exclude = ".linenos, .gp, .go"

# --- the reference --------------------------------------------------------------------------------------------------
default_role = "py:obj"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 90
napoleon_numpy_docstring = False
napoleon_custom_sections = [
    ("Its own parameters", "params_style"),
    ("Its columns", "params_style"),
]
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"

# --- how it looks ---------------------------------------------------------------------------------------------------
html_theme = "furo"
html_title = "driftbandit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def setup(app: Sphinx) -> None:
    app.set_html_assets_policy("per_page")
