# What commands say beside the reports of runs: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = Läufe
list-results-title = Ergebnisse
list-empty = Es gibt noch keine Läufe.
list-no-match = Kein Lauf passt zum Filter; gespeicherte Läufe: { $n }.
list-unreadable = Nicht lesbar
list-unreadable-advice = entfernen mit `assay rm { $id }`
column-run = Lauf
column-label = Label
column-suite = Suite
column-state = Zustand
column-cases = Testfälle
column-host = Host
column-hosts = Hosts
column-values = Werte
state-damaged = beschädigt
state-noisy = verrauscht
state-suspect = verdächtig
state-complete = vollständig
state-failed = fehlgeschlagen
state-partial = teilweise
state-interrupted = unterbrochen
state-running = läuft
state-killed = abgebrochen
known-machine = { $what }: { $own }, veröffentlicht zu { $system }: { $published }; vollständiger Vergleich: `assay compare latest SYSTEM`
written-beside = außerdem geschrieben: { $files }
next-stored = Gespeichert als { $run }. Weiter:
next-show = der vollständige Bericht
next-page = eine Seite mit Diagrammen
next-doctor = ist diese Maschine zum Messen eingerichtet?
next-volume = Antwortzeitkurven mit ihrem Knick
next-network = Durchsatz, Umlaufzeiten, CPU an beiden Enden
next-mpi = alle MPI-Implementierungen dieser Maschine nebeneinander
next-memory = alle NUMA-Knoten, Caches und Kernzahlen
next-compare = im Vergleich mit dem vorherigen Lauf: besser, schlechter oder gleichwertig
progress-done = { $case } fertig
progress-done-with = { $case } fertig: { $value }
progress-failed = { $case } fehlgeschlagen: { $why }
progress-failed-on = { $case } auf { $host } fehlgeschlagen: { $why }
progress-warning = Warnung: { $what }
progress-help = Rat: { $what }
progress-left = noch { $time }
progress-over = { $time } über Plan
progress-late = { $late } über Plan, dann { $left }
progress-cpu = { $share } CPU
progress-finishing = Abschluss
progress-looking = Maschine wird untersucht
progress-files = Dateien werden gelesen
progress-runs = gespeicherte Läufe werden gelesen
progress-pages = Seiten werden gelesen
progress-hosts-sought = Hosts werden gesucht
progress-waiting-for = wartet auf { $host }
progress-waiting = { $n ->
    [one] wartet auf { $n } Host
   *[other] wartet auf { $n } Hosts
}
hosts-measuring = { $n ->
    [one] { $n } Host
   *[other] { $n } Hosts
}
host-examined = { $done } von { $all }: { $host }: untersucht
host-no-answer = { $done } von { $all }: { $host }: keine Antwort
slurm-waiting = wartet auf Knoten von Slurm
slurm-gave = Slurm hat { $nodes } zugeteilt, Job { $job }
imported-measurements = { $n ->
    [one] { $n } Messung
   *[other] { $n } Messungen
}
list-no-result = Kein Lauf hat ein Ergebnis.
list-without-result = { $n ->
    [one] { $n } Lauf endete ohne Ergebnis: `assay list --all` zeigt ihn, `assay prune --failed` entfernt ihn.
   *[other] { $n } Läufe endeten ohne Ergebnis: `assay list --all` zeigt sie, `assay prune --failed` entfernt sie.
}

## The history of a result
history-changes = Änderungen des Niveaus
history-around = Änderungen der Umgebung
history-too-few-runs = Zu wenige Läufe für eine Aussage, ob sich das Niveau geändert hat: { $needed } sind nötig, vorhanden sind { $n }.
history-unchanged = Es wurde keine Änderung des Niveaus gefunden.
history-unchanged-within = Es wurde keine Änderung des Niveaus gefunden. Ein Sprung um den Faktor { $factor } oder mehr in der Mitte dieser Läufe wäre gefunden worden.
history-other-conditions = Dasselbe Ergebnis unter anderen Bedingungen
history-select-condition = `--label` und `--where` wählen eine dieser Bedingungen.
history-one-run = Ein Lauf zeigt keine Änderung: Sein Niveau wird mit dem späterer verglichen.
history-over-n = N ist von Lauf zu Lauf verschieden: assay wählt es nach Zeit und Speicher, und Rmax wächst mit N. `--where n=…` zeigt ein einzelnes.
history-runs = Läufe
history-level = Niveau
history-span = { $n }, { $first } bis { $last }
history-newest = neueste
history-other-results = andere Ergebnisse
history-others = { $n } dieser Messgröße, mit `--where` zu unterscheiden
history-explanation = Eine Änderung wird durch { $method } mit { $permutations } Permutationen gefunden (Startwert { $seed }): Höchstens { $risk } davon trennen die Läufe ebenso deutlich, und die Änderung übersteigt { $margin }. Unterschiede zwischen zwei Änderungen gelten als Zufall.
history-plot = { $metric } über den Läufen
history-changed = Änderungen des Niveaus: { $n }.
history-drawn = Ein Punkt je Lauf, in der Reihenfolge der Starts; die Linie ist das Niveau.
column-condition = Bedingung
column-from-run = ab Lauf
column-since = seit
column-before = vorher
column-after = nachher
column-ratio = Verhältnis
column-which-is = Bewertung
column-same-time = zugleich
column-started = begonnen
history-surroundings = Umgebung geändert

## Two conditions side by side
compare-one-run = Lauf { $run }
compare-runs = { $n } Läufe, { $which }
from-to = { $first } bis { $last }
compare-result = Verglichen mit { $a } ist { $b }: { $reported }.
compare-suspect = Verdächtig: { $n } von { $all } Läufen. Der erste, weil: { $why }
compare-with-neighbour = Jeder Lauf zählt als ein Wert und wird mit seinem zeitlichen Nachbarn verglichen.
compare-with-looks = Jeder Lauf zählt als ein Wert und wird mit seinem zeitlichen Nachbarn verglichen. Die Zwischenauswertungen nach jedem Block teilen sich die Irrtumswahrscheinlichkeit, sodass das Intervall gilt, nach welcher von ihnen auch immer die Messung endet.
compare-with-all = Jeder Lauf zählt als ein Wert und wird mit allen der anderen Bedingung verglichen.
compare-explanation = Besser, schlechter: Das Verhältnis weicht um mehr als { $margin } von eins ab, und nicht zufällig unter { $tested } geprüften Messgrößen (höchstens { $wrong } solcher Urteile sind falsch). Gleichwertig: Das ganze Konfidenzintervall liegt innerhalb von { $margin }. Nicht entscheidbar: Keines von beiden ließ sich zeigen; die Zahl in Klammern gibt an, wie viele Läufe je Bedingung etwa genügen würden.
compare-floor = Grundrauschen: das Intervall des Verhältnisses zwischen Läufen derselben Bedingung.
forest-title = Verhältnisse von { $b } zu { $a }
forest-description = { $shown } von { $all } entscheidenden Messgrößen; die Linien sind Konfidenzintervalle, schattiert ist der Bereich von { $margin } um Gleichheit.
compare-nothing = Unter beiden Bedingungen wurde nichts gemessen.
gates-title = Schwellenwerte
column-gate = Schwellenwert
column-outcome = Ergebnis
gate-passed = eingehalten
gate-failed = verletzt
gates-others = (und { $n } weitere)
compare-differences = Weitere Unterschiede
compare-unmatched = Nur unter einer Bedingung gemessen
compare-control = Kontrolle
compare-one-each = Je ein Lauf entscheidet nichts: Etwa { $n } Läufe je Bedingung sind nötig.
run-table-empty = Die Läufe haben keine Ergebnisse.
run-table-explanation = Unterschiede zum ersten Lauf sind Verhältnisse der Mediane, ohne Urteil. Hervorgehoben: um { $margin } oder mehr schlechter. `assay compare` urteilt anhand der Intervalle.
compare-needs = { $n } Läufe
compare-alone = { $what }: nur { $side }
compare-nearest = Am nächsten liegt { $what }: { $a } in { $first }, { $b } in { $second }.
compare-no-condition = keine solche Bedingung
column-floor = Grundrauschen
items-goodput = Nutzdatenrate
items-cpu-is = CPU ist der ausgelastete Anteil aller CPUs am lokalen / am entfernten Ende während der Messung.
attribute-not = ohne { $what }
attribute-in-flight = { $n } in Bearbeitung
attribute-reads = Leseanteil { $share }
attribute-passes = Durchgänge vorab: { $n }

## What results are told apart by
dimension-host = Host
dimension-peer = Gegenstelle
dimension-to = Zielhost
dimension-placement = Platzierung
dimension-source = Quelle
dimension-distance = Abstand
dimension-concurrent = gleichzeitig
dimension-end = Ende
dimension-test = Test
dimension-program = Programm
dimension-phase = Phase
dimension-loops = Schleifen
dimension-operation = Operation
dimension-files = Dateien
dimension-file-bytes = Dateigröße
dimension-levels = Ebenen
dimension-direction = Richtung
dimension-bytes = Größe
dimension-bytes-per-array = Arraygröße
dimension-n = N
dimension-cpu = CPU
dimension-instruction-set = Befehlssatz
dimension-mpi = MPI
dimension-prefix = Installationspfad
dimension-abi = ABI
dimension-ranks = Ranks
dimension-preset = Methode
dimension-hosts = Hosts
dimension-hostfile = Hostdatei
dimension-threads = Threads
dimension-connection = Verbindung
dimension-asked-device = Gerät
dimension-asked-gid-index = GID-Index
dimension-asked-path-mtu-bytes = Pfad-MTU
dimension-service-level = Servicelevel
dimension-streams = Datenströme
dimension-depth = Warteschlangentiefe
dimension-read-share = Leseanteil
dimension-pause-s = Pause
dimension-pattern = Zugriffsmuster
dimension-target = Ziel
dimension-page-cache = Seitencache
dimension-precondition-passes = Durchgänge zur Vorkonditionierung
dimension-goal = Latenzziel
dimension-point = Punkt
dimension-percent-of-max = Anteil am Maximum
dimension-step = Schritt
dimension-requested-rate = angeforderte Rate
dimension-copy = Kopie
dimension-seconds = Sekunden
dimension-rate-bit-per-s = Rate je Datenstrom
dimension-congestion = Überlastkontrolle
dimension-segmentation = Segmentierung im Kernel
dimension-waiting = Warten
dimension-load-streams = Lastströme
dimension-busy-poll-s = Busy Polling
dimension-messages-per-s = Nachrichten pro Sekunde
dimension-engine = Engine
dimension-stream = Datenstrom
dimension-target-index = Nummer des Ziels
dimension-member = Mitglied
dimension-stage = Abschnitt
dimension-stretch = Zeitabschnitt
dimension-buffers = Nachrichtenpuffer
dimension-timed = gemessene Operation

## The doctor
doctor-title = Konfiguration von { $host } für Messungen
doctor-counts = Prüfungen: { $all }; abweichend { $bad }, wie erwartet { $good }, hier nicht beobachtbar { $hidden }, nicht lesbar { $unread }.
doctor-no-change = Nichts wurde geändert. Über jede gezeigte Änderung entscheiden Sie selbst.
doctor-no-deviation = Keine Abweichungen gefunden.
doctor-deviations = Abweichungen
doctor-others = Die übrigen Prüfungen: `{ $command }`.
doctor-as-expected = Wie erwartet
doctor-hidden = Hier nicht beobachtbar
doctor-unreadable = Nicht lesbar
column-observed = beobachtet
column-expected = erwartet
column-reason = Grund
column-why = Begründung
column-change = Änderung
column-source = Quelle
column-check = Prüfung
severity-blocks = macht Messungen ungültig
severity-skews = verfälscht Messungen
severity-note = Hinweis
hosts-title = Konfiguration für Messungen, Hosts: { $n }
hosts-unreached = Hosts ohne Antwort: { $few } von { $n }.
hosts-heading = Hosts
hosts-without-answer = Hosts ohne Antwort
hosts-help = Rat
column-host-name = Hostname
column-invalidate = machen ungültig
column-skew = verfälschen
column-notes = Hinweise
column-clock-offset = Uhrenabweichung
hosts-table = Abweichungen nach ihrer Auswirkung auf Messungen
hosts-differ = Unterschiede
hosts-alike = Keine: Diese Hosts haben dieselbe Konfiguration.

## Plans
plan-title = Plan der Suite { $suite }
plan-nothing-run = Nichts wurde ausgeführt.
plan-turns = Läufe: { $runs }, jeder mit { $n } Testfällen in { $each }. Umschaltbefehle: { $commands }, danach jeweils { $settle } Einschwingzeit. Insgesamt { $time }, zuzüglich der Zeit der Befehle.
plan-cases-beyond = Testfälle: { $n }, mit einem Zeitbudget von { $time }.
plan-cases = Testfälle: { $n }, in höchstens { $time }.
column-resolved-to = gewählter Wert
column-stops-at = Abbruchkriterium
column-budget = Budget
plan-left-out = Ausgelassen: { $benchmark }, denn { $why }; { $advice }
plan-repetitions = { $n } × in { $preparations }
plan-cpus = { $n ->
    [one] CPU { $which }
   *[other] CPUs { $which }
}
plan-arrays = Arrays von { $size } ({ $times } × die Last-Level-Caches)
plan-to = zu { $to }
plan-this-machine = dieser Maschine über Loopback
plan-port = Port { $port }
plan-each = mit je { $rate }
plan-per-repetition = { $time } je Wiederholung
plan-own-congestion = die Überlastkontrolle des Systems
plan-there-and-back = Nachrichten von { $size } hin und zurück
plan-spinning = aktives Warten
plan-connection-each = für jede eine eigene Verbindung
plan-sleeping = passives Warten
plan-placed-by-launcher = vom Launcher platziert
plan-on-hosts = auf den Hosts { $hosts }
plan-one-on = einer davon auf { $host }
plan-on-hosts-of-file = auf den Hosts der Datei { $file }
plan-started-by = gestartet von { $launcher }
plan-messages-of = Nachrichten von { $size }
plan-messages = Nachrichten von { $low } bis { $high }
plan-sizes = { $low } bis { $high }, { $n } Größen
plan-preconditioned = { $n ->
    [one] vorkonditioniert: { $n }-mal vollständig geschrieben
   *[other] vorkonditioniert: { $n }-mal vollständig geschrieben
}
plan-rounds = in Runden bis zum stationären Zustand, höchstens { $n }
plan-search = dann die höchste Rate, die { $goal } einhält
plan-shares = danach { $shares } der höchsten Rate
plan-points-near-the-knee = danach Punkte nahe am Knick: { $n }
plan-near-the-knee = ein Anteil nahe am Knick
plan-directories = { $n ->
    [one] { $n } Verzeichnis
   *[other] { $n } Verzeichnisse
}
plan-io500-phases = { $n } Phasen
plan-io500-writes = { $n } Schreibphasen von je { $time }
plan-io500-invalid = ungültig für `IO500`, das { $least } verlangt
plan-files = { $files } Dateien von { $size }, { $directories }
plan-each-once = jede einmal, wiederholt
plan-in-order = der Reihe nach
plan-at-random = in zufälliger Reihenfolge
plan-read-checked = jedes Lesen wird geprüft
plan-write-checked = jedes Schreiben wird zurückgelesen und geprüft
plan-compressible = Daten zu { $share } komprimierbar
plan-operation = { $operation } { $pattern }
plan-of-the-rate = { $share } der Rate
plan-fsync-every = fsync alle { $n } Schreibvorgänge
plan-permutation = wahlfrei, jeder Block einmal
plan-strided = mit Schrittweite, Lücken von { $low } bis { $high }
plan-per-thread = je Thread
plan-in-parts = in Teilen
plan-to-the-end = bis zum Ende
plan-with-gaps = mit Lücken von { $size }
plan-partly-random = sequenziell, davon { $share } wahlfrei
plan-blocks = { $order } in Blöcken von { $size }
plan-blocks-every = { $order } in Blöcken von { $size } alle { $stride }
plan-no-target = keines: nur der Lastgenerator
plan-page-cache = über den Seitencache
plan-fsync-at-the-end = fsync am Ende
plan-closed-loop = Maximum (Closed Loop)
plan-in-given-shares = Closed Loop, in gegebenen Anteilen
plan-at-most = höchstens { $value }
plan-share-of = { $share } von: { $what }
plan-maximum-rate = die höchste Rate
plan-exponential-gaps = exponentialverteilte Abstände
plan-uniform-gaps = gleichverteilte Abstände
plan-constant-gaps = gleiche Abstände
days = { $n } d
hours = { $n } h
minutes = { $n } min
plan-pause = Pause { $time }
plan-warm-up = Aufwärmen { $time }
plan-until-done = bis zum Abschluss
storage-plan-title = Plan für Massenspeicher
column-phase = Phase
column-targets = Ziele
column-load = Last
column-time = Zeit
plan-phases = Phasen
plan-files-and-devices = Dateien und Geräte
plan-required-size = benötigte Größe
plan-maximum-in-flight = maximal in Bearbeitung
plan-until-the-work-is-done = bis zum Ende der Arbeit
plan-and-open-phases = { $n ->
    [one] { $time } und { $n } Phase bis zum Ende ihrer Arbeit
   *[other] { $time } und { $n } Phasen bis zum Ende ihrer Arbeit
}

## When cases stop
plan-stops-at = Testfälle enden bei { $stop }: wenn das Intervall so eng ist, nach mindestens so vielen Wiederholungen in so vielen Vorbereitungen, oder wenn ihr Zeitbudget verbraucht ist.
plan-stop-as-shown = den gezeigten Werten

## References
references-title = Veröffentlichte Werte
references-title-of = Veröffentlichte Werte: { $system }
at-least = mindestens { $value }
at-most = höchstens { $value }
best-of-many = Bestwert { $value }
mean-of-many = Mittel { $value }
calculated = berechnet { $value }
references-hint = `assay references SYSTEM` zeigt die Werte mit ihren Quellen; `assay compare RUN SYSTEM` und `assay run --expect SYSTEM` vergleichen Ergebnisse damit.
references-source = Quelle: { $source }
column-system = System
column-figures = Werte
column-figure = Wert
column-published = veröffentlicht
column-conditions = Bedingungen
held-title = Vergleich mit { $name }
column-you = Sie
column-you-share = Sie / Referenz
held-reached = erreicht
held-missed = verfehlt
held-count-missed = verfehlt: { $n } von { $all } Ergebnissen sind schlechter als die Werte von { $name }: { $which }
held-count-conflict = Quellen widersprechen sich: { $n } von { $all } Ergebnissen erreichen nur einige der Werte von { $name }: { $which }
held-count-undecided = nicht entscheidbar: { $n } von { $all } Ergebnissen sind schlechter als die Werte von { $name }, aber verdächtig oder ohne Intervall: { $which }
held-count-none = nicht entscheidbar: Kein Wert von { $name } gilt für diese Ergebnisse
held-explanation = Ein Ergebnis verfehlt einen Wert, wenn sein ganzes Intervall um mehr als die Toleranz ({ $tolerance }, wenn die Referenz nichts anderes sagt) schlechter ist. Ein verdächtiges Ergebnis und eines von assay ohne Intervall belegen kein Verfehlen. Bestwerte und zweifelhafte Werte werden gezeigt, entscheiden aber nichts.
references-nothing = keiner der Werte von { $name } wurde hier gemessen

## Stored runs held against what was written
verify-intact = unversehrt, Rohausgaben: { $n }
verify-lost = beschädigt, verlorene Ereignisse: { $n }

## The page itself
page-contents = Inhalt
page-language = Sprache
page-units = Einheiten
page-raw = Rohdaten
page-back = zurück zur ersten Zeile

## The site of all runs
site-pages = Seiten
site-histories = Verläufe
site-comparison = Läufe nebeneinander
site-machine = Maschinentyp
site-filters = Filter
site-search = Suche
site-any = alle
site-tick = vergleichen
site-tick-run = Lauf { $run } vergleichen
site-compare-ticked = Angekreuzte Läufe vergleichen: { $n }
site-newer = Neuere
site-older = Ältere
site-shown = { $first } bis { $last } von { $all }
site-no-match = Kein Lauf passt dazu.
site-needs-script = Die Liste der Läufe braucht JavaScript. Ohne JavaScript lassen sich die Seiten im Verzeichnis { $folder } öffnen.
site-no-choice = Zwei oder mehr Läufe in der Liste der Läufe ankreuzen, um sie nebeneinander zu sehen.
site-not-here = Der Lauf { $run } ist hier nicht enthalten.
site-ratios = Unter jedem Wert stehen sein Intervall und das Verhältnis seines Medians zu dem des ersten Laufs, mit dem Bereich, den die { $level }-Intervalle beider Mediane zulassen. Das ist kein Urteil, denn Läufe unterscheiden sich auch zufällig. Diese Befehle geben eines:
site-history-limit = Ein Verlauf hat höchstens die neuesten { $n } Läufe seines Hosts und ein Ergebnis je Messgröße; `assay history` liest alle Läufe und jedes Ergebnis.
site-running = { $time } min, { $n } von { $all } Testfällen beendet
site-live-lost = Der Server antwortet nicht. Die Seite zeigt seinen letzten Stand.
site-live-store = Die Läufe sind nicht lesbar: { $reason }. Die Seite zeigt ihren letzten Stand.
site-curves = Kurven
site-distributions = Verteilungen
site-percentile = Perzentil
site-host-map = Hosts dieser Läufe
site-host-map-legend = Je kräftiger die Farbe, desto weiter vom besten Wert der Spalte. Unter jedem Wert steht sein Anteil am besten.
site-labels = Urteile zwischen Labels
site-labels-limit = Urteile gibt es für die neuesten { $labels } Labels und höchstens { $pairs } Paare davon, jedes auf einem Host; `assay compare` beurteilt alle anderen.
site-verdict = Urteil: { $one } → { $two }
site-verdict-source = Jedes Urteil ist das dieses Befehls über alle Läufe beider Labels. Die Verhältnisse unter den Werten sind die der angekreuzten Läufe allein und kein Urteil:
site-pick = Zwei Punkte im Diagramm auswählen oder zwei Läufe in der Tabelle ankreuzen, um sie nebeneinander zu sehen.
site-written = geschrieben: { $page } (Läufe: { $runs }, geschriebene Dateien: { $written }, unverändert: { $kept }, entfernt: { $removed })
