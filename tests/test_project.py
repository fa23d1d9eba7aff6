"""What surrounds the code says the same as the code: version, citation, workflow, the pages for contributors."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from driftbandit import __version__

ROOT = Path(__file__).parent.parent
PAGES = ("CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> Any:
    return tomllib.loads(text_of("pyproject.toml"))["project"]


def test_the_version_stands_in_one_place_and_those_who_repeat_it_agree() -> None:
    assert "version" not in project()
    assert project()["dynamic"] == ["version"]
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == __version__
    assert f"version = {{{__version__}}}" in text_of("CITATION.bib")
    latest = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert latest
    assert latest[1] == __version__


def test_the_citation_names_the_paper_and_no_one_who_does_not_exist() -> None:
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project()["authors"]]
    (paper,) = citation["references"]
    names = [f"{author['family-names']}, {author['given-names']}" for author in paper["authors"]]
    bibtex = text_of("CITATION.bib")
    assert f"author    = {{{' and '.join(names)}}}" in bibtex
    assert f"title     = {{{paper['title']}}}" in bibtex
    assert f"pages     = {{{paper['start']}--{paper['end']}}}" in bibtex
    assert bibtex.count("{") == bibtex.count("}")


def test_the_workflow_tests_every_python_that_is_promised() -> None:
    workflow = yaml.safe_load(text_of(".github/workflows/ci.yml"))
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    promised = [line.rpartition(" ")[2] for line in project()["classifiers"] if "Python :: 3." in line]
    assert tested == promised
    assert project()["requires-python"] == f">={promised[0]}"
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    for command in runs:
        target = command.split()[1]
        assert re.search(rf"^{target}:", text_of("Makefile"), re.MULTILINE), command


def test_hooks_and_forms_can_be_read() -> None:
    (repository,) = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == ["ruff", "ruff-format"]
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").iterdir():
        read = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert form.name == "config.yml" or {"name", "description", "body"} <= read.keys()


@pytest.mark.parametrize("page", PAGES)
def test_files_targets_and_links_that_a_page_names_exist(page: str) -> None:
    text = text_of(page)
    named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w/.]+)`", text)
    named += [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    for name in named:
        assert (ROOT / name).exists(), name
    for target in re.findall(r"(?:`|^)make (\w+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", text_of("Makefile"), re.MULTILINE), target
