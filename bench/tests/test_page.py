"""report.html: one safe file, the same words in both languages, and a page that works in a browser without a network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page

from nsb.analyse import table as tables
from nsb.analyse.articles import Figure
from nsb.analyse.digest import digest
from nsb.analyse.dominance import dominance
from nsb.analyse.model import CostModel
from nsb.records.judged import Cell, Half, Latency, Role, Status
from nsb.records.sources import Code, Size
from nsb.records.starts import Start
from nsb.registry import claims as words_of_claims
from nsb.registry.claims import (
    Article,
    Comparison,
    Judged,
    JudgedAside,
    JudgedClaim,
    JudgedNumber,
    Judgement,
    Ours,
    RatioRule,
    Reported,
    Row,
    Said,
    Scope,
)
from nsb.registry.digest import DigestPlan
from nsb.registry.terms import METRIC_UNITS, Limit
from nsb.render import charts, html, html_data, html_words, messages, words
from nsb.render.html_strips import Scale
from nsb.render.messages import LANGUAGES, MESSAGES, Language
from nsb.session.models import of_committed
from nsb.session.runs import read_run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]  # one browser and one page for all
BENCH = Path(__file__).resolve().parents[1]
RECORDED = Path(__file__).parent / "recordings" / "run"
PAGE = Path(html.__file__).parent / "page"
EVIL = 'V6 </script><script>alert("1")</script><img src=x onerror=alert(2)>'
STUB = "window.vegaEmbed = async () => ({ finalize() {} });"


# --- a run made up for the page ---------------------------------------------------------------------------------------------


OTHERS = tuple(f"another-contender-{n}" for n in range(1, 6))
UNSTEADY = OTHERS[-1]
CONTENDERS = ("slow", *OTHERS, "odd", "quick")
RUN: dict[str, Any] = {
    "schema": 1, "started_at": "2026-01-02T03:04:05+00:00", "runner": "native",
    "plan": {
        "tier": "standard", "profile": "1cpu", "workers": 1, "rounds": 6, "seed": 7, "contenders": [*CONTENDERS, "slow-twin"],
        "controls": {"slow-twin": {"kind": "twin", "of": "slow"}}, "scenarios": ["cost", "most"], "order_why": "All fit into memory.",
        "headlines": {"cost": "cpu", "most": "throughput"}, "models": {"cost": "open", "most": "closed"},
        "rates": {"cost": 100, "most": None}, "vus": {"cost": 10, "most": 10}, "holds_ms": {"cost": 0, "most": 0},
        "windows_s": {"cost": 2.0, "most": 2.0},
    },
    "host": {
        "name": "m", "cpu": "A processor", "cores": 2, "memory_gib": 4.0, "system": "Linux", "kernel": "6", "commit": "c0ffee" * 7,
        "changed": False,
    },
    "database": {"kind": "mysql", "version": "9"}, "k6": "k6 v2", "left_out": {"gone": "<b>no tool</b>"},
    "runtimes": {"slow": {"runtime": "R", "runtime_version": "1", "settings": {"gc": None, "backlog": 4096}}},
}  # fmt: skip
"""More contenders than a phone is wide, under two scenarios, with a twin."""


def cell(round_: int, contender: str, scenario: str, **more: Any) -> Cell:
    swing = round_ * (2 if contender in ("quick", "slow-twin") else 1) % 3 * (8 if (contender, scenario) == (UNSTEADY, "cost") else 1)
    size = {"slow": 4.0, "quick": 1.0, "odd": 2.0}.get(contender.removesuffix("-twin"), 3.0) * (1 + 0.01 * swing)
    data: dict[str, Any] = {
        "round": round_, "contender": contender, "scenario": scenario, "profile": "1cpu", "model": RUN["plan"]["models"][scenario],
        "status": "valid", "window_s": 2.0, "requests": int(2000 / size), "throughput_rps": 1000 / size, "limit": "cpu",
        "latency_ms": Latency(p50=size, p90=2 * size, p99=None, max=9.0), "raw": f"k6/{round_:02}-{scenario}-{contender}.json",
        "cpu_us_per_request": {"service": 100 * size, "generator": 40.0, "database": 0.0, "upstream": 0.0}, "memory_peak_mib": 10 * size,
        "threads_peak": 4, "switches_per_request": 3 * size,
        "halves": [Half(requests=int(1000 / size), p50_ms=size, service_cpu_s=0.1)] * 2,
    }  # fmt: skip
    return Cell(**{**data, **more})


def cells() -> list[Cell]:
    """`odd` fails under one scenario and says why in a way that should hurt nobody."""
    made = [cell(round_, name, s) for round_ in range(1, 7) for s in RUN["plan"]["scenarios"] for name in RUN["plan"]["contenders"]]
    failed = {"status": "failed", "reasons": [EVIL], "throughput_rps": None, "limit": None, "raw": None, "halves": []}
    return [one.model_copy(update=failed) if (one.contender, one.scenario) == ("odd", "most") else one for one in made]


def starts() -> list[Start]:
    told = {"started_at": "", "cpu_s": 0.5, "pss_mib": 20.0}
    return [Start(round=n, contender=name, ready_s=1.0 + n / 10, **told) for n in (1, 2) for name in CONTENDERS]


def scope() -> Scope:
    return Scope(
        machine="A processor, 4 GiB", cores=2, profile="1cpu", tier="standard", rounds=6, runner="native", database="mysql 9",
        started_at=RUN["started_at"], commit=RUN["host"]["commit"], seed=7, versions={"slow": "R 1"},
    )  # fmt: skip


def said(text: str) -> Said:
    return Said(en=text, ko=f"{text} (우리말)")


ROW = Row(contender="slow", value=404.0, low=400.0, high=408.0, rounds=6, censored=0, limits={"cpu": 6}, doubts=1)


def claim(id_: str, verdict: Any, reason: Any = None) -> JudgedClaim:
    measured = verdict != "NOT_MEASURED"
    part = Judged(
        rule=RatioRule(rule="ratio_at_least", scenario="cost", metric="cpu", contender="slow", other="quick", ratio=2.0),
        verdict=verdict, reason=reason, missing=[] if measured else ["contender java-9"],
        comparisons=[Comparison(
            contender="slow", other="quick", unit="ratio", verdict=verdict, reason=reason, rounds=6, value=4.0, low=3.8, high=4.2,
            level=0.975, border=2.0, agree=1.0, sign_holds=True, rounds_needed=None, gate_low=0.98, gate_high=1.02,
        )] if measured else [],
        rows=[ROW] if measured else [],
    )  # fmt: skip
    theirs = Reported(what=said("slow"), value=10749.0, unit="requests/s")
    number = JudgedNumber(theirs=theirs, came="NOT_AGAIN", value=404.0, factor=0.038, factor_low=0.037, factor_high=0.038)
    told = JudgedAside(said=said("Another reason"), verdict="SUPPORTED", parts=[part])
    return JudgedClaim(
        id=id_, article=id_[0], said=said(f"Claim {id_} <i>"), conclusion=verdict, number=number, reason=reason, parts=[part],
        instead=[told], also=[], rounds_needed=12 if reason else None, reported=[theirs],
    )  # fmt: skip


def judgement() -> Judgement:
    found = [claim("A1", "SUPPORTED"), claim("A2", "REFUTED"), claim("B1", "UNDECIDED", "straddles")]
    return Judgement(scope=scope(), claims=[*found, claim("B2", "NOT_MEASURED", "no_contender")])


SIZE = Size(files=3, lines=350, complexity=60, functions=40)
CODE = Code(tool="counter 1", services={"one": SIZE}, contenders=dict.fromkeys(CONTENDERS, "one"))


THEIRS = Reported(
    what=said("a talk's figure"), value=9000.0, unit="requests/s", ours=Ours(scenario="most", contender="slow", metric="throughput")
)
FIGURE = Figure(claim="A1", theirs=THEIRS, value=8600.0, low=8500.0, high=8700.0, bound=False, rounds=6, limit="cpu", doubts=0)


PLAN = DigestPlan.model_validate(
    {
        "row": [{"id": "cost", "en": "a request", "ko": "요청"}, {"id": "most", "en": "capacity", "ko": "처리량"}],
        "finding": [{"row": "cost", "kind": "least", "en": "**Cost** {best} {factor}", "ko": "**비용** {best}"}],
        "question": [
            {"row": row, "kind": kind, "en": f"{row}?", "ko": f"{row}일까요?", "changes": {"en": "More.", "ko": "더."}}
            for row, kind in (("cost", "least"), ("most", "split"), ("cost", "alike"), ("in_flight_kib", "memory"))
        ],
    }
)  # fmt: skip


def unzipped(packed: str) -> str:
    return gzip.decompress(base64.b64decode(packed)).decode()


def data_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(unzipped(Parsed(page).scripts[0]))
    return found


def made(bundle: str = STUB, model: CostModel | None = None) -> str:
    found, begun = cells(), starts()
    table = tables.make(RUN, found, begun)
    drawn = charts.charts(table, RUN, found, begun, {"A": [FIGURE]})
    articles = {"A": Article(id="A", title=said("A talk"), setup=said("Four cores"))}
    matrix = dominance(RUN, found, begun, CODE)
    short = digest(PLAN, table, RUN, found, begun, matrix)
    return html.page(table, RUN, found, begun, judgement(), matrix, CODE, drawn, bundle, short, articles, model=model, plan=PLAN)


def sparse(run: dict[str, Any], found: list[Cell], claims: Sequence[JudgedClaim] = (), **more: Any) -> str:
    """No starts and no code, and nothing claimed unless it is named."""
    table = tables.make(run, found)
    matrix = dominance(run, found, [], None)
    short = digest(PLAN, table, run, found, [], matrix)
    return html.page(table, run, found, [], Judgement(scope=scope(), claims=list(claims)), matrix, None, [], STUB, short, **more)


@pytest.fixture(scope="module")
def text() -> str:
    return made()


class Parsed(HTMLParser):
    """Elements with their attributes, and the text of scripts, as a browser reads them."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self._in_script = True
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


# --- context switches --------------------------------------------------------------------------------------------------------------


def test_context_switches_are_a_table_where_the_rate_is_the_same_for_all_and_absent_where_nobody_counted_them(text: str) -> None:
    heading, found = messages.text("heading.switches", "en"), text[text.index("<main") :]
    assert found.count(f"{heading}</i>") >= 1
    part = found[found.index(f"{heading}</i>") :]
    assert re.findall(r'<tr><th scope="row">([a-z-]+)</th>', part[: part.index("</table>")]) == ["cost"]
    uncounted = [one.model_copy(update={"switches_per_request": None}) for one in cells()]
    assert f"{heading}</i>" not in sparse(RUN, uncounted)


# --- words -------------------------------------------------------------------------------------------------------------------------


def placeholders(message: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(message) if name}


def test_both_languages_say_the_same() -> None:
    assert not [key for key, said_ in MESSAGES.items() if len(said_) != len(LANGUAGES) or not all(said_)]
    assert not [key for key, (english, korean) in MESSAGES.items() if placeholders(english) != placeholders(korean)]


def test_each_message_stands_once_and_is_looked_up_in_one_place() -> None:
    sources = {file.name: file.read_text(encoding="utf-8") for file in PAGE.parent.glob("*.py")}
    keys = [key for name in ("messages.py", "charts_words.py") for key in re.findall(r'^    "([^"]+)": \(', sources[name], re.MULTILINE)]
    assert sorted(keys) == sorted(MESSAGES)
    assert [name for name, source in sources.items() if "LANGUAGES.index" in source and name != "messages.py"] == ["html_data.py"]


def test_no_message_is_said_by_nobody() -> None:
    """Where a key is made of a word of data, its prefix stands in the source, with the dot."""
    files = [file for file in sorted(PAGE.parent.rglob("*")) if file.suffix in (".py", ".js", ".j2")]
    source = "\n".join(file.read_text(encoding="utf-8") for file in files)
    found = {*re.findall(r"""["']((?:[a-z_]+\.)+)["'{]""", source), *(f"{name}." for name in re.findall(r'word\("([a-z_]+)",', source))}
    prefixes = tuple(found)
    unsaid = [key for key in MESSAGES if len(re.findall(f"""["']{re.escape(key)}["']""", source)) < 2]
    assert [key for key in unsaid if not key.startswith(prefixes)] == []


def test_an_unknown_word_or_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        messages.text("no.such", "en")
    with pytest.raises(KeyError):
        messages.text("count.rounds.many", "ko")


def test_every_word_of_the_data_has_a_message() -> None:
    rules = [rule.model_fields["rule"].annotation for rule in get_args(get_args(words_of_claims.Rule)[0])]
    data = {
        "verdict": get_args(words_of_claims.Conclusion), "verdict_means": get_args(words_of_claims.Conclusion),
        "number": get_args(words_of_claims.Came),
        "reason": get_args(words_of_claims.Reason), "reason_means": get_args(words_of_claims.Reason), "limit": get_args(Limit),
        "status": (*get_args(Status), "missing", "not asked"), "role": get_args(Role),
        "metric": METRIC_UNITS, "unit": METRIC_UNITS.values(),
        "rule": [name for names in rules for name in get_args(names)], "asks": [name for names in rules for name in get_args(names)],
        "check": [f"V{n}" for n in range(1, 12)],
    }  # fmt: skip
    assert not [f"{kind}.{name}" for kind, names in data.items() for name in names if f"{kind}.{name}" not in MESSAGES]


def test_every_word_of_the_page_has_a_message() -> None:
    template, script = ((PAGE / name).read_text(encoding="utf-8") for name in ("page.html.j2", "page.js"))
    asked = re.findall(r'\b(?:t|label|asides)\("([a-z_.]+)"[,)]', template)
    assert len(asked) > 50
    assert not set(asked) - MESSAGES.keys()
    of_script = set(re.findall(r"'((?:page|head)\.[a-z_]+)'", script))
    assert of_script == set(html_data.SCRIPT_WORDS)
    assert of_script <= MESSAGES.keys()


# --- one safe file -----------------------------------------------------------------------------------------------------------------


def test_what_data_say_is_text_and_nothing_else(text: str) -> None:
    parsed = Parsed(text)
    assert len(parsed.scripts) == 3
    assert not [tag for tag, has in parsed.elements if tag in ("img", "iframe", "object") or any(name.startswith("on") for name in has)]
    assert "&lt;b&gt;no tool&lt;/b&gt;" in text
    assert EVIL in data_of(text)["sentences"]


def test_nothing_is_fetched_and_only_its_own_scripts_run(text: str) -> None:
    parsed = Parsed(text)
    links = {has.get(name) or "" for _, has in parsed.elements for name in ("src", "href", "action")}
    assert {link for link in links if re.match(r"\w+:|//", link)} == {"data:,"}
    policy = next(a["content"] or "" for tag, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy.split("script-src")[1].split(";")[0]
    for script in (unzipped(parsed.scripts[1]), parsed.scripts[2]):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy


def test_a_bundle_that_names_the_end_of_a_script_stays_whole() -> None:
    bundle = "const end = '</script>', open = '<!-- <script>';\r\n"
    parsed = Parsed(made(bundle))
    assert len(parsed.scripts) == 3
    assert unzipped(parsed.scripts[1]) == bundle


def test_the_same_data_give_the_same_bytes(text: str) -> None:
    assert made() == text


@pytest.mark.parametrize(("one", "other"), [
    ({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}), ({"a": 1}, {"b": 1}), ([1, 2], [1]), ([1], [None]), ({}, {}),
])  # fmt: skip
def test_a_korean_chart_is_the_english_one_and_a_difference(one: Any, other: Any) -> None:
    def patched(value: Any, change: Any) -> Any:  # as page.js
        if change is None:
            return value
        if isinstance(change, list):
            return change[0]
        made_ = list(value) if isinstance(value, list) else dict(value)
        for key, below in change.items():
            key_ = int(key) if isinstance(made_, list) else key
            made_[key_] = patched(value[key_], below)
        return made_

    assert patched(one, html_data.difference(one, other)) == other


def test_a_percent_does_not_look_like_a_half() -> None:
    near, far = Scale.over([100, 101], log=True), Scale.over([100, 400], log=True)
    assert near.at(101) - near.at(100) < 5
    assert far.at(400) - far.at(100) > 80


def test_numbers_have_the_digits_that_their_spread_needs() -> None:
    assert [html_words.level(each) for each in (0.9, 0.95, 0.99958, 0.99999)] == ["90%", "95%", "99.96%", ">99.99%"]
    wide = ROW.model_copy(update={"low": 399.9, "high": 404.3})
    assert (html_words.interval(ROW).bounds, html_words.interval(wide).bounds) == ("400.0–408.0", "399.9–404.3")
    assert words.of_width(4.0, 3.8, 4.2, border=2.0) == ("4.00", "3.80", "4.20")
    assert words.of_width(2.2, 2.004, 2.4, border=2.0) == ("2.200", "2.004", "2.400"), "an end that is not the border does not look like it"
    assert html_words.interval(ROW.model_copy(update={"value": -0.5, "low": -1.0, "high": 0.25})).bounds == "−1.00 … 0.25"


def test_runs_that_lack_almost_everything_have_a_page() -> None:
    run, found = read_run(RECORDED)
    one_round = sparse(run, found)
    assert messages.text("legend.halves", "en") in one_round
    assert messages.text("control.none", "ko") in one_round
    assert messages.text("page.no_starts", "en") in one_round
    assert "No contender is best" not in one_round
    lost = [one.model_copy(update={"status": "invalid", "limit": None, "halves": []}) for one in found[:2]]
    assert messages.text("status.missing", "ko") in sparse(run, lost)
    assert messages.text("status.missing", "ko") in sparse(run, [])


def test_a_run_without_a_headline_begins_with_the_claims_that_it_decides() -> None:
    run, found = read_run(RECORDED)
    claims = [claim("A1", "REFUTED"), claim("A2", "UNDECIDED", "straddles"), claim("A3", "NOT_MEASURED"), claim("B1", "SUPPORTED")]
    first = sparse(run, found, claims).split('id="result"')[1].split("</section>")[0]
    assert re.findall(r"#claim-(\w+)", first) == ["A1", "B1"]
    assert messages.text("digest.no_findings", "en") not in first
    nothing = sparse(run, found, claims[1:3]).split('id="result"')[1].split("</section>")[0]
    assert messages.text("digest.no_findings", "en") in nothing
    assert "#claim-" not in nothing


def test_a_figure_of_a_claim_has_its_doubt() -> None:
    run, found = read_run(RECORDED)
    sure = claim("A1", "REFUTED").model_copy(update={"instead": []})
    part = sure.parts[0].model_copy(update={"rows": [ROW.model_copy(update={"doubts": 3})]})
    pages = [sparse(run, found, [each]) for each in (sure, sure.model_copy(update={"parts": [part]}))]
    assert [set(re.findall(r'<b class="value">([\d.]+\??) ×', page)) for page in pages] == [{"4.00"}, {"4.00?"}]


# --- in a browser ------------------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """A page that is open, and what it did."""

    page: Page
    complaints: list[str]
    requests: list[str]

    def texts(self, selector: str) -> list[str]:
        return [each.inner_text().strip() for each in self.page.locator(selector).all()]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the script that really draws."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(made(charts.bundle(), of_committed(BENCH)), encoding="utf-8")
    return path


@pytest.fixture(params=[390, 768, 1440])
def seen(request: pytest.FixtureRequest, browser: Browser, file: Path) -> Iterator[Seen]:
    page = browser.new_page(viewport={"width": request.param, "height": 900})
    page.set_default_timeout(300_000)  # no test fails by the clock of a slow machine
    found = Seen(page, [], [])

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":  # Vega-Lite warns of heights that follow from the number of contenders
            found.complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("request", lambda sent: found.requests.append(sent.url))
    page.goto(file.as_uri())
    yield found
    page.close()


def test_it_draws_without_a_network_and_fits_the_screen(seen: Seen) -> None:
    page = seen.page
    page.locator(".canvas").first.scroll_into_view_if_needed()  # charts are drawn when they come near
    mark = page.locator(".canvas svg .mark-symbol path, .canvas svg .mark-rect path").first
    mark.wait_for(state="attached")
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    page.locator("#vg-tooltip-element.visible").wait_for()
    assert page.locator("#vg-tooltip-element").inner_text().strip()
    for language in LANGUAGES:
        page.locator(f"[data-lang={language}]").click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith("data:")] == [page.url.split("#")[0]]


def test_the_language_is_one_switch_and_stays_in_the_address(seen: Seen) -> None:
    page = seen.page
    assert page.locator("html").get_attribute("lang") == "en"
    page.locator("[data-lang=ko]").click()
    assert page.locator("html").get_attribute("lang") == "ko"
    assert messages.text("heading.claims", "ko") in seen.texts("#claims h2")
    assert messages.text("heading.claims", "en") not in page.locator("main").inner_text()
    assert page.locator("header nav").get_attribute("aria-label") == messages.text("page.contents", "ko")
    page.locator("[data-theme-to=dark]").click()
    page.reload()
    assert page.locator("html").get_attribute("lang") == "ko"
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_a_row_sorts_the_contenders_best_first_and_what_has_no_figure_last(seen: Seen) -> None:
    heads = "#figures thead th:not(:first-child)"
    row = seen.page.locator("#figures .sort", has_text="most")
    assert seen.texts(heads) == list(CONTENDERS)
    row.click()
    assert seen.texts(heads) == ["quick", *OTHERS, "slow", "odd"]
    assert row.get_attribute("aria-pressed") == "true"
    figures = [text.split("\n")[0].rstrip("●≈ ") for text in seen.texts("#figures tbody tr:last-child td")]
    assert [figures[0], *figures[-2:]] == ["990", "248", "failed"]
    row.click()
    assert seen.texts(heads) == ["slow", *OTHERS, "quick", "odd"]
    row.click()
    assert seen.texts(heads) == list(CONTENDERS)


def test_a_cell_opens_by_keyboard_and_escape_leads_back(seen: Seen) -> None:
    page = seen.page
    cells_ = page.locator("#figures tbody tr:last-child .cell")
    odd = cells_.nth(CONTENDERS.index("odd"))
    odd.focus()
    page.keyboard.press("Enter")
    dialog = page.locator("#dialog")
    assert dialog.is_visible()
    assert "odd · most" in dialog.inner_text()
    assert EVIL in dialog.inner_text()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.dataset.cell") == odd.get_attribute("data-cell")
    cells_.nth(0).click()
    assert page.locator("#dialog a").first.get_attribute("href") == "k6/01-most-slow.json"
    assert page.locator("#dialog tbody tr").count() == 6


def test_links_of_a_kept_run_lead_to_its_archive_and_name_the_member(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    whole = made(STUB)
    packed = html.zipped(html.to_text({**data_of(whole), "packed": True}))
    path.write_text(whole.replace(Parsed(whole).scripts[0], packed), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.locator("#figures tbody tr:last-child .cell").first.click()
    link = page.locator("#dialog a").first
    told = (link.get_attribute("href"), link.inner_text(), link.get_attribute("title"))
    assert told == ("raw.tar.xz", "k6/01-most-slow.json", "./justw raw RUN k6/01-most-slow.json")
    page.close()


def test_whether_a_run_is_packed_is_told_to_the_script() -> None:
    run, found = read_run(RECORDED)
    for packed in (False, True):
        assert data_of(sparse(run, found, packed=packed))["packed"] is packed


TEXTS = "td => [td.firstChild.textContent.replace('†', '').trim(), ...[...td.querySelectorAll('.below')].map(each => each.textContent)]"
IN_CELLS = """svg => {
  const boxes = [...svg.querySelectorAll('.mark-rect.role-mark path')].map(each => each.getBoundingClientRect());
  return [...svg.querySelectorAll('.mark-text.role-mark text')].filter(each => each.textContent).map(each => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    const inside = boxes.some(box => box.left <= left && right <= box.right && box.top - 1 <= top && bottom <= box.bottom + 1);
    return [each.textContent, inside];
  });
}"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_figure_of_the_overview_and_of_the_criteria_has_its_spread(seen: Seen, language: Language) -> None:
    page = seen.page
    page.locator(f"[data-lang={language}]").click()
    heat = page.locator(".charts.heat .canvas svg").first
    page.locator(".charts.heat .canvas").first.scroll_into_view_if_needed()
    heat.wait_for(state="attached")
    written = heat.evaluate(IN_CELLS)
    figures, widths = ([text for text, _ in written if text.startswith("±") == below] for below in (False, True))
    assert len(widths) == 15  # eight contenders under two scenarios; one has failed
    assert len(figures) == 16
    assert [text for text, inside in written if not inside] == []
    counted = {messages.text(f"metric.{name}", language) for name in ("lines", "complexity")}
    values = page.locator("#criteria td:not(.text)").all()
    assert len(values) > 4 * len(CONTENDERS)
    for each in values:
        figure, *bounds = each.evaluate(TEXTS)
        exact = each.locator("xpath=..").locator("th").inner_text() in counted
        assert figure == "–" or bool(bounds) != exact, (figure, bounds)
        assert all(re.fullmatch(r"[\d.,]+–[\d.,]+", bound) for bound in bounds)


def test_the_small_table_compares_with_a_chosen_baseline_and_hides_columns(seen: Seen) -> None:
    page = seen.page
    shown = page.locator(".digest-table:visible")

    def cell(name: str, part: str = "factor") -> str:
        return shown.locator(f"td[data-of={name}][data-row=cost] .{part}").inner_text()

    assert (cell("quick"), cell("slow")) == ("1×", "4.00×")
    assert (cell("quick", "around"), cell("slow", "around")) == ("", "")  # it is narrow
    assert cell(UNSTEADY, "around") == "±7%"
    assert shown.locator("td[data-of=quick][data-row=cost].best").count() == 1
    assert shown.locator("td[data-of=odd][data-row=most].fails").count() == 1
    page.locator("#baseline").select_option("slow")
    assert (cell("quick"), cell("slow")) == ("0.25×", "1×")
    assert cell(UNSTEADY, "around") == "±6%"
    assert shown.locator("td[data-of=quick][data-row=cost].better").count() == 1
    assert shown.locator("td[data-of=slow].worse").count() == 0
    assert "slow" in page.locator("#compared").inner_text()
    page.locator("[name=column][value=quick]").uncheck(force=True)
    assert shown.locator("td[data-of=quick]:visible").count() == 0
    page.locator("#baseline").select_option("")
    assert cell("slow") == "4.00×"
    assert cell(UNSTEADY, "around") == "±7%"


def test_the_guide_answers_what_the_figures_say_and_leaves_out_what_they_do_not(seen: Seen) -> None:
    rows = seen.texts("#guide tbody tr")
    assert [row.split("?")[0] for row in rows] == ["cost", "in_flight_kib"]  # nobody failed who has a figure, and the costs differ
    assert "Least: quick" in rows[0]
    assert "slow 4.00×" in rows[0]
    seen.page.locator("[data-lang=ko]").click()
    assert messages.text("guide.column.changes", "ko") in seen.page.locator("#guide thead").inner_text()


def test_closed_details_are_filled_when_they_are_opened(seen: Seen) -> None:
    parts = seen.page.locator("#claim-A1 details.parts")
    assert parts.locator(".part").count() == 0
    parts.locator("summary").click()
    parts.locator(".part").first.wait_for()
    seen.page.locator("#unfold").click()
    assert seen.page.locator(".claim [data-later]").count() == 0
    assert seen.complaints == []


def until(page: Page, holds: str) -> None:
    """Waits until an expression is true. Playwright's own waiting compiles it in the page, which the page's policy forbids."""
    for _ in range(600):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(50)
    raise AssertionError(holds)


def test_a_deep_link_lands_below_the_bar_although_charts_above_it_are_drawn_late(seen: Seen) -> None:
    page = seen.page
    page.locator('a[href="#dominance"]').first.click()
    until(page, "[...document.querySelectorAll('#charts .canvas')].every(each => !each.offsetParent || each.made)")
    until(page, "Math.abs(document.getElementById('dominance').getBoundingClientRect().top) < 90")


def test_every_link_of_the_bar_leads_to_its_section(seen: Seen) -> None:
    page = seen.page
    links = page.locator("header nav a").all()
    assert len(links) >= 10
    for link in links:
        id_ = (link.get_attribute("href") or "").removeprefix("#")
        link.click()
        place = f"document.getElementById('{id_}').getBoundingClientRect()"
        until(page, f"{place}.top > -4 && {place}.top < 90 || innerHeight + scrollY >= document.documentElement.scrollHeight - 2")
        assert page.evaluate("document.activeElement.id") == id_
    assert seen.complaints == []


@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_who_wants_no_motion_gets_none(browser: Browser, file: Path, wish: Any) -> None:
    page = browser.new_page(reduced_motion=wish)
    page.set_default_timeout(300_000)
    page.goto(file.as_uri())
    moves = page.evaluate(MOVES)
    page.close()
    assert moves == ([] if wish == "reduce" else ["HTML"])


def test_the_head_of_the_table_sticks_on_a_wide_screen(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(
        sparse({**RUN, "plan": {**RUN["plan"], "contenders": ["slow", "odd", "quick", "slow-twin"]}}, cells()), encoding="utf-8"
    )
    page = browser.new_page(viewport={"width": 1440, "height": 300})
    page.goto(path.as_uri())
    page.locator("#figures tbody tr").last.scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#figures tbody tr:last-child').scrollIntoView({block: 'center', behavior: 'instant'})")
    top = page.evaluate("document.querySelector('#figures thead th').getBoundingClientRect().top")
    bar = page.evaluate("document.querySelector('.top').getBoundingClientRect().bottom")
    page.close()
    assert bar - 4 <= top <= bar + 2


def test_claims_are_filtered_by_article_and_verdict(seen: Seen) -> None:
    page = seen.page
    assert seen.texts(".claim:not([hidden]) .id") == ["A1", "A2", "B1"]  # what was not measured is asked for
    page.locator("[name=verdict][value=NOT_MEASURED]").check(force=True)
    assert seen.texts(".claim:not([hidden]) .id") == ["A1", "A2", "B1", "B2"]
    page.locator("[name=article][value=B]").uncheck(force=True)
    page.locator("[name=verdict][value=REFUTED]").uncheck(force=True)
    assert seen.texts(".claim:not([hidden]) .id") == ["A1"]
    assert "1 of 4" in page.locator("#shown").inner_text()
    page.evaluate("location.hash = '#claim-B2'")
    page.locator("#claim-B2:focus").wait_for()
    assert seen.texts(".claim:not([hidden]) .id") == ["A1", "B1", "B2"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_rule_of_axe_is_broken(seen: Seen, language: Language, theme: str) -> None:
    """With everything open; contrast (WCAG 2.2, 1.4.3) is among the rules."""
    page = seen.page
    page.locator(f"[data-lang={language}]").click()
    page.locator(f"[data-theme-to={theme}]").click()
    page.locator("[name=verdict][value=NOT_MEASURED]").check(force=True)
    page.locator("#unfold").click()
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found] == []


MOVES = """[...document.querySelectorAll('*')].filter(each => {
  const style = getComputedStyle(each);
  const takes = [...style.transitionDuration.split(','), ...style.animationDuration.split(',')].some(time => parseFloat(time) > 0);
  return takes || style.scrollBehavior === 'smooth';
}).map(each => each.tagName)"""
"""Elements that move by themselves, or scroll smoothly."""


# --- the largest run there is ------------------------------------------------------------------------------------------------------


def test_a_committed_run_is_below_one_megabyte() -> None:
    folder = max((Path(__file__).parents[1] / "results").glob("*-standard/cells.jsonl"), key=lambda f: f.parent.name).parent
    run, found = read_run(folder)
    table, matrix = tables.make(run, found), dominance(run, found, [], None)
    drawn = charts.charts(table, run, found, [])
    many = Judgement(scope=scope(), claims=[claim(f"A{n}", "SUPPORTED") for n in range(1, 41)])
    short = digest(PLAN, table, run, found, [], matrix)
    model = of_committed(folder.parents[1])
    whole = html.page(table, run, found, [], many, matrix, None, drawn, charts.bundle(), short, model=model, plan=PLAN)
    assert len(whole.encode()) < 1_000_000
