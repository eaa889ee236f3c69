yes = ano
no = ne
on = zapnuto
off = vypnuto
unknown = neznámé
interval = interval
interval-of-level = interval { $level }
no-interval = žádný
no-value = bez hodnoty
full-stop = .
list-separator = {", "}
detail-separator = {", "}
fact-separator = {": "}
clause-separator = {"; "}
sentence-separator = {" "}
sentence-about = { $sentence } ({ $about }).
seed = počáteční hodnota { $seed }
and-more = a další: { $n }
on-more-hosts = { $n ->
    [one] … a na { $n } dalším hostiteli: { $hosts }
   *[other] … a na { $n } dalších hostitelích: { $hosts }
}
one-and-two = { $one } a { $two }
what-by = { $what }, nástroj { $by }
name-in = { $name } v { $place }
test-at = { $test } při { $share }
is-mean = { $value } (průměr)
per-second = { $rate } za sekundu
about = přibližně { $value }
threads = { $n ->
    [one] { $n } vlákno
    [few] { $n } vlákna
   *[other] { $n } vláken
}
cores = { $n ->
    [one] { $n } jádro
    [few] { $n } jádra
   *[other] { $n } jader
}
streams = { $n ->
    [one] { $n } datový tok
    [few] { $n } datové toky
   *[other] { $n } datových toků
}
under-load = pod zátěží { $n ->
    [one] { $n } datového toku
   *[other] { $n } datových toků
}
cpus = { $n } CPU
cpus-on-cores = { $cpus }, počet jader: { $cores }
cores-with-threads = { $cores }, { $threads }
arrays-of = pole o velikosti { $size }
all-at-once = všechny současně
each-alone = každá zvlášť
all-operations = všechny
end-local = místní konec
end-remote = vzdálený konec
end-other = konec { $end }
direction-send = odesílání
direction-receive = příjem
direction-both = oba směry
pattern-random = náhodný přístup
pattern-sequential = sekvenční přístup
operation-read = čtení
operation-write = zápis
no-copy = bez kopírování
segmentation = segmentace v jádře
from-due = { $what } od plánovaného začátku
working-set = pracovní množina
time-per-load = doba závislého načtení
beyond-caches = paměť
knee = koleno
rate-max = max.
up-to-the-knee = před kolenem
beyond-the-knee = za kolenem
provisioned = zřízený limit: { $limit }
limit-line = limit: { $limit }

heading-bandwidth = Propustnost paměti
heading-latency = Latence paměti
heading-compute = Výpočetní výkon
heading-network = Síť
heading-storage = Úložiště
heading-files = Stromy souborů
heading-programs = Programy
heading-copies = Kopie mezi doménami
heading-cache-bandwidth = Propustnost mezipamětí
heading-core-to-core = Latence mezi jádry
heading-loaded-latency = Latence paměti při zátěži
heading-other = Ostatní výsledky
heading-perftest = Latence podle pravidel perftestu
heading-measurers = Srovnání měřicích nástrojů
heading-warnings = Varování
heading-failures = Selhání
heading-omitted = Neměřeno
heading-method = Metoda
details-machine = Počítač
details-bandwidth = Všechny domény a počty jader
details-copies = Všechny dvojice domén
details-loaded-latency = Všechny body křivek
details-other-metrics = Další veličiny
table-bandwidth = Propustnost podle umístění
table-extremes = Mediány z domén téhož druhu
table-levels = Latence jednotlivých úrovní mezipaměti a paměti
table-compute = Špičkový výkon operací multiply-add a LINPACK
table-other = Výsledky všech ostatních benchmarků
table-programs = Časy, paměť a hodnoty programů
table-perftest = Tytéž zprávy podle pravidel perftestu
table-measurers = Mediány a jejich poměr
table-turns = Mediány a poměr mezi sousedními běhy, který není poměrem mediánů
table-all-runs = Mediány a poměr mezi běhy, každý s každým, který není poměrem mediánů
table-copies = Propustnost v { $unit } při kopírování do paměti domény jejími CPU (řádky) z paměti jiné domény (sloupce)
table-node-latency = Latence v { $unit } závislých načtení prvním CPU uzlu NUMA (řádky) v paměti každého uzlu (sloupce)
table-cache-bandwidth = Propustnost čtení každé úrovně mezipaměti a paměti
table-core-to-core = Latence řádku mezipaměti z jednoho jádra do druhého podle vzdálenosti, s dvojicemi nejnižší a nejvyšší latence
table-loaded-latency = Latence paměti podle propustnosti ostatního provozu
table-network-items = Užitečná propustnost a vytížení CPU
table-network = Veličiny sítě s intervaly
table-round-trips = Doby odezvy
table-mpi-libraries = Knihovny MPI a skutečné přidělení jejich ranků na CPU
table-storage = Rychlost operací, propustnost a latence
table-storage-pairs = Čtení a zápisy vedle sebe
table-storage-parameters = Parametry a vytížení CPU
table-storage-mixes = Čtení a zápisy smíšených zátěží, od odeslání po dokončení
table-storage-due = Latence od plánovaného začátku I/O
table-rounds = Kola testu { $test }
table-search = Kroky hledání testu { $test }
table-files = Rychlost a latence operací se soubory a adresáři
response-curve = Křivka odezvy testu { $name }
ladder-title = Latence podle pracovní množiny
scaling-title = { $metric } podle počtu jader
roofline-title = Model roofline
roofline-title-of = Model roofline: { $host }
roofline-measured = naměřeno
roofline-limits = limity
roofline-description = Kód s méně než { $ridge ->
    [one] { $ridge } operací
    [many] { $ridge } operace
   *[other] { $ridge } operacemi
} na bajt je omezen pamětí: nemůže překročit součin svého počtu operací na bajt a { $bandwidth }. Kód s více operacemi na bajt nemůže překročit { $peak }.
bars-linear = sloupce
bars-logarithmic = logaritmické sloupce
bars-legend = { $name } podle: { $axis }; { $bars } od { $low } do { $high }
axis-operations-per-byte = operací na bajt
axis-compute-rate = rychlost výpočtu
mpi-by-distance = { $metric ->
    [latency] Latence podle vzdálenosti dvojic, zprávy { $size }
   *[bandwidth] Propustnost podle vzdálenosti dvojic, zprávy { $size }
}
axis-cores = jádra
axis-message-size = velikost zprávy
axis-rate-reached = dosažená rychlost operací
axis-bandwidth-per-core = propustnost čtení na jádro
axis-traffic = propustnost veškerého provozu
axis-time-measured = čas měření
axis-share-at-most = podíl, který trvá nejvýše tuto dobu
timeline-of = Časový průběh: { $name }
timeline-payload = naměřeno
timeline-read = přečteno
timeline-written = zapsáno
timeline-received = přijato
timeline-sent = odesláno
timeline-busy = vytížení CPU
timeline-interrupts = přerušení
timeline-stolen = odebráno hypervizorem
timeline-cpu-pressure = úloha čeká na CPU
timeline-io-pressure = úloha čeká na I/O
timeline-share = podíl času
details-hardware = Hardwarové čítače
column-observed-clock = pozorovaná frekvence
column-instructions-per-cycle = instrukce na takt
column-memory-traffic = provoz paměti
column-traffic-of-work = provoz na započtený bajt
column-energy = energie
column-energy-efficiency = energetická účinnost
hardware-flop = { $flop } z { $peak } FLOP na pozorovaný takt a jádro, při pozorovaných { $clock }
hardware-flop-user = nejvýše { $flop } z { $peak } FLOP na pozorovaný takt a jádro, při pozorovaných { $clock } nebo více: takty v jádře systému se nepočítaly
hardware-write-allocate = Provoz paměti je to, co paměťové řadiče přenesly pro celý stroj. STREAM nepočítá write-allocate: zápis bez streamovací instrukce nejprve přečte svůj řádek, takže provoz přesahuje započtené bajty.
joules = { $value } J
joules-per-gigabyte = { $value } J/GB
gigaflop-per-joule = { $value } GFLOP/J
course-of-goodput = Užitečná propustnost v čase
course-of-cpu-load = Vytížení CPU v čase
course-goes = { $name }: { $low } až { $high }.
rounds-go = Rychlost se mění od { $first } v prvním kole po { $last } v posledním.
distribution-of-round-trips = Rozdělení dob odezvy
distribution-goes = { $name }: polovina trvá nejvýše { $median }, { $share } nejvýše { $most }.
axis-latency-from-due = latence od plánovaného začátku I/O

column-bandwidth = propustnost
column-block = blok
column-by = nástroj
column-case = případ
column-cpu-load = vytížení CPU
column-cpu-per-io = CPU na I/O
column-cpu-system = CPU (systém)
column-cpu-time = čas CPU
column-cpu-user = CPU (uživatel)
column-cpus = CPU
column-target-size = velikost cíle
column-depth = hloubka fronty
column-generator = generátor
column-goal = cíl
column-goodput = užitečná propustnost
column-highest = maximum
column-in = místo měření
column-in-flight = rozpracováno
column-item = test
column-kernel = výpočetní smyčka
column-late = opožděno
column-latency = latence
column-later-than-the-goal = později než cíl
column-level = úroveň
column-letters = písmena
column-efficiency = efektivita
column-library = knihovna
column-lowest = minimum
column-median = medián
column-median-from-due = medián od plánovaného začátku
column-middle = medián
column-note = pozn.
column-of-limit = podíl z limitu
column-of-link = podíl z rychlosti linky
column-of-peak = podíl ze špičkového výkonu
column-of-provisioned = podíl ze zřízeného limitu
column-of-rpeak = podíl z Rpeak
column-operation = operace
column-per-core = na jádro
column-pairs = dvojice
column-idle = bez zátěže
column-at-share = při { $share }
column-at-highest = při maximu
column-pause = pauza
column-place = místo
column-ranks-on-cpus = ranky na CPU
column-rate = rychlost operací
column-reached = dosaženo
column-reads = čtení
column-requested = požadováno
column-retransmits = opakované přenosy
column-round = kolo
column-service-median = medián doby obsluhy
column-size = velikost
column-test = test
column-threads = vlákna
column-transport = transport
column-value = hodnota
column-what = veličina
column-where = místo
column-writes = zápisy

machine-hardware = hardware
machine-system = systém
machine-settings = nastavení
machine-mitigations = ochranná opatření
machine-versions = verze
fact-processor = procesor
fact-vendor = výrobce
fact-family-model-stepping = rodina/model/stepping
fact-microcode = mikrokód
fact-nominal-frequency = jmenovitá frekvence
fact-maximum-frequency = maximální frekvence
fact-governor = regulátor
fact-boost = boost
fact-smt = SMT
fact-cpus = CPU
fact-caches = mezipaměti
fact-numa-nodes = uzly NUMA
fact-memory = paměť
fact-memory-modules = paměťové moduly
fact-huge-page = velká stránka
fact-distribution = distribuce
fact-kernel = jádro systému
fact-kernel-command-line = příkazový řádek jádra
fact-virtualisation = virtualizace
fact-product = produkt
fact-clock-source = zdroj hodin
fact-cpu-quota = kvóta CPU
fact-memory-limit-of-the-control-group = limit paměti řídicí skupiny
fact-fingerprint = otisk

suite = Sada { $suite }
suite-on-hosts = Sada { $suite } na { $hosts }
run-from-to = Běh { $run }, { $started } až { $finished }
run-from = Běh { $run }, zahájen { $started }
host-memory = { $size } paměti
host-kernel = jádro { $kernel }
host-guest = virtuální počítač pod { $hypervisor }
nothing-measured = Nic nebylo změřeno.
cases-failed = { $n ->
    [one] { $n } případ selhal
    [few] { $n } případy selhaly
   *[other] { $n } případů selhalo
}
cases-skipped = { $n ->
    [one] { $n } byl kvůli tomu vynechán
    [few] { $n } byly kvůli tomu vynechány
   *[other] { $n } bylo kvůli tomu vynecháno
}
status-failed = { $reported }; viz { $heading }.
failed-likewise = { $n ->
    [one] Stejně selhal { $n } další případ: { $cases }
    [few] Stejně selhaly { $n } další případy: { $cases }
   *[other] Stejně selhalo { $n } dalších případů: { $cases }
}
skipped-because = { $n ->
    [one] { $n } případ byl kvůli tomu vynechán: { $cases }
    [few] { $n } případy byly kvůli tomu vynechány: { $cases }
   *[other] { $n } případů bylo kvůli tomu vynecháno: { $cases }
}
reached = {" "}po { $finished } z { $planned } případů
status-partial = Běh je částečný: { $n ->
    [one] jeden hostitel chybí{ $hosts }
   *[other] někteří hostitelé chybějí{ $hosts }
}. Výsledky ostatních hostitelů platí.
status-interrupted = Běh byl přerušen{ $reached }; dokončené případy platí.
status-interrupted-at-once = Běh byl přerušen dříve, než skončil jeho první případ.
status-interrupted-late = Běh byl přerušen: každý případ byl změřen, některé s méně opakováními, než bylo v plánu.
status-unfinished = Běh nemá konec{ $reached }: assay bylo ukončeno násilím nebo ještě běží. Dokončené případy platí.
statistics = Hodnoty jsou mediány. Intervaly spolehlivosti vycházejí z pořádkových statistik a nepředpokládají žádné rozdělení, při méně než { $least } efektivních vzorcích vycházejí ze Studentova rozdělení; z méně než { $least } vzorků interval není. n je počet vzorků po zahřátí, v závorce počet efektivních vzorků, jsou-li korelované.
statistics-version = Verze statistiky: { $version }.
imported = Měřil to jiný nástroj; výsledek byl importován z { $files } (kopie je uložena s během). Hodiny nástroje nejsou známy a o počítači je známo jen to, co uvádí soubor.
clock = Hodiny jsou { $name }: rozlišení { $resolution }, odečet trvá { $cost }. Opakování prázdné smyčky trvá { $null }: to je režie každého měřeného průchodu.
stolen = Hypervizor během běhu odebral { $share } času CPU.
throttled-times = { $n ->
    [one] Řídicí skupina byla během běhu omezena { $n }krát.
   *[other] Řídicí skupina byla během běhu omezena { $n }krát.
}

byte-counting = Bajty se počítají jako ve STREAM: na prvek { $copy } pro Copy a Scale, { $add } pro Add a Triad, { $read } pro čtení a zápis. Čtení každého řádku navíc, které způsobí běžný zápis, se nepočítá.
kernels-within-noise = { $operations }: jádro je jedno z nejrychlejších; jiná byla při výběru v mezích šumu.
conditions = { $how }: { $places }.
limit-is = Limit je { $limit }: { $basis }.
no-memory-limit = Žádný limit není znám: { $why }, takže přenosová rychlost paměťových modulů není známa.
smbios-without-speed = SMBIOS neuvádí rychlost žádného modulu
smbios-hidden = SMBIOS je v tomto virtuálním počítači pod { $hypervisor } skrytý
smbios-unreadable = SMBIOS nebylo možné přečíst, obvykle to vyžaduje oprávnění roota
intervals-shaded = Intervaly jsou vystínovány tam, kde jsou dost široké, aby byly vidět.
scaling-description = Propustnost je { $one } ({ $few }) a { $all } ({ $many }).
ladder-description = Latence je { $low } při { $small } a { $high } při { $large }.
huge-pages-refused = Velké stránky byly požadovány, ale nebyly přiděleny: za mezipaměťmi latence zahrnuje výpadky TLB.
check-output = výstup zkontrolován
check-none = nezkontrolováno
io500-valid = Platné podle pravidel `IO500`.
io500-invalid = Neplatné podle pravidel `IO500`: { $reasons }.
io500-rule-stonewall = čas stonewall je { $time }, požadováno je nejméně { $least }
io500-rule-short-write = { $phase } trvala { $time }, méně než { $least }
io500-rule-no-result = bez výsledku: { $phases }
io500-rule-nothing-found = fáze find nenašla žádný soubor
program-start = Prázdný program potřebuje nejméně { $time }, aby se stejným způsobem spustil a skončil; nic se neodečítá.
program-memory-floor = Programy pod { $size } nemají hodnotu paměti.
programs-compared = Programy v porovnání s { $first }
levels-title = Úrovně: { $factors }
levels-without-letters = Příliš málo společných bloků pro verdikt: písmena vyžadují alespoň tři bloky, v nichž má každá úroveň hodnotu nad nulou.
levels-more-blocks = Při tak malém počtu bloků nemůže být žádný rozdíl mezi úrovněmi významný: je třeba alespoň { $needed } bloků (--blocks, nebo --runs u assay exec).
levels-more-runs = Při tak malém počtu běhů nemůže být žádný rozdíl mezi úrovněmi významný: je třeba alespoň { $needed } běhů každé z nich.
levels-overall = Všechny úrovně společně (Friedmanův test): { $statistic }, { $p } po korekci na všechny veličiny.
levels-sufficient = Nejmenší postačující úroveň je { $level }: žádná větší ({ $larger }) není významně lepší.
levels-sufficient-last = Každou úroveň pod největší z nich, { $level }, překonává jiná: ještě větší může být lepší.
levels-explanation = Úrovně se společným písmenem nelze rozlišit. Poměry jsou párovány po blocích (počet bloků: { $blocks }); v rámci jedné veličiny je pravděpodobnost, že se chybně ohlásí byť jediný rozdíl, nejvýše { $wrong } (Holm).
levels-explanation-independent = Úrovně se společným písmenem nelze rozlišit. Každý běh je jedna hodnota a poměry porovnávají všechny běhy jedné úrovně se všemi běhy jiné; v rámci jedné veličiny je pravděpodobnost, že se chybně ohlásí byť jediný rozdíl, nejvýše { $wrong } (Holm).
levels-efficiency = Efektivita je poměr k hodnotě s nejmenším počtem hostitelů, dělený poměrem počtů hostitelů.
levels-unmatched = Počet výsledků bez protějšku na jiné úrovni: { $n }.
levels-plot = { $metric } podle { $factor }
levels-plot-description = Medián každé úrovně s jeho intervalem.
levels-plan = Kombinací: { $combinations }, bloků: { $blocks }, měření: { $turns }, každé nejvýše { $time }.
levels-plan-total = Celkem { $time }.
levels-plan-settling = Celkem { $time }, z toho { $settle } na ustálení, bez doby příkazů.
huge-pages-granted = Velké stránky byly přiděleny pro každou pracovní množinu.
huge-pages-some = Velké stránky byly přiděleny jen pro tyto pracovní množiny: { $sizes }.
products-by = součiny matic pomocí { $blas }
scaled-residual = škálované reziduum { $residual } (musí zůstat pod { $bound })
copies-explanation = Hodnoty jsou mediány. Bajty se počítají jako u Copy ve STREAM, čtení i zápis; na diagonále je obojí ve vlastní paměti domény.
copies-one-node = Topologie má jediný uzel NUMA: nejsou žádné vzdálenosti mezi uzly, které by šlo porovnat.
cache-bandwidth-description = { $place }: na jádro { $high } při { $small }, { $low } při { $large }
core-to-core-explanation = Doba jednoho předání, polovina přenosu tam a zpět pomocí compare-and-swap. same-cache je mezipaměť poslední úrovně; na diagonále jsou obě vlákna jádra.
loaded-latency-explanation = Nejvyšší propustnost každé směsi a latence při jejích podílech, interpolovaná mezi změřenými body. Počítají se přečtené i zapsané bajty, také bajty řetězce.
loaded-latency-description = { $mix }: od { $idle } bez zátěže do { $loaded } při { $rate }
measurers-ratios = Poměry jsou poměry mediánů.
perftest-rules = Podle pravidel perftestu se poslední zpráva neměří, dvě nejpomalejší z ostatních se nepočítají do mediánu ani do průměru a t_max je druhá největší hodnota, nikoli maximum. Vlastní hodnoty assay v ostatních tabulkách jsou ze všech zpráv.
basis-memory-channels = { $n ->
    [one] { $n } paměťový kanál × { $rate } × { $width } (SMBIOS)
    [few] { $n } paměťové kanály × { $rate } × { $width } (SMBIOS)
   *[other] { $n } paměťových kanálů × { $rate } × { $width } (SMBIOS)
}
basis-measured-peak = { $n ->
    [one] špičkový výkon operací multiply-add ve dvojnásobné přesnosti, { $set } na { $n } jádře, změřeno v tomto běhu
   *[other] špičkový výkon operací multiply-add ve dvojnásobné přesnosti, { $set } na { $n } jádrech, změřeno v tomto běhu
}
basis-link = rychlost linky podle { $device }
basis-link-unnamed = rychlost linky, kterou hlásí zařízení
basis-provisioned = zřízený limit svazku
basis-data-sheet = technický list: { $source }
rpeak-factors = { $n ->
    [one] { $n } jádro × { $flop }/cyklus × { $clock } (frekvence změřená při této zátěži)
    [few] { $n } jádra × { $flop }/cyklus × { $clock } (frekvence změřená při této zátěži)
   *[other] { $n } jader × { $flop }/cyklus × { $clock } (frekvence změřená při této zátěži)
}

network-items-say = Vytížení CPU je vytížená část všech CPU, čas CPU je spotřeba přenosu, na místním / na vzdáleném konci. Mediány; intervaly následují.
network-retransmits-say = Opakované přenosy jsou segmenty TCP.
path-loopback = loopback
network-loopback = Veškerý provoz proběhl přes loopback uvnitř tohoto počítače: výsledky nepopisují síť.
mpi-rule-best = ◀ označuje nejlepší v řádku; ×{ $ratio } je poměr k němu
mpi-rule-overlap = ≈: oba intervaly se překrývají
mpi-rule-no-interval = ±?: příliš málo efektivních vzorků pro interval
mpi-rule-latency = Latence je polovina doby odezvy.
mpi-rule-transport = Transport mezi hostiteli volí knihovna; uvnitř hostitele všechny používají sdílenou paměť.
mpi-no-such-pair = Tento počítač nemá žádná dvě CPU v těchto vzdálenostech: { $distances }.
mpi-standard-abi = { $mpi }, standardní ABI
ranks = počet ranků: { $ranks }
curve-goes = { $name }: od { $low } při { $small } po { $high } při { $large }.

storage-explanation = Latence je od odeslání po dokončení (doba obsluhy). Percentily se počítají ze všech jednotlivých I/O.
storage-explanation-interval = ± je větší z obou vzdáleností mediánu od mezí jeho intervalu spolehlivosti.
storage-explanation-generator = Generátor: rychlost generátoru zátěže bez I/O dělená dosaženou rychlostí.
storage-explanation-due = Latence od plánovaného začátku začíná, když mělo I/O začít; tak dlouho čeká uživatel a to ukazují křivky odezvy.
storage-cached = Část těchto I/O prošla stránkovou mezipamětí: výsledek vypovídá o paměti stejně jako o úložišti.
storage-kind = { $pattern } { $size }, rozpracováno { $depth }
storage-target = Cíl: { $target }
storage-engine = Rozhraní: { $engine }, { $reason }
steady-reached = { $test }: ustáleného stavu dosaženo v kole { $rounds }
steady-not-reached = { $test }: ustáleného stavu nedosaženo, počet kol: { $rounds }
steady-spread = poslední kola se liší o { $range } a mění se o { $slope }
goal-met = { $test }: { $goal } je splněno při { $rate } a při { $missed } se splnění neprokázalo; v uzavřené smyčce bylo dosaženo { $closed }.
goal-kept = splněno
goal-missed = nesplněno
goal-unclear = nejasné
curve-knee = { $what }: { $knee }.
knee-unreported = latence od plánovaného začátku není uvedena, proto nelze koleno určit
knee-between = koleno je při { $rate } ({ $low } až { $high }): tam je medián dvojnásobný oproti nezatíženému cíli, { $latency } od plánovaného začátku
knee-at = koleno je při { $rate }: tam je medián dvojnásobný oproti nezatíženému cíli, { $latency } od plánovaného začátku
no-knee = do { $rate } žádné koleno: { $why }
knee-found = koleno bylo nalezeno
knee-too-few-points = koleno vyžaduje alespoň pět bodů
knee-flat = latence zůstává pod dvojnásobkem latence nezatíženého cíle
knee-within-uncertainty = latence roste nejvýše o svou nejistotu
knee-no-idle = už nejnižší rychlost je za ním
knee-erratic = latence s rostoucí rychlostí klesá na méně než čtvrtinu, o víc než její nejistota: z této křivky to nelze určit
response-description = Medián latence se mění od { $low } při { $few } po { $high } při { $many }; { $knee }.
engine-asked-for = podle zadání
engine-best = upřednostňované rozhraní, které jádro systému povoluje
engine-best-of-refused = upřednostňované rozhraní; libaio je odmítnuto
engine-refused = io_uring je odmítnuto ({ $cause })
engine-both-refused = io_uring je odmítnuto ({ $cause }), libaio také ({ $other })
engine-refused-and-buffered = io_uring je odmítnuto ({ $cause }), libaio blokuje ve stránkové mezipaměti
engine-contest = jádro systému zde možná předává io_uring pracovním vláknům; z io_uring a libaio bylo toto rychlejší, { $taken } proti { $other }
engine-untried-contest = jádro systému zde možná předává io_uring pracovním vláknům; nevyzkoušeno kvůli ověřování

verdict-better = lepší
verdict-worse = horší
verdict-equivalent = rovnocenné
verdict-cannot-tell = nelze rozhodnout
differ = { $what }: { $a } a { $b }
differ-load = { $what }: { $a } a { $b } úloh připravených k běhu
differ-order = { $what }: jedna podmínka byla měřena { $a }, druhá { $b }, takže každý posun vypadá jako rozdíl; `assay run --switch` podmínky střídá
differ-unrecorded = { $what }: { $value }; importovaný soubor tento údaj neobsahuje
aspect-host = hostitel
aspect-fingerprint = počítač (jeho otisk)
aspect-processor = procesor
aspect-microcode = mikrokód
aspect-kernel = jádro systému
aspect-governor = regulátor
aspect-setting = nastavení { $of }
aspect-version = verze assay
aspect-host-count = počet hostitelů
aspect-loop = smyčka { $of }
aspect-engine = rozhraní { $of }
aspect-far-end = vzdálený konec
aspect-congestion = řízení zahlcení
aspect-array-size = velikost polí
aspect-file-size = velikost cílů
aspect-file-system = souborový systém
aspect-device = zařízení
aspect-load = zátěž před běhy
aspect-steal = čas CPU odebraný během běhů
aspect-order = čas

learn-title = Výkon: { $subject }
learn-description = Naměřené výsledky pro { $subject } s metodou a příkazy k zopakování měření.
learn-intro = { $n ->
   *[other] { $subject }: měřeno pomocí { $tool }.
} Každá hodnota je medián, pokud její sloupec neuvádí jinou statistiku; intervaly mají vlastní sloupec.
learn-dates = Měřeno: { $dates }.
learn-workload = Zátěž
learn-linpack = High-Performance Linpack (HPL)
learn-rdma = Latence a propustnost RDMA
learn-storage = { $tool } na { $target }
learn-reads-writes = čtení { $reads }, zápis { $writes }
learn-mixed = čtení a zápis dohromady { $both }
learn-reads = čtení { $reads }
learn-writes = zápis { $writes }
learn-per-domain = { $whole } ({ $part } na { $domain })
learn-heading-send-latency = Latence odesílání InfiniBand
learn-heading-mpi-latency = Latence MPI
learn-heading-mpi-bandwidth = Propustnost MPI
learn-heading-conditions = Srovnání
learn-heading-commands = Příkazy pro zopakování měření
learn-latency-of = Latence [{ $unit }] ({ $mpi })
learn-bandwidth-in = Propustnost ({ $unit })
learn-bandwidth-of = Propustnost ({ $unit }) ({ $mpi })
learn-cpu-usage = Vytížení CPU
learn-impossible = Tyto údaje si odporují a nesmějí se použít: { $figures }.
learn-nothing = Pro tuto stránku není žádný výsledek.
column-verdict = verdikt
column-worst-host = nejhorší hostitel
column-worst-pair = nejhorší dvojice
column-worst = nejhorší hodnota
distrust-above-limit = nad svým limitem
distrust-one-sample = jediný vzorek
distrust-no-interval = příliš málo vzorků
distrust-wide-interval = interval je ±{ $width }
distrust-wide = interval je širší než ±{ $width }
distrust-wider-than-value = interval je širší než hodnota
verdict-suspect = podezřelé: { $why }
verdict-noisy = zašuměné: { $why }
answer-doubted-one = { $first } ({ $why })
answer-doubted = { $some ->
    [few] { $some } z { $all } hodnot jsou nejisté
   *[other] { $some } z { $all } hodnot je nejistých
}, první { $first } ({ $why })
answer-noisy = zašuměné: { $reasons }
answer-suspect = podezřelé: { $reasons }
answer-worse = { $n ->
   *[other] Horší než ostatní hostitelé: { $hosts }
}
answer-omitted = neměřeno: { $benchmarks }
verdict-slow = pomalé: pod polovinou limitu
verdict-is-slow = pomalé
trust-sound = spolehlivé
trust-noisy = zašuměné
trust-suspect = podezřelé
answer-more = { $n ->
    [one] další { $n }
    [few] další { $n }
   *[other] dalších { $n }
}: { $names }
answer-bandwidth = propustnost paměti, { $label }
answer-memory-latency = latence paměti
answer-peak = špičkový výkon { $label }
more-than = přes { $value }
learn-not-measured = neměřeno: { $why }
learn-throughput-in = Propustnost ({ $unit })
learn-test = { $what }, { $size }
learn-random-reads = { $share } náhodných čtení
learn-random-writes = { $share } náhodných zápisů
learn-sequential-reads = { $share } sekvenčních čtení
learn-sequential-writes = { $share } sekvenčních zápisů
learn-heading-quota = Úroveň služby a kvóta
learn-service-level = Úroveň služby
learn-per-quota = { $unit } na { $quota }
learn-quota = Kvóta pro nejvyšší propustnost
learn-littles-law = Littleův zákon: { $rate } × { $latency } průměrné latence = { $flight ->
    [one] { $flight } rozpracovaná operace
    [few] { $flight } rozpracované operace
    [many] { $flight } rozpracované operace
   *[other] { $flight } rozpracovaných operací
}.

heat-throughput = Propustnost od každého hostitele (řádek) ke každému (sloupec)
heat-round-trips = Doby odezvy od každého hostitele (řádek) ke každému (sloupec)
heat-latency = Latence od každého hostitele (řádek) ke každému (sloupec)
heat-core-to-core = Latence mezi jádry podle čísla prvního CPU každého jádra
heat-legend = čím tmavší, tím dále od nejlepší hodnoty: ·░▒▓█; * je významně horší než ostatní dvojice
heat-description = Od { $worst } ({ $from }) po { $best } ({ $to }).
resource-cpus = všechna CPU
resource-one-cpu = nejvytíženější CPU
resource-network = síť
answer-saturated = Omezením může být sám hostitel: { $hosts }
answer-finishers = Největší odstup, { $case }: { $first } skončil po { $first_after }, { $last } po { $last_after }
details-hosts = Vytížení hostitelů
column-done-after = doba do konce
protocol-metric = { $metric } ({ $protocol })
