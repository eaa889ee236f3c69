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
