#!/usr/bin/env bash
# Every query of every Moving AI map below a folder: all solved, right costs, legal steps.
# A sample is repeated in slices, which must give the same paths.
# Usage: scenarios.sh DATA_FOLDER
set -euo pipefail
data=$1
runner=${RUNNERS:-target/debug/examples}/scenario
if [ ! -d "$data" ]; then
    echo "no benchmark maps at $data: skipped"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shopt -s nullglob
for map in "$data"/*/*.map; do
    for algorithm in auto jump-point astar hierarchical; do
        line=$("$runner" --map "$map" --scen "$map.scen" --algorithm $algorithm)
        echo "$line"
        case "$line" in
            *'"unreachable":0,"wrong_cost":0,"illegal_steps":0'*) ;;
            *) echo "not all solved, or not rightly: $map" >&2; exit 1 ;;
        esac
        sample=(--map "$map" --scen "$map.scen" --sample 20 --algorithm $algorithm)
        "$runner" "${sample[@]}" --paths "$work/whole" >/dev/null
        for budget in 1 64; do
            "$runner" "${sample[@]}" --budget $budget --paths "$work/sliced" >/dev/null
            cmp "$work/whole" "$work/sliced" || { echo "slicing changes paths: $map" >&2; exit 1; }
        done
    done
done
