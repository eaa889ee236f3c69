# Findings of the doctor and progress messages; their English is in the code (`phrase!`).
phrase-field-of = { $field } в { $file }
phrase-holds = { $file } содержит { $text }
phrase-hidden-in-guest = { $what }: не видно в этой виртуальной машине или контейнере ({ $layer })
phrase-hidden-on-host = { $what }: не видно на этом узле
phrase-none = нет
phrase-governor = регулятор cpufreq
phrase-energy = настройка энергопотребления процессора
phrase-energy-bias = energy performance bias: { $bias } (производительность: { $best })
phrase-boost-switch = переключатель турборежима
phrase-on = включено
phrase-off = выключено
phrase-part-of = { $part } из { $whole }
phrase-frequency = текущая частота ЦП
phrase-range = от { $low } до { $high }
phrase-nominal-hidden = номинальная частота не видна
phrase-nominal = номинальная { $frequency }
phrase-throttling = счётчик теплового троттлинга
phrase-throttled-cpu = { $n } с момента загрузки, на ЦП с наибольшим числом
phrase-idle-states = список состояний простоя
phrase-siblings = какие ЦП являются потоками одного ядра
phrase-threads-several = несколько потоков на ядро
phrase-threads-one = один поток на ядро
phrase-cpus-present = список имеющихся ЦП
phrase-cpus-online = включено { $some } из { $all }
phrase-cpus-offline = выключены: { $cpus }
phrase-cpus-usable = ЦП { $some } из { $all }
phrase-microcode = настоящая версия микрокода процессора
phrase-about-device = это свойство сетевого устройства
phrase-half-duplex = полудуплекс
phrase-firmware = прошивка { $version }
phrase-receive-checksum = вычисление контрольной суммы при приёме
phrase-send-checksum = вычисление контрольной суммы при отправке
phrase-off-fixed = выключено (не меняется)
phrase-ring-receive = приём { $now } из { $most }
phrase-ring-send = отправка { $now } из { $most }
phrase-packet-sizes = отправляет { $send } (не более { $most }), принимает { $receive }
phrase-cpus-of-queues = очередей: { $n }, процессоров на очередь: не более { $most }
phrase-numa-node = на узле NUMA { $node }
phrase-about-disk-node = узел NUMA диска
phrase-channels = очередей приёма: { $now } из { $most }, ЦП: { $cpus }
phrase-adaptive = адаптивно
phrase-coalescing = приём через { $receive } или { $packets ->
    [one] { $packets } пакет
    [few] { $packets } пакета
   *[other] { $packets } пакетов
}, отправка через { $send }
phrase-function = через виртуальную функцию { $function }
phrase-no-function = без виртуальной функции
phrase-queues = { $n ->
    [one] { $n } очередь
    [few] { $n } очереди
   *[other] { $n } очередей
}
phrase-queues-spread = распределяется через RPS: { $n }
phrase-interrupts = прерываний: { $n }, на ЦП { $cpus }
phrase-interrupts-near = прерываний на своём узле NUMA { $node }: { $some } из { $all }
phrase-product = название изделия
phrase-clock-source = источник времени
phrase-vulnerabilities = список уязвимостей
phrase-mitigated = меры защиты действуют: { $some }{ $these }, уязвимо: { $others }{ $those }, всего известно: { $all }
phrase-no-parameter = ни одного параметра, влияющего на результаты
phrase-parameters-tuning = только настройка: { $parameters }
phrase-all-processes = список всех процессов
phrase-running = работает
phrase-not-running = не работает
phrase-quota = время { $quota } ЦП при { $cpus } ЦП
phrase-group-throttling = сколько раз останавливали группу cgroup
phrase-throttled-group = остановок с создания группы: { $n }
phrase-left = в группе осталось { $size }
phrase-unlimited = без ограничения
phrase-load-average = средняя нагрузка
phrase-load = { $load } за последнюю минуту
phrase-busy = { $processes } одного ЦП
phrase-stolen-time = отнятое время ЦП
phrase-stolen = { $share } с момента загрузки ({ $time })
phrase-pressure = сведения о нехватке ресурсов (PSI)
phrase-waited = { $share } последних { $time }
phrase-last-level = размер кэша последнего уровня
phrase-memory-free = свободно { $free }, нужно { $needed } (кэш последнего уровня: { $caches })
phrase-numa-as-tuned = { $value }, как в tuned hpc-compute; на странице { $page } стоит { $other }
phrase-numa-as-published = { $value }, как на странице { $page }; в tuned hpc-compute стоит { $other }
phrase-numa-tiering = { $value }: включено распределение памяти по уровням
phrase-one-node = { $value }, не действует: узел NUMA один
phrase-numa-layout = схема NUMA
phrase-nodes-on-sockets = { $nodes }, { $sockets }
phrase-numa-nodes = { $n ->
    [one] { $n } узел NUMA
    [few] { $n } узла NUMA
   *[other] { $n } узлов NUMA
}
phrase-sockets = { $n ->
    [one] { $n } сокет
    [few] { $n } сокета
   *[other] { $n } сокетов
}
phrase-page-cache = в кэше { $cached }, ожидает записи { $dirty }
phrase-no-swap = { $value }, не действует: подкачки нет
phrase-memory-modules = правдоподобное описание модулей памяти
phrase-modules = { $n ->
    [one] { $n } модуль
    [few] { $n } модуля
   *[other] { $n } модулей
}
phrase-no-launcher = в PATH нет программы запуска MPI
phrase-library-none = в LD_LIBRARY_PATH нет ни одной; программа запуска находится в { $folder }
phrase-unknown-make = неизвестная реализация
phrase-library-and-launcher = { $make } в { $folder }, а программа запуска в { $bin }: { $launcher }
phrase-no-mpi = нет MPI ни в PATH, ни в обычных каталогах
phrase-launcher-alone = программа запуска без библиотеки в { $place }
phrase-make-in = { $make } в { $place }
phrase-mpich-or-intel = MPICH или Intel MPI
phrase-standard-abi = MPI стандартного ABI
phrase-no-mpi-module = нет модуля окружения MPI
phrase-modules-stale = ни один никуда не ведёт: { $stale }
phrase-modules-some-stale = { $sound }; никуда не ведут: { $stale }
phrase-no-file = нет файла
phrase-user = пользователь { $user }
phrase-neither = нет ни устройства RDMA, ни такой переменной
phrase-variables-alone = { $variables }, а устройства RDMA нет
phrase-devices-alone = такой переменной нет, устройства: { $devices }
phrase-variables-and-devices = { $variables } при наличии { $devices }
phrase-at-most = не больше { $size }
phrase-under-way = { $speed } × { $round_trip } = { $under_way } в пути, для этого нужно { $needed }
phrase-nobody = { $range }: никому
phrase-path = путь
phrase-this-machine = { $to } — эта же машина: loopback
phrase-unknown-device = неизвестное устройство
phrase-over = { $to } через { $device }
phrase-no-echo = { $path }: эхо-ответа нет
phrase-round-trip = RTT { $time }
phrase-path-mtu = MTU пути за пределами loopback
phrase-path-mtu-without-socket = MTU пути (нет сокета ICMP)
phrase-would-send = { $device } отправлял бы пакеты по { $size }
phrase-packets-vanish = проходит { $carried }, пакеты больше этого пропадают без сообщения; предполагалось { $believed }
phrase-carried = проходит { $size }
phrase-believed = предполагается { $size }, не подтверждено
phrase-port = { $device } порт { $port }
phrase-rdma-ethernet = устройство RDMA на Ethernet
phrase-rdma-device = устройство RDMA
phrase-rdma-rate = скорость активного порта карты
phrase-one-lane = работает только одна линия канала
phrase-two-lanes = работают только две линии канала
phrase-faster-port = у другого порта такой же карты { $rate }
phrase-rdma-errors = счётчик ошибок устройства RDMA
phrase-grew = { $counter }: прирост { $n }
phrase-moving = растут: { $counters }
phrase-counters = счётчиков: { $n }, все { $none }
phrase-still = стоят на месте; с запуска устройства: { $counters }
phrase-rdma-firmware = прошивка устройства RDMA
phrase-rdma-pcie = канал PCIe устройства RDMA
phrase-pcie = { $link } из { $most }: { $rate }
phrase-below-port = меньше { $rate } порта
phrase-no-gid = без GID { $version }
phrase-alone = только { $what }
phrase-gid = GID { $index } ({ $kind }, всего { $version }: { $n })
phrase-rdma-mtu = через { $device } с { $own }: MTU пути { $path }
phrase-no-nfs = ни один том NFS не смонтирован
phrase-solve-over-budget = одно решение при N = { $n } занимает не меньше { $least }, а бюджет — { $budget }
phrase-launch-over-budget = один запуск { $case } занимает не меньше { $least }, а бюджет — { $budget }
phrase-beside-budget = это займёт около { $time }; бюджет теста: { $budget }
phrase-written-first = { $path } сначала записывается целиком: { $size }
phrase-writing = запись { $path } { $share }
phrase-round = раунд { $n }: { $rate }
phrase-rounds-differ = последние различаются на { $range } и меняются на { $slope }
phrase-keeps = цель выполнена
phrase-misses = цель не выполнена
phrase-unclear = неясно
phrase-tried = запрошено { $asked }, достигнуто { $reached }, с опозданием { $late } операций: { $verdict }
phrase-measures-alone = ни один установленный инструмент этого не измеряет: измеряет только assay
phrase-hosts-presumed = предполагаются обычные серверы: скорость узлов не запрашивалась
phrase-run-over-budget = прогон займёт около { $time } вместо бюджета { $budget }
phrase-run-even-longer = прогон теперь займёт около { $time }, а не { $before }: измеренное до сих пор заняло больше времени, чем ожидалось
phrase-cases-cut = не измерено тестов: { $few } из { $all }; бюджет { $budget } закончился раньше
phrase-plan-too-short = за { $budget } останется без измерения около { $few } из { $all } тестов; на все хватило бы { $needed }
phrase-plan-tools-late = { $cases }: не начнётся, так как предыдущие тесты займут весь бюджет { $budget }
phrase-plan-in-a-hurry = за { $budget } в { $few } из { $all ->
    [one] { $all } теста
   *[other] { $all } тестов
} помещается меньше { $least } повторов; хватило бы { $needed }
phrase-preparation = подготовка { $n }
phrase-children-left = завершены процессы, пережившие { $program }: { $n }
phrase-other-make = { $path } другой реализации, чем программа запуска этого процесса ({ $launcher })
phrase-not-served = { $path }: это Open MPI, а srun не велено её обслуживать: `--mpi=pmix`
phrase-served-in-part = { $path }: это Intel MPI, а программа запуска { $launcher } из MPICH, запустившая этот процесс, обслуживает её лишь в некоторых версиях: если `MPI_Init` завершается ошибкой, запускайте через `mpiexec.hydra` из Intel MPI
phrase-removing = удаление созданного для прогона
phrase-directory-kept = { $directory } остаётся: там есть файлы, созданные не assay
phrase-files-left = остались файлы, созданные для прогона; их удалит `assay storage clean`
phrase-preconditioning = { $test }, предварительная подготовка { $pass } из { $all }
phrase-preconditioning-shuffled = { $test }, предварительная подготовка в случайном порядке
phrase-laying-out = запись { $path } целиком ({ $size })
phrase-and-more = { $first } и ещё { $n }
phrase-block-device = блочное устройство { $device }
phrase-mounted = { $kind } на { $device }, смонтировано в { $point }
phrase-mounted-in-memory = { $kind }, то есть память: устройство хранения не измеряется; смонтировано в { $point }
phrase-back-to = обратно к { $condition }: { $command }
phrase-decided-early = вердикт получен, блоков: { $blocks }; проверки после каждого блока учтены в вероятности ошибки
phrase-back-within = это может занять до { $minutes } минут; если завершить сейчас, останется { $condition }
phrase-settling = { $condition }: ожидание стабилизации
phrase-to-condition = к { $condition }: { $command }
phrase-restoring = восстановление { $factor }: { $command }
phrase-planning-combinations = планируются сочетания на их узлах: { $count }
phrase-applying-on-hosts = к { $condition }, число узлов: { $count }
phrase-restoring-on-hosts = восстановление факторов, число узлов: { $count }
phrase-unrestored = прерванное измерение оставило уровень { $factor }; восстановите командой { $command }, затем удалите { $file }
phrase-order = порядок получен из `--seed` { $seed }
phrase-turn = прогон { $turn } из { $all }: { $condition }
phrase-as-control = ещё раз, для контроля
phrase-hosts-answered = ответили узлы: { $some } из { $all }
phrase-gate-not-compared = не измерено при обоих условиях
phrase-gate-at-least = { $value }, не менее { $bound }
phrase-gate-at-most = { $value }, не более { $bound }
phrase-gate-in-doubt = { $reason }; под сомнением: { $doubt }
phrase-one-sample = всего один замер
phrase-few-samples = слишком мало замеров
phrase-wide-interval = широкий интервал
phrase-gate-unmeasured = ничего не измерено
phrase-gate-above-limit = { $value }, выше предела { $bound }
phrase-gate-limit = { $value }, предел { $bound }
phrase-gate-no-ratio = у одного из прогонов нет положительного значения
phrase-gate-worse = хуже на { $share }, допустимо не более { $allowed }
phrase-gate-better = лучше на { $share }, допустимо ухудшение не более чем на { $allowed }
phrase-gate-few-runs = { $reason }; слишком мало прогонов для интервала
