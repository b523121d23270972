"""Imports point downward, and the check that holds them to it can fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deskwire

ROOT = Path(deskwire.__file__).parents[2]


def test_imports_of_the_project_point_downward() -> None:
    checked = check_layers(ROOT)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("importer", "imported"), [("store", "desk"), ("model", "store"), ("api", "delivery"), ("demo", "cli")]
)
def test_an_import_that_points_upward_or_aside_is_found(tmp_path: Path, importer: str, imported: str) -> None:
    lay_out(tmp_path, {importer: f"import deskwire.{imported}\n", imported: ""})
    checked = check_layers(tmp_path)
    assert checked.returncode == 1
    assert f"deskwire.{importer} is not allowed to import deskwire.{imported}" in checked.stdout


def test_a_package_that_no_layer_names_is_found(tmp_path: Path) -> None:
    lay_out(tmp_path, {"model": "", "helpers": ""})
    checked = check_layers(tmp_path)
    assert checked.returncode == 1
    assert "- deskwire.helpers" in checked.stdout


def lay_out(root: Path, packages: dict[str, str]) -> None:
    shutil.copy(ROOT / "pyproject.toml", root)
    for package, source in {"": "", **packages}.items():
        folder = root / "src" / "deskwire" / package
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(source)


def check_layers(root: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "COLUMNS": "200"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
