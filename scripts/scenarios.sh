#!/usr/bin/env bash
# Every query of every Moving AI map below a folder: all solved, right costs, legal steps.
# A sample is repeated in slices, which must give the same paths. As many maps at a time as there are cores.
# Usage: scenarios.sh DATA_FOLDER
set -euo pipefail
data=$1
export runner=${RUNNERS:-target/debug/examples}/scenario
if [ ! -d "$data" ]; then
    echo "no benchmark maps at $data: skipped"
    exit 0
fi
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT
shopt -s nullglob

check() {
    set -euo pipefail
    local map=$1 algorithm=$2 line budget paths
    paths=$(mktemp -d -p "$work")
    # Landmarks take time to fill: with them, as in a game, only what games use.
    local cold=(--no-cache)
    [ "$algorithm" != auto ] || cold=()
    line=$("$runner" --map "$map" --scen "$map.scen" --algorithm "$algorithm" "${cold[@]}")
    echo "$line"
    case "$line" in
        *'"unreachable":0,"wrong_cost":0,"illegal_steps":0'*) ;;
        *) echo "not all solved, or not rightly: $map" >&2; exit 255 ;;
    esac
    local sample=(--map "$map" --scen "$map.scen" --sample 20 --algorithm "$algorithm" "${cold[@]}")
    "$runner" "${sample[@]}" --paths "$paths/whole" >/dev/null
    for budget in 1 64; do
        "$runner" "${sample[@]}" --budget $budget --paths "$paths/sliced" >/dev/null
        cmp "$paths/whole" "$paths/sliced" || { echo "slicing changes paths: $map" >&2; exit 255; }
    done
}
export -f check

for map in "$data"/*/*.map; do
    for algorithm in auto jump-point astar hierarchical; do
        printf '%s\0%s\0' "$map" "$algorithm"
    done
done | xargs -0 -r -n 2 -P "$(nproc)" bash -c 'check "$@"' check
