#!/usr/bin/env bash
# The open-list laboratory: every structure finds the same costs on generated maps, and on real ones
# where there are any; the article's example and its insertions are repeated. Figures are printed,
# not judged: they belong into docs/open-lists.md.
# Usage: open_lists.sh DATA_FOLDER
set -euo pipefail
data=$1
lab=${RUNNERS:-target/debug/examples}/open_lists
out=target/open_lists
mkdir -p "$out"
"$lab" --trace
"$lab" --insert-bench
real=()
if [ -d "$data" ]; then
    real=(--data "$data" --sample 5 --rounds 1)
else
    echo "no benchmark maps at $data: generated ones only"
fi
# The three races run side by side, each in a folder of its own.
race() {
    local name=$1
    shift
    "$lab" --out "$out/$name" "$@" "${real[@]}" >"$out/$name.txt"
}
race plain &
plain=$!
race every-node --every-node &
every_node=$!
race weighted --profile weighted --sizes 64,256
wait "$every_node"
wait "$plain"
for name in plain every-node weighted; do
    grep -A 13 "Geometric means" "$out/$name.txt"
    [ "$(wc -l <"$out/$name/open_lists.csv")" -ge 25 ]
    grep -q "</svg>" "$out/$name/open_lists.svg"
done
