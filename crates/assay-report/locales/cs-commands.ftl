# What commands say beside the reports of runs: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = Běhy
list-empty = Zatím nejsou žádné běhy.
list-unreadable = Nečitelné
list-unreadable-advice = jeho složku lze smazat; nic jiného na ní nezávisí
column-run = běh
column-label = štítek
column-suite = sada
column-state = stav
column-cases = případy
column-host = hostitel
column-hosts = hostitelé
column-values = hodnoty
state-damaged = poškozený
state-untrusted = nedůvěryhodný
state-complete = úplný
state-failed = selhal
state-partial = částečný
state-interrupted = přerušený
state-running = běží
state-killed = ukončený násilím
next-stored = Uloženo jako { $run }. Dále:
next-show = vše, co bylo změřeno
next-page = stránka s grafy
next-doctor = je tento stroj připraven k měření?
next-volume = křivky odezvy s kolenem
next-network = propustnost, doby odezvy, CPU na obou koncích
next-mpi = všechna MPI tohoto stroje vedle sebe
next-memory = každý uzel NUMA, cache a počet jader
next-compare = s předchozím během: lepší, horší, nebo stejný
progress-done = { $case } hotovo
progress-done-with = { $case } hotovo: { $value }
progress-failed = { $case } selhalo: { $why }
progress-failed-on = { $case } selhalo na { $host }: { $why }
progress-warning = varování: { $what }
progress-help = rada: { $what }
imported-measurements = měření: { $n }

## The history of a result
history-changes = Změny úrovně
history-around = Co se změnilo kolem
history-unchanged = Úroveň se nezměnila.
history-runs = běhy
history-level = úroveň
history-span = { $n }, od { $first } do { $last }
history-newest = nejnovější
history-meaning = význam
history-other-results = jiné výsledky
history-others = { $n } této metriky; rozlišuje je `--where`
history-explanation = Změnu nachází { $method } s { $permutations } permutacemi (semínko { $seed }): nejvýše { $risk } z nich dělí běhy stejně zřetelně a změna je větší než { $margin }. Běhy mezi dvěma změnami se považují za odlišné jen náhodou.
history-plot = { $metric } v průběhu běhů
history-changed = Změn úrovně: { $n }.
column-from-run = od běhu
column-since = od
column-before = před
column-after = po
column-ratio = poměr
column-which-is = což je
column-same-time = ve stejnou dobu
column-started = začátek
history-surroundings = okolí se změnilo

## Two conditions side by side
compare-one-run = běh { $run }
compare-runs = běhů: { $n }, { $which }
from-to = od { $first } do { $last }
compare-result = Ve srovnání s { $a } je { $b }: { $reported }.
compare-with-neighbour = Každý běh je jedna hodnota a porovnává se se svým časovým sousedem.
compare-with-all = Každý běh je jedna hodnota a porovnává se se všemi běhy druhé podmínky.
compare-explanation = Lepší, horší: poměr se liší od jedné o více než { $margin }, a ne náhodou mezi { $tested } testovanými metrikami (nejvýše { $wrong } takových verdiktů je chybných). Rovnocenné: celý interval spolehlivosti je do { $margin }. Nelze rozhodnout: neprokázáno ani jedno; číslo v závorce říká, kolik běhů na podmínku by asi rozhodlo.
compare-floor = Úroveň šumu: interval poměru mezi běhy téže podmínky.
forest-title = Poměry { $b } k { $a }
forest-description = { $shown } z { $all } rozhodujících metrik; úsečky jsou intervaly spolehlivosti, vystínováno je pásmo { $margin } kolem shody.
compare-nothing = Za obou podmínek nebylo změřeno nic.
gates-title = Prahové hodnoty
column-gate = práh
limits-title = Limity
column-limit = limit
column-outcome = výsledek
gate-passed = splněn
gate-failed = nesplněn
compare-differences = Další rozdíly
compare-unmatched = Změřeno jen za jedné podmínky
compare-control = kontrola
compare-one-each = po jednom běhu
compare-needs = běhů: { $n }
compare-alone = { $what }: jen { $side }
column-floor = úroveň šumu
items-goodput = Užitečná propustnost
items-cpu-is = CPU je podíl vytížení všech procesorů na místní / na vzdálené straně během měření.
attribute-not = bez { $what }
attribute-in-flight = { $n } rozpracovaných
attribute-reads = { $share } čtení
attribute-passes = průchodů předem: { $n }

## The doctor
doctor-title = Nastavení { $host } pro měření
doctor-counts = Kontrol: { $all }; odchyluje se { $bad }, podle očekávání { $good }, zde nelze pozorovat { $hidden }, nešlo přečíst { $unread }.
doctor-no-change = Nic nebylo změněno. O každé vypsané změně rozhodněte sami.
doctor-no-deviation = Žádné odchylky nenalezeny.
doctor-deviations = Odchylky
doctor-others = Ostatní kontroly: `assay doctor --all`.
doctor-as-expected = Podle očekávání
doctor-hidden = Zde nelze pozorovat
doctor-unreadable = Nešlo přečíst
column-observed = zjištěno
column-expected = očekáváno
column-reason = důvod
column-why = proč
column-change = změna
column-source = zdroj
column-check = kontrola
severity-blocks = znehodnocuje měření
severity-skews = zkresluje měření
severity-note = poznámka
hosts-title = Nastavení pro měření, hostitelů: { $n }
hosts-unreached = Hostitelů bez odpovědi: { $few } z { $n }.
hosts-heading = Hostitelé
hosts-without-answer = Hostitelé bez odpovědi
hosts-help = pomoc
column-host-name = název hostitele
column-invalidate = znehodnocují
column-skew = zkreslují
column-notes = poznámky
column-clock-offset = posun hodin
hosts-table = Odchylky podle významu pro měření
hosts-differ = Co se liší
hosts-alike = Nic: hostitelé jsou nastaveni stejně.

## Plans
plan-title = Plán sady { $suite }
plan-nothing-run = Nic nebylo spuštěno.
plan-cases = Případů: { $n }, nejvýše za { $time }.
column-resolved-to = znamená
column-stops-at = končí při
column-budget = rozpočet
plan-left-out = Vynecháno: { $benchmark }, protože { $why }; { $advice }

## When cases stop
plan-stops-at = Případy končí při { $stop }: když je interval takto úzký, nejméně po tolika opakováních v tolika přípravách, nebo když je vyčerpán jejich časový rozpočet.
plan-stop-as-shown = uvedených hodnotách

## References
references-title = Publikované hodnoty
references-title-of = Publikované hodnoty: { $system }
references-hint = `assay references SYSTEM` vypíše hodnoty se zdroji; `assay compare RUN SYSTEM` a `assay run --expect SYSTEM` s nimi porovnají výsledky.
references-source = Zdroj: { $source }
column-system = systém
column-figures = hodnoty
column-figure = hodnota
column-published = publikováno
column-conditions = podmínky
held-title = Porovnáno s { $name }
column-you = vy
column-you-share = vy / tam
column-when = kdy
column-follows = závěr
held-reached = dosaženo
held-missed = nedosaženo
held-conflict = zdroje se liší
held-explanation = Výsledek hodnoty nedosahuje, je-li celý jeho interval o více než toleranci ({ $tolerance }, neříká-li zdroj jinak) na horší straně. Nejlepší z více hodnot a podezřelé hodnoty se ukazují, ale o ničem nerozhodují.

## Stored runs held against what was written
verify-sound = v pořádku, surových výstupů: { $n }
verify-lost = poškozený, ztracených událostí: { $n }

## The page itself
page-contents = Obsah
page-language = Jazyk
page-units = Jednotky
page-raw = Surová data
page-back = k prvnímu řádku
