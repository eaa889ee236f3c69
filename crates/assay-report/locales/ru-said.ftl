# What the doctor saw and what is said while a run goes on; the English is where it is said (`phrase!`).
said-field-of = { $field } в { $file }
said-holds = { $file } содержит { $text }
said-hidden-in-guest = { $what }: не видно в этом госте или контейнере ({ $layer })
said-hidden-on-host = { $what }: не видно на этом узле
said-none = нет
said-governor = регулятор cpufreq
said-energy = настройка энергопотребления процессора
said-energy-bias = energy performance bias: { $bias } (производительность: { $best })
said-boost-switch = переключатель boost
said-on = включено
said-off = выключено
said-part-of = { $part } из { $whole }
said-frequency = текущая частота ЦП
said-range = от { $low } до { $high }
said-nominal-hidden = номинальная частота не видна
said-nominal = номинальная { $frequency }
said-throttling = счётчик теплового троттлинга
said-throttled-cpu = { $n } с момента загрузки, на ЦП с наибольшим числом
said-idle-states = список состояний простоя
said-siblings = какие ЦП являются потоками одного ядра
said-threads-several = несколько потоков на ядро
said-threads-one = один поток на ядро
said-cpus-present = список имеющихся ЦП
said-cpus-online = включено { $some } из { $all }
said-cpus-offline = выключены: { $cpus }
said-cpus-usable = ЦП { $some } из { $all }
said-microcode = настоящая версия микрокода процессора
said-about-device = это свойство сетевого устройства
said-half-duplex = полудуплекс
said-firmware = прошивка { $version }
said-receive-checksum = вычисление контрольной суммы при приёме
said-send-checksum = вычисление контрольной суммы при отправке
said-off-fixed = выключено (не меняется)
said-ring-receive = приём { $now } из { $most }
said-ring-send = отправка { $now } из { $most }
said-channels = очередей приёма: { $now } из { $most }, ЦП: { $cpus }
said-adaptive = адаптивно
said-coalescing = приём через { $receive } или { $packets ->
    [one] { $packets } пакет
    [few] { $packets } пакета
   *[other] { $packets } пакетов
}, отправка через { $send }
said-function = через виртуальную функцию { $function }
said-no-function = без виртуальной функции
said-queues = { $n ->
    [one] { $n } очередь
    [few] { $n } очереди
   *[other] { $n } очередей
}
said-queues-spread = распределяется через RPS: { $n }
said-interrupts = прерываний: { $n }, на ЦП { $cpus }
said-interrupts-near = прерываний на своём узле NUMA { $node }: { $some } из { $all }
said-product = название изделия
said-clock-source = источник времени
said-vulnerabilities = список уязвимостей
said-mitigated = меры защиты действуют: { $some }{ $these }, уязвимо: { $others }{ $those }, всего известно: { $all }
said-no-parameter = ни одного параметра, влияющего на результаты
said-parameters-tuning = только настройка: { $parameters }
said-all-processes = список всех процессов
said-running = работает
said-not-running = не работает
said-quota = время { $quota } ЦП при { $cpus } ЦП
said-group-throttling = сколько раз останавливали контрольную группу
said-throttled-group = остановок с создания группы: { $n }
said-left = в группе осталось { $size }
said-unlimited = без ограничения
said-load-average = средняя нагрузка
said-load = { $load } за последнюю минуту
said-busy = { $processes } одного ЦП
said-stolen-time = отнятое время ЦП
said-stolen = { $share } с момента загрузки ({ $time })
said-pressure = сведения о нехватке ресурсов (PSI)
said-waited = { $share } последних { $time }
said-last-level = размер кэша последнего уровня
said-memory-free = свободно { $free }, нужно { $needed } (кэш последнего уровня: { $caches })
said-numa-as-tuned = { $value }, как в tuned hpc-compute; на странице { $page } стоит { $other }
said-numa-as-published = { $value }, как на странице { $page }; в tuned hpc-compute стоит { $other }
said-numa-tiering = { $value }: включено распределение памяти по уровням
said-one-node = { $value }, не действует: узел NUMA один
said-numa-layout = схема NUMA
said-nodes-on-sockets = { $nodes }, { $sockets }
said-numa-nodes = { $n ->
    [one] { $n } узел NUMA
    [few] { $n } узла NUMA
   *[other] { $n } узлов NUMA
}
said-sockets = { $n ->
    [one] { $n } сокет
    [few] { $n } сокета
   *[other] { $n } сокетов
}
said-page-cache = в кэше { $cached }, ожидает записи { $dirty }
said-no-swap = { $value }, не действует: подкачки нет
said-memory-modules = правдоподобное описание модулей памяти
said-modules = { $n ->
    [one] { $n } модуль
    [few] { $n } модуля
   *[other] { $n } модулей
}
said-no-launcher = в PATH нет программы запуска MPI
said-library-none = в LD_LIBRARY_PATH нет ни одной; программа запуска находится в { $folder }
said-unknown-make = неизвестная реализация
said-library-and-launcher = { $make } в { $folder }, а программа запуска в { $bin }: { $launcher }
said-no-mpi = нет MPI ни в PATH, ни в обычных каталогах
said-launcher-alone = программа запуска без библиотеки в { $place }
said-make-in = { $make } в { $place }
said-mpich-or-intel = MPICH или Intel MPI
said-standard-abi = MPI стандартного ABI
said-no-mpi-module = нет модуля окружения MPI
said-modules-stale = ни один никуда не ведёт: { $stale }
said-modules-some-stale = { $sound }; никуда не ведут: { $stale }
said-no-file = нет файла
said-user = пользователь { $user }
said-neither = нет ни устройства RDMA, ни такой переменной
said-variables-alone = { $variables }, а устройства RDMA нет
said-devices-alone = такой переменной нет, устройства: { $devices }
said-variables-and-devices = { $variables } при наличии { $devices }
said-at-most = не больше { $size }
said-under-way = { $speed } × { $round_trip } = { $under_way } в пути, для этого нужно { $needed }
said-nobody = { $range }: никому
said-path = путь
said-this-machine = { $to } — эта же машина: loopback
said-unknown-device = неизвестное устройство
said-over = { $to } через { $device }
said-no-echo = { $path }: эхо-ответа нет
said-round-trip = время туда и обратно { $time }
said-path-mtu = MTU пути за пределами loopback
said-path-mtu-without-socket = MTU пути (нет сокета ICMP)
said-would-send = { $device } посылал бы { $size }
said-packets-vanish = проходит { $carried }, пакеты больше этого пропадают без сообщения; предполагалось { $believed }
said-carried = проходит { $size }
said-believed = предполагается { $size }, не подтверждено
said-port = { $device } порт { $port }
said-rdma-ethernet = устройство RDMA на Ethernet
said-rdma-device = устройство RDMA
said-rdma-rate = скорость активного порта карты
said-one-lane = работает только одна линия канала
said-two-lanes = работают только две линии канала
said-faster-port = у другого порта такой же карты { $rate }
said-rdma-errors = счётчик ошибок устройства RDMA
said-grew = { $counter }: прирост { $n }
said-moving = растут: { $counters }
said-counters = счётчиков: { $n }, все { $none }
said-still = стоят на месте; с запуска устройства: { $counters }
said-rdma-firmware = прошивка устройства RDMA
said-rdma-pcie = канал PCIe устройства RDMA
said-pcie = { $link } из { $most }: { $rate }
said-below-port = меньше { $rate } порта
said-no-gid = без GID { $version }
said-alone = только { $what }
said-gid = GID { $index } ({ $kind }, всего { $version }: { $n })
said-rdma-mtu = через { $device } с { $own }: MTU пути { $path }
said-no-nfs = ни один том NFS не смонтирован
said-solve-over-budget = одно решение при N = { $n } занимает не меньше { $least }, а бюджет — { $budget }
said-launch-over-budget = один запуск { $case } занимает не меньше { $least }, а бюджет — { $budget }
said-beside-budget = это займёт около { $time } сверх бюджета { $budget }
said-written-first = { $path } сначала записывается целиком: { $size }
said-writing = запись { $path } { $share }
said-round = раунд { $n }: { $rate }
said-rounds-differ = последние различаются на { $range } и меняются на { $slope }
said-keeps = выполнено
said-misses = не выполнено
said-unclear = неясно
said-tried = запрошено { $asked }, достигнуто { $reached }, с опозданием { $late } операций: { $verdict }
said-measures-alone = ни один установленный инструмент этого не измеряет: измеряет только assay
said-hosts-presumed = предполагаются обычные серверы: о скорости узлов никто не спрашивал
said-run-over-budget = прогон займёт около { $time } вместо бюджета { $budget }
said-run-even-longer = прогон теперь займёт около { $time }, а не { $before }: измеренное до сих пор заняло больше времени, чем ожидалось
said-plan-in-a-hurry = за { $budget } в { $few } из { $all ->
    [one] { $all } случая
   *[other] { $all } случаев
} помещается меньше { $least } повторов; хватило бы { $needed }
said-preparation = подготовка { $n }
said-other-make = { $path } другой реализации, чем программа запуска этого процесса ({ $launcher })
said-not-served = { $path }: это Open MPI, а srun не велено её обслуживать: `--mpi=pmix`
said-served-in-part = { $path }: это Intel MPI, а программа запуска { $launcher } из MPICH, запустившая этот процесс, обслуживает её лишь в некоторых версиях: если `MPI_Init` завершается ошибкой, запускайте через `mpiexec.hydra` из Intel MPI
said-removing = удаление созданного для прогона
said-files-left = остались файлы, созданные для прогона; их удалит `assay storage clean`
said-preconditioning = { $test }, предварительная подготовка { $pass } из { $all }
said-preconditioning-shuffled = { $test }, предварительная подготовка в случайном порядке
said-laying-out = запись { $path } целиком ({ $size })
said-and-more = { $first } и ещё { $n }
said-block-device = блочное устройство { $device }
said-mounted = { $kind } на { $device }, смонтировано в { $point }
said-mounted-in-memory = { $kind }, то есть память: устройство хранения не измеряется; смонтировано в { $point }
said-back-to = обратно к { $condition }: { $command }
said-back-within = это может занять до { $minutes } минут; если завершить сейчас, останется { $condition }
said-settling = { $condition }: ожидание стабилизации
said-to-condition = к { $condition }: { $command }
said-order = порядок получен из `--seed` { $seed }
said-turn = прогон { $turn } из { $all }: { $condition }
said-as-control = ещё раз, для контроля
said-hosts-answered = ответили узлы: { $some } из { $all }
