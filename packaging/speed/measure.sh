#!/bin/sh
# measure.sh native|dist: prints a figure of each kernel in base units.
set -eu
case $1 in
native) assay=target/release/assay ;;
dist) assay=target/dist-build/x86_64-unknown-linux-gnu/dist/assay ;;
esac
folder=target/speed-runs
mkdir -p "$folder"
"$assay" run packaging/speed/kernels.toml --target "$folder/file" --store "$folder/store" --quiet --json |
    jq -r '.results[] | "\(.metric) \(.median)"'
