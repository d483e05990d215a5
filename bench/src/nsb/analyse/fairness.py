"""Are the contenders of a run set alike? What each has in effect, and where one differs from another or from the contract. Pure.

A value is null where a thing does not exist in a runtime, or cannot be read on a machine: it is shown and not compared.
Only where null says "no limit" (C3) it is a value like any other.

What a contender declares to differ on purpose is not compared either, but it must differ: else the declaration is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from nsb.analyse.validity import STATEMENTS
from nsb.records.judged import Cell
from nsb.records.manifest import (
    ADDRESSES,
    CONTRACT,
    FIRST_START,
    FOLLOWS,
    NO_LIMIT,
    SETTINGS,
    UNSET,
    Fairness,
    Granted,
    Manifest,
    Setting,
    Source,
    Value,
)
from nsb.registry.terms import Frozen

# --- what differs -----------------------------------------------------------------------------------------------------


class Asymmetry(Frozen):
    """A setting in which a contender differs from another one, from the contract, or from its own first start."""

    setting: str
    source: Source
    rule: str
    one: str
    value: str
    other: str
    other_value: str
    declared: bool = False
    """The contender should have another value, for so it is declared."""

    @property
    def sentence(self) -> str:
        if self.declared:
            at = f"{self.setting} ({self.source}, {self.rule})"
            return f"{at}: {self.one} is declared to differ, and has {self.value} as {self.other} has"
        verb = {CONTRACT: "asks for", FIRST_START: "had"}.get(self.other, "has")
        return f"{self.setting} ({self.source}, {self.rule}): {self.one} has {self.value}, {self.other} {verb} {self.other_value}"


def refusal(unlike: Sequence[Asymmetry]) -> str:
    """Why the run is refused, and what to do."""
    return "\n".join(
        [
            "The contenders are not set alike, so no number would mean anything:",
            *(f"  {each.sentence}" for each in unlike),
            "Mend what differs, declare it (`differs` in bench/contenders.toml) where a contender stands for just that, or leave "
            "it out by --contenders. `./justw conform ID` shows a broken rule (C…) at work; "
            "cores, nice values, open files and environment come from the run command in bench/contenders.toml and from "
            "whatever else sets limits on this machine.",
        ]
    )


def asymmetries(manifests: Mapping[str, Manifest], granted: Granted) -> list[Asymmetry]:
    """Every setting in which a contender differs: from one that is as the contract asks, where there is such a one, else
    from the contract, and where the contract names no value, from most of the others. Without ADDRESSES, see addresses()."""
    found: list[Asymmetry] = []
    for setting in SETTINGS:
        for group in _groups(setting, manifests):
            wanted = setting.wanted(granted) if setting.kind == "equal" else NO_LIMIT if setting.kind == "limit" else None
            values = {name: setting.compared(m, granted) for name, m in group.items() if setting.declared_as not in m.differs}
            found += _odd(setting.title, setting.source, setting.rule, values, wanted, setting.words)
    return [*found, *_undeclared_pools(manifests), *_shares(manifests, granted), *_variables(manifests), *_idle(manifests, granted)]


def addresses(sitting: Mapping[str, Manifest]) -> list[Asymmetry]:
    """Where contenders of one sitting are told different addresses. After --resume all of them are others than before."""
    return [each for name in sorted(ADDRESSES) for each in _variable(name, sitting)]


def _undeclared_pools(manifests: Mapping[str, Manifest]) -> list[Asymmetry]:
    """Where a pool of another size is declared, the database must see that size."""
    return [
        Asymmetry(
            setting="pool open", source="database", rule="C60", one=name, value=str(m.seen.connections),
            other="its own pool", other_value=str(m.pool()),
        )
        for name, m in manifests.items()
        if "pool_size" in m.differs and m.seen.connections != m.pool()
    ]  # fmt: skip


def _idle(manifests: Mapping[str, Manifest], granted: Granted) -> list[Asymmetry]:
    """Declared differences that are not there: a contender has the value of the contract, or, where it names none, of every
    contender with the same runtime and framework that does not declare it."""
    found = []
    for setting in SETTINGS:
        if setting.name in FOLLOWS:
            continue
        for name, manifest in manifests.items():
            if setting.declared_as not in manifest.differs:
                continue
            value, others = setting.compared(manifest, granted), _usual(setting, manifest, manifests, granted)
            if others and all(value == other for other in others.values()):
                other = next(iter(others))
                found.append(
                    Asymmetry(
                        setting=setting.title, source=setting.source, rule=setting.rule, one=name, value=setting.words(value),
                        other=other, other_value=setting.words(value), declared=True,
                    )
                )  # fmt: skip
    return found


def _usual(setting: Setting, manifest: Manifest, manifests: Mapping[str, Manifest], granted: Granted) -> dict[str, Value]:
    """Who has a setting as it usually is, and how; nobody where nothing can be said."""
    if setting.kind == "equal":
        return {CONTRACT: setting.wanted(granted)}
    if setting.kind == "limit":
        return {CONTRACT: NO_LIMIT}
    said = manifest.said
    family = (said.runtime, said.framework, said.framework_version)
    return {
        name: setting.compared(m, granted)
        for name, m in manifests.items()
        if setting.declared_as not in m.differs and (m.said.runtime, m.said.framework, m.said.framework_version) == family
    }


def _groups(setting: Setting, manifests: Mapping[str, Manifest]) -> list[Mapping[str, Manifest]]:
    """The contenders among whom a setting is compared."""
    if setting.kind == "shown":
        return []
    if setting.kind != "runtime":
        return [manifests]
    runtimes = dict.fromkeys(manifest.said.runtime for manifest in manifests.values())
    return [{name: m for name, m in manifests.items() if m.said.runtime == runtime} for runtime in runtimes]


def _odd(
    title: str, source: Source, rule: str, values: Mapping[str, Value], wanted: Value, words: Callable[[Value], str]
) -> list[Asymmetry]:
    """Those of `values` (null: nothing to compare) that are not the wanted one, or not the most frequent where none is wanted."""
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return []
    if wanted is None:
        written = Counter(words(value) for value in known.values())
        most = written.most_common(1)[0][0]
        wanted = next(value for value in known.values() if words(value) == most)
    other = next((name for name, value in known.items() if value == wanted), CONTRACT)
    return [
        Asymmetry(setting=title, source=source, rule=rule, one=name, value=words(value), other=other, other_value=words(wanted))
        for name, value in known.items()
        if value != wanted
    ]


def _shares(manifests: Mapping[str, Manifest], granted: Granted) -> list[Asymmetry]:
    """The pool by process: all in one, or divided evenly over as many processes as there are workers, the remainder to the first (C50)."""
    found = []
    for name, manifest in manifests.items():
        processes, pool = manifest.workers(granted) if manifest.worker_processes else 1, manifest.pool()
        wanted = [pool // processes + (number < pool % processes) for number in range(processes)]
        shares = manifest.seen.pool_shares
        if shares is not None and shares != wanted:
            found.append(
                Asymmetry(
                    setting="pool by process", source="kernel", rule="C50, C64", one=name, value=sum_of(shares),
                    other=CONTRACT, other_value=sum_of(wanted),
                )
            )  # fmt: skip
    return found


def sum_of(shares: Sequence[int]) -> str:
    return " + ".join(str(share) for share in shares)


def _variables(manifests: Mapping[str, Manifest]) -> list[Asymmetry]:
    known = {variable for manifest in manifests.values() for variable in manifest.seen.environment or {}}
    return [each for variable in sorted(known - ADDRESSES) for each in _variable(variable, manifests)]


def _variable(name: str, manifests: Mapping[str, Manifest]) -> list[Asymmetry]:
    """It must be equal, or missing, in all contenders but those for which contenders.toml declares it."""
    values: dict[str, Value] = {
        contender: m.seen.environment.get(name, UNSET)
        for contender, m in manifests.items()
        if m.seen.environment is not None and name not in m.own_environment
    }
    return _odd(f"environment variable {name}", "kernel", "C50", values, None, str)


def changes(name: str, before: Manifest, now: Manifest) -> list[Asymmetry]:
    """In what a contender that was started again differs from its first start."""
    found: list[Asymmetry] = []

    def add(setting: str, source: Source, rule: str, had: str, has: str) -> None:
        if had != has:
            found.append(Asymmetry(setting=setting, source=source, rule=rule, one=name, value=has, other=FIRST_START, other_value=had))

    for setting in SETTINGS:
        old, new = setting.of(before), setting.of(now)
        if setting.kind == "limit" or None not in (old, new):
            add(setting.title, setting.source, setting.rule, setting.words(old), setting.words(new))
    if before.seen.pool_shares is not None and now.seen.pool_shares is not None:
        add("pool by process", "kernel", "C50, C64", sum_of(before.seen.pool_shares), sum_of(now.seen.pool_shares))
    if before.seen.environment is not None and now.seen.environment is not None:
        old_ones, new_ones = before.seen.environment, now.seen.environment
        for variable in sorted({*old_ones, *new_ones} - ADDRESSES):
            had, has = old_ones.get(variable, UNSET), new_ones.get(variable, UNSET)
            add(f"environment variable {variable}", "kernel", "C50", had, has)
    return found


def unlike(record: Fairness, name: str, now: Manifest) -> list[Asymmetry]:
    """In what a contender, started while the run goes on, differs from its first start, or, at its first, from the others."""
    if name in record.contenders:
        return changes(name, record.contenders[name], now)
    return asymmetries({**record.contenders, name: now}, record.granted)


# --- statements per request, after the run ----------------------------------------------------------------------------


def statements_per_request(cells: Iterable[Cell]) -> float | None:
    """Statements that the database executed by requests answered, over the cells that tell; None where none does."""
    counted = [(cell.statements, cell.requests) for cell in cells if cell.statements is not None and _tells(cell)]
    requests = sum(answered for _, answered in counted)
    return sum(executed for executed, _ in counted) / requests if requests else None


def _tells(cell: Cell) -> bool:
    """Where requests failed (V1), answers and statements need not add up."""
    return cell.statements is not None and not any(reason.startswith("V1 ") for reason in cell.reasons)


def miscounts(record: Fairness, cells: Iterable[Cell]) -> list[Asymmetry]:
    """Contenders that sent another number of statements per request than declared (V9), each beside one that did as declared.

    `cells`: the last attempt of each.
    """
    found: list[Asymmetry] = []
    telling = [cell for cell in cells if _tells(cell)]
    for scenario, declared in record.statements.items():
        right: dict[str, list[Cell]] = {}
        wrong: dict[str, list[Cell]] = {}
        for cell in telling:
            if cell.scenario == scenario:
                miscounted = any(reason.startswith("V9 ") and STATEMENTS in reason for reason in cell.reasons)
                (wrong if miscounted else right).setdefault(cell.contender, []).append(cell)
        other = next((name for name in right if name not in wrong), CONTRACT)
        found += [
            Asymmetry(
                setting=f"{STATEMENTS} of {scenario}", source="cells", rule="C61", one=name, value=_ratio(those),
                other=other, other_value=_ratio(right[other]) if other in right else str(declared),
            )
            for name, those in wrong.items()
        ]  # fmt: skip
    return found


def _ratio(cells: Iterable[Cell]) -> str:
    return f"{statements_per_request(cells):.2f}"
