"""The words of every report in the languages of its readers. Pure.

`text` gives one message, `said` both, `own` one language's of both; the functions below them make sentences out of values. What data say
themselves (a check's sentence, the name of a contender or of a setting) stays as the run recorded it. charts_words.py has those of charts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args, overload

from nsb.registry.claims import (
    ArithmeticRule,
    CapRule,
    CodeRule,
    Comparison,
    FigureRule,
    Judged,
    LimitRule,
    MarginRule,
    NoWinnerRule,
    PointsRule,
    RatioRule,
    Rule,
    Said,
    Scope,
    SlopeRule,
)
from nsb.registry.terms import METRIC_UNITS, SHARES, Metric
from nsb.render.charts_words import CHARTS

Language = Literal["en", "ko"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

MESSAGES: dict[str, tuple[str, str]] = {
    # --- verdicts ---------------------------------------------------------------------------------------------------
    "verdict.SUPPORTED": ("supported", "사실로 확인"),
    "verdict.REFUTED": ("refuted", "사실과 다름"),
    "verdict.UNDECIDED": ("undecided", "판정 보류"),
    "verdict.NOT_MEASURED": ("not measured", "측정하지 않음"),
    "verdict.TAUTOLOGY": ("tautology", "동어 반복"),
    "verdict.SUPPORTED_IN_PART": ("supported, as far as it can be measured", "측정 가능한 범위에서 사실로 확인"),
    "verdict_means.SUPPORTED": (
        "The interval lies wholly on the claimed side, and the twin of this run shows no difference of its own.",
        "신뢰 구간 전체가 주장을 만족하는 범위에 있고, 이 측정의 쌍둥이(같은 프로그램을 두 번 띄운 것) 사이에는 차이가 없습니다.",
    ),
    "verdict_means.REFUTED": (
        "The interval lies wholly on the other side.",
        "신뢰 구간 전체가 주장에 어긋나는 범위에 있습니다.",
    ),
    "verdict_means.UNDECIDED": (
        "This run cannot tell. Undecided is not equal.",
        "이 측정으로는 알 수 없습니다. 판정 보류는 같다는 뜻이 아닙니다.",
    ),
    "verdict_means.NOT_MEASURED": (
        "A contender, a scenario or a count that it needs is not in this run, or the run is of another profile.",
        "필요한 측정 대상, 시나리오 또는 집계가 이 측정에 없거나, 다른 프로필의 측정입니다.",
    ),
    "verdict_means.TAUTOLOGY": (
        "The claim follows from how the servers are built. Our figures agree, and that shows nothing.",
        "서버의 구조에서 바로 따라 나오는 말입니다. 측정값도 일치하지만 당연한 결과라 확인된 것은 없습니다.",
    ),
    "number.AGAIN": ("reproduced", "재현됨"),
    "number.AGAIN_BY_LAW": ("reproduced, as arithmetic says", "재현됨(계산으로 나오는 값)"),
    "number.COMPUTED": ("its arithmetic is right; no figure of ours is compared with it", "계산이 맞음(측정과는 비교하지 않음)"),
    "number.NOT_AGAIN": ("not reproduced", "재현되지 않음"),
    "number.UNDECIDED": ("undecided", "판정 보류"),
    "number.NOT_MEASURED": ("not measured", "측정하지 않음"),
    "number.NONE": ("none given", "글에 없음"),
    "number.ours": ("ours {ours}; ours ÷ theirs {factor}", "우리 측정값 {ours}, 글 대비 {factor}"),
    "number.own": ("recomputed from the article's figures: {value}", "글의 수치로 다시 계산하면 {value}"),
    "question.arithmetic": ("Arithmetic: {why}", "계산으로 나오는 결과: {why}"),
    "question.tautology": ("Tautology: {why}", "동어 반복: {why}"),
    # --- reasons ----------------------------------------------------------------------------------------------------
    "reason.too_few_rounds": ("too few rounds", "라운드 수 부족"),
    "reason.no_twin": ("no A/A twin", "A/A 쌍둥이 없음"),
    "reason.twin_failed": ("the A/A twin differs", "측정 잡음이 커서 구분 불가"),
    "reason.straddles": ("the interval straddles the border", "신뢰 구간이 기준값을 포함"),
    "reason.unsteady": ("unsteady over the rounds", "라운드마다 흔들림"),
    "reason.generator_bound": ("the generator was the limit", "부하 생성기가 먼저 포화"),
    "reason.database_bound": ("the database was the limit", "데이터베이스가 먼저 포화"),
    "reason.core_bound": ("its core was full", "코어가 먼저 포화"),
    "reason.load_bound": ("the load was the limit", "부하가 작아 한계를 확인하지 못함"),
    "reason.warming": ("it was still warming up", "예열이 끝나지 않음"),
    "reason.not_sustained": ("the rate was not sustained", "요청률을 감당하지 못함"),
    "reason.noisy_machine": ("noisy machine", "장비 잡음"),
    "reason.invalid": ("invalid cells", "무효인 셀"),
    "reason.needs_1cpu": ("it needs a run of profile 1cpu", "1cpu 프로필 측정 필요"),
    "reason.needs_ncpu": ("it needs a run of profile ncpu", "ncpu 프로필 측정 필요"),
    "reason.no_contender": ("no such contender in the run", "측정 대상 없음"),
    "reason.no_scenario": ("no such scenario in the run", "시나리오 없음"),
    "reason.no_figure": ("the run did not count it", "이 측정에는 그 값이 없음"),
    "reason.no_code": ("the code was not counted", "코드 집계 없음"),
    "reason.no_measure": ("nothing here measures a part of it", "일부는 잴 방법이 아직 없음"),
    "reason.other_quantity": ("ours is another quantity", "여기서 잰 것과 다른 양"),
    "reason.runs_disagree": ("the runs disagree", "측정마다 판정이 다름"),
    "reason_means.too_few_rounds": (
        "Fewer than five rounds count on both sides; below that nothing is decided.",
        "양쪽 모두 유효한 라운드가 다섯 번이 되지 않습니다. 그보다 적으면 판정하지 않습니다.",
    ),
    "reason_means.no_twin": (
        "Nothing in this run shows how large its noise is, so no difference is reliable.",
        "이 측정에는 잡음의 크기를 알려 주는 쌍둥이가 없어 어떤 차이도 믿을 수 없습니다.",
    ),
    "reason_means.twin_failed": (
        "The same program, started twice, differs from itself in this figure, and the difference in question is not clearly larger.",
        "같은 프로그램을 두 번 띄웠는데 이 지표에서 서로 차이가 났고, 그 차이를 감안하면 뚜렷한 결론이 나지 않습니다.",
    ),
    "reason_means.straddles": (
        "The interval includes values on both sides of the border.",
        "신뢰 구간 안에 기준값 양쪽의 값이 모두 들어 있습니다.",
    ),
    "reason_means.unsteady": (
        "Leaving out one round, or going by ranks, would change the answer.",
        "라운드 하나를 빼거나 순위로 계산하면 답이 달라집니다.",
    ),
    "reason_means.generator_bound": (
        "The load generator reached its limit first: the figure is a bound, not a capacity.",
        "부하 생성기가 먼저 한계에 닿았습니다. 이 값은 처리 능력이 아니라 하한입니다.",
    ),
    "reason_means.database_bound": (
        "The database reached its limit first: the figure is a bound, not a capacity.",
        "데이터베이스가 먼저 한계에 닿았습니다. 이 값은 처리 능력이 아니라 하한입니다.",
    ),
    "reason_means.core_bound": (
        "A law of queues gives the number. The core of the service was full before that law was the limit.",
        "대기 행렬 법칙으로 나오는 값인데, 그 한계에 닿기 전에 서비스의 코어가 포화됐습니다.",
    ),
    "reason_means.warming": (
        "In more than one round in six its second half differed from its first (V8): cold code can be what held it back.",
        "여섯 라운드 가운데 두 번 이상 앞 절반과 뒤 절반의 값이 달랐습니다(V8). 한계의 원인이 아직 컴파일되지 않은 코드일 수 있습니다.",
    ),
    "reason_means.load_bound": (
        "The slower side served all that its users asked for. This load does not show how much more it could do.",
        "느린 쪽도 걸린 부하를 모두 처리했습니다. 얼마나 더 처리할 수 있는지는 이 부하로 알 수 없습니다.",
    ),
    "reason_means.not_sustained": (
        "A contender could not sustain the offered rate, so its figure is one of another load.",
        "정해진 요청률을 감당하지 못해, 다른 부하에서 나온 값이 되었습니다.",
    ),
    "reason_means.noisy_machine": (
        "Other work on the machine disturbed the rounds.",
        "장비에서 돌던 다른 작업이 측정을 방해했습니다.",
    ),
    "reason_means.invalid": (
        "Too many cells broke a validity check and do not count.",
        "유효성 검사를 통과하지 못해 쓸 수 없는 셀이 많습니다.",
    ),
    "reason_means.needs_1cpu": (
        "The claim is about one core and one worker, and this run has more.",
        "코어 하나와 워커 하나에 관한 주장인데, 이 측정은 그보다 많이 썼습니다.",
    ),
    "reason_means.needs_ncpu": (
        "The claim is about several cores, and this run has one for each service.",
        "여러 코어에 관한 주장인데, 이 측정에서는 서비스마다 코어 하나만 썼습니다.",
    ),
    "reason_means.no_contender": ("A contender that it names was not in this run.", "주장에 나오는 측정 대상이 이 측정에 없었습니다."),
    "reason_means.no_scenario": ("A scenario that it needs was not in this run.", "필요한 시나리오가 이 측정에 없었습니다."),
    "reason_means.no_figure": (
        "The run has these cells, but not this counter: it was made before the counter existed, or in containers.",
        "이 측정에 해당 셀은 있지만 묻는 값을 세지 않았습니다. 그 값을 세기 전의 측정이거나 컨테이너에서 한 측정입니다.",
    ),
    "reason_means.no_code": (
        "The sizes of the sources were not counted for this run.",
        "이 측정에는 소스 코드의 크기를 센 결과가 없습니다.",
    ),
    "reason_means.no_measure": (
        "No scenario and no contender measures a part of what it says. That part names what it would take.",
        "주장의 일부는 어떤 시나리오나 측정 대상으로도 재지 못합니다. 무엇이 더 필요한지는 그 부분에 적었습니다.",
    ),
    "reason_means.other_quantity": (
        "What is measured here is not what the article gives, so the two numbers cannot be compared.",
        "여기서 잰 것은 글의 수치와 다른 양이라 비교할 수 없습니다.",
    ),
    "reason_means.runs_disagree": (
        "One run supports it and another one refutes it. Until that is explained neither of them counts.",
        "한 측정에서는 확인됐지만 다른 측정에서는 사실과 달랐습니다. 이유를 밝힐 때까지 판정을 보류합니다.",
    ),
    # --- limits, statuses, roles, profiles --------------------------------------------------------------------------
    "limit.offered": ("offered load", "부하 자체"),
    "limit.cpu": ("CPU", "CPU"),
    "limit.threads": ("threads", "스레드"),
    "limit.loop": ("event loop", "이벤트 루프"),
    "limit.carriers": ("carriers", "캐리어 스레드"),
    "limit.pool": ("pool", "커넥션 풀"),
    "limit.database": ("database", "데이터베이스"),
    "limit.upstream": ("upstream", "업스트림"),
    "limit.generator": ("generator", "부하 생성기"),
    "status.valid": ("valid", "유효"),
    "status.censored": ("a bound only", "경계값만"),
    "status.invalid": ("invalid", "무효"),
    "status.failed": ("failed", "실패"),
    "status.unsupported": ("unsupported", "지원하지 않음"),
    "status.missing": ("missing", "기록 없음"),
    "status.cold": ("cold", "예열 안 됨"),
    "status.no figure": ("no figure", "값 없음"),
    "status.not asked": ("not asked", "측정 대상 아님"),
    "role.service": ("service", "서비스"),
    "role.generator": ("generator", "부하 생성기"),
    "role.database": ("database", "데이터베이스"),
    "role.upstream": ("upstream", "업스트림"),
    "model.open": ("open: fixed arrival rate", "개방형: 일정한 도착률"),
    "model.closed": ("closed: a fixed number of users", "폐쇄형: 고정된 사용자 수"),
    "better.less": ("less is better", "작을수록 좋음"),
    "better.more": ("more is better", "클수록 좋음"),
    # --- metrics and units ------------------------------------------------------------------------------------------
    "metric.cpu": ("CPU per request", "요청당 CPU"),
    "metric.throughput": ("throughput", "처리량"),
    "metric.p50": ("median latency", "지연 시간 중앙값"),
    "metric.p90": ("p90 latency", "지연 시간 p90"),
    "metric.p99": ("p99 latency", "지연 시간 p99"),
    "metric.max": ("longest latency", "가장 긴 지연 시간"),
    "metric.duration": ("time for the whole load", "부하 전체에 걸린 시간"),
    "metric.memory": ("memory per request or open connection", "요청 또는 열린 연결당 메모리"),
    "metric.memory_peak": ("peak memory", "최대 메모리"),
    "metric.threads": ("peak threads", "최대 스레드 수"),
    "metric.switches": ("context switches per request", "요청당 컨텍스트 스위치"),
    "metric.goodput": ("answers in time at 150 % load", "150% 부하에서 제때 온 응답"),
    "metric.goodput_100": ("answers in time at 100 % load", "100% 부하에서 제때 온 응답"),
    "metric.goodput_120": ("answers in time at 120 % load", "120% 부하에서 제때 온 응답"),
    "metric.back": ("time until it is back after 150 % load", "150% 부하가 끝난 뒤 회복까지 걸린 시간"),
    "metric.connections": ("connections held when its memory ended", "메모리가 바닥날 때까지 유지한 연결"),
    "metric.served": ("others served during a fault", "장애 중에도 제때 응답받은 다른 사용자"),
    "metric.ready_s": ("time until ready", "준비될 때까지 걸린 시간"),
    "metric.lines": ("lines of code", "코드 줄 수"),
    "metric.complexity": ("cyclomatic complexity", "순환 복잡도"),
    "metric.functions": ("functions", "함수 수"),
    "unit.CPU µs/request": ("CPU µs/request", "CPU µs/요청"),
    "unit.requests/s": ("requests/s", "요청/s"),
    "unit.p50 ms": ("p50 ms", "p50 ms"),
    "unit.p90 ms": ("p90 ms", "p90 ms"),
    "unit.p99 ms": ("p99 ms", "p99 ms"),
    "unit.max ms": ("max ms", "최대 ms"),
    "unit.KiB/request": ("KiB/request", "KiB/요청"),
    "unit.MiB": ("MiB", "MiB"),
    "unit.KiB": ("KiB", "KiB"),
    "unit.ms": ("ms", "ms"),
    "unit.points": ("percentage points", "%p"),
    "unit.s": ("s", "초"),
    "unit.threads": ("threads", "스레드"),
    "unit.switches/request": ("switches/request", "스위치/요청"),
    "unit.goodput %": ("% of its capacity", "처리 능력 대비 %"),
    "unit.connections": ("connections", "연결 수"),
    "unit.served %": ("% of the others served during the fault", "장애 중 제때 응답받은 다른 사용자 %"),
    "unit.×": ("×", "배"),
    "unit.lines": ("lines", "줄"),
    "unit.paths": ("paths", "경로"),
    "unit.requests": ("requests", "요청"),
    "amount": ("{said} {unit}", "{said} {unit}"),
    "amount.1 requests/s": ("{said} request/s", "{said} 요청/s"),
    "amount.goodput %": ("{said} % of its capacity", "처리 능력의 {said}%"),
    "amount.connections": ("{said} connections", "연결 {said}개"),
    "amount.served %": ("{said} % of the others", "다른 사용자의 {said}%"),
    "amount.s": ("{said} {unit}", "{said}{unit}"),
    "amount.×": ("{said} {unit}", "{said}{unit}"),
    "amount.threads": ("{said} {unit}", "{unit} {said}개"),
    "amount.requests": ("{said} {unit}", "{unit} {said}건"),
    # --- rules: what is asked, and how it is decided ----------------------------------------------------------------
    "rule.ratio_at_least": (
        "Both contenders are compared round by round as a ratio. Supported where the adjusted interval lies wholly above the border.",
        "라운드마다 두 측정 대상의 비율을 구합니다. 보정한 신뢰 구간 전체가 기준값보다 위에 있으면 사실로 확인합니다.",
    ),
    "rule.ratio_at_most": (
        "Both contenders are compared round by round as a ratio. Supported where the adjusted interval lies wholly below the border.",
        "라운드마다 두 측정 대상의 비율을 구합니다. 보정한 신뢰 구간 전체가 기준값보다 아래에 있으면 사실로 확인합니다.",
    ),
    "rule.within_margin": (
        "Equality has to be shown: the 90 % interval of every pair lies inside the margin. Refuted where one pair lies wholly outside.",
        "같다는 것을 보여야 합니다. 모든 쌍의 90% 구간이 허용 범위 안에 있어야 하고, "
        "한 쌍이라도 완전히 벗어나면 사실과 다르다고 판정합니다.",
    ),
    "rule.figure_at_least": (
        "Each contender's own figure is compared with a value. Supported where the adjusted interval lies wholly above it.",
        "측정 대상마다 자기 값을 기준값과 비교합니다. 보정한 구간 전체가 기준값보다 위에 있으면 사실로 확인합니다.",
    ),
    "rule.figure_at_most": (
        "Each contender's own figure is compared with a value. Supported where the adjusted interval lies wholly below it.",
        "측정 대상마다 자기 값을 기준값과 비교합니다. 보정한 구간 전체가 기준값보다 아래에 있으면 사실로 확인합니다.",
    ),
    "rule.figure_equals": (
        "Each contender's own figure is compared with a value. Supported where its 90 % interval lies within the margin of it.",
        "측정 대상마다 자기 값을 기준값과 비교합니다. 90% 구간이 기준값의 허용 범위 안에 있으면 사실로 확인합니다.",
    ),
    "rule.cap_equals": (
        "Throughput is compared with servers ÷ hold. The servers are counted in the run, and the cells must name them as their limit.",
        "처리량을 서버 수 ÷ 점유 시간과 비교합니다. 서버 수는 측정에서 읽고, 셀도 그것을 한계로 기록해야 합니다.",
    ),
    "rule.limited_by": (
        "The limit of the contender has to be the same in nearly every round that counts.",
        "유효한 라운드 거의 전부에서 같은 것이 한계여야 합니다.",
    ),
    "rule.slope_greater": (
        "The growth of memory with each request in flight is compared round by round as a difference in KiB.",
        "처리 중인 요청 하나마다 늘어나는 메모리를 라운드별로 KiB 차이로 비교합니다.",
    ),
    "rule.points_greater": (
        "Two shares are compared round by round as a difference in percentage points.",
        "두 비율을 라운드별로 %p 차이로 비교합니다.",
    ),
    "rule.code_at_least": (
        "Sizes of code, counted by one tool for all languages. Exact, so without rounds.",
        "모든 언어를 같은 도구로 센 코드 크기입니다. 오차가 없으므로 라운드가 필요하지 않습니다.",
    ),
    "rule.code_at_most": (
        "Sizes of code, counted by one tool for all languages. Exact, so without rounds.",
        "모든 언어를 같은 도구로 센 코드 크기입니다. 오차가 없으므로 라운드가 필요하지 않습니다.",
    ),
    "rule.same_code": (
        "Both contenders are the same build and differ by settings alone.",
        "두 측정 대상은 같은 빌드이고 설정만 다릅니다.",
    ),
    "rule.arithmetic": (
        "The article's own figures, worked out again. Nothing is measured for this.",
        "글에 실린 수치로 다시 계산합니다. 따로 측정하는 것은 없습니다.",
    ),
    "rule.not_measured": (
        "The article says it and nothing here measures it. The claim stays open, and the part names what a measurement would take.",
        "글에는 있지만 이 프로젝트에서 재지 못하는 부분입니다. 무엇이 있어야 잴 수 있는지 적고 판정하지 않습니다.",
    ),
    "rule.no_single_winner": (
        "Every contender has a criterion in which another one is better by the interval. Refuted where one is best or equal in all.",
        "모든 측정 대상에는 구간 기준으로 다른 대상에 뒤지는 항목이 있습니다. "
        "모든 항목에서 가장 좋거나 같은 대상이 있으면 사실과 다르다고 판정합니다.",
    ),
    "asks.ratio_at_least": (
        "{scenario}, {metric}: {contender} ÷ {other} is at least {ratio}",
        "{scenario}, {metric}: {contender} ÷ {other} ≥ {ratio}",
    ),
    "asks.ratio_at_most": (
        "{scenario}, {metric}: {contender} ÷ {other} is at most {ratio}",
        "{scenario}, {metric}: {contender} ÷ {other} ≤ {ratio}",
    ),
    "asks.within_margin": (
        "{scenario}, {metric}: {contenders} are equal within {margin}",
        "{scenario}, {metric}: {contenders} 서로 같음({margin})",
    ),
    "asks.own_margin": ("the usual margin", "기본 허용 범위"),
    "asks.figure_at_least": (
        "{scenario}, {metric}: {contenders} at least {amount}",
        "{scenario}: {contenders}의 {metric} {amount} 이상",
    ),
    "asks.figure_at_most": (
        "{scenario}, {metric}: {contenders} at most {amount}",
        "{scenario}: {contenders}의 {metric} {amount} 이하",
    ),
    "asks.figure_equals": (
        "{scenario}, {metric}: {contenders} at {amount}, within {margin}",
        "{scenario}: {contenders}의 {metric} {amount}({margin})",
    ),
    "asks.cap_equals": (
        "{scenario}: throughput of {contenders} is what the {cap} can give, within {margin}",
        "{scenario}: {contenders} 처리량은 {cap}의 상한과 같음, 허용 범위 {margin}",
    ),
    "asks.limited_by": ("{scenario}: {contenders} held back by {limit}", "{scenario}: {contenders}의 한계는 {limit}"),
    "asks.slope_greater": (
        "{scenario}: memory per request or open connection of {contender} is above that of {other} by more than {kib} KiB",
        "{scenario}: 요청 또는 열린 연결당 메모리는 {contender} 쪽이 {other}보다 {kib} KiB 넘게 큼",
    ),
    "asks.points_greater": (
        "{scenario}, {metric}: {contender} is above {other} by more than {points} percentage points",
        "{scenario}, {metric}: {contender} 쪽이 {other}보다 {points}%p 넘게 높음",
    ),
    "asks.code_at_least": (
        "{measure}: {contender} ÷ {other} is at least {ratio}",
        "{measure}: {contender} ÷ {other} ≥ {ratio}",
    ),
    "asks.code_at_most": (
        "{measure}: {contender} ÷ {other} is at most {ratio}",
        "{measure}: {contender} ÷ {other} ≤ {ratio}",
    ),
    "asks.same_code": ("{contender} and {other} are the same build", "{contender}, {other}: 같은 빌드"),
    "asks.arithmetic": (
        "{over} ÷ {under} is {said}, within {margin}",
        "{over} ÷ {under} = {said}, 허용 범위 {margin}",
    ),
    "asks.arithmetic_product": ("{over} is {said}, within {margin}", "{over} = {said}, 허용 범위 {margin}"),
    "asks.profile": ("in a run of profile {profile}", "{profile} 프로필 측정에서"),
    "asks.no_single_winner": ("no contender is best or equal in everything", "모든 면에서 가장 좋거나 같은 측정 대상은 없음"),
    "asks.no_winner_without": (
        "no contender is best or equal in everything; left out: {without}",
        "모든 면에서 가장 좋거나 같은 측정 대상은 없음(제외: {without})",
    ),
    "asks.not_measured": ("needs {needs}", "필요한 것: {needs}"),
    # --- scope ------------------------------------------------------------------------------------------------------
    "scope": (
        "On {machine}, {cores}, profile {profile}, tier {tier}, {rounds}; {runner} runner, {database}; {date}, commit {commit}, "
        "seed {seed}.",
        "{machine}, {cores}, 프로필 {profile}, 티어 {tier}, {rounds}; {runner} 실행, {database}; {date}, 커밋 {commit}, 시드 {seed}.",
    ),
    "scope.short": (
        "On {machine}, {cores}, profile {profile}, {rounds}.",
        "{machine}, {cores}, 프로필 {profile}, {rounds} 기준입니다.",
    ),
    "scope.short.compose": (
        "On {machine}, {cores}, profile {profile}, in containers, {rounds}.",
        "{machine}, {cores}, 프로필 {profile}, 컨테이너 안에서 {rounds} 기준입니다.",
    ),
    "count.rounds.one": ("1 round", "1라운드"),
    "count.rounds.many": ("{n} rounds", "{n}라운드"),
    "count.articles.one": ("{n} article", "글 {n}편"),
    "count.articles.many": ("{n} articles", "글 {n}편"),
    "count.cores.one": ("1 core", "코어 1개"),
    "count.cores.many": ("{n} cores", "코어 {n}개"),
    "unknown": ("unknown", "알 수 없음"),
    # --- sentences about a claim ------------------------------------------------------------------------------------
    "claim.rounds_needed": (
        "About {n} rounds would decide it, if what was seen holds.",
        "지금 보인 값과 편차가 그대로라면 {n}라운드쯤에서 판정할 수 있습니다.",
    ),
    "claim.number": ("The article's number", "글의 수치"),
    "claim.condition": ("where: {condition}", "조건: {condition}"),
    "claim.outside": ("no benchmark can measure: {what}", "벤치마크로 잴 수 없는 부분: {what}"),
    "claim.beaten": ("{name} is beaten only in {criteria}", "{name}: {criteria}에서만 뒤짐"),
    "claim.unbeaten": ("{name} is beaten in nothing", "{name}: 뒤지는 항목 없음"),
    "claim.set_aside": ("does not count: {run}. {why}", "판정에서 제외: {run}. {why}"),
    "claim.article": ("Article {id}", "글 {id}"),
    "claim.reported": ("The article's own figures", "글에 실린 수치"),
    "claim.ours": ("Measured", "측정값"),
    "claim.figure_of": ("{scenario}, {what}", "{scenario}, {what}"),
    "claim.figure_asked": ("{scenario}, {what} (claimed: {asked})", "{scenario}, {what}(주장: {asked})"),
    "share_asked.at_least": ("≥ {amount}", "{amount} 이상"),
    "share_asked.at_most": ("≤ {amount}", "{amount} 이하"),
    "claim.mixed": ("of its {n} parts: {told}", "세부 항목 {n}개: {told}"),
    "claim.parts_with": ("{n} {verdict}", "{verdict} {n}"),
    "claim.part_elsewhere": ("part {n} alone, {verdict}: {run}", "{n}번째 항목만, {verdict}: {run}"),
    "claim.instead": ("What the data show instead", "측정으로 드러난 것"),
    "claim.also": ("Related questions", "함께 본 질문"),
    "claim.parts": ("What was compared", "비교한 것"),
    "claim.rows": ("The figures that were used", "쓰인 값"),
    "claim.missing": ("Missing: {names}", "없는 것: {names}"),
    "claim.computed": ("Computed: {value}", "계산값: {value}"),
    "claim.agree": ("{share} of the rounds agree.", "라운드의 {share}가 같은 쪽입니다."),
    "claim.at_least": (
        "≥: in some rounds the figure of {name} is a lower bound (what held it back stands beside it), so the ratio is at least this.",
        "≥: 일부 라운드에서 {name}의 값이 하한(한계는 함께 표시)이므로 실제 비율은 이 값 이상입니다.",
    ),
    "claim.at_most": (
        "≤: in some rounds the figure of {name} is a lower bound (what held it back stands beside it), so the ratio is at most this.",
        "≤: 일부 라운드에서 {name}의 값이 하한(한계는 함께 표시)이므로 실제 비율은 이 값 이하입니다.",
    ),
    "claim.gate": ("The twin's own interval: {low} to {high}.", "쌍둥이 자신의 구간: {low}~{high}."),
    # --- the result in a sentence -----------------------------------------------------------------------------------
    "result.claims": ("{all} claims of {articles}: {told}.", "{articles}의 주장 {all}개: {told}."),
    "result.numbers": (
        "Of {n} numbers that the articles give {again} are reproduced ({by_law} by arithmetic), {not_again} not, {rest} open.",
        "글의 수치 {n}개: 재현됨 {again}(계산으로 나오는 값 {by_law}), 재현되지 않음 {not_again}, 미정 {rest}.",
    ),
    "result.sayings": (
        "{n} common sayings, in our words and with our bounds: {told}.",
        "흔히 하는 말 {n}개(우리가 정한 문장과 기준값): {told}.",
    ),
    "result.of_them": (" ({told})", "({told})"),
    "result.by_law": ("{n} by arithmetic", "계산으로 나오는 것 {n}"),
    "result.in_part": ("{n} as far as it can be measured", "측정 가능한 범위만 {n}"),
    "result.other_machines": (
        "Verdicts from runs on other machines ({machine}): {names}.",
        "다른 장비({machine})에서 한 측정: {names}.",
    ),
    "result.machine": (
        "{machine}, {cores}, {database}, {date}; raw data and doubts: {link}.",
        "{machine}, {cores}, {database}, {date}. 원시 데이터와 경고는 {link}에 있습니다.",
    ),
    "result.one_run": (
        "One run decides the claims that its scenarios and contenders ask for. "
        "docs/verdicts.md takes each verdict from the newest run that decides it.",
        "한 번의 측정은 자기 시나리오와 측정 대상이 묻는 주장만 판정합니다. "
        "docs/verdicts.ko.md는 각 주장을 판정할 수 있는 가장 최근 측정의 결과를 모은 것입니다.",
    ),
    "result.SUPPORTED": (
        "No contender is best at everything: each of the {n} is beaten at something.",
        "모든 면에서 가장 좋은 측정 대상은 없습니다. {n}개 모두 어떤 항목에서는 다른 대상에 뒤집니다.",
    ),
    "result.REFUTED": (
        "One contender is best or equal at everything that was measured: {names}.",
        "측정한 모든 항목에서 가장 좋거나 같은 대상이 하나 있습니다: {names}.",
    ),
    "result.UNDECIDED": (
        "This run cannot tell whether one contender is best at everything: {reason}.",
        "모든 면에서 가장 좋은 측정 대상이 있는지 이 측정으로는 알 수 없습니다({reason}).",
    ),
    "result.NOT_MEASURED": (
        "This run compares no contenders, so it does not say which is better.",
        "이 측정에는 서로 비교할 측정 대상이 없어 우열을 말하지 않습니다.",
    ),
    # --- headings ---------------------------------------------------------------------------------------------------
    "title": ("No Silver Bullet", "No Silver Bullet"),
    "heading.digest": ("In short", "한눈에 보기"),
    "heading.claims": ("Claims and verdicts", "주장과 판정"),
    "heading.table": ("The one table", "결과 표"),
    "heading.charts": ("Charts", "차트"),
    "heading.dominance": ("Who is better at what", "항목별로 누가 앞서나"),
    "heading.front": ("Pareto front", "파레토 프런트"),
    "heading.code": ("Size of the code", "코드 분량 비교"),
    "heading.startup": ("Start-up and footprint", "기동과 자원 사용량"),
    "heading.footprint": ("Footprint", "자원 사용량"),
    "heading.idle": ("Silent connections", "열려 있기만 한 연결"),
    "heading.overload": ("Overload", "과부하"),
    "heading.failing": ("Failures", "장애"),
    "heading.switches": ("Context switches for each request", "요청당 컨텍스트 스위치"),
    "heading.pinnings": ("Pinning, as the JVM counts it", "JVM이 센 고정(pinning)"),
    "heading.how": ("How the run was made", "측정 방법"),
    "heading.versions": ("Versions", "버전"),
    "heading.controls": ("Controls", "대조군"),
    "heading.again": ("How to reproduce it", "재현 방법"),
    "heading.limits": ("What these numbers do not show", "이 수치가 보여 주지 않는 것"),
    "heading.legend": ("How to read it", "읽는 법"),
    "heading.left_out": ("Left out", "제외된 것"),
    # --- heads of tables --------------------------------------------------------------------------------------------
    "head.contender": ("contender", "측정 대상"),
    "head.scenario": ("scenario", "시나리오"),
    "head.service": ("service", "서비스"),
    "head.metric": ("figure", "지표"),
    "head.unit": ("unit", "단위"),
    "head.value": ("value", "값"),
    "head.predicted": ("predicted µs", "예측(µs)"),
    "head.measured": ("measured µs", "측정(µs)"),
    "head.off": ("predicted ÷ measured − 1", "예측 ÷ 측정 − 1"),
    "head.memory_off": ("of memory", "메모리의 예측 ÷ 측정 − 1"),
    "title.predicted": ("Mixtures: predicted and measured CPU", "조합: CPU 예측과 측정"),
    "axis.predicted": ("predicted ÷ measured", "예측 ÷ 측정"),
    "read.predicted": (
        "Mixtures of requests that no fit uses. Lines: 95 % intervals over the rounds. Dashed: exact, and 15 % off. "
        "Beside each point: predicted / measured CPU of a request.",
        "피팅에 쓰지 않은 요청 조합입니다. 선은 라운드에 대한 95% 구간, 점선은 오차 0과 ±15%입니다. "
        "점 옆의 숫자는 요청당 CPU의 예측값 / 측정값입니다.",
    ),
    "alt.predicted": (
        "{near} of {known} predictions are within {share} of what was measured; the furthest is {off}, {name} in {row}.",
        "예측 {known}개 가운데 {near}개가 측정값의 {share} 안에 있고, 가장 크게 벗어난 것은 {row}의 {name}({off})입니다.",
    ),
    "head.interval": ("interval", "구간"),
    "head.rounds": ("rounds", "라운드"),
    "head.round": ("round", "라운드"),
    "head.limit": ("held back by", "한계"),
    "head.status": ("status", "상태"),
    "head.doubts": ("doubts", "경고"),
    "head.conclusion": ("conclusion", "결론"),
    "head.number": ("the article's number", "글의 수치"),
    "head.claim": ("claim", "주장"),
    "head.criterion": ("criterion", "항목"),
    "head.runtime": ("runtime", "런타임"),
    "head.framework": ("framework", "프레임워크"),
    "head.driver": ("driver", "드라이버"),
    "head.concurrency": ("concurrency", "동시성 모델"),
    "head.memory_peak": ("memory peak, MiB (PSS)", "최대 메모리, MiB(PSS)"),
    "head.threads_peak": ("threads peak", "최대 스레드 수"),
    "head.db_connections": ("database connections", "데이터베이스 연결 수"),
    "head.starts": ("starts", "기동 횟수"),
    "head.idle_most": ("connections", "연결 수"),
    "head.idle_process": ("process, KiB each (PSS)", "프로세스, 연결당 KiB(PSS)"),
    "head.idle_kernel": ("kernel, KiB each", "커널, 연결당 KiB"),
    "head.idle_cpu_none": ("CPU with none, ms/s", "연결 없을 때 CPU, ms/초"),
    "head.idle_cpu_most": ("CPU with all, ms/s", "모두 열렸을 때 CPU, ms/초"),
    "head.idle_p50": ("p50 of the others, ms", "다른 요청의 p50, ms"),
    "head.idle_p50_none": ("with none, ms", "연결 없을 때, ms"),
    "head.idle_p50_most": ("with all, ms", "모두 열렸을 때, ms"),
    "head.overload_capacity": ("capacity, requests/s", "처리 능력, 요청/s"),
    "head.overload_goodput": ("in time at {percent} %, % of the capacity", "{percent}%에서 제때 온 응답, 처리 능력 대비 %"),
    "head.overload_p99": ("p99 at {percent} %, ms", "{percent}%에서 p99, ms"),
    "head.overload_back": ("back after {percent} %, ms", "{percent}% 뒤 회복, ms"),
    "head.overload_broke": ("broke down, rounds", "멈추거나 종료된 라운드"),
    "head.overload_lag": ("generator late by, ms (p99, most)", "부하 생성기의 지연, ms(p99, 최대)"),
    "head.overload_memory": ("MiB at {percent} % (PSS)", "{percent}%에서 MiB(PSS)"),
    "head.failing_others": ("others served, %", "다른 사용자 중 제때 응답, %"),
    "head.failing_p99": ("their p99, ms", "다른 사용자의 p99, ms"),
    "head.failing_needing": ("served of those who need it, %", "필요한 사용자 중 제때 응답, %"),
    "head.failing_kinds": ("what the rest got, users", "나머지 요청의 결과, 명"),
    "head.failing_back": ("back after, ms", "회복, ms"),
    "head.failing_memory": ("MiB at its end (PSS)", "끝날 때 MiB(PSS)"),
    "head.ready": ("ready, s", "준비, 초"),
    "head.pool": ("pool open, s", "풀 열림, 초"),
    "head.start_cpu": ("CPU until ready, s", "준비까지 CPU, 초"),
    "head.start_memory": ("memory when ready, MiB (PSS)", "준비 시 메모리, MiB(PSS)"),
    "head.warm": ("warm after, s", "예열, 초"),
    "head.files": ("files", "파일"),
    "head.lines": ("lines", "줄 수"),
    "head.complexity": ("complexity", "복잡도"),
    "head.functions": ("functions", "함수"),
    "head.control": ("control", "대조군"),
    "head.beside": ("beside its original", "원본 대비"),
    "head.result": ("result", "결과"),
    "head.raw": ("raw file", "원시 파일"),
    "head.throughput": ("requests/s", "요청/s"),
    "head.setting": ("setting", "설정"),
    # --- legend -----------------------------------------------------------------------------------------------------
    "legend.run": ("Profile {profile}, tier {tier}, {rounds}.", "프로필 {profile}, 티어 {tier}, {rounds}."),
    "legend.interval": ("± is the 95 % t interval over the rounds.", "±는 라운드에 대한 95% t 신뢰 구간입니다."),
    "legend.halves": (
        "One round: ± is the spread between the two halves of the window, not an interval; no verdict follows from it.",
        "1라운드입니다. ±는 신뢰 구간이 아니라 측정 구간 전반과 후반의 차이이며, 이것만으로는 판정하지 않습니다.",
    ),
    "legend.limit": (
        "The word below a figure is its limit (cpu, threads, loop, carriers, pool, database, upstream, generator); "
        "none, or offered: the load itself.",
        "값 아래의 단어는 무엇이 한계였는지를 나타냅니다. cpu는 서비스의 CPU, threads는 스레드, loop는 이벤트 루프, "
        "carriers는 캐리어 스레드, pool은 커넥션 풀, database는 데이터베이스, upstream은 팬아웃이 호출하는 프로그램, generator는 부하 "
        "생성기입니다. ‘부하 자체’(offered)이거나 비어 있으면 막은 것이 없고 부하가 거기까지였다는 뜻입니다.",
    ),
    "legend.bound": (
        "≥ a lower bound: another program was the limit.",
        "≥는 하한입니다. 다른 프로그램이 한계였습니다.",
    ),
    "legend.unsustained": (
        "† the contender could not sustain the rate: the answers per second that it reached.",
        "†는 요청률을 감당하지 못했다는 뜻이며, 값은 실제로 도달한 초당 응답 수입니다.",
    ),
    "legend.doubt": (
        "? doubts in a third of its rounds or more. Every doubt is listed: in table.md and table.json, on the page behind its cell.",
        "?는 라운드의 3분의 1 이상에 경고가 있다는 뜻입니다. "
        "경고는 모두 table.md와 table.json에 있고, 페이지에서는 셀을 누르면 나옵니다.",
    ),
    "legend.lacking": (
        "cold, no figure: the doubts of the cell say why.",
        "‘예열 안 됨’과 ‘값 없음’의 이유는 그 셀의 경고에 있습니다.",
    ),
    "legend.rounds": (
        "3/4: three of four rounds count (one round alone: the spread of its halves).",
        "3/4: 네 라운드 가운데 세 라운드만 유효합니다(유효한 라운드가 하나뿐이면 ±는 전반과 후반의 차이입니다).",
    ),
    "legend.schedule": (
        "k6 timestamps resolve 1 ms; no interval of latency from the schedule is narrower.",
        "k6의 시각은 1 ms 단위이므로, 예정 시각 기준 지연 시간의 ±는 1 ms보다 좁을 수 없습니다.",
    ),
    "legend.full_core": (
        "CPU µs/request of cost-…: what one request costs on a core that is always busy, garbage collection included; "
        "one core answers 1,000,000 ÷ it a second.",
        "cost-…의 CPU µs/요청은 쉬지 않는 코어에서 요청 하나에 드는 비용입니다. GC에 든 시간도 들어 있습니다. "
        "코어 하나가 초당 처리하는 요청은 1,000,000 ÷ 이 값입니다.",
    ),
    "legend.cpu": (
        "CPU µs/request at a fixed rate: the cost of one request on "
        "a core that is mostly idle and wakes for each request: "
        "it is not 1 ÷ capacity.",
        "고정 요청률에서의 CPU µs/요청: 요청 하나에 드는 비용입니다. 대부분 쉬는 코어를 매번 깨우는 비용이 들어 있어 "
        "처리 능력의 역수와 다릅니다.",
    ),
    "legend.memory": (
        "KiB/request: growth of memory with each request in flight, including its connection; a JVM whose heap is already large shows "
        "less than it needs. ≤ the upper end of its spread where the lower end is not above zero.",
        "KiB/요청: 처리 중인 요청과 그 연결 하나마다 늘어나는 메모리입니다. 힙이 이미 커져 있는 JVM에서는 실제보다 적게 나옵니다. "
        "≤는 하한이 0보다 크지 않아 상한만 적은 것입니다.",
    ),
    "legend.memory_collected": (
        "KiB/request: growth of memory with each request in flight, including its connection; for a JVM after a full collection. "
        "≤ the upper end of its spread where the lower end is not above zero.",
        "KiB/요청: 처리 중인 요청과 그 연결 하나마다 늘어나는 메모리입니다. JVM은 Full GC 직후에 읽습니다. "
        "≤는 하한이 0보다 크지 않아 상한만 적은 것입니다.",
    ),
    # --- validity checks (docs/method.md, V1 …) ----------------------------------------------------------------------
    "check.V1": ("errors and wrong answers", "오류와 틀린 응답"),
    "check.V2": ("was the rate offered and sustained", "요청률을 제대로 걸고 감당했는가"),
    "check.V3": ("lag of the generator", "부하 생성기의 지연"),
    "check.V4": ("Little's law, closed", "리틀의 법칙(폐쇄형)"),
    "check.V5": ("Little's law, open; counts of service and generator", "리틀의 법칙(개방형), 서비스와 생성기의 집계"),
    "check.V6": ("what held it back", "무엇이 한계였는가"),
    "check.V7": ("other work on the machine", "장비의 다른 작업"),
    "check.V8": ("steady: the halves of the window agree", "안정성: 전반과 후반이 일치하는가"),
    "check.V9": ("identity: bodies, connections, statements", "동일성: 본문, 연결 수, SQL 문 수"),
    "check.V10": ("TCP: full queues and lost segments", "TCP: 넘친 대기열과 유실된 세그먼트"),
    "check.V11": ("CPU of the harness", "하네스가 쓴 CPU"),
    # --- what the numbers do not show -------------------------------------------------------------------------------
    "not_shown.machine": (
        "They hold for this machine, these versions and these settings. On another machine run it again.",
        "이 장비, 이 버전, 이 설정에서만 성립합니다. 다른 장비라면 다시 측정해야 합니다.",
    ),
    "not_shown.loopback": (
        "Everything is on one machine over loopback: the database's round trip is far shorter than in a data centre.",
        "모든 프로그램이 한 장비 안에서 루프백으로 통신합니다. 데이터베이스 왕복 시간이 데이터센터보다 훨씬 짧습니다.",
    ),
    "not_shown.generator": (
        "Closed throughput of a cheap request is often limited by the generator, not by the service; it is then printed as a bound.",
        "가벼운 요청의 폐쇄형 처리량은 서비스가 아니라 부하 생성기의 한계일 때가 많습니다. 그런 값은 하한으로 적습니다.",
    ),
    "not_shown.windows": (
        "Windows are seconds long: leaks, long pauses and the load of a whole day are not measured.",
        "측정 구간은 몇 초입니다. 메모리 누수나 긴 멈춤, 하루 동안의 부하에 대해서는 알려 주지 않습니다.",
    ),
    "not_shown.programs": (
        "The services are small programs. Other features of a "
        "framework, and the experience of a team, are not measured.",
        "서비스는 같은 계약을 지키는 작은 프로그램입니다. 프레임워크의 다른 기능이나 팀의 숙련도는 담겨 있지 않습니다.",
    ),
    "not_shown.code": (
        "Lines and cyclomatic complexity are counts. How hard code is to read or to debug is not measured.",
        "줄 수와 순환 복잡도는 집계일 뿐입니다. 코드를 읽고 디버깅하기 얼마나 어려운지는 일부만 알려 줍니다.",
    ),
    "not_shown.equal": (
        "Where no difference was found there may still be one that is too small for this run.",
        "차이가 보이지 않아도, 이 측정으로는 찾을 수 없을 만큼 작은 차이가 있을 수 있습니다.",
    ),
    # --- the controls -----------------------------------------------------------------------------------------------
    "control.none": (
        "This run has no control, so nothing shows how large its noise is: no verdict follows from its differences.",
        "이 측정에는 대조군이 없어 잡음의 크기를 알 수 없습니다. 차이가 있어도 판정하지 않습니다.",
    ),
    "control.few": (
        "{control}: too few rounds, or no twin, to show anything, so no verdict follows from this run.",
        "{control}: 라운드 수가 부족하거나 쌍둥이가 없어 보여 주는 것이 없고, 이 측정으로는 판정하지 않습니다.",
    ),
    "control.twin": (
        "{control} equals {of} within the noise in {passed} of {judged} figures.",
        "{control}: 지표 {judged}개 중 {passed}개에서 원본 {of} 대비 잡음 이상의 차이가 없습니다.",
    ),
    "control.twin_failed": (
        "It differs from itself, so only differences above the A/A noise are reported, in: {names}.",
        "같은 프로그램끼리 차이가 나서, 그 차이를 감안해도 뚜렷한 것만 판정하는 지표: {names}.",
    ),
    "control.plant": ("{control} was found in {passed} of {judged} figures.", "{control}: 지표 {judged}개 중 {passed}개에서 찾아냈습니다."),
    "control.plant_failed": ("Not found: {names}.", "찾지 못한 지표: {names}."),
    "control.undecided": ("Too few rounds that count: {names}.", "유효한 라운드가 부족한 지표: {names}."),
    "control.rule": (
        "A twin is the same program started twice: it has to show no difference. A "
        "plant is a program with a known fault: it has to be found.",
        "쌍둥이는 같은 프로그램을 두 번 띄운 것으로 차이가 없어야 하고, 심어 둔 결함(plant)은 반드시 찾아내야 합니다.",
    ),
    "control.holds": ("holds", "같음"),
    "control.differs": ("differs", "다름"),
    "control.found": ("found", "찾음"),
    "control.not_found": ("not found", "찾지 못함"),
    # --- report.html ------------------------------------------------------------------------------------------------
    "page.kicker": (
        "What people claim about runtimes, checked by measurement",
        "런타임을 둘러싼 주장을 측정으로 확인합니다",
    ),
    "page.skip": ("Skip to the result", "결과로 건너뛰기"),
    "page.contents": ("Contents", "목차"),
    "page.language": ("Language", "언어"),
    "page.theme": ("Theme", "화면 테마"),
    "page.theme.auto": ("Auto", "자동"),
    "page.theme.light": ("Light", "밝게"),
    "page.theme.dark": ("Dark", "어둡게"),
    "page.nav.digest": ("In short", "요약"),
    "page.baseline": ("Compare with", "비교 기준"),
    "page.best_of_row": ("the best of each row", "행마다 가장 좋은 값"),
    "page.columns": ("Show", "표시"),
    "page.fails": ("fails", "버티지 못함"),
    "page.best_mark": ("best: better than all others", "가장 좋음: 다른 모두보다 나음"),
    "page.tied_mark": ("not distinguishable", "구분되지 않음"),
    "page.near_mark": ("within 10 % of the best", "가장 좋은 값과 10% 이내"),
    "page.means": (
        "Supported: the whole interval of our figure lies on the claimed side. Refuted: it lies on the other side. "
        "Else a claim is undecided.",
        "사실로 확인: 측정값의 신뢰 구간 전체가 주장을 만족하는 범위에 있습니다. 사실과 다름: 전체가 주장에 어긋나는 범위에 있습니다. "
        "둘 다 아니면 판정 보류입니다.",
    ),
    "page.compared": (
        "Factors are those to {name}, with 95 % intervals. Faint: not distinguishable from {name}. Rows of fewer than five rounds were not "
        "compared.",
        "{name} 대비 배수와 95% 신뢰 구간입니다. 흐린 값은 {name}의 값과 구분되지 않습니다. 5라운드보다 적게 잰 행은 비교하지 않았습니다.",
    ),
    "page.nav.guide": ("Which one", "무엇을 쓸까"),
    "page.nav.size": ("Calculator", "계산기"),
    "page.nav.claims": ("Claims", "주장"),
    "page.nav.table": ("Table", "표"),
    "page.nav.charts": ("Charts", "차트"),
    "page.nav.dominance": ("Who is better", "우열"),
    "page.nav.code": ("Code", "코드"),
    "page.nav.startup": ("Start-up", "기동"),
    "page.nav.how": ("How", "측정 방법"),
    "page.nav.limits": ("Limits", "한계"),
    "page.changed": ("The working copy had uncommitted changes.", "커밋하지 않은 변경이 있는 상태에서 측정했습니다."),
    "page.article": ("Article", "글"),
    "page.shown": ("{n} of {all} claims shown", "주장 {all}개 중 {n}개 표시"),
    "page.unfold": ("Unfold everything", "모두 펼치기"),
    "page.no_claims": ("No claims were judged for this run.", "이 측정에서 판정한 주장이 없습니다."),
    "page.parts": ("What decides it, and the figures that were used ({n})", "판정 근거와 쓰인 값 ({n})"),
    "page.nothing_ours": ("No figure of this run bears on it.", "이 측정에는 관련된 값이 없습니다."),
    "page.more_below": ("{n} more below.", "아래에 {n}개 더 있습니다."),
    "page.interval_at": ("{bounds} at {level}", "{bounds}, {level} 구간"),
    "page.border": ("border {value}", "기준값 {value}"),
    "page.strip_key": (
        "Shaded: where the claim puts the value. Bar and point: what was measured, "
        "with its interval. Hatched: what the twin alone showed.",
        "옅게 칠한 부분은 주장대로라면 값이 있어야 할 범위, 막대와 점은 측정한 구간과 값, 빗금은 쌍둥이끼리 비교한 구간입니다.",
    ),
    "page.sign_fails": ("without one of the rounds the other side is ahead", "라운드 하나를 빼면 우열이 바뀜"),
    "page.table_hint": (
        "Choose a scenario to sort the contenders by it; what lies within ± of its neighbour is no ranking. Choose a figure for "
        "its raw rounds.",
        "시나리오를 누르면 그 행을 기준으로 측정 대상을 정렬합니다. ± 범위가 겹치는 값끼리는 순위가 아닙니다. 값을 누르면 "
        "라운드별 원시 값이 나옵니다.",
    ),
    "page.sorted": ("Columns by {row}, {order}.", "{row} 기준, {order} 순으로 정렬했습니다."),
    "page.unsorted": ("Columns in the order of the run.", "측정 계획의 순서입니다."),
    "page.best_first": ("best first", "좋은 값"),
    "page.worst_first": ("worst first", "나쁜 값"),
    "page.legend_best": (
        "● is better than every other one by the adjusted interval. ≈ is the best value, or not distinguishable from it. All without a "
        "mark are worse, or cannot be compared.",
        "●는 보정한 구간 기준으로 다른 모두보다 낫다는 뜻입니다. ≈는 가장 좋은 값이거나 그와 구분되지 않는 값입니다. "
        "표시가 없으면 더 나쁘거나 비교할 수 없습니다.",
    ),
    "page.legend_strip": (
        "The line under a figure: where it and its interval lie between the least and the greatest of the row, on a log scale "
        "that spans at "
        "least a factor of two.",
        "값 아래의 선은 그 행의 최솟값과 최댓값 사이에서 값과 구간의 위치를 나타냅니다. 로그 눈금이며 전체 폭은 적어도 두 배입니다.",
    ),
    "page.doubts": ("Doubts and reasons ({n})", "경고와 이유 ({n})"),
    "page.none": ("None.", "없습니다."),
    "page.as_table": ("The same as a table", "표로 보기"),
    "page.kind.heat": ("Overview", "한눈에 보기"),
    "page.kind.intervals": ("Figure by scenario", "시나리오별 지표"),
    "page.kind.latency": ("Latency percentiles", "지연 시간 백분위수"),
    "page.kind.roles": ("CPU of a request by program", "프로그램별 요청당 CPU"),
    "page.kind.memory": ("Memory by requests in flight", "처리 중인 요청 수에 따른 메모리"),
    "page.kind.overload": ("Overload", "과부하"),
    "page.kind.starts": ("Start-up", "기동"),
    "page.kind.predicted": ("Predicted and measured", "예측과 측정"),
    "page.rules": ("How each rule decides", "규칙별 판정 방법"),
    "page.no_charts": ("Nothing of this run could be drawn.", "이 측정에서 그릴 수 있는 것이 없습니다."),
    "page.matrix": (
        "In how many criteria the row's contender is better than the column's",
        "행의 측정 대상이 열의 측정 대상보다 나은 항목의 수",
    ),
    "page.dominance_hint": (
        "A contender counts as better where the whole adjusted interval lies beyond a difference of 1 % (1 ms, 4 KiB). "
        "Choose a number to see in what.",
        "보정한 구간 전체가 1%(1 ms, 4 KiB)를 넘는 차이일 때만 더 나은 것으로 셉니다. 숫자를 누르면 어떤 항목인지 나옵니다.",
    ),
    "page.front_hint": (
        "Those that no other contender dominates: none is better in something and, as far as is known, worse in nothing.",
        "다른 대상에 지배되지 않는 것들입니다. 지배한다는 것은 어떤 항목에서 더 낫고, 알려진 범위에서 뒤지는 항목이 없다는 뜻입니다.",
    ),
    "page.by_criterion": ("By criterion", "항목별로 보기"),
    "page.criterion_hint": (
        "Means over the rounds, below each its own 95 % t interval. Whether two differ is judged by pairs, round by round, not by these "
        "intervals. Counts of code are exact. ●: better than all others. ≈: not distinguishable from the best. "
        "†: could not sustain the rate.",
        "라운드의 평균이고, 아래는 각자의 95% t 신뢰 구간입니다. 우열은 이 구간이 아니라 라운드별로 짝지어 판정합니다. 코드 집계에는 "
        "오차가 없습니다. ●는 다른 모두보다 낫다는 뜻, ≈는 가장 좋은 값과 구분되지 않는다는 "
        "뜻이고, †는 요청률을 감당하지 못했다는 뜻입니다.",
    ),
    "page.better_in": ("{name} is better than {other} in {n}", "{name} › {other}: {n}개 항목에서 나음"),
    "page.tied": ("No difference was found in {n}", "차이가 보이지 않은 항목 {n}개"),
    "page.not_compared": ("Could not be compared", "비교할 수 없음"),
    "page.code_hint": (
        "Counted by {tool} in the sources of each running program, without tests. "
        "The last columns show CPU per request at an equal rate.",
        "실행되는 프로그램의 소스를 {tool}(으)로 셌고 테스트는 뺐습니다. 오른쪽은 같은 요청률에서 잰 요청당 비용입니다.",
    ),
    "page.start_hint": (
        "From exec. Of several starts the median with the range, from five on the geometric mean with its 95 % t interval; one "
        "start has no "
        "spread and gives no figure. Until it is warm a contender may use all cores.",
        "프로세스 실행부터 잰 값입니다. 여러 번 기동했으면 중앙값과 범위, 다섯 번부터는 기하 평균과 95% t 신뢰 구간입니다. "
        "한 번만 기동하면 편차를 알 수 없어 값을 적지 않습니다. 예열이 끝날 때까지는 모든 코어를 쓸 수 있습니다.",
    ),
    "page.starts": ("Start-up and warm-up", "기동과 예열"),
    "page.each_start": ("Every start ({n})", "기동별 기록 ({n})"),
    "page.no_starts": ("No start was recorded for this run.", "이 측정에는 기동 기록이 없습니다."),
    "page.overload_hint": (
        "Users come at a rate of so many percent of the contender's own capacity, and leave without an answer after a fixed time. 'In "
        "time': right answers to those who had not left, in percent of the capacity; 100 is the most. p99 is of these answers, from the "
        "user's coming. 'Back': from the end of the load until three single users in a row have an answer about as quick as from the idle "
        "service; >10,000 (2): not within 10 s in two rounds. 9/10: nine of ten rounds have this figure; where fewer than five of six "
        "have it, it is left out.",
        "사용자는 측정 대상 자신의 처리 능력의 일정 비율로 도착하고, 정해진 시간 안에 응답이 없으면 떠납니다. '제때 온 응답'은 떠나기 전에 "
        "받은 올바른 응답을 처리 능력에 대한 백분율로 나타낸 것이며 100이 최댓값입니다. p99는 이 응답들의 도착 시각부터의 지연 시간입니다. "
        "'회복'은 부하가 끝난 뒤 한 명씩 보낸 사용자 세 명이 연달아 유휴 상태와 비슷하게 빠른 응답을 받을 때까지의 시간이며, "
        ">10,000 (2)는 두 라운드에서 10초 안에 회복하지 못했다는 뜻입니다. 9/10은 열 라운드 중 아홉 라운드에 이 수치가 있다는 "
        "뜻이고, 여섯 라운드 중 다섯보다 적으면 적지 않습니다.",
    ),
    "page.failing_hint": (
        "Something fails for a few seconds: the database or the upstream hangs, or 300 clients send half of a request and then nothing. "
        "Users of two kinds come at the same rate: those whose request needs what fails, and 'others', who ask for a plain string. "
        "'Served': the right answer before the user leaves. 'Back': from the end of the fault until three single users in a row, who need "
        "what failed, have an answer about as quick as before it; >10,000 (2): not within 10 s in two rounds.",
        "몇 초 동안 장애가 납니다. DB나 업스트림이 멈추거나, 클라이언트 300개가 요청을 절반만 보내고 멈춥니다. 두 종류의 사용자가 같은 "
        "빈도로 도착합니다. 장애가 난 것이 필요한 사용자와, 문자열만 요청하는 '다른 사용자'입니다. '제때 응답'은 사용자가 떠나기 전에 받은 "
        "올바른 응답입니다. '회복'은 장애가 끝난 뒤 그것이 필요한 사용자 세 명이 연달아 장애 전처럼 빠른 응답을 받을 때까지의 시간이며, "
        ">10,000 (2)는 두 라운드에서 10초 안에 회복하지 못했다는 뜻입니다.",
    ),
    "page.idle_hint": (
        "What each silent connection costs: 'process' is the slope of the service's memory over the number of connections with its 95 % "
        "interval, 'kernel' that of the machine's slabs and TCP buffers, for both ends of a "
        "connection. CPU is the service's, beside the other requests (100 "
        "a second), before the first connection and with all of them, a minute at most later. A JVM that still compiles uses more at "
        "first, so compare contenders within a column, not its two columns. The median of the others is from the schedule, over all "
        "levels; beside it from the send on, with none and with all, in the 1.8 s "
        "before memory is read (– in runs that did not tell these "
        "apart). In the brackets of CPU and medians: of up to four values the least and the greatest, from five on the 95 % interval of "
        "the geometric mean. ? doubts in a third of the rounds or more.",
        "아무것도 주고받지 않는 연결 하나가 차지하는 양입니다. 프로세스는 연결 수에 따른 서비스 메모리의 기울기와 그 95% 구간이고, "
        "커널은 머신의 슬랩과 TCP 버퍼가 늘어난 기울기로 연결의 양쪽 끝을 모두 셉니다. CPU는 초당 100건의 다른 요청을 처리하면서 "
        "서비스가 쓴 양으로, 연결이 하나도 없을 때와 모두 열렸을 때입니다. 앞쪽은 JVM이 아직 컴파일하는 중이라 더 클 수 있으니 "
        "두 열끼리가 아니라 같은 열 안에서 측정 대상끼리 비교해야 합니다. 다른 요청의 p50은 예정 시각부터 잰 전체 구간의 값이고, "
        "그 옆은 연결이 없을 때와 모두 열렸을 때 전송 시각부터 잰 값으로, 메모리를 읽기 전 1.8초 동안의 요청만 셉니다"
        "(구분해 기록하지 않은 측정은 –). CPU와 p50의 괄호 안은 값이 네 개까지면 최솟값과 최댓값, "
        "다섯 개부터는 기하평균의 95% 신뢰 구간입니다. ?는 라운드의 3분의 1 이상에 경고가 있다는 뜻입니다.",
    ),
    "page.switches_hint": (
        "Voluntary and involuntary, of all threads of the service, in the scenarios in which everybody gets the same rate. Threads that "
        "ended meanwhile are not in it. Of up to four rounds the median with the least and the greatest, from five on the geometric mean "
        "with its 95 % t interval. ? doubts in a third of the rounds or more.",
        "모든 측정 대상이 같은 요청률을 받는 시나리오에서, 서비스의 모든 스레드에 일어난 자발적·비자발적 스위치를 요청 수로 나눈 값입니다. "
        "측정 도중 끝난 스레드의 몫은 빠집니다. 네 라운드까지는 중앙값과 최솟값–최댓값, 다섯 라운드부터는 기하평균과 95% t 구간입니다. "
        "?는 라운드의 3분의 1 이상에 경고가 있다는 뜻입니다.",
    ),
    "page.pinnings_hint": (
        "jdk.VirtualThreadPinned events of the JVM's flight recorder over the whole load of a cell: the median of the rounds with the "
        "least and the greatest. Evidence that does not depend on time. An event "
        "means that a thread wanted to leave its carrier and could "
        "not; a native call does not try, so 0 does not exclude pinning there. – the runtime was not asked.",
        "셀의 부하가 도는 동안 JVM의 플라이트 레코더에 남은 jdk.VirtualThreadPinned 이벤트 수입니다. 라운드의 중앙값과 "
        "최솟값–최댓값으로, 시계에 의존하지 않는 또 하나의 증거입니다. 캐리어 스레드에서 내려오려다 내려오지 못한 스레드만 셉니다. "
        "네이티브 호출은 내려오려는 시도를 하지 않으므로 0이라고 해서 고정되지 않았다는 뜻은 아닙니다. –는 묻지 않은 경우입니다.",
    ),
    "page.footprint_hint": (
        "The highest of each round over all its scenarios, then over the rounds: median with the range, from five rounds on the "
        "geometric mean "
        "with its 95 % t interval. One round shows no spread and gives no figure.",
        "라운드마다 모든 시나리오에서 가장 큰 값을 골라 라운드끼리 합친 것입니다. 중앙값과 범위, 다섯 라운드부터는 기하 평균과 "
        "95% t 신뢰 구간입니다. "
        "1라운드만으로는 편차를 알 수 없어 값을 적지 않습니다.",
    ),
    "page.how.scenario": (
        "In each round every contender is started afresh and warmed alike; then, scenario by scenario, all take turns, in an order that "
        "the seed draws and the next round reverses. One cell is one contender under one scenario in one round.",
        "라운드마다 모든 측정 대상을 새로 띄워 똑같이 예열한 뒤, 시나리오별로 번갈아 측정합니다. 순서는 시드로 정하고 다음 라운드에서 "
        "뒤집습니다. 셀 하나는 한 라운드, 한 시나리오, 한 측정 대상의 기록입니다.",
    ),
    "page.how.contender": (
        "In each round the contenders are started one after the other, warmed "
        "alike and taken through all scenarios, in an order that the "
        "seed draws and the next round reverses. One cell is one contender under one scenario in one round.",
        "라운드마다 측정 대상을 하나씩 새로 띄워 똑같이 예열한 뒤 모든 시나리오를 측정합니다. 순서는 시드로 정하고 다음 라운드에서 "
        "뒤집습니다. 셀 하나는 한 라운드, 한 시나리오, 한 측정 대상의 기록입니다.",
    ),
    "page.scenarios": ("Scenarios", "시나리오"),
    "page.model": ("load", "부하 방식"),
    "page.rate": ("rate, /s", "요청률, /s"),
    "page.users": ("users", "사용자 수"),
    "page.hold": ("hold, ms", "대기, ms"),
    "page.window": ("window, s", "측정 구간, 초"),
    "page.settings": ("Settings that the running programs report", "실행 중인 프로그램이 알려 준 설정"),
    "page.facts": ("Machine, tools and preflight, as recorded", "장비, 도구, 사전 점검 기록"),
    "page.again": (
        "The same plan with the same order, on your machine and at the same commit:",
        "같은 커밋에서 같은 계획과 순서로, 여러분의 장비에서 측정하려면 다음과 같이 합니다.",
    ),
    "page.again_report": (
        "All reports again from the records of a run (run.json, cells.jsonl, starts.jsonl):",
        "기록(run.json, cells.jsonl, starts.jsonl)에서 모든 보고서를 다시 만들려면 다음과 같이 합니다.",
    ),
    # --- the page of an article --------------------------------------------------------------------------------------
    "article.index": (
        "Pages that repeat an article's own load and compare its figures with ours:",
        "글에 나온 부하를 되도록 그대로 재현해 글의 수치와 우리 측정값을 나란히 실은 페이지입니다.",
    ),
    "article.no_figure": ("no figure", "값 없음"),
    "article.nothing_full": ("nothing was full", "한계에 닿은 것 없음"),
    "article.send": ("{vus} users send for {seconds} s, all from the same moment", "{vus}명이 동시에 시작해 {seconds}초 동안 전송"),
    "article.requests": (
        "{vus} users, all from the same moment, {requests} requests in all",
        "{vus}명이 동시에 시작해 모두 {requests}건 전송",
    ),
    "article.no_keep_alive": (", a connection for each", ", 요청마다 새 연결"),
    "article.open": ("{rate} requests/s for {window} s", "초당 {rate}건씩 {window}초"),
    "page.footer": (
        "Written from run.json, cells.jsonl, starts.jsonl and code.json in the same folder. The rules are in docs/method.md.",
        "이 파일과 같은 폴더의 run.json, cells.jsonl, starts.jsonl, code.json에서 만들었습니다. 규칙은 docs/method.md에 있습니다.",
    ),
    "page.close": ("Close", "닫기"),
    "page.requests": ("requests", "요청 수"),
    "page.latency": ("p50 / p90 / p99, ms", "p50 / p90 / p99, ms"),
    "page.cpu": ("CPU µs/request: service / generator / database", "CPU µs/요청: 서비스 / 생성기 / 데이터베이스"),
    "page.memory_mib": ("memory, MiB", "메모리, MiB"),
    "page.attempt": ("attempt {n}", "{n}번째 시도"),
    "page.no_cells": ("There is no record of this cell.", "이 셀의 기록이 없습니다."),
    "page.doubts_of_round": ("Round {round}", "{round}라운드"),
    "page.checks_note": (
        "Listed is every check that did not pass. What they looked at is in cells.jsonl.",
        "통과하지 못한 검사만 적었습니다. 검사가 본 값은 cells.jsonl에 있습니다.",
    ),
    **CHARTS,
    # --- the calculator ---------------------------------------------------------------------------------------------
    "heading.size": ("What would your workload take?", "내 서비스라면 얼마나 필요할까"),
    "size.hint": (
        "Say what one request does and how many there are. The figures follow from the costs that this run measured.",
        "요청 하나가 하는 일과 요청 수를 입력하세요. 이 측정에서 잰 비용으로 계산합니다.",
    ),
    "size.examples": ("Examples", "예시"),
    "size.example.crud": ("CRUD API", "CRUD API"),
    "size.example.gateway": ("API gateway", "API 게이트웨이"),
    "size.example.chat": ("Chat, 50,000 connections", "채팅(연결 50,000개)"),
    "size.example.reports": ("Reports that compute", "계산이 많은 리포트"),
    "size.example.legacy": ("Blocking library", "블로킹 라이브러리"),
    "size.field.rate": ("Requests per second", "초당 요청 수"),
    "size.field.wait": ("Waits for", "대기 시간"),
    "size.field.queries": ("Queries", "조회 쿼리 수"),
    "size.field.inserts": ("Inserts", "INSERT 수"),
    "size.field.query-time": ("One statement takes", "쿼리 하나의 시간"),
    "size.field.calls": ("Calls to others, at once", "외부 동시 호출 수"),
    "size.field.call-time": ("One call takes", "호출 하나의 시간"),
    "size.field.compute": ("Computes for", "계산 시간"),
    "size.field.blocking": ("Blocks its thread for", "스레드를 블로킹하는 시간"),
    "size.field.idle": ("Idle connections", "유휴 연결 수"),
    "size.field.utilisation": ("Cores at most busy for", "목표 CPU 사용률"),
    "size.field.core-price": ("Price of a core, monthly", "코어당 월 요금"),
    "size.field.gib-price": ("Price of a GiB, monthly", "GiB당 월 요금"),
    "size.head.cores": ("cores", "코어"),
    "size.head.memory": ("memory, MiB", "메모리, MiB"),
    "size.head.in_flight": ("in flight", "동시 처리"),
    "size.head.threads": ("threads", "스레드"),
    "size.head.p50": ("p50, ms", "p50, ms"),
    "size.head.first": ("first bottleneck", "첫 병목"),
    "size.head.price": ("a month", "월 요금"),
    "size.station.cores": ("cores", "코어"),
    "size.station.threads": ("threads", "스레드"),
    "size.station.pool": ("pool", "커넥션 풀"),
    "size.station.loop": ("loop", "이벤트 루프"),
    "size.full": ("{station} {rate}/s", "{station} {rate}/s"),
    "size.not_measured": ("not measured", "측정하지 않음"),
    "size.lack.loop": (
        "each blocking call keeps the other requests of its event loop waiting; {needs} loops are needed, its cores give {has}",
        "블로킹 호출 하나가 같은 이벤트 루프의 다른 요청을 모두 기다리게 합니다. "
        "이벤트 루프가 {needs}개 필요한데 코어 수만큼인 {has}개뿐입니다",
    ),
    "size.lack.threads": ("{needs} threads are needed, it has {has}", "스레드가 {needs}개 필요한데 {has}개뿐입니다"),
    "size.lack.pool": (
        "{needs} database connections are needed, its pool has {has}",
        "DB 커넥션이 {needs}개 필요한데 풀에는 {has}개뿐입니다",
    ),
    "size.unknown": ("not measured: {names}", "측정하지 않음: {names}"),
    "size.unknown.base": ("the cost of a request", "요청 비용"),
    "size.unknown.query": ("a query", "조회 쿼리"),
    "size.unknown.insert": ("an insert", "INSERT"),
    "size.unknown.call": ("an upstream call", "외부 호출"),
    "size.unknown.compute": ("computing", "계산"),
    "size.unknown.wait": ("a wait", "대기"),
    "size.unknown.base_mib": ("its memory under load", "부하를 받을 때의 기본 메모리"),
    "size.unknown.in_flight_kib": ("memory per request in flight", "처리 중인 요청당 메모리"),
    "size.unknown.connection_kib": ("memory per idle connection", "유휴 연결당 메모리"),
    "size.connections": (
        "Database connections: {db} ({ms} ms for each statement). Connections to the upstream: {up}.",
        "DB 커넥션 {db}개(쿼리 하나에 {ms}ms), 업스트림 연결 {up}개가 필요합니다.",
    ),
    "size.computing": (
        "Computing: {ms} ms of {whose}, {rounds} rounds of the contract's loop for everybody.",
        "계산은 {whose} 기준 {ms}ms이며, 모두 같은 루프를 {rounds}번 돕니다.",
    ),
    "size.from": (
        "From {run} ({machine}, {profile}). Stations are at most {share} busy; first bottleneck: at how many requests per second "
        "what is printed here is full.",
        "{run}({machine}, {profile})에서 잰 비용입니다. 사용률이 {share}를 넘는 자원이 없게 잡았습니다. "
        "'첫 병목'은 위 구성이 초당 몇 건에서 가득 차는지 나타냅니다.",
    ),
    "size.off": (
        "The sum of the parts is not exact. {row}, predicted from the other rows: {off}. The intervals are wider by that.",
        "비용을 더한 값은 근사치입니다. 다른 행으로 예측한 {row}의 오차는 {off}이며, 구간을 그만큼 넓혔습니다.",
    ),
    "size.predicted": (
        "Checked on {n} mixtures that no fit uses: {within} of {cells} predictions are within {share} of what was measured; the furthest "
        "is {off}, {name} in {row}.",
        "피팅에 쓰지 않은 조합 {n}개로 확인했습니다. 예측 {cells}개 가운데 {within}개가 측정값의 {share} 안에 있고, "
        "가장 크게 벗어난 것은 {row}의 {name}({off})입니다.",
    ),
    "size.predicted_memory": (
        "Their memory: {within} of {cells} predictions are within {share}; the furthest is {off}, {name} in {row}.",
        "메모리는 예측 {cells}개 가운데 {within}개가 {share} 안에 있고, 가장 크게 벗어난 것은 {row}의 {name}({off})입니다.",
    ),
    "size.elsewhere": (
        "Memory that this run did not measure is from {runs}.",
        "이 측정에서 재지 않은 메모리는 {runs}의 값입니다.",
    ),
    "size.left_out": (
        "Left out: the network, the database's and the upstream's own CPU and queues, garbage between collections, kernel memory of "
        "connections, what more than one core costs beyond one. Calls of a request run at once.",
        "계산에 넣지 않은 것: 네트워크, DB와 업스트림의 CPU와 대기열, GC 전까지 쌓이는 메모리, 연결에 드는 커널 메모리, "
        "코어를 여러 개 쓸 때 더 드는 비용. 요청 하나의 외부 호출은 동시에 한다고 봅니다.",
    ),
    "size.wrong": ("{field}: a number from {least} to {most}.", "{field}: {least}부터 {most}까지의 숫자를 입력하세요."),
    "size.needs_call_time": ("Say how long one call takes.", "호출 하나의 시간을 입력하세요."),
    "size.in_terminal": ("The same in a terminal, with this run as RUN:", "터미널에서도 같은 결과를 볼 수 있습니다(RUN은 이 측정)."),
    "size.link": ("Link to this calculation", "이 계산의 링크"),
    # --- the published copy -----------------------------------------------------------------------------------------
    "site.newest": ("The newest standard run: {run}", "최신 standard 측정: {run}"),
    "site.runs": ("All committed runs", "저장소에 있는 모든 측정"),
    "site.run": ("run", "측정"),
    "site.processor": ("processor", "프로세서"),
    "site.tier": ("tier", "티어"),
    "site.rounds": ("rounds", "라운드"),
    "site.contenders": ("contenders", "측정 대상"),
    "site.note": (
        "Each page works offline. Beside it lie the records of its run, from which ./justw report makes everything again.",
        "각 페이지는 오프라인에서도 열립니다. 같은 폴더에 원본 기록이 있고, ./justw report로 모든 결과를 다시 만들 수 있습니다.",
    ),
    # --- the guide --------------------------------------------------------------------------------------------------
    "guide.title": ("Which one for my workload?", "내 서비스에는 무엇을 쓸까"),
    "guide.head": (
        "Written by `./justw report RUN --readme` from the newest standard run; memory is from the runs that are named. "
        "Brackets are 95 % intervals. µs: CPU of a request. ms: p99 of the other requests while one blocks. "
        "*Near*: the whole interval is at most {near} times the least. ?: in a third of its rounds or more a check warns.",
        "`./justw report RUN --readme`가 최신 standard 측정으로 만든 문서이며, 메모리는 이름을 적은 측정의 값입니다. "
        "괄호 안은 95% 신뢰 구간입니다. µs는 요청당 CPU, ms는 한 요청이 블로킹하는 동안 다른 요청의 p99입니다. "
        "*비슷함*: 신뢰 구간 전체가 가장 적은 값의 {near}배 이내. ?: 라운드의 1/3 이상에서 검사가 경고한 값.",
    ),
    "guide.column.question": ("Ask yourself", "질문"),
    "guide.column.answer": ("What the figures say", "측정 결과"),
    "guide.column.changes": ("What would change it", "결론이 달라지는 조건"),
    "guide.least": ("Least: **{best}**, {value}.", "최소: **{best}** {value}."),
    "guide.tied": ("Not distinguishable: {names}.", "구분되지 않음: {names}."),
    "guide.near": ("Near: {names}.", "비슷함: {names}."),
    "guide.far": ("More: {names}.", "더 큼: {names}."),
    "guide.split": (
        "**Fails: {failing}**, {failing_range}. {others}: {others_range}.",
        "**버티지 못함: {failing}**, {failing_range}. {others}: {others_range}.",
    ),
    "guide.alike": ("No difference: {range}.", "차이 없음: {range}."),
    "guide.within": (
        "All within 10 %: {range}. That they are equal was not shown.",
        "모두 10% 이내: {range}. 같다고 판정한 것은 아닙니다.",
    ),
    "guide.uncompared": ("{names}. They were not compared.", "{names}. 서로 비교하지는 않았습니다."),
    "guide.memory": ("KiB: {names}.", "KiB: {names}."),
    "guide.outside": (
        "What no measurement tells: what your team knows, whom you can hire, the libraries that you need, how easily a fault is found.",
        "측정으로 알 수 없는 것: 팀이 아는 언어, 채용, 필요한 라이브러리, 장애 원인을 찾기 쉬운 정도.",
    ),
    "guide.examples": ("Five workloads", "다섯 가지 예"),
    "guide.examples_head": (
        "Calculated by the [cost model](size.md). Prices are examples: 25 for a core and 3 for a GiB, each month. *First bottleneck*: what "
        "is full first if the rate grows, and at which rate. A row with ✗ is calculated as if it had the threads or loops that it lacks. "
        "Below each table is what was measured of such requests or connections. The list at the end says how far off the model is.",
        "[비용 모델](size.md)(영어)로 계산했습니다. 요금은 예시로, 한 달에 코어당 25, GiB당 3입니다. "
        "*첫 병목*은 요청이 늘 때 가장 먼저 한계에 닿는 것과 그때의 요청 수입니다. ✗ 행은 모자라는 스레드나 이벤트 루프가 있다고 보고 "
        "계산했습니다. 표 아래에는 같은 종류의 요청이나 연결을 측정한 결과가 있고, 모델의 오차는 맨 아래 목록에 있습니다.",
    ),
    "guide.example.crud": (
        "500 requests per second, each with three queries; every second one also inserts a row.",
        "초당 500건. 요청마다 조회를 세 번 하고, 요청 두 건 가운데 한 건은 INSERT도 합니다.",
    ),
    "guide.example.gateway": (
        "3,000 requests per second, each with three calls at once of 50 ms.",
        "초당 3,000건. 요청마다 50ms 걸리는 호출 세 건을 동시에 합니다.",
    ),
    "guide.example.chat": (
        "50,000 open connections, mostly silent; 200 messages per second, each inserted. At most 10,000 were measured; java-vt would need "
        "a larger heap than the 1 GiB of the contract.",
        "열린 연결 50,000개는 대부분 유휴 상태이고, 초당 메시지 200건을 INSERT합니다. 측정은 10,000개까지 했고, java-vt는 "
        "계약의 1GiB보다 큰 힙이 필요합니다.",
    ),
    "guide.example.reports": (
        "5 requests per second, each with five queries of 5 ms and a computation that takes 50 ms on go.",
        "초당 5건. 요청마다 5ms 쿼리 다섯 번과 go로 50ms 걸리는 계산을 합니다.",
    ),
    "guide.example.legacy": (
        "300 requests per second, each with two queries of 5 ms and a library that blocks its thread for 50 ms.",
        "초당 300건. 요청마다 5ms 쿼리 두 번과 스레드를 50ms 블로킹하는 라이브러리 호출이 있습니다.",
    ),
    "guide.worked.crud": (
        "Measured in {run}: six reads to one insert. CPU per request, measured ÷ predicted by its cost rows: {ratios}.",
        "{run}에서 조회 6, INSERT 1의 비율로 측정했습니다. 요청당 CPU의 측정값 ÷ 같은 측정의 비용 행(cost-…)으로 구한 예측값: {ratios}.",
    ),
    "guide.worked.gateway": (
        "Measured in {run}: three calls of 20 ms at once. CPU per request, measured ÷ predicted by its cost rows: {ratios}.",
        "{run}에서 20ms 호출 3건을 동시에 보내는 요청으로 측정했습니다. "
        "요청당 CPU의 측정값 ÷ 같은 측정의 비용 행(cost-…)으로 구한 예측값: {ratios}.",
    ),
    "guide.worked.chat": (
        "Measured in {run}: memory with 10,000 silent connections, against the line through 0 to 5,000. Measured ÷ predicted: {ratios}.",
        "{run}에서 유휴 연결이 10,000개일 때의 메모리를, 0~5,000개에서 잰 값으로 그은 직선과 비교했습니다. 측정값 ÷ 예측값: {ratios}.",
    ),
    "guide.worked.reports": (
        "Measured in {run}: five reads to one request that computes. CPU per request, measured ÷ predicted by its cost rows: {ratios}.",
        "{run}에서 조회 5, 계산 1의 비율로 측정했습니다. "
        "요청당 CPU의 측정값 ÷ 같은 측정의 비용 행(cost-…)으로 구한 예측값: {ratios}.",
    ),
    "guide.worked.legacy": (
        "Measured in {run}: 20 users whose requests each block for 50 ms. Requests per second, measured ÷ predicted: {ratios}.",
        "{run}에서 사용자 20명이 50ms씩 블로킹하는 요청을 보냈습니다. 초당 요청 수의 측정값 ÷ 예측값: {ratios}.",
    ),
    "guide.unchecked": ("Not held against a measurement: {names}.", "측정값과 비교하지 않은 서버: {names}."),
    "guide.answer": ("Cheapest: **{best}**, {price}.", "가장 싼 서버: **{best}** {price}."),
    "guide.answer_near": ("Intervals that overlap with it: {names}.", "신뢰 구간이 겹치는 서버: {names}."),
    "guide.nobody": ("No server copes with it in the measured settings.", "측정한 설정으로 감당하는 서버가 없습니다."),
    # --- the digest -------------------------------------------------------------------------------------------------
    "digest.times": ("{value} × that ({bounds})", "{value}배({bounds})"),
    "digest.interval": ("{value} ({low}–{high})", "{value}({low}–{high})"),
    "digest.and": ("{first} and {last}", "{first}, {last}"),
    "digest.to": ("{low} to {high}", "{low}~{high}"),
    "digest.amount": ("{said} {unit}", "{said}{unit}"),
    "digest.unit.CPU µs/request": ("µs", "µs"),
    "digest.unit.requests/s": ("requests/s", " 요청/s"),
    "digest.unit.p50 ms": ("ms", "ms"),
    "digest.unit.p99 ms": ("ms", "ms"),
    "digest.unit.KiB/request": ("KiB", "KiB"),
    "digest.unit.s": ("s", "초"),
    "digest.unit.goodput %": ("%", "%"),
    "digest.unit.connections": ("connections", "개"),
    "digest.unit.served %": ("%", "%"),
    "digest.tied": (" (not distinguishable from it: {names})", "(구분되지 않음: {names})"),
    "digest.without": (" (without a figure: {names})", "(측정값 없음: {names})"),
    "digest.legend": (
        "×: how many times the best value of the row (the geometric mean of the rounds' ratios, not the ratio of the two values). "
        "All other figures: the value. ±: the 95 % interval of each, printed if wider than ±5 % (latency: ±1 ms).",
        "×: 그 행 1위의 몇 배인지(라운드별 비율의 기하 평균). 나머지: 측정값. ±: 각각의 95% 신뢰 구간, "
        "±5%(지연 시간은 ±1ms)보다 넓을 때만.",
    ),
    "digest.legend.range": (
        "± is not an interval but the range of the values (the halves of one round, or the least and the greatest), printed if wider than "
        "±5 % (latency: ±1 ms): {rows}.",
        "±가 신뢰 구간이 아니라 관측값의 범위(한 라운드의 앞뒤 절반, 또는 최솟값과 최댓값)인 행: {rows}. "
        "±5%(지연 시간은 ±1ms)보다 넓을 때만 표시.",
    ),
    "digest.legend.latency": ("In rows of latency, large is the difference to the best.", "지연 시간의 큰 글씨: 1위와의 차이."),
    "digest.legend.elsewhere": ("From another run, {run}: {rows}.", "{rows}: {run} 측정."),
    "digest.legend.better": (
        "{best}: better than all others in the row. All that were compared and have no mark are worse than the best.",
        "{best}: 단독 1위. 비교한 나머지는 모두 더 나쁨.",
    ),
    "digest.legend.tied": (
        "≈: not distinguishable from the best, with all comparisons of the run corrected for (Holm).",
        "≈: 가장 좋은 값과 구분되지 않음(다중 비교 보정)."
    ),
    "digest.legend.best": ("Bold", "굵은 글씨"),
    "digest.legend.dot": ("●", "●"),
    "digest.legend.unknown": (
        "{mark}: not compared: fewer than five rounds count, two copies of one program differ, or only a bound is known.",
        "{mark}: 비교에서 뺌(유효한 라운드 5회 미만, 같은 프로그램의 두 사본이 다름, 또는 상한이나 하한만 앎).",
    ),
    "digest.legend.bound": ("≤, ≥: an upper, a lower bound; the value itself is not known.", "≤, ≥: 상한, 하한. 값 자체는 모름."),
    "digest.legend.few": (
        "Not compared, since they were measured once for each start, in fewer than five rounds: {rows}.",
        "기동마다 한 번(다섯 라운드 미만) 재어 비교하지 않은 행: {rows}.",
    ),
    "digest.legend.uncompared": (
        "Not compared, since two copies of one program differ there, or only bounds are known: {rows}.",
        "같은 프로그램의 두 사본이 다르거나 상한·하한만 알아 비교하지 않은 행: {rows}.",
    ),
    "digest.legend.doubt": (
        "?: in a third of its rounds or more a check warns, for example of other programs on the machine. The whole table says of what.",
        "?: 라운드의 1/3 이상에서 검사가 경고. 내용은 전체 표에.",
    ),
    "digest.legend.fails": ("✗ fails. {reasons}.", "✗ 버티지 못함. {reasons}."),
    "digest.legend.near": (
        "≈ in these rows: its interval and that of the best lie within 10 % of each other.",
        "이 행들에서 ≈: 구간까지 1위의 10% 이내.",
    ),
    "digest.legend.hardly_known": (
        "No factor or difference where others have one: its interval, or that of the value, is wider than ±{widest} %: {rows}.",
        "일부에만 비교가 있는 행({rows}): 나머지는 구간이 ±{widest}%보다 넓습니다.",
    ),
    "digest.near": ("{title}: all within 10 %, {range}.", "{title}: 모두 10% 이내({range})."),
    "digest.alike": ("{title}: nobody differs, {range}.", "{title}: 차이가 없습니다({range})."),
    "digest.decides": ("This run decides these claims:", "이 측정으로 판정한 주장:"),
    "digest.no_findings": (
        "No headline: too few rounds, or the rows that headlines are made of show no difference. The table below has its figures.",
        "라운드가 적거나 요약에 쓰는 행에서 차이가 드러나지 않아 요약할 결론이 없습니다. 수치는 아래 표에 있습니다.",
    ),
    "digest.head": (
        "Measured on {date}: {rounds}, {machine}, {cores}, {profile}, {database}{calls}. Brackets are 95 % intervals. "
        "A range of several servers goes from their lowest to their highest bound.",
        "{date} 측정: {rounds}, {machine}, {cores}, {profile}, {database}{calls}. "
        "괄호는 95% 신뢰 구간, 여러 서버의 범위는 가장 낮은 하한~가장 높은 상한입니다.",
    ),
    "digest.calls": (", where a system call takes {ns} ns (50 to 150 on most machines)", ", 시스템 호출 한 번에 {ns} ns(보통 50–150 ns)"),
    "digest.profile.1cpu": ("one of them for the service (profile 1cpu)", "서버는 그중 하나(1cpu 프로필)"),
    "digest.profile.ncpu": ("several of them for the service (profile ncpu)", "서버는 그중 여러 개(ncpu 프로필)"),
    "digest.tally": (
        "**Of {all} claims of {articles}** our runs support {supported} and refute {refuted}.",
        "**{articles}의 주장 {all}개** 가운데 {supported}개는 사실로 확인했고 {refuted}개는 사실과 다릅니다.",
    ),
    "digest.means": (
        "A number is *reproduced* if ours is within 10 % of it. The letter is that of the article (see all claims). "
        "A figure without the name of a run is from the run above.",
        "*재현됨*: 글의 수치와 차이가 10% 이내. 알파벳은 글(전체 주장 참고). 출처는 값 아래, 없으면 위 측정.",
    ),
    "digest.links": (
        "[All claims]({claims}) · [the whole table, with every doubt]({table}) · the page with charts: `./justw report {run}`",
        "[전체 주장]({claims}) · [전체 표와 모든 경고]({table})(영어) · 차트: `./justw report {run}`",
    ),
    "digest.claims": ("The claims that our figures contradict most", "측정 결과와 가장 크게 어긋난 주장"),
    "verdicts.title": ("All claims and their verdicts", "모든 주장과 판정"),
    "verdicts.head": (
        "Written by `./justw report RUN --readme`. Below each conclusion is the run that decides it: the run of the READMEs if it can, "
        "else the newest other run. A number from another run has that run below it. Runs that decide otherwise, or could not decide, are "
        "named too. Where two runs decide differently, the claim is undecided until that is explained. "
        "?: in a third of the figure's rounds or more a check warned; `./justw report RUN` lists the warnings. "
        "[How claims are decided, and what was changed after data existed](claims.md).",
        "`./justw report RUN --readme`가 만든 문서입니다. 결론 아래에는 그 근거가 된 측정이 있습니다. README의 측정으로 결론이 나면 "
        "그것을, 아니면 결론이 나온 가장 최근의 다른 측정을 따릅니다. 글의 수치를 다른 측정에서 확인했으면 그 측정도 적습니다. "
        "판정이 다르거나 보류한 측정도 함께 적습니다. 측정끼리 판정이 다르면 이유를 밝힐 때까지 판정을 보류합니다. "
        "?: 라운드의 1/3 이상에서 검사가 경고한 값이며, 내용은 `./justw report RUN`으로 볼 수 있습니다. "
        "[판정 방법, 그리고 데이터가 나온 뒤에 바꾼 것(영어)](claims.md).",
    ),
    "picture.alt": ("Bars, the best first; those that fail are red.", "막대그래프, 좋은 순서. 버티지 못한 쪽은 빨간색."),
    "picture.fails": ("; failing: {names}", "; 버티지 못함: {names}"),
    "picture.key": (
        "Lines across the ends of bars: 95 % intervals. Red and ✗: fails, see the table.",
        "막대 끝의 선: 95% 신뢰 구간. 빨간색과 ✗: 버티지 못함(아래 표 참고).",
    ),
    "picture.doubt": ("?: a check warns, see there.", "?: 검사가 경고함(아래 표 참고)."),
}  # fmt: skip
"""Key → (English, Korean), with the same placeholders in both."""


def text(key: str, language: Language, **values: object) -> str:
    """The message of that key. Raises KeyError for a key or a placeholder that is not there."""
    return MESSAGES[key][LANGUAGES.index(language)].format(**values)


def said(key: str, **values: object) -> Said:
    """The message in both languages, with the same values; one that is Said itself lends each its own."""
    return in_each(lambda language: text(key, language, **{name: own(value, language) for name, value in values.items()}))


def joined(*parts: Said) -> Said:
    """Sentences one after the other."""
    return in_each(lambda language: " ".join(own(part, language) for part in parts))


def in_each(say: Callable[[Language], str]) -> Said:
    """What is said in each language."""
    return Said(en=say("en"), ko=say("ko"))


@overload
def own(value: Said, language: Language) -> str: ...
@overload
def own(value: object, language: Language) -> object: ...
def own(value: object, language: Language) -> object:
    """Of a Said the sentence in that language, of anything else itself."""
    return getattr(value, language) if isinstance(value, Said) else value


def word(prefix: str, name: str) -> Said:
    """A word of data; as the data have it where there is no message."""
    return said(f"{prefix}.{name}") if f"{prefix}.{name}" in MESSAGES else Said(en=name, ko=name)


def criterion(scenario: str | None, metric: str) -> Said:
    """What contenders are ranked by."""
    found = word("metric", metric)
    return found if scenario is None else in_each(lambda language: f"{scenario} · {own(found, language)}")


def unit(name: str, language: Language) -> str:
    """A unit as it is printed; one that data bring along and that has no words here stays as it is."""
    return own(word("unit", name), language)


def amount(shown: str, name: str, language: Language) -> str:
    """A number with its unit: `20.1 s`, `1 request/s`; in Korean `20.1초` and `스레드 120개`."""
    key = next((key for key in (f"amount.{shown} {name}", f"amount.{name}") if key in MESSAGES), "amount")
    return text(key, language, said=shown, unit=unit(name, language))


def unit_beside(metric: Metric) -> str:
    """The unit beside the metric's name: `ms`, where the unit alone is `p99 ms`."""
    return "ms" if METRIC_UNITS[metric].endswith(" ms") else METRIC_UNITS[metric]


def rounds(n: int, language: Language) -> str:
    return text("count.rounds.one", language) if n == 1 else text("count.rounds.many", language, n=n)


def cores(n: int, language: Language) -> str:
    return text("count.cores.one", language) if n == 1 else text("count.cores.many", language, n=n)


def scope(of: Scope, language: Language) -> str:
    """For what a verdict holds, in a line."""
    return text(
        "scope", language, machine=of.machine, cores=cores(of.cores, language), profile=of.profile, tier=of.tier,
        rounds=rounds(of.rounds, language), runner=of.runner, database=of.database, date=of.started_at[:10],
        commit=_commit(of.commit) or text("unknown", language), seed=of.seed,
    )  # fmt: skip


def short_scope(of: Scope, language: Language) -> str:
    """The same without what a reader finds once per report; of the machine its processor, which `Scope.machine` begins with."""
    key = "scope.short.compose" if of.runner == "compose" else "scope.short"
    return text(
        key, language, machine=of.machine.split(",")[0], cores=cores(of.cores, language), profile=of.profile,
        rounds=rounds(of.rounds, language),
    )  # fmt: skip


def _commit(whole: str) -> str:
    """Twelve digits, and whether there were changes."""
    digits, dash, changed = whole.partition("-")
    return digits[:12] + dash + changed


def asked(rule: Rule, language: Language, in_ms: bool = False) -> str:
    """What a part of a claim asks, in a line without a full stop. `in_ms`: latency is compared there as a difference in ms."""
    return text(f"asks.{_asks(rule)}", language, **_asked(rule, language, in_ms))


def bound_of(found: Comparison, language: Language) -> str:
    """Why a ratio has a ≥ or a ≤."""
    assert found.bound is not None
    return text(f"claim.{found.bound}", language, name=found.contender if found.bound == "at_least" else found.other or "–")


def figure_of(rule: Rule, language: Language) -> str:
    """What a part's figures are figures of, and what is claimed of them: `hello-max, capacity (claimed: ≥ 8)`. Empty where they say it."""
    if isinstance(rule, CodeRule):
        return text(f"metric.{rule.measure}", language)
    if isinstance(rule, LimitRule):
        return text("claim.figure_of", language, scenario=rule.scenario, what=text("head.limit", language))
    if not isinstance(rule, RatioRule | MarginRule | FigureRule | CapRule | SlopeRule | PointsRule):
        return ""
    metric: Metric = "throughput" if isinstance(rule, CapRule) else "memory" if isinstance(rule, SlopeRule) else rule.metric
    values = {"scenario": rule.scenario, "what": text(f"metric.{metric}", language)}
    side = rule.rule.split("_", 1)[1]
    sign = {"at_least": "≥", "at_most": "≤"}.get(side)
    if isinstance(rule, PointsRule):
        return text("claim.figure_asked", language, **values, asked=f"> {rule.points:g} {unit('points', language)}")
    if isinstance(rule, FigureRule) and sign is not None and metric in SHARES:
        least = amount(f"{rule.value:g}", unit_beside(metric), language)
        return text("claim.figure_asked", language, **values, asked=text(f"share_asked.{side}", language, amount=least))
    if sign is not None and isinstance(rule, RatioRule):
        return text("claim.figure_asked", language, **values, asked=f"{sign} {rule.ratio:g}")
    if sign is not None and isinstance(rule, FigureRule):
        return text("claim.figure_asked", language, **values, asked=f"{sign} {amount(f'{rule.value:,g}', unit_beside(metric), language)}")
    return text("claim.figure_of", language, **values)


def asked_of(part: Judged, language: Language) -> str:
    """The same of a part that was judged."""
    return asked(part.rule, language, any(comparison.unit == "ms" for comparison in part.comparisons))


def _asks(rule: Rule) -> str:
    if isinstance(rule, NoWinnerRule) and rule.without:
        return "no_winner_without"
    return "arithmetic_product" if isinstance(rule, ArithmeticRule) and set(rule.under) == {1.0} else rule.rule


def _asked(rule: Rule, language: Language, in_ms: bool) -> dict[str, str]:
    """The values of its message: every field of the rule in words."""
    given = dict(rule)
    told = {name: f"{value:g}" if isinstance(value, float) else value for name, value in given.items() if isinstance(value, float | str)}
    told |= {name: ", ".join(given[name]) for name in ("contenders", "without") if name in given}
    told |= {name: " × ".join(f"{value:g}" for value in given[name]) for name in ("over", "under") if name in given}
    told |= {name: text(f"metric.{given[name]}", language) for name in ("metric", "measure") if name in given}
    told |= {name: text(f"limit.{given[name]}", language) for name in ("limit", "cap") if name in given}
    told |= {"needs": own(given["needs"], language)} if "needs" in given else {}
    if isinstance(rule, FigureRule):
        told["amount"] = amount(f"{rule.value:g}", unit_beside(rule.metric), language)
    if "margin" in given:
        in_ms &= isinstance(rule, MarginRule)
        share = given["margin"]
        told["margin"] = text("asks.own_margin", language) if share is None else f"±{share:g} ms" if in_ms else f"±{share:.0%}"
    return told
