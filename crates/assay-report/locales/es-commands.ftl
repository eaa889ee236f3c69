# What commands say beside the reports of runs: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = Ejecuciones
list-results-title = Resultados
list-empty = Todavía no hay ejecuciones.
list-no-match = Ninguna ejecución coincide con el filtro; ejecuciones guardadas: { $n }.
list-unreadable = Ilegibles
list-unreadable-advice = elimínela con `assay rm { $id }`
column-run = ejecución
column-label = etiqueta
column-suite = suite
column-state = estado
column-cases = casos
column-host = host
column-hosts = hosts
column-values = valores
state-damaged = dañada
state-noisy = con ruido
state-suspect = sospechosa
state-complete = completa
state-failed = fallida
state-partial = parcial
state-interrupted = interrumpida
state-running = en curso
state-killed = terminada a la fuerza
known-machine = { $what }: { $own }, publicado de { $system }: { $published }; comparación completa: `assay compare latest SYSTEM`
written-beside = también se escribió: { $files }
next-stored = Guardado como { $run }. A continuación:
next-show = el informe completo
next-page = una página con gráficas
next-doctor = ¿está esta máquina configurada para medir?
next-volume = curvas de respuesta con su codo
next-network = tasa de transferencia, ida y vuelta, CPU en ambos extremos
next-mpi = todas las implementaciones de MPI de esta máquina comparadas
next-memory = cada nodo NUMA, caché y número de núcleos
next-compare = en comparación con la ejecución anterior: mejor, peor o equivalente
progress-done = { $case } terminado
progress-done-with = { $case } terminado: { $value }
progress-failed = { $case } falló: { $why }
progress-failed-on = { $case } falló en { $host }: { $why }
progress-warning = advertencia: { $what }
progress-help = consejo: { $what }
progress-left = faltan { $time }
progress-over = excedido en { $time }
progress-late = excedido en { $late }, luego { $left }
progress-cpu = { $share } CPU
progress-finishing = finalizando
progress-looking = examinando la máquina
progress-files = leyendo los archivos
progress-runs = leyendo las ejecuciones guardadas
progress-pages = leyendo las páginas
progress-hosts-sought = buscando los hosts
progress-waiting-for = esperando a { $host }
progress-waiting = { $n ->
    [one] esperando a { $n } host
   *[other] esperando a { $n } hosts
}
hosts-measuring = { $n ->
    [one] { $n } host
   *[other] { $n } hosts
}
host-examined = { $done } de { $all }: { $host }: examinado
host-no-answer = { $done } de { $all }: { $host }: sin respuesta
slurm-waiting = esperando nodos de Slurm
slurm-gave = Slurm asignó { $nodes }, trabajo { $job }
imported-measurements = { $n ->
    [one] { $n } medición
   *[other] { $n } mediciones
}
list-no-result = Ninguna ejecución tiene resultados.
list-without-result = { $n ->
    [one] { $n } ejecución terminó sin resultado: `assay list --all` la muestra, `assay prune --failed` la elimina.
   *[other] { $n } ejecuciones terminaron sin resultado: `assay list --all` las muestra, `assay prune --failed` las elimina.
}

## The history of a result
history-changes = Cambios de nivel
history-around = Cambios del entorno
history-too-few-runs = Muy pocas ejecuciones para saber si el nivel cambió: se necesitan { $needed } y hay { $n }.
history-unchanged = No se encontró ningún cambio de nivel.
history-unchanged-within = No se encontró ningún cambio de nivel. Un salto por un factor de { $factor } o más en mitad de estas ejecuciones se habría encontrado.
history-other-conditions = El mismo resultado en otras condiciones
history-select-condition = `--label` y `--where` seleccionan una de estas condiciones.
history-one-run = Una sola ejecución no muestra ningún cambio: su nivel se compara con el de las siguientes.
history-over-n = N difiere de una ejecución a otra: assay lo elige según el tiempo y la memoria, y Rmax crece con N. `--where n=…` muestra uno solo.
history-runs = ejecuciones
history-level = nivel
history-span = { $n }, del { $first } al { $last }
history-newest = la más reciente
history-other-results = otros resultados
history-others = { $n } de esta magnitud; se distinguen con `--where`
history-explanation = Los cambios se detectan mediante { $method } con { $permutations } permutaciones (semilla { $seed }): como mucho { $risk } de ellas separan las ejecuciones con la misma claridad, y el cambio supera { $margin }. Entre dos cambios se supone que las ejecuciones difieren solo por azar.
history-plot = { $metric } a lo largo de las ejecuciones
history-changed = Cambios de nivel: { $n }.
history-drawn = Un punto por ejecución, en el orden en que se iniciaron; la línea es el nivel.
column-condition = condición
column-from-run = desde la ejecución
column-since = desde
column-before = antes
column-after = después
column-ratio = cociente
column-which-is = veredicto
column-same-time = al mismo tiempo
column-started = inicio
history-surroundings = cambió el entorno

## Two conditions side by side
compare-one-run = ejecución { $run }
compare-runs = { $n } ejecuciones, { $which }
from-to = de { $first } a { $last }
compare-result = En comparación con { $a }, { $b } es: { $reported }.
compare-suspect = Sospechosas: { $n } de { $all } ejecuciones. La primera, porque: { $why }
compare-with-neighbour = Cada ejecución cuenta como un valor y se compara con su vecina en el tiempo.
compare-with-looks = Cada ejecución cuenta como un valor y se compara con su vecina en el tiempo. Los análisis intermedios tras cada bloque se reparten la probabilidad de error, de modo que el intervalo es válido sea cual sea el análisis en que se termine.
compare-with-all = Cada ejecución cuenta como un valor y se compara con todas las de la otra condición.
compare-explanation = Mejor, peor: el cociente se aparta de uno más de { $margin }, y no por azar entre { $tested } magnitudes examinadas (como mucho { $wrong } de tales veredictos son falsos). Equivalente: todo el intervalo de confianza está dentro de { $margin }. No concluyente: no se demuestra ni lo uno ni lo otro; el número entre paréntesis indica aproximadamente cuántas ejecuciones por condición bastarían.
compare-floor = Ruido de fondo: el intervalo del cociente entre ejecuciones de la misma condición.
forest-title = Cocientes entre { $b } y { $a }
forest-description = { $shown } de { $all } magnitudes decisivas; las líneas son intervalos de confianza, la zona sombreada es { $margin } en torno a la igualdad.
compare-nothing = No se midió nada en ambas condiciones.
gates-title = Umbrales
column-gate = umbral
column-outcome = resultado
gate-passed = cumplido
gate-failed = no cumplido
gates-others = (y { $n } más)
compare-differences = Otras diferencias
compare-unmatched = Medido en una sola condición
compare-control = control
compare-one-each = Una ejecución de cada una no es concluyente: hacen falta unas { $n } ejecuciones por condición.
run-table-empty = Las ejecuciones no tienen resultados.
run-table-explanation = Las diferencias con la primera ejecución son cocientes de medianas, sin veredicto. Destacado: peor en { $margin } o más. `assay compare` decide según los intervalos.
compare-needs = { $n } ejecuciones
compare-alone = { $what }: solo { $side }
compare-nearest = Lo más próximo es { $what }: { $a } en { $first }, { $b } en { $second }.
compare-no-condition = ninguna condición así
column-floor = ruido de fondo
items-goodput = Caudal útil
items-cpu-is = CPU es la parte ocupada de todas las CPU en el extremo local / en el remoto durante la medición.
attribute-not = sin { $what }
attribute-in-flight = { $n } en curso
attribute-reads = { $share } de lecturas
attribute-passes = pasadas previas: { $n }

## What results are told apart by
dimension-host = host
dimension-peer = host remoto
dimension-to = host de destino
dimension-placement = ubicación
dimension-source = origen
dimension-distance = distancia
dimension-concurrent = simultáneo
dimension-end = extremo
dimension-test = prueba
dimension-program = programa
dimension-phase = fase
dimension-loops = bucles
dimension-operation = operación
dimension-files = archivos
dimension-file-bytes = tamaño de archivo
dimension-levels = niveles
dimension-direction = sentido
dimension-bytes = tamaño
dimension-bytes-per-array = tamaño del vector
dimension-n = N
dimension-cpu = CPU
dimension-instruction-set = conjunto de instrucciones
dimension-mpi = MPI
dimension-prefix = prefijo
dimension-abi = ABI
dimension-ranks = rangos
dimension-preset = método
dimension-hosts = hosts
dimension-hostfile = archivo de hosts
dimension-threads = hilos
dimension-connection = conexión
dimension-asked-device = dispositivo
dimension-asked-gid-index = índice del GID
dimension-asked-path-mtu-bytes = MTU de la ruta
dimension-service-level = nivel de servicio
dimension-streams = flujos
dimension-depth = profundidad de cola
dimension-read-share = proporción de lecturas
dimension-pause-s = pausa
dimension-pattern = patrón de acceso
dimension-target = destino
dimension-page-cache = caché de páginas
dimension-precondition-passes = pasadas de preacondicionamiento
dimension-goal = objetivo
dimension-point = punto
dimension-percent-of-max = proporción del máximo
dimension-step = paso
dimension-requested-rate = tasa solicitada
dimension-copy = copia
dimension-seconds = segundos
dimension-rate-bit-per-s = tasa por flujo
dimension-congestion = control de congestión
dimension-segmentation = segmentación en el kernel
dimension-waiting = espera
dimension-load-streams = flujos de carga
dimension-busy-poll-s = sondeo activo
dimension-messages-per-s = mensajes por segundo
dimension-engine = motor
dimension-stream = flujo
dimension-target-index = número de destino
dimension-member = miembro
dimension-stage = etapa
dimension-stretch = tramo
dimension-buffers = búferes de los mensajes
dimension-timed = operación cronometrada

## The doctor
doctor-title = Configuración de { $host } para medir
doctor-counts = Comprobaciones: { $all }; con desviación: { $bad }, según lo esperado: { $good }, no observables aquí: { $hidden }, ilegibles: { $unread }.
doctor-no-change = No se cambió nada. Decida usted sobre cada cambio mostrado.
doctor-no-deviation = No se encontraron desviaciones.
doctor-deviations = Desviaciones
doctor-others = Las demás comprobaciones: `{ $command }`.
doctor-as-expected = Según lo esperado
doctor-hidden = No observable aquí
doctor-unreadable = No se pudo leer
column-observed = observado
column-expected = esperado
column-reason = motivo
column-why = justificación
column-change = cambio
column-source = fuente
column-check = comprobación
severity-blocks = invalida las mediciones
severity-skews = sesga las mediciones
severity-note = nota
hosts-title = Configuración para medir, hosts: { $n }
hosts-unreached = Hosts sin respuesta: { $few } de { $n }.
hosts-heading = Hosts
hosts-without-answer = Hosts sin respuesta
hosts-help = consejo
column-host-name = nombre de host
column-invalidate = invalidan
column-skew = sesgan
column-notes = notas
column-clock-offset = desfase del reloj
hosts-table = Desviaciones según su efecto en las mediciones
hosts-differ = Diferencias
hosts-alike = Ninguna: estos hosts tienen la misma configuración.

## Plans
plan-title = Plan de la suite { $suite }
plan-nothing-run = No se ejecutó nada.
plan-turns = Ejecuciones: { $runs }, cada una de { $n } casos en { $each }. Comandos de cambio: { $commands }, con { $settle } de estabilización. En total { $time }, sin el tiempo de los comandos.
plan-cases-beyond = Casos: { $n }, con un presupuesto de tiempo de { $time }.
plan-cases = Casos: { $n }, en { $time } como mucho.
column-resolved-to = valor elegido
column-stops-at = criterio de parada
column-budget = presupuesto
plan-left-out = Omitido: { $benchmark }, porque { $why }; { $advice }
plan-repetitions = { $n } × en { $preparations }
plan-cpus = { $n ->
   *[other] CPU { $which }
}
plan-arrays = vectores de { $size } ({ $times } × las cachés de último nivel)
plan-to = a { $to }
plan-this-machine = esta máquina por loopback
plan-port = puerto { $port }
plan-each = a { $rate } cada uno
plan-per-repetition = { $time } por repetición
plan-own-congestion = el control de congestión del sistema
plan-there-and-back = mensajes de { $size } de ida y vuelta
plan-spinning = espera activa
plan-connection-each = una conexión para cada uno
plan-sleeping = espera pasiva
plan-placed-by-launcher = colocados por el lanzador
plan-on-hosts = en los hosts { $hosts }
plan-one-on = uno de ellos en { $host }
plan-on-hosts-of-file = en los hosts del archivo { $file }
plan-started-by = iniciados por { $launcher }
plan-messages-of = mensajes de { $size }
plan-messages = mensajes de { $low } a { $high }
plan-sizes = { $low } a { $high }, { $n } tamaños
plan-preconditioned = preacondicionado, escrituras completas: { $n }
plan-rounds = por rondas hasta el estado estacionario, { $n } como mucho
plan-search = después la tasa máxima que cumple { $goal }
plan-shares = después { $shares } de la tasa máxima
plan-points-near-the-knee = { $n ->
    [one] después { $n } punto cerca del codo
   *[other] después { $n } puntos cerca del codo
}
plan-near-the-knee = una proporción cercana al codo
plan-directories = { $n ->
    [one] { $n } directorio
   *[other] { $n } directorios
}
plan-io500-phases = { $n } fases
plan-io500-writes = { $n } fases de escritura de { $time } cada una
plan-io500-invalid = no válido para `IO500`, que exige { $least }
plan-files = { $files } archivos de { $size }, { $directories }
plan-each-once = cada uno una vez, repetidamente
plan-in-order = en orden
plan-at-random = en orden aleatorio
plan-read-checked = se verifica cada lectura
plan-write-checked = cada escritura se relee y se verifica
plan-compressible = datos compresibles al { $share }
plan-operation = { $operation }, acceso { $pattern }
plan-of-the-rate = { $share } de la tasa
plan-fsync-every = fsync cada { $n } escrituras
plan-permutation = aleatorio, cada bloque una vez
plan-strided = con saltos de { $low } a { $high }
plan-per-thread = por hilo
plan-in-parts = por partes
plan-to-the-end = hasta el final
plan-with-gaps = con saltos de { $size }
plan-partly-random = secuencial, con { $share } aleatorio
plan-blocks = { $order } en bloques de { $size }
plan-blocks-every = { $order } en bloques de { $size } cada { $stride }
plan-no-target = ninguno: solo el generador de carga
plan-page-cache = por la caché de páginas
plan-fsync-at-the-end = fsync al final
plan-closed-loop = máximo (bucle cerrado)
plan-in-given-shares = bucle cerrado, en las proporciones dadas
plan-at-most = { $value } como mucho
plan-share-of = { $share } de: { $what }
plan-maximum-rate = la tasa máxima
plan-exponential-gaps = intervalos exponenciales
plan-uniform-gaps = intervalos uniformes
plan-constant-gaps = intervalos constantes
days = { $n } d
hours = { $n } h
minutes = { $n } min
plan-pause = pausa { $time }
plan-warm-up = calentamiento { $time }
plan-until-done = hasta terminar
storage-plan-title = Plan de almacenamiento
column-phase = fase
column-targets = destinos
column-load = carga
column-time = tiempo
plan-phases = fases
plan-files-and-devices = archivos y dispositivos
plan-required-size = tamaño necesario
plan-maximum-in-flight = máximo de E/S en curso
plan-until-the-work-is-done = hasta terminar el trabajo
plan-and-open-phases = { $time }, y fases hasta terminar su trabajo: { $n }

## When cases stop
plan-stops-at = Los casos terminan en { $stop }: cuando el intervalo es así de estrecho, tras al menos tantas repeticiones en tantas preparaciones, o cuando se agota su presupuesto de tiempo.
plan-stop-as-shown = los valores mostrados

## References
references-title = Cifras publicadas
references-title-of = Cifras publicadas: { $system }
at-least = al menos { $value }
at-most = como máximo { $value }
best-of-many = mejor valor { $value }
mean-of-many = media { $value }
calculated = valor calculado { $value }
references-hint = `assay references SYSTEM` muestra las cifras con sus fuentes; `assay compare RUN SYSTEM` y `assay run --expect SYSTEM` contrastan resultados con ellas.
references-source = Fuente: { $source }
column-system = sistema
column-figures = cifras
column-figure = cifra
column-published = publicado
column-conditions = condiciones
held-title = Comparación con { $name }
column-you = usted
column-you-share = usted / referencia
held-reached = alcanzado
held-missed = no alcanzado
held-count-missed = no alcanzado: { $n } de { $all } resultados son peores que las cifras de { $name }: { $which }
held-count-conflict = las fuentes difieren: { $n } de { $all } resultados alcanzan solo algunas de las cifras de { $name }: { $which }
held-count-undecided = no concluyente: { $n } de { $all } resultados son peores que las cifras de { $name }, pero son sospechosos o no tienen intervalo: { $which }
held-count-none = no concluyente: ninguna cifra de { $name } se aplica a estos resultados
held-explanation = Un resultado no alcanza una cifra si todo su intervalo es peor en más de la tolerancia ({ $tolerance } salvo que la referencia diga otra cosa). Un resultado sospechoso, o uno de assay sin intervalo, no lo demuestra. Las cifras de mejor caso y las dudosas se muestran, pero no deciden nada.
references-nothing = aquí no se midió ninguna de las cifras de { $name }

## Stored runs held against what was written
verify-intact = íntegra, salidas sin procesar: { $n }
verify-lost = dañada, eventos perdidos: { $n }

## The page itself
page-contents = Contenido
page-language = Idioma
page-units = Unidades
page-raw = Datos sin procesar
page-back = volver a la primera fila

## The site of all runs
site-pages = Páginas
site-histories = Historiales
site-comparison = Comparación de ejecuciones
site-machine = tipo de máquina
site-filters = Filtros
site-search = Buscar
site-any = todo
site-tick = comparar
site-tick-run = Comparar la ejecución { $run }
site-compare-ticked = Comparar las ejecuciones marcadas: { $n }
site-newer = Más recientes
site-older = Más antiguas
site-shown = { $first } a { $last } de { $all }
site-no-match = Ninguna ejecución coincide.
site-needs-script = La lista de ejecuciones necesita JavaScript. Sin él, abra las páginas del directorio { $folder }.
site-no-choice = Marque dos o más ejecuciones en la lista para compararlas.
site-not-here = Este sitio no contiene la ejecución { $run }.
site-ratios = Debajo de cada valor están su intervalo y el cociente entre su mediana y la de la primera ejecución, con el rango que permiten los intervalos al { $level } de ambas medianas. No es un veredicto, porque las ejecuciones también difieren por azar. Estos comandos dan uno:
site-history-limit = Un historial tiene como mucho las { $n } ejecuciones más recientes de su host y un resultado por magnitud; `assay history` lee todas las ejecuciones y cualquier resultado.
site-running = { $time } min, { $n } de { $all } casos terminados
site-live-lost = El servidor no responde. La página muestra su último estado.
site-live-store = No se pueden leer las ejecuciones: { $reason }. La página muestra su último estado.
site-curves = Curvas
site-distributions = Distribuciones
site-percentile = percentil
site-host-map = Hosts de estas ejecuciones
site-host-map-legend = Cuanto más intenso el color, más lejos del mejor valor de la columna. Debajo de cada valor está su proporción respecto al mejor.
site-labels = Veredictos entre etiquetas
site-labels-limit = Hay veredictos de las { $labels } etiquetas más recientes y de { $pairs } pares de ellas como mucho, cada uno de un host; `assay compare` evalúa los demás.
site-verdict = veredicto: { $one } → { $two }
site-verdict-source = Cada veredicto es el de este comando, sobre todas las ejecuciones de ambas etiquetas. Los cocientes debajo de los valores son solo los de las ejecuciones marcadas y no constituyen un veredicto:
site-pick = Seleccione dos puntos del gráfico o marque dos ejecuciones de la tabla para compararlas.
site-written = escrito: { $page } (ejecuciones: { $runs }, archivos escritos: { $written }, sin cambios: { $kept }, eliminados: { $removed })
