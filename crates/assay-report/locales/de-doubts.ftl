advice-more-time = mehr Zeit geben, zum Beispiel `--budget 10m` oder ein längeres `--for`
advice-tool-repeats = das Programm oder seine Optionen bestimmen die Zahl der Wiederholungen; mehr verlangen oder den Testfall mehrmals laufen lassen
advice-raw-output = die gespeicherte Rohausgabe ansehen
advice-kernel-log = die Kernelmeldungen mit `dmesg` ansehen, dann wiederholen
advice-check-address = die Adresse und die Route dorthin prüfen
luck-pages = Platzierung im Speicher
luck-connections = Satz von Verbindungen
luck-launch = Programmstart
depends-pages = das Ergebnis hängt davon ab, wo die Speicherseiten liegen; mit Huge Pages weniger, und mehr Zeit ergibt mehr Vorbereitungen
depends-connections = das Ergebnis hängt von der Verbindung ab: von den CPUs, die sie bedienen, und vom übrigen Verkehr auf ihrem Pfad; mehr Zeit ergibt mehr Verbindungen
depends-launch = das Ergebnis hängt vom Programmstart ab: davon, welchen Speicher und welche CPUs die Prozesse bekommen; mehr Zeit ergibt mehr Starts
doubt-no-interval = { $n ->
    [one] kein { $level }-Konfidenzintervall des Medians aus { $n } Messwert: Dafür braucht es { $needed } unabhängige
   *[other] kein { $level }-Konfidenzintervall des Medians aus { $n } Messwerten: Dafür braucht es { $needed } unabhängige
}
doubt-no-interval-worth = { $n ->
    [one] kein { $level }-Konfidenzintervall des Medians aus { $n } Messwert, effektiv { $worth }: Dafür braucht es { $needed } unabhängige
   *[other] kein { $level }-Konfidenzintervall des Medians aus { $n } Messwerten, effektiv { $worth }: Dafür braucht es { $needed } unabhängige
}
doubt-wider-than-value = das { $level }-Konfidenzintervall des Medians ist breiter als der Wert selbst; gefordert war ±{ $target } (n = { $n }, effektiv { $worth })
    .advice = { $first }, oder Störungen der Maschine abstellen: `assay doctor` zeigt sie
doubt-wide-interval = das { $level }-Konfidenzintervall des Medians reicht bis ±{ $width } statt der geforderten ±{ $target } (n = { $n }, effektiv { $worth })
    .advice = { $first }, oder Störungen der Maschine abstellen: `assay doctor` zeigt sie
doubt-one-preparation = alle Messwerte beruhen auf derselben Ausgangslage ({ $luck }) statt auf den geforderten { $asked }; das Intervall zeigt nicht, wie viel das ausmacht
doubt-few-preparations = { $had ->
    [one] die Zeit reichte für { $had } Vorbereitung statt der geforderten { $asked }
   *[other] die Zeit reichte für { $had } Vorbereitungen statt der geforderten { $asked }
}
doubt-preparations-differ = { $share } der Varianz liegt zwischen den { $preparations } Vorbereitungen: { $n } Messwerte entsprechen { $worth } unabhängigen
doubt-autocorrelated = aufeinanderfolgende Messwerte sind korreliert: { $n } Messwerte entsprechen { $worth } unabhängigen
    .advice = etwas, das langsamer ist als eine Wiederholung, beeinflusst das Ergebnis: Taktfrequenz, Temperatur, ein anderer Prozess; `assay doctor` listet seine Befunde auf
doubt-warm-up-discarded = { $discarded } von { $all } Messwerten weichen von den folgenden ab und wurden als Aufwärmphase verworfen
    .advice = das Ergebnis stammt aus dem, was danach kam; gespeichert sind alle Messwerte in der Reihenfolge der Messung
doubt-several-modes = die Messwerte zerfallen in Gruppen: { $few } bei { $low } und { $many } bei { $high }; keine einzelne Zahl beschreibt beide
    .advice = die Ursache des Wechsels finden: Platzierung der Seiten, Taktfrequenz, ein anderer Prozess; die Messwerte sind in der Reihenfolge der Messung gespeichert
doubt-samples-not-finite = { $refused } von { $all } Messwerten sind nicht endlich und zählen nicht
    .advice = das Messprogramm hat durch eine Zeit von null geteilt oder keine Zahl ausgegeben; die Rohausgabe ansehen
doubt-not-a-value = { $figure } kann kein Messwert von { $metric } sein
    .advice = die Messung hat nichts getan, oder ihre Ausgabe wurde falsch gelesen; die Rohausgabe ansehen
doubt-out-of-order = { $law } ist verletzt: { $less } > { $more }
    .advice = diese Zahlen können nicht aus einer Stichprobe stammen; nicht verwenden
order-low-median = untere Intervallgrenze ≤ Median
order-median-high = Median ≤ obere Intervallgrenze
doubt-above-limit = der Median liegt bei { $share } der Grenze, { $limit } ({ $basis })
    .advice = gemessen wurde der Cache, oder Einheit oder Grenze sind falsch: die Größe, die Einheit und die Herkunft der Grenze prüfen
doubt-no-rpeak = kein Rpeak: Die beste Rate entspricht { $rate } FLOP pro Takt bei der gemessenen Frequenz, und das passt zu keinem Kern
    .advice = etwas anderes hat diese CPUs benutzt: Steal-Zeit und CPU-Pressure (PSI) prüfen und erneut messen
advice-limit-contended = etwas anderes hat diese CPUs benutzt: Steal-Zeit und CPU-Pressure (PSI) prüfen und erneut messen
doubt-unknown-metric = { $case } enthält Messwerte von `{ $metric }`, einer Messgröße, die diese Version nicht kennt
    .advice = den Lauf mit der Version von assay lesen, die ihn erzeugt hat
doubt-cache-assisted = Arrays von { $size } sind nur { $multiple }-mal so groß wie die Last-Level-Caches; ein Teil der Zugriffe hat den Speicher daher nie erreicht
    .advice = Arrays verwenden, die mindestens { $needed }-mal so groß sind wie die Caches, oder Speicher freigeben
doubt-idle-latency-differs = ohne Verkehr braucht die Kette { $idle } je Ladezugriff, die Speicherlatenz desselben Working Sets ist aber { $latency }
    .advice = andere Last oder andere Seiten: die Huge Pages beider prüfen, dann beide erneut messen
doubt-traffic-above-stream = der Verkehr von { $traffic } liegt über jeder Rate von STREAM, { $stream }
    .advice = der Verkehr kam aus einem Cache, oder STREAM lief langsamer: beide auf einer unbelasteten Maschine erneut messen
doubt-cache-ends-early = Ladezugriffe verlassen den L{ $level }-Cache bei Working Sets über { $end }, der Kernel meldet aber { $size }
    .advice = ein Gast hat nur einen Teil des Caches, oder andere CPUs benutzen ihn: das Ende der Kurve entnehmen
doubt-hand-over-below-load = eine Übergabe dauerte { $time }, weniger als der kürzeste Ladezugriff, { $load }
    .advice = die virtuellen CPUs oder ihre Uhr sind nicht, was sie scheinen: Steal-Zeit und Zeitquelle prüfen, dann erneut messen
doubt-steal = der Hypervisor entzog { $stolen } CPU-Zeit ({ $share }) innerhalb von { $span }
    .advice = zu einer ruhigeren Zeit wiederholen, oder auf einer Maschine, die ihre CPUs nicht mit anderen teilt
doubt-cpu-pressure = in { $share } der Zeit wartete mindestens ein Task auf eine CPU
    .advice = andere Programme beenden, oder mit weniger Threads messen, als es CPUs gibt
doubt-memory-pressure = in { $share } der Zeit wartete mindestens ein Task auf Speicher
    .advice = kleinere Arrays verwenden, oder vor dem Lauf Speicher freigeben
doubt-throttled = { $n ->
    [one] die Control Group hat ihr CPU-Kontingent innerhalb von { $span } { $n } Mal ausgeschöpft
   *[other] die Control Group hat ihr CPU-Kontingent innerhalb von { $span } { $n } Mal ausgeschöpft
}
    .advice = die CPU-Grenze des Containers oder Dienstes anheben, oder nicht mehr Threads verwenden, als sie zulässt
doubt-frequency-drop = die höchste CPU-Frequenz fiel von { $before } vorher auf { $after } nachher ({ $change })
    .advice = Kühlung und Leistungsgrenzen prüfen; für den Vergleich zweier Maschinen die Frequenz festsetzen
doubt-other-load = schon vor der Messung betrug die Systemlast (Load Average) { $load }
    .advice = andere Programme beenden; auch eine eben beendete Messung zählt noch eine Minute lang mit
doubt-other-demand = andere Prozesse nutzten während der Messung { $cpus } von { $all } CPUs ({ $share })
    .advice = andere Programme beenden; `assay doctor load` nennt die aktivsten
doubt-another-assay = auf dieser Maschine misst noch ein weiteres assay; beide können einander stören
    .advice = warten, bis es fertig ist, und erneut messen
doubt-emulated-cpu = der Prozessor wird durch Software emuliert (QEMU ohne KVM): Die hier gemessenen Geschwindigkeiten gelten für keine echte Maschine
    .advice = mit diesen Werten nur prüfen, dass das Programm funktioniert, und auf echter Hardware oder unter KVM messen
doubt-suspended = die Maschine war während des Laufs { $time } lang im Ruhezustand
    .advice = erneut messen: In diesen Ergebnissen stecken Zeiten, in denen nicht gemessen wurde
doubt-paused = { $n ->
    [one] assay stand { $time } lang still, { $n } Mal: Es wurde angehalten oder bekam keine CPU
   *[other] assay stand { $time } lang still, { $n } Mal: Es wurde angehalten oder bekam keine CPU
}
    .advice = erneut messen: In diesen Ergebnissen stecken Zeiten, in denen nicht gemessen wurde
doubt-cpus-taken = { $n ->
    [one] assay konnte die CPU { $cpus } nicht mehr benutzen: Sie wurde abgeschaltet oder seinem Cpuset oder seiner Affinität entzogen
   *[other] assay konnte die CPUs { $cpus } nicht mehr benutzen: Sie wurden abgeschaltet oder seinem Cpuset oder seiner Affinität entzogen
}
    .advice = erneut messen: Threads, die für eine solche CPU bestimmt waren, teilten sich eine andere
doubt-clock-stepped = die Systemuhr wurde während des Laufs um { $step } verstellt
    .advice = Dauern und die Reihenfolge der Ereignisse stammen von einer monotonen Uhr und sind nicht betroffen; das Programm finden, das die Systemuhr stellt: `timedatectl`, `chronyc tracking`
doubt-over-budget = der Lauf dauerte { $elapsed } bei einem Budget von { $budget }: Feste Längen und erste Ergebnisse werden nicht gekürzt
    .advice = mehr Zeit geben (`--budget`), oder weniger Testfälle in einer Suite-Datei wählen
unsteady-too-few = es gab zu wenige Runden oder Runden ganz ohne I/O
unsteady-window = { $n ->
    [one] die letzte Runde ({ $n }) weicht noch um { $range } ab und ändert sich um { $slope }
   *[other] die letzten { $n } unterscheiden sich noch um { $range } und ändern sich um { $slope }
}
unsteady-drift = und ein Trend von { $drift } hält an
doubt-steady-state-not-reached = stationärer Zustand in { $rounds } Runden nicht erreicht: { $found }
    .advice = höchstens { $range } und { $slope } sind zulässig: vorher mehr schreiben (`--precondition`), längere Runden vorgeben (`--for`) oder herausfinden, was diesen Massenspeicher sonst noch benutzt
doubt-search-not-finished = Suche abgebrochen, geprüfte Raten: { $n }; zwischen { $keeps }, wo das Ziel erreicht wird, und { $misses } ist nichts bekannt
    .advice = bis zum Ende laufen lassen: Die höchste Rate, die das Ziel erreicht, kann höher sein
doubt-target-in-memory = { $path } liegt im Arbeitsspeicher ({ $kind }): Gemessen wird kein Speichergerät
    .advice = eine Datei, ein Verzeichnis oder ein Gerät des gemeinten Massenspeichers angeben
advice-page-cache = den Rest hat der Seitencache dieses Hosts: mit O_DIRECT messen oder mit mehr Daten, als in den Arbeitsspeicher passen, und Schreibvorgänge mit fsync beenden
advice-cache-below = den Rest hat etwas zwischen diesem Host und dem Gerät: nach einem Cache oder einer Komprimierung des Volumes und nach Löchern in der Datei suchen
doubt-cached-reads = mindestens { $share } der gelesenen Bytes kamen nicht von { $place }: Von dort kamen { $moved } von { $payload }
doubt-cached-writes = mindestens { $share } der geschriebenen Bytes kamen während der Messung nicht bei { $place } an: Angekommen sind { $moved } von { $payload }
doubt-card-traffic-more = { $device } übertrug das { $factor }-Fache der Nutzdaten, mehr, als Header erklären
    .advice = nach anderem Verkehr auf dem Gerät suchen (`ip -s link`) und nach Neuübertragungen (`nstat`)
doubt-card-traffic-less = { $device } übertrug nur das { $factor }-Fache der Nutzdaten
    .advice = den Rest übertrug ein anderes Gerät, oder der Treiber zählt nicht alles: die Route (`ip route get`) und `ethtool -S` prüfen
doubt-rpc-retransmits = vom NFS-Client von { $mount } erneut gesendete Aufrufe: { $n } von { $calls }
    .advice = der Server oder der Weg verlor Aufrufe oder antwortete zu spät: `nfsstat -c`, das Netzwerk und die Last des Servers prüfen
doubt-interrupt-bound = { $cpu } verbrachte { $share } der Zeit in Interrupts und hatte keine mehr übrig: Das begrenzte das Ergebnis
    .advice = die Interrupts auf mehr CPUs verteilen: mehr Warteschlangen (`ethtool -L`) oder Receive Packet Steering; mehr Datenströme helfen nur, wenn sie andere Warteschlangen erreichen
doubt-io-limit-reached = { $device } erreichte die Grenze der Control Group: { $reached } von { $limit }
    .advice = der Wert ist der der Grenze, nicht der des Geräts: um das Gerät zu messen, `io.max` oder `blkio.throttle` anheben
doubt-file-with-holes = { $path } ist { $size } groß, davon sind nur { $stored } belegt
    .advice = ein Loch zu lesen braucht keine I/O: einen Pfad angeben, unter dem assay eine Datei anlegt, oder diese zuerst vollständig beschreiben; oder aber das Dateisystem komprimiert
doubt-littles-law = { $flight } I/Os waren in Bearbeitung, aber Rate × Latenz ergibt { $product }: eine Abweichung von { $difference }
    .advice = Latenz oder Rate stimmt nicht; die mit dem Lauf gespeicherten Reihen ansehen
doubt-rate-missed = { $asked } wurden angefordert und { $reached } erreicht
    .advice = Massenspeicher, Warteschlangentiefe oder eine ausgelastete Maschine ist die Grenze: Die Latenz ab Fälligkeit wächst, solange der Test läuft; weniger anfordern oder die Warteschlangentiefe erhöhen
doubt-not-started = { $n } von { $due } fälligen Anforderungen hatten noch nicht begonnen, als die Zeit um war
    .advice = sie zählen mit ihrer bis dahin verstrichenen Wartezeit, sodass die Latenzen ab Fälligkeit mindestens so hoch sind wie ausgegeben; weniger anfordern oder, wo es sie gibt, die Warteschlangentiefe erhöhen
doubt-message-rate-missed = { $asked } Nachrichten je Sekunde wurden angefordert und { $reached } beantwortet: Die Rate wurde nicht erreicht
    .advice = auf der Verbindung ist immer nur eine Nachricht unterwegs, zwischen zweien liegt also mindestens eine Umlaufzeit; die Latenz zählt ab Fälligkeit und wächst, solange der Test läuft, auch die der nicht mehr gesendeten; weniger anfordern
doubt-generator-near = der Generator allein erreicht { $rate }, nur das { $factor }-Fache der gemessenen Rate
    .advice = ihm mehr Threads geben: Ein Teil der Latenz kann vom Generator selbst stammen
doubt-io-failed = { $operation } von { $size } Bytes ab Byte { $offset } des Ziels { $target } fehlgeschlagen: { $cause }
doubt-file-operation-failed = { $operation } von { $path } fehlgeschlagen: { $cause }
doubt-measured-once = { $by } misst einmal, ohne einen stationären Zustand zu suchen
    .advice = im selben Lauf zuerst assay messen lassen: Der stationäre Zustand, den es findet, gilt für beide
doubt-other-binding = die Ranks waren an die CPUs { $bound } gebunden statt an die geforderten { $asked }, je einer
    .advice = der Launcher oder seine Konfiguration bindet anders: Gemessen wurde nicht die genannte Platzierung
doubt-one-kernel = beide Hosts laufen auf einem Kernel: Die MPI-Bibliothek kann deren Speicher statt des Netzes benutzt haben
    .advice = einen Host nennen, der eine andere Maschine ist, oder der Bibliothek den gemeinsamen Speicher verbieten: `UCX_TLS=^shm`, `I_MPI_FABRICS=ofi`
doubt-unbound-ranks = { $unbound } von { $ranks } Ranks sind nicht an eine einzelne CPU gebunden, und { $moved } davon sind gewandert
    .advice = mit dem Launcher binden: `-bind-to core` (MPICH), `--bind-to core` (Open MPI), `I_MPI_PIN=1` (Intel MPI), `--cpu-bind=cores` (srun)
doubt-function-bypassed = die virtuelle Funktion { $function } übertrug { $share } dessen, was { $device } während des Tests übertrug
    .advice = der beschleunigte Netzwerkbetrieb ist eingerichtet, wird aber nicht genutzt: im Kernel-Log nach `Data path switched` suchen
rounded-at = {" "}bei { $at }
doubt-score-contradicted = die Wertung der Datei folgt nicht aus ihren Phasen: sie nennt { $printed }, die Phasen ergeben { $calculated }
    .advice = prüfen, ob Zeilen der Datei geändert wurden oder zu einem anderen Lauf gehören
doubt-rounded-output = das Programm gibt so wenige Nachkommastellen aus, dass { $metric } nur auf ±{ $share } genau bekannt ist{ $at }
    .advice = größere Nachrichten vergleichen, oder die Zahlen von assay, die nicht gerundet sind
doubt-option-contradicted = laut Optionen gilt für { $condition } { $option }, laut Messwerten { $figures }: Gespeichert ist, was die Messwerte ergeben
    .advice = prüfen, ob die Datei zu diesen Optionen gehört und das Programm bis zum Ende lief
doubt-process-cpu-only = `iperf3` nennt nur die CPU-Zeit seiner eigenen Prozesse: Die Softirqs des Empfangs sind nicht enthalten
    .advice = den vollständigen Aufwand zeigen die Werte von assay daneben
doubt-far-process-cpu-only = am entfernten Ende läuft `iperf3`, das nur die CPU-Zeit seines eigenen Prozesses nennt: Die Softirqs des Empfangs sind nicht enthalten
    .advice = um den vollständigen Aufwand zu erhalten, am entfernten Ende `assay iperf3 -s` starten
doubt-broke-off = der Testfall endete vor der Zeit: Das Ergebnis gilt für die Zeit bis dahin
    .advice = für das vollständige Ergebnis erneut messen
doubt-copy-unknown = ein `iperf3` vor { $version } am entfernten Ende kopiert empfangene Daten in jedem Fall, unabhängig von der Anforderung
    .advice = am entfernten Ende `assay iperf3 -s` starten
doubt-shared-server = der Server führte während { $share } dieses Tests auch andere aus (Anzahl: { $n }): Sie teilten sich mit ihm Verbindung und CPUs
    .advice = allein messen, oder den Server ohne `--clients` starten
doubt-other-thread-count = stream lief mit { $ran } Threads statt der geforderten { $asked }
    .advice = `stream.c` mit `-fopenmp` übersetzen und die OpenMP-Variablen von nichts anderem setzen lassen
doubt-smaller-arrays = die Arrays des Programms fassen { $held } statt der geforderten { $wanted }: das { $multiple }-Fache der Last-Level-Caches
    .advice = dem Programm größere Arrays geben; STREAM selbst verlangt das Vierfache der Caches
doubt-events-changed = die gespeicherten Ereignisse dieses Laufs wurden nach dem Schreiben verändert
    .advice = `assay verify RUN` nennt jede Stelle
doubt-events-lost = { $n ->
    [one] { $n } Ereignis dieses Laufs ist verloren: Der Bericht ist unvollständig
   *[other] { $n } Ereignisse dieses Laufs sind verloren: Der Bericht ist unvollständig
}
    .advice = `assay verify RUN` nennt jede Stelle
doubt-store-index = der Index { $path } lässt sich nicht schreiben: { $cause }
    .advice = verloren ist nichts: Läufe werden aus ihren Ereignissen aufgelistet, nur langsamer; das Verzeichnis beschreibbar machen

failure-no-samples = nichts gemessen: Der Testfall hat keine Messwerte
    .advice = die gespeicherte Rohausgabe ansehen
failure-no-finite-sample = nichts gemessen: Kein Messwert von { $metric } ist eine endliche Zahl
    .advice = die gespeicherte Rohausgabe ansehen
failure-icmp-has-no-streams = ICMP überträgt keine Datenströme
    .advice = `latency` anfordern
failure-no-echo = der Host antwortet nicht auf ICMP-Echo
    .advice = er oder eine Firewall ignoriert womöglich ICMP; `assay net latency` fragt über TCP oder UDP
failure-residual-too-large = die Lösung ist falsch: Ihr skaliertes Residuum beträgt { $residual } und muss unter { $bound } liegen
    .advice = einmal wiederholen; schlägt es wieder fehl, den Speicher und die Takteinstellungen dieser Maschine prüfen
failure-unknown-instruction-set = einen Befehlssatz `{ $name }` gibt es nicht
    .advice = der Plan stammt von einer anderen Version von assay; neu erstellen
failure-skipped = übersprungen: { $lack }
    .advice = siehe den Testfall, bei dem es sich zeigte: Seine Fehlermeldung nennt die Abhilfe
lack-address = der Host { $host } wurde nicht gefunden
lack-port = Port { $port } von { $host } war nicht erreichbar
lack-echo = auf { $host } antwortet nichts auf Ping-Pong
lack-connection = zu { $host } kam keine Verbindung zustande
failure-tool-cannot-search = { $by } misst eine vorgegebene Rate und sucht keine
    .advice = assay suchen lassen und dem Programm das Ergebnis als `--rate` geben
failure-curve-without-maximum = die Höchstrate dieser Kurve ist nicht bekannt
    .advice = der Testfall davor ist fehlgeschlagen: zuerst dessen Grund ansehen
no-io-done = es fand keine I/O statt
failure-no-rate-keeps-goal = für keine Rate ließ sich nachweisen, dass sie { $goal } einhält: { $last }
    .advice = mehr Latenz zulassen, oder jedem Schritt mehr Zeit geben (`--for`): Ein Perzentil braucht viele I/Os
rate-tried = { $asked } angefordert, { $reached } erreicht, { $late } der I/Os verspätet: { $verdict }
failure-io-failed = { $n ->
    [one] { $n } I/O ist fehlgeschlagen: { $operation } ab Byte { $offset } von { $target }
   *[other] { $n } I/Os sind fehlgeschlagen, zuerst: { $operation } ab Byte { $offset } von { $target }
}
failure-file-operation-failed = { $n ->
    [one] { $n } Operation ist fehlgeschlagen: { $operation } von { $path }
   *[other] { $n } Operationen sind fehlgeschlagen, zuerst: { $operation } von { $path }
}
failure-no-io = in der Zeit, die zählt, wurde keine I/O abgeschlossen
    .advice = mehr Zeit geben mit `--for` oder `--budget`
failure-unknown-host = der Host { $host } ist nicht bekannt
    .advice = den Namen prüfen oder eine Adresse angeben
failure-no-address = der Host { $host } hat keine Adresse der verlangten Familie
    .advice = `-4` oder `-6` weglassen
failure-no-interface = die Link-Local-Adresse { $host } nennt keine Schnittstelle dieses Hosts
    .advice = die Schnittstelle angeben, die zu ihr führt: { $addresses }
failure-not-connected = keine Verbindung zu { $address }
advice-refused = dort wartet kein Server auf Verbindungen: auf diesem Host einen Server starten (`assay iperf3 -s -B ADDRESS` oder `iperf3 -s` für Datenströme, `qperf` für Ping-Pong) oder dessen Port angeben
advice-refused-connections = dort wartet kein Server auf Verbindungen: auf diesem Host `assay iperf3 -s -B ADDRESS` starten oder dessen Port angeben
advice-timed-out = eine Firewall zwischen den beiden Hosts verwirft womöglich die Pakete: den Port öffnen oder einen anderen angeben
failure-no-ping-pong = auf { $host } antwortet nichts auf Ping-Pong
    .advice = ein `iperf3`-Server allein tut es nicht: dort `qperf` neben `iperf3 -s` starten, oder `assay iperf3 -s`, das beides bedient; ICMP-Echo braucht weder das eine noch das andere
failure-stalled = zwischen hier und { $peer } werden seit { $time } keine Daten mehr übertragen
    .advice = die Strecke ist unterbrochen, eine Firewall hat die Verbindungen vergessen, oder das andere Ende hängt
failure-peer-busy = { $peer } führt gerade einen anderen Test aus oder weist diesen Client ab
    .advice = warten, bis der laufende Test beendet ist, oder einen anderen Port angeben
failure-peer-stopped = { $peer } hat den Test beendet
    .advice = er wurde dort angehalten, so wie Datenströme, die eine Leitung nur belasten, während etwas anderes gemessen wird
failure-no-data = es kamen keine Daten an
    .advice = eine Firewall lässt womöglich die Steuerverbindung durch, die Daten aber nicht
failure-wrong-contents = Nachrichten von { $size } kamen mit falschem Inhalt an
    .advice = die Bibliothek oder das Netzwerk beschädigt Daten: beide prüfen
failure-rank-died = ein Rank ist abgestürzt: { $how }
    .advice = wenn ihn niemand beendet hat, war es der Kernel aus Speichermangel (`dmesg` zeigt es), oder die Bibliothek ist gescheitert; { $see }
launcher-ended = der Launcher endete mit Code { $code }
launcher-killed = der Launcher wurde durch ein Signal beendet
launcher-said = { $how }; seine Meldung: { $words }
launcher-executable = prüfen, ob sich { $launcher } ausführen lässt
failure-no-outcome-here = der erste Rank hat auf diesem Host nichts geschrieben
    .advice = er muss auf dem Host laufen, auf dem assay gestartet wurde: diesen Host als ersten in der Liste nennen
failure-no-outcome = der Start endete erfolgreich, aber der erste Rank hat nichts geschrieben
    .advice = er muss auf dem Host laufen, auf dem assay gestartet wurde: diesen Host als ersten in der Liste nennen
failure-other-version = die Ranks sind assay { $found }, dieses hier ist { $own }
    .advice = auf allen Hosts dieselbe Version von assay installieren
failure-other-rank-count = { $found } Ranks nahmen teil statt der geforderten { $asked }
failure-launch-broke-off = der Start endete, bevor alle Größen gemessen waren
see-by-hand = die Ausgabe ansehen (auch mit dem Lauf gespeichert): { $command }
area-threads = erneut messen: Eine CPU kann abgeschaltet oder aus dem cpuset genommen worden sein, oder das System verweigert weitere Threads (`ulimit -u`, `pids.max`)
area-stream = kleinere Arrays (`--bytes`) brauchen weniger Speicher; falscher Inhalt bedeutet einen defekten Speicher oder eine übertaktete Maschine
area-latency = ein kleineres Working Set wählen (`to` in einer Suite-Datei), und siehe `assay doctor`
area-peak-flops = `assay doctor` zeigt, was auf diesen CPUs sonst noch läuft; eine falsche Summe bedeutet einen defekten Prozessor
area-linpack = mit `--n` oder `--memory` ein kleineres Gleichungssystem wählen
area-blas = die Bibliothek installieren (Debian: `libopenblas0-pthread`, `libblis4-pthread`) oder ihren vollen Pfad angeben
area-generator = der Generator allein sollte überall laufen: bitte melden
area-icmp = `sysctl net.ipv4.ping_group_range="0 2147483647"` erlaubt allen das Pingen; oder als root ausführen
area-rdma = `rdma link` listet die RDMA-Geräte und ihren Zustand auf; mehr dazu steht in `assay help rdma`
area-launcher = prüfen, ob sich der Launcher ausführen lässt
area-process = den aufgezeichneten Befehl von Hand ausführen, um den Fehler zu sehen
area-tool = die gespeicherte Rohausgabe ansehen; ist es eine Version des Programms, die assay nicht kennt, bitte mit dieser Ausgabe melden
area-temporary-folder = im Verzeichnis für temporäre Dateien Platz schaffen
area-host = siehe die Warnung zu diesem Host
area-own-program = assay über seinen Pfad starten, aus einem Verzeichnis, das noch existiert

missing-host = kein zweiter Host angegeben
    .advice = einen mit `--to HOST` angeben
missing-target = weder Datei noch Verzeichnis noch Gerät angegeben
    .advice = eines mit `--target` angeben; in einem Verzeichnis wird eine Datei angelegt und wieder entfernt
missing-mpi = kein MPI gefunden
    .advice = eines installieren oder dessen Installationspfad mit `--mpi` angeben; `assay doctor` listet die installierten auf
missing-domain = diese Maschine hat keine solchen Domänen oder verbirgt sie
    .advice = `assay doctor` zeigt ihre Topologie
missing-cores = es sind mehr Threads oder Ranks verlangt, als es Kerne gibt
    .advice = weniger verlangen oder die Zahl weglassen
missing-memory = zu wenig Speicher
    .advice = Speicher freigeben
missing-known-memory = die Größe des nutzbaren Speichers ist unbekannt
    .advice = /proc/meminfo hier lesbar machen oder den Speicher der Control Group begrenzen
missing-tool = das Programm wurde nicht gefunden
    .advice = `assay help tools` listet die Programme auf
missing-library = die Bibliothek, die es benutzen soll, wurde nicht gefunden
    .advice = die Bibliothek installieren oder aus der Suite nehmen
missing-rdma-device = kein RDMA-Gerät gefunden
    .advice = den Treiber der Netzwerkkarte laden (`rdma link` zeigt die Geräte), oder RoCE in Software einrichten: `rdma link add rxe0 type rxe netdev eth0`
missing-time = das Zeitbudget des Laufs war vorher zu Ende
    .advice = mit `--budget` mehr Zeit geben oder weniger auf einmal messen
doubt-worse-than-pairs = { $from } nach { $to } ist schlechter als die anderen Paare: { $value } gegen einen Median von { $median } über { $pairs } Paare ({ $change }); der Unterschied ist statistisch signifikant
    .advice = mit den Paaren vergleichen, die einen der beiden Hosts gemeinsam haben: Liegt es an einem Host oder am Pfad zwischen beiden? `assay doctor --to HOST` untersucht den Pfad
doubt-worse-than-peers = { $host } ist schlechter als die anderen: { $value } gegen einen Median von { $median } über { $hosts } Hosts ({ $change }); der Unterschied ist statistisch signifikant
    .advice = `assay doctor --hosts` zeigt, worin er sich unterscheidet; ihn weglassen oder prüfen lassen
doubt-host-saturated = { $host } war bis an seine Grenze ausgelastet: { $resource } mit { $share }; das Ergebnis kann die Grenze dieses Hosts sein
    .advice = mehr oder größere Hosts nehmen, damit jeder weniger zu tun hat
