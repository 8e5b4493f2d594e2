#!/usr/bin/env bash
# Every built-in scene of the crowd runner, and multi-agent instances where they are present: everybody
# arrives, and the checker sees no overlap, no swap and no cut corner. Figures are printed, not judged:
# they belong into docs/lab/crowd.md.
# Usage: crowds.sh INSTANCE_FOLDER
set -euo pipefail
data=$1
runner=${RUNNERS:-target/debug/examples}/crowd
field() { sed -E "s/.*\"$2\":\"?([^,\"}]*).*/\1/" <<<"$1"; }

# A line of the runner: clean, and so many arrived at least.
judge() {
    local name=$1 line=$2 least=$3
    echo "$name $line"
    for fault in overlaps swaps corner_cuts; do
        [ "$(field "$line" "$fault")" = 0 ] || { echo "$name: $fault" >&2; exit 1; }
    done
    [ "$(field "$line" arrived)" -ge "$least" ] || { echo "$name: not all arrive" >&2; exit 1; }
}

for scene in $("$runner" --case list); do
    line=$("$runner" --case "$scene")
    judge "$scene" "$line" "$(field "$line" critters)"
done
first=$("$runner" --case armies-mixed)
again=$("$runner" --case armies-mixed)
[ "$(field "$first" checksum)" = "$(field "$again" checksum)" ] || {
    echo "two runs differ" >&2
    exit 1
}
if [ ! -d "$data" ]; then
    echo "no multi-agent instances at $data: skipped"
    exit 0
fi
walk() {
    local map=$1 scenario=$2
    shift 2
    line=$("$runner" --map "$data/$map.map" --scen "$data/$scenario.scen" "$@")
    judge "$scenario $*" "$line" "$(field "$line" critters)"
}
for tiny in tree corners string loop-chain connector; do
    walk "$tiny" "$tiny"
done
walk maze-32-32-2 maze-32-32-2-even-1 --agents 200
walk random-32-32-20 random-32-32-20-random-1 --agents 400
walk random-32-32-20 random-32-32-20-random-1 --agents 200 --speed mixed --sizes mixed
walk empty-48-48 empty-48-48-even-1 --agents 1000
