# Findings of the doctor and progress messages; their English is in the code (`phrase!`).
phrase-field-of = { $field } in { $file }
phrase-holds = { $file } enthält { $text }
phrase-hidden-in-guest = { $what }: in diesem Gast oder Container ({ $layer }) nicht sichtbar
phrase-hidden-on-host = { $what }: auf diesem Host nicht sichtbar
phrase-none = keine
phrase-governor = ein cpufreq-Governor
phrase-energy = eine Energievorgabe des Prozessors
phrase-energy-bias = Energy Performance Bias { $bias } (Leistung ist { $best })
phrase-boost-switch = ein Schalter für den Boost
phrase-on = an
phrase-off = aus
phrase-part-of = { $part } von { $whole }
phrase-frequency = die aktuelle CPU-Frequenz
phrase-range = { $low } bis { $high }
phrase-nominal-hidden = die Nennfrequenz ist nicht sichtbar
phrase-nominal = Nennfrequenz { $frequency }
phrase-throttling = ein Zähler der thermischen Drosselung
phrase-throttled-cpu = { $n } seit dem Start, auf der CPU mit den meisten
phrase-idle-states = eine Liste der Ruhezustände
phrase-siblings = welche CPUs Threads desselben Kerns sind
phrase-threads-several = mehrere Threads je Kern
phrase-threads-one = ein Thread je Kern
phrase-cpus-present = die Liste der vorhandenen CPUs
phrase-cpus-online = { $some } von { $all } online
phrase-cpus-offline = offline: { $cpus }
phrase-cpus-usable = CPUs { $some } von { $all }
phrase-microcode = der wirkliche Stand des Mikrocodes im Prozessor
phrase-about-device = diese Eigenschaft eines Netzwerkgeräts
phrase-half-duplex = Halbduplex
phrase-firmware = Firmware { $version }
phrase-receive-checksum = Prüfsumme beim Empfang
phrase-send-checksum = Prüfsumme beim Senden
phrase-off-fixed = aus (nicht änderbar)
phrase-ring-receive = Empfang { $now } von höchstens { $most }
phrase-ring-send = Senden { $now } von höchstens { $most }
phrase-packet-sizes = sendet { $send }, von höchstens { $most }, und empfängt { $receive }
phrase-cpus-of-queues = Warteschlangen: { $n }, CPUs je Warteschlange: höchstens { $most }
phrase-numa-node = auf Knoten { $node }
phrase-about-disk-node = der NUMA-Knoten eines Laufwerks
phrase-channels = Empfangswarteschlangen: { $now } von höchstens { $most }, CPUs: { $cpus }
phrase-adaptive = adaptiv
phrase-coalescing = Empfang nach { $receive } oder { $packets ->
    [one] { $packets } Paket
   *[other] { $packets } Paketen
}, Senden nach { $send }
phrase-function = über die virtuelle Funktion { $function }
phrase-no-function = ohne virtuelle Funktion
phrase-queues = { $n ->
    [one] { $n } Warteschlange
   *[other] { $n } Warteschlangen
}
phrase-queues-spread = davon mit RPS verteilt: { $n }
phrase-interrupts = { $n ->
    [one] { $n } Interrupt auf CPU { $cpus }
   *[other] { $n } Interrupts auf den CPUs { $cpus }
}
phrase-interrupts-near = { $some } von { $all } Interrupts auf dem eigenen Knoten { $node }
phrase-product = ein Produktname
phrase-clock-source = die Zeitquelle
phrase-vulnerabilities = die Liste der Schwachstellen
phrase-mitigated = { $some } entschärft{ $these }, { $others } verwundbar{ $those }, von { $all } bekannten
phrase-no-parameter = kein Parameter, der Ergebnisse beeinflusst
phrase-parameters-tuning = nur Feinabstimmung: { $parameters }
phrase-all-processes = die Liste aller Prozesse
phrase-running = läuft
phrase-not-running = läuft nicht
phrase-quota = CPU-Zeit von { $quota } CPUs auf { $cpus ->
    [one] { $cpus } CPU
   *[other] { $cpus } CPUs
}
phrase-group-throttling = wie oft die Control Group gedrosselt wurde
phrase-throttled-group = { $n } Mal, seit es die Gruppe gibt
phrase-left = { $size } in der Gruppe übrig
phrase-unlimited = unbegrenzt
phrase-load-average = die Systemlast (Load Average)
phrase-load = { $load } in der letzten Minute
phrase-busy = { $processes } einer CPU
phrase-stolen-time = die entzogene CPU-Zeit
phrase-stolen = { $share } seit dem Start ({ $time })
phrase-pressure = Pressure Stall Information (PSI)
phrase-waited = { $share } der letzten { $time }
phrase-last-level = die Größe des Last-Level-Cache
phrase-memory-free = { $free } frei, { $needed } nötig (Last-Level-Cache: { $caches })
phrase-numa-as-tuned = { $value }, wie tuned hpc-compute; die Seite zu { $page } setzt { $other }
phrase-numa-as-published = { $value }, wie die Seite zu { $page }; tuned hpc-compute setzt { $other }
phrase-numa-tiering = { $value }: Memory-Tiering ist an
phrase-one-node = { $value }, ohne Wirkung: Es gibt nur einen NUMA-Knoten
phrase-numa-layout = die NUMA-Aufteilung
phrase-nodes-on-sockets = { $nodes } auf { $sockets }
phrase-numa-nodes = { $n } Knoten
phrase-sockets = { $n ->
    [one] { $n } Sockel
   *[other] { $n } Sockeln
}
phrase-page-cache = { $cached } im Cache, { $dirty } zu schreiben
phrase-no-swap = { $value }, ohne Wirkung: Es gibt keinen Swap
phrase-memory-modules = eine glaubhafte Beschreibung der Speichermodule
phrase-modules = { $n ->
    [one] { $n } Modul
   *[other] { $n } Module
}
phrase-no-launcher = kein MPI-Launcher im PATH
phrase-library-none = LD_LIBRARY_PATH nennt keine; der Launcher liegt in { $folder }
phrase-unknown-make = eine unbekannte Implementierung
phrase-library-and-launcher = { $make } in { $folder }, der Launcher in { $bin }: { $launcher }
phrase-no-mpi = kein MPI im PATH oder in den üblichen Verzeichnissen
phrase-launcher-alone = ein Launcher ohne Bibliothek in { $place }
phrase-make-in = { $make } in { $place }
phrase-mpich-or-intel = MPICH oder Intel MPI
phrase-standard-abi = MPI der Standard-ABI
phrase-no-mpi-module = kein Umgebungsmodul eines MPI
phrase-modules-stale = keines führt zu einem Ziel: { $stale }
phrase-modules-some-stale = { $sound }; ins Leere führen: { $stale }
phrase-no-file = keine Datei
phrase-user = Benutzer { $user }
phrase-neither = kein RDMA-Gerät und keine solche Variable
phrase-variables-alone = { $variables }, aber kein RDMA-Gerät
phrase-devices-alone = keine solche Variable neben { $devices }
phrase-variables-and-devices = { $variables } trotz { $devices }
phrase-at-most = höchstens { $size }
phrase-under-way = { $speed } × { $round_trip } = { $under_way } unterwegs, wofür { $needed } nötig sind
phrase-nobody = { $range }: niemand
phrase-path = ein Pfad
phrase-this-machine = { $to } ist diese Maschine: Loopback
phrase-unknown-device = ein unbekanntes Gerät
phrase-over = { $to } über { $device }
phrase-no-echo = { $path }: keine Antwort auf Echos
phrase-round-trip = Umlaufzeit { $time }
phrase-path-mtu = eine Pfad-MTU jenseits von Loopback
phrase-path-mtu-without-socket = die Pfad-MTU (ohne ICMP-Socket)
phrase-would-send = { $device } würde { $size } senden
phrase-packets-vanish = { $carried } kommen durch, größere Pakete verschwinden ohne Meldung; angenommen waren { $believed }
phrase-carried = { $size } kommen durch
phrase-believed = { $size } angenommen, nicht nachgewiesen
phrase-port = { $device } Port { $port }
phrase-rdma-ethernet = ein RDMA-Gerät an Ethernet
phrase-rdma-device = ein RDMA-Gerät
phrase-rdma-rate = die Rate eines aktiven Ports einer Karte
phrase-one-lane = nur eine Lane der Verbindung ist aktiv
phrase-two-lanes = nur zwei Lanes der Verbindung sind aktiv
phrase-faster-port = ein anderer Port einer solchen Karte hat { $rate }
phrase-rdma-errors = ein Fehlerzähler eines RDMA-Geräts
phrase-grew = { $counter } um { $n }
phrase-moving = steigend: { $counters }
phrase-counters = { $n } Zähler, alle { $none }
phrase-still = unverändert; seit dem Start des Geräts: { $counters }
phrase-rdma-firmware = die Firmware eines RDMA-Geräts
phrase-rdma-pcie = die PCIe-Verbindung eines RDMA-Geräts
phrase-pcie = { $link } von { $most }: { $rate }
phrase-below-port = weniger als die { $rate } des Ports
phrase-no-gid = ohne GID für { $version }
phrase-alone = nur { $what }
phrase-gid = GID { $index } ({ $kind }, eine von { $n } für { $version })
phrase-rdma-mtu = über { $device } mit { $own }: Pfad-MTU { $path }
phrase-no-nfs = kein NFS-Volume ist eingehängt
phrase-solve-over-budget = eine Lösung mit N = { $n } dauert mindestens { $least }, das Budget ist { $budget }
phrase-launch-over-budget = ein Start von { $case } dauert mindestens { $least }, das Budget ist { $budget }
phrase-beside-budget = das dauert etwa { $time }; das Budget des Testfalls beträgt { $budget }
phrase-written-first = { $path } wird zuerst vollständig geschrieben: { $size }
phrase-writing = { $path } wird geschrieben, { $share }
phrase-round = Runde { $n }: { $rate }
phrase-rounds-differ = die letzten unterscheiden sich um { $range } und ändern sich um { $slope }
phrase-keeps = eingehalten
phrase-misses = verfehlt
phrase-unclear = unklar
phrase-tried = { $asked } angefordert, { $reached } erreicht, { $late } der I/Os verspätet: { $verdict }
phrase-measures-alone = kein installiertes Programm misst etwas davon: assay misst allein
phrase-hosts-presumed = übliche Server sind angenommen: Kein Host wurde nach seiner Geschwindigkeit gefragt
phrase-run-over-budget = der Lauf dauert etwa { $time } statt der { $budget } seines Budgets
phrase-run-even-longer = der Lauf dauert inzwischen etwa { $time } und nicht { $before }: Was bisher gemessen wurde, dauerte länger als erwartet
phrase-cases-cut = { $few } von { $all } Testfällen wurden nicht gemessen: Das Budget von { $budget } war vorher zu Ende
phrase-plan-too-short = in { $budget } werden etwa { $few } von { $all } Testfällen nicht gemessen; für alle würden { $needed } reichen
phrase-plan-tools-late = { $cases }: beginnt nicht, denn die Testfälle davor brauchen das ganze Budget von { $budget }
phrase-plan-in-a-hurry = in { $budget } reicht die Zeit bei { $few } von { $all ->
    [one] { $all } Testfall
   *[other] { $all } Testfällen
} für weniger als { $least } Wiederholungen; { $needed } würden genügen
phrase-preparation = Vorbereitung { $n }
phrase-children-left = Prozesse, die { $program } überlebten, wurden beendet: { $n }
phrase-other-make = { $path } stammt von einer anderen Implementierung als der Launcher { $launcher }, der diesen Prozess gestartet hat
phrase-not-served = { $path } ist Open MPI, und srun wurde nicht angewiesen, es zu unterstützen: `--mpi=pmix`
phrase-served-in-part = { $path } ist Intel MPI, und der Launcher { $launcher } von MPICH, der diesen Prozess gestartet hat, unterstützt es nur in manchen Versionen: wo `MPI_Init` scheitert, mit dem `mpiexec.hydra` von Intel MPI starten
phrase-removing = was für den Lauf angelegt wurde, wird entfernt
phrase-directory-kept = { $directory } bleibt: Das Verzeichnis enthält Dateien, die assay nicht angelegt hat
phrase-files-left = für den Lauf angelegte Dateien sind übrig; `assay storage clean` entfernt sie
phrase-preconditioning = { $test }, Vorkonditionierung { $pass } von { $all }
phrase-preconditioning-shuffled = { $test }, Vorkonditionierung in zufälliger Reihenfolge
phrase-laying-out = { $path } wird vollständig geschrieben ({ $size })
phrase-and-more = { $first } und { $n ->
    [one] { $n } weiteres
   *[other] { $n } weitere
}
phrase-block-device = das Blockgerät { $device }
phrase-mounted = { $kind } auf { $device }, eingehängt in { $point }
phrase-mounted-in-memory = { $kind }, also Arbeitsspeicher: Gemessen wird kein Speichergerät; eingehängt in { $point }
phrase-back-to = zurück zu { $condition }: { $command }
phrase-decided-early = entschieden nach { $blocks } Blöcken; die Zwischenauswertungen nach jedem Block sind in der Irrtumswahrscheinlichkeit berücksichtigt
phrase-back-within = es kann bis zu { $minutes } Minuten dauern; ein Abbruch jetzt lässt { $condition } bestehen
phrase-settling = { $condition }: pendelt sich ein
phrase-to-condition = zu { $condition }: { $command }
phrase-restoring = { $factor } wird wiederhergestellt: { $command }
phrase-planning-combinations = Kombinationen werden auf ihren Hosts geplant: { $count }
phrase-applying-on-hosts = zu { $condition }, Anzahl der Hosts: { $count }
phrase-restoring-on-hosts = Faktoren werden wiederhergestellt, Anzahl der Hosts: { $count }
phrase-unrestored = eine abgebrochene Messung hat eine Stufe von { $factor } hinterlassen; stellen Sie mit { $command } wieder her und löschen Sie dann { $file }
phrase-order = die Reihenfolge wird mit `--seed` { $seed } ausgelost
phrase-turn = Messung { $turn } von { $all }: { $condition }
phrase-as-control = noch einmal, zur Kontrolle
phrase-hosts-answered = { $some } von { $all } Hosts { $some ->
    [one] hat
   *[other] haben
} geantwortet
phrase-gate-not-compared = nicht unter beiden Bedingungen gemessen
phrase-gate-at-least = { $value }, mindestens { $bound }
phrase-gate-at-most = { $value }, höchstens { $bound }
phrase-gate-in-doubt = { $reason }; zweifelhaft: { $doubt }
phrase-one-sample = ein einziger Messwert
phrase-few-samples = zu wenige Messwerte
phrase-wide-interval = ein breites Intervall
phrase-gate-unmeasured = es wurde nichts gemessen
phrase-gate-above-limit = { $value }, über der Grenze { $bound }
phrase-gate-limit = { $value }, Grenze { $bound }
phrase-gate-no-ratio = ein Lauf hat keinen positiven Wert
phrase-gate-worse = { $share } schlechter, erlaubt sind höchstens { $allowed } schlechter
phrase-gate-better = { $share } besser, erlaubt sind höchstens { $allowed } schlechter
phrase-gate-few-runs = { $reason }; zu wenige Läufe für ein Intervall
