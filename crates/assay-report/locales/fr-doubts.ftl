advice-more-time = accorder plus de temps, par exemple `--budget 10m` ou un `--for` plus long
advice-tool-repeats = l’outil ou ses options décident du nombre de répétitions ; en demander plus, ou exécuter le cas plusieurs fois
advice-raw-output = consulter la sortie brute conservée
advice-kernel-log = consulter les messages du noyau avec `dmesg`, puis recommencer
advice-check-address = vérifier l’adresse et la route qui y mène
luck-pages = placement en mémoire
luck-connections = ensemble de connexions
luck-launch = lancement
depends-pages = le résultat dépend du placement des pages ; les grandes pages réduisent cette dépendance, et plus de temps permet plus de préparations
depends-connections = le résultat dépend de la connexion : des CPU qui la servent et du trafic qui emprunte le même chemin ; plus de temps permet plus de connexions
depends-launch = le résultat dépend du lancement : de la mémoire et des CPU qu’ont obtenus ses processus ; plus de temps permet plus de lancements
doubt-no-interval = { $n ->
    [one] aucun intervalle de confiance à { $level } de la médiane avec { $n } échantillon : il en faut { $needed } indépendants
   *[other] aucun intervalle de confiance à { $level } de la médiane avec { $n } échantillons : il en faut { $needed } indépendants
}
doubt-no-interval-worth = { $n ->
    [one] aucun intervalle de confiance à { $level } de la médiane avec { $n } échantillon, qui en vaut { $worth } : il en faut { $needed } indépendants
   *[other] aucun intervalle de confiance à { $level } de la médiane avec { $n } échantillons, qui en valent { $worth } : il en faut { $needed } indépendants
}
doubt-wider-than-value = l’intervalle de confiance à { $level } de la médiane est plus large que la valeur elle-même, pour ±{ $target } demandés (n = { $n }, n effectif = { $worth })
    .advice = { $first }, ou réduire l’activité de la machine : `assay doctor` indique ce qui la perturbe
doubt-wide-interval = l’intervalle de confiance à { $level } de la médiane atteint ±{ $width }, pour ±{ $target } demandés (n = { $n }, n effectif = { $worth })
    .advice = { $first }, ou réduire l’activité de la machine : `assay doctor` indique ce qui la perturbe
doubt-one-preparation = tous les échantillons partagent une seule et même condition de départ ({ $luck }), pour { $asked } demandées ; l’intervalle ne montre pas quelle en est l’importance
doubt-few-preparations = { $had ->
    [one] le temps n’a suffi qu’à { $had } préparation, pour { $asked } demandées
   *[other] le temps n’a suffi qu’à { $had } préparations, pour { $asked } demandées
}
doubt-preparations-differ = { $share } de la variance se situent entre les { $preparations } préparations : { $n } échantillons équivalent à { $worth } échantillons indépendants
doubt-autocorrelated = les échantillons successifs sont corrélés : { $n } échantillons équivalent à { $worth } échantillons indépendants
    .advice = quelque chose de plus lent qu’une répétition influe sur le résultat : fréquence d’horloge, température, autre processus ; `assay doctor` liste ses constats
doubt-warm-up-discarded = { $discarded } échantillons sur { $all } s’écartent de ceux qui les suivent et ont été écartés comme échauffement
    .advice = le résultat porte sur ce qui a suivi ; tous les échantillons sont conservés dans l’ordre des mesures
doubt-several-modes = les échantillons forment des groupes : { $few } autour de { $low } et { $many } autour de { $high } ; aucun nombre ne décrit les deux à la fois
    .advice = trouver la cause du passage de l’un à l’autre : placement des pages, fréquence d’horloge, autre processus ; les échantillons sont conservés dans l’ordre des mesures
doubt-samples-not-finite = { $refused } échantillons sur { $all } ne sont pas des nombres finis et ne comptent pas
    .advice = l’outil de mesure a divisé par un temps nul ou n’a affiché aucun nombre ; consulter sa sortie brute
doubt-not-a-value = { $figure } ne peut pas être une valeur mesurée de { $metric }
    .advice = la mesure n’a rien fait, ou sa sortie a été mal lue ; consulter la sortie brute
doubt-out-of-order = { $law } n’est pas respecté : { $less } > { $more }
    .advice = ces chiffres ne peuvent pas provenir d’un même échantillon ; ne pas les utiliser
order-low-median = borne inférieure de l’intervalle ≤ médiane
order-median-high = médiane ≤ borne supérieure de l’intervalle
doubt-above-limit = la médiane représente { $share } de sa limite, { $limit } ({ $basis })
    .advice = c’est le cache qui a été mesuré, ou bien l’unité ou la limite est fausse : vérifier la taille, l’unité et d’où vient la limite
doubt-no-rpeak = il n’y a pas de Rpeak : le meilleur débit est de { $rate } FLOP par cycle à la fréquence mesurée, ce qui ne correspond à aucun cœur
    .advice = autre chose a utilisé ces CPU : vérifier le temps volé (steal) et la pression CPU (PSI), puis mesurer à nouveau
advice-limit-contended = autre chose a utilisé ces CPU : vérifier le temps volé (steal) et la pression CPU (PSI), puis mesurer à nouveau
doubt-unknown-metric = { $case } contient des échantillons de `{ $metric }`, grandeur que cette version ne connaît pas
    .advice = lire l’exécution avec la version d’assay qui l’a produite
doubt-cache-assisted = des tableaux de { $size } ne font que { $multiple } fois les caches de dernier niveau ; une partie du trafic n’a donc jamais atteint la mémoire
    .advice = utiliser des tableaux d’au moins { $needed } fois les caches, ou libérer de la mémoire
doubt-idle-latency-differs = sans trafic, la chaîne prend { $idle } par chargement, mais la latence mémoire du même ensemble de travail est de { $latency }
    .advice = autre charge ou autres pages : vérifier les grandes pages des deux, puis mesurer à nouveau les deux
doubt-traffic-above-stream = le trafic de { $traffic } dépasse tous les débits de STREAM, { $stream }
    .advice = le trafic venait d’un cache, ou STREAM a été plus lent : mesurer à nouveau les deux sur une machine au repos
doubt-cache-ends-early = les chargements sortent du cache L{ $level } pour des ensembles de travail au-delà de { $end }, mais le noyau indique { $size }
    .advice = un invité n’a qu’une part du cache, ou d’autres CPU l’utilisent : lire sa fin sur la courbe
doubt-hand-over-below-load = un transfert a pris { $time }, moins que le chargement le plus court, { $load }
    .advice = les CPU virtuels ou leur horloge ne sont pas ce qu’ils semblent être : vérifier le temps volé et la source d’horloge, puis mesurer à nouveau
doubt-steal = l’hyperviseur a pris { $stolen } de temps CPU ({ $share }) en { $span }
    .advice = recommencer à une heure plus calme, ou sur une machine qui ne partage pas ses CPU
doubt-cpu-pressure = au moins une tâche a attendu un CPU pendant { $share } du temps
    .advice = arrêter les autres programmes, ou mesurer avec moins de threads que de CPU
doubt-memory-pressure = au moins une tâche a attendu de la mémoire pendant { $share } du temps
    .advice = utiliser des tableaux plus petits, ou libérer de la mémoire avant l’exécution
doubt-throttled = { $n ->
    [one] le groupe de contrôle a épuisé son quota de CPU { $n } fois en { $span }
   *[other] le groupe de contrôle a épuisé son quota de CPU { $n } fois en { $span }
}
    .advice = relever la limite de CPU du conteneur ou du service, ou ne pas utiliser plus de threads qu’elle n’en permet
doubt-frequency-drop = la fréquence CPU la plus élevée est tombée de { $before } avant à { $after } après ({ $change })
    .advice = vérifier le refroidissement et les limites de puissance ; fixer la fréquence pour comparer deux machines
doubt-other-load = la charge moyenne (load average) était de { $load } avant toute mesure
    .advice = arrêter les autres programmes ; une mesure qui vient de se terminer compte aussi pendant une minute
doubt-other-demand = d’autres processus ont utilisé { $cpus } CPU sur { $all } ({ $share }) pendant la mesure
    .advice = arrêter les autres programmes ; `assay doctor load` énumère les plus actifs
doubt-another-assay = un autre assay mesure sur cette machine ; les deux peuvent se gêner
    .advice = attendre qu’il ait terminé, puis mesurer à nouveau
doubt-emulated-cpu = le processeur est émulé par logiciel (QEMU sans KVM) : les vitesses mesurées ici ne valent pour aucune vraie machine
    .advice = n’utiliser ces valeurs que pour vérifier que le programme fonctionne, et mesurer sur du matériel réel ou sous KVM
doubt-suspended = la machine a été mise en veille pendant { $time } au cours de l’exécution
    .advice = mesurer à nouveau : ces résultats comprennent du temps pendant lequel rien n’était mesuré
doubt-paused = { $n ->
    [one] assay est resté bloqué pendant { $time }, { $n } fois : il a été suspendu ou n’a pas obtenu de CPU
   *[other] assay est resté bloqué pendant { $time }, { $n } fois : il a été suspendu ou n’a pas obtenu de CPU
}
    .advice = mesurer à nouveau : ces résultats comprennent du temps pendant lequel rien n’était mesuré
doubt-cpus-taken = { $n ->
    [one] assay n’a plus pu utiliser le CPU { $cpus } : mis hors ligne, ou retiré de son cpuset ou de son affinité
   *[other] assay n’a plus pu utiliser les CPU { $cpus } : mis hors ligne, ou retirés de son cpuset ou de son affinité
}
    .advice = mesurer à nouveau : les threads destinés à un tel CPU en ont partagé un autre
doubt-clock-stepped = l’horloge système a été décalée de { $step } pendant l’exécution
    .advice = les durées et l’ordre des événements viennent d’une horloge monotone et ne sont pas affectés ; trouver le programme qui règle l’horloge système : `timedatectl`, `chronyc tracking`
doubt-over-budget = l’exécution a pris { $elapsed } pour un budget de { $budget } : les durées fixes et les premiers résultats ne sont pas raccourcis
    .advice = donner plus de temps (`--budget`), ou choisir moins de cas dans un fichier de suite
unsteady-too-few = il y a eu trop peu de tours, ou des tours sans aucune E/S
unsteady-window = { $n ->
    [one] le dernier tour ({ $n }) diffère encore de { $range } et varie de { $slope }
   *[other] les { $n } derniers diffèrent encore de { $range } et varient de { $slope }
}
unsteady-drift = et une tendance de { $drift } se poursuit
doubt-steady-state-not-reached = régime permanent non atteint en { $rounds } tours : { $found }
    .advice = au plus { $range } et { $slope } sont admis : écrire davantage au préalable (`--precondition`), allonger les tours (`--for`), ou chercher ce qui utilise aussi ce stockage
doubt-search-not-finished = recherche interrompue après { $n } débits : entre { $keeps }, qui tient l’objectif, et { $misses } rien n’est connu
    .advice = laisser la recherche aller à son terme : le débit maximal qui tient l’objectif peut être plus élevé
doubt-target-in-memory = { $path } est en mémoire ({ $kind }) : aucun périphérique de stockage n’est mesuré
    .advice = indiquer un fichier, un répertoire ou un périphérique du stockage voulu
advice-page-cache = le cache de pages de cet hôte a le reste : mesurer avec O_DIRECT, ou avec plus de données que n’en contient la mémoire, et terminer les écritures par fsync
advice-cache-below = quelque chose entre cet hôte et le périphérique a le reste : chercher un cache ou une compression du volume, et des trous dans le fichier
doubt-cached-reads = au moins { $share } des octets lus ne sont pas venus de { $place } : il en a fourni { $moved } sur { $payload }
doubt-cached-writes = au moins { $share } des octets écrits n’ont pas atteint { $place } pendant la mesure : il en a reçu { $moved } sur { $payload }
doubt-card-traffic-more = { $device } a transporté { $factor } fois les données utiles, plus que ne l’expliquent les en-têtes
    .advice = chercher un autre trafic sur le périphérique (`ip -s link`) et des retransmissions (`nstat`)
doubt-card-traffic-less = { $device } n’a transporté que { $factor } fois les données utiles
    .advice = un autre périphérique a transporté le reste, ou le pilote ne compte pas tout : vérifier la route (`ip route get`) et `ethtool -S`
doubt-rpc-retransmits = appels que le client NFS de { $mount } a renvoyés : { $n } sur { $calls }
    .advice = le serveur ou le chemin a perdu des appels, ou a répondu trop tard : vérifier `nfsstat -c`, le réseau et la charge du serveur
doubt-interrupt-bound = { $cpu } a passé { $share } de son temps dans des interruptions et n’en avait plus : il a limité le résultat
    .advice = répartir les interruptions sur plus de CPU : plus de files (`ethtool -L`), ou receive packet steering (RPS) ; plus de flux n’aident que s’ils atteignent d’autres files
doubt-io-limit-reached = { $device } a atteint la limite du groupe de contrôle : { $reached } sur { $limit }
    .advice = la valeur est celle de la limite, non celle du périphérique : relever `io.max` ou `blkio.throttle` pour mesurer le périphérique
doubt-file-with-holes = { $path } fait { $size }, dont seulement { $stored } sont alloués
    .advice = lire un trou n’exige aucune E/S : indiquer un chemin où assay crée un fichier, ou écrire d’abord celui-ci en entier ; il se peut aussi que son système de fichiers compresse
doubt-littles-law = { $flight } E/S étaient en cours, mais débit × latence donne { $product } : un écart de { $difference }
    .advice = la latence ou le débit est faux ; consulter les séries conservées avec l’exécution
doubt-rate-missed = { $asked } demandés, { $reached } atteints
    .advice = le stockage, la profondeur de file ou une machine occupée est la limite : la latence depuis le départ prévu croît tant que le test dure ; demander moins, ou augmenter la profondeur de file
doubt-not-started = { $n } requêtes sur les { $due } dues n’avaient pas commencé à la fin du temps imparti
    .advice = elles comptent avec leur attente jusque-là, si bien que les latences depuis le départ prévu sont au moins celles affichées ; demander moins, ou augmenter la profondeur de file là où elle existe
doubt-message-rate-missed = { $asked } messages par seconde demandés, { $reached } avec réponse : la cadence n’a pas été atteinte
    .advice = un seul message à la fois circule sur la connexion, deux sont donc séparés d’au moins un aller-retour ; la latence compte depuis le départ prévu et croît tant que le test dure, y compris celle des messages non envoyés à temps ; demander moins
doubt-generator-near = le générateur seul atteint { $rate }, soit seulement { $factor } fois le débit mesuré
    .advice = lui donner plus de threads : une partie de la latence peut venir du générateur
doubt-io-failed = échec de l’opération { $operation } ({ $size } octets, à l’octet { $offset } de la cible { $target }) : { $cause }
doubt-file-operation-failed = échec de l’opération { $operation } sur { $path } : { $cause }
doubt-measured-once = { $by } ne mesure qu’une fois, sans rechercher de régime permanent
    .advice = laisser assay mesurer d’abord dans la même exécution : le régime permanent qu’il trouve vaut pour les deux
doubt-other-binding = les rangs étaient liés aux CPU { $bound } au lieu de { $asked } demandés, un par CPU
    .advice = le lanceur ou sa configuration les lie autrement : le placement mesuré n’est pas celui qui est indiqué
doubt-one-kernel = les deux hôtes partagent un même noyau : la bibliothèque MPI a pu passer par leur mémoire au lieu du réseau
    .advice = indiquer un hôte qui soit une autre machine, ou interdire la mémoire partagée à la bibliothèque : `UCX_TLS=^shm`, `I_MPI_FABRICS=ofi`
doubt-unbound-ranks = { $unbound } rangs sur { $ranks } ne sont pas liés à un seul CPU, dont { $moved } ont migré
    .advice = les lier avec le lanceur : `-bind-to core` (MPICH), `--bind-to core` (Open MPI), `I_MPI_PIN=1` (Intel MPI), `--cpu-bind=cores` (srun)
doubt-function-bypassed = la fonction virtuelle { $function } a transporté { $share } du trafic de { $device } pendant le test
    .advice = la mise en réseau accélérée est configurée mais inutilisée : chercher `Data path switched` dans le journal du noyau
rounded-at = {" "}à { $at }
doubt-score-contradicted = le score du fichier ne découle pas de ses phases : il indique { $printed }, les phases donnent { $calculated }
    .advice = vérifiez si des lignes du fichier ont été modifiées ou appartiennent à une autre exécution
doubt-rounded-output = l’outil affiche si peu de décimales que { $metric } n’est connu qu’à ±{ $share }{ $at }
    .advice = comparer des messages plus grands, ou les chiffres d’assay, qui ne sont pas arrondis
doubt-option-contradicted = les options donnent { $option } pour { $condition }, les mesures { $figures } : ce sont les mesures qui sont enregistrées
    .advice = vérifier que le fichier correspond à ces options et que l’outil est allé jusqu’au bout
doubt-process-cpu-only = `iperf3` n’indique que le temps CPU de ses propres processus : les softirqs de réception n’y figurent pas
    .advice = les chiffres d’assay, à côté, donnent le coût complet
doubt-far-process-cpu-only = l’extrémité distante est `iperf3`, qui n’indique que le temps CPU de son propre processus : les softirqs de réception n’y figurent pas
    .advice = lancer `assay iperf3 -s` à l’extrémité distante pour obtenir le coût complet
doubt-broke-off = le cas s’est terminé prématurément : le résultat porte sur le temps écoulé jusque-là
    .advice = mesurer à nouveau pour avoir le résultat complet
doubt-copy-unknown = une extrémité distante `iperf3` antérieure à { $version } copie ce qu’elle reçoit, quoi qu’on lui demande
    .advice = lancer `assay iperf3 -s` à l’extrémité distante
doubt-shared-server = le serveur a aussi exécuté d’autres tests pendant { $share } de celui-ci (nombre : { $n }) : ils partageaient son lien et ses CPU
    .advice = mesurer seul, ou lancer le serveur sans `--clients`
doubt-other-thread-count = stream a utilisé { $ran } threads, pour { $asked } demandés
    .advice = compiler `stream.c` avec `-fopenmp`, et ne laisser rien d’autre fixer les variables d’OpenMP
doubt-smaller-arrays = les tableaux de l’outil contiennent { $held }, pour { $wanted } demandés : { $multiple } fois les caches de dernier niveau
    .advice = donner à l’outil des tableaux plus grands ; la règle de STREAM est de quatre fois les caches
doubt-events-changed = les événements enregistrés de cette exécution ont été modifiés après leur écriture
    .advice = `assay verify RUN` indique chaque endroit
doubt-events-lost = { $n ->
    [one] { $n } événement de cette exécution est perdu : le rapport est incomplet
   *[other] { $n } événements de cette exécution sont perdus : le rapport est incomplet
}
    .advice = `assay verify RUN` indique chaque endroit
doubt-store-index = l’index { $path } ne peut pas être écrit : { $cause }
    .advice = rien n’est perdu : les exécutions sont listées à partir de leurs événements, mais plus lentement ; rendre le répertoire accessible en écriture

failure-no-samples = rien n’a été mesuré : le cas n’a aucun échantillon
    .advice = consulter la sortie brute conservée
failure-no-finite-sample = rien n’a été mesuré : aucun échantillon de { $metric } n’est un nombre fini
    .advice = consulter la sortie brute conservée
failure-icmp-has-no-streams = ICMP ne transporte pas de flux
    .advice = demander `latency`
failure-no-echo = l’hôte ne répond à aucun écho ICMP
    .advice = l’hôte ou un pare-feu ignore peut-être ICMP ; `assay net latency` interroge par TCP ou UDP
failure-residual-too-large = la solution est fausse : son résidu normalisé est de { $residual } et doit être inférieur à { $bound }
    .advice = recommencer une fois ; si l’échec se répète, tester la mémoire et les réglages de fréquence de cette machine
failure-unknown-instruction-set = il n’existe pas de jeu d’instructions `{ $name }`
    .advice = le plan vient d’une autre version d’assay ; le refaire
failure-skipped = omis : { $lack }
    .advice = voir le cas qui l’a révélé : son échec indique que faire
lack-address = l’hôte { $host } n’a pas été trouvé
lack-port = le port { $port } de { $host } n’a pas pu être joint
lack-echo = rien ne répond aux ping-pongs sur { $host }
lack-connection = aucune connexion à { $host } n’a pu être établie
failure-tool-cannot-search = { $by } mesure un débit donné et n’en recherche pas
    .advice = laisser assay le rechercher, et donner le résultat à l’outil avec `--rate`
failure-curve-without-maximum = le débit maximal de cette courbe n’est pas connu
    .advice = le cas précédent a échoué : en consulter d’abord la raison
no-io-done = aucune E/S n’a été effectuée
failure-no-rate-keeps-goal = il n’a été établi pour aucun débit que { $goal } est tenu : { $last }
    .advice = admettre plus de latence, ou accorder plus de temps à chaque étape (`--for`) : un percentile exige beaucoup d’E/S
rate-tried = { $asked } demandés, { $reached } atteints, { $late } des E/S en retard : { $verdict }
failure-io-failed = { $n ->
    [one] { $n } E/S a échoué : { $operation } à l’octet { $offset } de { $target }
   *[other] { $n } E/S ont échoué, la première : { $operation } à l’octet { $offset } de { $target }
}
failure-file-operation-failed = { $n ->
    [one] { $n } opération a échoué : { $operation } sur { $path }
   *[other] { $n } opérations ont échoué, la première : { $operation } sur { $path }
}
failure-no-io = aucune E/S ne s’est achevée pendant le temps qui compte
    .advice = accorder plus de temps avec `--for` ou `--budget`
failure-unknown-host = l’hôte { $host } n’est pas connu
    .advice = vérifier le nom, ou donner une adresse
failure-no-address = l’hôte { $host } n’a pas d’adresse de la famille demandée
    .advice = omettre `-4` ou `-6`
failure-no-interface = l’adresse de lien local { $host } ne nomme aucune interface de cet hôte
    .advice = indiquer l’interface qui y mène : { $addresses }
failure-not-connected = connexion à { $address } impossible
advice-refused = rien n’écoute à cette adresse : démarrer un serveur sur cet hôte (`assay iperf3 -s -B ADDRESS` ou `iperf3 -s` pour les flux, `qperf` pour les ping-pongs), ou indiquer son port
advice-refused-connections = rien n’écoute à cette adresse : démarrer `assay iperf3 -s -B ADDRESS` sur cet hôte, ou indiquer son port
advice-timed-out = un pare-feu entre les deux hôtes rejette peut-être les paquets : ouvrir le port, ou en indiquer un autre
failure-no-ping-pong = rien ne répond aux ping-pongs sur { $host }
    .advice = un serveur `iperf3` seul n’y répond pas : y lancer `qperf` à côté de `iperf3 -s`, ou `assay iperf3 -s`, qui sert les deux ; les échos ICMP n’ont besoin ni de l’un ni de l’autre
failure-stalled = aucune donnée n’a circulé entre cette machine et { $peer } depuis { $time }
    .advice = le chemin a été coupé, un pare-feu a oublié les connexions, ou l’autre extrémité est bloquée
failure-peer-busy = { $peer } exécute déjà un test, ou refuse ce client
    .advice = attendre la fin du test en cours, ou indiquer un autre port
failure-peer-stopped = { $peer } a mis fin au test
    .advice = le test a été arrêté de ce côté, comme le sont les flux qui ne font que charger un lien pendant qu’autre chose est mesuré
failure-no-data = aucune donnée n’est arrivée
    .advice = un pare-feu laisse peut-être passer la connexion de contrôle et pas les données
failure-wrong-contents = des messages de { $size } sont arrivés avec un contenu erroné
    .advice = la bibliothèque ou le réseau altère les données : tester les deux
failure-rank-died = un rang s’est terminé anormalement : { $how }
    .advice = si personne ne l’a tué, le noyau l’a fait faute de mémoire (`dmesg` l’indique) ou la bibliothèque a échoué ; { $see }
launcher-ended = le lanceur s’est terminé avec le code { $code }
launcher-killed = le lanceur a été tué par un signal
launcher-said = { $how } ; il a affiché : { $words }
launcher-executable = vérifier que { $launcher } peut être exécuté
failure-no-outcome-here = le premier rang n’a rien écrit sur cet hôte
    .advice = il doit s’exécuter sur l’hôte où assay a été lancé : indiquer cet hôte en premier dans la liste
failure-no-outcome = le lancement s’est bien terminé, mais le premier rang n’a rien écrit
    .advice = il doit s’exécuter sur l’hôte où assay a été lancé : indiquer cet hôte en premier dans la liste
failure-other-version = les rangs sont assay { $found }, celui-ci est { $own }
    .advice = installer le même assay sur tous les hôtes
failure-other-rank-count = { $found } rangs ont participé, pour { $asked } demandés
failure-launch-broke-off = le lancement s’est terminé avant que toutes les tailles soient mesurées
see-by-hand = voir ce qu’affiche cette commande (conservé aussi avec l’exécution) : { $command }
area-threads = mesurer à nouveau : un CPU a pu être désactivé ou retiré du cpuset, ou le système refuse d’autres threads (`ulimit -u`, `pids.max`)
area-stream = des tableaux plus petits (`--bytes`) demandent moins de mémoire ; un contenu erroné signifie une mémoire défectueuse ou une machine surcadencée
area-latency = choisir un ensemble de travail plus petit (`to` dans un fichier de suite), et voir `assay doctor`
area-peak-flops = `assay doctor` montre la charge concurrente sur ces CPU ; une somme erronée signifie un processeur défectueux
area-linpack = choisir un système d’équations plus petit avec `--n` ou `--memory`
area-blas = installer la bibliothèque (Debian : `libopenblas0-pthread`, `libblis4-pthread`) ou en donner le chemin complet
area-generator = le générateur seul doit fonctionner partout : merci de le signaler
area-icmp = `sysctl net.ipv4.ping_group_range="0 2147483647"` autorise tout le monde à utiliser ping ; ou exécuter en tant que root
area-rdma = `rdma link` liste les périphériques RDMA et leur état ; voir aussi `assay help rdma`
area-launcher = vérifier que le lanceur peut être exécuté
area-process = exécuter à la main la commande enregistrée pour voir ses erreurs
area-tool = consulter la sortie brute conservée ; s’il s’agit d’une version de l’outil qu’assay ne connaît pas, la signaler avec cette sortie
area-temporary-folder = libérer de la place dans le répertoire des fichiers temporaires
area-host = voir l’avertissement sur cet hôte
area-own-program = lancer assay par son chemin, depuis un répertoire qui existe encore

missing-host = aucun second hôte n’est indiqué
    .advice = en indiquer un avec `--to HOST`
missing-target = aucun fichier, répertoire ni périphérique n’est indiqué
    .advice = en indiquer un avec `--target` ; dans un répertoire, un fichier est créé, puis supprimé
missing-mpi = aucun MPI n’a été trouvé
    .advice = en installer un, ou indiquer son préfixe avec `--mpi` ; `assay doctor` liste ceux qui sont installés
missing-domain = cette machine n’a pas de tels domaines, ou les masque
    .advice = `assay doctor` montre sa topologie
missing-cores = plus de threads ou de rangs sont demandés qu’il n’y a de cœurs
    .advice = en demander moins, ou omettre le nombre
missing-memory = il y a trop peu de mémoire
    .advice = en libérer
missing-known-memory = la taille de la mémoire utilisable est inconnue
    .advice = rendre /proc/meminfo lisible ici ou limiter la mémoire du groupe de contrôle
missing-tool = l’outil est introuvable
    .advice = `assay help tools` liste les outils
missing-library = la bibliothèque à utiliser est introuvable
    .advice = installer la bibliothèque, ou la retirer de la suite
missing-rdma-device = aucun périphérique RDMA n’a été trouvé
    .advice = charger le pilote de la carte réseau (`rdma link` liste les périphériques), ou ajouter RoCE en logiciel : `rdma link add rxe0 type rxe netdev eth0`
missing-time = le budget de temps de l’exécution s’est terminé avant
    .advice = donner plus de temps avec `--budget`, ou mesurer moins à la fois
doubt-worse-than-pairs = { $from } vers { $to } est moins bon que les autres paires : { $value } contre une médiane de { $median } sur { $pairs } paires ({ $change }) ; la différence est statistiquement significative
    .advice = comparer avec les paires qui partagent un de ses hôtes : est-ce un hôte ou le chemin entre les deux ? `assay doctor --to HOST` examine le chemin
doubt-worse-than-peers = { $host } est moins bon que ses pairs : { $value } contre une médiane de { $median } sur { $hosts } hôtes ({ $change }) ; la différence est statistiquement significative
    .advice = `assay doctor --hosts` montre en quoi il diffère ; l’écarter ou le faire examiner
doubt-host-saturated = { $host } était occupé jusqu’à sa limite : { $resource } à { $share } ; le résultat est peut-être la limite de cet hôte
    .advice = prendre plus d’hôtes, ou de plus grands, pour que chacun ait moins à faire
