# What the doctor saw and what is said while a run goes on; the English is where it is said (`phrase!`).
said-field-of = { $field } v { $file }
said-holds = { $file } obsahuje { $text }
said-hidden-in-guest = { $what }: v tomto hostu nebo kontejneru ({ $layer }) není vidět
said-hidden-on-host = { $what }: na tomto hostiteli není vidět
said-none = žádné
said-governor = regulátor cpufreq
said-energy = energetická předvolba procesoru
said-energy-bias = energy performance bias { $bias } (výkon: { $best })
said-boost-switch = přepínač boost
said-on = zapnuto
said-off = vypnuto
said-part-of = { $part } z { $whole }
said-frequency = aktuální frekvence CPU
said-range = { $low } až { $high }
said-nominal-hidden = jmenovitá frekvence není vidět
said-nominal = jmenovitá { $frequency }
said-throttling = čítač tepelných omezení
said-throttled-cpu = { $n } od startu, na CPU s největším počtem
said-idle-states = seznam stavů nečinnosti
said-siblings = která CPU jsou vlákny jednoho jádra
said-threads-several = více vláken na jádro
said-threads-one = jedno vlákno na jádro
said-cpus-present = seznam přítomných CPU
said-cpus-online = { $some } z { $all } online
said-cpus-offline = offline: { $cpus }
said-cpus-usable = CPU { $some } z { $all }
said-microcode = skutečná verze mikrokódu procesoru
said-about-device = tato vlastnost síťového zařízení
said-half-duplex = poloviční duplex
said-firmware = firmware { $version }
said-receive-checksum = ověřování kontrolního součtu při příjmu
said-send-checksum = počítání kontrolního součtu při odesílání
said-off-fixed = vypnuto (nelze změnit)
said-ring-receive = příjem { $now } z nejvýše { $most }
said-ring-send = odesílání { $now } z nejvýše { $most }
said-channels = přijímací fronty: { $now } z nejvýše { $most }, počet CPU: { $cpus }
said-adaptive = adaptivní
said-coalescing = příjem po { $receive } nebo po { $packets ->
    [one] { $packets } paketu
   *[other] { $packets } paketech
}, odesílání po { $send }
said-function = přes virtuální funkci { $function }
said-no-function = bez virtuální funkce
said-queues = { $n ->
    [one] { $n } fronta
    [few] { $n } fronty
   *[other] { $n } front
}
said-queues-spread = rozložených pomocí RPS: { $n }
said-interrupts = přerušení: { $n }, na CPU { $cpus }
said-interrupts-near = přerušení na vlastním uzlu { $node }: { $some } z { $all }
said-product = název výrobku
said-clock-source = zdroj hodin
said-vulnerabilities = seznam zranitelností
said-mitigated = ošetřeno: { $some }{ $these }, zranitelných: { $others }{ $those }, známo celkem: { $all }
said-no-parameter = žádný parametr, který by ovlivnil výsledky
said-parameters-tuning = jen ladění: { $parameters }
said-all-processes = seznam všech procesů
said-running = běží
said-not-running = neběží
said-quota = čas { $quota } CPU na { $cpus } CPU
said-group-throttling = počet pozastavení řídicí skupiny
said-throttled-group = pozastavení od vzniku skupiny: { $n }
said-left = ve skupině zbývá { $size }
said-unlimited = bez omezení
said-load-average = průměrná zátěž
said-load = { $load } za poslední minutu
said-busy = { $processes } jednoho CPU
said-stolen-time = odebraný čas CPU
said-stolen = { $share } od startu ({ $time })
said-pressure = údaje o čekání (PSI)
said-waited = { $share } z posledních { $time }
said-last-level = velikost mezipaměti poslední úrovně
said-memory-free = volno { $free }, potřeba { $needed } (poslední úroveň: { $caches })
said-numa-as-tuned = { $value }, jak nastavuje tuned hpc-compute; stránka { $page } uvádí { $other }
said-numa-as-published = { $value }, jak uvádí stránka { $page }; tuned hpc-compute nastavuje { $other }
said-numa-tiering = { $value }: vrstvení paměti je zapnuté
said-one-node = { $value }, bez účinku: uzel NUMA je jen jeden
said-numa-layout = uspořádání NUMA
said-nodes-on-sockets = { $nodes }, { $sockets }
said-numa-nodes = { $n ->
    [one] { $n } uzel NUMA
    [few] { $n } uzly NUMA
   *[other] { $n } uzlů NUMA
}
said-sockets = { $n ->
    [one] { $n } soket
    [few] { $n } sokety
   *[other] { $n } soketů
}
said-page-cache = v mezipaměti { $cached }, k zápisu { $dirty }
said-no-swap = { $value }, bez účinku: odkládací prostor není
said-memory-modules = věrohodný popis paměťových modulů
said-modules = { $n ->
    [one] { $n } modul
    [few] { $n } moduly
   *[other] { $n } modulů
}
said-no-launcher = v PATH není žádný spouštěč MPI
said-library-none = LD_LIBRARY_PATH žádnou neuvádí; spouštěč je v { $folder }
said-unknown-make = neznámá implementace
said-library-and-launcher = { $make } v { $folder }, spouštěč v { $bin }: { $launcher }
said-no-mpi = žádné MPI v PATH ani v obvyklých složkách
said-launcher-alone = spouštěč bez knihovny v { $place }
said-make-in = { $make } v { $place }
said-mpich-or-intel = MPICH nebo Intel MPI
said-standard-abi = MPI se standardním ABI
said-no-mpi-module = žádný modul prostředí pro MPI
said-modules-stale = žádný nikam nevede: { $stale }
said-modules-some-stale = { $sound }; nikam nevedou: { $stale }
said-no-file = žádný soubor
said-user = uživatel { $user }
said-neither = žádné zařízení RDMA ani taková proměnná
said-variables-alone = { $variables }, ale žádné zařízení RDMA
said-devices-alone = vedle { $devices } žádná taková proměnná
said-variables-and-devices = { $variables } vedle { $devices }
said-at-most = nejvýše { $size }
said-under-way = { $speed } × { $round_trip } = { $under_way } na cestě, což vyžaduje { $needed }
said-nobody = { $range }: nikdo
said-path = cesta
said-this-machine = { $to } je tento stroj: loopback
said-unknown-device = neznámé zařízení
said-over = { $to } přes { $device }
said-no-echo = { $path }: bez odpovědi na echo
said-round-trip = doba odezvy { $time }
said-path-mtu = MTU cesty mimo loopback
said-path-mtu-without-socket = MTU cesty (bez soketu ICMP)
said-would-send = { $device } by posílalo { $size }
said-packets-vanish = projde { $carried }, větší pakety mizí beze slova; předpokládalo se { $believed }
said-carried = projde { $size }
said-believed = předpokládá se { $size }, neprokázáno
said-port = { $device } port { $port }
said-rdma-ethernet = zařízení RDMA na Ethernetu
said-rdma-device = zařízení RDMA
said-rdma-rate = rychlost aktivního portu karty
said-one-lane = běží jen jedna linka spoje
said-two-lanes = běží jen dvě linky spoje
said-faster-port = jiný port stejné karty má { $rate }
said-rdma-errors = čítač chyb zařízení RDMA
said-grew = { $counter } o { $n }
said-moving = roste: { $counters }
said-counters = čítačů: { $n }, všechny { $none }
said-still = beze změny; od spuštění zařízení: { $counters }
said-rdma-firmware = firmware zařízení RDMA
said-rdma-pcie = spoj PCIe zařízení RDMA
said-pcie = { $link } z { $most }: { $rate }
said-below-port = méně než { $rate } portu
said-no-gid = nemá GID { $version }
said-alone = jen { $what }
said-gid = GID { $index } ({ $kind }, celkem { $version }: { $n })
said-rdma-mtu = přes { $device } s { $own }: MTU cesty { $path }
said-no-nfs = není připojen žádný svazek NFS
said-solve-over-budget = jedno řešení s N = { $n } trvá aspoň { $least } a rozpočet je { $budget }
said-launch-over-budget = jedno spuštění { $case } trvá aspoň { $least } a rozpočet je { $budget }
said-beside-budget = potrvá to asi { $time } nad rámec rozpočtu { $budget }
said-written-first = { $path } se nejdříve celý zapíše: { $size }
said-writing = zápis { $path } { $share }
said-round = kolo { $n }: { $rate }
said-rounds-differ = poslední se liší o { $range } a mění se o { $slope }
said-keeps = splněno
said-misses = nesplněno
said-unclear = nejasné
said-tried = požadováno { $asked }, dosaženo { $reached }, opožděno { $late } I/O: { $verdict }
said-measures-alone = žádný nainstalovaný nástroj nic z toho neměří: assay měří sám
said-hosts-presumed = předpokládají se obvyklé servery: žádný hostitel nebyl na rychlost dotázán
said-run-over-budget = běh potrvá asi { $time } místo { $budget } svého rozpočtu
said-run-even-longer = běh nyní potrvá asi { $time }, a ne { $before }: co se dosud změřilo, trvalo déle, než se čekalo
said-plan-in-a-hurry = u { $few } z { $all ->
    [one] { $all } případu
   *[other] { $all } případů
} stačí { $budget } jen na méně než { $least } opakování; potřeba by bylo { $needed }
said-preparation = příprava { $n }
said-other-make = { $path } je jiné implementace než spouštěč { $launcher }, který tento proces spustil
said-not-served = { $path } je Open MPI a srun nemá pokyn ji obsluhovat: `--mpi=pmix`
said-served-in-part = { $path } je Intel MPI a spouštěč { $launcher } z MPICH, který tento proces spustil, je obsluhuje jen v některých verzích: pokud selže `MPI_Init`, spouštějte pomocí `mpiexec.hydra` z Intel MPI
said-removing = odstraňuje se, co bylo vytvořeno pro běh
said-files-left = zůstaly soubory vytvořené pro běh; odstraní je `assay storage clean`
said-preconditioning = { $test }, příprava zápisem { $pass } z { $all }
said-preconditioning-shuffled = { $test }, příprava zápisem v náhodném pořadí
said-laying-out = úplný zápis { $path } ({ $size })
said-and-more = { $first } a další: { $n }
said-block-device = blokové zařízení { $device }
said-mounted = { $kind } na { $device }, připojeno v { $point }
said-mounted-in-memory = { $kind }, tedy paměť: žádné úložné zařízení se neměří; připojeno v { $point }
said-back-to = zpět k { $condition }: { $command }
said-back-within = může to trvat až { $minutes } minut; ukončení nyní ponechá { $condition }
said-settling = { $condition }: čeká se na ustálení
said-to-condition = k { $condition }: { $command }
said-order = pořadí je vylosováno z `--seed` { $seed }
said-turn = běh { $turn } z { $all }: { $condition }
said-as-control = ještě jednou, pro kontrolu
said-hosts-answered = odpověděli hostitelé: { $some } z { $all }
