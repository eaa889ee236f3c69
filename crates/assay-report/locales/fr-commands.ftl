# What commands say beside the reports of runs: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = Exécutions
list-results-title = Résultats
list-empty = Il n’y a encore aucune exécution.
list-no-match = Aucune exécution ne correspond au filtre ; exécutions enregistrées : { $n }.
list-unreadable = Illisibles
list-unreadable-advice = supprimez-la avec `assay rm { $id }`
column-run = exécution
column-label = étiquette
column-suite = suite
column-state = état
column-cases = cas
column-host = hôte
column-hosts = hôtes
column-values = valeurs
state-damaged = endommagée
state-noisy = bruitée
state-suspect = suspecte
state-complete = complète
state-failed = échec
state-partial = partielle
state-interrupted = interrompue
state-running = en cours
state-killed = tuée
known-machine = { $what } : { $own }, publié pour { $system } : { $published } ; comparaison complète : `assay compare latest SYSTEM`
written-beside = également écrit : { $files }
next-stored = Enregistré sous { $run }. Ensuite :
next-show = le rapport complet
next-page = une page avec graphiques
next-doctor = cette machine est-elle configurée pour mesurer ?
next-volume = courbes de réponse et leur coude
next-network = débit, allers-retours, CPU aux deux extrémités
next-mpi = toutes les implémentations de MPI de cette machine côte à côte
next-memory = chaque nœud NUMA, cache et nombre de cœurs
next-compare = par rapport à l’exécution précédente : meilleure, moins bonne ou équivalente
progress-done = { $case } terminé
progress-done-with = { $case } terminé : { $value }
progress-failed = { $case } a échoué : { $why }
progress-failed-on = { $case } a échoué sur { $host } : { $why }
progress-warning = avertissement : { $what }
progress-help = conseil : { $what }
progress-left = reste { $time }
progress-over = dépassé de { $time }
progress-late = dépassé de { $late }, puis { $left }
progress-cpu = { $share } CPU
progress-finishing = finalisation
progress-looking = examen de la machine
progress-files = lecture des fichiers
progress-runs = lecture des exécutions enregistrées
progress-pages = lecture des pages
progress-hosts-sought = recherche des hôtes
progress-waiting-for = en attente de { $host }
progress-waiting = { $n ->
    [one] en attente de { $n } hôte
   *[other] en attente de { $n } hôtes
}
hosts-measuring = { $n ->
    [one] { $n } hôte
   *[other] { $n } hôtes
}
host-examined = { $done } sur { $all } : { $host } : examiné
host-no-answer = { $done } sur { $all } : { $host } : pas de réponse
slurm-waiting = en attente de nœuds de Slurm
slurm-gave = Slurm a attribué { $nodes }, travail { $job }
imported-measurements = { $n ->
    [one] { $n } mesure
   *[other] { $n } mesures
}
list-no-result = Aucune exécution n’a de résultat.
list-without-result = { $n ->
    [one] { $n } exécution s’est terminée sans résultat : `assay list --all` l’affiche, `assay prune --failed` la supprime.
   *[other] { $n } exécutions se sont terminées sans résultat : `assay list --all` les affiche, `assay prune --failed` les supprime.
}

## The history of a result
history-changes = Changements de niveau
history-around = Changements d’environnement
history-too-few-runs = Trop peu d’exécutions pour dire si le niveau a changé : il en faut { $needed }, il y en a { $n }.
history-unchanged = Aucun changement de niveau n’a été détecté.
history-unchanged-within = Aucun changement de niveau n’a été détecté. Un saut d’un facteur { $factor } ou plus au milieu de ces exécutions l’aurait été.
history-other-conditions = Le même résultat dans d’autres conditions
history-select-condition = `--label` et `--where` sélectionnent une de ces conditions.
history-one-run = Une seule exécution ne montre aucun changement : son niveau est comparé à celui des suivantes.
history-over-n = N diffère d’une exécution à l’autre : assay le choisit selon le temps et la mémoire, et Rmax croît avec N. `--where n=…` n’en montre qu’un.
history-runs = exécutions
history-level = niveau
history-span = { $n }, du { $first } au { $last }
history-newest = la plus récente
history-other-results = autres résultats
history-others = { $n } de cette grandeur, à distinguer avec `--where`
history-explanation = Un changement est détecté par { $method } avec { $permutations } permutations (graine { $seed }) : au plus { $risk } d’entre elles séparent aussi nettement les exécutions, et il dépasse { $margin }. Entre deux changements, les exécutions sont supposées ne différer que par hasard.
history-plot = { $metric } au fil des exécutions
history-changed = Changements de niveau : { $n }.
history-drawn = Un point par exécution, dans l’ordre de leur lancement ; la ligne est le niveau.
column-condition = condition
column-from-run = depuis l’exécution
column-since = depuis
column-before = avant
column-after = après
column-ratio = rapport
column-which-is = verdict
column-same-time = en même temps
column-started = début
history-surroundings = environnement modifié

## Two conditions side by side
compare-one-run = exécution { $run }
compare-runs = { $n } exécutions, { $which }
from-to = de { $first } à { $last }
compare-result = Par rapport à { $a }, { $b } est : { $reported }.
compare-suspect = Suspectes : { $n } exécutions sur { $all }. La première, parce que : { $why }
compare-with-neighbour = Chaque exécution compte pour une valeur et est comparée à sa voisine dans le temps.
compare-with-looks = Chaque exécution compte pour une valeur et est comparée à sa voisine dans le temps. Les analyses intermédiaires après chaque bloc se partagent le risque d’erreur ; l’intervalle est donc valable quel que soit le moment où elles s’arrêtent.
compare-with-all = Chaque exécution compte pour une valeur et est comparée à toutes celles de l’autre condition.
compare-explanation = Meilleur, moins bon : le rapport s’écarte de un de plus de { $margin }, et pas par hasard parmi { $tested } grandeurs testées (au plus { $wrong } de ces verdicts sont faux). Équivalent : tout l’intervalle de confiance est à moins de { $margin }. Non concluant : ni l’un ni l’autre n’a pu être établi ; le nombre entre parenthèses est à peu près celui des exécutions par condition qui suffiraient.
compare-floor = Plancher de bruit : l’intervalle du rapport entre exécutions de la même condition.
forest-title = Rapports de { $b } à { $a }
forest-description = { $shown } des { $all } grandeurs décisives ; les traits sont les intervalles de confiance, la zone ombrée est à { $margin } de l’égalité.
compare-nothing = Rien n’a été mesuré dans les deux conditions.
gates-title = Seuils
column-gate = seuil
column-outcome = résultat
gate-passed = respecté
gate-failed = non respecté
gates-others = (et { $n } de plus)
compare-differences = Autres différences
compare-unmatched = Mesuré dans une seule condition
compare-control = témoin
compare-one-each = Une exécution de chaque ne décide rien : il en faut environ { $n } par condition.
run-table-empty = Les exécutions n’ont aucun résultat.
run-table-explanation = Les différences avec la première exécution sont des rapports de médianes, sans verdict. En évidence : moins bon d’au moins { $margin }. `assay compare` juge d’après les intervalles.
compare-needs = { $n } exécutions
compare-alone = { $what } : { $side } seulement
compare-nearest = Le plus proche est { $what } : { $a } dans { $first }, { $b } dans { $second }.
compare-no-condition = aucune condition de ce nom
column-floor = plancher de bruit
items-goodput = Débit utile
items-cpu-is = CPU est la part d’occupation de tous les CPU côté local / côté distant pendant la mesure.
attribute-not = sans { $what }
attribute-in-flight = { $n } en cours
attribute-reads = { $share } de lectures
attribute-passes = passes préalables : { $n }

## What results are told apart by
dimension-host = hôte
dimension-peer = hôte distant
dimension-to = hôte de destination
dimension-placement = placement
dimension-source = source
dimension-distance = distance
dimension-concurrent = simultané
dimension-end = extrémité
dimension-test = test
dimension-program = programme
dimension-phase = phase
dimension-loops = boucles
dimension-operation = opération
dimension-files = fichiers
dimension-file-bytes = taille de fichier
dimension-levels = niveaux
dimension-direction = sens
dimension-bytes = taille
dimension-bytes-per-array = taille du tableau
dimension-n = N
dimension-cpu = CPU
dimension-instruction-set = jeu d’instructions
dimension-mpi = MPI
dimension-prefix = préfixe
dimension-abi = ABI
dimension-ranks = rangs
dimension-preset = méthode
dimension-hosts = hôtes
dimension-hostfile = fichier d’hôtes
dimension-threads = threads
dimension-connection = connexion
dimension-asked-device = périphérique
dimension-asked-gid-index = indice du GID
dimension-asked-path-mtu-bytes = MTU du chemin
dimension-service-level = niveau de service
dimension-streams = flux
dimension-depth = profondeur de file
dimension-read-share = part des lectures
dimension-pause-s = pause
dimension-pattern = motif d’accès
dimension-target = cible
dimension-page-cache = cache de pages
dimension-precondition-passes = passes de préconditionnement
dimension-goal = objectif
dimension-point = point
dimension-percent-of-max = part du maximum
dimension-step = étape
dimension-requested-rate = débit demandé
dimension-copy = copie
dimension-seconds = secondes
dimension-rate-bit-per-s = débit par flux
dimension-congestion = contrôle de congestion
dimension-segmentation = segmentation par le noyau
dimension-waiting = attente
dimension-load-streams = flux de charge
dimension-busy-poll-s = scrutation active
dimension-messages-per-s = messages par seconde
dimension-engine = moteur
dimension-stream = flux
dimension-target-index = numéro de cible
dimension-member = membre
dimension-stage = stade
dimension-stretch = tranche de temps
dimension-buffers = tampons des messages
dimension-timed = opération chronométrée

## The doctor
doctor-title = Configuration de { $host } pour les mesures
doctor-counts = Vérifications : { $all } ; écarts : { $bad }, conformes : { $good }, non observables ici : { $hidden }, illisibles : { $unread }.
doctor-no-change = Rien n’a été modifié. Décidez vous-même de chaque modification affichée.
doctor-no-deviation = Aucun écart trouvé.
doctor-deviations = Écarts
doctor-others = Les autres vérifications : `{ $command }`.
doctor-as-expected = Conforme
doctor-hidden = Non observable ici
doctor-unreadable = Lecture impossible
column-observed = observé
column-expected = attendu
column-reason = raison
column-why = motif
column-change = modification
column-source = source
column-check = vérification
severity-blocks = invalide les mesures
severity-skews = fausse les mesures
severity-note = remarque
hosts-title = Configuration pour les mesures, hôtes : { $n }
hosts-unreached = Hôtes sans réponse : { $few } sur { $n }.
hosts-heading = Hôtes
hosts-without-answer = Hôtes sans réponse
hosts-help = conseil
column-host-name = nom d’hôte
column-invalidate = invalident
column-skew = faussent
column-notes = remarques
column-clock-offset = décalage d’horloge
hosts-table = Écarts selon leur effet sur les mesures
hosts-differ = Différences
hosts-alike = Aucune : ces hôtes ont la même configuration.

## Plans
plan-title = Plan de la suite { $suite }
plan-nothing-run = Rien n’a été exécuté.
plan-turns = Exécutions : { $runs }, chacune de { $n } cas en { $each }. Commandes de bascule : { $commands }, suivies de { $settle } de stabilisation. En tout { $time }, sans la durée des commandes.
plan-cases-beyond = Cas : { $n }, pour un budget de temps de { $time }.
plan-cases = Cas : { $n }, en { $time } au plus.
column-resolved-to = valeur retenue
column-stops-at = critère d’arrêt
column-budget = budget
plan-left-out = Omis : { $benchmark }, car { $why } ; { $advice }
plan-repetitions = { $n } × en { $preparations }
plan-cpus = { $n ->
   *[other] CPU { $which }
}
plan-arrays = tableaux de { $size } ({ $times } × les caches de dernier niveau)
plan-to = vers { $to }
plan-this-machine = cette machine par la boucle locale
plan-port = port { $port }
plan-each = à { $rate } chacun
plan-per-repetition = { $time } par répétition
plan-own-congestion = le contrôle de congestion du système
plan-there-and-back = messages de { $size } aller et retour
plan-spinning = attente active
plan-connection-each = une connexion pour chacun
plan-sleeping = attente passive
plan-placed-by-launcher = placés par le lanceur
plan-on-hosts = sur les hôtes { $hosts }
plan-one-on = dont un sur { $host }
plan-on-hosts-of-file = sur les hôtes du fichier { $file }
plan-started-by = lancés par { $launcher }
plan-messages-of = messages de { $size }
plan-messages = messages de { $low } à { $high }
plan-sizes = { $low } à { $high }, { $n } tailles
plan-preconditioned = préconditionné, écritures complètes : { $n }
plan-rounds = par tours jusqu’au régime permanent, { $n } au plus
plan-search = puis le débit maximal qui tient { $goal }
plan-shares = puis { $shares } du débit maximal
plan-points-near-the-knee = { $n ->
    [one] puis { $n } point près du coude
   *[other] puis { $n } points près du coude
}
plan-near-the-knee = une part proche du coude
plan-directories = { $n ->
    [one] { $n } répertoire
   *[other] { $n } répertoires
}
plan-io500-phases = { $n } phases
plan-io500-writes = { $n } phases d’écriture de { $time } chacune
plan-io500-invalid = non valide pour `IO500`, qui exige { $least }
plan-files = { $files } fichiers de { $size }, { $directories }
plan-each-once = chacun une fois, de façon répétée
plan-in-order = dans l’ordre
plan-at-random = au hasard
plan-read-checked = chaque lecture vérifiée
plan-write-checked = chaque écriture relue et vérifiée
plan-compressible = données compressibles à { $share }
plan-operation = { $operation }, accès { $pattern }
plan-of-the-rate = { $share } du débit
plan-fsync-every = fsync toutes les { $n } écritures
plan-permutation = aléatoire, chaque bloc une fois
plan-strided = par pas, avec des écarts de { $low } à { $high }
plan-per-thread = par thread
plan-in-parts = par parties
plan-to-the-end = jusqu’à la fin
plan-with-gaps = avec des écarts de { $size }
plan-partly-random = séquentiel, dont { $share } aléatoire
plan-blocks = { $order } par blocs de { $size }
plan-blocks-every = { $order } par blocs de { $size } tous les { $stride }
plan-no-target = aucune : le générateur de charge seul
plan-page-cache = par le cache de pages
plan-fsync-at-the-end = fsync à la fin
plan-closed-loop = maximum (boucle fermée)
plan-in-given-shares = boucle fermée, selon les parts données
plan-at-most = { $value } au plus
plan-share-of = { $share } de : { $what }
plan-maximum-rate = le débit maximal
plan-exponential-gaps = intervalles exponentiels
plan-uniform-gaps = intervalles uniformes
plan-constant-gaps = intervalles constants
days = { $n } j
hours = { $n } h
minutes = { $n } min
plan-pause = pause { $time }
plan-warm-up = échauffement { $time }
plan-until-done = jusqu’à la fin du travail
storage-plan-title = Plan de stockage
column-phase = phase
column-targets = cibles
column-load = charge
column-time = temps
plan-phases = phases
plan-files-and-devices = fichiers et périphériques
plan-required-size = taille requise
plan-maximum-in-flight = maximum d’E/S en cours
plan-until-the-work-is-done = jusqu’à la fin du travail
plan-and-open-phases = { $time }, et phases jusqu’à la fin de leur travail : { $n }

## When cases stop
plan-stops-at = Les cas s’arrêtent à { $stop } : quand l’intervalle est aussi étroit, après au moins autant de répétitions en autant de préparations, ou quand leur budget de temps est épuisé.
plan-stop-as-shown = aux valeurs indiquées

## References
references-title = Chiffres publiés
references-title-of = Chiffres publiés : { $system }
at-least = au moins { $value }
at-most = au plus { $value }
best-of-many = meilleure valeur { $value }
mean-of-many = moyenne { $value }
calculated = valeur calculée { $value }
references-hint = `assay references SYSTEM` affiche les chiffres avec leurs sources ; `assay compare RUN SYSTEM` et `assay run --expect SYSTEM` y confrontent des résultats.
references-source = Source : { $source }
column-system = système
column-figures = chiffres
column-figure = chiffre
column-published = publié
column-conditions = conditions
held-title = Comparaison avec { $name }
column-you = vous
column-you-share = vous / référence
held-reached = atteint
held-missed = non atteint
held-count-missed = non atteint : { $n } sur { $all } résultats sont moins bons que les chiffres de { $name } : { $which }
held-count-conflict = sources divergentes : { $n } sur { $all } résultats n’atteignent qu’une partie des chiffres de { $name } : { $which }
held-count-undecided = non concluant : { $n } sur { $all } résultats sont moins bons que les chiffres de { $name }, mais sont suspects ou sans intervalle : { $which }
held-count-none = non concluant : aucun chiffre de { $name } ne s’applique à ces résultats
held-explanation = Un résultat n’atteint pas un chiffre si tout son intervalle est moins bon de plus que la tolérance ({ $tolerance } sauf indication contraire de la référence). Un résultat suspect, ou un résultat d’assay sans intervalle, ne le démontre pas. Les meilleures valeurs parmi plusieurs et les chiffres douteux sont montrés, mais ne décident de rien.
references-nothing = aucun des chiffres de { $name } n’a été mesuré ici

## Stored runs held against what was written
verify-intact = intacte, sorties brutes : { $n }
verify-lost = endommagée, événements perdus : { $n }

## The page itself
page-contents = Sommaire
page-language = Langue
page-units = Unités
page-raw = Données brutes
page-back = retour à la première ligne

## The site of all runs
site-pages = Pages
site-histories = Historiques
site-comparison = Exécutions côte à côte
site-machine = type de machine
site-filters = Filtres
site-search = Recherche
site-any = tout
site-tick = comparer
site-tick-run = Comparer l’exécution { $run }
site-compare-ticked = Comparer les exécutions cochées : { $n }
site-newer = Plus récentes
site-older = Plus anciennes
site-shown = { $first } à { $last } sur { $all }
site-no-match = Aucune exécution ne correspond.
site-needs-script = La liste des exécutions nécessite JavaScript. Sans lui, ouvrez les pages du répertoire { $folder }.
site-no-choice = Cochez au moins deux exécutions dans la liste pour les voir côte à côte.
site-not-here = Ce site ne contient pas l’exécution { $run }.
site-ratios = Sous chaque valeur figurent son intervalle et le rapport de sa médiane à celle de la première exécution, avec la plage que permettent les intervalles à { $level } des deux médianes. Ce n’est pas un verdict, car les exécutions diffèrent aussi par hasard. Ces commandes en donnent un :
site-history-limit = Un historique contient au plus les { $n } exécutions les plus récentes de son hôte et un résultat par grandeur ; `assay history` lit toutes les exécutions et chaque résultat.
site-running = { $time } min, { $n } cas terminés sur { $all }
site-live-lost = Le serveur ne répond pas. La page montre son dernier état.
site-live-store = Les exécutions ne sont pas lisibles : { $reason }. La page montre leur dernier état.
site-curves = Courbes
site-distributions = Distributions
site-percentile = percentile
site-host-map = Hôtes de ces exécutions
site-host-map-legend = Plus la couleur est intense, plus la valeur est éloignée de la meilleure de sa colonne. Sous chaque valeur figure sa part de la meilleure.
site-labels = Verdicts entre étiquettes
site-labels-limit = Les verdicts portent sur les { $labels } étiquettes les plus récentes et sur au plus { $pairs } paires d’entre elles, chacune sur un hôte ; `assay compare` juge toutes les autres.
site-verdict = verdict : { $one } → { $two }
site-verdict-source = Chaque verdict est celui de cette commande, sur toutes les exécutions des deux étiquettes. Les rapports sous les valeurs sont ceux des seules exécutions cochées et ne sont pas un verdict :
site-pick = Sélectionnez deux points du graphique ou cochez deux exécutions du tableau pour les voir côte à côte.
site-written = écrit : { $page } (exécutions : { $runs }, fichiers écrits : { $written }, inchangés : { $kept }, supprimés : { $removed })
