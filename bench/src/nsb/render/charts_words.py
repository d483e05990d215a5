"""The messages that only charts use: a part of messages.MESSAGES, where they are looked up. Pure."""

from __future__ import annotations

CHARTS: dict[str, tuple[str, str]] = {
    # --- titles --------------------------------------------------------------------------------------------------------------
    "title.heat": ("Every figure beside the best of its scenario", "시나리오마다 가장 좋은 값과 얼마나 차이 나는가"),
    "title.intervals": ("{scenario}: {unit}", "{scenario}: {unit}"),
    "title.latency": ("{scenario}: latency percentiles", "{scenario}: 지연 시간 백분위수"),
    "title.roles": ("{scenario}: who spends the CPU of a request", "{scenario}: 요청 하나의 CPU를 누가 쓰는가"),
    "title.memory": ("{scenario}: memory against requests in flight", "{scenario}: 처리 중인 요청 수에 따른 메모리"),
    "title.growth": ("{scenario}: memory added above the lowest level", "{scenario}: 최저 단계보다 늘어난 메모리"),
    "title.goodput": ("{scenario}: right answers in time", "{scenario}: 제때 온 올바른 응답"),
    "title.p99": ("{scenario}: p99 of the right answers in time", "{scenario}: 제때 온 올바른 응답의 p99"),
    "title.ready": ("Start-up: seconds until ready", "기동: 준비될 때까지 걸린 시간(초)"),
    "title.pss": ("Start-up: memory when ready, MiB (PSS)", "기동: 준비된 시점의 메모리, MiB(PSS)"),
    "title.article": ("Article {id}: our figures as a multiple of its own", "글 {id}: 글의 수치 대비 이번 측정값의 배수"),
    # --- the scope, under every title ------------------------------------------------------------------------------------------
    "chart.scope": (
        "Tier {tier}, {rounds}, profile {profile}; {cpu}, {cores}; {date}, commit {commit}.",
        "{tier} 티어, {rounds}, {profile} 프로필 · {cpu}, {cores} · {date}, 커밋 {commit}",
    ),
    # --- how to read it, below the scope ---------------------------------------------------------------------------------------
    "read.heat": (
        "Colour: how many times the best figure of the row (log). Grey: a bound or another unit, which has no ratio.",
        "색은 그 행의 가장 좋은 값 대비 배수입니다(로그). 회색은 상한·하한만 있거나 단위가 달라 배수를 낼 수 없는 값입니다.",
    ),
    "read.width": (
        "Below each figure: ± its 95 % t interval over the rounds; 5/6: five of six rounds count (one alone: the spread of its halves). "
        "≤: the upper end of the interval.",
        "값 아래의 ±는 라운드에 대한 95% t 신뢰 구간입니다. 5/6은 여섯 라운드 가운데 다섯 라운드만 유효하다는 뜻이며(하나뿐이면 전반과 "
        "후반의 차이), ≤는 구간의 위쪽 끝입니다.",
    ),
    "read.width_one": (
        "Below each figure: ± the spread of the window's two halves.",
        "값 아래의 ±는 측정 구간 전반과 후반의 차이입니다.",
    ),
    "read.one": (
        "One round has no interval: no verdict follows from it.",
        "1라운드에는 신뢰 구간이 없으므로 이것만으로는 판정하지 않습니다.",
    ),
    "read.unsustained": (
        "†: could not sustain the rate, so it is behind all that could; answers per second that it reached.",
        "†는 요청률을 감당하지 못해 감당한 모든 대상보다 뒤진다는 뜻이며, 값은 실제로 도달한 초당 응답 수입니다.",
    ),
    "read.doubt": (
        "?: doubts in a third of its rounds or more.",
        "?는 라운드의 3분의 1 이상에 경고가 있다는 뜻입니다.",
    ),
    "read.tail": (
        "p99 needs 1000 requests, which no round here has.",
        "p99는 요청이 1000개 이상일 때만 나타내며, 여기서는 그런 라운드가 없습니다.",
    ),
    "read.interval": (
        "Point: geometric mean over the rounds; line: its 95 % t interval.",
        "점은 라운드의 기하 평균, 선은 95% t 신뢰 구간입니다.",
    ),
    "read.interval_mean": (
        "Point: mean over the rounds; line: its 95 % t interval.",
        "점은 라운드의 평균, 선은 95% t 신뢰 구간입니다.",
    ),
    "read.halves": (
        "One round: the line is the spread of the window's two halves, not an interval. No verdict follows from it.",
        "1라운드라서 선은 신뢰 구간이 아니라 측정 구간 전반과 후반의 차이입니다. 이것만으로는 판정하지 않습니다.",
    ),
    "read.spread_mixed": (
        "Where one round alone counts, the line is the spread of its halves, not an interval.",
        "유효한 라운드가 하나뿐이면 선은 신뢰 구간이 아니라 전반과 후반의 차이입니다.",
    ),
    "read.bound": (
        "Open arrow: a bound; the true figure lies on the side it points to.",
        "빈 화살표는 하한이나 상한만 알 수 있는 값이며, 실제 값은 화살표가 가리키는 쪽에 있습니다.",
    ),
    "read.clock": (
        "k6 timestamps resolve 1 ms: no line is shorter than ±1 ms.",
        "k6의 시계가 1 ms 단위이므로 선은 ±1 ms보다 짧지 않습니다.",
    ),
    "read.latency": (
        "Medians over the rounds with the range over them, of latency from the schedule. "
        "k6 timestamps resolve 1 ms: values left of the dotted line are not distinguishable.",
        "예정 시각 기준 지연 시간이며, 점은 라운드의 중앙값, 선은 최솟값부터 최댓값까지입니다. "
        "k6의 시계는 1 ms 단위라 점선 왼쪽은 구별하지 못합니다.",
    ),
    "read.latency_one": (
        "One round: the line of p50 joins its two halves and is no interval; p90 and p99 have no spread at all. "
        "k6 timestamps resolve 1 ms: values left of the dotted line are not distinguishable.",
        "1라운드입니다. p50의 선은 전반과 후반을 이은 것이고 신뢰 구간이 아닙니다. p90과 p99에는 편차 정보가 없습니다. "
        "k6의 시계는 1 ms 단위라 점선 왼쪽은 구별하지 못합니다.",
    ),
    "read.roles": (
        "Medians over the rounds; the line is the range of the service's part.",
        "라운드의 중앙값이며, 선은 서비스 몫의 최솟값부터 최댓값까지입니다.",
    ),
    "read.roles_one": (
        "One round: the line joins the service's two halves and is no interval; the other parts have no spread.",
        "1라운드입니다. 선은 서비스의 전반과 후반을 이은 것이고 신뢰 구간이 아닙니다. 나머지에는 편차 정보가 없습니다.",
    ),
    "read.memory": (
        "Medians over the rounds of each level's median; the line is the range over the rounds. Points of one level stand a little apart.",
        "단계별 중앙값을 다시 라운드의 중앙값으로 나타냈고, 세로선은 라운드의 최솟값부터 최댓값까지입니다. "
        "같은 단계의 점은 조금씩 띄워 그렸습니다.",
    ),
    "read.memory_one": (
        "One round: the median of each level, without spread.",
        "1라운드이므로 단계별 중앙값만 있고 편차 정보는 없습니다.",
    ),
    "read.ended": (
        "A line ends where more users put no more requests in flight.",
        "사용자를 늘려도 처리 중인 요청이 더 늘지 않는 단계부터는 선을 잇지 않았습니다.",
    ),
    "read.slope": (
        "Beside each name: KiB for each request in flight, its connection included.",
        "이름 옆의 값은 처리 중인 요청 하나(연결 포함)당 KiB입니다.",
    ),
    "read.overload": (
        "Medians over the rounds with their range. Users come at a share of the contender's own capacity. Points of one level stand a "
        "little apart.",
        "점은 라운드의 중앙값, 세로선은 범위입니다. 부하는 서버별 처리 능력을 100%로 한 값입니다. "
        "같은 단계의 점은 조금씩 띄워 그렸습니다.",
    ),
    "read.overload_one": (
        "One round, without spread; users come at a share of the contender's own capacity.",
        "1라운드이므로 편차 정보가 없습니다. 부하는 서버별 처리 능력을 100%로 한 값입니다.",
    ),
    "read.goodput": (
        "Broken line: every user who can be served is served in time.",
        "점선은 처리할 수 있는 사용자가 모두 제때 응답을 받는 경우입니다.",
    ),
    "read.p99": (
        "Answers that came too late are not in it: their users had left.",
        "너무 늦은 응답은 사용자가 이미 떠났으므로 포함하지 않습니다.",
    ),
    "read.overload_late": (
        "Levels at which the generator was late are not drawn.",
        "부하 생성기가 늦은 단계는 그리지 않았습니다.",
    ),
    "read.start_interval": (
        "Point: geometric mean over the starts; line: its 95 % t interval.",
        "점은 기동별 값의 기하 평균, 선은 95% t 신뢰 구간입니다.",
    ),
    "read.start_range": (
        "Point: median over the starts; line: their range, which is no interval.",
        "점은 기동별 값의 중앙값, 선은 범위이며 신뢰 구간이 아닙니다.",
    ),
    "read.article": (
        "Broken line: as in the article. Point: geometric mean over the rounds; line: its 95 % t interval, of ours alone, since the "
        "article gives no spread. Next to it: the article's figure → ours.",
        "점선은 글과 같은 값입니다. 점은 라운드의 기하 평균, 가로선은 95% t 신뢰 구간이며, 글에는 편차가 없으므로 이번 측정만의 "
        "구간입니다. 옆의 숫자는 글의 수치 → 이번 측정값입니다.",
    ),
    # --- axes and legends --------------------------------------------------------------------------------------------------------
    "axis.ratio": ("times the best", "가장 좋은 값의 배수"),
    "axis.article": ("ours ÷ theirs", "이번 측정값 ÷ 글의 수치"),
    "axis.log": ("{unit}, log scale", "{unit}, 로그 눈금"),
    "axis.answers": ("answers per second that were reached", "실제로 도달한 초당 응답 수"),
    "axis.latency": ("ms from the schedule", "예정 시각부터의 ms"),
    "axis.overshoot": ("ms beyond the {hold} ms that the request holds", "대기 시간 {hold} ms를 초과한 지연(ms)"),
    "axis.cpu": ("CPU µs/request", "CPU µs/요청"),
    "axis.in_flight": ("requests in flight", "처리 중인 요청 수"),
    "axis.memory": ("MiB (PSS)", "MiB(PSS)"),
    "axis.growth": ("MiB more than at the lowest level", "최저 단계 대비 MiB"),
    "axis.offered": ("users who come, % of the capacity", "유입 부하, 처리 능력 대비 %"),
    "axis.goodput": ("right answers in time, % of the capacity", "제때 온 올바른 응답, 처리 능력 대비 %"),
    "axis.p99": ("p99 in ms, from the user's coming", "p99(ms), 사용자 도착 시각부터"),
    "axis.seconds": ("seconds from exec", "프로세스 실행부터 걸린 시간(초)"),
    # --- tooltips and tables -------------------------------------------------------------------------------------------------------
    "of.rounds": ("{n} of {all}", "{n}/{all}"),
    "spread.interval": ("{low} to {high} (95 % interval)", "{low}~{high} (95% 신뢰 구간)"),
    "spread.halves": ("{low} to {high} (halves of one round, no interval)", "{low}~{high} (한 라운드의 전반·후반, 신뢰 구간 아님)"),
    "spread.range": ("{low} to {high} (range)", "{low}~{high} (범위)"),
    "spread.none": ("none: one value", "값이 하나라 없음"),
    "more": ("; and {n} more", " 외 {n}건"),
    "head.spread": ("spread", "편차"),
    "head.low": ("low", "하한"),
    "head.high": ("high", "상한"),
    "head.ratio": ("times the best", "가장 좋은 값의 배수"),
    "head.percentile": ("percentile", "백분위수"),
    "head.role": ("program", "프로그램"),
    "head.users": ("users", "사용자 수"),
    "head.offered": ("users who come", "유입 부하"),
    "head.slope": ("KiB for each request", "요청당 KiB"),
    "head.figure": ("figure", "지표"),
    "head.theirs": ("theirs", "글의 수치"),
    "head.against": ("ours ÷ theirs", "이번 측정값 ÷ 글의 수치"),
    "head.measured_as": ("measured as", "측정 방법"),
    # --- alternatives in words -----------------------------------------------------------------------------------------------------
    "alt.article": (
        "Of article {id}'s figures this run repeats {all}, with a value for {known}; within {margin} of the article's with the whole 90 % "
        "interval: {near}. Furthest from it: {name}, {times} times the article's ({low}–{high}).",
        "글 {id}의 수치 가운데 이번에 다시 잰 것은 {all}개이고 값이 나온 것은 {known}개입니다. 그중 {near}개는 90% 구간 전체가 "
        "글의 수치와 {margin} 안에서 일치합니다. 가장 많이 벗어난 것은 {name}, 글의 {times}배({low}~{high})입니다.",
    ),
    "alt.extremes": (
        "{what} ({better}): lowest {low} with {low_value}, highest {high} with {high_value}, {times} times as much; "
        "their intervals {overlap}.",
        "{what}({better}): 최저 {low} {low_value}, 최고 {high} {high_value}, {times}배 차이. 두 구간은 {overlap}.",
    ),
    "alt.extremes_halves": (
        "{what} ({better}): lowest {low} with {low_value}, highest {high} with {high_value}, {times} times as much, "
        "without an interval to judge by.",
        "{what}({better}): 최저 {low} {low_value}, 최고 {high} {high_value}, {times}배 차이. 판정할 신뢰 구간은 없습니다.",
    ),
    "alt.overlap": ("overlap", "겹칩니다"),
    "alt.apart": ("do not overlap", "겹치지 않습니다"),
    "alt.alone": ("{what}: {low} alone with {low_value}.", "{what}: {low} 하나, {low_value}."),
    "alt.bounds": ("Bounds only: {names}.", "하한이나 상한만 있음: {names}."),
    "alt.unsustained": ("Could not sustain the rate: {names}.", "요청률을 감당하지 못함: {names}."),
    "alt.without": ("Without a figure: {names}.", "값 없음: {names}."),
    "alt.heat": ("Scenarios down, contenders across.", "행은 시나리오, 열은 측정 대상입니다."),
    "alt.heat_alone": (
        "Best, with an interval apart from all others: {names}.",
        "다른 모든 대상과 구간이 겹치지 않으면서 가장 좋은 것: {names}.",
    ),
    "alt.heat_close": (
        "No best by intervals in: {scenarios}.",
        "구간만으로 최고를 가릴 수 없는 시나리오: {scenarios}.",
    ),
    "alt.heat_furthest": ("Furthest from the best: {name} in {scenario}, {times}.", "가장 크게 뒤진 것: {scenario}의 {name}, {times}."),
    "alt.heat_none": (
        "Scenarios down, contenders across. No scenario has two figures that compare.",
        "행은 시나리오, 열은 측정 대상입니다. 서로 비교할 값이 둘 이상인 시나리오가 없습니다.",
    ),
    "alt.heat_bounds": ("Bounds alone in: {scenarios}.", "하한이나 상한만 있는 시나리오: {scenarios}."),
    "alt.latency": (
        "{percentile} of {scenario}: lowest {low} with {low_value} ms, highest {high} with {high_value} ms (median of {rounds}).",
        "{scenario}의 {percentile}: 최저 {low} {low_value} ms, 최고 {high} {high_value} ms({rounds}의 중앙값).",
    ),
    "alt.roles": (
        "CPU of the service for a request of {scenario}: lowest {low} with {low_value} µs, highest {high} with {high_value} µs. "
        "The generator spends {least} to {most} µs.",
        "{scenario} 요청 하나에 서비스가 쓰는 CPU: 최저 {low} {low_value} µs, 최고 {high} {high_value} µs. "
        "부하 생성기는 {least}~{most} µs를 씁니다.",
    ),
    "alt.memory": (
        "With the most requests in flight that each reached, memory is least for {low} ({low_value} at {low_at}) "
        "and most for {high} ({high_value} at {high_at}).",
        "각자 도달한 최대 동시 처리 수에서 메모리가 가장 적은 것은 {low}({low_at}건에서 {low_value}), "
        "가장 많은 것은 {high}({high_at}건에서 {high_value})입니다.",
    ),
    "alt.goodput": (
        "Right answers in time in {scenario} while {percent} % of the capacity is asked: least from {low} with {low_value} % of its "
        "capacity, most from {high} with {high_value} %.",
        "{scenario}에서 처리 능력의 {percent}%를 요청할 때 제때 온 올바른 응답: 가장 적은 것은 {low}(처리 능력의 {low_value}%), "
        "가장 많은 것은 {high}({high_value}%)입니다.",
    ),
    "alt.p99": (
        "p99 of the answers in time in {scenario} while {percent} % of the capacity is asked: lowest {low} with {low_value} ms, "
        "highest {high} with {high_value} ms.",
        "{scenario}에서 처리 능력의 {percent}%를 요청할 때 제때 온 응답의 p99: 최저 {low} {low_value} ms, 최고 {high} {high_value} ms.",
    ),
}  # fmt: skip
"""Key → (English, Korean), with the same placeholders in both."""
