#!/bin/dash
set -e
# shellcheck source=laboratory/scripts/rdma_device.sh
. /lab/rdma_device.sh
create_link
echo '== no device'
code=0
/lab/assay rdma send-lat 127.0.0.1 --no-store || code=$?
echo "exit $code"
create_device
# Arguments of both programs: test, connection, bytes, messages.
perftest() {
  echo "== perftest $1 $2 $3"
  timeout 60 taskset -c 1 ib_"$1" -F -d rxe0 -x 1 -c "$2" -s "$3" -n "$4" > /tmp/far 2>&1 &
  wait_for_server
  timeout 60 taskset -c 0 ib_"$1" -F -d rxe0 -x 1 -c "$2" -s "$3" -n "$4" 127.0.0.1 || echo 'no result'
  wait
}
# shellcheck disable=SC2086 # `$size` is an option with its value
assay() {
  echo "== assay $1 $2 $3"
  name=$(echo "$1" | tr _ -)
  # perftest does not inline messages on software RoCE; assay would, in sends and writes.
  case $1 in
    atomic_*) size='' ;;
    read_*) size="-s $3" ;;
    *) size="-s $3 -I 0" ;;
  esac
  timeout 60 taskset -c 1 /lab/assay rdma "$name" -d rxe0 -x 1 -c "$2" $size -n "$4" > /tmp/far 2>&1 &
  wait_for_server
  timeout 60 taskset -c 0 /lab/assay rdma "$name" -d rxe0 -x 1 -c "$2" $size -n "$4" 127.0.0.1 --no-store || cat /tmp/far
  wait
}
now() { cut -d. -f1 /proc/uptime; }
# Prints the fastest message of all rounds of a program, or the highest rate. Arguments: test, program.
best() {
  case $1 in *_bw) column=4 most=1 ;; *) column=3 most=0 ;; esac
  awk -v column=$column -v most=$most '$1 ~ /^[0-9]+$/ && NF > 4 && (!best || (most ? $column > best : $column < best)) {
    best = $column
  } END { print best }' /tmp/of."$2"
}
# Whether the best rounds of both programs are within a factor of 1.3. Argument: the test.
are_alike() {
  awk -v theirs="$(best "$1" perftest)" -v ours="$(best "$1" assay)" 'BEGIN { exit !(theirs < 1.3 * ours && ours < 1.3 * theirs) }'
}
# Runs rounds of both programs for 25 s; in CI three, if their best are alike.
# Arguments: test, connection, bytes, messages, rounds.
compare() {
  until=$(($(now) + 25))
  rm -f /tmp/of.*
  for round in $(seq "$5"); do
    [ "$(now)" -lt "$until" ] || break
    [ -n "$brief" ] && [ "$round" -gt 3 ] && are_alike "$1" && break
    perftest "$1" "$2" "$3" "$4" | tee -a /tmp/of.perftest
    assay "$1" "$2" "$3" "$4" | tee -a /tmp/of.assay
  done
}
compare send_lat RC 2 500 9
compare send_lat RC 64 500 9
compare send_lat RC 1024 500 6
compare send_lat RC 4096 100 6
compare send_lat UD 64 300 9
compare send_lat UD 1024 300 6
compare write_lat RC 2 500 9
compare write_lat RC 4096 100 6
compare read_lat RC 2 300 9
compare read_lat RC 4096 100 6
compare atomic_lat RC 8 200 5
compare send_bw RC 16384 100 5
compare send_bw UD 1024 500 5
compare write_bw RC 16384 100 5
compare read_bw RC 16384 100 5
compare atomic_bw RC 8 2000 5
