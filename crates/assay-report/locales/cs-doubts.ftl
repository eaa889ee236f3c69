advice-more-time = dejte měření více času, například `--budget 10m` nebo delší `--for`
advice-tool-repeats = o počtu opakování rozhoduje nástroj nebo jeho volby; vyžádejte si jich více nebo spusťte případ vícekrát
advice-raw-output = prohlédněte si uložený surový výstup
advice-kernel-log = prohlédněte si zprávy jádra pomocí `dmesg` a měření zopakujte
advice-check-address = zkontrolujte adresu a cestu k ní
luck-pages = umístění v paměti
luck-connections = sada spojení
luck-launch = spuštění
depends-pages = výsledek závisí na umístění stránek; s velkými stránkami závisí méně a za více času proběhne více příprav
depends-connections = výsledek závisí na spojení: na CPU, která je obsluhují, a na ostatním provozu na jeho cestě; za více času se naváže více spojení
depends-launch = výsledek závisí na spuštění: na paměti a CPU, které jeho procesy dostaly; za více času proběhne více spuštění
doubt-no-interval = { $n ->
    [one] žádný interval spolehlivosti mediánu na hladině { $level } z { $n } vzorku, potřeba nezávislých vzorků: { $needed }
   *[other] žádný interval spolehlivosti mediánu na hladině { $level } z { $n } vzorků, potřeba nezávislých vzorků: { $needed }
}
doubt-no-interval-worth = { $n ->
    [one] žádný interval spolehlivosti mediánu na hladině { $level } z { $n } vzorku (efektivně { $worth }), potřeba nezávislých vzorků: { $needed }
   *[other] žádný interval spolehlivosti mediánu na hladině { $level } z { $n } vzorků (efektivně { $worth }), potřeba nezávislých vzorků: { $needed }
}
doubt-wider-than-value = interval spolehlivosti mediánu na hladině { $level } je širší než samotná hodnota; požadováno bylo ±{ $target } (n = { $n }, efektivně { $worth })
    .advice = { $first }, nebo omezte činnost počítače: `assay doctor` vypíše, co měření ruší
doubt-wide-interval = interval spolehlivosti mediánu na hladině { $level } dosahuje ±{ $width } místo požadovaných ±{ $target } (n = { $n }, efektivně { $worth })
    .advice = { $first }, nebo omezte činnost počítače: `assay doctor` vypíše, co měření ruší
doubt-one-preparation = všechny vzorky mají tutéž výchozí podmínku ({ $luck }) místo požadovaného počtu { $asked }; z intervalu není vidět, jak moc na ní záleží
doubt-few-preparations = { $had ->
    [one] času bylo jen na { $had } přípravu místo požadovaných { $asked }
    [few] času bylo jen na { $had } přípravy místo požadovaných { $asked }
   *[other] času bylo jen na { $had } příprav místo požadovaných { $asked }
}
doubt-preparations-differ = { $share } rozptylu připadá na rozdíly mezi přípravami (počet: { $preparations }): vzorků je { $n }, což odpovídá { $worth } nezávislého vzorku
doubt-autocorrelated = po sobě jdoucí vzorky jsou korelované: vzorků je { $n }, což odpovídá { $worth } nezávislého vzorku
    .advice = výsledek ovlivňuje něco pomalejšího než jedno opakování, například taktovací frekvence, teplota nebo jiný proces; `assay doctor` vypíše svá zjištění
doubt-warm-up-discarded = { $discarded } z { $all } vzorků se liší od následujících; byly vyřazeny jako zahřívání
    .advice = výsledek je ze vzorků, které následovaly; v úložišti běhů jsou všechny vzorky v pořadí měření
doubt-several-modes = vzorky se dělí na skupiny: { $few } kolem { $low } a { $many } kolem { $high }; žádné jediné číslo nevystihuje obě
    .advice = najděte příčinu přepínání: umístění stránek, taktovací frekvence, jiný proces; vzorky jsou v úložišti běhů v pořadí měření
doubt-samples-not-finite = { $refused } z { $all } vzorků nejsou konečná čísla a nepočítají se
    .advice = měřicí nástroj dělil nulovým časem nebo nevypsal číslo; prohlédněte si jeho surový výstup
doubt-not-a-value = { $figure } nemůže být naměřenou hodnotou veličiny { $metric }
    .advice = měření nic neudělalo nebo byl jeho výstup špatně přečten; prohlédněte si surový výstup
doubt-out-of-order = neplatí { $law }: { $less } > { $more }
    .advice = tyto údaje nemohou pocházet z jednoho výběru; nepoužívejte je
order-low-median = dolní mez intervalu ≤ medián
order-median-high = medián ≤ horní mez intervalu
doubt-above-limit = medián je { $share } svého limitu, { $limit } ({ $basis })
    .advice = změřila se mezipaměť, nebo je špatně jednotka či limit: zkontrolujte velikost, jednotku a z čeho je limit odvozen
doubt-no-rpeak = Rpeak není k dispozici: nejlepší výsledek je { $rate } FLOP na cyklus při změřené frekvenci, což neodpovídá žádnému jádru
    .advice = tato CPU používalo i něco jiného: zkontrolujte odebraný čas (steal) a CPU pressure (PSI) a změřte znovu
advice-limit-contended = tato CPU používalo i něco jiného: zkontrolujte odebraný čas (steal) a CPU pressure (PSI) a změřte znovu
doubt-unknown-metric = { $case } obsahuje vzorky veličiny `{ $metric }`, kterou tato verze nezná
    .advice = čtěte běh tou verzí assay, která jej vytvořila
doubt-cache-assisted = pole o velikosti { $size } mají jen { $multiple }násobek velikosti mezipamětí poslední úrovně, takže část přenosů do paměti vůbec nedošla
    .advice = použijte pole alespoň o { $needed }násobku velikosti mezipamětí, nebo uvolněte paměť
doubt-idle-latency-differs = bez provozu trvá řetězci jedno načtení { $idle }, ale latence paměti téže pracovní množiny je { $latency }
    .advice = jiná zátěž nebo jiné stránky: zkontrolujte velké stránky obou a obě změřte znovu
doubt-traffic-above-stream = provoz { $traffic } překračuje všechny rychlosti STREAM, { $stream }
    .advice = provoz šel z mezipaměti, nebo STREAM běžel pomaleji: změřte obojí znovu na nezatíženém počítači
doubt-cache-ends-early = načtení opouštějí mezipaměť L{ $level } u pracovních množin nad { $end }, ale jádro hlásí { $size }
    .advice = virtuální počítač má jen část mezipaměti, nebo ji používají jiná CPU: konec odečtěte z křivky
doubt-hand-over-below-load = předání trvalo { $time }, méně než nejkratší načtení, { $load }
    .advice = virtuální CPU nebo jejich hodiny nejsou tím, čím se zdají: zkontrolujte odebraný čas a zdroj hodin a změřte znovu
doubt-steal = hypervizor během { $span } odebral { $stolen } času CPU ({ $share })
    .advice = zopakujte měření v klidnější době, nebo na počítači, který CPU s nikým nesdílí
doubt-cpu-pressure = { $share } doby některá úloha čekala na CPU
    .advice = zastavte jiné programy, nebo měřte s menším počtem vláken, než je CPU
doubt-memory-pressure = { $share } doby některá úloha čekala na paměť
    .advice = použijte menší pole, nebo před během uvolněte paměť
doubt-throttled = { $n ->
    [one] řídicí skupina během { $span } vyčerpala svou kvótu CPU { $n }krát
   *[other] řídicí skupina během { $span } vyčerpala svou kvótu CPU { $n }krát
}
    .advice = zvyšte limit CPU kontejneru nebo služby, nebo nepoužívejte více vláken, než dovoluje
doubt-frequency-drop = nejvyšší frekvence CPU klesla z { $before } před měřením na { $after } po něm ({ $change })
    .advice = zkontrolujte chlazení a limity příkonu; při srovnávání dvou počítačů frekvenci zafixujte
doubt-other-load = ještě před měřením byla průměrná zátěž (load average) { $load }
    .advice = zastavte jiné programy; ještě minutu se počítá i měření, které právě skončilo
doubt-other-demand = jiné procesy během měření využívaly { $cpus } z { $all } CPU ({ $share })
    .advice = zastavte jiné programy; nejaktivnější vypíše `assay doctor load`
doubt-another-assay = na tomto počítači měří ještě jiné assay; mohou se navzájem rušit
    .advice = počkejte, až skončí, a změřte znovu
doubt-emulated-cpu = procesor je emulován softwarově (QEMU bez KVM): žádná zde naměřená rychlost nevypovídá o skutečném počítači
    .advice = tyto hodnoty použijte jen k ověření, že program funguje, a měřte na skutečném hardwaru nebo pod KVM
doubt-suspended = počítač byl během běhu na { $time } uspán
    .advice = změřte znovu: součástí výsledků je doba, kdy se neměřilo
doubt-paused = { $n ->
    [one] assay stálo { $time }, { $n }krát: bylo pozastaveno, nebo nedostalo CPU
   *[other] assay stálo { $time }, { $n }krát: bylo pozastaveno, nebo nedostalo CPU
}
    .advice = změřte znovu: součástí výsledků je doba, kdy se neměřilo
doubt-cpus-taken = { $n ->
    [one] assay už nemohlo používat CPU { $cpus }: bylo odpojeno, nebo vyňato z jeho cpuset či afinity
   *[other] assay už nemohlo používat CPU { $cpus }: byla odpojena, nebo vyňata z jeho cpuset či afinity
}
    .advice = změřte znovu: vlákna určená pro takové CPU sdílela jiné
doubt-clock-stepped = systémové hodiny byly během běhu posunuty o { $step }
    .advice = doby trvání a pořadí událostí pocházejí z monotónních hodin a nejsou ovlivněny; najděte program, který nastavuje systémové hodiny: `timedatectl`, `chronyc tracking`
doubt-over-budget = běh trval { $elapsed } při rozpočtu { $budget }: pevné délky a první výsledky se nekrátí
    .advice = dejte víc času (`--budget`), nebo zvolte méně případů v souboru sady
unsteady-too-few = kol bylo příliš málo, nebo v nich neproběhlo žádné I/O
unsteady-window = { $n ->
    [one] poslední { $n } se stále liší o { $range } a mění se o { $slope }
    [few] poslední { $n } se stále liší o { $range } a mění se o { $slope }
   *[other] posledních { $n } se stále liší o { $range } a mění se o { $slope }
}
unsteady-drift = a pokračuje trend { $drift }
doubt-steady-state-not-reached = ustáleného stavu nedosaženo, počet kol: { $rounds }; { $found }
    .advice = přípustné je nejvýše { $range } a { $slope }: předem zapište více (`--precondition`), prodlužte kola (`--for`), nebo zjistěte, co dalšího toto úložiště používá
doubt-search-not-finished = hledání přerušeno, vyzkoušených rychlostí: { $n }; mezi { $keeps }, kde je cíl splněn, a { $misses } není nic známo
    .advice = nechte hledání doběhnout: nejvyšší rychlost, která cíl splňuje, může být vyšší
doubt-target-in-memory = { $path } je v paměti ({ $kind }): žádné úložné zařízení se neměří
    .advice = uveďte soubor, adresář nebo zařízení úložiště, které má být měřeno
advice-page-cache = zbytek má stránková mezipaměť tohoto hostitele: měřte s O_DIRECT nebo s více daty, než se vejde do paměti, a zápisy zakončete voláním fsync
advice-cache-below = zbytek má něco mezi tímto hostitelem a zařízením: hledejte mezipaměť nebo kompresi svazku a díry v souboru
doubt-cached-reads = nejméně { $share } přečtených bajtů nepřišlo z { $place }: odtud přišlo { $moved } z { $payload }
doubt-cached-writes = nejméně { $share } zapsaných bajtů se během měření nedostalo na { $place }: dorazilo { $moved } z { $payload }
doubt-card-traffic-more = { $device } přeneslo { $factor }násobek užitečných dat, více, než vysvětlují hlavičky
    .advice = hledejte jiný provoz na zařízení (`ip -s link`) a opakované přenosy (`nstat`)
doubt-card-traffic-less = { $device } přeneslo jen { $factor }násobek užitečných dat
    .advice = zbytek přeneslo jiné zařízení, nebo ovladač nepočítá vše: zkontrolujte trasu (`ip route get`) a `ethtool -S`
doubt-rpc-retransmits = volání, která klient NFS pro { $mount } odeslal znovu: { $n } z { $calls }
    .advice = server nebo cesta ztrácely volání nebo odpovídaly příliš pozdě: zkontrolujte `nfsstat -c`, síť a zátěž serveru
doubt-interrupt-bound = { $cpu } strávilo { $share } času v přerušeních a žádný mu nezbyl: to omezilo výsledek
    .advice = rozložte přerušení na více CPU: více front (`ethtool -L`) nebo receive packet steering (RPS); více datových toků pomůže jen tehdy, když se dostanou do jiných front
doubt-io-limit-reached = { $device } dosáhlo limitu řídicí skupiny: { $reached } z { $limit }
    .advice = hodnota patří limitu, ne zařízení: pro měření zařízení zvyšte `io.max` nebo `blkio.throttle`
doubt-file-with-holes = { $path } má velikost { $size }, ale přiděleno je z toho jen { $stored }
    .advice = čtení díry nevyžaduje žádné I/O: uveďte cestu, kde assay vytvoří soubor, nebo nejprve celý tento zapište; případně souborový systém komprimuje
doubt-littles-law = rozpracovaných I/O bylo { $flight }, ale rychlost × latence je { $product }: liší se o { $difference }
    .advice = chybná je latence nebo rychlost; prohlédněte si řady uložené s během
doubt-rate-missed = požadováno bylo { $asked }, dosaženo { $reached }
    .advice = omezuje to úložiště, hloubka fronty nebo vytížený počítač: latence od plánovaného začátku roste po celou dobu měření; požadujte méně, nebo větší hloubku fronty
doubt-not-started = { $n } z { $due } plánovaných požadavků do vypršení času nezačalo
    .advice = započítávají se s dobou, po kterou do té chvíle čekaly, takže latence od plánovaného začátku jsou přinejmenším takové, jaké jsou vypsány; požadujte méně, nebo větší hloubku fronty, pokud existuje
doubt-message-rate-missed = požadováno bylo { $asked } zpráv za sekundu, zodpovězeno { $reached }: rychlosti se nedosáhlo
    .advice = na spojení je na cestě vždy jen jedna zpráva, mezi dvěma tedy uplyne nejméně jedna doba odezvy; latence se počítá od plánovaného okamžiku a roste po celou dobu měření, i u zpráv, které se nestihly odeslat; požadujte méně
doubt-generator-near = samotný generátor dosahuje { $rate }, jen { $factor }násobku naměřené rychlosti
    .advice = dejte mu více vláken: část latence může pocházet od generátoru
doubt-io-failed = operace { $operation } selhala (bajtů: { $size }, pozice: { $offset }, cíl: { $target }): { $cause }
doubt-file-operation-failed = operace { $operation } nad { $path } selhala: { $cause }
doubt-measured-once = { $by } měří jen jednou a ustálený stav nehledá
    .advice = nechte v témže běhu nejprve měřit assay: ustálený stav, který najde, platí pro obě měření
doubt-other-binding = ranky byly přiděleny na CPU { $bound } místo požadovaných { $asked }, po jednom na každé
    .advice = spouštěč nebo jeho konfigurace je přiděluje jinak: uvedené umístění není to, které se měřilo
doubt-one-kernel = oba hostitelé běží na jednom jádře systému: knihovna MPI mohla místo sítě použít jejich paměť
    .advice = uveďte hostitele na jiném počítači, nebo knihovně zakažte sdílenou paměť: `UCX_TLS=^shm`, `I_MPI_FABRICS=ofi`
doubt-unbound-ranks = ranků nepřidělených na jedno CPU: { $unbound } z { $ranks }, z toho se přesunulo: { $moved }
    .advice = přidělte je spouštěčem: `-bind-to core` (MPICH), `--bind-to core` (Open MPI), `I_MPI_PIN=1` (Intel MPI), `--cpu-bind=cores` (srun)
doubt-function-bypassed = virtuální funkce { $function } přenesla během testu { $share } provozu zařízení { $device }
    .advice = akcelerovaná síť je nastavena, ale nepoužívá se: hledejte `Data path switched` v logu jádra
rounded-at = {" "}při { $at }
doubt-score-contradicted = skóre v souboru neplyne z jeho fází: uvádí { $printed }, z fází vychází { $calculated }
    .advice = zkontrolujte, zda řádky souboru nebyly změněny nebo nepatří k jinému běhu
doubt-rounded-output = nástroj vypisuje tak málo desetinných míst, že { $metric } je známo jen s přesností ±{ $share }{ $at }
    .advice = srovnávejte větší zprávy, nebo údaje assay, které nejsou zaokrouhleny
doubt-option-contradicted = podle voleb je { $condition } { $option }, podle naměřených údajů { $figures }: uloženy jsou naměřené údaje
    .advice = ověřte, zda soubor patří k těmto volbám a zda nástroj doběhl do konce
doubt-process-cpu-only = `iperf3` hlásí jen čas CPU svých vlastních procesů: softirq příjmu v něm nejsou
    .advice = úplnou spotřebu ukazují vedlejší údaje assay
doubt-far-process-cpu-only = na vzdáleném konci je `iperf3`, který hlásí jen čas CPU svého vlastního procesu: softirq příjmu v něm nejsou
    .advice = pro úplnou spotřebu spusťte na vzdáleném konci `assay iperf3 -s`
doubt-broke-off = případ skončil předčasně: výsledek zahrnuje dobu do té chvíle
    .advice = pro úplný výsledek změřte znovu
doubt-copy-unknown = je-li na vzdáleném konci `iperf3` verze nižší než { $version }, kopíruje přijatá data bez ohledu na to, co se po něm chce
    .advice = spusťte na vzdáleném konci `assay iperf3 -s`
doubt-shared-server = server během { $share } tohoto testu prováděl i jiné testy (počet: { $n }): sdílely jeho linku a CPU
    .advice = měřte samostatně, nebo spusťte server bez `--clients`
doubt-other-thread-count = stream běžel s počtem vláken { $ran } místo požadovaných { $asked }
    .advice = přeložte `stream.c` s `-fopenmp` a dbejte, aby proměnné OpenMP nenastavovalo nic jiného
doubt-smaller-arrays = pole nástroje mají { $held } místo požadovaných { $wanted }: to je { $multiple }násobek velikosti mezipamětí poslední úrovně
    .advice = dejte nástroji větší pole; pravidlo samotného STREAM je čtyřnásobek mezipamětí
doubt-events-changed = uložené události tohoto běhu byly po zápisu změněny
    .advice = `assay verify RUN` uvede každé místo
doubt-events-lost = { $n ->
    [one] { $n } událost tohoto běhu je ztracena: zpráva není úplná
    [few] { $n } události tohoto běhu jsou ztraceny: zpráva není úplná
   *[other] { $n } událostí tohoto běhu je ztraceno: zpráva není úplná
}
    .advice = `assay verify RUN` uvede každé místo
doubt-store-index = index { $path } nelze zapsat: { $cause }
    .advice = nic se neztratilo: běhy se vypisují ze svých událostí, jen pomaleji; povolte do adresáře zápis

failure-no-samples = nic nebylo změřeno: případ nemá žádné vzorky
    .advice = prohlédněte si uložený surový výstup
failure-no-finite-sample = nic nebylo změřeno: žádný vzorek veličiny { $metric } není konečné číslo
    .advice = prohlédněte si uložený surový výstup
failure-icmp-has-no-streams = ICMP nepřenáší datové toky
    .advice = požádejte o `latency`
failure-no-echo = hostitel neodpovídá na ICMP echo
    .advice = ICMP možná ignoruje on nebo firewall; `assay net latency` se ptá přes TCP nebo UDP
failure-residual-too-large = řešení je chybné: škálované reziduum je { $residual } a musí být menší než { $bound }
    .advice = zopakujte to jednou; selže-li to znovu, otestujte paměť a nastavení taktu tohoto počítače
failure-unknown-instruction-set = instrukční sada `{ $name }` neexistuje
    .advice = plán vytvořila jiná verze assay; vytvořte jej znovu
failure-skipped = vynecháno: { $lack }
    .advice = viz případ, který to zjistil: u jeho selhání je uvedena náprava
lack-address = hostitel { $host } nebyl nalezen
lack-port = port { $port } na { $host } nebyl dostupný
lack-echo = na { $host } na ping-pong nic neodpovídá
lack-connection = s hostitelem { $host } se nepodařilo navázat spojení
failure-tool-cannot-search = { $by } měří zadanou rychlost, ale nehledá ji
    .advice = nechte ji najít assay a nástroji předejte nalezenou hodnotu jako `--rate`
failure-curve-without-maximum = maximální rychlost této křivky není známa
    .advice = předchozí případ selhal: nejprve se podívejte na jeho příčinu
no-io-done = žádné I/O neproběhlo
failure-no-rate-keeps-goal = u žádné rychlosti se neprokázalo, že splňuje { $goal }: { $last }
    .advice = připusťte větší latenci, nebo dejte každému kroku více času (`--for`): percentil vyžaduje mnoho I/O
rate-tried = požadováno { $asked }, dosaženo { $reached }, opožděno { $late } I/O: { $verdict }
failure-io-failed = { $n ->
    [one] { $n } I/O selhalo: { $operation } na pozici { $offset } cíle { $target }
    [few] { $n } I/O selhala, první: { $operation } na pozici { $offset } cíle { $target }
   *[other] { $n } I/O selhalo, první: { $operation } na pozici { $offset } cíle { $target }
}
failure-file-operation-failed = { $n ->
    [one] { $n } operace selhala: { $operation } nad { $path }
    [few] { $n } operace selhaly, první: { $operation } nad { $path }
   *[other] { $n } operací selhalo, první: { $operation } nad { $path }
}
failure-no-io = v době, která se počítá, nebylo dokončeno žádné I/O
    .advice = dejte měření více času pomocí `--for` nebo `--budget`
failure-unknown-host = hostitel { $host } není znám
    .advice = zkontrolujte jméno, nebo uveďte adresu
failure-no-address = hostitel { $host } nemá adresu požadované rodiny
    .advice = vynechte `-4` nebo `-6`
failure-no-interface = místní linková adresa { $host } neuvádí žádné rozhraní tohoto hostitele
    .advice = uveďte rozhraní, které k ní vede: { $addresses }
failure-not-connected = nelze se připojit k { $address }
advice-refused = nic tam nenaslouchá: spusťte na tom hostiteli server (`assay iperf3 -s -B ADDRESS` nebo `iperf3 -s` pro datové toky, `qperf` pro ping-pong), nebo uveďte jeho port
advice-refused-connections = nic tam nenaslouchá: spusťte na tom hostiteli `assay iperf3 -s -B ADDRESS`, nebo uveďte jeho port
advice-timed-out = pakety možná zahazuje firewall mezi oběma hostiteli: otevřete port, nebo uveďte jiný
failure-no-ping-pong = na { $host } na ping-pong nic neodpovídá
    .advice = samotný server `iperf3` neodpovídá: spusťte tam `qperf` vedle `iperf3 -s`, nebo `assay iperf3 -s`, který obsluhuje obojí; ICMP echo nepotřebuje ani jedno
failure-stalled = mezi tímto počítačem a { $peer } se už { $time } nepřenášejí žádná data
    .advice = cesta byla přerušena, firewall zapomněl spojení, nebo druhý konec zamrzl
failure-peer-busy = { $peer } právě provádí jiný test, nebo tohoto klienta odmítá
    .advice = počkejte na konec probíhajícího testu, nebo uveďte jiný port
failure-peer-stopped = { $peer } ukončil test
    .advice = byl zastaven na druhém konci, stejně jako toky, které jen zatěžují linku, zatímco se měří něco jiného
failure-no-data = nedorazila žádná data
    .advice = firewall možná propouští řídicí spojení, ale data ne
failure-wrong-contents = zprávy o velikosti { $size } dorazily s chybným obsahem
    .advice = data poškozuje knihovna nebo síť: otestujte obojí
failure-rank-died = rank skončil předčasně: { $how }
    .advice = pokud jej nikdo neukončil, udělalo to jádro pro nedostatek paměti (ukáže to `dmesg`), nebo selhala knihovna; { $see }
launcher-ended = spouštěč skončil s kódem { $code }
launcher-killed = spouštěč byl ukončen signálem
launcher-said = { $how }; jeho hlášení: { $words }
launcher-executable = ověřte, zda lze spustit { $launcher }
failure-no-outcome-here = první rank na tomto hostiteli nic nezapsal
    .advice = musí běžet na hostiteli, kde bylo spuštěno assay: uveďte jej v seznamu jako první
failure-no-outcome = spuštění skončilo úspěšně, ale první rank nic nezapsal
    .advice = musí běžet na hostiteli, kde bylo spuštěno assay: uveďte jej v seznamu jako první
failure-other-version = ranky jsou assay { $found }, zde je { $own }
    .advice = nainstalujte na všech hostitelích stejnou verzi assay
failure-other-rank-count = počet zúčastněných ranků je { $found } místo požadovaných { $asked }
failure-launch-broke-off = spuštění skončilo dříve, než byly změřeny všechny velikosti
see-by-hand = podívejte se, co vypíše tento příkaz (je to uloženo i s během): { $command }
area-threads = měřte znovu: CPU mohlo být vypnuto nebo vyjmuto z cpusetu, nebo systém odmítá další vlákna (`ulimit -u`, `pids.max`)
area-stream = menší pole (`--bytes`) potřebují méně paměti; chybný obsah znamená vadnou paměť nebo přetaktovaný počítač
area-latency = zvolte menší pracovní množinu (`to` v souboru sady) a podívejte se na `assay doctor`
area-peak-flops = `assay doctor` ukáže, co dalšího na těchto CPU běží; chybný součet znamená vadný procesor
area-linpack = zvolte menší soustavu rovnic pomocí `--n` nebo `--memory`
area-blas = nainstalujte knihovnu (Debian: `libopenblas0-pthread`, `libblis4-pthread`), nebo uveďte její úplnou cestu
area-generator = samotný generátor musí fungovat všude: nahlaste to
area-icmp = `sysctl net.ipv4.ping_group_range="0 2147483647"` dovolí ping všem; nebo spusťte jako root
area-rdma = `rdma link` vypíše zařízení RDMA a jejich stav; více viz `assay help rdma`
area-launcher = ověřte, zda lze spouštěč spustit
area-process = spusťte zaznamenaný příkaz ručně, abyste viděli jeho chyby
area-tool = prohlédněte si uložený surový výstup; jde-li o verzi nástroje, kterou assay nezná, nahlaste ji s tímto výstupem
area-temporary-folder = uvolněte místo v adresáři pro dočasné soubory
area-host = viz varování k tomuto hostiteli
area-own-program = spouštějte assay jeho cestou, z adresáře, který ještě existuje

missing-host = není uveden druhý hostitel
    .advice = uveďte jej pomocí `--to HOST`
missing-target = není uveden soubor, adresář ani zařízení
    .advice = uveďte cíl pomocí `--target`; v adresáři se vytvoří soubor, který se pak odstraní
missing-mpi = nebylo nalezeno žádné MPI
    .advice = nainstalujte je, nebo uveďte jeho instalační adresář pomocí `--mpi`; nainstalovaná vypíše `assay doctor`
missing-domain = tento počítač takové domény nemá, nebo je skrývá
    .advice = její topologii ukáže `assay doctor`
missing-cores = požaduje se více vláken nebo ranků, než je jader
    .advice = požadujte méně, nebo počet vynechte
missing-memory = paměti je příliš málo
    .advice = uvolněte část paměti
missing-known-memory = velikost použitelné paměti není známa
    .advice = zpřístupněte zde /proc/meminfo, nebo omezte paměť řídicí skupiny
missing-tool = nástroj nebyl nalezen
    .advice = nástroje vypíše `assay help tools`
missing-library = knihovna, kterou má použít, nebyla nalezena
    .advice = nainstalujte knihovnu, nebo ji ze sady odeberte
missing-rdma-device = nebylo nalezeno žádné zařízení RDMA
    .advice = zaveďte ovladač síťové karty (`rdma link` vypíše zařízení), nebo přidejte softwarové RoCE: `rdma link add rxe0 type rxe netdev eth0`
missing-time = časový rozpočet běhu skončil dřív
    .advice = dejte víc času volbou `--budget`, nebo měřte méně najednou
doubt-worse-than-pairs = { $from } → { $to } je horší než ostatní dvojice: { $value } oproti mediánu { $median } z { $pairs } dvojic ({ $change }); rozdíl je statisticky významný
    .advice = porovnejte s dvojicemi, které mají jednoho z hostitelů společného: je to hostitel, nebo cesta mezi nimi? `assay doctor --to HOST` cestu prověří
doubt-worse-than-peers = { $host } je horší než ostatní: { $value } oproti mediánu { $median } na { $hosts } hostitelích ({ $change }); rozdíl je statisticky významný
    .advice = `assay doctor --hosts` ukáže, čím se liší; vynechte jej, nebo jej nechte prověřit
doubt-host-saturated = { $host } byl vytížen až na svou mez: { $resource } na { $share }; výsledek může být mezí tohoto hostitele
    .advice = použijte více hostitelů nebo větší, aby každý měl méně práce
