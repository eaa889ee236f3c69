# Findings of the doctor and progress messages; their English is in the code (`phrase!`).
phrase-field-of = { $field } v { $file }
phrase-holds = { $file } obsahuje { $text }
phrase-hidden-in-guest = { $what }: v tomto virtuálním počítači nebo kontejneru ({ $layer }) není vidět
phrase-hidden-on-host = { $what }: na tomto hostiteli není vidět
phrase-none = žádné
phrase-governor = regulátor cpufreq
phrase-energy = energetická předvolba procesoru
phrase-energy-bias = energy performance bias { $bias } (výkon: { $best })
phrase-boost-switch = nastavení boostu
phrase-on = zapnuto
phrase-off = vypnuto
phrase-part-of = { $part } z { $whole }
phrase-frequency = aktuální frekvence CPU
phrase-range = { $low } až { $high }
phrase-nominal-hidden = jmenovitá frekvence není vidět
phrase-nominal = jmenovitá { $frequency }
phrase-throttling = čítač tepelných omezení
phrase-throttled-cpu = { $n } od startu, na CPU s největším počtem
phrase-idle-states = seznam stavů nečinnosti
phrase-siblings = která CPU jsou vlákny jednoho jádra
phrase-threads-several = více vláken na jádro
phrase-threads-one = jedno vlákno na jádro
phrase-cpus-present = seznam přítomných CPU
phrase-cpus-online = { $some } z { $all } online
phrase-cpus-offline = offline: { $cpus }
phrase-cpus-usable = CPU { $some } z { $all }
phrase-microcode = skutečná verze mikrokódu procesoru
phrase-about-device = tato vlastnost síťového zařízení
phrase-half-duplex = poloviční duplex
phrase-firmware = firmware { $version }
phrase-receive-checksum = ověřování kontrolního součtu při příjmu
phrase-send-checksum = počítání kontrolního součtu při odesílání
phrase-off-fixed = vypnuto (nelze změnit)
phrase-ring-receive = příjem { $now } z nejvýše { $most }
phrase-ring-send = odesílání { $now } z nejvýše { $most }
phrase-packet-sizes = odesílá { $send } z nejvýše { $most } a přijímá { $receive }
phrase-cpus-of-queues = fronty: { $n }, CPU na frontu: nejvýše { $most }
phrase-numa-node = na uzlu { $node }
phrase-about-disk-node = uzel NUMA disku
phrase-channels = přijímací fronty: { $now } z nejvýše { $most }, počet CPU: { $cpus }
phrase-adaptive = adaptivní
phrase-coalescing = příjem po { $receive } nebo po { $packets ->
    [one] { $packets } paketu
   *[other] { $packets } paketech
}, odesílání po { $send }
phrase-function = přes virtuální funkci { $function }
phrase-no-function = bez virtuální funkce
phrase-queues = { $n ->
    [one] { $n } fronta
    [few] { $n } fronty
   *[other] { $n } front
}
phrase-queues-spread = rozložených pomocí RPS: { $n }
phrase-interrupts = přerušení: { $n }, na CPU { $cpus }
phrase-interrupts-near = přerušení na vlastním uzlu { $node }: { $some } z { $all }
phrase-product = název produktu
phrase-clock-source = zdroj hodin
phrase-vulnerabilities = seznam zranitelností
phrase-mitigated = ošetřeno: { $some }{ $these }, zranitelných: { $others }{ $those }, známo celkem: { $all }
phrase-no-parameter = žádný parametr, který by ovlivnil výsledky
phrase-parameters-tuning = jen ladění: { $parameters }
phrase-all-processes = seznam všech procesů
phrase-running = běží
phrase-not-running = neběží
phrase-quota = čas CPU odpovídající { $quota } CPU na { $cpus } CPU
phrase-group-throttling = počet omezení řídicí skupiny
phrase-throttled-group = omezení od vzniku skupiny: { $n }
phrase-left = ve skupině zbývá { $size }
phrase-unlimited = bez omezení
phrase-load-average = průměrná zátěž
phrase-load = { $load } za poslední minutu
phrase-busy = { $processes } jednoho CPU
phrase-stolen-time = odebraný čas CPU
phrase-stolen = { $share } od startu ({ $time })
phrase-pressure = pressure stall information (PSI)
phrase-waited = { $share } z posledních { $time }
phrase-last-level = velikost mezipaměti poslední úrovně
phrase-memory-free = volno { $free }, potřeba { $needed } (poslední úroveň: { $caches })
phrase-numa-as-tuned = { $value }, jak nastavuje tuned hpc-compute; stránka { $page } uvádí { $other }
phrase-numa-as-published = { $value }, jak uvádí stránka { $page }; tuned hpc-compute nastavuje { $other }
phrase-numa-tiering = { $value }: vrstvení paměti je zapnuté
phrase-one-node = { $value }, bez účinku: uzel NUMA je jen jeden
phrase-numa-layout = uspořádání NUMA
phrase-nodes-on-sockets = { $nodes }, { $sockets }
phrase-numa-nodes = { $n ->
    [one] { $n } uzel NUMA
    [few] { $n } uzly NUMA
   *[other] { $n } uzlů NUMA
}
phrase-sockets = { $n ->
    [one] { $n } soket
    [few] { $n } sokety
   *[other] { $n } soketů
}
phrase-page-cache = v mezipaměti { $cached }, k zápisu { $dirty }
phrase-no-swap = { $value }, bez účinku: odkládací prostor není
phrase-memory-modules = věrohodný popis paměťových modulů
phrase-modules = { $n ->
    [one] { $n } modul
    [few] { $n } moduly
   *[other] { $n } modulů
}
phrase-no-launcher = v PATH není žádný spouštěč MPI
phrase-library-none = LD_LIBRARY_PATH neuvádí žádnou knihovnu MPI; spouštěč je v { $folder }
phrase-unknown-make = neznámá implementace
phrase-library-and-launcher = { $make } v { $folder }, spouštěč v { $bin }: { $launcher }
phrase-no-mpi = žádné MPI v PATH ani v obvyklých adresářích
phrase-launcher-alone = spouštěč bez knihovny v { $place }
phrase-make-in = { $make } v { $place }
phrase-mpich-or-intel = MPICH nebo Intel MPI
phrase-standard-abi = MPI se standardním ABI
phrase-no-mpi-module = žádný modul prostředí pro MPI
phrase-modules-stale = žádný nevede do existujícího adresáře: { $stale }
phrase-modules-some-stale = { $sound }; do neexistujících adresářů vedou: { $stale }
phrase-no-file = žádný soubor
phrase-user = uživatel { $user }
phrase-neither = žádné zařízení RDMA ani taková proměnná
phrase-variables-alone = { $variables }, ale žádné zařízení RDMA
phrase-devices-alone = vedle { $devices } žádná taková proměnná
phrase-variables-and-devices = { $variables }, ačkoli je k dispozici { $devices }
phrase-at-most = nejvýše { $size }
phrase-under-way = { $speed } × { $round_trip } = { $under_way } na cestě, což vyžaduje { $needed }
phrase-nobody = { $range }: nikdo
phrase-path = cesta
phrase-this-machine = { $to } je tento počítač: loopback
phrase-unknown-device = neznámé zařízení
phrase-over = { $to } přes { $device }
phrase-no-echo = { $path }: bez odpovědi na echo
phrase-round-trip = doba odezvy { $time }
phrase-path-mtu = MTU cesty mimo loopback
phrase-path-mtu-without-socket = MTU cesty (bez soketu ICMP)
phrase-would-send = { $device } by posílalo { $size }
phrase-packets-vanish = projde { $carried }, větší pakety mizí bez hlášení; předpokládalo se { $believed }
phrase-carried = projde { $size }
phrase-believed = předpokládá se { $size }, neprokázáno
phrase-port = { $device } port { $port }
phrase-rdma-ethernet = zařízení RDMA na Ethernetu
phrase-rdma-device = zařízení RDMA
phrase-rdma-rate = rychlost aktivního portu karty
phrase-one-lane = běží jen jedna linka spoje
phrase-two-lanes = běží jen dvě linky spoje
phrase-faster-port = jiný port stejné karty má { $rate }
phrase-rdma-errors = čítač chyb zařízení RDMA
phrase-grew = { $counter } o { $n }
phrase-moving = roste: { $counters }
phrase-counters = čítačů: { $n }, všechny { $none }
phrase-still = beze změny; od spuštění zařízení: { $counters }
phrase-rdma-firmware = firmware zařízení RDMA
phrase-rdma-pcie = spoj PCIe zařízení RDMA
phrase-pcie = { $link } z { $most }: { $rate }
phrase-below-port = méně než { $rate } portu
phrase-no-gid = nemá GID { $version }
phrase-alone = jen { $what }
phrase-gid = GID { $index } ({ $kind }, GID { $version } celkem: { $n })
phrase-rdma-mtu = přes { $device } s { $own }: MTU cesty { $path }
phrase-no-nfs = není připojen žádný svazek NFS
phrase-solve-over-budget = jedno řešení s N = { $n } trvá aspoň { $least } a rozpočet je { $budget }
phrase-launch-over-budget = jedno spuštění { $case } trvá aspoň { $least } a rozpočet je { $budget }
phrase-beside-budget = potrvá to asi { $time }; rozpočet případu je { $budget }
phrase-written-first = { $path } se nejdříve celý zapíše: { $size }
phrase-writing = zápis { $path } { $share }
phrase-round = kolo { $n }: { $rate }
phrase-rounds-differ = poslední se liší o { $range } a mění se o { $slope }
phrase-keeps = splněno
phrase-misses = nesplněno
phrase-unclear = nejasné
phrase-tried = požadováno { $asked }, dosaženo { $reached }, opožděno { $late } I/O: { $verdict }
phrase-measures-alone = žádný nainstalovaný nástroj nic z toho neměří: assay měří samo
phrase-hosts-presumed = předpokládají se obvyklé servery: žádný hostitel nebyl na rychlost dotázán
phrase-run-over-budget = běh potrvá asi { $time } místo { $budget } svého rozpočtu
phrase-run-even-longer = běh nyní potrvá asi { $time }, a ne { $before }: co se dosud změřilo, trvalo déle, než se čekalo
phrase-cases-cut = nezměřeno případů: { $few } z { $all }; rozpočet { $budget } skončil dřív
phrase-plan-too-short = za { $budget } zůstane nezměřeno asi { $few } z { $all } případů; na všechny by stačilo { $needed }
phrase-plan-tools-late = { $cases }: nezačne, protože předchozí případy využijí celý rozpočet { $budget }
phrase-plan-in-a-hurry = u { $few } z { $all ->
    [one] { $all } případu
   *[other] { $all } případů
} stačí { $budget } jen na méně než { $least } opakování; potřeba by bylo { $needed }
phrase-preparation = příprava { $n }
phrase-children-left = procesy, které přežily { $program }, byly ukončeny: { $n }
phrase-other-make = { $path } je jiné implementace než spouštěč { $launcher }, který tento proces spustil
phrase-not-served = { $path } je Open MPI a srun nedostal volbu, která ji podporuje: `--mpi=pmix`
phrase-served-in-part = { $path } je Intel MPI a spouštěč { $launcher } z MPICH, který tento proces spustil, je podporuje jen v některých verzích: pokud selže `MPI_Init`, spouštějte pomocí `mpiexec.hydra` z Intel MPI
phrase-removing = odstraňuje se, co bylo vytvořeno pro běh
phrase-directory-kept = adresář { $directory } zůstává: obsahuje soubory, které nevytvořilo assay
phrase-files-left = zůstaly soubory vytvořené pro běh; odstraní je `assay storage clean`
phrase-preconditioning = { $test }, předkondicionování { $pass } z { $all }
phrase-preconditioning-shuffled = { $test }, předkondicionování v náhodném pořadí
phrase-laying-out = úplný zápis { $path } ({ $size })
phrase-and-more = { $first } a další: { $n }
phrase-block-device = blokové zařízení { $device }
phrase-mounted = { $kind } na { $device }, připojeno v { $point }
phrase-mounted-in-memory = { $kind }, tedy paměť: žádné úložné zařízení se neměří; připojeno v { $point }
phrase-back-to = zpět k { $condition }: { $command }
phrase-decided-early = rozhodnuto po { $blocks } blocích; průběžná vyhodnocení po každém bloku jsou zahrnuta v pravděpodobnosti chyby
phrase-back-within = může to trvat až { $minutes } minut; ukončení nyní ponechá { $condition }
phrase-settling = { $condition }: čeká se na ustálení
phrase-to-condition = k { $condition }: { $command }
phrase-restoring = obnovuje se { $factor }: { $command }
phrase-planning-combinations = plánují se kombinace na hostitelích: { $count }
phrase-applying-on-hosts = k { $condition }, počet hostitelů: { $count }
phrase-restoring-on-hosts = obnovují se faktory, počet hostitelů: { $count }
phrase-unrestored = násilně ukončené měření zanechalo úroveň { $factor }; obnovte ji příkazem { $command } a pak smažte { $file }
phrase-order = pořadí je vylosováno z `--seed` { $seed }
phrase-turn = měření { $turn } z { $all }: { $condition }
phrase-as-control = ještě jednou, pro kontrolu
phrase-hosts-answered = odpověděli hostitelé: { $some } z { $all }
phrase-gate-not-compared = nezměřeno za obou podmínek
phrase-gate-at-least = { $value }, nejméně { $bound }
phrase-gate-at-most = { $value }, nejvýše { $bound }
phrase-gate-in-doubt = { $reason }; pochybné: { $doubt }
phrase-one-sample = jediný vzorek
phrase-few-samples = příliš málo vzorků
phrase-wide-interval = široký interval
phrase-gate-unmeasured = nic nebylo změřeno
phrase-gate-above-limit = { $value }, nad mezí { $bound }
phrase-gate-limit = { $value }, mez { $bound }
phrase-gate-no-ratio = některý běh nemá kladnou hodnotu
phrase-gate-worse = o { $share } horší, povoleno nejvýše { $allowed }
phrase-gate-better = o { $share } lepší, povoleno zhoršení nejvýše o { $allowed }
phrase-gate-few-runs = { $reason }; příliš málo běhů pro interval
