"""What a study can name, frozen: kinds come from the classes, so one that is renamed or moved must not go unnoticed."""

from importlib.resources import files

from driftbandit import Abrupt, Gaussian, Study, UniformDelay, UnitArms
from driftbandit.core.kinds import is_ours
from driftbandit.policies import every
from driftbandit.studies.kinds import MEMORY, PARTS

KINDS = {
    "drift": "abrupt gradual seasonal constant switching calm-burst random-walk path hidden returning rarer late accelerating "
    "swaying breathing",
    "arms": "unit uneven disjoint axes fixed ball ellipsoid theorem-four",
    "noise": "gaussian uniform rademacher student-t alternating clicks counts",
    "delay": "fixed uniform geometric heavy timeout",
}


class Abrupted(Abrupt):
    """A user's own, which no file of ours can mean."""


def test_kinds_are_frozen() -> None:
    assert {part: sorted(kinds) for part, (kinds, _) in PARTS.items()} == {
        part: sorted(names.split()) for part, names in KINDS.items()
    }
    assert issubclass(Abrupted, PARTS["drift"][0]["abrupt"])  # type: ignore[arg-type]
    some = {"drift": Abrupt, "arms": UnitArms, "noise": Gaussian, "delay": UniformDelay}
    for part, kind in (("drift", "abrupt"), ("arms", "unit"), ("noise", "gaussian"), ("delay", "uniform")):
        assert PARTS[part][0][kind] is some[part]


def test_the_example_of_all_policies_has_them_all() -> None:
    study = Study.from_file(str(files("driftbandit") / "examples" / "policies.toml"))
    assert sorted(study.policies) == sorted(name for name, kind in every().items() if is_ours(kind))


def test_memories_are_frozen() -> None:
    told = {name: (parameter, of(1), of(100)) for name, (parameter, of) in MEMORY.items()}
    assert told == {
        "RestartUCB": ("period", 1, 100),
        "WindowUCB": ("window", 1, 100),
        "WeightUCB": ("discount", 0.5, 0.99),
        "LightWeightUCB": ("discount", 0.5, 0.99),
        "DiscountedTS": ("discount", 0.5, 0.99),
    }
