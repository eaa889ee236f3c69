#!/bin/sh
# store.sh setup: a long parameter file for Vdbench, beside the large store of `cargo xtask bench store`.
set -eu
folder=target/bench/store
mkdir -p "$folder"
awk 'BEGIN {
    print "sd=default,size=16k"
    for (i = 0; i < 49999; i++) print "sd=sd" i ",lun=/tmp/file-" i ",openflags=o_direct,threads=4"
    for (i = 0; i < 49999; i++) print "wd=wd" i ",sd=sd" i ",rdpct=70,xfersize=8k,seekpct=100"
    print "rd=rd1,wd=wd*,iorate=max,elapsed=60,interval=1"
}' >"$folder/long.vdbench"
