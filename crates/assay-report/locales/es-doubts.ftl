advice-more-time = dar más tiempo, por ejemplo `--budget 10m` o un `--for` más largo
advice-tool-repeats = la herramienta o sus opciones deciden cuántas veces se repite; pedir más repeticiones o ejecutar el caso varias veces
advice-raw-output = consultar la salida sin procesar guardada
advice-kernel-log = consultar los mensajes del kernel con `dmesg` y repetir
advice-check-address = comprobar la dirección y la ruta hasta ella
luck-pages = ubicación en memoria
luck-connections = conjunto de conexiones
luck-launch = lanzamiento
depends-pages = el resultado depende de la ubicación de las páginas; con páginas enormes depende menos, y con más tiempo hay más preparaciones
depends-connections = el resultado depende de la conexión: de las CPU que la atienden y del resto del tráfico de su ruta; con más tiempo hay más conexiones
depends-launch = el resultado depende del lanzamiento: de la memoria y las CPU que obtuvieron sus procesos; con más tiempo hay más lanzamientos
doubt-no-interval = { $n ->
    [one] no hay intervalo de confianza del { $level } de la mediana con { $n } muestra: hacen falta { $needed } independientes
   *[other] no hay intervalo de confianza del { $level } de la mediana con { $n } muestras: hacen falta { $needed } independientes
}
doubt-no-interval-worth = { $n ->
    [one] no hay intervalo de confianza del { $level } de la mediana con { $n } muestra, que equivale a { $worth }: hacen falta { $needed } independientes
   *[other] no hay intervalo de confianza del { $level } de la mediana con { $n } muestras, que equivalen a { $worth }: hacen falta { $needed } independientes
}
doubt-wider-than-value = el intervalo de confianza del { $level } de la mediana es más ancho que el propio valor, cuando se pidió ±{ $target } (n = { $n }, efectivas { $worth })
    .advice = { $first }, o reducir la actividad de la máquina: `assay doctor` indica qué interfiere
doubt-wide-interval = el intervalo de confianza del { $level } de la mediana llega a ±{ $width }, cuando se pidió ±{ $target } (n = { $n }, efectivas { $worth })
    .advice = { $first }, o reducir la actividad de la máquina: `assay doctor` indica qué interfiere
doubt-one-preparation = todas las muestras comparten una sola condición de partida ({ $luck }), cuando se pidieron { $asked }; el intervalo no muestra cuánto influye
doubt-few-preparations = { $had ->
    [one] hubo tiempo para { $had } preparación, cuando se pidieron { $asked }
   *[other] hubo tiempo para { $had } preparaciones, cuando se pidieron { $asked }
}
doubt-preparations-differ = el { $share } de la varianza está entre las { $preparations } preparaciones: { $n } muestras equivalen a { $worth } independientes
doubt-autocorrelated = las muestras sucesivas están correlacionadas: { $n } muestras equivalen a { $worth } independientes
    .advice = algo más lento que una repetición altera el resultado, como la frecuencia de reloj, la temperatura u otro proceso; `assay doctor` enumera sus hallazgos
doubt-warm-up-discarded = { $discarded } de { $all } muestras se apartan de las siguientes y se descartaron como calentamiento
    .advice = el resultado corresponde a lo posterior; todas las muestras están guardadas en el orden de medición
doubt-several-modes = las muestras se dividen en grupos: el { $few } en torno a { $low } y el { $many } en torno a { $high }; ningún número por sí solo describe ambos
    .advice = averiguar la causa de la alternancia: ubicación de las páginas, frecuencia de reloj, otro proceso; las muestras están guardadas en el orden de medición
doubt-samples-not-finite = { $refused } de { $all } muestras no son números finitos y no cuentan
    .advice = la herramienta de medición dividió por un tiempo nulo o no imprimió ningún número; consultar su salida sin procesar
doubt-not-a-value = { $figure } no puede ser un valor medido de { $metric }
    .advice = la medición no hizo nada, o su salida se leyó mal; consultar la salida sin procesar
doubt-out-of-order = se incumple { $law }: { $less } > { $more }
    .advice = estas cifras no pueden proceder de una misma muestra; no usarlas
order-low-median = extremo inferior del intervalo ≤ mediana
order-median-high = mediana ≤ extremo superior del intervalo
doubt-above-limit = la mediana es el { $share } de su límite, { $limit } ({ $basis })
    .advice = se midió la caché, o la unidad o el límite son erróneos: comprobar el tamaño, la unidad y de dónde procede el límite
doubt-no-rpeak = no hay Rpeak: la mejor tasa es de { $rate } FLOP por ciclo a la frecuencia medida, lo que no corresponde a ningún núcleo
    .advice = otra cosa usó estas CPU: comprobar el tiempo robado (steal) y la presión de CPU (PSI), y volver a medir
advice-limit-contended = otra cosa usó estas CPU: comprobar el tiempo robado (steal) y la presión de CPU (PSI), y volver a medir
doubt-unknown-metric = { $case } tiene muestras de `{ $metric }`, una magnitud que esta versión no conoce
    .advice = leer la ejecución con la versión de assay que la creó
doubt-cache-assisted = unos vectores de { $size } son solo { $multiple } veces las cachés de último nivel, así que parte del tráfico no llegó a la memoria
    .advice = usar vectores de al menos { $needed } veces las cachés, o liberar memoria
doubt-idle-latency-differs = sin tráfico la cadena tarda { $idle } por lectura, pero la latencia de memoria del mismo conjunto de trabajo es { $latency }
    .advice = otra carga u otras páginas: comprobar las páginas enormes de ambas y volver a medir ambas
doubt-traffic-above-stream = el tráfico de { $traffic } supera todas las tasas de STREAM, { $stream }
    .advice = el tráfico venía de una caché, o STREAM fue más lento: volver a medir ambos en una máquina sin carga
doubt-cache-ends-early = las lecturas salen de la caché L{ $level } con conjuntos de trabajo de más de { $end }, pero el kernel indica { $size }
    .advice = un invitado tiene solo una parte de la caché, u otras CPU la usan: tomar el final de la curva
doubt-hand-over-below-load = una entrega tardó { $time }, menos que la lectura más corta, { $load }
    .advice = las CPU virtuales o su reloj no son lo que parecen: comprobar el tiempo robado y la fuente de reloj, y volver a medir
doubt-steal = el hipervisor robó { $stolen } de tiempo de CPU ({ $share }) en { $span }
    .advice = repetir en un momento más tranquilo, o en una máquina que no comparta sus CPU
doubt-cpu-pressure = alguna tarea esperó una CPU durante el { $share } del tiempo
    .advice = detener otros programas, o medir con menos hilos que CPU
doubt-memory-pressure = alguna tarea esperó memoria durante el { $share } del tiempo
    .advice = usar vectores más pequeños, o liberar memoria antes de la ejecución
doubt-throttled = { $n ->
    [one] el grupo de control agotó su cuota de CPU { $n } vez en { $span }
   *[other] el grupo de control agotó su cuota de CPU { $n } veces en { $span }
}
    .advice = elevar el límite de CPU del contenedor o servicio, o no usar más hilos de los que permite
doubt-frequency-drop = la frecuencia máxima de CPU cayó de { $before } antes a { $after } después ({ $change })
    .advice = comprobar la refrigeración y los límites de potencia; fijar la frecuencia para comparar dos máquinas
doubt-other-load = la carga media (load average) era de { $load } antes de medir nada
    .advice = detener otros programas; una medición recién terminada también cuenta durante un minuto
doubt-other-demand = otros procesos usaron { $cpus } de { $all } CPU ({ $share }) durante la medición
    .advice = detener otros programas; `assay doctor load` enumera los más activos
doubt-another-assay = otro assay está midiendo en esta máquina; pueden interferir entre sí
    .advice = esperar a que termine y volver a medir
doubt-emulated-cpu = el procesador está emulado por software (QEMU sin KVM): las velocidades medidas aquí no valen para ninguna máquina real
    .advice = usar estos valores solo para comprobar que el programa funciona y medir en hardware real o con KVM
doubt-suspended = la máquina estuvo suspendida { $time } durante la ejecución
    .advice = volver a medir: estos resultados incluyen tiempo en que no se medía nada
doubt-paused = { $n ->
    [one] assay estuvo parado { $time }, { $n } vez: se detuvo o no obtuvo CPU
   *[other] assay estuvo parado { $time }, { $n } veces: se detuvo o no obtuvo CPU
}
    .advice = volver a medir: estos resultados incluyen tiempo en que no se medía nada
doubt-cpus-taken = { $n ->
    [one] assay dejó de poder usar la CPU { $cpus }: se desconectó o se retiró de su cpuset o de su afinidad
   *[other] assay dejó de poder usar las CPU { $cpus }: se desconectaron o se retiraron de su cpuset o de su afinidad
}
    .advice = volver a medir: los hilos previstos para una de esas CPU compartieron otra
doubt-clock-stepped = el reloj del sistema se ajustó { $step } durante la ejecución
    .advice = las duraciones y el orden de los eventos proceden de un reloj monótono y no se ven afectados; buscar el programa que ajusta el reloj del sistema: `timedatectl`, `chronyc tracking`
doubt-over-budget = la ejecución tardó { $elapsed } con un presupuesto de { $budget }: las duraciones fijas y los primeros resultados no se acortan
    .advice = dar más tiempo (`--budget`), o elegir menos casos en un archivo de suite
unsteady-too-few = hubo muy pocas rondas, o rondas sin ninguna E/S
unsteady-window = { $n ->
    [one] la última ronda ({ $n }) aún difiere un { $range } y cambia un { $slope }
   *[other] las últimas { $n } aún difieren un { $range } y cambian un { $slope }
}
unsteady-drift = y continúa una tendencia del { $drift }
doubt-steady-state-not-reached = estado estacionario no alcanzado en { $rounds } rondas: { $found }
    .advice = se admite como máximo { $range } y { $slope }: escribir más antes (`--precondition`), alargar las rondas (`--for`) o buscar qué más usa este almacenamiento
doubt-search-not-finished = búsqueda interrumpida tras { $n } tasas: entre { $keeps }, que cumple el objetivo, y { $misses } no se sabe nada
    .advice = dejar que termine: la tasa máxima que cumple el objetivo puede ser mayor
doubt-target-in-memory = { $path } está en memoria ({ $kind }): no se mide ningún dispositivo de almacenamiento
    .advice = indicar un archivo, un directorio o un dispositivo del almacenamiento deseado
advice-page-cache = la caché de páginas de este host tiene el resto: medir con O_DIRECT, o con más datos de los que caben en la memoria, y terminar las escrituras con fsync
advice-cache-below = algo entre este host y el dispositivo tiene el resto: buscar una caché o una compresión del volumen, y huecos en el archivo
doubt-cached-reads = al menos el { $share } de los bytes leídos no vino de { $place }: de allí vinieron { $moved } de { $payload }
doubt-cached-writes = al menos el { $share } de los bytes escritos no llegó a { $place } durante la medición: llegaron { $moved } de { $payload }
doubt-card-traffic-more = { $device } transportó { $factor } veces los datos útiles, más de lo que explican las cabeceras
    .advice = buscar otro tráfico en el dispositivo (`ip -s link`) y retransmisiones (`nstat`)
doubt-card-traffic-less = { $device } transportó solo { $factor } veces los datos útiles
    .advice = otro dispositivo transportó el resto, o el controlador no lo cuenta todo: comprobar la ruta (`ip route get`) y `ethtool -S`
doubt-rpc-retransmits = llamadas que el cliente NFS de { $mount } volvió a enviar: { $n } de { $calls }
    .advice = el servidor o la ruta perdió llamadas o respondió demasiado tarde: comprobar `nfsstat -c`, la red y la carga del servidor
doubt-interrupt-bound = { $cpu } pasó el { $share } de su tiempo en interrupciones y no le quedaba más: limitó el resultado
    .advice = repartir las interrupciones entre más CPU: más colas (`ethtool -L`), o receive packet steering (RPS); más flujos solo ayudan si llegan a otras colas
doubt-io-limit-reached = { $device } alcanzó el límite del grupo de control: { $reached } de { $limit }
    .advice = el valor es el del límite, no el del dispositivo: elevar `io.max` o `blkio.throttle` para medir el dispositivo
doubt-file-with-holes = { $path } tiene un tamaño de { $size }, pero solo { $stored } están asignados
    .advice = leer un hueco no requiere E/S: indicar una ruta donde assay cree un archivo, o escribir antes este por completo; también puede que el sistema de archivos comprima
doubt-littles-law = había { $flight } E/S en curso, pero tasa × latencia es { $product }: la diferencia es del { $difference }
    .advice = la latencia o la tasa es errónea; consultar las series guardadas con la ejecución
doubt-rate-missed = se pidieron { $asked } y se alcanzaron { $reached }
    .advice = el límite es el almacenamiento, la profundidad de cola o una máquina ocupada: la latencia desde el inicio previsto crece mientras dura; pedir menos, o aumentar la profundidad de cola
doubt-not-started = { $n } de las { $due } peticiones previstas no habían empezado al acabarse el tiempo
    .advice = cuentan con el tiempo que llevaban esperando, de modo que las latencias desde el inicio previsto son al menos las mostradas; pedir menos, o aumentar la profundidad de cola donde la haya
doubt-message-rate-missed = se pidieron { $asked } mensajes por segundo y se respondieron { $reached }: no se alcanzó la tasa
    .advice = en la conexión hay un solo mensaje en curso, así que entre dos pasa al menos un viaje de ida y vuelta; la latencia cuenta desde el momento previsto y crece mientras dura, también la de los que no se enviaron a tiempo; pedir menos
doubt-generator-near = el generador por sí solo alcanza { $rate }, apenas { $factor } veces la tasa medida
    .advice = darle más hilos: parte de la latencia puede deberse al generador
doubt-io-failed = falló la operación { $operation } de { $size } bytes en el byte { $offset } del destino { $target }: { $cause }
doubt-file-operation-failed = falló la operación { $operation } en { $path }: { $cause }
doubt-measured-once = { $by } mide una sola vez, sin buscar un estado estacionario
    .advice = dejar que assay mida primero en la misma ejecución: el estado estacionario que encuentre vale para ambos
doubt-other-binding = los rangos quedaron fijados a las CPU { $bound } en vez de las solicitadas { $asked }, uno en cada una
    .advice = el lanzador o su configuración los fija de otro modo: la ubicación indicada no es la que se midió
doubt-one-kernel = ambos hosts comparten un mismo kernel: la biblioteca MPI puede haber usado su memoria en vez de la red
    .advice = indicar un host que sea otra máquina, o hacer que la biblioteca no use la memoria compartida: `UCX_TLS=^shm`, `I_MPI_FABRICS=ofi`
doubt-unbound-ranks = { $unbound } de { $ranks } rangos no están fijados a una sola CPU, y { $moved } de ellos se movieron
    .advice = fijarlos con el lanzador: `-bind-to core` (MPICH), `--bind-to core` (Open MPI), `I_MPI_PIN=1` (Intel MPI), `--cpu-bind=cores` (srun)
doubt-function-bypassed = la función virtual { $function } transportó el { $share } del tráfico de { $device } durante la prueba
    .advice = las redes aceleradas están configuradas pero no se usan: buscar `Data path switched` en el registro del kernel
rounded-at = {" "}con { $at }
doubt-score-contradicted = la puntuación del archivo no se deduce de sus fases: indica { $printed } y las fases dan { $calculated }
    .advice = compruebe si se cambiaron líneas del archivo o pertenecen a otra ejecución
doubt-rounded-output = la herramienta imprime tan pocos decimales que { $metric } solo se conoce con ±{ $share }{ $at }
    .advice = comparar mensajes más grandes, o las cifras de assay, que no están redondeadas
doubt-option-contradicted = las opciones dan { $option } para { $condition }, las cifras { $figures }: se guardan las cifras
    .advice = comprobar que el archivo corresponde a estas opciones y que la herramienta llegó al final
doubt-process-cpu-only = `iperf3` solo informa del tiempo de CPU de sus procesos: no incluye las softirq de recepción
    .advice = las cifras propias de assay, al lado, dan el coste completo
doubt-far-process-cpu-only = el extremo remoto es `iperf3`, que solo informa del tiempo de CPU de su proceso: no incluye las softirq de recepción
    .advice = ejecutar `assay iperf3 -s` en el extremo remoto para obtener el coste completo
doubt-broke-off = el caso terminó antes de tiempo: el resultado abarca el tiempo hasta entonces
    .advice = volver a medir para obtener el resultado completo
doubt-copy-unknown = un extremo remoto que sea `iperf3` anterior a { $version } copia lo que recibe, se le pida lo que se le pida
    .advice = ejecutar `assay iperf3 -s` en el extremo remoto
doubt-shared-server = el servidor ejecutó también otras pruebas durante el { $share } de esta (número: { $n }): compartían su enlace y sus CPU
    .advice = medir a solas, o iniciar el servidor sin `--clients`
doubt-other-thread-count = stream usó { $ran } hilos cuando se pidieron { $asked }
    .advice = compilar `stream.c` con `-fopenmp` y no dejar que nada más fije las variables de OpenMP
doubt-smaller-arrays = los vectores de la herramienta contienen { $held } cuando se pidieron { $wanted }: { $multiple } veces las cachés de último nivel
    .advice = dar a la herramienta vectores más grandes; la propia regla de STREAM es cuatro veces las cachés
doubt-events-changed = los eventos guardados de esta ejecución se modificaron después de escribirse
    .advice = `assay verify RUN` indica cada lugar
doubt-events-lost = { $n ->
    [one] se perdió { $n } evento de esta ejecución: el informe está incompleto
   *[other] se perdieron { $n } eventos de esta ejecución: el informe está incompleto
}
    .advice = `assay verify RUN` indica cada lugar
doubt-store-index = no se puede escribir el índice { $path }: { $cause }
    .advice = no se ha perdido nada: las ejecuciones se listan a partir de sus eventos, solo que más despacio; dar permiso de escritura en el directorio

failure-no-samples = no se midió nada: el caso no tiene muestras
    .advice = consultar la salida sin procesar guardada
failure-no-finite-sample = no se midió nada: ninguna muestra de { $metric } es un número finito
    .advice = consultar la salida sin procesar guardada
failure-icmp-has-no-streams = ICMP no transporta flujos
    .advice = solicitar `latency`
failure-no-echo = el host no responde al eco ICMP
    .advice = el host o un cortafuegos puede ignorar ICMP; `assay net latency` pregunta por TCP o UDP
failure-residual-too-large = la solución es errónea: su residuo escalado es { $residual } y debe ser menor que { $bound }
    .advice = repetir una vez; si vuelve a fallar, comprobar la memoria y los ajustes de reloj de esta máquina
failure-unknown-instruction-set = no existe el conjunto de instrucciones `{ $name }`
    .advice = el plan lo hizo otra versión de assay; hacerlo de nuevo
failure-skipped = omitido: { $lack }
    .advice = véase el caso que lo detectó: su fallo indica qué hacer
lack-address = no se encontró el host { $host }
lack-port = no se pudo acceder al puerto { $port } de { $host }
lack-echo = nada responde a los ping-pong en { $host }
lack-connection = no se pudo establecer ninguna conexión con { $host }
failure-tool-cannot-search = { $by } mide una tasa dada y no busca ninguna
    .advice = dejar que assay busque, y dar el resultado a la herramienta con `--rate`
failure-curve-without-maximum = no se conoce la tasa máxima de esta curva
    .advice = el caso anterior falló: consultar primero su causa
no-io-done = no se hizo ninguna E/S
failure-no-rate-keeps-goal = con ninguna tasa se demostró que se cumpla { $goal }: { $last }
    .advice = permitir más latencia, o dar más tiempo a cada paso (`--for`): un percentil necesita muchas E/S
rate-tried = { $asked } solicitados, { $reached } alcanzados, el { $late } de las E/S con retraso: { $verdict }
failure-io-failed = { $n ->
    [one] falló { $n } E/S: { $operation } en el byte { $offset } de { $target }
   *[other] fallaron { $n } E/S, la primera: { $operation } en el byte { $offset } de { $target }
}
failure-file-operation-failed = { $n ->
    [one] falló { $n } operación: { $operation } en { $path }
   *[other] fallaron { $n } operaciones, la primera: { $operation } en { $path }
}
failure-no-io = no terminó ninguna E/S en el tiempo que cuenta
    .advice = dar más tiempo con `--for` o `--budget`
failure-unknown-host = no se conoce el host { $host }
    .advice = comprobar el nombre, o dar una dirección
failure-no-address = el host { $host } no tiene ninguna dirección de la familia solicitada
    .advice = quitar `-4` o `-6`
failure-no-interface = la dirección de enlace local { $host } no nombra ninguna interfaz de este host
    .advice = indicar la interfaz que lleva a ella: { $addresses }
failure-not-connected = no se puede conectar a { $address }
advice-refused = allí no escucha nada: iniciar un servidor en ese host (`assay iperf3 -s -B ADDRESS` o `iperf3 -s` para flujos, `qperf` para ping-pong), o indicar su puerto
advice-refused-connections = allí no escucha nada: iniciar `assay iperf3 -s -B ADDRESS` en ese host, o indicar su puerto
advice-timed-out = un cortafuegos entre los dos hosts puede descartar los paquetes: abrir el puerto, o indicar otro
failure-no-ping-pong = nada responde a los ping-pong en { $host }
    .advice = un servidor `iperf3` por sí solo no lo hace: ejecutar allí `qperf` junto a `iperf3 -s`, o bien `assay iperf3 -s`, que atiende ambos; los ecos ICMP no necesitan ninguno de los dos
failure-stalled = no se han transferido datos entre esta máquina y { $peer } durante { $time }
    .advice = se cortó la ruta, un cortafuegos olvidó las conexiones, o el otro extremo está bloqueado
failure-peer-busy = { $peer } está ocupado con otra prueba, o rechaza a este cliente
    .advice = esperar a que acabe la prueba en curso, o indicar otro puerto
failure-peer-stopped = { $peer } ha terminado la prueba
    .advice = se detuvo en ese extremo, como los flujos que solo cargan un enlace mientras se mide otra cosa
failure-no-data = no llegaron datos
    .advice = un cortafuegos puede dejar pasar la conexión de control y no los datos
failure-wrong-contents = llegaron mensajes de { $size } con contenido erróneo
    .advice = la biblioteca o la red corrompe los datos: comprobar ambas
failure-rank-died = un rango terminó de forma anómala: { $how }
    .advice = si no lo terminó ningún usuario, lo hizo el kernel por falta de memoria (`dmesg` lo indica) o falló la biblioteca; { $see }
launcher-ended = el lanzador terminó con el código { $code }
launcher-killed = una señal terminó el lanzador
launcher-said = { $how }; su mensaje: { $words }
launcher-executable = comprobar si se puede ejecutar { $launcher }
failure-no-outcome-here = el primer rango no escribió nada en este host
    .advice = debe ejecutarse en el host donde se inició assay: indicar ese host el primero de la lista
failure-no-outcome = el lanzamiento terminó bien, pero el primer rango no escribió nada
    .advice = debe ejecutarse en el host donde se inició assay: indicar ese host el primero de la lista
failure-other-version = los rangos son assay { $found }, este es { $own }
    .advice = instalar la misma versión de assay en todos los hosts
failure-other-rank-count = participaron { $found } rangos cuando se pidieron { $asked }
failure-launch-broke-off = el lanzamiento terminó antes de medir todos los tamaños
see-by-hand = ver lo que imprime este comando (también se guarda con la ejecución): { $command }
area-threads = medir de nuevo: puede que una CPU se haya desactivado o haya salido del cpuset, o que el sistema rechace más hilos (`ulimit -u`, `pids.max`)
area-stream = unos vectores más pequeños (`--bytes`) necesitan menos memoria; un contenido erróneo indica memoria defectuosa o una máquina con overclocking
area-latency = elegir un conjunto de trabajo menor (`to` en un archivo de suite), y ver `assay doctor`
area-peak-flops = `assay doctor` muestra la carga que compite por estas CPU; una suma errónea indica un procesador defectuoso
area-linpack = elegir un sistema de ecuaciones menor con `--n` o `--memory`
area-blas = instalar la biblioteca (Debian: `libopenblas0-pthread`, `libblis4-pthread`) o dar su ruta completa
area-generator = el generador por sí solo debe funcionar en cualquier parte: se ruega informar de ello
area-icmp = `sysctl net.ipv4.ping_group_range="0 2147483647"` permite a todos usar ping; o ejecutar como root
area-rdma = `rdma link` lista los dispositivos RDMA y su estado; véase también `assay help rdma`
area-launcher = comprobar si se puede ejecutar el lanzador
area-process = ejecutar a mano el comando registrado para ver sus errores
area-tool = consultar la salida sin procesar guardada; si es una versión de la herramienta que assay no conoce, informar de ella con esa salida
area-temporary-folder = liberar espacio en el directorio de archivos temporales
area-host = véase la advertencia sobre ese host
area-own-program = iniciar assay por su ruta, desde un directorio que aún exista

missing-host = no se indicó un segundo host
    .advice = indicar uno con `--to HOST`
missing-target = no se indicó ningún archivo, directorio ni dispositivo
    .advice = indicar uno con `--target`; en un directorio se crea un archivo, que después se borra
missing-mpi = no se encontró ningún MPI
    .advice = instalar uno, o indicar su prefijo con `--mpi`; `assay doctor` lista los instalados
missing-domain = esta máquina no tiene dominios así, o los oculta
    .advice = `assay doctor` muestra su topología
missing-cores = se piden más hilos o rangos que núcleos hay
    .advice = pedir menos, u omitir el número
missing-memory = hay muy poca memoria
    .advice = liberar parte de ella
missing-known-memory = se desconoce el tamaño de la memoria utilizable
    .advice = hacer legible /proc/meminfo aquí o limitar la memoria del grupo de control
missing-tool = no se encontró la herramienta
    .advice = `assay help tools` lista las herramientas
missing-library = no se encontró la biblioteca que debe usar
    .advice = instalar la biblioteca o quitarla de la suite
missing-rdma-device = no se encontró ningún dispositivo RDMA
    .advice = cargar el controlador de la tarjeta de red (`rdma link` lista los dispositivos) o añadir RoCE por software: `rdma link add rxe0 type rxe netdev eth0`
missing-time = el presupuesto de tiempo de la ejecución terminó antes
    .advice = dar más tiempo con `--budget` o medir menos a la vez
doubt-worse-than-pairs = { $from } a { $to } es peor que los demás pares: { $value } frente a una mediana de { $median } en { $pairs } pares ({ $change }); la diferencia es estadísticamente significativa
    .advice = comparar con los pares que comparten uno de sus hosts: ¿es un host o la ruta entre ambos? `assay doctor --to HOST` examina la ruta
doubt-worse-than-peers = { $host } es peor que los demás: { $value } frente a una mediana de { $median } en { $hosts } hosts ({ $change }); la diferencia es estadísticamente significativa
    .advice = `assay doctor --hosts` muestra en qué difiere; excluirlo o hacer que lo revisen
doubt-host-saturated = { $host } estaba ocupado hasta su límite: { $resource } al { $share }; el resultado puede ser el límite de este host
    .advice = usar más hosts, o uno más grande, para que cada uno tenga menos que hacer
