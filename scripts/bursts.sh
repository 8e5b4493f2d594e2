#!/usr/bin/env bash
# A thousand requests in one tick on 512 × 512 game maps: all answered, the first in the first
# tick, and the same answers under other budgets and numbers of threads. Figures are printed, not
# judged: they belong into docs/lab/queue.md.
# Usage: bursts.sh DATA_FOLDER
set -euo pipefail
data=$1
runner=${RUNNERS:-target/debug/examples}/burst
if [ ! -d "$data" ]; then
    echo "no benchmark maps at $data: skipped"
    exit 0
fi
field() { sed -E "s/.*\"$2\":\"?([^,\"}]*).*/\1/" <<<"$1"; }
for name in bg512/AR0400SR bg512/AR0700SR sc1/BigGameHunters; do
    map="$data/$name.map"
    [ -f "$map" ] || continue
    sums=""
    for extra in "" "--budget 7000" "--threads 1" "--threads 2"; do
        # shellcheck disable=SC2086
        line=$("$runner" --map "$map" --scen "$map.scen" --agents 1000 --rounds 5 $extra)
        echo "$name $extra $line"
        [ "$(field "$line" found)" = 1000 ] || { echo "not all found" >&2; exit 1; }
        [ "$(field "$line" first_answer_tick)" = 1 ] || { echo "late first answer" >&2; exit 1; }
        sums="$sums $(field "$line" checksum)"
    done
    [ "$(tr ' ' '\n' <<<"$sums" | grep -c .)" = 4 ]
    [ "$(tr ' ' '\n' <<<"$sums" | grep . | sort -u | wc -l)" = 1 ] || {
        echo "answers differ between runs: $sums" >&2
        exit 1
    }
    line=$("$runner" --map "$map" --scen "$map.scen" --agents 1000 --rounds 5 --sprawl)
    echo "$name --sprawl $line"
    [ "$(field "$line" failed)" = 1000 ] || { echo "sprawl: not all failed" >&2; exit 1; }
done
