# What commands say beside the reports of runs: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = 実行
list-empty = まだ実行はありません。
list-unreadable = 読み取り不可
list-unreadable-advice = そのフォルダーは削除できます。ほかに依存するものはありません
column-run = 実行
column-label = ラベル
column-suite = スイート
column-state = 状態
column-cases = ケース
column-host = ホスト
column-hosts = ホスト
column-values = 値
state-damaged = 破損
state-untrusted = 信頼できない
state-complete = 完了
state-failed = 失敗
state-partial = 一部
state-interrupted = 中断
state-running = 実行中
state-killed = 強制終了
next-stored = { $run } として保存しました。次の手順:
next-show = すべての測定結果
next-page = グラフ付きのページ
next-doctor = このマシンは測定に適した設定ですか？
next-volume = 応答曲線とその屈曲点
next-network = スループット、往復時間、両端の CPU
next-mpi = このマシンの全 MPI を並べて比較
next-memory = すべての NUMA ノード、キャッシュ、コア数
next-compare = 前回の実行と比較: 良い・悪い・同等
progress-done = { $case } 完了
progress-done-with = { $case } 完了: { $value }
progress-failed = { $case } 失敗: { $why }
progress-failed-on = { $case } が { $host } で失敗: { $why }
progress-warning = 警告: { $what }
progress-help = 対処: { $what }
imported-measurements = 測定 { $n } 件

## The history of a result
history-changes = 水準の変化
history-around = 周囲の変化
history-unchanged = 水準は変わりませんでした。
history-runs = 実行
history-level = 水準
history-span = { $n } 回、{ $first } から { $last } まで
history-newest = 最新
history-meaning = 意味
history-other-results = ほかの結果
history-others = この指標に { $n } 件、`--where` で区別
history-explanation = 変化は { $method } で { $permutations } 回の並べ替え（シード { $seed }）により検出します。同じほど明確に実行を分ける並べ替えは多くとも { $risk } で、変化は { $margin } を超えます。二つの変化の間の実行は偶然だけで異なるとみなします。
history-plot = 実行ごとの { $metric }
history-changed = 水準の変化：{ $n } 回。
column-from-run = 実行以降
column-since = 以降
column-before = 以前
column-after = 以後
column-ratio = 比
column-which-is = 評価
column-same-time = 同時に
column-started = 開始
history-surroundings = 周囲が変化

## Two conditions side by side
compare-one-run = 実行 { $run }
compare-runs = { $n } 回の実行、{ $which }
from-to = { $first } から { $last } まで
compare-result = { $a } と比べた { $b }：{ $reported }。
compare-with-neighbour = 各実行を一つの値とし、時間的に隣り合う実行と比べます。
compare-with-all = 各実行を一つの値とし、もう一方の条件のすべての実行と比べます。
compare-explanation = 良い・悪い：比が一から { $margin } を超えて離れ、検定した { $tested } 個の指標の中で偶然ではない（こうした判定の誤りは多くとも { $wrong }）。同等：信頼区間全体が { $margin } 以内。判定不能：どちらも示されていない。括弧内は判定に要る条件ごとの実行数の目安。
compare-floor = ノイズフロア：同じ条件の実行どうしの比の区間。
forest-title = { $a } に対する { $b } の比
forest-description = 判定に使う { $all } 個の指標のうち { $shown } 個。線は信頼区間、網掛けは差なしから { $margin } の範囲です。
compare-nothing = 両方の条件で測定されたものはありません。
gates-title = ゲート
column-gate = ゲート
limits-title = 上限
column-limit = 上限
column-outcome = 結果
gate-passed = 合格
gate-failed = 不合格
compare-differences = そのほかの違い
compare-unmatched = 一方の条件だけで測定
compare-control = 対照
compare-one-each = 各一回の実行
compare-needs = { $n } 回の実行
compare-alone = { $what }：{ $side } のみ
column-floor = ノイズフロア
items-goodput = グッドプット
items-cpu-is = CPU は測定中の自側 / 相手側の全 CPU の使用率です。
attribute-not = { $what } なし
attribute-in-flight = 処理中 { $n }
attribute-reads = 読み取り { $share }
attribute-passes = 事前に { $n } 回

## The doctor
doctor-title = { $host } のベンチマーク構成
doctor-counts = 検査 { $all } 件：逸脱 { $bad }、期待どおり { $good }、ここでは観測不可 { $hidden }、読み取り不可 { $unread }。
doctor-no-change = 何も変更していません。表示された変更はご自身で判断してください。
doctor-no-deviation = 逸脱はありません。
doctor-deviations = 逸脱
doctor-others = ほかの検査：`assay doctor --all`。
doctor-as-expected = 期待どおり
doctor-hidden = ここでは観測不可
doctor-unreadable = 読み取り不可
column-observed = 観測
column-expected = 期待
column-reason = 理由
column-why = なぜ
column-change = 変更
column-source = 出典
column-check = 検査
severity-blocks = 測定を無効にする
severity-skews = 測定をゆがめる
severity-note = 注記
hosts-title = ベンチマーク構成、ホスト数：{ $n }
hosts-unreached = 応答のないホスト：{ $n } 台中 { $few } 台。
hosts-heading = ホスト
hosts-without-answer = 応答のないホスト
hosts-help = 対処
column-host-name = ホスト名
column-invalidate = 無効
column-skew = ゆがみ
column-notes = 注記
column-clock-offset = 時計のずれ
hosts-table = 測定への影響の大きさ別の逸脱
hosts-differ = 違い
hosts-alike = なし：これらのホストの設定は同じです。

## Plans
plan-title = スイート { $suite } の計画
plan-nothing-run = 何も実行していません。
plan-cases = ケース：{ $n }、長くとも { $time }。
column-resolved-to = 解決結果
column-stops-at = 停止基準
column-budget = 予算
plan-left-out = 省略：{ $benchmark }、理由：{ $why }。{ $advice }

## When cases stop
plan-stops-at = ケースは { $stop } で終わります。区間がその幅になり、その数の準備で少なくともその回数を繰り返したとき、または時間予算を使い切ったときです。
plan-stop-as-shown = 示された値

## References
references-title = 公表値
references-title-of = { $system } の公表値
references-hint = `assay references SYSTEM` は値を出典とともに示します。`assay compare RUN SYSTEM` と `assay run --expect SYSTEM` は結果をそれと照らします。
references-source = 出典：{ $source }
column-system = システム
column-figures = 値の数
column-figure = 値
column-published = 公表
column-conditions = 条件
held-title = { $name } との照合
column-you = あなたの値
column-you-share = あなた / 公表
column-when = 時期
column-follows = 結論
held-reached = 到達
held-missed = 未達
held-conflict = 出典が不一致
held-explanation = 結果の区間全体が悪い側に許容差（参照に別記がなければ { $tolerance }）を超えるとき、値に未達とします。最良値だけの値と疑わしい値は示すだけで判定しません。

## Stored runs held against what was written
verify-sound = 健全、生の出力 { $n } 件
verify-lost = 破損、失われたイベント { $n } 件

## The page itself
page-contents = 目次
page-language = 言語
page-units = 単位
page-raw = 生データ
page-back = 最初の行へ
