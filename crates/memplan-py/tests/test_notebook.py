"""What a notebook shows, with names that try to be markup: in a real browser nothing of them runs."""

import html.parser
import os
import pathlib
import shutil
import subprocess

import memplan
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
HOSTILE = "</script><script>hacked=1</script><img src=x onerror=hacked=1>\"'&"


def hostile_plan():
    buffers = [
        memplan.Buffer(f"{HOSTILE}{i}", 64, (i, i + 2), space=HOSTILE, pipe=HOSTILE, loop=HOSTILE, tie=(HOSTILE, 0) if i == 0 else None)
        for i in range(3)
    ]
    return memplan.plan(memplan.Problem(buffers, [memplan.Space(HOSTILE)], name=HOSTILE))


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.frames = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attributes))


def test_a_plan_is_one_frame_that_may_do_nothing_but_run_its_own_script():
    shown = Tags(hostile_plan()._repr_html_())
    assert shown.tags == ["iframe"]
    [frame] = shown.frames
    assert frame["sandbox"] == "allow-scripts" and "src" not in frame
    inside = Tags(frame["srcdoc"])
    assert inside.tags.count("script") == 2
    assert not {"img", "iframe", "object", "embed"} & set(inside.tags)


def test_what_has_no_plan_and_what_is_compared_are_text():
    problem = memplan.Problem([memplan.Buffer(HOSTILE, 64, (0, 2))], capacity=8, name=HOSTILE)
    assert Tags(memplan.plan(problem)._repr_html_()).tags == ["pre"]
    comparison = memplan.compare(memplan.Problem([memplan.Buffer(HOSTILE, 64, (0, 2))]), work=10)
    assert set(Tags(comparison._repr_html_()).tags) <= {"table", "thead", "tbody", "tr", "th", "td"}


def test_in_a_real_browser(tmp_path):
    chromium = os.environ.get("MEMPLAN_CHROMIUM", "/usr/bin/chromium")
    driver = ROOT / "tests" / "browser" / "node_modules" / "playwright-core"
    if not (shutil.which("node") and os.path.exists(chromium) and driver.exists()):
        assert "MEMPLAN_REQUIRE_PEERS" not in os.environ, "needs node, chromium and playwright-core"
        pytest.skip("needs node, chromium and playwright-core")
    page = tmp_path / "notebook.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{hostile_plan()._repr_html_()}", encoding="utf-8")
    ran = subprocess.run(["node", str(ROOT / "tests" / "browser" / "notebook.mjs"), str(page)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
