#!/usr/bin/env bash
# The open-list laboratory: every structure finds the same costs on generated maps, and on real ones
# where there are any; the article's example and its insertions are repeated. Figures are printed,
# not judged: they belong into docs/open-lists.md.
# Usage: open_lists.sh DATA_FOLDER
set -euo pipefail
data=$1
lab=${RUNNERS:-target/debug/examples}/open_lists
out=target/open_lists
"$lab" --trace
"$lab" --insert-bench
real=()
if [ -d "$data" ]; then
    real=(--data "$data" --sample 5 --rounds 1)
else
    echo "no benchmark maps at $data: generated ones only"
fi
for options in "" "--every-node" "--profile weighted --sizes 64,256"; do
    # shellcheck disable=SC2086
    "$lab" --out "$out" $options "${real[@]}" | grep -A 13 "Geometric means"
done
[ "$(wc -l <"$out/open_lists.csv")" -ge 25 ]
grep -q "</svg>" "$out/open_lists.svg"
