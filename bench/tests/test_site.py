"""The published copy: a page for every run, an index in both languages that leads to them, and nothing that is fetched."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from nsb.errors import Refused
from nsb.registry.claims import Claims
from nsb.render import site as pages
from nsb.session.site import KEPT, publish

pytestmark = pytest.mark.slow
RESULTS = Path(__file__).resolve().parents[1] / "results"
SMALL = "20261130-article-b"


def test_the_index_leads_to_the_page_of_every_run(tmp_path: Path, claims: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(RESULTS.parent / "src"))  # pages are drawn in a process of its own
    results, told = tmp_path / "results", []
    shutil.copytree(RESULTS / SMALL, results / SMALL, ignore=lambda _, names: [name for name in names if name not in KEPT])
    publish(results, tmp_path / "site", claims, told.append)
    assert told == [f"[1/1] {SMALL}"]
    for name in pages.INDEX.values():
        text = (tmp_path / "site" / name).read_text(encoding="utf-8")
        links = [link.split("#")[0] for link in re.findall(r'href="([^"]+)"', text) if not link.startswith("data:")]
        assert f"{SMALL}/report.html" in links
        assert [link for link in links if not (tmp_path / "site" / link).exists()] == []
    assert (tmp_path / "site" / SMALL / "raw.tar.xz").exists()  # which the page links
    assert not (tmp_path / "site" / SMALL / "charts").exists()  # the page has its own
    with pytest.raises(Refused, match="is there already"):
        publish(results, tmp_path / "site", claims, told.append)


def test_of_the_runs_of_a_day_the_newest_stands_first(tmp_path: Path, claims: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["20261125-standard", "20261124-standard", "20261125b-standard"]
    for name in names:
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "run.json").write_text("{}")
    monkeypatch.setattr("nsb.session.site.read_run", lambda _: ({}, []))
    monkeypatch.setattr("nsb.session.site.outputs", lambda *_: None)
    monkeypatch.setattr("nsb.session.site.drawn_apart", lambda *_, **__: None)
    monkeypatch.setattr(pages, "index", lambda runs, _: " ".join(name for name, _ in runs))
    publish(tmp_path / "results", tmp_path / "site", claims, lambda _: None)
    assert (tmp_path / "site" / "index.html").read_text() == "20261125b-standard 20261125-standard 20261124-standard"


def test_no_run_is_refused(tmp_path: Path, claims: Claims) -> None:
    with pytest.raises(Refused, match="has no run"):
        publish(tmp_path, tmp_path / "site", claims, lambda _: None)
    assert not (tmp_path / "site").exists()
