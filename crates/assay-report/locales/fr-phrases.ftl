# Findings of the doctor and progress messages; their English is in the code (`phrase!`).
phrase-field-of = { $field } de { $file }
phrase-holds = { $file } contient { $text }
phrase-hidden-in-guest = { $what } : non visible dans cet invité ou ce conteneur ({ $layer })
phrase-hidden-on-host = { $what } : non visible sur cet hôte
phrase-none = aucun
phrase-governor = gouverneur cpufreq
phrase-energy = préférence énergétique du processeur
phrase-energy-bias = energy performance bias { $bias } (performance : { $best })
phrase-boost-switch = réglage du boost
phrase-on = activé
phrase-off = désactivé
phrase-part-of = { $part } sur { $whole }
phrase-frequency = fréquence actuelle des CPU
phrase-range = { $low } à { $high }
phrase-nominal-hidden = la fréquence nominale n’est pas visible
phrase-nominal = nominale { $frequency }
phrase-throttling = compteur de bridages thermiques
phrase-throttled-cpu = { $n } depuis le démarrage, sur le CPU qui en compte le plus
phrase-idle-states = liste des états d’inactivité
phrase-siblings = quels CPU sont des threads d’un même cœur
phrase-threads-several = plusieurs threads par cœur
phrase-threads-one = un thread par cœur
phrase-cpus-present = liste des CPU présents
phrase-cpus-online = { $some } en ligne sur { $all }
phrase-cpus-offline = hors ligne : { $cpus }
phrase-cpus-usable = CPU { $some } sur { $all }
phrase-microcode = révision réelle du microcode du processeur
phrase-about-device = cette propriété d’un périphérique réseau
phrase-half-duplex = semi-duplex
phrase-firmware = micrologiciel { $version }
phrase-receive-checksum = somme de contrôle en réception
phrase-send-checksum = somme de contrôle à l’envoi
phrase-off-fixed = désactivé (non modifiable)
phrase-ring-receive = réception { $now } sur { $most } au plus
phrase-ring-send = envoi { $now } sur { $most } au plus
phrase-packet-sizes = envoie { $send }, sur { $most } au plus, et reçoit { $receive }
phrase-cpus-of-queues = files : { $n }, CPU par file : { $most } au plus
phrase-numa-node = sur le nœud { $node }
phrase-about-disk-node = le nœud NUMA d’un disque
phrase-channels = files de réception : { $now } sur { $most } au plus, pour { $cpus } CPU
phrase-adaptive = adaptatif
phrase-coalescing = réception après { $receive } ou { $packets ->
    [one] { $packets } paquet
   *[other] { $packets } paquets
}, envoi après { $send }
phrase-function = par la fonction virtuelle { $function }
phrase-no-function = sans fonction virtuelle
phrase-queues = { $n ->
    [one] { $n } file
   *[other] { $n } files
}
phrase-queues-spread = réparties par RPS : { $n }
phrase-interrupts = { $n ->
    [one] { $n } interruption sur les CPU { $cpus }
   *[other] { $n } interruptions sur les CPU { $cpus }
}
phrase-interrupts-near = interruptions sur son nœud { $node } : { $some } sur { $all }
phrase-product = nom du produit
phrase-clock-source = source d’horloge
phrase-vulnerabilities = liste des vulnérabilités
phrase-mitigated = atténuées : { $some }{ $these }, vulnérables : { $others }{ $those }, connues : { $all }
phrase-no-parameter = aucun paramètre qui influe sur les résultats
phrase-parameters-tuning = réglages seulement : { $parameters }
phrase-all-processes = liste de tous les processus
phrase-running = en cours d’exécution
phrase-not-running = arrêté
phrase-quota = l’équivalent de { $quota } CPU sur { $cpus } CPU
phrase-group-throttling = nombre de bridages du groupe de contrôle
phrase-throttled-group = bridages depuis la création du groupe : { $n }
phrase-left = { $size } restants dans le groupe
phrase-unlimited = sans limite
phrase-load-average = charge moyenne
phrase-load = { $load } sur la dernière minute
phrase-busy = { $processes } d’un CPU
phrase-stolen-time = temps CPU volé
phrase-stolen = { $share } depuis le démarrage ({ $time })
phrase-pressure = informations de pression (PSI)
phrase-waited = { $share } des dernières { $time }
phrase-last-level = taille du cache de dernier niveau
phrase-memory-free = { $free } libres, { $needed } nécessaires (dernier niveau : { $caches })
phrase-numa-as-tuned = { $value }, comme tuned hpc-compute ; la page { $page } demande { $other }
phrase-numa-as-published = { $value }, comme la page { $page } ; tuned hpc-compute demande { $other }
phrase-numa-tiering = { $value } : la hiérarchisation de la mémoire est active
phrase-one-node = { $value }, sans effet : il n’y a qu’un nœud NUMA
phrase-numa-layout = organisation NUMA
phrase-nodes-on-sockets = { $nodes } sur { $sockets }
phrase-numa-nodes = { $n ->
    [one] { $n } nœud
   *[other] { $n } nœuds
}
phrase-sockets = { $n ->
    [one] { $n } socket
   *[other] { $n } sockets
}
phrase-page-cache = { $cached } en cache, { $dirty } à écrire
phrase-no-swap = { $value }, sans effet : il n’y a pas d’espace d’échange
phrase-memory-modules = description plausible des modules mémoire
phrase-modules = { $n ->
    [one] { $n } module
   *[other] { $n } modules
}
phrase-no-launcher = aucun lanceur MPI dans PATH
phrase-library-none = LD_LIBRARY_PATH n’indique aucune bibliothèque MPI ; le lanceur se trouve dans { $folder }
phrase-unknown-make = implémentation inconnue
phrase-library-and-launcher = { $make } dans { $folder } ; lanceur dans { $bin } : { $launcher }
phrase-no-mpi = aucun MPI dans PATH ni dans les répertoires habituels
phrase-launcher-alone = un lanceur sans bibliothèque dans { $place }
phrase-make-in = { $make } dans { $place }
phrase-mpich-or-intel = MPICH ou Intel MPI
phrase-standard-abi = MPI de l’ABI standard
phrase-no-mpi-module = aucun module d’environnement d’un MPI
phrase-modules-stale = aucun ne mène à un répertoire existant : { $stale }
phrase-modules-some-stale = { $sound } ; mènent à des répertoires inexistants : { $stale }
phrase-no-file = aucun fichier
phrase-user = utilisateur { $user }
phrase-neither = ni périphérique RDMA, ni variable de ce type
phrase-variables-alone = { $variables }, et aucun périphérique RDMA
phrase-devices-alone = aucune variable de ce type à côté de { $devices }
phrase-variables-and-devices = { $variables } malgré { $devices }
phrase-at-most = { $size } au plus
phrase-under-way = { $speed } × { $round_trip } = { $under_way } en transit, ce qui demande { $needed }
phrase-nobody = { $range } : personne
phrase-path = chemin
phrase-this-machine = { $to } est cette machine : boucle locale
phrase-unknown-device = un périphérique inconnu
phrase-over = { $to } par { $device }
phrase-no-echo = { $path } : pas de réponse à l’écho
phrase-round-trip = aller-retour { $time }
phrase-path-mtu = MTU du chemin au-delà de la boucle locale
phrase-path-mtu-without-socket = MTU du chemin (sans socket ICMP)
phrase-would-send = { $device } enverrait { $size }
phrase-packets-vanish = { $carried } passent et les paquets plus grands disparaissent sans message d’erreur ; { $believed } étaient supposés
phrase-carried = { $size } passent
phrase-believed = { $size } supposés, non prouvés
phrase-port = { $device } port { $port }
phrase-rdma-ethernet = périphérique RDMA sur Ethernet
phrase-rdma-device = périphérique RDMA
phrase-rdma-rate = vitesse d’un port actif d’une carte
phrase-one-lane = une seule voie du lien est active
phrase-two-lanes = seules deux voies du lien sont actives
phrase-faster-port = un autre port d’une carte identique a { $rate }
phrase-rdma-errors = compteur d’erreurs d’un périphérique RDMA
phrase-grew = { $counter } : +{ $n }
phrase-moving = en hausse : { $counters }
phrase-counters = { $n ->
    [one] { $n } compteur, à { $none }
   *[other] { $n } compteurs, tous à { $none }
}
phrase-still = stables ; depuis le démarrage du périphérique : { $counters }
phrase-rdma-firmware = micrologiciel d’un périphérique RDMA
phrase-rdma-pcie = lien PCIe d’un périphérique RDMA
phrase-pcie = { $link } sur { $most } : { $rate }
phrase-below-port = moins que les { $rate } du port
phrase-no-gid = sans GID { $version }
phrase-alone = { $what } seul
phrase-gid = GID { $index } ({ $kind }, { $n ->
    [one] le seul en { $version }
   *[other] l’un des { $n } en { $version }
})
phrase-rdma-mtu = par { $device } avec { $own } : MTU du chemin { $path }
phrase-no-nfs = aucun volume NFS n’est monté
phrase-solve-over-budget = une résolution avec N = { $n } prend au moins { $least }, pour un budget de { $budget }
phrase-launch-over-budget = un lancement de { $case } prend au moins { $least }, pour un budget de { $budget }
phrase-beside-budget = cela prend environ { $time } ; le budget du cas est de { $budget }
phrase-written-first = { $path } est d’abord écrit en entier : { $size }
phrase-writing = écriture de { $path } { $share }
phrase-round = tour { $n } : { $rate }
phrase-rounds-differ = les derniers diffèrent de { $range } et varient de { $slope }
phrase-keeps = tenu
phrase-misses = manqué
phrase-unclear = indécis
phrase-tried = { $asked } demandés, { $reached } atteints, { $late } des E/S en retard : { $verdict }
phrase-measures-alone = aucun outil installé ne mesure quoi que ce soit de cela : assay mesure seul
phrase-hosts-presumed = des serveurs ordinaires sont supposés : aucun hôte n’a été interrogé sur sa vitesse
phrase-run-over-budget = l’exécution prend environ { $time } au lieu des { $budget } de son budget
phrase-run-even-longer = l’exécution prend désormais environ { $time } et non { $before } : ce qui a été mesuré jusqu’ici a pris plus de temps que prévu
phrase-cases-cut = { $few } cas sur { $all } n’ont pas été mesurés : le budget de { $budget } s’est terminé avant
phrase-plan-too-short = en { $budget }, environ { $few } cas sur { $all } ne sont pas mesurés ; { $needed } suffiraient pour tous
phrase-plan-tools-late = { $cases } : ne commence pas, car les cas précédents utilisent tout le budget de { $budget }
phrase-plan-in-a-hurry = { $few ->
    [one] { $few } cas sur { $all } n’a
   *[other] { $few } cas sur { $all } n’ont
} le temps que pour moins de { $least } répétitions en { $budget } ; { $needed } suffiraient
phrase-preparation = préparation { $n }
phrase-children-left = processus terminés, car ils survivaient à { $program } : { $n }
phrase-other-make = { $path } n’est pas de la même implémentation que { $launcher }, qui a lancé ce processus
phrase-not-served = { $path } est Open MPI, et srun n’a pas reçu l’option qui la prend en charge : `--mpi=pmix`
phrase-served-in-part = { $path } est Intel MPI, et { $launcher } de MPICH, qui a lancé ce processus, ne la prend en charge que dans certaines versions : si `MPI_Init` échoue, lancer avec le `mpiexec.hydra` d’Intel MPI
phrase-removing = suppression de ce qui a été créé pour l’exécution
phrase-directory-kept = { $directory } est conservé : il contient des fichiers qu’assay n’a pas créés
phrase-files-left = des fichiers créés pour l’exécution subsistent ; `assay storage clean` les supprime
phrase-preconditioning = { $test }, préconditionnement { $pass } sur { $all }
phrase-preconditioning-shuffled = { $test }, préconditionnement en ordre aléatoire
phrase-laying-out = écriture complète de { $path } ({ $size })
phrase-and-more = { $first } et { $n } de plus
phrase-block-device = périphérique bloc { $device }
phrase-mounted = { $kind } sur { $device }, monté sur { $point }
phrase-mounted-in-memory = { $kind }, c’est-à-dire de la mémoire : aucun périphérique de stockage n’est mesuré ; monté sur { $point }
phrase-back-to = retour à { $condition } : { $command }
phrase-decided-early = décidé après { $blocks } blocs ; les analyses intermédiaires après chaque bloc sont prises en compte dans le risque d’erreur
phrase-back-within = cela peut prendre jusqu’à { $minutes } minutes ; arrêter maintenant laisse { $condition } en place
phrase-settling = { $condition } : stabilisation
phrase-to-condition = vers { $condition } : { $command }
phrase-restoring = restauration de { $factor } : { $command }
phrase-planning-combinations = planification des combinaisons sur leurs hôtes : { $count }
phrase-applying-on-hosts = vers { $condition }, nombre d’hôtes : { $count }
phrase-restoring-on-hosts = restauration des facteurs, nombre d’hôtes : { $count }
phrase-unrestored = une mesure interrompue brutalement a laissé un niveau de { $factor } en place ; restaurez avec { $command }, puis supprimez { $file }
phrase-order = l’ordre est tiré de `--seed` { $seed }
phrase-turn = mesure { $turn } sur { $all } : { $condition }
phrase-as-control = encore une fois, comme témoin
phrase-hosts-answered = hôtes ayant répondu : { $some } sur { $all }
phrase-gate-not-compared = non mesuré dans les deux conditions
phrase-gate-at-least = { $value }, au moins { $bound }
phrase-gate-at-most = { $value }, au plus { $bound }
phrase-gate-in-doubt = { $reason } ; douteux : { $doubt }
phrase-one-sample = un seul échantillon
phrase-few-samples = trop peu d’échantillons
phrase-wide-interval = un intervalle large
phrase-gate-unmeasured = rien n’a été mesuré
phrase-gate-above-limit = { $value }, au-dessus de la limite { $bound }
phrase-gate-limit = { $value }, limite { $bound }
phrase-gate-no-ratio = une exécution n’a pas de valeur positive
phrase-gate-worse = { $share } de moins bon, au plus { $allowed } autorisés
phrase-gate-better = { $share } de mieux, au plus { $allowed } de moins bon autorisés
phrase-gate-few-runs = { $reason } ; trop peu d’exécutions pour un intervalle
