"""What the READMEs and docs/verdicts.md show is what the newest committed run says; the commands exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nsb.analyse.merged import across
from nsb.measure.integrity import Altered
from nsb.measure.journal import JournalError
from nsb.registry.claims import Claims, Conclusion, Judgement, Said, Verdict
from nsb.registry.load import load, load_digest
from nsb.render import claims as verdicts
from nsb.render import markdown
from nsb.session.outputs import committed_before, derived, front_pages, linked_from, outputs, reproduced, tidy
from nsb.session.runs import read_run

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
READMES = [ROOT / name for name in markdown.READMES]
RESULTS = sorted(path.parent for path in (ROOT / "bench" / "results").glob("*/run.json"))
BEFORE = ROOT / "bench" / "results" / "20261130-article-b"
"""A small run that repeats an article's own load."""
DECIDES = ROOT / "bench" / "results" / "20261130-waits"
"""A run that decides A2, A7 and C4 by itself."""
REFERENCES = [folder for folder in RESULTS if folder.name.endswith("-standard")]
MADE = ("table.*", "claims.*", "model.json", "report.html", "blog.*", "charts", "articles")
"""What a run's folder holds besides its records and their archive."""


PAGES = [*markdown.READMES, *(f"docs/{name}" for name in markdown.VERDICTS.values())]


def test_what_a_visitor_sees_first_is_made_from_the_newest_reference_run(claims: Claims) -> None:
    digest = load_digest(ROOT / "bench", load(ROOT / "bench"))
    made = front_pages(ROOT, REFERENCES[-1], claims, digest)
    assert [file.relative_to(ROOT).as_posix() for file, text in made.items() if file.read_text(encoding="utf-8") != text] == []
    findings = json.loads((REFERENCES[-1] / "run.json").read_text())["preflight"]["findings"]
    slow = any(each["id"] == "kernel" and each["level"] == "warn" for each in findings)
    assert ("where a system call takes" in made[ROOT / "README.md"]) == slow
    linked = re.findall(r"\((\.\./bench/results/[^)]*/articles/[^)]*)\)", made[ROOT / "docs" / "verdicts.md"])
    assert len(linked) == len(set(linked)) > 0


def test_of_what_is_made_from_runs_the_newest_and_what_is_linked_is_committed() -> None:
    linked = linked_from(ROOT, [*PAGES, "docs/overload.md", "bench/results/README.md"])
    assert [file for file in sorted(linked) if not file.exists()] == []
    program = shutil.which("git")
    listed = (
        program and subprocess.run([program, "ls-files", "bench/results"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    )
    if not listed:
        pytest.skip("no git here to tell what is committed")
    committed = {ROOT / line for line in listed.splitlines()}
    made = {file for folder in RESULTS for file in derived(folder)} & committed
    newest = {file for file in made if file.parent == REFERENCES[-1]}
    assert {file.name for file in newest} == {"table.md", "table.csv", "table.json", "claims.md", "claims.json", "model.json"}
    assert made - newest - linked == set()
    assert {file for file in committed if "k6" in file.parts or file.name == "samples.csv"} == set()


def test_what_no_readme_links_of_an_older_run_goes_and_what_it_links_is_made_again(tmp_path: Path, claims: Claims) -> None:
    results = tmp_path / "bench" / "results"
    for name in ("new", "linked", "other"):
        shutil.copytree(BEFORE, results / name, ignore=shutil.ignore_patterns(*MADE))
        for made in ("table.csv", "claims.md", "articles/B.en.md", "charts/article-B.en.svg"):
            (results / name / made).parent.mkdir(exist_ok=True)
            (results / name / made).write_text("old")
    (tmp_path / "README.md").write_text(
        "[B](bench/results/linked/articles/B.en.md), [all](bench/results/linked/claims.md#b), [CI](https://x)"
    )
    tidy(tmp_path, results / "new", ["README.md"], claims)
    left = {folder.name: {file.relative_to(folder).as_posix() for file in derived(folder)} for folder in results.iterdir()}
    assert left == {
        "new": {"table.csv", "claims.md", "articles/B.en.md", "charts/article-B.en.svg"},
        "linked": {"table.md", "claims.md", "articles/B.en.md", "charts/article-B.en.svg"},
        "other": set(),
    }
    assert not (results / "other" / "articles").exists()
    assert (results / "new" / "claims.md").read_text() == "old"
    assert (results / "linked" / "claims.md").read_text() != "old"


@pytest.mark.parametrize("folder", [folder for folder in RESULTS if derived(folder)], ids=lambda p: p.name)
def test_committed_tables_and_verdicts_come_from_their_raw_data(folder: Path, tmp_path: Path, claims: Claims) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*MADE))
    outputs(copy, *read_run(copy), claims)
    for name in (file.relative_to(folder).as_posix() for file in derived(folder) if file.suffix != ".svg"):
        assert (folder / name).read_bytes() == (copy / name).read_bytes(), name


def test_nothing_is_told_of_a_contender_whose_figures_were_withdrawn(tmp_path: Path, claims: Claims) -> None:
    copy = tmp_path / BEFORE.name
    shutil.copytree(BEFORE, copy, ignore=shutil.ignore_patterns(*MADE))
    run, cells = read_run(copy)
    wrong, *others = run["plan"]["contenders"]
    (copy / "withdrawn.json").write_text(json.dumps({wrong: "it answered from a cache"}))
    left, kept = read_run(copy)
    assert left["plan"]["contenders"] == others
    assert kept == [cell for cell in cells if cell.contender != wrong] != cells
    table = outputs(copy, left, kept, claims).table
    assert table.left_out[wrong] == "it answered from a cache"
    assert not any(entry.contender == wrong for entry in table.entries)
    (copy / "withdrawn.json").write_text(json.dumps([wrong]))
    with pytest.raises(JournalError, match=r"withdrawn\.json is not an object of contenders, each with its reason"):
        read_run(copy)


@pytest.mark.parametrize("readme", READMES, ids=lambda p: p.name)
def test_every_verb_it_names_is_a_recipe(readme: Path) -> None:
    recipes = set(re.findall(r"^([a-z-]+)(?: \*arguments)?:", (ROOT / "justfile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`?(?:\./justw|just) ([a-z-]+)", readme.read_text(encoding="utf-8")))
    assert named
    assert named <= recipes


def test_markers_that_are_gone_are_an_error() -> None:
    with pytest.raises(ValueError, match="markers"):
        markdown.with_block("no markers", "block")


def with_verdicts(of: Judgement, **changes: Conclusion) -> Judgement:
    """The same with other conclusions for some claims, and none for the rest."""
    changed = [claim.model_copy(update={"conclusion": changes.get(claim.id, "NOT_MEASURED"), "reason": None}) for claim in of.claims]
    return of.model_copy(update={"claims": changed})


def test_of_several_runs_the_one_that_decides_a_claim_is_told_and_who_disagrees(tmp_path: Path, claims: Claims) -> None:
    copy = tmp_path / "run"
    shutil.copytree(DECIDES, copy, ignore=shutil.ignore_patterns(*MADE))
    of = outputs(copy, *read_run(copy), claims).judgement
    runs = [
        ("results/one", with_verdicts(of, A1="UNDECIDED", A2="SUPPORTED")),
        ("results/two", with_verdicts(of, A1="REFUTED", A2="REFUTED", A3="UNDECIDED")),
        ("results/of-b", of.model_copy(update={"claims": [claim for claim in of.claims if claim.article == "B"]})),
    ]
    found = {each.claim.id: each for each in across(runs)}
    assert [(found[id_].claim.conclusion, found[id_].folder) for id_ in ("A1", "A2", "A3", "A4")] == [
        ("REFUTED", "results/two"), ("UNDECIDED", "results/one"), ("UNDECIDED", "results/two"), ("NOT_MEASURED", "results/one"),
    ]  # fmt: skip
    against = {id_: [(folder, claim.conclusion) for folder, claim in found[id_].against] for id_ in ("A1", "A2", "A3", "A4")}
    assert against == {
        "A1": [("results/one", "UNDECIDED")],
        "A2": [("results/one", "SUPPORTED"), ("results/two", "REFUTED")],
        "A3": [],
        "A4": [],
    }
    assert found["A2"].claim.reason == "runs_disagree"
    lines = verdicts.summary_across(list(found.values()), "en").splitlines()
    (second,) = [line for line in lines if line.startswith("| **A2**")]
    both = "<sub>supported: [one](results/one/claims.md)</sub><br><sub>refuted: [two](results/two/claims.md)</sub>"
    assert "| undecided: the runs disagree<br>" in second
    assert both in second
    assert ": supported 0, refuted 1, undecided 2, not measured " in verdicts.counts([each.claim for each in found.values()], "en")


def test_sayings_are_counted_apart_from_the_claims_of_articles(claims: Claims) -> None:
    run = next(each for each in committed_before(ROOT, ROOT / "no", claims) if each.folder.endswith("20261125-overload"))
    said = [claim for claim in run.judgement.claims if claim.saying]
    assert [claim.id for claim in said] == ["F1", "F2", "F3"]
    told = verdicts.counts(run.judgement.claims, "en")
    assert told.startswith(f"{len(run.judgement.claims) - 3} claims of 5 articles: ")
    assert " 3 common sayings, in our words and with our bounds: " in told
    assert "common sayings" not in verdicts.counts([claim for claim in run.judgement.claims if not claim.saying], "en")


def test_a_run_that_is_explained_does_not_count(tmp_path: Path, claims: Claims) -> None:
    copy = tmp_path / "run"
    shutil.copytree(DECIDES, copy, ignore=shutil.ignore_patterns(*MADE))
    of = outputs(copy, *read_run(copy), claims).judgement
    why = Said(en="The fan had stopped.", ko="팬이 멈췄습니다.")
    explained = [claim.model_copy(update={"explained": {"two": why}}) for claim in of.claims]
    known = of.model_copy(update={"claims": explained})
    runs = [("results/one", with_verdicts(known, A2="SUPPORTED")), ("results/two", with_verdicts(known, A2="REFUTED"))]
    found = {each.claim.id: each for each in across(runs)}
    assert (found["A2"].claim.conclusion, found["A2"].folder) == ("SUPPORTED", "results/one")
    assert (found["A2"].against, found["A2"].set_aside) == ([], [("results/two", why)])
    assert "does not count: [two](results/two/claims.md). The fan had stopped." in verdicts.summary_across([found["A2"]], "en")


def test_a_part_that_the_run_does_not_decide_is_told_with_the_run_that_does(tmp_path: Path, claims: Claims) -> None:
    copy = tmp_path / "run"
    shutil.copytree(REFERENCES[-1], copy, ignore=shutil.ignore_patterns(*MADE))
    of = outputs(copy, *read_run(copy), claims).judgement

    def run(claim: str, conclusion: Conclusion, *parts: Verdict) -> Judgement:
        found = next(each for each in of.claims if each.id == claim)
        judged = [part.model_copy(update={"verdict": word}) for part, word in zip(found.parts, parts, strict=True)]
        return of.model_copy(update={"claims": [found.model_copy(update={"conclusion": conclusion, "parts": judged})]})

    runs = [
        ("results/one", run("D4", "REFUTED", "REFUTED", "NOT_MEASURED")),
        ("results/two", run("D4", "UNDECIDED", "UNDECIDED", "UNDECIDED")),
        ("results/three", run("D4", "UNDECIDED", "UNDECIDED", "SUPPORTED")),
    ]
    (found,) = across(runs)
    assert found.parts == [(2, "results/three", "SUPPORTED")]
    table = verdicts.summary_across([found], "en")
    assert "of its 2 parts: 1 refuted, 1 not measured" in table
    assert "<sub>part 2 alone, supported: [three](results/three/claims.md)</sub>" in table
    assert across(runs[:2])[0].parts == []


def beside_another_number(tmp_path: Path, claims: Claims, **other: object) -> list[tuple[str, Judgement]]:
    """A run whose number of B1 is `other`, then the committed one."""
    copy = tmp_path / "run"
    shutil.copytree(BEFORE, copy, ignore=shutil.ignore_patterns(*MADE))
    of = outputs(copy, *read_run(copy), claims).judgement
    (asked,) = (each for each in of.claims if each.id == "B1")
    assert asked.number is not None
    altered = asked.model_copy(update={"number": asked.number.model_copy(update=other)})
    return [(f"results/{name}", of.model_copy(update={"claims": [each]})) for name, each in (("other", altered), ("sure", asked))]


def test_a_run_that_leaves_a_number_undecided_is_named(tmp_path: Path, claims: Claims) -> None:
    runs = beside_another_number(tmp_path, claims, came="UNDECIDED", reason="core_bound")
    (found,) = across(runs)
    assert found.number_folder == "results/sure"
    assert [(folder, number.came) for folder, number in found.numbers_against] == [("results/other", "UNDECIDED")]
    assert "<sub>undecided: its core was full: [other](results/other/claims.md)</sub>" in verdicts.summary_across([found], "en")
    assert across(runs[:1])[0].numbers_against == []


def test_numbers_of_runs_that_disagree_are_told_each_with_its_run(tmp_path: Path, claims: Claims) -> None:
    half = {"came": "NOT_AGAIN", "value": 40.0, "factor": 0.5, "factor_low": 0.4, "factor_high": 0.6, "level": 0.95}
    (found,) = across(beside_another_number(tmp_path, claims, **half))
    assert found.claim.number is not None
    assert (found.claim.number.came, found.claim.number.value) == ("UNDECIDED", None)
    table = verdicts.summary_across([found], "en")
    assert "<sub>coroutines ÷ pool of 3: 80 ×; recomputed from the article's figures: 83.6</sub>" in table
    assert "<sub>not reproduced (ours 40.0 ×; ours ÷ theirs 0.50 (0.40–0.60, 95 %)): [other](results/other/claims.md)</sub>" in table
    assert "reproduced, as arithmetic says (ours 78.2 ×; ours ÷ theirs 0.98 (0.95–1.01, 90 %)): [sure](" in table


def test_a_committed_run_is_judged_from_its_records_whatever_its_name(tmp_path: Path, claims: Claims) -> None:
    folder = tmp_path / "bench" / "results" / "20990101-any"
    shutil.copytree(BEFORE, folder, ignore=shutil.ignore_patterns(*MADE))
    (found,) = committed_before(tmp_path, tmp_path, claims)
    assert (found.folder, found.repeated) == ("bench/results/20990101-any", ["B"])
    assert found.judgement == outputs(folder, *read_run(folder), claims).judgement
    assert [(each.article.id, each.folders) for each in reproduced([found], claims)] == [("B", [found.folder])]
    (folder / "code.json").write_text("{}")
    with pytest.raises(Altered, match=r"code\.json was changed"):
        committed_before(tmp_path, tmp_path, claims)


def test_the_table_names_who_passed_the_contract_and_but_for_what(tmp_path: Path, claims: Claims) -> None:
    copy = tmp_path / "run"
    shutil.copytree(REFERENCES[-1], copy, ignore=shutil.ignore_patterns(*MADE))
    run, cells = read_run(copy)

    def told(conformance: dict[str, object]) -> str:
        outputs(copy, {**run, "conformance": conformance}, cells, claims)
        return re.sub(r"(?<!\n)\n(?!\n)", " ", (copy / "table.md").read_text(encoding="utf-8"))  # a paragraph is a line

    assert "The contract was passed" not in told({})  # runs from before that was recorded
    assert " The contract was passed by go, rust.\n" in told({name: {"passed": "now", "but": {}} for name in ("go", "rust")})
    breaks = {"C8 really queries": "a statement pins"}
    assert " The contract was passed by go, but for: go C8 (a statement pins).\n" in told({"go": {"passed": "before", "but": breaks}})


def test_figures_stand_under_what_they_are_of_and_what_is_claimed_of_them(tmp_path: Path, claims: Claims) -> None:
    copy = tmp_path / "run"
    shutil.copytree(DECIDES, copy, ignore=shutil.ignore_patterns(*MADE))
    found = {claim.id: claim for claim in outputs(copy, *read_run(copy), claims).judgement.claims}
    assert verdicts.ours(found["A2"], "en").startswith("sleep-max, throughput: java-pt ")
    assert "; sleep-max, throughput (claimed: ≥ 2): java-vt ÷ java-pt 3" in verdicts.ours(found["A2"], "en")
    assert verdicts.ours(found["A2"], "en").count("(claimed: ≥ 2)") == 1  # once for both comparisons
    assert "(주장: ≥ 1,024 KiB/요청): java-pt " in verdicts.ours(found["C4"], "ko")
    (compared,) = found["C4"].parts[0].comparisons
    assert verdicts.ours(found["C4"], "en").endswith(f", {compared.level * 100:.4g} %)")  # the interval that decides
    assert verdicts.figures(found["A7"].also[0].parts[0], "en")[0].startswith("java-webflux ÷ java-vt ")
    assert verdicts.mixed(found["A2"], "en") == ""
    assert verdicts.mixed(found["C4"], "en") == "of its 2 parts: 1 refuted, 1 supported"
    assert verdicts.mixed(found["C4"], "ko") == "세부 항목 2개: 사실과 다름 1, 사실로 확인 1"
