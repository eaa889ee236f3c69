yes = oui
no = non
on = activé
off = désactivé
unknown = inconnu
interval = intervalle
interval-of-level = intervalle à { $level }
no-interval = aucun
no-value = aucune valeur
full-stop = .
list-separator = {", "}
detail-separator = {", "}
fact-separator = {" : "}
clause-separator = {" ; "}
sentence-separator = {" "}
sentence-about = { $sentence } ({ $about }).
seed = graine { $seed }
and-more = et { $n } de plus
on-more-hosts = { $n ->
    [one] … et sur { $n } autre hôte : { $hosts }
   *[other] … et sur { $n } autres hôtes : { $hosts }
}
one-and-two = { $one } et { $two }
what-by = { $what }, avec { $by }
name-in = { $name } dans { $place }
test-at = { $test } à { $share }
is-mean = { $value } (moyenne)
per-second = { $rate } par seconde
about = environ { $value }
threads = { $n ->
    [one] { $n } thread
   *[other] { $n } threads
}
cores = { $n ->
    [one] { $n } cœur
   *[other] { $n } cœurs
}
streams = { $n ->
    [one] { $n } flux
   *[other] { $n } flux
}
under-load = sous une charge de { $n ->
    [one] { $n } flux
   *[other] { $n } flux
}
cpus = { $n } CPU
cpus-on-cores = { $cpus } sur { $cores } cœurs
cores-with-threads = { $cores } avec { $threads }
arrays-of = tableaux de { $size }
all-at-once = tous à la fois
each-alone = chacun séparément
all-operations = toutes
end-local = extrémité locale
end-remote = extrémité distante
end-other = extrémité { $end }
direction-send = envoi
direction-receive = réception
direction-both = les deux sens
pattern-random = aléatoire
pattern-sequential = séquentiel
operation-read = lecture
operation-write = écriture
no-copy = sans copie
segmentation = segmentation par le noyau
from-due = { $what } depuis le départ prévu
working-set = ensemble de travail
time-per-load = temps par chargement dépendant
beyond-caches = mémoire
knee = coude
rate-max = max.
up-to-the-knee = jusqu’au coude
beyond-the-knee = au-delà du coude
provisioned = limite provisionnée : { $limit }
limit-line = limite : { $limit }

heading-bandwidth = Bande passante mémoire
heading-latency = Latence mémoire
heading-compute = Calcul
heading-network = Réseau
heading-storage = Stockage
heading-files = Arborescences de fichiers
heading-programs = Programmes
heading-copies = Copies entre domaines
heading-cache-bandwidth = Bande passante des caches
heading-core-to-core = Latence entre cœurs
heading-loaded-latency = Latence mémoire sous charge
heading-other = Autres résultats
heading-perftest = Latence selon les règles de perftest
heading-measurers = Outils de mesure côte à côte
heading-warnings = Avertissements
heading-failures = Échecs
heading-omitted = Non mesuré
heading-method = Méthode
details-machine = Machine
details-bandwidth = Tous les domaines et nombres de cœurs
details-copies = Toutes les paires de domaines
details-loaded-latency = Tous les points des courbes
details-other-metrics = Autres grandeurs
table-bandwidth = Bande passante par placement
table-extremes = Médianes sur les domaines d’un même type
table-levels = Latence de chaque niveau de cache et de la mémoire
table-compute = Performance de crête en multiplication-addition et LINPACK
table-other = Résultats de tous les autres benchmarks
table-programs = Temps, mémoire et valeurs des programmes
table-perftest = Les mêmes messages selon les règles de perftest
table-measurers = Médianes et leur rapport
table-turns = Médianes et rapport entre exécutions voisines, qui n’est pas celui des médianes
table-all-runs = Médianes et rapport entre exécutions, chacune avec chacune, qui n’est pas celui des médianes
table-copies = Bande passante en { $unit } des copies vers la mémoire d’un domaine, par ses CPU (lignes), depuis la mémoire d’un autre (colonnes)
table-node-latency = Latence en { $unit } de chargements dépendants par le premier CPU d’un nœud NUMA (lignes) dans la mémoire de chaque nœud (colonnes)
table-cache-bandwidth = Bande passante en lecture de chaque niveau de cache et de la mémoire
table-core-to-core = Latence d’une ligne de cache d’un cœur à un autre selon la distance, avec les paires de latence la plus basse et la plus haute
table-loaded-latency = Latence mémoire selon la bande passante du reste du trafic
table-network-items = Débit utile et coût CPU
table-network = Grandeurs du réseau avec leurs intervalles
table-round-trips = Allers-retours
table-mpi-libraries = Bibliothèques MPI et liaison effective de leurs rangs aux CPU
table-storage = Débit d’E/S, bande passante et latence
table-storage-pairs = Lectures et écritures côte à côte
table-storage-parameters = Paramètres et utilisation du CPU
table-storage-mixes = Lectures et écritures des charges mixtes, de la soumission à l’achèvement
table-storage-due = Latence depuis le départ prévu de l’E/S
table-rounds = Tours de { $test }
table-search = Étapes de la recherche de { $test }
table-files = Débit et latence des opérations sur les fichiers et les répertoires
response-curve = Courbe de réponse de { $name }
ladder-title = Latence selon la taille de l’ensemble de travail
scaling-title = { $metric } selon le nombre de cœurs
roofline-title = Modèle roofline
roofline-title-of = Modèle roofline de { $host }
roofline-measured = mesuré
roofline-limits = limites
roofline-description = Un code qui exécute moins de { $ridge } opérations par octet est limité par la mémoire : il ne peut dépasser son nombre d’opérations par octet multiplié par { $bandwidth }. Au-delà, il ne peut dépasser { $peak }.
bars-linear = barres
bars-logarithmic = barres logarithmiques
bars-legend = { $name } selon { $axis } ; { $bars } de { $low } à { $high }
axis-operations-per-byte = opérations par octet
axis-compute-rate = vitesse de calcul
mpi-by-distance = { $metric ->
    [latency] Latence selon la distance des paires, messages de { $size }
   *[bandwidth] Bande passante selon la distance des paires, messages de { $size }
}
axis-cores = cœurs
axis-message-size = taille du message
axis-rate-reached = débit d’E/S atteint
axis-bandwidth-per-core = bande passante en lecture par cœur
axis-traffic = bande passante de tout le trafic
axis-time-measured = temps de mesure
axis-share-at-most = proportion ne dépassant pas cette durée
timeline-of = Chronologie : { $name }
timeline-payload = mesuré
timeline-read = lu
timeline-written = écrit
timeline-received = reçu
timeline-sent = envoyé
timeline-busy = CPU occupés
timeline-interrupts = interruptions
timeline-stolen = volé par l’hyperviseur
timeline-cpu-pressure = une tâche attend un CPU
timeline-io-pressure = une tâche attend une E/S
timeline-share = part du temps
details-hardware = Compteurs matériels
column-observed-clock = fréquence observée
column-instructions-per-cycle = instructions par cycle
column-memory-traffic = trafic mémoire
column-traffic-of-work = trafic par octet compté
column-energy = énergie
column-energy-efficiency = efficacité énergétique
hardware-flop = { $flop } sur { $peak } FLOP par cycle observé et par cœur, à { $clock } observés
hardware-flop-user = au plus { $flop } sur { $peak } FLOP par cycle observé et par cœur, à { $clock } observés ou plus : les cycles dans le noyau n’ont pas été comptés
hardware-write-allocate = Le trafic mémoire est ce que les contrôleurs de mémoire ont transféré pour toute la machine. STREAM ne compte pas le write-allocate : une écriture sans instruction de streaming lit d’abord sa ligne, et le trafic dépasse les octets comptés.
joules = { $value } J
joules-per-gigabyte = { $value } J/Go
gigaflop-per-joule = { $value } GFLOP/J
course-of-goodput = Débit utile au fil du temps
course-of-cpu-load = Utilisation du CPU au fil du temps
course-goes = { $name } : de { $low } à { $high }.
rounds-go = Le débit passe de { $first } au premier tour à { $last } au dernier.
distribution-of-round-trips = Distribution des allers-retours
distribution-goes = { $name } : la moitié dure au plus { $median }, { $share } au plus { $most }.
axis-latency-from-due = latence depuis le départ prévu de l’E/S

column-bandwidth = bande passante
column-block = bloc
column-by = outil
column-case = cas
column-cpu-load = utilisation du CPU
column-cpu-per-io = CPU par E/S
column-cpu-system = CPU (système)
column-cpu-time = temps CPU
column-cpu-user = CPU (utilisateur)
column-cpus = CPU
column-target-size = taille de la cible
column-depth = profondeur de file
column-generator = générateur
column-goal = objectif
column-goodput = débit utile
column-highest = maximum
column-in = lieu de mesure
column-in-flight = en cours
column-item = test
column-kernel = noyau de calcul
column-late = en retard
column-latency = latence
column-later-than-the-goal = au-delà de l’objectif
column-level = niveau
column-letters = lettres
column-efficiency = efficacité
column-library = bibliothèque
column-lowest = minimum
column-median = médiane
column-median-from-due = médiane depuis le départ prévu
column-middle = médiane
column-note = note
column-of-limit = part de la limite
column-of-link = part du lien
column-of-peak = part de la crête
column-of-provisioned = part de la limite provisionnée
column-of-rpeak = part de Rpeak
column-operation = opération
column-per-core = par cœur
column-pairs = paires
column-idle = au repos
column-at-share = à { $share }
column-at-highest = au maximum
column-pause = pause
column-place = emplacement
column-ranks-on-cpus = rangs sur les CPU
column-rate = débit d’E/S
column-reached = atteint
column-reads = lectures
column-requested = demandé
column-retransmits = retransmissions
column-round = tour
column-service-median = médiane du temps de service
column-size = taille
column-test = test
column-threads = threads
column-transport = transport
column-value = valeur
column-what = grandeur
column-where = emplacement
column-writes = écritures

machine-hardware = matériel
machine-system = système
machine-settings = réglages
machine-mitigations = mesures d’atténuation
machine-versions = versions
fact-processor = processeur
fact-vendor = fabricant
fact-family-model-stepping = famille/modèle/stepping
fact-microcode = microcode
fact-nominal-frequency = fréquence nominale
fact-maximum-frequency = fréquence maximale
fact-governor = gouverneur
fact-boost = boost
fact-smt = SMT
fact-cpus = CPU
fact-caches = caches
fact-numa-nodes = nœuds NUMA
fact-memory = mémoire
fact-memory-modules = modules mémoire
fact-huge-page = grande page
fact-distribution = distribution
fact-kernel = noyau
fact-kernel-command-line = ligne de commande du noyau
fact-virtualisation = virtualisation
fact-product = produit
fact-clock-source = source d’horloge
fact-cpu-quota = quota de CPU
fact-memory-limit-of-the-control-group = limite de mémoire du groupe de contrôle
fact-fingerprint = empreinte

suite = Suite { $suite }
suite-on-hosts = Suite { $suite } sur { $hosts }
run-from-to = Exécution { $run }, du { $started } au { $finished }
run-from = Exécution { $run }, lancée le { $started }
host-memory = { $size } de mémoire
host-kernel = noyau { $kernel }
host-guest = invité de { $hypervisor }
nothing-measured = Rien n’a été mesuré.
cases-failed = { $n ->
    [one] { $n } cas a échoué
   *[other] { $n } cas ont échoué
}
cases-skipped = { $n ->
    [one] { $n } a été omis pour cette raison
   *[other] { $n } ont été omis pour cette raison
}
status-failed = { $reported } ; voir { $heading }.
failed-likewise = { $n ->
    [one] { $n } autre cas a échoué de la même façon : { $cases }
   *[other] { $n } autres cas ont échoué de la même façon : { $cases }
}
skipped-because = { $n ->
    [one] { $n } cas a été omis pour cette raison : { $cases }
   *[other] { $n } cas ont été omis pour cette raison : { $cases }
}
reached = {" "}après { $finished } cas sur { $planned }
status-partial = L’exécution est partielle : { $n ->
    [one] un hôte manque{ $hosts }
   *[other] des hôtes manquent{ $hosts }
}. Les résultats des autres hôtes sont valables.
status-interrupted = L’exécution a été interrompue{ $reached } ; les cas terminés sont valables.
status-interrupted-at-once = L’exécution a été interrompue avant la fin de son premier cas.
status-interrupted-late = L’exécution a été interrompue : tous les cas ont été mesurés, certains avec moins de répétitions que prévu.
status-unfinished = L’exécution est inachevée{ $reached } : assay a été tué ou tourne encore. Les cas terminés sont valables.
statistics = Les valeurs sont des médianes. Les intervalles de confiance reposent sur les statistiques d’ordre, sans hypothèse de distribution, ou, en dessous de { $least } échantillons effectifs, sur la loi de Student ; moins de { $least } échantillons n’en donnent aucun. n est le nombre d’échantillons après l’échauffement et, entre parenthèses, le nombre d’échantillons effectifs s’ils sont corrélés.
statistics-version = Version des statistiques : { $version }.
imported = Un autre outil a effectué cette mesure ; elle a été importée de { $files } (copie conservée avec l’exécution). Son horloge est inconnue, et la machine n’est connue que par ce que le fichier en décrit.
clock = L’horloge est { $name } : sa résolution est de { $resolution } et sa lecture prend { $cost }. Une répétition du noyau de calcul vide prend { $null } : c’est le surcoût de chaque passe chronométrée.
stolen = L’hyperviseur a pris { $share } du temps CPU pendant l’exécution.
throttled-times = { $n ->
    [one] Le groupe de contrôle a été bridé { $n } fois pendant l’exécution.
   *[other] Le groupe de contrôle a été bridé { $n } fois pendant l’exécution.
}

byte-counting = Les octets sont comptés comme par STREAM : par élément { $copy } pour Copy et Scale, { $add } pour Add et Triad, { $read } pour la lecture et l’écriture. La lecture supplémentaire de chaque ligne que provoque une écriture ordinaire n’est pas comptée.
kernels-within-noise = { $operations } : le noyau de calcul est l’un des plus rapides ; d’autres étaient dans le bruit de ce choix.
conditions = { $how } : { $places }.
limit-is = La limite est de { $limit } : { $basis }.
no-memory-limit = Aucune limite n’est connue : { $why } ; le débit des modules mémoire est donc inconnu.
smbios-without-speed = SMBIOS n’indique la vitesse d’aucun module
smbios-hidden = SMBIOS est masqué dans cet invité de { $hypervisor }
smbios-unreadable = SMBIOS n’a pas pu être lu, ce qui exige d’ordinaire les droits root
intervals-shaded = Les intervalles sont ombrés là où ils sont assez larges pour être visibles.
scaling-description = La bande passante est de { $one } sur { $few } et de { $all } sur { $many }.
ladder-description = La latence est de { $low } dans { $small } et de { $high } dans { $large }.
huge-pages-refused = De grandes pages ont été demandées mais pas accordées : au-delà des caches, la latence comprend des défauts de TLB.
check-output = sortie contrôlée
check-none = non contrôlé
io500-valid = Valide selon les règles d’`IO500`.
io500-invalid = Non valide selon les règles d’`IO500` : { $reasons }.
io500-rule-stonewall = la durée de stonewall est de { $time }, au moins { $least } sont exigées
io500-rule-short-write = { $phase } a duré { $time }, moins de { $least }
io500-rule-no-result = sans résultat : { $phases }
io500-rule-nothing-found = la phase find n’a trouvé aucun fichier
program-start = Un programme vide met au moins { $time } à démarrer et à se terminer de la même façon ; rien n’est soustrait.
program-memory-floor = Les programmes de moins de { $size } n’ont pas de valeur de mémoire.
programs-compared = Programmes comparés à { $first }
levels-title = Niveaux de { $factors }
levels-without-letters = Trop peu de blocs communs pour un verdict : les lettres exigent au moins trois blocs où chaque niveau a une valeur supérieure à zéro.
levels-more-blocks = Avec si peu de blocs, aucune différence entre niveaux ne peut être significative : il faut au moins { $needed } blocs (--blocks, ou --runs d’assay exec).
levels-more-runs = Avec si peu d’exécutions, aucune différence entre niveaux ne peut être significative : il faut au moins { $needed } exécutions de chacun.
levels-overall = Tous les niveaux ensemble (test de Friedman) : { $statistic }, { $p } après correction pour toutes les grandeurs.
levels-sufficient = Le plus petit niveau suffisant est { $level } : aucun niveau supérieur ({ $larger }) n’est significativement meilleur.
levels-sufficient-last = Chaque niveau inférieur à { $level }, le plus grand, est dépassé par un autre : un niveau encore plus grand peut être meilleur.
levels-explanation = Les niveaux qui partagent une lettre ne se distinguent pas. Les rapports sont appariés par bloc ({ $blocks } blocs) ; au sein d’une grandeur, la probabilité de conclure à tort à au moins une différence est d’au plus { $wrong } (Holm).
levels-explanation-independent = Les niveaux qui partagent une lettre ne se distinguent pas. Chaque exécution compte pour une valeur, et les rapports comparent toutes les exécutions d’un niveau à toutes celles d’un autre ; au sein d’une grandeur, la probabilité de conclure à tort à au moins une différence est d’au plus { $wrong } (Holm).
levels-efficiency = L’efficacité est le rapport à la valeur obtenue avec le moins d’hôtes, divisé par le rapport des nombres d’hôtes.
levels-unmatched = Résultats sans équivalent sous un autre niveau : { $n }.
levels-plot = { $metric } selon { $factor }
levels-plot-description = Médiane de chaque niveau avec son intervalle.
levels-plan = { $combinations } combinaisons en { $blocks } blocs : { $turns } mesures d’au plus { $time } chacune.
levels-plan-total = En tout { $time }.
levels-plan-settling = En tout { $time }, dont { $settle } de stabilisation, sans la durée des commandes.
huge-pages-granted = De grandes pages ont été accordées pour chaque ensemble de travail.
huge-pages-some = De grandes pages n’ont été accordées que pour ces ensembles de travail : { $sizes }.
products-by = produits matriciels par { $blas }
scaled-residual = résidu normalisé { $residual } (doit rester inférieur à { $bound })
copies-explanation = Les valeurs sont des médianes. Les octets sont comptés comme pour Copy de STREAM, lectures et écritures ; sur la diagonale, les deux sont dans la mémoire propre au domaine.
copies-one-node = La topologie n’a qu’un seul nœud NUMA : il n’y a pas de distances entre nœuds à comparer.
cache-bandwidth-description = { $place } : par cœur { $high } avec { $small }, { $low } avec { $large }
core-to-core-explanation = Temps d’un transfert, moitié d’un aller-retour par compare-and-swap. same-cache désigne le cache de dernier niveau ; sur la diagonale, les deux threads d’un cœur.
loaded-latency-explanation = Bande passante maximale de chaque mélange, et latence à des fractions de celle-ci, interpolée entre les points mesurés. Les octets lus et écrits comptent, ceux de la chaîne aussi.
loaded-latency-description = { $mix } : de { $idle } au repos à { $loaded } à { $rate }
measurers-ratios = Les rapports sont ceux des médianes.
perftest-rules = Selon les règles de perftest, le dernier message n’est pas chronométré, les deux plus lents des autres ne comptent ni pour la médiane ni pour la moyenne, et t_max est la deuxième plus grande valeur, pas le maximum. Les valeurs d’assay dans les autres tableaux portent sur tous les messages.
basis-memory-channels = { $n ->
    [one] { $n } canal mémoire × { $rate } × { $width } (SMBIOS)
   *[other] { $n } canaux mémoire × { $rate } × { $width } (SMBIOS)
}
basis-measured-peak = { $n ->
    [one] performance de crête en multiplication-addition, double précision, { $set } sur { $n } cœur, mesurée dans cette exécution
   *[other] performance de crête en multiplication-addition, double précision, { $set } sur { $n } cœurs, mesurée dans cette exécution
}
basis-link = vitesse du lien indiquée par { $device }
basis-link-unnamed = vitesse du lien indiquée par le périphérique
basis-provisioned = limite provisionnée du volume
basis-data-sheet = fiche technique : { $source }
rpeak-factors = { $n ->
    [one] { $n } cœur × { $flop }/cycle × { $clock } (fréquence mesurée sous cette charge)
   *[other] { $n } cœurs × { $flop }/cycle × { $clock } (fréquence mesurée sous cette charge)
}

network-items-say = L’utilisation du CPU est la part occupée de tous les CPU, le temps CPU ce que le transfert a consommé, à l’extrémité locale / distante. Médianes ; les intervalles suivent.
network-retransmits-say = Les retransmissions sont des segments TCP.
path-loopback = boucle locale
network-loopback = Tout le trafic est passé par la boucle locale de cette machine : les résultats ne décrivent pas un réseau.
mpi-rule-best = ◀ désigne la meilleure valeur d’une ligne ; ×{ $ratio } est le rapport à celle-ci
mpi-rule-overlap = ≈ : les deux intervalles se recoupent
mpi-rule-no-interval = ±? : trop peu d’échantillons effectifs pour un intervalle
mpi-rule-latency = La latence est un demi-aller-retour.
mpi-rule-transport = Entre hôtes, c’est la bibliothèque qui choisit le transport ; au sein d’un hôte, toutes utilisent la mémoire partagée.
mpi-no-such-pair = Cette machine n’a pas deux CPU à ces distances : { $distances }.
mpi-standard-abi = { $mpi }, ABI standard
ranks = { $ranks } rangs
curve-goes = { $name } va de { $low } à { $small } jusqu’à { $high } à { $large }.

storage-explanation = La latence va de la soumission à l’achèvement (temps de service). Les percentiles portent sur toutes les E/S.
storage-explanation-interval = ± est la plus grande des deux demi-largeurs de l’intervalle de confiance de la médiane.
storage-explanation-generator = Générateur : débit du générateur de charge sans E/S, divisé par le débit atteint.
storage-explanation-due = La latence depuis le départ prévu commence au moment où l’E/S devait partir : c’est ce qu’attend un utilisateur et ce que montrent les courbes de réponse.
storage-cached = Une partie de ces E/S est passée par le cache de pages : elles mesurent la mémoire autant que le stockage.
storage-kind = { $pattern } { $size }, { $depth } en cours
storage-target = Cible : { $target }
storage-engine = Moteur : { $engine }, { $reason }
steady-reached = { $test } : régime permanent atteint au tour { $rounds }
steady-not-reached = { $test } : régime permanent non atteint en { $rounds } tours
steady-spread = les derniers tours diffèrent de { $range } et varient de { $slope }
goal-met = { $test } : { $goal } est tenu à { $rate } et n’a pas pu être confirmé à { $missed } ; { $closed } ont été atteints en boucle fermée.
goal-kept = tenu
goal-missed = manqué
goal-unclear = indécis
curve-knee = { $what } : { $knee }.
knee-unreported = la latence depuis le départ prévu n’est pas indiquée, il n’y a donc pas de coude
knee-between = le coude est à { $rate } ({ $low } à { $high }) : la médiane y est le double de celle d’une cible au repos, { $latency } depuis le départ prévu
knee-at = le coude est à { $rate } : la médiane y est le double de celle d’une cible au repos, { $latency } depuis le départ prévu
no-knee = pas de coude jusqu’à { $rate } : { $why }
knee-found = le coude a été trouvé
knee-too-few-points = un coude exige au moins cinq points
knee-flat = la latence reste inférieure au double de celle d’une cible au repos
knee-within-uncertainty = la latence n’augmente pas plus que son incertitude
knee-no-idle = le débit le plus bas est déjà au-delà
knee-erratic = la latence tombe sous le quart alors que le débit augmente, de plus que son incertitude : cette courbe ne permet pas de le dire
response-description = La latence médiane va de { $low } à { $few } jusqu’à { $high } à { $many } ; { $knee }.
engine-asked-for = demandé
engine-best = choix préféré, autorisé par le noyau
engine-best-of-refused = choix préféré ; libaio est refusé
engine-refused = io_uring est refusé ({ $cause })
engine-both-refused = io_uring est refusé ({ $cause }), libaio aussi ({ $other })
engine-refused-and-buffered = io_uring est refusé ({ $cause }), libaio bloque dans le cache de pages
engine-contest = le noyau se rabat peut-être ici sur des threads de travail pour io_uring ; entre io_uring et libaio, ce moteur était le plus rapide, { $taken } contre { $other }
engine-untried-contest = le noyau se rabat peut-être ici sur des threads de travail pour io_uring ; non essayé à cause de la vérification

verdict-better = meilleur
verdict-worse = moins bon
verdict-equivalent = équivalent
verdict-cannot-tell = non concluant
differ = { $what } : { $a } et { $b }
differ-load = { $what } : { $a } et { $b } tâches prêtes
differ-order = { $what } : une condition a été mesurée { $a }, l’autre { $b }, si bien que toute dérive ressemble à une différence ; `assay run --switch` alterne les conditions
differ-unrecorded = { $what } : { $value } ; le fichier importé ne l’indique pas
aspect-host = l’hôte
aspect-fingerprint = la machine (son empreinte)
aspect-processor = le processeur
aspect-microcode = le microcode
aspect-kernel = le noyau
aspect-governor = le gouverneur
aspect-setting = le réglage { $of }
aspect-version = la version d’assay
aspect-host-count = le nombre d’hôtes
aspect-loop = la boucle de { $of }
aspect-engine = le moteur de { $of }
aspect-far-end = l’extrémité distante
aspect-congestion = le contrôle de congestion
aspect-array-size = la taille des tableaux
aspect-file-size = la taille des cibles
aspect-file-system = le système de fichiers
aspect-device = le périphérique
aspect-load = la charge avant les exécutions
aspect-steal = le temps CPU volé pendant les exécutions
aspect-order = l’heure

learn-title = Performances de { $subject }
learn-description = Résultats de mesure pour { $subject }, avec leur méthode et les commandes pour les reproduire.
learn-intro = { $n ->
   *[other] { $subject } : mesures effectuées avec { $tool }.
} Chaque valeur est une médiane, sauf indication contraire de sa colonne ; les intervalles figurent dans leur propre colonne.
learn-dates = Mesuré : { $dates }.
learn-workload = Charge de travail
learn-linpack = Linpack hautes performances (HPL)
learn-rdma = Latence et bande passante RDMA
learn-storage = { $tool } sur { $target }
learn-reads-writes = { $reads } en lecture, { $writes } en écriture
learn-mixed = { $both } en lecture et écriture combinées
learn-reads = { $reads } en lecture
learn-writes = { $writes } en écriture
learn-per-domain = { $whole } ({ $part } par { $domain })
learn-heading-send-latency = Latence d’envoi InfiniBand
learn-heading-mpi-latency = Latence MPI
learn-heading-mpi-bandwidth = Bande passante MPI
learn-heading-conditions = Côte à côte
learn-heading-commands = Commandes pour reproduire les mesures
learn-latency-of = Latence [{ $unit }] ({ $mpi })
learn-bandwidth-in = Bande passante ({ $unit })
learn-bandwidth-of = Bande passante ({ $unit }) ({ $mpi })
learn-cpu-usage = Utilisation du CPU
learn-impossible = Ces chiffres se contredisent et ne doivent pas être utilisés : { $figures }.
learn-nothing = Il n’y a aucun résultat pour cette page.
column-verdict = verdict
column-worst-host = pire hôte
column-worst-pair = pire paire
column-worst = pire valeur
distrust-above-limit = au-dessus de sa limite
distrust-one-sample = un seul échantillon
distrust-no-interval = trop peu d’échantillons
distrust-wide-interval = l’intervalle est de ±{ $width }
distrust-wide = l’intervalle dépasse ±{ $width }
distrust-wider-than-value = l’intervalle est plus large que la valeur
verdict-suspect = suspect : { $why }
verdict-noisy = bruité : { $why }
answer-doubted-one = { $first } ({ $why })
answer-doubted = { $some } valeurs sur { $all } sont douteuses, à commencer par { $first } ({ $why })
answer-noisy = bruité : { $reasons }
answer-suspect = suspect : { $reasons }
answer-worse = { $n ->
    [one] Moins bon que les autres hôtes : { $hosts }
   *[other] Moins bons que les autres hôtes : { $hosts }
}
answer-omitted = non mesuré : { $benchmarks }
verdict-slow = lent : moins de la moitié de sa limite
verdict-is-slow = lent
trust-sound = fiable
trust-noisy = bruité
trust-suspect = suspect
answer-more = { $n } de plus : { $names }
answer-bandwidth = bande passante mémoire, { $label }
answer-memory-latency = latence mémoire
answer-peak = performance de crête { $label }
more-than = plus de { $value }
learn-not-measured = non mesuré : { $why }
learn-throughput-in = Débit ({ $unit })
learn-test = { $what }, { $size }
learn-random-reads = { $share } de lectures aléatoires
learn-random-writes = { $share } d’écritures aléatoires
learn-sequential-reads = { $share } de lectures séquentielles
learn-sequential-writes = { $share } d’écritures séquentielles
learn-heading-quota = Niveau de service et quota
learn-service-level = Niveau de service
learn-per-quota = { $unit } par { $quota }
learn-quota = Quota pour le débit le plus élevé
learn-littles-law = Loi de Little : { $rate } × { $latency } en moyenne = { $flight } E/S en cours.

heat-throughput = Débit de chaque hôte (ligne) vers chaque autre (colonne)
heat-round-trips = Temps d’aller-retour de chaque hôte (ligne) vers chaque autre (colonne)
heat-latency = Latence de chaque hôte (ligne) vers chaque autre (colonne)
heat-core-to-core = Latence entre cœurs, par numéro du premier CPU de chaque cœur
heat-legend = plus la case est sombre, plus la valeur est éloignée de la meilleure : ·░▒▓█ ; * : significativement moins bon que les autres paires
heat-description = De { $worst } ({ $from }) à { $best } ({ $to }).
resource-cpus = tous les CPU
resource-one-cpu = CPU le plus utilisé
resource-network = réseau
answer-saturated = Le facteur limitant est peut-être un hôte : { $hosts }
answer-finishers = Le plus grand écart, { $case } : { $first } a fini après { $first_after }, { $last } après { $last_after }
details-hosts = Activité des hôtes
column-done-after = durée jusqu’à la fin
protocol-metric = { $metric } ({ $protocol })
