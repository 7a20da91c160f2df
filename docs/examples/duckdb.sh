#!/bin/sh
# Exports clicks and conversions since a day as Parquet and counts them by campaign with DuckDB, one JSON object per line:
#   TRIBUTARY_URL=… TRIBUTARY_KEY=… docs/examples/duckdb.sh 2026-11-01
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for resource in clicks conversions; do
  # curl fails if the response is incomplete; if the API returns an error, its body is in the file.
  curl --silent --show-error --fail-with-body -H "Authorization: ApiKey $TRIBUTARY_KEY" -o "$folder/$resource.parquet" \
    "${TRIBUTARY_URL:-http://127.0.0.1:3000}/api/v1/$resource?from=$1&format=parquet" ||
    { cat "$folder/$resource.parquet" >&2; exit 1; }
done
node "$(dirname "$0")/duckdb.mjs" "$folder"
