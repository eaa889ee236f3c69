# What commands say beside the reports of runs: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = Прогоны
list-empty = Прогонов пока нет.
list-unreadable = Не читаются
list-unreadable-advice = его каталог можно удалить: от него ничего не зависит
column-run = прогон
column-label = метка
column-suite = набор
column-state = состояние
column-cases = случаи
column-host = узел
column-hosts = узлы
column-values = значения
state-damaged = повреждён
state-untrusted = недостоверен
state-complete = завершён
state-failed = с ошибкой
state-partial = частичный
state-interrupted = прерван
state-running = выполняется
state-killed = убит
next-stored = Сохранено как { $run }. Дальше:
next-show = всё, что измерено
next-page = страница с графиками
next-doctor = готова ли машина к измерениям?
next-volume = кривые отклика с точкой перегиба
next-network = пропускная способность, время туда и обратно, ЦП на обоих концах
next-mpi = все MPI этой машины рядом
next-memory = все узлы NUMA, кэши и числа ядер
next-compare = с предыдущим запуском: лучше, хуже или так же
progress-done = { $case }: готово
progress-done-with = { $case }: готово, { $value }
progress-failed = { $case }: сбой, { $why }
progress-failed-on = { $case }: сбой на { $host }, { $why }
progress-warning = предупреждение: { $what }
progress-help = совет: { $what }
imported-measurements = измерений: { $n }

## The history of a result
history-changes = Изменения уровня
history-around = Что изменилось вокруг
history-unchanged = Уровень не изменился.
history-runs = прогоны
history-level = уровень
history-span = { $n }, с { $first } по { $last }
history-newest = новейший
history-meaning = смысл
history-other-results = другие результаты
history-others = { $n } этой показателя; различаются с помощью `--where`
history-explanation = Изменение находит { $method } с { $permutations } перестановками (начальное число { $seed }): не более { $risk } из них делят прогоны столь же чётко, и оно больше { $margin }. Прогоны между двумя изменениями считаются различающимися лишь случайно.
history-plot = { $metric } по прогонам
history-changed = Изменений уровня: { $n }.
column-from-run = с прогона
column-since = с
column-before = до
column-after = после
column-ratio = отношение
column-which-is = то есть
column-same-time = в то же время
column-started = начат
history-surroundings = окружение изменилось

## Two conditions side by side
compare-one-run = прогон { $run }
compare-runs = прогонов: { $n }, { $which }
from-to = с { $first } по { $last }
compare-result = По сравнению с { $a } условие { $b }: { $reported }.
compare-with-neighbour = Каждый прогон — одно значение; он сравнивается с соседним по времени.
compare-with-all = Каждый прогон — одно значение; он сравнивается со всеми прогонами другого условия.
compare-explanation = Лучше, хуже: отношение отличается от единицы более чем на { $margin }, и не случайно среди { $tested } проверенных показателей (ложны не более { $wrong } таких вердиктов). Равноценно: весь доверительный интервал в пределах { $margin }. Определить нельзя: не показано ни то, ни другое; число в скобках — примерно сколько прогонов на условие решило бы вопрос.
compare-floor = Порог шума: интервал отношения между прогонами одного условия.
forest-title = Отношения { $b } к { $a }
forest-description = Показано решающих метрик: { $shown } из { $all }; отрезки — доверительные интервалы, закрашен диапазон { $margin } около отсутствия различия.
compare-nothing = При обоих условиях не измерено ничего.
gates-title = Пороги
column-gate = порог
limits-title = Пределы
column-limit = предел
column-outcome = итог
gate-passed = пройден
gate-failed = не пройден
compare-differences = Другие различия
compare-unmatched = Измерено лишь при одном условии
compare-control = контроль
compare-one-each = по одному прогону
compare-needs = прогонов: { $n }
compare-alone = { $what }: только { $side }
column-floor = порог шума
items-goodput = Полезная пропускная способность
items-cpu-is = ЦП — занятая доля всех ЦП на локальной / на удалённой стороне во время измерения.
attribute-not = без { $what }
attribute-in-flight = { $n } одновременно
attribute-reads = { $share } чтений
attribute-passes = проходов до того: { $n }

## The doctor
doctor-title = Настройка { $host } для измерений
doctor-counts = Проверок: { $all }; отклоняются { $bad }, как ожидалось { $good }, здесь не видны { $hidden }, не прочитаны { $unread }.
doctor-no-change = Ничего не изменено. О каждом предложенном изменении решайте сами.
doctor-no-deviation = Отклонений не найдено.
doctor-deviations = Отклонения
doctor-others = Остальные проверки: `assay doctor --all`.
doctor-as-expected = Как ожидалось
doctor-hidden = Здесь не видно
doctor-unreadable = Не удалось прочитать
column-observed = наблюдается
column-expected = ожидается
column-reason = причина
column-why = почему
column-change = изменение
column-source = источник
column-check = проверка
severity-blocks = делает измерения негодными
severity-skews = искажает измерения
severity-note = примечание
hosts-title = Настройка для измерений, узлов: { $n }
hosts-unreached = Узлов без ответа: { $few } из { $n }.
hosts-heading = Узлы
hosts-without-answer = Узлы без ответа
hosts-help = помощь
column-host-name = имя узла
column-invalidate = портят
column-skew = искажают
column-notes = примечания
column-clock-offset = сдвиг часов
hosts-table = Отклонения по их важности для измерений
hosts-differ = Что различается
hosts-alike = Ничего: узлы настроены одинаково.

## Plans
plan-title = План набора { $suite }
plan-nothing-run = Ничего не запускалось.
plan-cases = Случаев: { $n }, не дольше { $time }.
column-resolved-to = означает
column-stops-at = до
column-budget = бюджет
plan-left-out = Пропущено: { $benchmark }, причина: { $why }; { $advice }

## When cases stop
plan-stops-at = Случаи заканчиваются при { $stop }: когда интервал столь узок, после стольких повторений в стольких подготовках, или когда исчерпан их бюджет времени.
plan-stop-as-shown = показанных значениях

## References
references-title = Опубликованные значения
references-title-of = Опубликованные значения: { $system }
references-hint = `assay references SYSTEM` выводит значения с источниками; `assay compare RUN SYSTEM` и `assay run --expect SYSTEM` сопоставляют с ними результаты.
references-source = Источник: { $source }
column-system = система
column-figures = значения
column-figure = значение
column-published = опубликовано
column-conditions = условия
held-title = Сопоставлено с { $name }
column-you = у вас
column-you-share = у вас / там
column-when = когда
column-follows = вывод
held-reached = достигнуто
held-missed = не достигнуто
held-conflict = источники расходятся
held-explanation = Результат не достигает значения, если весь его интервал дальше допуска ({ $tolerance }, если в источнике не сказано иное) в худшую сторону. Лучшие из многих и сомнительные значения показаны, но ничего не решают.

## Stored runs held against what was written
verify-sound = в порядке, исходных выводов: { $n }
verify-lost = повреждён, потеряно событий: { $n }

## The page itself
page-contents = Содержание
page-language = Язык
page-units = Единицы
page-raw = Исходные данные
page-back = к первой строке
