#!/bin/dash
set -e
echo '== facts'
/lab/assay doctor memory --json
cat > /tmp/domains.toml <<'SUITE'
name = "domains"
title = "each domain"
budget = "20s"
[[measure]]
benchmark = "memory.stream"
placement = ["core"]
array-size = "1MiB"
[[measure]]
benchmark = "memory.stream"
placement = ["node", "numa", "l3"]
array-size = "1MiB"
SUITE
echo '== plan'
/lab/assay run /tmp/domains.toml --dry-run --json
# More threads than this machine has processors wait for each other in every pass: two show the same.
echo 'threads = 2' >> /tmp/domains.toml
echo '== plan of two'
/lab/assay run /tmp/domains.toml --dry-run --json
/lab/assay run /tmp/domains.toml --quiet --json --store /tmp/store > /tmp/streams & running=$!
while kill -0 $running 2> /tmp/ended; do
  cat /proc/$running/task/*/status 2> /tmp/ended | sed -n 's/^Cpus_allowed_list:.//p' >> /tmp/allowed
  sleep 0.3
done
wait $running
echo '== stream'
cat /tmp/streams
echo '== allowed'
sort -u /tmp/allowed
echo '== linpack'
began=$(cut -d' ' -f1 /proc/uptime)
timeout 150 /lab/assay linpack --budget 30s --quiet --json --store /tmp/store || echo "exit $?"
echo
echo "took $began $(cut -d' ' -f1 /proc/uptime)"
cat > /tmp/hotplug.toml <<'SUITE'
name = "hotplug"
title = "a CPU that leaves"
budget = "4s"
[[measure]]
benchmark = "memory.stream"
placement = "core:1"
array-size = "1MiB"
[[measure]]
benchmark = "memory.stream"
placement = "core:2"
array-size = "1MiB"
SUITE
online=/sys/devices/system/cpu/cpu1/online
# Argument: name of the section.
run_hotplug() {
  echo "== $1"
  code=0
  timeout 60 /lab/assay run /tmp/hotplug.toml --quiet --json --store /tmp/hotplug 2> /tmp/err || code=$?
  echo
  cat /tmp/err
  echo "exit $code"
}
(
  until grep -qs case-started /tmp/hotplug/runs/*/events.jsonl; do sleep 0.1; done
  sleep 1
  echo 0 > $online
) &
run_hotplug leaving
run_hotplug away
echo 1 > $online
run_hotplug returned
