yes = sí
no = no
on = activado
off = desactivado
unknown = desconocido
interval = intervalo
interval-of-level = intervalo del { $level }
no-interval = ninguno
no-value = sin valor
full-stop = .
list-separator = {", "}
detail-separator = {", "}
fact-separator = {": "}
clause-separator = {"; "}
sentence-separator = {" "}
sentence-about = { $sentence } ({ $about }).
seed = semilla { $seed }
and-more = y { $n } más
on-more-hosts = { $n ->
    [one] … y en { $n } host más: { $hosts }
   *[other] … y en { $n } hosts más: { $hosts }
}
one-and-two = { $one } y { $two }
what-by = { $what }, con { $by }
name-in = { $name } en { $place }
test-at = { $test } al { $share }
is-mean = { $value } (media)
per-second = { $rate } por segundo
about = aproximadamente { $value }
threads = { $n ->
    [one] { $n } hilo
   *[other] { $n } hilos
}
cores = { $n ->
    [one] { $n } núcleo
   *[other] { $n } núcleos
}
streams = { $n ->
    [one] { $n } flujo
   *[other] { $n } flujos
}
under-load = bajo carga de { $n ->
    [one] { $n } flujo
   *[other] { $n } flujos
}
cpus = { $n } CPU
cpus-on-cores = { $cpus } en { $cores } núcleos
cores-with-threads = { $cores } con { $threads }
arrays-of = vectores de { $size }
all-at-once = todos a la vez
each-alone = cada uno por separado
all-operations = todas
end-local = extremo local
end-remote = extremo remoto
end-other = extremo { $end }
direction-send = envío
direction-receive = recepción
direction-both = ambos sentidos
pattern-random = aleatorio
pattern-sequential = secuencial
operation-read = lectura
operation-write = escritura
no-copy = sin copia
segmentation = segmentación en el kernel
from-due = { $what } desde el inicio previsto
working-set = conjunto de trabajo
time-per-load = tiempo por lectura dependiente
beyond-caches = memoria
knee = codo
rate-max = máx.
up-to-the-knee = hasta el codo
beyond-the-knee = más allá del codo
provisioned = límite aprovisionado: { $limit }
limit-line = límite: { $limit }

heading-bandwidth = Ancho de banda de memoria
heading-latency = Latencia de memoria
heading-compute = Cálculo
heading-network = Red
heading-storage = Almacenamiento
heading-files = Árboles de archivos
heading-programs = Programas
heading-copies = Copias entre dominios
heading-cache-bandwidth = Ancho de banda de las cachés
heading-core-to-core = Latencia entre núcleos
heading-loaded-latency = Latencia de memoria bajo carga
heading-other = Otros resultados
heading-perftest = Latencia según las reglas de perftest
heading-measurers = Herramientas de medición comparadas
heading-warnings = Advertencias
heading-failures = Fallos
heading-omitted = Sin medir
heading-method = Método
details-machine = Máquina
details-bandwidth = Todos los dominios y números de núcleos
details-copies = Todos los pares de dominios
details-loaded-latency = Todos los puntos de las curvas
details-other-metrics = Otras magnitudes
table-bandwidth = Ancho de banda por ubicación
table-extremes = Medianas sobre los dominios de un mismo tipo
table-levels = Latencia de cada nivel de caché y de la memoria
table-compute = Rendimiento pico en multiplicación-suma y LINPACK
table-other = Resultados de todos los demás benchmarks
table-programs = Tiempos, memoria y valores de los programas
table-perftest = Los mismos mensajes según las reglas de perftest
table-measurers = Medianas y su cociente
table-turns = Medianas y cociente entre ejecuciones vecinas, que no es el de las medianas
table-all-runs = Medianas y cociente entre ejecuciones, cada una con cada una, que no es el de las medianas
table-copies = Ancho de banda en { $unit } de las copias a la memoria de un dominio, por sus CPU (filas), desde la memoria de otro (columnas)
table-node-latency = Latencia en { $unit } de lecturas dependientes por la primera CPU de un nodo NUMA (filas) en la memoria de cada nodo (columnas)
table-cache-bandwidth = Ancho de banda de lectura de cada nivel de caché y de la memoria
table-core-to-core = Latencia de una línea de caché de un núcleo a otro según la distancia, con los pares de menor y de mayor latencia
table-loaded-latency = Latencia de memoria según el ancho de banda del resto del tráfico
table-network-items = Caudal útil y coste de CPU
table-network = Magnitudes de red con sus intervalos
table-round-trips = Tiempos de ida y vuelta
table-mpi-libraries = Bibliotecas MPI y fijación real de sus rangos a las CPU
table-storage = Tasa, ancho de banda y latencia
table-storage-pairs = Lecturas y escrituras comparadas
table-storage-parameters = Parámetros y uso de CPU
table-storage-mixes = Lecturas y escrituras de las mezclas, del envío a la finalización
table-storage-due = Latencia desde el inicio previsto de la E/S
table-rounds = Rondas de { $test }
table-search = Pasos de la búsqueda de { $test }
table-files = Tasa y latencia de las operaciones con archivos y directorios
response-curve = Curva de respuesta de { $name }
ladder-title = Latencia según el conjunto de trabajo
scaling-title = { $metric } según el número de núcleos
roofline-title = Modelo roofline
roofline-title-of = Modelo roofline de { $host }
roofline-measured = medido
roofline-limits = límites
roofline-description = Un código con menos de { $ridge } operaciones por byte está limitado por la memoria: no puede superar sus operaciones por byte multiplicadas por { $bandwidth }. Con más, no puede superar { $peak }.
bars-linear = barras
bars-logarithmic = barras logarítmicas
bars-legend = { $name } según { $axis }; { $bars } de { $low } a { $high }
axis-operations-per-byte = operaciones por byte
axis-compute-rate = velocidad de cálculo
mpi-by-distance = { $metric ->
    [latency] Latencia según la distancia de los pares, mensajes de { $size }
   *[bandwidth] Ancho de banda según la distancia de los pares, mensajes de { $size }
}
axis-cores = núcleos
axis-message-size = tamaño del mensaje
axis-rate-reached = tasa alcanzada
axis-bandwidth-per-core = ancho de banda de lectura por núcleo
axis-traffic = ancho de banda de todo el tráfico
axis-time-measured = tiempo de medición
axis-share-at-most = proporción que tarda como mucho ese tiempo
timeline-of = Evolución en el tiempo: { $name }
timeline-payload = medido
timeline-read = leído
timeline-written = escrito
timeline-received = recibido
timeline-sent = enviado
timeline-busy = CPU ocupadas
timeline-interrupts = interrupciones
timeline-stolen = robado por el hipervisor
timeline-cpu-pressure = una tarea espera una CPU
timeline-io-pressure = una tarea espera E/S
timeline-share = parte del tiempo
details-hardware = Contadores de hardware
column-observed-clock = frecuencia observada
column-instructions-per-cycle = instrucciones por ciclo
column-memory-traffic = tráfico de memoria
column-traffic-of-work = tráfico por byte contado
column-energy = energía
column-energy-efficiency = eficiencia energética
hardware-flop = { $flop } de { $peak } FLOP por ciclo observado y núcleo, a { $clock } observados
hardware-flop-user = como máximo { $flop } de { $peak } FLOP por ciclo observado y núcleo, a { $clock } observados o más: los ciclos en el kernel no se contaron
hardware-write-allocate = El tráfico de memoria es lo que los controladores de memoria transfirieron para toda la máquina. STREAM no cuenta el write-allocate: una escritura sin instrucción de streaming lee primero su línea, y el tráfico supera los bytes contados.
joules = { $value } J
joules-per-gigabyte = { $value } J/GB
gigaflop-per-joule = { $value } GFLOP/J
course-of-goodput = Caudal útil a lo largo del tiempo
course-of-cpu-load = Uso de CPU a lo largo del tiempo
course-goes = { $name }: de { $low } a { $high }.
rounds-go = La tasa pasa de { $first } en la primera ronda a { $last } en la última.
distribution-of-round-trips = Distribución de los tiempos de ida y vuelta
distribution-goes = { $name }: la mitad tarda como mucho { $median }, el { $share } como mucho { $most }.
axis-latency-from-due = latencia desde el inicio previsto de la E/S

column-bandwidth = ancho de banda
column-block = bloque
column-by = herramienta
column-case = caso
column-cpu-load = uso de CPU
column-cpu-per-io = CPU por E/S
column-cpu-system = CPU (sistema)
column-cpu-time = tiempo de CPU
column-cpu-user = CPU (usuario)
column-cpus = CPU
column-target-size = tamaño del destino
column-depth = profundidad de cola
column-generator = generador
column-goal = objetivo
column-goodput = caudal útil
column-highest = máximo
column-in = lugar de medición
column-in-flight = en curso
column-item = prueba
column-kernel = kernel de cálculo
column-late = con retraso
column-latency = latencia
column-later-than-the-goal = por encima del objetivo
column-level = nivel
column-letters = letras
column-efficiency = eficiencia
column-library = biblioteca
column-lowest = mínimo
column-median = mediana
column-median-from-due = mediana desde el inicio previsto
column-middle = mediana
column-note = nota
column-of-limit = proporción del límite
column-of-link = proporción del enlace
column-of-peak = proporción del pico
column-of-provisioned = proporción del límite aprovisionado
column-of-rpeak = proporción de Rpeak
column-operation = operación
column-per-core = por núcleo
column-pairs = pares
column-idle = sin carga
column-at-share = al { $share }
column-at-highest = al máximo
column-pause = pausa
column-place = ubicación
column-ranks-on-cpus = rangos en CPU
column-rate = tasa
column-reached = alcanzado
column-reads = lecturas
column-requested = solicitado
column-retransmits = retransmisiones
column-round = ronda
column-service-median = mediana del tiempo de servicio
column-size = tamaño
column-test = prueba
column-threads = hilos
column-transport = transporte
column-value = valor
column-what = magnitud
column-where = ubicación
column-writes = escrituras

machine-hardware = hardware
machine-system = sistema
machine-settings = ajustes
machine-mitigations = mitigaciones
machine-versions = versiones
fact-processor = procesador
fact-vendor = fabricante
fact-family-model-stepping = familia/modelo/stepping
fact-microcode = microcódigo
fact-nominal-frequency = frecuencia nominal
fact-maximum-frequency = frecuencia máxima
fact-governor = gobernador
fact-boost = boost
fact-smt = SMT
fact-cpus = CPU
fact-caches = cachés
fact-numa-nodes = nodos NUMA
fact-memory = memoria
fact-memory-modules = módulos de memoria
fact-huge-page = página enorme
fact-distribution = distribución
fact-kernel = kernel
fact-kernel-command-line = línea de comandos del kernel
fact-virtualisation = virtualización
fact-product = producto
fact-clock-source = fuente de reloj
fact-cpu-quota = cuota de CPU
fact-memory-limit-of-the-control-group = límite de memoria del grupo de control
fact-fingerprint = huella

suite = Suite { $suite }
suite-on-hosts = Suite { $suite } en { $hosts }
run-from-to = Ejecución { $run }, del { $started } al { $finished }
run-from = Ejecución { $run }, iniciada el { $started }
host-memory = { $size } de memoria
host-kernel = kernel { $kernel }
host-guest = invitado de { $hypervisor }
nothing-measured = No se midió nada.
cases-failed = { $n ->
    [one] { $n } caso falló
   *[other] { $n } casos fallaron
}
cases-skipped = { $n ->
    [one] { $n } se omitió por ello
   *[other] { $n } se omitieron por ello
}
status-failed = { $reported }; véase { $heading }.
failed-likewise = { $n ->
    [one] { $n } caso más falló del mismo modo: { $cases }
   *[other] { $n } casos más fallaron del mismo modo: { $cases }
}
skipped-because = { $n ->
    [one] { $n } caso se omitió por ello: { $cases }
   *[other] { $n } casos se omitieron por ello: { $cases }
}
reached = {" "}tras { $finished } de { $planned } casos
status-partial = La ejecución es parcial: { $n ->
    [one] falta un host{ $hosts }
   *[other] faltan hosts{ $hosts }
}. Los resultados de los demás hosts son válidos.
status-interrupted = La ejecución se interrumpió{ $reached }; los casos terminados son válidos.
status-interrupted-at-once = La ejecución se interrumpió antes de que terminara el primer caso.
status-interrupted-late = La ejecución se interrumpió: se midieron todos los casos, algunos con menos repeticiones de las previstas.
status-unfinished = La ejecución no tiene final{ $reached }: assay se terminó a la fuerza o sigue en marcha. Los casos terminados son válidos.
statistics = Los valores son medianas. Los intervalos de confianza proceden de estadísticos de orden y no suponen ninguna distribución o, con menos de { $least } muestras efectivas, de la distribución t; con menos de { $least } muestras no hay intervalo. n es el número de muestras tras el calentamiento y, entre paréntesis, el de muestras efectivas si están correlacionadas.
statistics-version = Versión de la estadística: { $version }.
imported = Otra herramienta realizó esta medición; se importó de { $files } (se guarda una copia con la ejecución). Se desconoce su reloj, y la máquina solo se conoce por lo que describe el archivo.
clock = El reloj es { $name }: su resolución es de { $resolution } y leerlo tarda { $cost }. Una repetición del kernel de cálculo vacío tarda { $null }: es la sobrecarga de cada pasada cronometrada.
stolen = El hipervisor robó el { $share } del tiempo de CPU durante la ejecución.
throttled-times = { $n ->
    [one] El grupo de control fue limitado { $n } vez durante la ejecución.
   *[other] El grupo de control fue limitado { $n } veces durante la ejecución.
}

byte-counting = Los bytes se cuentan como en STREAM: por elemento, { $copy } en Copy y Scale, { $add } en Add y Triad, { $read } en lectura y escritura. La lectura adicional de cada línea que provoca una escritura ordinaria no se cuenta.
kernels-within-noise = { $operations }: el kernel de cálculo es uno de los más rápidos; otros estaban dentro del ruido de la elección.
conditions = { $how }: { $places }.
limit-is = El límite es { $limit }: { $basis }.
no-memory-limit = No se conoce ningún límite: { $why }, por lo que se desconoce la velocidad de los módulos de memoria.
smbios-without-speed = SMBIOS no indica la velocidad de ningún módulo
smbios-hidden = SMBIOS está oculto en este invitado de { $hypervisor }
smbios-unreadable = no se pudo leer SMBIOS, lo que suele requerir root
intervals-shaded = Los intervalos aparecen sombreados donde son lo bastante anchos para verse.
scaling-description = El ancho de banda es { $one } en { $few } y { $all } en { $many }.
ladder-description = La latencia es { $low } en { $small } y { $high } en { $large }.
huge-pages-refused = Se solicitaron páginas enormes, pero no se concedieron: más allá de las cachés, la latencia incluye fallos de TLB.
check-output = salida comprobada
check-none = sin comprobar
io500-valid = Válido según las reglas de `IO500`.
io500-invalid = No válido según las reglas de `IO500`: { $reasons }.
io500-rule-stonewall = el tiempo de stonewall es { $time } y se exigen al menos { $least }
io500-rule-short-write = { $phase } duró { $time }, menos de { $least }
io500-rule-no-result = sin resultado: { $phases }
io500-rule-nothing-found = la fase find no encontró ningún archivo
program-start = Un programa vacío tarda al menos { $time } en iniciarse y terminar del mismo modo; no se resta nada.
program-memory-floor = Los programas de menos de { $size } no tienen valor de memoria.
programs-compared = Programas comparados con { $first }
levels-title = Niveles de { $factors }
levels-without-letters = Muy pocos bloques comunes para un veredicto: las letras necesitan al menos tres bloques en los que cada nivel tenga un valor mayor que cero.
levels-more-blocks = Con tan pocos bloques, ninguna diferencia entre niveles puede ser significativa: se necesitan al menos { $needed } bloques (--blocks, o --runs de assay exec).
levels-more-runs = Con tan pocas ejecuciones, ninguna diferencia entre niveles puede ser significativa: se necesitan al menos { $needed } ejecuciones de cada uno.
levels-overall = Todos los niveles juntos (prueba de Friedman): { $statistic }, { $p } tras la corrección por todas las magnitudes.
levels-sufficient = El menor nivel suficiente es { $level }: ninguno mayor ({ $larger }) es significativamente mejor.
levels-sufficient-last = A todo nivel por debajo de { $level }, el mayor, lo supera otro: uno aún mayor puede ser mejor.
levels-explanation = Los niveles que comparten una letra no se distinguen. Los cocientes se emparejan por bloque ({ $blocks } bloques); dentro de una magnitud, la probabilidad de señalar por error alguna diferencia es como máximo { $wrong } (Holm).
levels-explanation-independent = Los niveles que comparten una letra no se distinguen. Cada ejecución cuenta como un valor, y los cocientes comparan todas las ejecuciones de un nivel con todas las de otro; dentro de una magnitud, la probabilidad de señalar por error alguna diferencia es como máximo { $wrong } (Holm).
levels-efficiency = La eficiencia es el cociente respecto al valor con menos hosts, dividido por el cociente entre los números de hosts.
levels-unmatched = Resultados sin equivalente en otro nivel: { $n }.
levels-plot = { $metric } según { $factor }
levels-plot-description = Mediana de cada nivel con su intervalo.
levels-plan = { $combinations } combinaciones en { $blocks } bloques: { $turns } mediciones de { $time } como máximo cada una.
levels-plan-total = En total { $time }.
levels-plan-settling = En total { $time }, de los que { $settle } son de estabilización, sin el tiempo de los comandos.
huge-pages-granted = Se concedieron páginas enormes a todos los conjuntos de trabajo.
huge-pages-some = Solo se concedieron páginas enormes a estos conjuntos de trabajo: { $sizes }.
products-by = productos de matrices con { $blas }
scaled-residual = residuo escalado { $residual } (debe quedar por debajo de { $bound })
copies-explanation = Los valores son medianas. Los bytes se cuentan como en Copy de STREAM, lecturas y escrituras; en la diagonal ambas se hacen en la memoria del propio dominio.
copies-one-node = La topología tiene un solo nodo NUMA: no hay distancias entre nodos que comparar.
cache-bandwidth-description = { $place }: por núcleo { $high } con { $small }, { $low } con { $large }
core-to-core-explanation = Tiempo de una entrega, la mitad de un viaje de ida y vuelta con compare-and-swap. same-cache es la caché de último nivel; en la diagonal están los dos hilos de un núcleo.
loaded-latency-explanation = Ancho de banda máximo de cada mezcla, y la latencia a fracciones de él, interpolada entre los puntos medidos. Cuentan los bytes leídos y escritos, también los de la cadena.
loaded-latency-description = { $mix }: de { $idle } sin carga a { $loaded } a { $rate }
measurers-ratios = Los cocientes son de las medianas.
perftest-rules = Según las reglas de perftest, el último mensaje no se cronometra, los dos más lentos de los demás no cuentan ni para la mediana ni para la media, y t_max es el segundo valor más alto, no el máximo. Los valores propios de assay en las demás tablas son de todos los mensajes.
basis-memory-channels = { $n ->
    [one] { $n } canal de memoria × { $rate } × { $width } (SMBIOS)
   *[other] { $n } canales de memoria × { $rate } × { $width } (SMBIOS)
}
basis-measured-peak = { $n ->
    [one] rendimiento pico en multiplicación-suma con doble precisión, { $set } en { $n } núcleo, medido en esta ejecución
   *[other] rendimiento pico en multiplicación-suma con doble precisión, { $set } en { $n } núcleos, medido en esta ejecución
}
basis-link = velocidad de enlace que indica { $device }
basis-link-unnamed = velocidad de enlace que indica el dispositivo
basis-provisioned = límite aprovisionado del volumen
basis-data-sheet = hoja de datos: { $source }
rpeak-factors = { $n ->
    [one] { $n } núcleo × { $flop }/ciclo × { $clock } (frecuencia medida con esta carga)
   *[other] { $n } núcleos × { $flop }/ciclo × { $clock } (frecuencia medida con esta carga)
}

network-items-say = El uso de CPU es la parte ocupada de todas las CPU; el tiempo de CPU, lo que consumió la transferencia, en el extremo local / en el remoto. Medianas; los intervalos figuran a continuación.
network-retransmits-say = Las retransmisiones son segmentos TCP.
path-loopback = loopback
network-loopback = Todo el tráfico pasó por la interfaz de loopback de esta máquina: los resultados no describen una red.
mpi-rule-best = ◀ marca el mejor resultado de cada fila; ×{ $ratio } es el cociente respecto a él
mpi-rule-overlap = ≈: los dos intervalos se solapan
mpi-rule-no-interval = ±?: demasiado pocas muestras efectivas para un intervalo
mpi-rule-latency = La latencia es la mitad del tiempo de ida y vuelta.
mpi-rule-transport = El transporte entre hosts lo elige la biblioteca; dentro de un host todas usan memoria compartida.
mpi-no-such-pair = Esta máquina no tiene dos CPU a estas distancias: { $distances }.
mpi-standard-abi = { $mpi }, ABI estándar
ranks = { $ranks } rangos
curve-goes = { $name } va de { $low } con { $small } a { $high } con { $large }.

storage-explanation = La latencia va del envío a la finalización (tiempo de servicio). Los percentiles se calculan sobre todas las E/S.
storage-explanation-interval = ± es la mayor de las dos semiamplitudes del intervalo de confianza de la mediana.
storage-explanation-generator = Generador: tasa del generador de carga sin E/S, dividida por la tasa alcanzada.
storage-explanation-due = La latencia desde el inicio previsto empieza en el momento previsto para la E/S: es lo que espera un usuario y lo que muestran las curvas de respuesta.
storage-cached = Parte de esta E/S pasó por la caché de páginas: mide tanto la memoria como el almacenamiento.
storage-kind = { $pattern } { $size }, { $depth } en curso
storage-target = Destino: { $target }
storage-engine = Motor: { $engine }, { $reason }
steady-reached = { $test }: estado estacionario alcanzado en la ronda { $rounds }
steady-not-reached = { $test }: estado estacionario no alcanzado en { $rounds } rondas
steady-spread = las últimas rondas difieren un { $range } y cambian un { $slope }
goal-met = { $test }: { $goal } se cumple con { $rate } y no se demostró con { $missed }; en bucle cerrado se alcanzaron { $closed }.
goal-kept = cumplido
goal-missed = incumplido
goal-unclear = dudoso
curve-knee = { $what }: { $knee }.
knee-unreported = no se indica la latencia desde el inicio previsto, así que no hay codo
knee-between = el codo está en { $rate } ({ $low } a { $high }): allí la mediana duplica la de un destino inactivo, { $latency } desde el inicio previsto
knee-at = el codo está en { $rate }: allí la mediana duplica la de un destino inactivo, { $latency } desde el inicio previsto
no-knee = sin codo hasta { $rate }: { $why }
knee-found = se encontró el codo
knee-too-few-points = un codo requiere al menos cinco puntos
knee-flat = la latencia queda por debajo del doble de la de un destino inactivo
knee-within-uncertainty = la latencia no sube más que su incertidumbre
knee-no-idle = la tasa más baja ya lo supera
knee-erratic = la latencia baja a menos de un cuarto mientras sube la tasa, más que su incertidumbre: esta curva no permite saberlo
response-description = La latencia mediana va de { $low } con { $few } a { $high } con { $many }; { $knee }.
engine-asked-for = solicitado
engine-best = opción preferida, permitida por el kernel
engine-best-of-refused = opción preferida; libaio se deniega
engine-refused = io_uring se deniega ({ $cause })
engine-both-refused = io_uring se deniega ({ $cause }), libaio también ({ $other })
engine-refused-and-buffered = io_uring se deniega ({ $cause }), libaio se bloquea en la caché de páginas
engine-contest = aquí el kernel puede recurrir a hilos de trabajo para io_uring; entre io_uring y libaio, este motor fue el más rápido, { $taken } frente a { $other }
engine-untried-contest = aquí el kernel puede recurrir a hilos de trabajo para io_uring; no se probó debido a la verificación

verdict-better = mejor
verdict-worse = peor
verdict-equivalent = equivalente
verdict-cannot-tell = no concluyente
differ = { $what }: { $a } y { $b }
differ-load = { $what }: { $a } y { $b } tareas listas para ejecutarse
differ-order = { $what }: una condición se midió { $a }, la otra { $b }, así que toda deriva parece una diferencia; `assay run --switch` alterna las condiciones
differ-unrecorded = { $what }: { $value }; el archivo importado no lo contiene
aspect-host = el host
aspect-fingerprint = la máquina (su huella)
aspect-processor = el procesador
aspect-microcode = el microcódigo
aspect-kernel = el kernel
aspect-governor = el gobernador
aspect-setting = el ajuste { $of }
aspect-version = la versión de assay
aspect-host-count = el número de hosts
aspect-loop = el bucle de { $of }
aspect-engine = el motor de { $of }
aspect-far-end = el extremo remoto
aspect-congestion = el control de congestión
aspect-array-size = el tamaño de los vectores
aspect-file-size = el tamaño de los destinos
aspect-file-system = el sistema de archivos
aspect-device = el dispositivo
aspect-load = la carga antes de las ejecuciones
aspect-steal = el tiempo de CPU robado durante las ejecuciones
aspect-order = la hora

learn-title = Rendimiento de { $subject }
learn-description = Resultados medidos de { $subject }, con su método y los comandos para reproducirlos.
learn-intro = { $n ->
    [one] { $subject } se midió con { $tool }.
   *[other] { $subject } se midieron con { $tool }.
} Cada valor es una mediana salvo que su columna indique otro estadístico; los intervalos figuran en su propia columna.
learn-dates = Medido: { $dates }.
learn-workload = Carga de trabajo
learn-linpack = High-Performance Linpack (HPL)
learn-rdma = Latencia y ancho de banda de RDMA
learn-storage = { $tool } en { $target }
learn-reads-writes = { $reads } en lectura, { $writes } en escritura
learn-mixed = { $both } en lectura y escritura combinadas
learn-reads = { $reads } en lectura
learn-writes = { $writes } en escritura
learn-per-domain = { $whole } ({ $part } por { $domain })
learn-heading-send-latency = Latencia de envío de InfiniBand
learn-heading-mpi-latency = Latencia de MPI
learn-heading-mpi-bandwidth = Ancho de banda de MPI
learn-heading-conditions = Comparación
learn-heading-commands = Comandos para reproducir los resultados
learn-latency-of = Latencia [{ $unit }] ({ $mpi })
learn-bandwidth-in = Ancho de banda ({ $unit })
learn-bandwidth-of = Ancho de banda ({ $unit }) ({ $mpi })
learn-cpu-usage = Uso de CPU
learn-impossible = Estas cifras se contradicen y no deben usarse: { $figures }.
learn-nothing = No hay ningún resultado para esta página.
column-verdict = veredicto
column-worst-host = peor host
column-worst-pair = peor par
column-worst = peor valor
distrust-above-limit = por encima de su límite
distrust-one-sample = una sola muestra
distrust-no-interval = muy pocas muestras
distrust-wide-interval = el intervalo es de ±{ $width }
distrust-wide = el intervalo supera ±{ $width }
distrust-wider-than-value = el intervalo es más ancho que el valor
verdict-suspect = sospechoso: { $why }
verdict-noisy = con ruido: { $why }
answer-doubted-one = { $first } ({ $why })
answer-doubted = { $some } de { $all } valores son dudosos; el primero, { $first } ({ $why })
answer-noisy = con ruido: { $reasons }
answer-suspect = sospechoso: { $reasons }
answer-worse = { $n ->
    [one] Peor que los demás hosts: { $hosts }
   *[other] Peores que los demás hosts: { $hosts }
}
answer-omitted = no medido: { $benchmarks }
verdict-slow = lento: menos de la mitad de su límite
verdict-is-slow = lento
trust-sound = fiable
trust-noisy = con ruido
trust-suspect = sospechoso
answer-more = { $n } más: { $names }
answer-bandwidth = ancho de banda de memoria, { $label }
answer-memory-latency = latencia de memoria
answer-peak = rendimiento pico { $label }
more-than = más de { $value }
learn-not-measured = no medido: { $why }
learn-throughput-in = Tasa de transferencia ({ $unit })
learn-test = { $what }, { $size }
learn-random-reads = { $share } de lecturas aleatorias
learn-random-writes = { $share } de escrituras aleatorias
learn-sequential-reads = { $share } de lecturas secuenciales
learn-sequential-writes = { $share } de escrituras secuenciales
learn-heading-quota = Nivel de servicio y cuota
learn-service-level = Nivel de servicio
learn-per-quota = { $unit } por { $quota }
learn-quota = Cuota para la mayor tasa de transferencia
learn-littles-law = Ley de Little: { $rate } × { $latency } de latencia media = { $flight } E/S en curso.

heat-throughput = Tasa de transferencia de cada host (fila) a cada uno de los demás (columna)
heat-round-trips = Tiempos de ida y vuelta de cada host (fila) a cada uno de los demás (columna)
heat-latency = Latencia de cada host (fila) a cada uno de los demás (columna)
heat-core-to-core = Latencia entre núcleos, por el número de la primera CPU de cada núcleo
heat-legend = cuanto más oscuro, más lejos del mejor valor: ·░▒▓█; * es significativamente peor que los demás pares
heat-description = De { $worst } ({ $from }) a { $best } ({ $to }).
resource-cpus = todas las CPU
resource-one-cpu = CPU con mayor uso
resource-network = red
answer-saturated = El factor limitante puede ser un host: { $hosts }
answer-finishers = La mayor diferencia, { $case }: { $first } terminó tras { $first_after }, { $last } tras { $last_after }
details-hosts = Actividad de los hosts
column-done-after = tiempo hasta terminar
protocol-metric = { $metric } ({ $protocol })
