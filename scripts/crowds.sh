#!/usr/bin/env bash
# Every built-in scene of the crowd runner, and multi-agent instances where they are present: everybody
# arrives, and the checker sees no overlap, no swap and no cut corner. Figures are printed, not judged:
# they belong into docs/lab/crowd.md. As many at a time as there are cores.
# Usage: crowds.sh INSTANCE_FOLDER
set -euo pipefail
export data=$1
export runner=${RUNNERS:-target/debug/examples}/crowd
field() { sed -E "s/.*\"$2\":\"?([^,\"}]*).*/\1/" <<<"$1"; }

# A line of the runner: clean, and so many arrived at least. (255: no more are begun.)
judge() {
    local name=$1 line=$2 least=$3
    echo "$name $line"
    for fault in overlaps swaps corner_cuts; do
        [ "$(field "$line" "$fault")" = 0 ] || { echo "$name: $fault" >&2; exit 255; }
    done
    [ "$(field "$line" arrived)" -ge "$least" ] || { echo "$name: not all arrive" >&2; exit 255; }
}

scene() {
    set -euo pipefail
    local line
    line=$("$runner" --case "$1")
    judge "$1" "$line" "$(field "$line" critters)"
}
# A line for each call of `walk`.
walk() {
    set -euo pipefail
    local map=$1 scenario=$2 line
    shift 2
    line=$("$runner" --map "$data/$map.map" --scen "$data/$scenario.scen" "$@")
    judge "$scenario $*" "$line" "$(field "$line" critters)"
}
export -f field judge scene walk
# Calls a function with the words of each line.
each() { xargs -P "$(nproc)" -I LINE bash -c "$1 LINE"; }

"$runner" --case list | each scene
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
each walk <<INSTANCES
tree tree
corners corners
string string
loop-chain loop-chain
connector connector
maze-32-32-2 maze-32-32-2-even-1 --agents 200
random-32-32-20 random-32-32-20-random-1 --agents 400
random-32-32-20 random-32-32-20-random-1 --agents 200 --speed mixed --sizes mixed
empty-48-48 empty-48-48-even-1 --agents 1000
INSTANCES
