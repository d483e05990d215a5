"""The calculator of the page: the same numbers as `just size`, by keyboard, in both languages, with a link that carries the inputs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from nsb.analyse.model import CostModel, Quantity
from nsb.analyse.size import EXAMPLES, Workload, sized, thousands_of
from nsb.render import html, html_size, messages
from nsb.render.size import short
from nsb.session.models import of_committed
from nsb.verbs.sizing import workload
from test_page import made

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
BENCH = Path(__file__).resolve().parents[1]
SCRIPT = (Path(html.__file__).parent / "page" / "size.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def model() -> CostModel:
    return of_committed(BENCH)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, model: CostModel) -> Path:
    path = tmp_path_factory.mktemp("calculator") / "report.html"
    path.write_text(made(model=model), encoding="utf-8")
    return path


@pytest.fixture(params=[390, 1440])
def page(request: pytest.FixtureRequest, browser: Browser, file: Path) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": request.param, "height": 900})
    opened.set_default_timeout(300_000)  # no test fails by the clock of a slow machine
    opened.goto(f"{file.as_uri()}#size")
    opened.locator("#sized tbody tr").first.wait_for()
    yield opened
    opened.close()


# --- the same numbers ----------------------------------------------------------------------------------------------------------


def drawn_loads(count: int) -> list[Workload]:
    draw = random.Random(20261125)

    def some(most: float) -> float:
        return 0.0 if draw.random() < 0.4 else round(draw.uniform(0, most), 3)

    found = []
    for _ in range(count):
        calls = some(5)
        found.append(Workload(
            rate=round(10 ** draw.uniform(-1, 5), 3), wait_ms=some(1000), queries=some(5), inserts=some(3), query_ms=some(20), calls=calls,
            call_ms=some(300) if calls else 0.0, compute_ms=some(5), compute_on=draw.choice([None, "rust", "python", "nobody"]),
            blocking_ms=some(100), idle=float(round(some(100_000))), utilisation=round(draw.uniform(0.05, 0.95), 2),
            core_price=draw.choice([None, some(40)]), gib_price=draw.choice([None, some(5)]),
        ))  # fmt: skip
    return found


def lacking(model: CostModel) -> CostModel:
    """The same with what a run may lack: memory, a kind of work, all rounds but one, a bound."""
    one, two, three, four, *rest = model.contenders
    bound = Quantity(value=9, low=0, high=9, bound=True, run="x")
    known = [kind for kind in two.known if kind != "insert"]
    return model.model_copy(update={"contenders": [
        one.model_copy(update={"memory": one.memory.model_copy(update={"in_flight_kib": None})}),
        two.model_copy(update={"known": known}),
        three.model_copy(update={"rounds": three.rounds[:1], "t": None}),
        four.model_copy(update={"memory": four.memory.model_copy(update={"connection_kib": bound})}),
        *(each.model_copy(update={"rounds": []}) for each in rest[:1]), *rest[1:],
    ]})  # fmt: skip


@pytest.mark.parametrize("whole", [True, False])
def test_the_page_calculates_as_just_size_does(browser: Browser, model: CostModel, whole: bool) -> None:
    of = model if whole else lacking(model)
    loads = drawn_loads(200)
    opened = browser.new_page()
    opened.add_script_tag(content=SCRIPT)
    theirs = opened.evaluate(
        "([model, loads]) => loads.map(load => [size.thousandsOf(model, load), size.sized(model, load)])",
        [of.model_dump(mode="json"), [each.model_dump(mode="json") for each in loads]],
    )
    opened.close()
    ours = [[thousands_of(of, load), [each.model_dump(mode="json") for each in sized(of, load)]] for load in loads]
    assert theirs == [_near(each) for each in ours]
    stations = {one["full_first"] for _, found in ours for one in found}
    assert stations >= {"cores", "threads", "pool", "loop"}  # so every formula was asked


def _near(value: Any) -> Any:
    """The two languages may round the last digit of a sum differently."""
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-9)
    if isinstance(value, dict):
        return {key: _near(each) for key, each in value.items()}
    return [_near(each) for each in value] if isinstance(value, list) else value


def test_the_fields_are_the_options_of_just_size(model: CostModel) -> None:
    for load in EXAMPLES.values():
        given = {
            each.name: each.shown(load) + (each.unit if each.unit in ("ms", "%") else "") for each in html_size.FIELDS if each.shown(load)
        }
        options = {"query-time": "1ms", **given}
        assert workload(options, [each.contender for each in model.contenders]) == load


# --- in a browser --------------------------------------------------------------------------------------------------------------


def cores_of(page: Page) -> dict[str, str]:
    cell = "line => [line.cells[0].textContent.replace('✗ ', ''), line.cells[1].firstChild.textContent]"
    return dict(page.locator("#sized tbody tr").evaluate_all(f"lines => lines.map({cell})"))


def ours_of(model: CostModel, load: Workload) -> dict[str, str]:
    return {each.contender: short(each.cores.value) for each in sized(model, load) if each.cores is not None}


def test_it_is_filled_by_keyboard_alone_and_its_link_carries_the_inputs(page: Page, browser: Browser, model: CostModel) -> None:
    page.locator("#size-rate").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("1234")
    page.keyboard.press("Tab")
    page.keyboard.type("300")
    first = next(iter(EXAMPLES.values()))
    load = first.model_copy(update={"rate": 1234.0, "wait_ms": 300.0})
    assert cores_of(page) == ours_of(model, load)
    assert "--rate 1234 --wait 300ms" in page.locator("#load-command").inner_text()
    again = browser.new_page()
    again.goto(page.url)
    again.locator("#sized tbody tr").first.wait_for()
    assert cores_of(again) == cores_of(page)
    assert again.locator("#size-wait").input_value() == "300"
    again.close()


def test_an_example_fills_the_form_in_both_languages_and_the_page_stays_narrow(page: Page, model: CostModel) -> None:
    for language in messages.LANGUAGES:
        page.locator(f"[data-lang={language}]").click()
        for name, load in EXAMPLES.items():
            page.locator("[data-example]", has_text=messages.text(f"size.example.{name}", language)).click()
            assert cores_of(page) == ours_of(model, load)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        lack = messages.text("size.lack.loop", language, needs="1", has="1").split("1")[0]
        assert lack in page.locator("#sized-notes").inner_text()  # the last example blocks its thread
        assert messages.text("size.head.memory", language) in page.locator("#sized thead").inner_text()


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_what_is_wrong_is_said_and_no_figure_stays(page: Page, language: messages.Language) -> None:
    page.locator(f"[data-lang={language}]").click()
    page.locator("#size-utilisation").fill("150")
    told = page.locator("#load-wrong").inner_text()
    assert told == messages.text("size.wrong", language, field=messages.text("size.field.utilisation", language), least="1", most="99")
    assert not page.locator("#sized").is_visible()
    assert page.locator("#size-utilisation").get_attribute("aria-invalid") == "true"
    page.locator("#size-utilisation").fill("50")
    assert page.locator("#load-wrong").inner_text() == ""
    assert page.locator("#sized").is_visible()
    page.locator("#size-calls").fill("2")
    assert page.locator("#load-wrong").inner_text() == messages.text("size.needs_call_time", language)


def test_a_run_without_costs_has_no_calculator() -> None:
    assert 'id="load"' not in made()
    assert 'href="#size"' not in made()
