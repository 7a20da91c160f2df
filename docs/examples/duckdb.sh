#!/bin/sh
# Pulls clicks and conversions from a day on as Parquet, and lets DuckDB count them by campaign, one JSON object a line:
#   TRIBUTARY_URL=… TRIBUTARY_KEY=… docs/examples/duckdb.sh 2026-11-01
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for resource in clicks conversions; do
  # An answer that breaks off half-way is an error of curl; what the API says of a refusal is in the file.
  curl --silent --show-error --fail-with-body -H "Authorization: ApiKey $TRIBUTARY_KEY" -o "$folder/$resource.parquet" \
    "${TRIBUTARY_URL:-http://127.0.0.1:3000}/api/v1/$resource?from=$1&format=parquet" ||
    { cat "$folder/$resource.parquet" >&2; exit 1; }
done
node "$(dirname "$0")/duckdb.mjs" "$folder"
