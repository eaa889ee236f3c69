# What the doctor saw and what is said while a run goes on; the English is where it is said (`phrase!`).
said-field-of = { $field } in { $file }
said-holds = { $file } enthält { $text }
said-hidden-in-guest = { $what }: in diesem Gast oder Container ({ $layer }) nicht sichtbar
said-hidden-on-host = { $what }: auf diesem Host nicht sichtbar
said-none = keine
said-governor = ein cpufreq-Governor
said-energy = eine Energievorgabe des Prozessors
said-energy-bias = Energy Performance Bias { $bias } (Leistung ist { $best })
said-boost-switch = ein Schalter für den Boost
said-on = an
said-off = aus
said-part-of = { $part } von { $whole }
said-frequency = die aktuelle CPU-Frequenz
said-range = { $low } bis { $high }
said-nominal-hidden = die Nennfrequenz ist nicht sichtbar
said-nominal = Nennfrequenz { $frequency }
said-throttling = ein Zähler der thermischen Drosselung
said-throttled-cpu = { $n } seit dem Start, auf der CPU mit den meisten
said-idle-states = eine Liste der Ruhezustände
said-siblings = welche CPUs Threads desselben Kerns sind
said-threads-several = mehrere Threads je Kern
said-threads-one = ein Thread je Kern
said-cpus-present = die Liste der vorhandenen CPUs
said-cpus-online = { $some } von { $all } online
said-cpus-offline = offline: { $cpus }
said-cpus-usable = CPUs { $some } von { $all }
said-microcode = der wirkliche Stand des Mikrocodes im Prozessor
said-about-device = diese Eigenschaft eines Netzwerkgeräts
said-half-duplex = Halbduplex
said-firmware = Firmware { $version }
said-receive-checksum = Prüfsumme beim Empfang
said-send-checksum = Prüfsumme beim Senden
said-off-fixed = aus (nicht änderbar)
said-ring-receive = Empfang { $now } von höchstens { $most }
said-ring-send = Senden { $now } von höchstens { $most }
said-channels = Empfangswarteschlangen: { $now } von höchstens { $most }, CPUs: { $cpus }
said-adaptive = adaptiv
said-coalescing = Empfang nach { $receive } oder { $packets ->
    [one] { $packets } Paket
   *[other] { $packets } Paketen
}, Senden nach { $send }
said-function = über die virtuelle Funktion { $function }
said-no-function = ohne virtuelle Funktion
said-queues = { $n ->
    [one] { $n } Warteschlange
   *[other] { $n } Warteschlangen
}
said-queues-spread = davon mit RPS verteilt: { $n }
said-interrupts = { $n ->
    [one] { $n } Interrupt auf CPU { $cpus }
   *[other] { $n } Interrupts auf den CPUs { $cpus }
}
said-interrupts-near = { $some } von { $all } Interrupts auf dem eigenen Knoten { $node }
said-product = ein Produktname
said-clock-source = die Zeitquelle
said-vulnerabilities = die Liste der Schwachstellen
said-mitigated = { $some } entschärft{ $these }, { $others } verwundbar{ $those }, von { $all } bekannten
said-no-parameter = kein Parameter, der Ergebnisse beeinflusst
said-parameters-tuning = nur Feinabstimmung: { $parameters }
said-all-processes = die Liste aller Prozesse
said-running = läuft
said-not-running = läuft nicht
said-quota = Zeit für { $quota } CPUs auf { $cpus ->
    [one] { $cpus } CPU
   *[other] { $cpus } CPUs
}
said-group-throttling = wie oft die Control Group gedrosselt wurde
said-throttled-group = { $n }-mal, seit es die Gruppe gibt
said-left = { $size } in der Gruppe übrig
said-unlimited = unbegrenzt
said-load-average = die Systemlast (Load Average)
said-load = { $load } in der letzten Minute
said-busy = { $processes } einer CPU
said-stolen-time = die entzogene CPU-Zeit
said-stolen = { $share } seit dem Start ({ $time })
said-pressure = Angaben zum Ressourcendruck (PSI)
said-waited = { $share } der letzten { $time }
said-last-level = die Größe des Last-Level-Cache
said-memory-free = { $free } frei, { $needed } nötig (Last-Level-Cache: { $caches })
said-numa-as-tuned = { $value }, wie tuned hpc-compute; die Seite zu { $page } setzt { $other }
said-numa-as-published = { $value }, wie die Seite zu { $page }; tuned hpc-compute setzt { $other }
said-numa-tiering = { $value }: Memory-Tiering ist an
said-one-node = { $value }, ohne Wirkung: es gibt nur einen NUMA-Knoten
said-numa-layout = die NUMA-Aufteilung
said-nodes-on-sockets = { $nodes } auf { $sockets }
said-numa-nodes = { $n } Knoten
said-sockets = { $n ->
    [one] { $n } Sockel
   *[other] { $n } Sockeln
}
said-page-cache = { $cached } im Cache, { $dirty } zu schreiben
said-no-swap = { $value }, ohne Wirkung: es gibt keinen Swap
said-memory-modules = eine glaubhafte Beschreibung der Speichermodule
said-modules = { $n ->
    [one] { $n } Modul
   *[other] { $n } Module
}
said-no-launcher = kein MPI-Launcher im PATH
said-library-none = LD_LIBRARY_PATH nennt keine; der Launcher liegt in { $folder }
said-unknown-make = eine unbekannte Implementierung
said-library-and-launcher = { $make } in { $folder }, der Launcher in { $bin }: { $launcher }
said-no-mpi = kein MPI im PATH oder in den üblichen Ordnern
said-launcher-alone = ein Launcher ohne Bibliothek in { $place }
said-make-in = { $make } in { $place }
said-mpich-or-intel = MPICH oder Intel MPI
said-standard-abi = MPI der Standard-ABI
said-no-mpi-module = kein Umgebungsmodul eines MPI
said-modules-stale = keines führt zu einem Ziel: { $stale }
said-modules-some-stale = { $sound }; ins Leere führen: { $stale }
said-no-file = keine Datei
said-user = Benutzer { $user }
said-neither = kein RDMA-Gerät und keine solche Variable
said-variables-alone = { $variables }, aber kein RDMA-Gerät
said-devices-alone = keine solche Variable neben { $devices }
said-variables-and-devices = { $variables } trotz { $devices }
said-at-most = höchstens { $size }
said-under-way = { $speed } × { $round_trip } = { $under_way } unterwegs, wofür { $needed } nötig sind
said-nobody = { $range }: niemand
said-path = ein Pfad
said-this-machine = { $to } ist diese Maschine: Loopback
said-unknown-device = ein unbekanntes Gerät
said-over = { $to } über { $device }
said-no-echo = { $path }: keine Antwort auf Echos
said-round-trip = Umlaufzeit { $time }
said-path-mtu = eine Pfad-MTU jenseits von Loopback
said-path-mtu-without-socket = die Pfad-MTU (ohne ICMP-Socket)
said-would-send = { $device } würde { $size } senden
said-packets-vanish = { $carried } kommen durch, größere Pakete verschwinden ohne Meldung; angenommen waren { $believed }
said-carried = { $size } kommen durch
said-believed = { $size } angenommen, nicht nachgewiesen
said-port = { $device } Port { $port }
said-rdma-ethernet = ein RDMA-Gerät an Ethernet
said-rdma-device = ein RDMA-Gerät
said-rdma-rate = die Rate eines aktiven Ports einer Karte
said-one-lane = nur eine Lane der Verbindung ist aktiv
said-two-lanes = nur zwei Lanes der Verbindung sind aktiv
said-faster-port = ein anderer Port einer solchen Karte hat { $rate }
said-rdma-errors = ein Fehlerzähler eines RDMA-Geräts
said-grew = { $counter } um { $n }
said-moving = steigend: { $counters }
said-counters = { $n } Zähler, alle { $none }
said-still = unverändert; seit dem Start des Geräts: { $counters }
said-rdma-firmware = die Firmware eines RDMA-Geräts
said-rdma-pcie = die PCIe-Verbindung eines RDMA-Geräts
said-pcie = { $link } von { $most }: { $rate }
said-below-port = weniger als die { $rate } des Ports
said-no-gid = ohne GID für { $version }
said-alone = nur { $what }
said-gid = GID { $index } ({ $kind }, eine von { $n } für { $version })
said-rdma-mtu = über { $device } mit { $own }: Pfad-MTU { $path }
said-no-nfs = kein NFS-Volume ist eingehängt
said-solve-over-budget = eine Lösung mit N = { $n } dauert mindestens { $least }, das Budget ist { $budget }
said-launch-over-budget = ein Start von { $case } dauert mindestens { $least }, das Budget ist { $budget }
said-beside-budget = das dauert etwa { $time }, zusätzlich zum Budget von { $budget }
said-written-first = { $path } wird zuerst vollständig geschrieben: { $size }
said-writing = { $path } wird geschrieben, { $share }
said-round = Runde { $n }: { $rate }
said-rounds-differ = die letzten unterscheiden sich um { $range } und ändern sich um { $slope }
said-keeps = eingehalten
said-misses = verfehlt
said-unclear = unklar
said-tried = { $asked } angefordert, { $reached } erreicht, { $late } der I/Os verspätet: { $verdict }
said-measures-alone = kein installiertes Programm misst etwas davon: assay misst allein
said-hosts-presumed = übliche Server sind angenommen: kein Host wurde nach seiner Geschwindigkeit gefragt
said-run-over-budget = der Lauf dauert etwa { $time } statt der { $budget } seines Budgets
said-run-even-longer = der Lauf dauert inzwischen etwa { $time } und nicht { $before }: was bisher gemessen wurde, dauerte länger als erwartet
said-plan-in-a-hurry = in { $budget } reicht die Zeit bei { $few } von { $all ->
    [one] { $all } Fall
   *[other] { $all } Fällen
} für weniger als { $least } Wiederholungen; { $needed } würden genügen
said-preparation = Vorbereitung { $n }
said-other-make = { $path } stammt von einer anderen Implementierung als der Launcher { $launcher }, der diesen Prozess gestartet hat
said-not-served = { $path } ist Open MPI, und srun wurde nicht angewiesen, es zu bedienen: `--mpi=pmix`
said-served-in-part = { $path } ist Intel MPI, und der Launcher { $launcher } von MPICH, der diesen Prozess gestartet hat, bedient es nur in manchen Versionen: wo `MPI_Init` scheitert, mit dem `mpiexec.hydra` von Intel MPI starten
said-removing = was für den Lauf angelegt wurde, wird entfernt
said-files-left = für den Lauf angelegte Dateien sind übrig; `assay storage clean` entfernt sie
said-preconditioning = { $test }, Vorkonditionierung { $pass } von { $all }
said-preconditioning-shuffled = { $test }, Vorkonditionierung in zufälliger Reihenfolge
said-laying-out = { $path } wird vollständig geschrieben ({ $size })
said-and-more = { $first } und { $n ->
    [one] { $n } weiteres
   *[other] { $n } weitere
}
said-block-device = das Blockgerät { $device }
said-mounted = { $kind } auf { $device }, eingehängt in { $point }
said-mounted-in-memory = { $kind }, also Arbeitsspeicher: gemessen wird kein Speichergerät; eingehängt in { $point }
said-back-to = zurück zu { $condition }: { $command }
said-back-within = es kann bis zu { $minutes } Minuten dauern; ein Abbruch jetzt lässt { $condition } bestehen
said-settling = { $condition }: pendelt sich ein
said-to-condition = zu { $condition }: { $command }
said-order = die Reihenfolge ist aus `--seed` { $seed } gelost
said-turn = Lauf { $turn } von { $all }: { $condition }
said-as-control = noch einmal, zur Kontrolle
said-hosts-answered = { $some } von { $all } Hosts { $some ->
    [one] hat
   *[other] haben
} geantwortet
