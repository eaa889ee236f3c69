yes = да
no = нет
on = включено
off = выключено
unknown = неизвестно
interval = интервал
interval-of-level = { $level }-й интервал
no-interval = нет
no-value = нет значения
full-stop = .
list-separator = {", "}
detail-separator = {", "}
fact-separator = {": "}
clause-separator = {"; "}
sentence-separator = {" "}
sentence-about = { $sentence } ({ $about }).
seed = начальное число { $seed }
and-more = и ещё { $n }
on-more-hosts = { $n ->
    [one] … и ещё на { $n } узле: { $hosts }
   *[other] … и ещё на { $n } узлах: { $hosts }
}
one-and-two = { $one } и { $two }
what-by = { $what } (инструмент: { $by })
name-in = { $name } ({ $place })
test-at = { $test } при { $share }
is-mean = { $value } (среднее)
per-second = { $rate } в секунду
about = около { $value }
threads = { $n ->
    [one] { $n } поток
    [few] { $n } потока
    [many] { $n } потоков
   *[other] { $n } потока
}
cores = { $n ->
    [one] { $n } ядро
    [few] { $n } ядра
    [many] { $n } ядер
   *[other] { $n } ядра
}
streams = { $n ->
    [one] { $n } поток данных
    [few] { $n } потока данных
    [many] { $n } потоков данных
   *[other] { $n } потока данных
}
under-load = под нагрузкой { $n ->
    [one] { $n } потока данных
   *[other] { $n } потоков данных
}
cpus = { $n } ЦП
cpus-on-cores = { $cpus }, физических ядер: { $cores }
cores-with-threads = { $cores }, { $threads }
arrays-of = массивы по { $size }
all-at-once = все одновременно
each-alone = каждый отдельно
all-operations = все
end-local = локальная сторона
end-remote = удалённая сторона
end-other = сторона { $end }
direction-send = отправка
direction-receive = приём
direction-both = оба направления
pattern-random = случайный доступ
pattern-sequential = последовательный доступ
operation-read = чтение
operation-write = запись
no-copy = без копирования
segmentation = сегментация в ядре
from-due = { $what } от планового начала
working-set = рабочий набор
time-per-load = время на одну зависимую загрузку
beyond-caches = память
knee = перегиб
rate-max = макс.
up-to-the-knee = до перегиба
beyond-the-knee = за перегибом
provisioned = выделено: { $limit }
limit-line = предел: { $limit }

heading-bandwidth = Пропускная способность памяти
heading-latency = Задержка памяти
heading-compute = Вычисления
heading-network = Сеть
heading-storage = Хранилище
heading-files = Деревья файлов
heading-programs = Программы
heading-copies = Копирование между доменами
heading-cache-bandwidth = Пропускная способность кэшей
heading-core-to-core = Задержка между ядрами
heading-loaded-latency = Задержка памяти под нагрузкой
heading-other = Прочие результаты
heading-perftest = Задержка по правилам perftest
heading-measurers = Сравнение средств измерения
heading-warnings = Предупреждения
heading-failures = Сбои
heading-omitted = Не измерено
heading-method = Метод
details-machine = Машина
details-bandwidth = Все домены и числа ядер
details-copies = Все пары доменов
details-loaded-latency = Все точки кривых
details-other-metrics = Прочие показатели
table-bandwidth = Пропускная способность по размещению
table-extremes = Медианы по доменам одного вида
table-levels = Задержка каждого уровня кэша и памяти
table-compute = Пиковая производительность умножения-сложения и LINPACK
table-other = Результаты всех остальных тестов
table-programs = Время, память и показатели программ
table-perftest = Те же сообщения по правилам perftest
table-measurers = Медианы и их отношение
table-turns = Медианы и отношение соседних прогонов; это не отношение медиан
table-all-runs = Медианы и отношение прогонов, каждого с каждым; это не отношение медиан
table-copies = Пропускная способность ({ $unit }) копирования в память домена силами его ЦП (строки) из памяти другого домена (столбцы)
table-node-latency = Задержка ({ $unit }) зависимых загрузок: первый ЦП узла NUMA (строки), память каждого узла (столбцы)
table-cache-bandwidth = Пропускная способность чтения каждого уровня кэша и памяти
table-core-to-core = Задержка передачи строки кэша от одного ядра к другому по расстоянию, а также пары с наименьшей и наибольшей задержкой
table-loaded-latency = Задержка памяти в зависимости от пропускной способности остального трафика
table-network-items = Полезная скорость и затраты ЦП
table-network = Показатели сети с интервалами
table-round-trips = Время приёма-передачи (RTT)
table-mpi-libraries = Библиотеки MPI и фактическая привязка их рангов
table-storage = Частота операций, пропускная способность и задержка
table-storage-pairs = Сравнение чтения и записи
table-storage-parameters = Параметры и загрузка ЦП
table-storage-mixes = Чтение и запись смешанной нагрузки, от отправки до завершения
table-storage-due = Задержка от планового начала операции
table-rounds = Раунды теста { $test }
table-search = Шаги поиска теста { $test }
table-files = Частота и задержка операций с файлами и каталогами
response-curve = Кривая отклика теста { $name }
ladder-title = Задержка в зависимости от рабочего набора
scaling-title = { $metric } в зависимости от числа ядер
roofline-title = Модель roofline
roofline-title-of = Модель roofline: { $host }
roofline-measured = измерено
roofline-limits = пределы
roofline-description = Код, у которого на байт приходится меньше { $ridge ->
    [few] { $ridge } операций
    [many] { $ridge } операций
   *[other] { $ridge } операции
}, ждёт память: его скорость не выше числа операций на байт, умноженного на { $bandwidth }. Остальной код не быстрее { $peak }.
bars-linear = столбцы
bars-logarithmic = логарифмические столбцы
bars-legend = { $name }, по оси — { $axis }; { $bars } от { $low } до { $high }
axis-operations-per-byte = операций на байт
axis-compute-rate = скорость вычислений
mpi-by-distance = { $metric ->
    [latency] Задержка по расстоянию между рангами пары, сообщения по { $size }
   *[bandwidth] Пропускная способность по расстоянию между рангами пары, сообщения по { $size }
}
axis-cores = ядра
axis-message-size = размер сообщения
axis-rate-reached = достигнутая частота операций
axis-bandwidth-per-core = пропускная способность чтения на ядро
axis-traffic = пропускная способность всего трафика
axis-time-measured = время измерения
axis-share-at-most = доля значений не больше этого времени
timeline-of = Ход во времени: { $name }
timeline-payload = измерено
timeline-read = прочитано
timeline-written = записано
timeline-received = получено
timeline-sent = отправлено
timeline-busy = ЦП заняты
timeline-interrupts = прерывания
timeline-stolen = отнято гипервизором
timeline-cpu-pressure = задача ждёт ЦП
timeline-io-pressure = задача ждёт ввода-вывода
timeline-share = доля времени
details-hardware = Аппаратные счётчики
column-observed-clock = наблюдаемая частота
column-instructions-per-cycle = инструкций на такт
column-memory-traffic = трафик памяти
column-traffic-of-work = трафик на учтённый байт
column-energy = энергия
column-energy-efficiency = энергоэффективность
hardware-flop = { $flop } из { $peak } FLOP на наблюдаемый такт и ядро при наблюдаемой частоте { $clock }
hardware-flop-user = не более { $flop } из { $peak } FLOP на наблюдаемый такт и ядро при наблюдаемой частоте { $clock } или выше: такты в ядре ОС не учитывались
hardware-write-allocate = Трафик памяти — это то, что контроллеры памяти передали для всей машины. STREAM не учитывает write-allocate: запись без потоковой инструкции сначала читает свою строку, поэтому трафик превышает учтённые байты.
joules = { $value } Дж
joules-per-gigabyte = { $value } Дж/ГБ
gigaflop-per-joule = { $value } GFLOP/Дж
course-of-goodput = Полезная скорость во времени
course-of-cpu-load = Загрузка ЦП во времени
course-goes = { $name }: от { $low } до { $high }.
rounds-go = Частота операций меняется от { $first } в первом раунде до { $last } в последнем.
distribution-of-round-trips = Распределение времени приёма-передачи (RTT)
distribution-goes = { $name }: половина не дольше { $median }, { $share } не дольше { $most }.
axis-latency-from-due = задержка от планового начала операции

column-bandwidth = пропускная способность
column-block = блок
column-by = инструмент
column-case = тест
column-cpu-load = загрузка ЦП
column-cpu-per-io = время ЦП на операцию
column-cpu-system = ЦП, система
column-cpu-time = время ЦП
column-cpu-user = ЦП, пользователь
column-cpus = ЦП
column-target-size = размер объекта
column-depth = глубина очереди
column-generator = генератор
column-goal = цель
column-goodput = полезная скорость
column-highest = наибольшая
column-in = место измерения
column-in-flight = в обработке
column-item = тест
column-kernel = вычислительный цикл
column-late = с опозданием
column-latency = задержка
column-later-than-the-goal = медленнее цели
column-level = уровень
column-letters = буквы
column-efficiency = эффективность
column-library = библиотека
column-lowest = наименьшая
column-median = медиана
column-median-from-due = медиана от планового начала
column-middle = медианная
column-note = прим.
column-of-limit = доля предела
column-of-link = доля скорости канала
column-of-peak = доля пика
column-of-provisioned = доля выделенного
column-of-rpeak = доля Rpeak
column-operation = операция
column-per-core = на ядро
column-pairs = пары
column-idle = без нагрузки
column-at-share = при { $share }
column-at-highest = при максимуме
column-pause = пауза
column-place = место
column-ranks-on-cpus = ранги на ЦП
column-rate = частота операций
column-reached = достигнуто
column-reads = чтение
column-requested = запрошено
column-retransmits = повторные передачи
column-round = раунд
column-service-median = медиана времени обслуживания
column-size = размер
column-test = тест
column-threads = потоки
column-transport = транспорт
column-value = значение
column-what = показатель
column-where = место
column-writes = запись

machine-hardware = оборудование
machine-system = система
machine-settings = настройки
machine-mitigations = меры защиты
machine-versions = версии
fact-processor = процессор
fact-vendor = производитель
fact-family-model-stepping = семейство/модель/степпинг
fact-microcode = микрокод
fact-nominal-frequency = номинальная частота
fact-maximum-frequency = максимальная частота
fact-governor = регулятор частоты
fact-boost = турборежим
fact-smt = SMT
fact-cpus = ЦП
fact-caches = кэши
fact-numa-nodes = узлы NUMA
fact-memory = память
fact-memory-modules = модули памяти
fact-huge-page = большая страница
fact-distribution = дистрибутив
fact-kernel = ядро ОС
fact-kernel-command-line = командная строка ядра
fact-virtualisation = виртуализация
fact-product = продукт
fact-clock-source = источник времени
fact-cpu-quota = квота ЦП
fact-memory-limit-of-the-control-group = лимит памяти группы cgroup
fact-fingerprint = отпечаток

suite = Набор { $suite }
suite-on-hosts = Набор { $suite } на { $hosts }
run-from-to = Прогон { $run }, с { $started } по { $finished }
run-from = Прогон { $run }, начат { $started }
host-memory = память { $size }
host-kernel = ядро { $kernel }
host-guest = виртуальная машина { $hypervisor }
nothing-measured = Ничего не измерено.
cases-failed = { $n ->
    [one] { $n } тест завершился сбоем
    [few] { $n } теста завершились сбоем
    [many] { $n } тестов завершились сбоем
   *[other] { $n } теста завершились сбоем
}
cases-skipped = { $n ->
    [one] { $n } из-за этого пропущен
   *[other] { $n } из-за этого пропущено
}
status-failed = { $reported }; см. раздел «{ $heading }».
failed-likewise = { $n ->
    [one] Таким же сбоем завершился ещё { $n } тест: { $cases }
    [few] Таким же сбоем завершились ещё { $n } теста: { $cases }
    [many] Таким же сбоем завершились ещё { $n } тестов: { $cases }
   *[other] Таким же сбоем завершились ещё { $n } теста: { $cases }
}
skipped-because = { $n ->
    [one] Из-за этого пропущен { $n } тест: { $cases }
    [few] Из-за этого пропущено { $n } теста: { $cases }
    [many] Из-за этого пропущено { $n } тестов: { $cases }
   *[other] Из-за этого пропущено { $n } теста: { $cases }
}
reached = {" "}(завершено тестов: { $finished } из { $planned })
status-partial = Прогон неполный: { $n ->
    [one] не хватает узла{ $hosts }
   *[other] не хватает узлов{ $hosts }
}. Результаты остальных узлов действительны.
status-interrupted = Прогон прерван{ $reached }; результаты завершённых тестов действительны.
status-interrupted-at-once = Прогон прерван до завершения первого теста.
status-interrupted-late = Прогон прерван: выполнены все тесты, но некоторые с меньшим числом повторений, чем планировалось.
status-unfinished = Запись прогона обрывается{ $reached }: assay был остановлен или ещё работает. Результаты завершённых тестов действительны.
statistics = Значения — медианы. Доверительные интервалы получены по порядковым статистикам и не зависят от вида распределения, а если эффективное число замеров меньше { $least }, — по t-распределению; если выборка меньше { $least }, интервала нет. n — число замеров после прогрева, в скобках — эффективное число замеров, если они коррелированы.
statistics-version = Версия статистики: { $version }.
imported = Это измерено другим инструментом и загружено из { $files }; файл хранится вместе с прогоном. Часы инструмента неизвестны, а машина известна лишь настолько, насколько её описывает файл.
clock = Часы: { $name }, разрешение { $resolution }, чтение занимает { $cost }. Повтор пустого цикла занимает { $null }: это накладные расходы каждого измеряемого прохода.
stolen = Гипервизор отнял { $share } времени ЦП за время прогона.
throttled-times = { $n ->
    [one] За время прогона группа cgroup была ограничена { $n } раз.
    [few] За время прогона группа cgroup была ограничена { $n } раза.
    [many] За время прогона группа cgroup была ограничена { $n } раз.
   *[other] За время прогона группа cgroup была ограничена { $n } раза.
}

byte-counting = Байты считаются как в STREAM: на элемент { $copy } для Copy и Scale, { $add } для Add и Triad, { $read } для чтения и записи. Дополнительное чтение каждой строки кэша, которое вызывает обычная запись, не учитывается.
kernels-within-noise = { $operations }: ядро — одно из самых быстрых; при выборе другие были в пределах шума.
conditions = { $how }: { $places }.
limit-is = Предел — { $limit }: { $basis }.
no-memory-limit = Предел неизвестен: { $why }, поэтому скорость передачи данных модулей памяти неизвестна.
smbios-without-speed = в SMBIOS нет модулей с указанной скоростью
smbios-hidden = в этой виртуальной машине { $hypervisor } SMBIOS не виден
smbios-unreadable = не удалось прочитать SMBIOS, для этого обычно нужны права root
intervals-shaded = Интервалы закрашены там, где они достаточно широки, чтобы их было видно.
scaling-description = Пропускная способность: { $one } ({ $few }) и { $all } ({ $many }).
ladder-description = Задержка: { $low } при { $small } и { $high } при { $large }.
huge-pages-refused = Большие страницы были запрошены, но не предоставлены: за пределами кэшей задержка включает промахи TLB.
check-output = вывод проверен
check-none = не проверено
io500-valid = Действителен по правилам `IO500`.
io500-invalid = Недействителен по правилам `IO500`: { $reasons }.
io500-rule-stonewall = время stonewall — { $time }, требуется не менее { $least }
io500-rule-short-write = { $phase } длилась { $time }, меньше { $least }
io500-rule-no-result = нет результата: { $phases }
io500-rule-nothing-found = фаза find не нашла ни одного файла
program-start = Пустая программа запускается и завершается тем же способом не быстрее чем за { $time }; ничего не вычитается.
program-memory-floor = Для программ, занимающих меньше { $size }, объём памяти не указан.
programs-compared = Программы в сравнении с { $first }
levels-title = Уровни { $factors }
levels-without-letters = Слишком мало общих блоков для вердикта: буквам нужно не менее трёх блоков, в которых у каждого уровня есть значение выше нуля.
levels-more-blocks = При столь малом числе блоков никакие два уровня не могут различаться: нужно не менее { $needed } блоков (--blocks или --runs у assay exec).
levels-more-runs = При столь малом числе прогонов никакие два уровня не могут различаться: нужно не менее { $needed } прогонов каждого.
levels-overall = Все уровни вместе (критерий Фридмана): { $statistic }, { $p } с поправкой на число показателей.
levels-sufficient = Наименьший достаточный уровень — { $level }: ни один из больших ({ $larger }) не лучше его статистически значимо.
levels-sufficient-last = Каждый уровень ниже наибольшего ({ $level }) уступает какому-либо другому: возможно, ещё больший будет лучше.
levels-explanation = Уровни с общей буквой неразличимы. Отношения вычислены попарно внутри блоков (блоков: { $blocks }); в пределах одного показателя вероятность хотя бы одного ложного различия не выше { $wrong } (поправка Холма).
levels-explanation-independent = Уровни с общей буквой неразличимы. Каждый прогон — одно значение, и отношения сравнивают все прогоны одного уровня со всеми прогонами другого; в пределах одного показателя вероятность хотя бы одного ложного различия не выше { $wrong } (поправка Холма).
levels-efficiency = Эффективность — отношение к результату на наименьшем числе узлов, делённое на отношение чисел узлов.
levels-unmatched = Результатов без пары на другом уровне: { $n }.
levels-plot = { $metric } в зависимости от { $factor }
levels-plot-description = Медиана каждого уровня с её интервалом.
levels-plan = Сочетаний: { $combinations }, блоков: { $blocks }, измерений: { $turns }, каждое не дольше { $time }.
levels-plan-total = Всего { $time }.
levels-plan-settling = Всего { $time }, из них { $settle } на стабилизацию, без времени самих команд.
huge-pages-granted = Большие страницы предоставлены для каждого рабочего набора.
huge-pages-some = Большие страницы предоставлены только для этих рабочих наборов: { $sizes }.
products-by = умножение матриц: { $blas }
scaled-residual = масштабированная невязка { $residual } (должна быть меньше { $bound })
copies-explanation = Значения — медианы. Байты считаются как для Copy в STREAM: и чтение, и запись; на диагонали и то и другое — в собственной памяти домена.
copies-one-node = В топологии один узел NUMA: расстояний между узлами, которые можно сравнить, нет.
cache-bandwidth-description = { $place }: на ядро { $high } при { $small }, { $low } при { $large }
core-to-core-explanation = Время одной передачи, половина времени приёма-передачи с compare-and-swap. same-cache — кэш последнего уровня; на диагонали — два потока одного ядра.
loaded-latency-explanation = Наибольшая пропускная способность каждой смеси и задержка при её долях, интерполированная между измеренными точками. Считаются прочитанные и записанные байты, в том числе байты цепочки.
loaded-latency-description = { $mix }: от { $idle } без нагрузки до { $loaded } при { $rate }
measurers-ratios = Отношения — это отношения медиан.
perftest-rules = По правилам perftest последнее сообщение не измеряется, два самых медленных из остальных не входят ни в медиану, ни в среднее, а t_max — второе по величине значение, а не максимум. Собственные значения assay в других таблицах относятся ко всем сообщениям.
basis-memory-channels = { $n ->
    [one] { $n } канал памяти × { $rate } × { $width } (SMBIOS)
    [few] { $n } канала памяти × { $rate } × { $width } (SMBIOS)
    [many] { $n } каналов памяти × { $rate } × { $width } (SMBIOS)
   *[other] { $n } канала памяти × { $rate } × { $width } (SMBIOS)
}
basis-measured-peak = { $n ->
    [one] пик операций умножения-сложения двойной точности, { $set } на { $n } ядре, измерен в этом прогоне
   *[other] пик операций умножения-сложения двойной точности, { $set } на { $n } ядрах, измерен в этом прогоне
}
basis-link = скорость канала по данным { $device }
basis-link-unnamed = скорость канала по данным устройства
basis-provisioned = выделено для тома
basis-data-sheet = паспортные данные: { $source }
rpeak-factors = { $n ->
    [one] { $n } ядро × { $flop }/такт × { $clock } (частота измерена при этой нагрузке)
    [few] { $n } ядра × { $flop }/такт × { $clock } (частота измерена при этой нагрузке)
    [many] { $n } ядер × { $flop }/такт × { $clock } (частота измерена при этой нагрузке)
   *[other] { $n } ядра × { $flop }/такт × { $clock } (частота измерена при этой нагрузке)
}

network-items-say = Загрузка ЦП — занятая доля всех ЦП, время ЦП — сколько его ушло на передачу, на локальной / на удалённой стороне. Медианы; интервалы ниже.
network-retransmits-say = Повторные передачи — сегменты TCP.
path-loopback = loopback
network-loopback = Весь трафик прошёл через loopback внутри этой машины: результаты не описывают сеть.
mpi-rule-best = ◀ отмечает лучшее в строке; ×{ $ratio } — отношение к нему
mpi-rule-overlap = ≈: два интервала перекрываются
mpi-rule-no-interval = ±?: эффективное число замеров слишком мало для интервала
mpi-rule-latency = Задержка — половина RTT.
mpi-rule-transport = Транспорт между узлами выбирает библиотека; внутри узла все используют общую память.
mpi-no-such-pair = На этой машине нет двух ЦП на таких расстояниях: { $distances }.
mpi-standard-abi = { $mpi }, стандартный ABI
ranks = рангов: { $ranks }
curve-goes = { $name }: от { $low } при { $small } до { $high } при { $large }.

storage-explanation = Задержка — от отправки до завершения (время обслуживания). Процентили — по всем отдельным операциям.
storage-explanation-interval = ± — бо́льшая из двух полуширин доверительного интервала медианы.
storage-explanation-generator = Генератор: скорость генератора нагрузки без ввода-вывода, делённая на достигнутую.
storage-explanation-due = Задержка от планового начала отсчитывается с момента, когда операция должна была начаться: столько ждёт пользователь; её же показывают кривые отклика.
storage-cached = Часть этих операций прошла через страничный кэш: они измеряют память не меньше, чем хранилище.
storage-kind = { $pattern } { $size }, в обработке { $depth }
storage-target = Объект измерения: { $target }
storage-engine = Механизм: { $engine }, { $reason }
steady-reached = { $test }: установившийся режим достигнут в раунде { $rounds }
steady-not-reached = { $test }: установившийся режим не достигнут, раундов: { $rounds }
steady-spread = последние раунды различаются на { $range } и меняются на { $slope }
goal-met = { $test }: цель { $goal } достигнута при { $rate }, но не подтверждена при { $missed }; закрытая модель нагрузки достигла { $closed }.
goal-kept = выполнено
goal-missed = не выполнено
goal-unclear = неясно
curve-knee = { $what }: { $knee }.
knee-unreported = задержка от планового начала неизвестна, поэтому перегиба нет
knee-between = перегиб при { $rate } ({ $low }–{ $high }): там медиана вдвое больше, чем без нагрузки, { $latency } от планового начала
knee-at = перегиб при { $rate }: там медиана вдвое больше, чем без нагрузки, { $latency } от планового начала
no-knee = до { $rate } перегиба нет: { $why }
knee-found = перегиб найден
knee-too-few-points = для перегиба нужно не менее пяти точек
knee-flat = задержка остаётся меньше удвоенной задержки без нагрузки
knee-within-uncertainty = задержка растёт не больше, чем на свою неопределённость
knee-no-idle = уже наименьшая частота лежит за ним
knee-erratic = с ростом частоты задержка падает ниже четверти, больше чем на свою неопределённость: по этой кривой судить нельзя
response-description = Медиана задержки: от { $low } при { $few } до { $high } при { $many }; { $knee }.
engine-asked-for = по запросу
engine-best = предпочтительный вариант, и ядро его допускает
engine-best-of-refused = предпочтительный вариант; libaio недоступен
engine-refused = io_uring недоступен ({ $cause })
engine-both-refused = io_uring недоступен ({ $cause }), libaio тоже ({ $other })
engine-refused-and-buffered = io_uring недоступен ({ $cause }), libaio блокируется в страничном кэше
engine-contest = ядро может передавать io_uring рабочим потокам; из io_uring и libaio этот механизм оказался быстрее, { $taken } против { $other }
engine-untried-contest = ядро может передавать io_uring рабочим потокам; не испробовано из-за проверки данных

verdict-better = лучше
verdict-worse = хуже
verdict-equivalent = эквивалентно
verdict-cannot-tell = определить нельзя
differ = { $what }: { $a } и { $b }
differ-load = { $what }: { $a } и { $b } готовых к выполнению задач
differ-order = { $what }: одно измерено { $a }, другое { $b }, поэтому любой дрейф выглядит как различие; `assay run --switch` чередует их
differ-unrecorded = { $what }: { $value }; в импортированном файле этого нет
aspect-host = узел
aspect-fingerprint = машина (её отпечаток)
aspect-processor = процессор
aspect-microcode = микрокод
aspect-kernel = ядро ОС
aspect-governor = регулятор частоты
aspect-setting = настройка { $of }
aspect-version = версия assay
aspect-host-count = число узлов
aspect-loop = цикл { $of }
aspect-engine = механизм { $of }
aspect-far-end = удалённая сторона
aspect-congestion = управление перегрузкой
aspect-array-size = размер массивов
aspect-file-size = размер объектов
aspect-file-system = файловая система
aspect-device = устройство
aspect-load = нагрузка до прогонов
aspect-steal = отнятое время ЦП во время прогонов
aspect-order = время

learn-title = Производительность { $subject }
learn-description = Измеренные результаты для { $subject }, метод и команды для повторения.
learn-intro = { $n ->
   *[other] { $subject }: измерено с помощью { $tool }.
} Каждое значение — медиана, если в столбце не указано иное; интервалы стоят в отдельном столбце.
# A date ends in a full stop of its own.
learn-dates = Измерено: { $dates }
learn-workload = Рабочая нагрузка
learn-linpack = High-Performance Linpack (HPL)
learn-rdma = Задержка и пропускная способность RDMA
learn-storage = { $tool } на { $target }
learn-reads-writes = чтение { $reads }, запись { $writes }
learn-mixed = чтение и запись вместе { $both }
learn-reads = чтение { $reads }
learn-writes = запись { $writes }
learn-per-domain = { $whole } ({ $part } на { $domain })
learn-heading-send-latency = Задержка отправки InfiniBand
learn-heading-mpi-latency = Задержка MPI
learn-heading-mpi-bandwidth = Пропускная способность MPI
learn-heading-conditions = Сопоставление
learn-heading-commands = Команды для повторения
learn-latency-of = Задержка [{ $unit }] ({ $mpi })
learn-bandwidth-in = Пропускная способность ({ $unit })
learn-bandwidth-of = Пропускная способность ({ $unit }) ({ $mpi })
learn-cpu-usage = Загрузка ЦП
learn-impossible = Эти значения противоречат друг другу, использовать их нельзя: { $figures }.
learn-nothing = Для этой страницы нет результатов.
column-verdict = вердикт
column-worst-host = худший узел
column-worst-pair = худшая пара
column-worst = худшее
distrust-above-limit = выше предела
distrust-one-sample = всего один замер
distrust-no-interval = слишком мало замеров
distrust-wide-interval = интервал ±{ $width }
distrust-wide = интервал шире ±{ $width }
distrust-wider-than-value = интервал шире самого значения
verdict-suspect = недостоверно: { $why }
verdict-noisy = зашумлено: { $why }
answer-doubted-one = { $first } ({ $why })
answer-doubted = под сомнением { $some } из { $all ->
    [one] { $all } значения
   *[other] { $all } значений
}, первое — { $first } ({ $why })
answer-noisy = зашумлено: { $reasons }
answer-suspect = недостоверно: { $reasons }
answer-worse = { $n ->
   *[other] Хуже остальных узлов: { $hosts }
}
answer-omitted = не измерено: { $benchmarks }
verdict-slow = медленно: меньше половины предела
verdict-is-slow = медленно
trust-sound = надёжно
trust-noisy = зашумлено
trust-suspect = недостоверно
answer-more = ещё { $n }: { $names }
answer-bandwidth = пропускная способность памяти, { $label }
answer-memory-latency = задержка памяти
answer-peak = { $label }, пик
more-than = более { $value }
learn-not-measured = не измерено: { $why }
learn-throughput-in = Пропускная способность ({ $unit })
learn-test = { $what }, { $size }
learn-random-reads = { $share } случайного чтения
learn-random-writes = { $share } случайной записи
learn-sequential-reads = { $share } последовательного чтения
learn-sequential-writes = { $share } последовательной записи
learn-heading-quota = Уровень обслуживания и квота
learn-service-level = Уровень обслуживания
learn-per-quota = { $unit } на { $quota }
learn-quota = Квота для наибольшей пропускной способности
learn-littles-law = Закон Литтла: { $rate } × { $latency } средней задержки = { $flight ->
    [one] { $flight } операция
    [few] { $flight } операции
    [many] { $flight } операций
   *[other] { $flight } операции
} в обработке.

heat-throughput = Пропускная способность от каждого узла (строка) к каждому (столбец)
heat-round-trips = RTT от каждого узла (строка) к каждому (столбец)
heat-latency = Задержка от каждого узла (строка) к каждому (столбец)
heat-core-to-core = Задержка между ядрами, по номерам их первых ЦП
heat-legend = чем темнее, тем дальше от лучшего: ·░▒▓█; * — статистически значимо хуже остальных пар
heat-description = От { $worst } ({ $from }) до { $best } ({ $to }).
resource-cpus = все ЦП
resource-one-cpu = самый загруженный ЦП
resource-network = сеть
answer-saturated = Возможно, предел задаёт сам узел: { $hosts }
answer-finishers = Наибольший разрыв, { $case }: { $first } закончил через { $first_after }, { $last } — через { $last_after }
details-hosts = Загрузка узлов
column-done-after = время до завершения
protocol-metric = { $metric } ({ $protocol })
