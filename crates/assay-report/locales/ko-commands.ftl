# What commands say beside the reports of runs: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = 실행
list-empty = 아직 실행이 없습니다.
list-unreadable = 읽을 수 없음
list-unreadable-advice = 그 폴더는 삭제해도 됩니다. 다른 것은 그에 의존하지 않습니다
column-run = 실행
column-label = 레이블
column-suite = 스위트
column-state = 상태
column-cases = 사례
column-host = 호스트
column-hosts = 호스트
column-values = 값
state-damaged = 손상됨
state-untrusted = 신뢰할 수 없음
state-complete = 완료
state-failed = 실패
state-partial = 일부
state-interrupted = 중단됨
state-running = 실행 중
state-killed = 강제 종료됨
next-stored = { $run }(으)로 저장했습니다. 다음 단계:
next-show = 측정한 모든 결과
next-page = 그래프가 있는 페이지
next-doctor = 이 머신은 측정에 맞게 설정되어 있습니까?
next-volume = 응답 곡선과 꺾임점
next-network = 처리량, 왕복 시간, 양쪽 끝의 CPU
next-mpi = 이 머신의 모든 MPI를 나란히
next-memory = 모든 NUMA 노드, 캐시, 코어 수
next-compare = 이전 실행과 비교: 더 좋음, 더 나쁨, 같음
progress-done = { $case } 완료
progress-done-with = { $case } 완료: { $value }
progress-failed = { $case } 실패: { $why }
progress-failed-on = { $case } { $host }에서 실패: { $why }
progress-warning = 경고: { $what }
progress-help = 도움말: { $what }
imported-measurements = 측정 { $n }개

## The history of a result
history-changes = 수준의 변화
history-around = 주변에서 바뀐 것
history-unchanged = 수준은 바뀌지 않았습니다.
history-runs = 실행
history-level = 수준
history-span = { $n }회, { $first } ~ { $last }
history-newest = 최신
history-meaning = 의미
history-other-results = 다른 결과
history-others = 이 지표의 결과 { $n }개, `--where`로 구별
history-explanation = 변화는 { $method }(순열 { $permutations }회, 시드 { $seed })로 찾습니다. 그만큼 뚜렷하게 실행을 나누는 순열은 많아야 { $risk }이고, 변화는 { $margin }보다 큽니다. 두 변화 사이의 실행은 우연히만 다르다고 봅니다.
history-plot = 실행에 따른 { $metric }
history-changed = 수준의 변화: { $n }회.
column-from-run = 실행부터
column-since = 부터
column-before = 이전
column-after = 이후
column-ratio = 비율
column-which-is = 판정
column-same-time = 같은 시기
column-started = 시작
history-surroundings = 주변 환경 변경

## Two conditions side by side
compare-one-run = 실행 { $run }
compare-runs = 실행 { $n }개, { $which }
from-to = { $first }부터 { $last }까지
compare-result = { $a } 대비 { $b }: { $reported }.
compare-with-neighbour = 각 실행은 값 하나로 치며 시간상 이웃과 비교합니다.
compare-with-all = 각 실행은 값 하나로 치며 다른 조건의 모든 실행과 비교합니다.
compare-explanation = 더 좋음, 더 나쁨: 비율이 하나에서 { $margin } 넘게 벗어나고, 검정한 지표 { $tested }개 가운데 우연이 아닙니다(이런 판정은 많아야 { $wrong }가 거짓). 동등: 신뢰 구간 전체가 { $margin } 안에 있습니다. 판단 불가: 어느 쪽도 보이지 않았습니다. 괄호 안은 판정에 필요한 조건별 실행 수의 어림입니다.
compare-floor = 노이즈 플로어: 같은 조건의 실행 사이 비율의 구간.
forest-title = { $a } 대비 { $b }의 비율
forest-description = 판정에 쓰이는 지표 { $all }개 중 { $shown }개. 선은 신뢰 구간, 음영은 차이 없음에서 { $margin } 이내의 범위입니다.
compare-nothing = 두 조건 모두에서 측정된 것이 없습니다.
gates-title = 게이트
column-gate = 게이트
limits-title = 한계
column-limit = 한계
column-outcome = 결과
gate-passed = 통과
gate-failed = 실패
compare-differences = 그 밖의 차이
compare-unmatched = 한 조건에서만 측정됨
compare-control = 대조
compare-one-each = 각각 한 번 실행
compare-needs = 실행 { $n }회
compare-alone = { $what }: { $side }만
column-floor = 노이즈 플로어
items-goodput = 유효 처리량
items-cpu-is = CPU는 측정 동안 로컬 / 원격 쪽 모든 CPU의 사용 비율입니다.
attribute-not = { $what } 없음
attribute-in-flight = 진행 중 { $n }
attribute-reads = 읽기 { $share }
attribute-passes = 사전 { $n }회

## The doctor
doctor-title = { $host }의 벤치마크 구성
doctor-counts = 검사 { $all }개: 벗어남 { $bad }, 예상대로 { $good }, 여기서 볼 수 없음 { $hidden }, 읽지 못함 { $unread }.
doctor-no-change = 아무것도 바꾸지 않았습니다. 표시된 변경은 직접 결정하세요.
doctor-no-deviation = 벗어난 것이 없습니다.
doctor-deviations = 벗어남
doctor-others = 나머지 검사: `assay doctor --all`.
doctor-as-expected = 예상대로
doctor-hidden = 여기서 볼 수 없음
doctor-unreadable = 읽지 못함
column-observed = 관측
column-expected = 예상
column-reason = 이유
column-why = 까닭
column-change = 변경
column-source = 출처
column-check = 검사
severity-blocks = 측정을 무효로 함
severity-skews = 측정을 왜곡함
severity-note = 참고
hosts-title = 벤치마크 구성, 호스트: { $n }
hosts-unreached = 응답 없는 호스트: { $n } 중 { $few }.
hosts-heading = 호스트
hosts-without-answer = 응답 없는 호스트
hosts-help = 도움말
column-host-name = 호스트 이름
column-invalidate = 무효
column-skew = 왜곡
column-notes = 참고
column-clock-offset = 시계 오프셋
hosts-table = 측정에 미치는 영향별 벗어남
hosts-differ = 다른 점
hosts-alike = 없음: 이 호스트들은 같게 설정되어 있습니다.

## Plans
plan-title = 스위트 { $suite }의 계획
plan-nothing-run = 아무것도 실행하지 않았습니다.
plan-cases = 사례: { $n }, 길어야 { $time }.
column-resolved-to = 해석
column-stops-at = 멈춤 기준
column-budget = 예산
plan-left-out = 제외: { $benchmark }, 이유: { $why }. { $advice }

## When cases stop
plan-stops-at = 사례는 { $stop }에서 멈춥니다. 구간이 그만큼 좁고 그만큼의 준비에서 그만큼 반복했거나, 시간 예산을 다 썼을 때입니다.
plan-stop-as-shown = 표시된 값

## References
references-title = 공표된 수치
references-title-of = { $system }의 공표된 수치
references-hint = `assay references SYSTEM`은 출처와 함께 수치를 보입니다. `assay compare RUN SYSTEM`과 `assay run --expect SYSTEM`은 결과를 그것에 견줍니다.
references-source = 출처: { $source }
column-system = 시스템
column-figures = 수치 수
column-figure = 수치
column-published = 공표
column-conditions = 조건
held-title = { $name }에 견줌
column-you = 측정값
column-you-share = 측정 / 공표
column-when = 시기
column-follows = 결론
held-reached = 도달
held-missed = 미달
held-conflict = 출처가 다름
held-explanation = 결과의 구간 전체가 나쁜 쪽으로 허용 오차(참고 자료에 따로 없으면 { $tolerance })를 넘으면 수치에 미달합니다. 최고값만 고른 수치와 의심스러운 수치는 보이기만 하고 판정하지 않습니다.

## Stored runs held against what was written
verify-sound = 온전함, 원시 출력 { $n }개
verify-lost = 손상됨, 잃은 이벤트 { $n }개

## The page itself
page-contents = 목차
page-language = 언어
page-units = 단위
page-raw = 원시 데이터
page-back = 첫 행으로
