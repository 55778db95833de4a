"""What a release needs: crates that can be published, a wheel that says what it is, licences that allow it."""

import json
import os
import pathlib
import re
import subprocess
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
WHEEL = os.environ.get("MEMPLAN_WHEEL")

# Licences under which everything may be shipped together with memplan, in source and in binary form.
PERMISSIVE = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "MIT", "Unicode-3.0", "Unlicense", "Zlib"}


def metadata():
    command = ["cargo", "metadata", "--offline", "--format-version", "1"]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def shipped(facts):
    """The packages that end up in what users get: reached from our own without what only tests and builds need."""
    nodes = {node["id"]: node for node in facts["resolve"]["nodes"]}
    reached, waiting = set(), [package for package in facts["workspace_members"] if "testkit" not in package]
    while waiting:
        package = waiting.pop()
        if package not in reached:
            reached.add(package)
            needed = nodes[package]["deps"]
            waiting += [dep["pkg"] for dep in needed if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    return [package for package in facts["packages"] if package["id"] in reached]


def allows(licence):
    """Whether a licence expression can be met by permissive licences alone. `AND` binds its neighbours."""
    both = re.sub(r" WITH LLVM-exception", "", licence).replace("/", " OR ").replace("(", "").replace(")", "").split(" AND ")
    return all(any(choice.strip() in PERMISSIVE for choice in part.split(" OR ")) for part in both)


def test_licences_of_what_is_shipped():
    packages = shipped(metadata())
    assert len(packages) > 30
    refused = {package["name"]: package["license"] for package in packages if not allows(package["license"] or "none")}
    assert refused == {}


def test_licences_that_would_be_refused():
    assert not allows("GPL-3.0-only") and not allows("MIT AND GPL-3.0-only") and not allows("none")
    assert allows("MIT OR GPL-3.0-only") and allows("(MIT OR Apache-2.0) AND Unicode-3.0")


def test_every_crate_that_is_published_says_what_it_is():
    members = [package for package in metadata()["packages"] if package["source"] is None]
    published = [package for package in members if package["publish"] is None]
    assert len(published) >= 13
    versions = {package["version"] for package in members}
    assert len(versions) == 1, "one version for the workspace"
    for package in published:
        assert len(package["description"]) > 30 and package["license"] == "Apache-2.0 OR MIT", package["name"]
        assert package["keywords"] and package["categories"] and package["metadata"]["docs"]["rs"], package["name"]
        for needed in package["dependencies"]:
            # Who is only needed for tests is left out of the published crate, if it has no version.
            if needed.get("path") and needed["kind"] != "dev":
                assert needed["req"] != "*", f"{package['name']} needs {needed['name']} without a version"


def test_every_crate_carries_its_licences():
    """Both licences ask that their text goes along with every copy, and a crate is published by itself."""
    for package in (ROOT / "crates").iterdir():
        for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
            assert (package / licence).read_bytes() == (ROOT / licence).read_bytes(), package.name


def test_every_crate_has_a_front_page():
    """What it is, why it is a crate, an example, and where to read on: the crates read like chapters of one book."""
    for package in (ROOT / "crates").iterdir():
        lines = (package / "src" / "lib.rs").read_text(encoding="utf-8").splitlines()
        page = [line.removeprefix("//!").strip() for line in lines if line.startswith("//!")]
        headings = [line.removeprefix("# ") for line in page if line.startswith("# ") and not line.endswith(";")]
        wanted = ["Why it is a crate", "Example", "Where next"]
        assert page[0] and not page[0].startswith("#"), f"{package.name} does not begin with what it is"
        assert [heading for heading in headings if heading in wanted] == wanted, f"{package.name}: {headings}"


def test_the_changelog_begins_with_what_is_not_released_and_knows_the_version():
    (version,) = {package["version"] for package in metadata()["packages"] if package["source"] is None}
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[:2] == ["Unreleased", version]


def test_pages_name_the_oldest_compiler_that_does():
    (oldest,) = re.findall(r'^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)
    for page in ("README.md", "README.zh.md", "docs/first-plan.md", "docs/first-plan.zh.md"):
        assert re.findall(r"Rust (\d\.\d+)", (ROOT / page).read_text(encoding="utf-8")) == [oldest], page


def test_the_wheel_says_what_it_is():
    if not WHEEL:
        assert "MEMPLAN_REQUIRE_PEERS" not in os.environ, "./test builds a wheel"
        pytest.skip("skipped: needs MEMPLAN_WHEEL, a wheel of this checkout")
    assert "-abi3-" in WHEEL, "one wheel for every Python from 3.10 on"
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        (path,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        fields, description = wheel.read(path).decode("utf-8").split("\n\n", 1)
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        assert any(name.endswith(f"licenses/{licence}") for name in names), names
    assert "License-Expression: Apache-2.0 OR MIT" in fields and "Requires-Python: >=3.10" in fields
    assert fields.count("Classifier: ") >= 5 and "import memplan" in description
