yes = ja
no = nein
on = an
off = aus
unknown = unbekannt
interval = Intervall
interval-of-level = { $level }-Intervall
no-interval = keines
no-value = kein Wert
full-stop = .
list-separator = {", "}
detail-separator = {", "}
fact-separator = {": "}
clause-separator = {"; "}
sentence-separator = {" "}
sentence-about = { $sentence } ({ $about }).
seed = Startwert { $seed }
and-more = und { $n } weitere
on-more-hosts = { $n ->
    [one] … und auf { $n } weiteren Host: { $hosts }
   *[other] … und auf { $n } weiteren Hosts: { $hosts }
}
one-and-two = { $one } und { $two }
what-by = { $what }, gemessen mit { $by }
name-in = { $name } in { $place }
test-at = { $test } bei { $share }
is-mean = { $value } (Mittelwert)
per-second = { $rate } pro Sekunde
about = etwa { $value }
threads = { $n ->
    [one] { $n } Thread
   *[other] { $n } Threads
}
cores = { $n ->
    [one] { $n } Kern
   *[other] { $n } Kerne
}
streams = { $n ->
    [one] { $n } Datenstrom
   *[other] { $n } Datenströme
}
under-load = unter Last von { $n ->
    [one] { $n } Datenstrom
   *[other] { $n } Datenströmen
}
cpus = { $n } CPUs
cpus-on-cores = { $cpus } auf { $cores } Kernen
cores-with-threads = { $cores } mit { $threads }
arrays-of = Arrays von { $size }
all-at-once = alle gleichzeitig
each-alone = jeweils allein
all-operations = alle
end-local = lokales Ende
end-remote = entferntes Ende
end-other = Ende { $end }
direction-send = Senden
direction-receive = Empfangen
direction-both = beide Richtungen
pattern-random = wahlfrei
pattern-sequential = sequenziell
operation-read = Lesen
operation-write = Schreiben
no-copy = ohne Kopie
segmentation = Segmentierung im Kernel
from-due = { $what } ab Fälligkeit
working-set = Working Set
time-per-load = Zeit pro abhängigem Ladezugriff
beyond-caches = Speicher
knee = Knick
rate-max = max.
up-to-the-knee = bis zum Knick
beyond-the-knee = jenseits des Knicks
provisioned = bereitgestellt: { $limit }
limit-line = Grenze: { $limit }

heading-bandwidth = Speicherbandbreite
heading-latency = Speicherlatenz
heading-compute = Rechenleistung
heading-network = Netzwerk
heading-storage = Massenspeicher
heading-files = Dateibäume
heading-programs = Programme
heading-copies = Kopien zwischen Domänen
heading-cache-bandwidth = Cache-Bandbreite
heading-core-to-core = Latenz zwischen Kernen
heading-loaded-latency = Speicherlatenz unter Last
heading-other = Weitere Ergebnisse
heading-perftest = Latenz nach den Regeln von perftest
heading-measurers = Messprogramme im Vergleich
heading-warnings = Warnungen
heading-failures = Fehlschläge
heading-omitted = Nicht gemessen
heading-method = Methode
details-machine = Maschine
details-bandwidth = Alle Domänen und Kernzahlen
details-copies = Alle Paare von Domänen
details-loaded-latency = Alle Punkte der Kurven
details-other-metrics = Weitere Messgrößen
table-bandwidth = Bandbreite nach Platzierung
table-extremes = Mediane über die Domänen derselben Art
table-levels = Latenz jeder Cache-Ebene und des Speichers
table-compute = Multiply-Add-Spitzenleistung und LINPACK
table-other = Ergebnisse aller übrigen Benchmarks
table-programs = Zeiten, Speicher und Werte der Programme
table-perftest = Dieselben Nachrichten nach den Regeln von perftest
table-measurers = Mediane und ihr Verhältnis
table-turns = Mediane und das Verhältnis benachbarter Läufe, das nicht das der Mediane ist
table-all-runs = Mediane und das Verhältnis der Läufe, jeder mit jedem, das nicht das der Mediane ist
table-copies = Bandbreite in { $unit } von Kopien in den Speicher einer Domäne durch deren CPUs (Zeilen) aus dem Speicher einer anderen (Spalten)
table-node-latency = Latenz in { $unit } abhängiger Ladezugriffe der ersten CPU eines NUMA-Knotens (Zeilen) im Speicher jedes Knotens (Spalten)
table-cache-bandwidth = Lesebandbreite jeder Cache-Ebene und des Speichers
table-core-to-core = Latenz einer Cache-Zeile von einem Kern zum anderen nach Abstand, mit dem Paar der niedrigsten und dem der höchsten Latenz
table-loaded-latency = Speicherlatenz über der Bandbreite des übrigen Verkehrs
table-network-items = Nutzdatenrate und CPU-Aufwand
table-network = Messgrößen des Netzwerks mit ihren Intervallen
table-round-trips = Umlaufzeiten
table-mpi-libraries = MPI-Bibliotheken und die tatsächliche Bindung ihrer Ranks
table-storage = Rate, Bandbreite und Latenz
table-storage-pairs = Lesen und Schreiben nebeneinander
table-storage-parameters = Parameter und CPU-Auslastung
table-storage-mixes = Lesen und Schreiben gemischter Last, vom Absenden bis zum Abschluss
table-storage-due = Latenz ab Fälligkeit der I/O
table-rounds = Runden von { $test }
table-search = Suchschritte von { $test }
table-files = Rate und Latenz der Operationen auf Dateien und Verzeichnissen
response-curve = Antwortzeitkurve von { $name }
ladder-title = Latenz über dem Working Set
scaling-title = { $metric } über der Zahl der Kerne
roofline-title = Roofline-Modell
roofline-title-of = Roofline-Modell von { $host }
roofline-measured = gemessen
roofline-limits = Grenzen
roofline-description = Code mit weniger als { $ridge } Operationen je Byte ist durch den Speicher begrenzt: Er kann das Produkt aus seinen Operationen je Byte und { $bandwidth } nicht überschreiten. Code mit mehr Operationen je Byte kann { $peak } nicht überschreiten.
bars-linear = Balken
bars-logarithmic = logarithmische Balken
bars-legend = { $name } über { $axis }; { $bars } von { $low } bis { $high }
axis-operations-per-byte = Operationen je Byte
axis-compute-rate = Rechenrate
mpi-by-distance = { $metric ->
    [latency] Latenz nach Abstand der Paare, Nachrichten von { $size }
   *[bandwidth] Bandbreite nach Abstand der Paare, Nachrichten von { $size }
}
axis-cores = Kerne
axis-message-size = Nachrichtengröße
axis-rate-reached = erreichte Rate
axis-bandwidth-per-core = Lesebandbreite pro Kern
axis-traffic = Bandbreite des gesamten Verkehrs
axis-time-measured = Messzeit
axis-share-at-most = Anteil, der höchstens so lange dauert
timeline-of = Zeitverlauf: { $name }
timeline-payload = gemessen
timeline-read = gelesen
timeline-written = geschrieben
timeline-received = empfangen
timeline-sent = gesendet
timeline-busy = CPUs beschäftigt
timeline-interrupts = Interrupts
timeline-stolen = vom Hypervisor entzogen
timeline-cpu-pressure = ein Task wartet auf eine CPU
timeline-io-pressure = ein Task wartet auf I/O
timeline-share = Anteil der Zeit
details-hardware = Hardwarezähler
column-observed-clock = beobachteter Takt
column-instructions-per-cycle = Instruktionen je Takt
column-memory-traffic = Speicherverkehr
column-traffic-of-work = Verkehr je Nutzbyte
column-energy = Energie
column-energy-efficiency = Energieeffizienz
hardware-flop = { $flop } von { $peak } FLOP je beobachtetem Takt und Kern, bei beobachteten { $clock }
hardware-flop-user = höchstens { $flop } von { $peak } FLOP je beobachtetem Takt und Kern, bei beobachteten { $clock } oder mehr: Takte im Kernel wurden nicht gezählt
hardware-write-allocate = Speicherverkehr ist, was die Speichercontroller für die ganze Maschine bewegten. STREAM zählt kein Write-Allocate: ein Schreibzugriff ohne Streaming-Befehl liest zuerst seine Zeile, sodass der Verkehr die gezählten Bytes übersteigt.
joules = { $value } J
joules-per-gigabyte = { $value } J/GB
gigaflop-per-joule = { $value } GFLOP/J
course-of-goodput = Nutzdatenrate über der Zeit
course-of-cpu-load = CPU-Auslastung über der Zeit
course-goes = { $name }: { $low } bis { $high }.
rounds-go = Die Rate ändert sich von { $first } in der ersten Runde zu { $last } in der letzten.
distribution-of-round-trips = Verteilung der Umlaufzeiten
distribution-goes = { $name }: Die Hälfte dauert höchstens { $median }, { $share } höchstens { $most }.
axis-latency-from-due = Latenz ab Fälligkeit der I/O

column-bandwidth = Bandbreite
column-block = Block
column-by = Messprogramm
column-case = Testfall
column-cpu-load = CPU-Auslastung
column-cpu-per-io = CPU pro I/O
column-cpu-system = CPU (System)
column-cpu-time = CPU-Zeit
column-cpu-user = CPU (Benutzer)
column-cpus = CPUs
column-target-size = Zielgröße
column-depth = Warteschlangentiefe
column-generator = Generator
column-goal = Ziel
column-goodput = Nutzdatenrate
column-highest = Maximum
column-in = Messort
column-in-flight = in Bearbeitung
column-item = Test
column-kernel = Kernel
column-late = verspätet
column-latency = Latenz
column-later-than-the-goal = später als das Ziel
column-level = Ebene
column-letters = Buchstaben
column-efficiency = Effizienz
column-library = Bibliothek
column-lowest = Minimum
column-median = Median
column-median-from-due = Median ab Fälligkeit
column-middle = Median
column-note = Anm.
column-of-limit = Anteil an der Grenze
column-of-link = Anteil an der Linkrate
column-of-peak = Anteil an der Spitzenleistung
column-of-provisioned = Anteil an der bereitgestellten Leistung
column-of-rpeak = Anteil an Rpeak
column-operation = Operation
column-per-core = pro Kern
column-pairs = Paare
column-idle = ohne Last
column-at-share = bei { $share }
column-at-highest = beim Maximum
column-pause = Pause
column-place = Ort
column-ranks-on-cpus = Ranks auf CPUs
column-rate = Rate
column-reached = erreicht
column-reads = Lesen
column-requested = angefordert
column-retransmits = Neuübertragungen
column-round = Runde
column-service-median = Median der Bedienzeit
column-size = Größe
column-test = Test
column-threads = Threads
column-transport = Transport
column-value = Wert
column-what = Messgröße
column-where = Ort
column-writes = Schreiben

machine-hardware = Hardware
machine-system = System
machine-settings = Einstellungen
machine-mitigations = Schutzmaßnahmen
machine-versions = Versionen
fact-processor = Prozessor
fact-vendor = Hersteller
fact-family-model-stepping = Familie/Modell/Stepping
fact-microcode = Mikrocode
fact-nominal-frequency = Nennfrequenz
fact-maximum-frequency = Höchstfrequenz
fact-governor = Governor
fact-boost = Boost
fact-smt = SMT
fact-cpus = CPUs
fact-caches = Caches
fact-numa-nodes = NUMA-Knoten
fact-memory = Speicher
fact-memory-modules = Speichermodule
fact-huge-page = Huge Page
fact-distribution = Distribution
fact-kernel = Kernel
fact-kernel-command-line = Kernel-Befehlszeile
fact-virtualisation = Virtualisierung
fact-product = Produkt
fact-clock-source = Zeitquelle
fact-cpu-quota = CPU-Kontingent
fact-memory-limit-of-the-control-group = Speichergrenze der Control Group
fact-fingerprint = Fingerabdruck

suite = Suite { $suite }
suite-on-hosts = Suite { $suite } auf { $hosts }
run-from-to = Lauf { $run }, { $started } bis { $finished }
run-from = Lauf { $run }, begonnen { $started }
host-memory = { $size } Speicher
host-kernel = Kernel { $kernel }
host-guest = Gast von { $hypervisor }
nothing-measured = Es wurde nichts gemessen.
cases-failed = { $n ->
    [one] { $n } Testfall fehlgeschlagen
   *[other] { $n } Testfälle fehlgeschlagen
}
cases-skipped = { $n ->
    [one] deswegen { $n } übersprungen
   *[other] deswegen { $n } übersprungen
}
status-failed = { $reported }; siehe { $heading }.
failed-likewise = { $n ->
    [one] Ebenso schlug { $n } weiterer Testfall fehl: { $cases }
   *[other] Ebenso schlugen { $n } weitere Testfälle fehl: { $cases }
}
skipped-because = { $n ->
    [one] { $n } Testfall wurde deswegen übersprungen: { $cases }
   *[other] { $n } Testfälle wurden deswegen übersprungen: { $cases }
}
reached = {" "}nach { $finished } von { $planned } Testfällen
status-partial = Der Lauf ist unvollständig: { $n ->
    [one] ein Host fehlt{ $hosts }
   *[other] Hosts fehlen{ $hosts }
}. Die Ergebnisse der anderen Hosts sind gültig.
status-interrupted = Der Lauf wurde{ $reached } unterbrochen; die abgeschlossenen Testfälle sind gültig.
status-interrupted-at-once = Der Lauf wurde unterbrochen, bevor sein erster Testfall abgeschlossen war.
status-interrupted-late = Der Lauf wurde unterbrochen: Jeder Testfall wurde gemessen, manche mit weniger Wiederholungen als geplant.
status-unfinished = Der Lauf endet{ $reached } ohne Abschluss: assay wurde abgebrochen oder läuft noch. Die abgeschlossenen Testfälle sind gültig.
statistics = Die Werte sind Mediane. Konfidenzintervalle beruhen auf Ordnungsstatistiken und setzen keine Verteilung voraus, bei weniger als { $least } effektiven Messwerten auf der t-Verteilung; weniger als { $least } Messwerte ergeben keines. n ist die Zahl der Messwerte nach dem Aufwärmen, in Klammern die der effektiven, falls sie korreliert sind.
statistics-version = Version der Statistik: { $version }.
imported = Dies hat ein anderes Programm gemessen; es wurde aus { $files } importiert, und die Quelle ist mit dem Lauf gespeichert. Die Uhr des Programms ist unbekannt, die Maschine nur so weit bekannt, wie die Quelle sie beschreibt.
clock = Die Uhr ist { $name }: Auflösung { $resolution }, Dauer einer Ablesung { $cost }. Eine Wiederholung des leeren Null-Kernels dauert { $null }: der Zusatzaufwand jedes gemessenen Durchgangs.
stolen = Der Hypervisor entzog während des Laufs { $share } der CPU-Zeit.
throttled-times = { $n ->
    [one] Die Control Group wurde während des Laufs { $n } Mal gedrosselt.
   *[other] Die Control Group wurde während des Laufs { $n } Mal gedrosselt.
}

byte-counting = Bytes werden wie bei STREAM gezählt: pro Element { $copy } für Copy und Scale, { $add } für Add und Triad, { $read } für Lesen und Schreiben. Das zusätzliche Lesen jeder Cache-Zeile, das ein gewöhnlicher Schreibbefehl auslöst, zählt nicht.
kernels-within-noise = { $operations }: Der Kernel ist einer der schnellsten; andere lagen bei der Auswahl innerhalb des Rauschens.
conditions = { $how }: { $places }.
limit-is = Die Grenze ist { $limit }: { $basis }.
no-memory-limit = Es ist keine Grenze bekannt: { $why }; die Übertragungsrate der Speichermodule ist daher unbekannt.
smbios-without-speed = SMBIOS nennt zu keinem Modul eine Geschwindigkeit
smbios-hidden = SMBIOS ist in diesem Gast von { $hypervisor } verborgen
smbios-unreadable = SMBIOS ließ sich nicht lesen; meist sind dafür Root-Rechte nötig
intervals-shaded = Intervalle sind schattiert, wo sie breit genug sind, um sichtbar zu sein.
scaling-description = Die Bandbreite beträgt { $one } auf { $few } und { $all } auf { $many }.
ladder-description = Die Latenz beträgt { $low } bei { $small } und { $high } bei { $large }.
huge-pages-refused = Huge Pages wurden angefordert, aber nicht gewährt: Jenseits der Caches enthält die Latenz TLB-Misses.
check-output = Ausgabe geprüft
check-none = nicht geprüft
io500-valid = Gültig nach den Regeln von `IO500`.
io500-invalid = Ungültig nach den Regeln von `IO500`: { $reasons }.
io500-rule-stonewall = die Stonewall-Zeit ist { $time }, mindestens { $least } sind verlangt
io500-rule-short-write = { $phase } dauerte { $time }, weniger als { $least }
io500-rule-no-result = kein Ergebnis von { $phases }
io500-rule-nothing-found = die Phase find fand keine Datei
program-start = Ein leeres Programm braucht mindestens { $time }, um auf dieselbe Weise zu starten und zu enden; nichts wird abgezogen.
program-memory-floor = Programme unter { $size } haben keinen Wert für den Speicher.
programs-compared = Programme im Vergleich mit { $first }
levels-title = Stufen von { $factors }
levels-without-letters = Zu wenige gemeinsame Blöcke für ein Urteil: Für Buchstaben sind mindestens drei Blöcke nötig, in denen jede Stufe einen Wert über null hat.
levels-more-blocks = Mit so wenigen Blöcken kann kein Unterschied zwischen Stufen signifikant sein: Mindestens { $needed } Blöcke sind nötig (--blocks, oder --runs von assay exec).
levels-more-runs = Mit so wenigen Läufen kann kein Unterschied zwischen Stufen signifikant sein: Mindestens { $needed } Läufe von jeder sind nötig.
levels-overall = Alle Stufen zusammen (Friedman-Test): { $statistic }, { $p } nach Korrektur für alle Messgrößen.
levels-sufficient = Die kleinste ausreichende Stufe ist { $level }: Keine größere ({ $larger }) ist signifikant besser.
levels-sufficient-last = Jede Stufe unter { $level }, der größten, wird von einer anderen übertroffen: Eine noch größere kann besser sein.
levels-explanation = Stufen mit einem gemeinsamen Buchstaben sind nicht unterscheidbar. Verhältnisse sind blockweise gepaart ({ $blocks } Blöcke); innerhalb einer Messgröße ist die Wahrscheinlichkeit, auch nur einen Unterschied fälschlich anzuzeigen, höchstens { $wrong } (Holm).
levels-explanation-independent = Stufen mit einem gemeinsamen Buchstaben sind nicht unterscheidbar. Jeder Lauf zählt als ein Wert, und Verhältnisse vergleichen alle Läufe einer Stufe mit allen einer anderen; innerhalb einer Messgröße ist die Wahrscheinlichkeit, auch nur einen Unterschied fälschlich anzuzeigen, höchstens { $wrong } (Holm).
levels-efficiency = Effizienz ist das Verhältnis zum Wert mit den wenigsten Hosts, geteilt durch das Verhältnis der Host-Anzahlen.
levels-unmatched = Ergebnisse ohne Gegenstück unter einer anderen Stufe: { $n }.
levels-plot = { $metric } über { $factor }
levels-plot-description = Median jeder Stufe mit seinem Intervall.
levels-plan = { $combinations } Kombinationen in { $blocks } Blöcken: { $turns } Messungen von je höchstens { $time }.
levels-plan-total = Insgesamt { $time }.
levels-plan-settling = Insgesamt { $time }, davon { $settle } Einschwingzeit, zuzüglich der Zeit der Befehle.
huge-pages-granted = Huge Pages wurden für jedes Working Set gewährt.
huge-pages-some = Huge Pages wurden nur für diese Working Sets gewährt: { $sizes }.
products-by = Matrixprodukte mit { $blas }
scaled-residual = skaliertes Residuum { $residual } (muss unter { $bound } bleiben)
copies-explanation = Die Werte sind Mediane. Bytes werden wie bei Copy von STREAM gezählt, Lesen und Schreiben; auf der Diagonale liegt beides im eigenen Speicher der Domäne.
copies-one-node = Die Topologie hat einen einzigen NUMA-Knoten: Abstände zwischen Knoten lassen sich nicht vergleichen.
cache-bandwidth-description = { $place }: pro Kern { $high } bei { $small }, { $low } bei { $large }
core-to-core-explanation = Zeit einer Übergabe, die Hälfte eines Umlaufs mit Compare-and-Swap. same-cache ist der Last-Level-Cache; auf der Diagonale stehen die beiden Threads eines Kerns.
loaded-latency-explanation = Höchste Bandbreite jeder Mischung und die Latenz bei Anteilen davon, zwischen gemessenen Punkten interpoliert. Gelesene und geschriebene Bytes zählen, auch die der Kette.
loaded-latency-description = { $mix }: von { $idle } ohne Last bis { $loaded } bei { $rate }
measurers-ratios = Die Verhältnisse sind die der Mediane.
perftest-rules = Nach den Regeln von perftest wird die letzte Nachricht nicht gemessen, die zwei langsamsten der übrigen zählen weder für den Median noch für den Mittelwert, und t_max ist der zweitgrößte Wert, nicht das Maximum. assays eigene Werte in den anderen Tabellen beziehen sich auf alle Nachrichten.
basis-memory-channels = { $n ->
    [one] { $n } Speicherkanal × { $rate } × { $width } (SMBIOS)
   *[other] { $n } Speicherkanäle × { $rate } × { $width } (SMBIOS)
}
basis-measured-peak = { $n ->
    [one] Multiply-Add-Spitzenleistung in doppelter Genauigkeit, { $set } auf { $n } Kern, in diesem Lauf gemessen
   *[other] Multiply-Add-Spitzenleistung in doppelter Genauigkeit, { $set } auf { $n } Kernen, in diesem Lauf gemessen
}
basis-link = Linkrate laut { $device }
basis-link-unnamed = Linkrate laut Gerät
basis-provisioned = bereitgestellte Leistung des Volumes
basis-data-sheet = Datenblatt: { $source }
rpeak-factors = { $n ->
    [one] { $n } Kern × { $flop }/Takt × { $clock } (Takt unter dieser Last gemessen)
   *[other] { $n } Kerne × { $flop }/Takt × { $clock } (Takt unter dieser Last gemessen)
}

network-items-say = CPU-Auslastung ist der ausgelastete Anteil aller CPUs, CPU-Zeit der Verbrauch der Übertragung, jeweils am lokalen / am entfernten Ende. Mediane; die Intervalle folgen.
network-retransmits-say = Neuübertragungen sind TCP-Segmente.
path-loopback = Loopback
network-loopback = Der gesamte Verkehr lief über Loopback innerhalb dieser Maschine: Die Ergebnisse beschreiben kein Netzwerk.
mpi-rule-best = ◀ kennzeichnet das beste Ergebnis einer Zeile; ×{ $ratio } ist das Verhältnis dazu
mpi-rule-overlap = ≈: die beiden Intervalle überlappen
mpi-rule-no-interval = ±?: zu wenige effektive Messwerte für ein Intervall
mpi-rule-latency = Die Latenz ist eine halbe Umlaufzeit.
mpi-rule-transport = Den Transport zwischen Hosts wählt die Bibliothek; innerhalb eines Hosts nutzen alle gemeinsamen Speicher.
mpi-no-such-pair = Diese Maschine hat keine zwei CPUs in diesen Abständen: { $distances }.
mpi-standard-abi = { $mpi }, Standard-ABI
ranks = { $ranks } Ranks
curve-goes = { $name } verläuft von { $low } bei { $small } bis { $high } bei { $large }.

storage-explanation = Die Latenz reicht vom Absenden bis zum Abschluss (Bedienzeit). Perzentile beziehen sich auf alle einzelnen I/Os.
storage-explanation-interval = ± ist die größere der beiden Halbbreiten des Konfidenzintervalls des Medians.
storage-explanation-generator = Generator: Rate des Lastgenerators ohne I/O, geteilt durch die erreichte Rate.
storage-explanation-due = Die Latenz ab Fälligkeit beginnt, wenn die I/O fällig war; so lange wartet ein Nutzer, und das zeigen Antwortzeitkurven.
storage-cached = Ein Teil dieser I/O lief durch den Seitencache: Sie misst ebenso sehr den Arbeitsspeicher wie den Massenspeicher.
storage-kind = { $pattern } { $size }, { $depth } in Bearbeitung
storage-target = Ziel: { $target }
storage-engine = Engine: { $engine }, { $reason }
steady-reached = { $test }: stationärer Zustand in Runde { $rounds } erreicht
steady-not-reached = { $test }: stationärer Zustand in { $rounds } Runden nicht erreicht
steady-spread = die letzten Runden unterscheiden sich um { $range } und ändern sich um { $slope }
goal-met = { $test }: { $goal } wird bei { $rate } eingehalten und ließ sich bei { $missed } nicht nachweisen; im Closed Loop wurden { $closed } erreicht.
goal-kept = eingehalten
goal-missed = verfehlt
goal-unclear = unklar
curve-knee = { $what }: { $knee }.
knee-unreported = die Latenz ab Fälligkeit ist nicht bekannt, daher gibt es keinen Knick
knee-between = der Knick liegt bei { $rate } ({ $low } bis { $high }): Dort ist der Median doppelt so hoch wie der eines unbelasteten Ziels, { $latency } ab Fälligkeit
knee-at = der Knick liegt bei { $rate }: Dort ist der Median doppelt so hoch wie der eines unbelasteten Ziels, { $latency } ab Fälligkeit
no-knee = kein Knick bis { $rate }: { $why }
knee-found = der Knick wurde gefunden
knee-too-few-points = für einen Knick braucht es mindestens fünf Punkte
knee-flat = die Latenz bleibt unter dem Doppelten der Latenz eines unbelasteten Ziels
knee-within-uncertainty = die Latenz steigt um nicht mehr als ihre Unsicherheit
knee-no-idle = schon die niedrigste Rate liegt jenseits davon
knee-erratic = die Latenz fällt bei steigender Rate auf weniger als ein Viertel, um mehr als ihre Unsicherheit: Aus dieser Kurve lässt es sich nicht sagen
response-description = Der Median der Latenz verläuft von { $low } bei { $few } bis { $high } bei { $many }; { $knee }.
engine-asked-for = so angefordert
engine-best = bevorzugte Engine, vom Kernel zugelassen
engine-best-of-refused = bevorzugte Engine; libaio wird verweigert
engine-refused = io_uring wird verweigert ({ $cause })
engine-both-refused = io_uring wird verweigert ({ $cause }), libaio ebenso ({ $other })
engine-refused-and-buffered = io_uring wird verweigert ({ $cause }), libaio blockiert im Seitencache
engine-contest = der Kernel weicht hier für io_uring womöglich auf Worker-Threads aus; von io_uring und libaio war diese Engine schneller, { $taken } gegenüber { $other }
engine-untried-contest = der Kernel weicht hier für io_uring womöglich auf Worker-Threads aus; wegen der Prüfung der Daten nicht ausprobiert

verdict-better = besser
verdict-worse = schlechter
verdict-equivalent = gleichwertig
verdict-cannot-tell = nicht entscheidbar
differ = { $what }: { $a } und { $b }
differ-load = { $what }: { $a } und { $b } lauffähige Tasks
differ-order = { $what }: Die eine Bedingung wurde { $a } gemessen, die andere { $b }, sodass jede Drift wie ein Unterschied aussieht; `assay run --switch` misst die Bedingungen abwechselnd
differ-unrecorded = { $what }: { $value }; die importierte Datei enthält es nicht
aspect-host = der Host
aspect-fingerprint = die Maschine (ihr Fingerabdruck)
aspect-processor = der Prozessor
aspect-microcode = der Mikrocode
aspect-kernel = der Kernel
aspect-governor = der Governor
aspect-setting = die Einstellung { $of }
aspect-version = die Version von assay
aspect-host-count = die Zahl der Hosts
aspect-loop = die Schleife von { $of }
aspect-engine = die Engine von { $of }
aspect-far-end = das entfernte Ende
aspect-congestion = die Überlastkontrolle
aspect-array-size = die Größe der Arrays
aspect-file-size = die Größe der Ziele
aspect-file-system = das Dateisystem
aspect-device = das Gerät
aspect-load = die Last vor den Läufen
aspect-steal = entzogene CPU-Zeit während der Läufe
aspect-order = die Zeit

learn-title = Leistung von { $subject }
learn-description = Gemessene Ergebnisse für { $subject }, mit der Methode und den Befehlen zum Reproduzieren.
learn-intro = { $n ->
    [one] { $subject } wurde mit { $tool } gemessen.
   *[other] { $subject } wurden mit { $tool } gemessen.
} Jeder Wert ist ein Median, sofern seine Spalte keine andere Kenngröße nennt; Intervalle stehen in einer eigenen Spalte.
learn-dates = Gemessen: { $dates }.
learn-workload = Workload
learn-linpack = High-Performance Linpack (HPL)
learn-rdma = RDMA-Latenz und -Bandbreite
learn-storage = { $tool } auf { $target }
learn-reads-writes = Lesen { $reads }, Schreiben { $writes }
learn-mixed = Lesen und Schreiben zusammen { $both }
learn-reads = Lesen { $reads }
learn-writes = Schreiben { $writes }
learn-per-domain = { $whole } ({ $part } pro { $domain })
learn-heading-send-latency = InfiniBand-Sendelatenz
learn-heading-mpi-latency = MPI-Latenz
learn-heading-mpi-bandwidth = MPI-Bandbreite
learn-heading-conditions = Gegenüberstellung
learn-heading-commands = Befehle zum Reproduzieren
learn-latency-of = Latenz [{ $unit }] ({ $mpi })
learn-bandwidth-in = Bandbreite ({ $unit })
learn-bandwidth-of = Bandbreite ({ $unit }) ({ $mpi })
learn-cpu-usage = CPU-Auslastung
learn-impossible = Diese Zahlen widersprechen einander und dürfen nicht verwendet werden: { $figures }.
learn-nothing = Für diese Seite gibt es kein Ergebnis.
column-verdict = Urteil
column-worst-host = schlechtester Host
column-worst-pair = schlechtestes Paar
column-worst = schlechtester Wert
distrust-above-limit = über der Grenze
distrust-one-sample = ein einziger Messwert
distrust-no-interval = zu wenige Messwerte
distrust-wide-interval = das Intervall ist ±{ $width }
distrust-wide = das Intervall ist breiter als ±{ $width }
distrust-wider-than-value = das Intervall ist breiter als der Wert
verdict-suspect = verdächtig: { $why }
verdict-noisy = verrauscht: { $why }
answer-doubted-one = { $first } ({ $why })
answer-doubted = { $some } von { $all } Werten sind zweifelhaft, als erster { $first } ({ $why })
answer-noisy = verrauscht: { $reasons }
answer-suspect = verdächtig: { $reasons }
answer-worse = { $n ->
   *[other] Schlechter als die anderen Hosts: { $hosts }
}
answer-omitted = nicht gemessen: { $benchmarks }
verdict-slow = langsam: unter der Hälfte der Grenze
verdict-is-slow = langsam
trust-sound = belastbar
trust-noisy = verrauscht
trust-suspect = verdächtig
answer-more = { $n } weitere: { $names }
answer-bandwidth = Speicherbandbreite, { $label }
answer-memory-latency = Speicherlatenz
answer-peak = Spitzenleistung { $label }
more-than = über { $value }
learn-not-measured = nicht gemessen: { $why }
learn-throughput-in = Durchsatz ({ $unit })
learn-test = { $what }, { $size }
learn-random-reads = { $share } wahlfreies Lesen
learn-random-writes = { $share } wahlfreies Schreiben
learn-sequential-reads = { $share } sequenzielles Lesen
learn-sequential-writes = { $share } sequenzielles Schreiben
learn-heading-quota = Servicelevel und Kontingent
learn-service-level = Servicelevel
learn-per-quota = { $unit } je { $quota }
learn-quota = Kontingent für den höchsten Durchsatz
learn-littles-law = Littles Gesetz: { $rate } × { $latency } mittlere Latenz = { $flight } I/Os in Bearbeitung.

heat-throughput = Durchsatz von jedem Host (Zeile) zu jedem (Spalte)
heat-round-trips = Umlaufzeiten von jedem Host (Zeile) zu jedem (Spalte)
heat-latency = Latenz von jedem Host (Zeile) zu jedem (Spalte)
heat-core-to-core = Latenz zwischen Kernen, nach der Nummer der ersten CPU jedes Kerns
heat-legend = je dunkler, desto weiter vom besten Wert: ·░▒▓█; * ist signifikant schlechter als die anderen Paare
heat-description = Von { $worst } ({ $from }) bis { $best } ({ $to }).
resource-cpus = alle CPUs
resource-one-cpu = CPU mit der höchsten Auslastung
resource-network = Netzwerk
answer-saturated = Der begrenzende Faktor kann ein Host selbst sein: { $hosts }
answer-finishers = Am weitesten auseinander, { $case }: { $first } war nach { $first_after } fertig, { $last } nach { $last_after }
details-hosts = Auslastung der Hosts
column-done-after = Zeit bis zum Ende
protocol-metric = { $metric } ({ $protocol })
