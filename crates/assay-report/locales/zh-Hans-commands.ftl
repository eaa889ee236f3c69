# What commands say beside the reports of runs: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = 运行
list-empty = 还没有运行。
list-unreadable = 无法读取
list-unreadable-advice = 可以删除其文件夹；没有别的内容依赖它
column-run = 运行
column-label = 标签
column-suite = 套件
column-state = 状态
column-cases = 用例
column-host = 主机
column-hosts = 主机
column-values = 值
state-damaged = 已损坏
state-untrusted = 不可信
state-complete = 完成
state-failed = 失败
state-partial = 部分完成
state-interrupted = 已中断
state-running = 运行中
state-killed = 被终止
next-stored = 已存为 { $run }。接下来：
next-show = 全部测量结果
next-page = 带图表的页面
next-doctor = 本机的配置适合测量吗？
next-volume = 响应曲线及其拐点
next-network = 吞吐量、往返时间、两端 CPU
next-mpi = 并排比较本机的所有 MPI
next-memory = 每个 NUMA 节点、缓存和核心数
next-compare = 与上一次运行相比：更好、更差或相当
progress-done = { $case } 完成
progress-done-with = { $case } 完成：{ $value }
progress-failed = { $case } 失败：{ $why }
progress-failed-on = { $case } 在 { $host } 上失败：{ $why }
progress-warning = 警告：{ $what }
progress-help = 建议：{ $what }
imported-measurements = { $n } 个测量

## The history of a result
history-changes = 水平的变化
history-around = 环境有何变化
history-unchanged = 水平没有变化。
history-runs = 运行
history-level = 水平
history-span = { $n } 次，{ $first } 至 { $last }
history-newest = 最新
history-meaning = 含义
history-other-results = 其他结果
history-others = 该指标另有 { $n } 个，用 `--where` 区分
history-explanation = 变化由 { $method } 找出，做 { $permutations } 次置换（种子 { $seed }）：其中至多 { $risk } 能同样清楚地划分运行，且变化大于 { $margin }。两次变化之间的运行视为仅有随机差异。
history-plot = { $metric } 随运行的变化
history-changed = 水平变化次数：{ $n }。
column-from-run = 自运行
column-since = 自
column-before = 之前
column-after = 之后
column-ratio = 比值
column-which-is = 即
column-same-time = 同时
column-started = 开始
history-surroundings = 环境有变

## Two conditions side by side
compare-one-run = 运行 { $run }
compare-runs = { $n } 次运行，{ $which }
from-to = { $first } 至 { $last }
compare-result = 与 { $a } 相比，{ $b }：{ $reported }。
compare-with-neighbour = 每次运行算作一个值，与时间上相邻的运行比较。
compare-with-all = 每次运行算作一个值，与另一条件的全部运行比较。
compare-explanation = 更好、更差：比值偏离一超过 { $margin }，且在 { $tested } 个受检指标中并非偶然（此类判定至多 { $wrong } 有误）。相当：整个置信区间都在 { $margin } 以内。无法判定：两者都未得到证实；括号中的数字是每个条件大约需要多少次运行才能判定。
compare-floor = 噪声基线：同一条件下各次运行之比的区间。
forest-title = { $b } 与 { $a } 的比值
forest-description = 显示 { $all } 个决定性指标中的 { $shown } 个；线段为置信区间，阴影为无差异上下 { $margin } 的范围。
compare-nothing = 没有任何内容在两种条件下都测量过。
gates-title = 门限
column-gate = 门限
limits-title = 上限
column-limit = 上限
column-outcome = 结果
gate-passed = 通过
gate-failed = 未通过
compare-differences = 其他差异
compare-unmatched = 仅在一种条件下测量
compare-control = 对照
compare-one-each = 各运行一次
compare-needs = { $n } 次运行
compare-alone = { $what }：仅 { $side }
column-floor = 噪声基线
items-goodput = 有效吞吐量
items-cpu-is = CPU 是测量期间本端 / 远端所有 CPU 的忙碌份额。
attribute-not = 无 { $what }
attribute-in-flight = { $n } 个在途
attribute-reads = { $share } 读取
attribute-passes = 此前 { $n } 遍

## The doctor
doctor-title = { $host } 的基准测试配置
doctor-counts = { $all } 项检查：{ $bad } 项偏离，{ $good } 项符合预期，{ $hidden } 项在此无法观察，{ $unread } 项无法读取。
doctor-no-change = 没有更改任何内容。请自行决定是否采取所列的每项更改。
doctor-no-deviation = 未发现偏离。
doctor-deviations = 偏离
doctor-others = 其他检查：`assay doctor --all`。
doctor-as-expected = 符合预期
doctor-hidden = 在此无法观察
doctor-unreadable = 无法读取
column-observed = 实际
column-expected = 预期
column-reason = 原因
column-why = 为何
column-change = 更改
column-source = 来源
column-check = 检查
severity-blocks = 使测量无效
severity-skews = 使测量失真
severity-note = 备注
hosts-title = 基准测试配置，主机数：{ $n }
hosts-unreached = 无响应的主机：{ $n } 台中的 { $few } 台。
hosts-heading = 主机
hosts-without-answer = 无响应的主机
hosts-help = 帮助
column-host-name = 主机名
column-invalidate = 致无效
column-skew = 致失真
column-notes = 备注
column-clock-offset = 时钟偏移
hosts-table = 按对测量的影响排列的偏离
hosts-differ = 差异
hosts-alike = 无：这些主机配置一致。

## Plans
plan-title = 套件 { $suite } 的计划
plan-nothing-run = 没有运行任何内容。
plan-cases = 用例：{ $n } 个，至多 { $time }。
column-resolved-to = 解析为
column-stops-at = 停止于
column-budget = 预算
plan-left-out = 已略过：{ $benchmark }，因为 { $why }；{ $advice }

## When cases stop
plan-stops-at = 用例在 { $stop } 时停止：区间达到该宽度，且至少完成这么多次准备中的这么多次重复；或者时间预算用尽。
plan-stop-as-shown = 所示数值

## References
references-title = 已公布的数值
references-title-of = { $system } 的已公布数值
references-hint = `assay references SYSTEM` 列出数值及其来源；`assay compare RUN SYSTEM` 和 `assay run --expect SYSTEM` 用它们对照结果。
references-source = 来源：{ $source }
column-system = 系统
column-figures = 数值个数
column-figure = 数值
column-published = 公布
column-conditions = 条件
held-title = 与 { $name } 对照
column-you = 您
column-you-share = 您 / 参考
column-when = 时间
column-follows = 结论
held-reached = 达到
held-missed = 未达到
held-conflict = 来源不一
held-explanation = 若结果的整个区间在较差一侧超出容差（除非参考另有说明，为 { $tolerance }），则未达到该数值。多次取最佳的和可疑的数值仅供显示，不作判定。

## Stored runs held against what was written
verify-sound = 完好，原始输出 { $n } 份
verify-lost = 已损坏，丢失 { $n } 个事件

## The page itself
page-contents = 目录
page-language = 语言
page-units = 单位
page-raw = 原始数据
page-back = 返回首行
