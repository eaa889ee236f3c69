# What the doctor saw and what is said while a run goes on; the English is where it is said (`phrase!`).
said-field-of = { $field } de { $file }
said-holds = { $file } contient { $text }
said-hidden-in-guest = { $what } : non visible dans cet invité ou ce conteneur ({ $layer })
said-hidden-on-host = { $what } : non visible sur cet hôte
said-none = aucun
said-governor = gouverneur cpufreq
said-energy = préférence énergétique du processeur
said-energy-bias = energy performance bias { $bias } (performance : { $best })
said-boost-switch = interrupteur du boost
said-on = activé
said-off = désactivé
said-part-of = { $part } sur { $whole }
said-frequency = fréquence actuelle des CPU
said-range = { $low } à { $high }
said-nominal-hidden = la fréquence nominale n’est pas visible
said-nominal = nominale { $frequency }
said-throttling = compteur de bridages thermiques
said-throttled-cpu = { $n } depuis le démarrage, sur le CPU qui en compte le plus
said-idle-states = liste des états d’inactivité
said-siblings = quels CPU sont des threads d’un même cœur
said-threads-several = plusieurs threads par cœur
said-threads-one = un thread par cœur
said-cpus-present = liste des CPU présents
said-cpus-online = { $some } en ligne sur { $all }
said-cpus-offline = hors ligne : { $cpus }
said-cpus-usable = CPU { $some } sur { $all }
said-microcode = révision réelle du microcode du processeur
said-about-device = cette propriété d’un périphérique réseau
said-half-duplex = semi-duplex
said-firmware = micrologiciel { $version }
said-receive-checksum = somme de contrôle en réception
said-send-checksum = somme de contrôle à l’envoi
said-off-fixed = désactivé (non modifiable)
said-ring-receive = réception { $now } sur { $most } au plus
said-ring-send = envoi { $now } sur { $most } au plus
said-channels = files de réception : { $now } sur { $most } au plus, pour { $cpus } CPU
said-adaptive = adaptatif
said-coalescing = réception après { $receive } ou { $packets ->
    [one] { $packets } paquet
   *[other] { $packets } paquets
}, envoi après { $send }
said-function = par la fonction virtuelle { $function }
said-no-function = sans fonction virtuelle
said-queues = { $n ->
    [one] { $n } file
   *[other] { $n } files
}
said-queues-spread = réparties par RPS : { $n }
said-interrupts = { $n ->
    [one] { $n } interruption sur les CPU { $cpus }
   *[other] { $n } interruptions sur les CPU { $cpus }
}
said-interrupts-near = interruptions sur son nœud { $node } : { $some } sur { $all }
said-product = nom du produit
said-clock-source = source d’horloge
said-vulnerabilities = liste des vulnérabilités
said-mitigated = atténuées : { $some }{ $these }, vulnérables : { $others }{ $those }, connues : { $all }
said-no-parameter = aucun paramètre qui influe sur les résultats
said-parameters-tuning = réglages seulement : { $parameters }
said-all-processes = liste de tous les processus
said-running = en cours d’exécution
said-not-running = arrêté
said-quota = l’équivalent de { $quota } CPU sur { $cpus } CPU
said-group-throttling = nombre de bridages du groupe de contrôle
said-throttled-group = bridages depuis la création du groupe : { $n }
said-left = { $size } restants dans le groupe
said-unlimited = sans limite
said-load-average = charge moyenne
said-load = { $load } sur la dernière minute
said-busy = { $processes } d’un CPU
said-stolen-time = temps CPU volé
said-stolen = { $share } depuis le démarrage ({ $time })
said-pressure = informations de pression (PSI)
said-waited = { $share } des dernières { $time }
said-last-level = taille du cache de dernier niveau
said-memory-free = { $free } libres, { $needed } nécessaires (dernier niveau : { $caches })
said-numa-as-tuned = { $value }, comme tuned hpc-compute ; la page { $page } demande { $other }
said-numa-as-published = { $value }, comme la page { $page } ; tuned hpc-compute demande { $other }
said-numa-tiering = { $value } : la hiérarchisation de la mémoire est active
said-one-node = { $value }, sans effet : il n’y a qu’un nœud NUMA
said-numa-layout = organisation NUMA
said-nodes-on-sockets = { $nodes } sur { $sockets }
said-numa-nodes = { $n ->
    [one] { $n } nœud
   *[other] { $n } nœuds
}
said-sockets = { $n ->
    [one] { $n } socket
   *[other] { $n } sockets
}
said-page-cache = { $cached } en cache, { $dirty } à écrire
said-no-swap = { $value }, sans effet : il n’y a pas d’espace d’échange
said-memory-modules = description plausible des modules de mémoire
said-modules = { $n ->
    [one] { $n } module
   *[other] { $n } modules
}
said-no-launcher = aucun lanceur MPI dans PATH
said-library-none = LD_LIBRARY_PATH n’en désigne aucune ; le lanceur se trouve dans { $folder }
said-unknown-make = implémentation inconnue
said-library-and-launcher = { $make } dans { $folder } ; lanceur dans { $bin } : { $launcher }
said-no-mpi = aucun MPI dans PATH ni dans les dossiers habituels
said-launcher-alone = un lanceur sans bibliothèque dans { $place }
said-make-in = { $make } dans { $place }
said-mpich-or-intel = MPICH ou Intel MPI
said-standard-abi = MPI de l’ABI standard
said-no-mpi-module = aucun module d’environnement d’un MPI
said-modules-stale = aucun ne mène nulle part : { $stale }
said-modules-some-stale = { $sound } ; ne mènent nulle part : { $stale }
said-no-file = aucun fichier
said-user = utilisateur { $user }
said-neither = ni périphérique RDMA, ni variable de ce type
said-variables-alone = { $variables }, et aucun périphérique RDMA
said-devices-alone = aucune variable de ce type à côté de { $devices }
said-variables-and-devices = { $variables } malgré { $devices }
said-at-most = { $size } au plus
said-under-way = { $speed } × { $round_trip } = { $under_way } en transit, ce qui demande { $needed }
said-nobody = { $range } : personne
said-path = chemin
said-this-machine = { $to } est cette machine : loopback
said-unknown-device = un périphérique inconnu
said-over = { $to } par { $device }
said-no-echo = { $path } : pas de réponse à l’écho
said-round-trip = aller-retour { $time }
said-path-mtu = MTU du chemin au-delà du loopback
said-path-mtu-without-socket = MTU du chemin (sans socket ICMP)
said-would-send = { $device } enverrait { $size }
said-packets-vanish = { $carried } passent et les paquets plus grands disparaissent sans un mot ; { $believed } étaient supposés
said-carried = { $size } passent
said-believed = { $size } supposés, non prouvés
said-port = { $device } port { $port }
said-rdma-ethernet = périphérique RDMA sur Ethernet
said-rdma-device = périphérique RDMA
said-rdma-rate = vitesse d’un port actif d’une carte
said-one-lane = une seule voie du lien est active
said-two-lanes = seules deux voies du lien sont actives
said-faster-port = un autre port d’une carte identique a { $rate }
said-rdma-errors = compteur d’erreurs d’un périphérique RDMA
said-grew = { $counter } : +{ $n }
said-moving = en hausse : { $counters }
said-counters = { $n ->
    [one] { $n } compteur, à { $none }
   *[other] { $n } compteurs, tous à { $none }
}
said-still = stables ; depuis le démarrage du périphérique : { $counters }
said-rdma-firmware = micrologiciel d’un périphérique RDMA
said-rdma-pcie = lien PCIe d’un périphérique RDMA
said-pcie = { $link } sur { $most } : { $rate }
said-below-port = moins que les { $rate } du port
said-no-gid = sans GID { $version }
said-alone = { $what } seul
said-gid = GID { $index } ({ $kind }, { $n ->
    [one] le seul en { $version }
   *[other] l’un des { $n } en { $version }
})
said-rdma-mtu = par { $device } avec { $own } : MTU du chemin { $path }
said-no-nfs = aucun volume NFS n’est monté
said-solve-over-budget = une résolution avec N = { $n } prend au moins { $least }, pour un budget de { $budget }
said-launch-over-budget = un lancement de { $case } prend au moins { $least }, pour un budget de { $budget }
said-beside-budget = cela prend environ { $time }, en plus du budget de { $budget }
said-written-first = { $path } est d’abord écrit en entier : { $size }
said-writing = écriture de { $path } { $share }
said-round = tour { $n } : { $rate }
said-rounds-differ = les derniers diffèrent de { $range } et varient de { $slope }
said-keeps = tenu
said-misses = manqué
said-unclear = indécis
said-tried = { $asked } demandés, { $reached } atteints, { $late } des E/S en retard : { $verdict }
said-measures-alone = aucun outil installé ne mesure quoi que ce soit de cela : assay mesure seul
said-hosts-presumed = des serveurs ordinaires sont supposés : aucun hôte n’a été interrogé sur sa vitesse
said-run-over-budget = l’exécution prend environ { $time } au lieu des { $budget } de son budget
said-run-even-longer = l’exécution prend désormais environ { $time } et non { $before } : ce qui a été mesuré jusqu’ici a pris plus de temps que prévu
said-plan-in-a-hurry = { $few ->
    [one] { $few } cas sur { $all } n’a
   *[other] { $few } cas sur { $all } n’ont
} le temps que pour moins de { $least } répétitions en { $budget } ; { $needed } suffiraient
said-preparation = préparation { $n }
said-other-make = { $path } n’est pas de la même implémentation que { $launcher }, qui a lancé ce processus
said-not-served = { $path } est Open MPI, et srun n’a pas reçu l’ordre de la servir : `--mpi=pmix`
said-served-in-part = { $path } est Intel MPI, et { $launcher } de MPICH, qui a lancé ce processus, ne la sert que dans certaines versions : si `MPI_Init` échoue, lancer avec le `mpiexec.hydra` d’Intel MPI
said-removing = suppression de ce qui a été créé pour l’exécution
said-files-left = des fichiers créés pour l’exécution subsistent ; `assay storage clean` les supprime
said-preconditioning = { $test }, préconditionnement { $pass } sur { $all }
said-preconditioning-shuffled = { $test }, préconditionnement en ordre aléatoire
said-laying-out = écriture complète de { $path } ({ $size })
said-and-more = { $first } et { $n } de plus
said-block-device = périphérique bloc { $device }
said-mounted = { $kind } sur { $device }, monté sur { $point }
said-mounted-in-memory = { $kind }, c’est-à-dire de la mémoire : aucun périphérique de stockage n’est mesuré ; monté sur { $point }
said-back-to = retour à { $condition } : { $command }
said-back-within = cela peut prendre jusqu’à { $minutes } minutes ; arrêter maintenant laisse { $condition } en place
said-settling = { $condition } : stabilisation
said-to-condition = vers { $condition } : { $command }
said-order = l’ordre est tiré de `--seed` { $seed }
said-turn = tour { $turn } sur { $all } : { $condition }
said-as-control = encore une fois, comme témoin
said-hosts-answered = hôtes ayant répondu : { $some } sur { $all }
