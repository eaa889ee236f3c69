# What the doctor saw and what is said while a run goes on; the English is where it is said (`phrase!`).
said-field-of = { $field } de { $file }
said-holds = { $file } contiene { $text }
said-hidden-in-guest = { $what }: no visible en este invitado o contenedor ({ $layer })
said-hidden-on-host = { $what }: no visible en este host
said-none = ninguno
said-governor = gobernador de cpufreq
said-energy = preferencia energética del procesador
said-energy-bias = energy performance bias { $bias } (rendimiento: { $best })
said-boost-switch = interruptor de boost
said-on = activado
said-off = desactivado
said-part-of = { $part } de { $whole }
said-frequency = frecuencia actual de las CPU
said-range = { $low } a { $high }
said-nominal-hidden = la frecuencia nominal no es visible
said-nominal = nominal { $frequency }
said-throttling = contador de limitación térmica
said-throttled-cpu = { $n } desde el arranque, en la CPU que más tiene
said-idle-states = lista de estados de reposo
said-siblings = qué CPU son hilos de un mismo núcleo
said-threads-several = varios hilos por núcleo
said-threads-one = un hilo por núcleo
said-cpus-present = lista de CPU presentes
said-cpus-online = { $some } de { $all } en línea
said-cpus-offline = fuera de línea: { $cpus }
said-cpus-usable = CPU { $some } de { $all }
said-microcode = versión real del microcódigo del procesador
said-about-device = esta propiedad de un dispositivo de red
said-half-duplex = semidúplex
said-firmware = firmware { $version }
said-receive-checksum = suma de comprobación en recepción
said-send-checksum = suma de comprobación en envío
said-off-fixed = desactivado (no modificable)
said-ring-receive = recepción { $now } de { $most } como máximo
said-ring-send = envío { $now } de { $most } como máximo
said-channels = colas de recepción: { $now } de { $most } como máximo, para { $cpus } CPU
said-adaptive = adaptativa
said-coalescing = recepción tras { $receive } o { $packets ->
    [one] { $packets } paquete
   *[other] { $packets } paquetes
}, envío tras { $send }
said-function = por la función virtual { $function }
said-no-function = sin función virtual
said-queues = { $n ->
    [one] { $n } cola
   *[other] { $n } colas
}
said-queues-spread = repartidas con RPS: { $n }
said-interrupts = { $n ->
    [one] { $n } interrupción en las CPU { $cpus }
   *[other] { $n } interrupciones en las CPU { $cpus }
}
said-interrupts-near = interrupciones en su nodo { $node }: { $some } de { $all }
said-product = nombre del producto
said-clock-source = fuente de reloj
said-vulnerabilities = lista de vulnerabilidades
said-mitigated = mitigadas: { $some }{ $these }, vulnerables: { $others }{ $those }, conocidas: { $all }
said-no-parameter = ningún parámetro que afecte a los resultados
said-parameters-tuning = solo ajustes: { $parameters }
said-all-processes = lista de todos los procesos
said-running = en ejecución
said-not-running = no está en ejecución
said-quota = tiempo de { $quota } CPU en { $cpus } CPU
said-group-throttling = número de veces que se limitó el grupo de control
said-throttled-group = limitaciones desde que existe el grupo: { $n }
said-left = quedan { $size } en el grupo
said-unlimited = sin límite
said-load-average = carga media
said-load = { $load } en el último minuto
said-busy = { $processes } de una CPU
said-stolen-time = tiempo de CPU robado
said-stolen = { $share } desde el arranque ({ $time })
said-pressure = información de presión (PSI)
said-waited = { $share } de los últimos { $time }
said-last-level = tamaño de la caché de último nivel
said-memory-free = { $free } libres; { $needed } necesarios (último nivel: { $caches })
said-numa-as-tuned = { $value }, como tuned hpc-compute; la página de { $page } pone { $other }
said-numa-as-published = { $value }, como la página de { $page }; tuned hpc-compute pone { $other }
said-numa-tiering = { $value }: la memoria por niveles está activada
said-one-node = { $value }, sin efecto: solo hay un nodo NUMA
said-numa-layout = disposición NUMA
said-nodes-on-sockets = { $nodes } en { $sockets }
said-numa-nodes = { $n ->
    [one] { $n } nodo
   *[other] { $n } nodos
}
said-sockets = { $n ->
    [one] { $n } zócalo
   *[other] { $n } zócalos
}
said-page-cache = { $cached } en caché; { $dirty } por escribir
said-no-swap = { $value }, sin efecto: no hay espacio de intercambio
said-memory-modules = descripción verosímil de los módulos de memoria
said-modules = { $n ->
    [one] { $n } módulo
   *[other] { $n } módulos
}
said-no-launcher = ningún lanzador de MPI en PATH
said-library-none = LD_LIBRARY_PATH no indica ninguna; el lanzador está en { $folder }
said-unknown-make = una implementación desconocida
said-library-and-launcher = { $make } en { $folder }, el lanzador de { $bin } es de { $launcher }
said-no-mpi = ningún MPI en PATH ni en las carpetas habituales
said-launcher-alone = un lanzador sin biblioteca en { $place }
said-make-in = { $make } en { $place }
said-mpich-or-intel = MPICH o Intel MPI
said-standard-abi = MPI de la ABI estándar
said-no-mpi-module = ningún módulo de entorno de un MPI
said-modules-stale = ninguno lleva a ningún sitio: { $stale }
said-modules-some-stale = { $sound }; no llevan a ningún sitio: { $stale }
said-no-file = sin archivo
said-user = usuario { $user }
said-neither = ni dispositivo RDMA ni variable de ese tipo
said-variables-alone = { $variables }, y ningún dispositivo RDMA
said-devices-alone = ninguna variable de ese tipo junto a { $devices }
said-variables-and-devices = { $variables } pese a { $devices }
said-at-most = { $size } como máximo
said-under-way = { $speed } × { $round_trip } = { $under_way } en tránsito, que requieren { $needed }
said-nobody = { $range }: nadie
said-path = ruta
said-this-machine = { $to } es esta máquina: loopback
said-unknown-device = un dispositivo desconocido
said-over = { $to } por { $device }
said-no-echo = { $path }: sin respuesta de eco
said-round-trip = ida y vuelta { $time }
said-path-mtu = MTU de la ruta más allá del loopback
said-path-mtu-without-socket = MTU de la ruta (sin socket ICMP)
said-would-send = { $device } enviaría { $size }
said-packets-vanish = pasan { $carried } y los paquetes mayores desaparecen sin aviso; se suponían { $believed }
said-carried = pasan { $size }
said-believed = se suponen { $size }, sin comprobar
said-port = { $device } puerto { $port }
said-rdma-ethernet = dispositivo RDMA en Ethernet
said-rdma-device = dispositivo RDMA
said-rdma-rate = velocidad de un puerto activo de una tarjeta
said-one-lane = solo un carril del enlace está activo
said-two-lanes = solo dos carriles del enlace están activos
said-faster-port = otro puerto de una tarjeta igual tiene { $rate }
said-rdma-errors = contador de errores de un dispositivo RDMA
said-grew = { $counter } en { $n }
said-moving = en aumento: { $counters }
said-counters = { $n ->
    [one] { $n } contador, en { $none }
   *[other] { $n } contadores, todos en { $none }
}
said-still = sin cambios; desde el arranque del dispositivo: { $counters }
said-rdma-firmware = firmware de un dispositivo RDMA
said-rdma-pcie = enlace PCIe de un dispositivo RDMA
said-pcie = { $link } de { $most }: { $rate }
said-below-port = menos que los { $rate } del puerto
said-no-gid = no tiene GID de { $version }
said-alone = solo { $what }
said-gid = GID { $index } ({ $kind }, { $n ->
    [one] el único de { $version }
   *[other] uno de los { $n } de { $version }
})
said-rdma-mtu = por { $device } con { $own }: MTU de la ruta { $path }
said-no-nfs = no hay ningún volumen NFS montado
said-solve-over-budget = una resolución con N = { $n } tarda al menos { $least }, y su presupuesto es de { $budget }
said-launch-over-budget = un lanzamiento de { $case } tarda al menos { $least }, y su presupuesto es de { $budget }
said-beside-budget = eso tarda unos { $time }, aparte del presupuesto de { $budget }
said-written-first = { $path } se escribe antes por completo: { $size }
said-writing = escribiendo { $path } { $share }
said-round = ronda { $n }: { $rate }
said-rounds-differ = las últimas difieren un { $range } y cambian un { $slope }
said-keeps = cumplido
said-misses = incumplido
said-unclear = dudoso
said-tried = { $asked } solicitados, { $reached } alcanzados, { $late } de las E/S con retraso: { $verdict }
said-measures-alone = ninguna herramienta instalada mide nada de esto: assay mide solo
said-hosts-presumed = se suponen servidores habituales: a ningún host se le preguntó por su velocidad
said-run-over-budget = la ejecución tarda unos { $time } en lugar de los { $budget } de su presupuesto
said-run-even-longer = la ejecución tarda ya unos { $time } y no { $before }: lo medido hasta ahora tardó más de lo esperado
said-plan-in-a-hurry = { $few ->
    [one] { $few } de { $all } casos solo tiene
   *[other] { $few } de { $all } casos solo tienen
} tiempo para menos de { $least } repeticiones en { $budget }; bastarían { $needed }
said-preparation = preparación { $n }
said-other-make = { $path } no es de la misma implementación que { $launcher }, que inició este proceso
said-not-served = { $path } es Open MPI, y a srun no se le indicó que la atienda: `--mpi=pmix`
said-served-in-part = { $path } es Intel MPI, y { $launcher } de MPICH, que inició este proceso, la atiende solo en algunas versiones: si falla `MPI_Init`, iniciar con el `mpiexec.hydra` de Intel MPI
said-removing = eliminando lo creado para la ejecución
said-files-left = quedan archivos creados para la ejecución; `assay storage clean` los elimina
said-preconditioning = { $test }, preacondicionamiento { $pass } de { $all }
said-preconditioning-shuffled = { $test }, preacondicionamiento en orden aleatorio
said-laying-out = escribiendo por completo { $path } ({ $size })
said-and-more = { $first } y { $n } más
said-block-device = dispositivo de bloques { $device }
said-mounted = { $kind } en { $device }, montado en { $point }
said-mounted-in-memory = { $kind }, que es memoria: no se mide ningún dispositivo de almacenamiento; montado en { $point }
said-back-to = de vuelta a { $condition }: { $command }
said-back-within = puede tardar hasta { $minutes } minutos; terminar ahora deja activo { $condition }
said-settling = { $condition }: en estabilización
said-to-condition = hacia { $condition }: { $command }
said-order = el orden se sortea con `--seed` { $seed }
said-turn = turno { $turn } de { $all }: { $condition }
said-as-control = otra vez, como control
said-hosts-answered = hosts que han respondido: { $some } de { $all }
