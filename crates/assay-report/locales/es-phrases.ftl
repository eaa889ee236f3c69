# Findings of the doctor and progress messages; their English is in the code (`phrase!`).
phrase-field-of = { $field } de { $file }
phrase-holds = { $file } contiene { $text }
phrase-hidden-in-guest = { $what }: no visible en este invitado o contenedor ({ $layer })
phrase-hidden-on-host = { $what }: no visible en este host
phrase-none = ninguno
phrase-governor = gobernador de cpufreq
phrase-energy = preferencia energética del procesador
phrase-energy-bias = energy performance bias { $bias } (rendimiento: { $best })
phrase-boost-switch = ajuste de boost
phrase-on = activado
phrase-off = desactivado
phrase-part-of = { $part } de { $whole }
phrase-frequency = frecuencia actual de las CPU
phrase-range = { $low } a { $high }
phrase-nominal-hidden = la frecuencia nominal no es visible
phrase-nominal = nominal { $frequency }
phrase-throttling = contador de limitación térmica
phrase-throttled-cpu = { $n } desde el arranque, en la CPU que más tiene
phrase-idle-states = lista de estados de reposo
phrase-siblings = qué CPU son hilos de un mismo núcleo
phrase-threads-several = varios hilos por núcleo
phrase-threads-one = un hilo por núcleo
phrase-cpus-present = lista de CPU presentes
phrase-cpus-online = { $some } de { $all } en línea
phrase-cpus-offline = fuera de línea: { $cpus }
phrase-cpus-usable = CPU { $some } de { $all }
phrase-microcode = versión real del microcódigo del procesador
phrase-about-device = esta propiedad de un dispositivo de red
phrase-half-duplex = semidúplex
phrase-firmware = firmware { $version }
phrase-receive-checksum = suma de comprobación en recepción
phrase-send-checksum = suma de comprobación en envío
phrase-off-fixed = desactivado (no modificable)
phrase-ring-receive = recepción { $now } de { $most } como máximo
phrase-ring-send = envío { $now } de { $most } como máximo
phrase-packet-sizes = envía { $send }, de { $most } como máximo, y recibe { $receive }
phrase-cpus-of-queues = colas: { $n }, CPU por cola: { $most } como máximo
phrase-numa-node = en el nodo { $node }
phrase-about-disk-node = el nodo NUMA de un disco
phrase-channels = colas de recepción: { $now } de { $most } como máximo, para { $cpus } CPU
phrase-adaptive = adaptativa
phrase-coalescing = recepción tras { $receive } o { $packets ->
    [one] { $packets } paquete
   *[other] { $packets } paquetes
}, envío tras { $send }
phrase-function = por la función virtual { $function }
phrase-no-function = sin función virtual
phrase-queues = { $n ->
    [one] { $n } cola
   *[other] { $n } colas
}
phrase-queues-spread = repartidas con RPS: { $n }
phrase-interrupts = { $n ->
    [one] { $n } interrupción en las CPU { $cpus }
   *[other] { $n } interrupciones en las CPU { $cpus }
}
phrase-interrupts-near = interrupciones en su nodo { $node }: { $some } de { $all }
phrase-product = nombre del producto
phrase-clock-source = fuente de reloj
phrase-vulnerabilities = lista de vulnerabilidades
phrase-mitigated = mitigadas: { $some }{ $these }, vulnerables: { $others }{ $those }, conocidas: { $all }
phrase-no-parameter = ningún parámetro que afecte a los resultados
phrase-parameters-tuning = solo ajustes: { $parameters }
phrase-all-processes = lista de todos los procesos
phrase-running = en ejecución
phrase-not-running = no está en ejecución
phrase-quota = tiempo de { $quota } CPU en { $cpus } CPU
phrase-group-throttling = número de veces que se limitó el grupo de control
phrase-throttled-group = limitaciones desde que existe el grupo: { $n }
phrase-left = quedan { $size } en el grupo
phrase-unlimited = sin límite
phrase-load-average = carga media
phrase-load = { $load } en el último minuto
phrase-busy = { $processes } de una CPU
phrase-stolen-time = tiempo de CPU robado
phrase-stolen = { $share } desde el arranque ({ $time })
phrase-pressure = información de presión (PSI)
phrase-waited = { $share } de los últimos { $time }
phrase-last-level = tamaño de la caché de último nivel
phrase-memory-free = { $free } libres; { $needed } necesarios (último nivel: { $caches })
phrase-numa-as-tuned = { $value }, como tuned hpc-compute; la página de { $page } pone { $other }
phrase-numa-as-published = { $value }, como la página de { $page }; tuned hpc-compute pone { $other }
phrase-numa-tiering = { $value }: la memoria por niveles está activada
phrase-one-node = { $value }, sin efecto: solo hay un nodo NUMA
phrase-numa-layout = disposición NUMA
phrase-nodes-on-sockets = { $nodes } en { $sockets }
phrase-numa-nodes = { $n ->
    [one] { $n } nodo
   *[other] { $n } nodos
}
phrase-sockets = { $n ->
    [one] { $n } zócalo
   *[other] { $n } zócalos
}
phrase-page-cache = { $cached } en caché; { $dirty } por escribir
phrase-no-swap = { $value }, sin efecto: no hay espacio de intercambio
phrase-memory-modules = descripción verosímil de los módulos de memoria
phrase-modules = { $n ->
    [one] { $n } módulo
   *[other] { $n } módulos
}
phrase-no-launcher = ningún lanzador de MPI en PATH
phrase-library-none = LD_LIBRARY_PATH no indica ninguna biblioteca de MPI; el lanzador está en { $folder }
phrase-unknown-make = una implementación desconocida
phrase-library-and-launcher = { $make } en { $folder }, lanzador en { $bin }: { $launcher }
phrase-no-mpi = ningún MPI en PATH ni en los directorios habituales
phrase-launcher-alone = un lanzador sin biblioteca en { $place }
phrase-make-in = { $make } en { $place }
phrase-mpich-or-intel = MPICH o Intel MPI
phrase-standard-abi = MPI de la ABI estándar
phrase-no-mpi-module = ningún módulo de entorno de un MPI
phrase-modules-stale = ninguno lleva a un directorio existente: { $stale }
phrase-modules-some-stale = { $sound }; llevan a directorios inexistentes: { $stale }
phrase-no-file = sin archivo
phrase-user = usuario { $user }
phrase-neither = ni dispositivo RDMA ni variable de ese tipo
phrase-variables-alone = { $variables }, y ningún dispositivo RDMA
phrase-devices-alone = ninguna variable de ese tipo junto a { $devices }
phrase-variables-and-devices = { $variables } pese a { $devices }
phrase-at-most = { $size } como máximo
phrase-under-way = { $speed } × { $round_trip } = { $under_way } en tránsito, que requieren { $needed }
phrase-nobody = { $range }: nadie
phrase-path = ruta
phrase-this-machine = { $to } es esta máquina: loopback
phrase-unknown-device = un dispositivo desconocido
phrase-over = { $to } por { $device }
phrase-no-echo = { $path }: sin respuesta de eco
phrase-round-trip = ida y vuelta { $time }
phrase-path-mtu = MTU de la ruta más allá del loopback
phrase-path-mtu-without-socket = MTU de la ruta (sin socket ICMP)
phrase-would-send = { $device } enviaría { $size }
phrase-packets-vanish = pasan { $carried } y los paquetes mayores desaparecen sin aviso; se suponían { $believed }
phrase-carried = pasan { $size }
phrase-believed = se suponen { $size }, sin comprobar
phrase-port = { $device } puerto { $port }
phrase-rdma-ethernet = dispositivo RDMA en Ethernet
phrase-rdma-device = dispositivo RDMA
phrase-rdma-rate = velocidad de un puerto activo de una tarjeta
phrase-one-lane = solo un carril del enlace está activo
phrase-two-lanes = solo dos carriles del enlace están activos
phrase-faster-port = otro puerto de una tarjeta igual tiene { $rate }
phrase-rdma-errors = contador de errores de un dispositivo RDMA
phrase-grew = { $counter }: +{ $n }
phrase-moving = en aumento: { $counters }
phrase-counters = { $n ->
    [one] { $n } contador, en { $none }
   *[other] { $n } contadores, todos en { $none }
}
phrase-still = sin cambios; desde el arranque del dispositivo: { $counters }
phrase-rdma-firmware = firmware de un dispositivo RDMA
phrase-rdma-pcie = enlace PCIe de un dispositivo RDMA
phrase-pcie = { $link } de { $most }: { $rate }
phrase-below-port = menos que los { $rate } del puerto
phrase-no-gid = no tiene GID de { $version }
phrase-alone = solo { $what }
phrase-gid = GID { $index } ({ $kind }, { $n ->
    [one] el único de { $version }
   *[other] uno de los { $n } de { $version }
})
phrase-rdma-mtu = por { $device } con { $own }: MTU de la ruta { $path }
phrase-no-nfs = no hay ningún volumen NFS montado
phrase-solve-over-budget = una resolución con N = { $n } tarda al menos { $least }, y su presupuesto es de { $budget }
phrase-launch-over-budget = un lanzamiento de { $case } tarda al menos { $least }, y su presupuesto es de { $budget }
phrase-beside-budget = eso tarda unos { $time }; el presupuesto del caso es de { $budget }
phrase-written-first = { $path } se escribe antes por completo: { $size }
phrase-writing = escribiendo { $path } { $share }
phrase-round = ronda { $n }: { $rate }
phrase-rounds-differ = las últimas difieren un { $range } y cambian un { $slope }
phrase-keeps = cumplido
phrase-misses = incumplido
phrase-unclear = dudoso
phrase-tried = { $asked } solicitados, { $reached } alcanzados, el { $late } de las E/S con retraso: { $verdict }
phrase-measures-alone = ninguna herramienta instalada mide nada de esto: assay mide solo
phrase-hosts-presumed = se suponen servidores habituales: a ningún host se le preguntó por su velocidad
phrase-run-over-budget = la ejecución tarda unos { $time } en lugar de los { $budget } de su presupuesto
phrase-run-even-longer = la ejecución tarda ya unos { $time } y no { $before }: lo medido hasta ahora tardó más de lo esperado
phrase-cases-cut = no se midieron { $few } de { $all } casos: el presupuesto de { $budget } terminó antes
phrase-plan-too-short = en { $budget } no se miden unos { $few } de { $all } casos; { $needed } bastarían para todos
phrase-plan-tools-late = { $cases }: no empieza, porque los casos anteriores usan todo el presupuesto de { $budget }
phrase-plan-in-a-hurry = { $few ->
    [one] { $few } de { $all } casos solo tiene
   *[other] { $few } de { $all } casos solo tienen
} tiempo para menos de { $least } repeticiones en { $budget }; bastarían { $needed }
phrase-preparation = preparación { $n }
phrase-children-left = procesos que sobrevivieron a { $program } y se terminaron: { $n }
phrase-other-make = { $path } no es de la misma implementación que { $launcher }, que inició este proceso
phrase-not-served = { $path } es Open MPI, y a srun no se le indicó que la atienda: `--mpi=pmix`
phrase-served-in-part = { $path } es Intel MPI, y { $launcher } de MPICH, que inició este proceso, la atiende solo en algunas versiones: si falla `MPI_Init`, iniciar con el `mpiexec.hydra` de Intel MPI
phrase-removing = eliminando lo creado para la ejecución
phrase-directory-kept = { $directory } se conserva: contiene archivos que assay no creó
phrase-files-left = quedan archivos creados para la ejecución; `assay storage clean` los elimina
phrase-preconditioning = { $test }, preacondicionamiento { $pass } de { $all }
phrase-preconditioning-shuffled = { $test }, preacondicionamiento en orden aleatorio
phrase-laying-out = escribiendo por completo { $path } ({ $size })
phrase-and-more = { $first } y { $n } más
phrase-block-device = dispositivo de bloques { $device }
phrase-mounted = { $kind } en { $device }, montado en { $point }
phrase-mounted-in-memory = { $kind }, que es memoria: no se mide ningún dispositivo de almacenamiento; montado en { $point }
phrase-back-to = de vuelta a { $condition }: { $command }
phrase-decided-early = decidido tras { $blocks } bloques; los análisis intermedios tras cada bloque están incluidos en la probabilidad de error
phrase-back-within = puede tardar hasta { $minutes } minutos; terminar ahora deja activo { $condition }
phrase-settling = { $condition }: en estabilización
phrase-to-condition = hacia { $condition }: { $command }
phrase-restoring = restaurando { $factor }: { $command }
phrase-planning-combinations = planificando combinaciones en sus hosts: { $count }
phrase-applying-on-hosts = hacia { $condition }, número de hosts: { $count }
phrase-restoring-on-hosts = restaurando los factores, número de hosts: { $count }
phrase-unrestored = una medición terminada a la fuerza dejó activo un nivel de { $factor }; restaure con { $command } y borre después { $file }
phrase-order = el orden se sortea con `--seed` { $seed }
phrase-turn = medición { $turn } de { $all }: { $condition }
phrase-as-control = otra vez, como control
phrase-hosts-answered = hosts que han respondido: { $some } de { $all }
phrase-gate-not-compared = no medido en ambas condiciones
phrase-gate-at-least = { $value }, al menos { $bound }
phrase-gate-at-most = { $value }, como máximo { $bound }
phrase-gate-in-doubt = { $reason }; dudoso: { $doubt }
phrase-one-sample = una sola muestra
phrase-few-samples = muy pocas muestras
phrase-wide-interval = un intervalo amplio
phrase-gate-unmeasured = no se midió nada
phrase-gate-above-limit = { $value }, por encima del límite { $bound }
phrase-gate-limit = { $value }, límite { $bound }
phrase-gate-no-ratio = una ejecución no tiene ningún valor positivo
phrase-gate-worse = { $share } peor, se permite como máximo { $allowed } peor
phrase-gate-better = { $share } mejor, se permite como máximo { $allowed } peor
phrase-gate-few-runs = { $reason }; muy pocas ejecuciones para un intervalo
