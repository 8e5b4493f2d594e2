#!/usr/bin/env bash
# The game without a window on each of its maps, twice: it ends well and in the same state.
set -euo pipefail
runner=${RUNNERS:-target/debug/examples}/rts
for map in islands city wilderness hexes; do
    sums=""
    for _ in 1 2; do
        line=$("$runner" --headless --map "$map" --units 200 --ticks 1500 | tail -n 1)
        sums="$sums $(sed -E 's/.*"checksum":"?([^,"}]*).*/\1/' <<<"$line")"
    done
    echo "$map $line"
    [ "$(tr ' ' '\n' <<<"$sums" | grep . | sort -u | wc -l)" = 1 ] || {
        echo "two runs differ on $map: $sums" >&2
        exit 1
    }
done
