#!/usr/bin/env bash
# curl and jq. Needs API and TOKEN in the environment.
set -euo pipefail

call() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }

# Create. The key makes a repetition safe: it gets the first response.
key="example-$(date +%s)-$RANDOM"
name="Exemplum conchae $key"
created=$(call "$API/species" -H "Idempotency-Key: $key" -d "{\"scientific_name\": \"$name\", \"habitat\": \"reef\"}")
self=$(jq -r '._links.self.href' <<<"$created")
repeated=$(call "$API/species" -H "Idempotency-Key: $key" -d "{\"scientific_name\": \"$name\", \"habitat\": \"reef\"}")
[[ $(jq -r '._links.self.href' <<<"$repeated") == "$self" ]]
echo "created $name"

# Read a list through its links.
count=0
next="$API/species?limit=2"
while [[ $next != null ]]; do
  page=$(call "$next")
  count=$((count + $(jq '._embedded.species | length' <<<"$page")))
  next=$(jq -r '._links.next.href // null' <<<"$page")
done
echo "read $count species"

# Change, only if it is still as it was read.
tag=$(call -D - -o /dev/null "$self" | tr -d '\r' | awk 'tolower($1) == "etag:" { print $2 }')
call -X PATCH "$self" -H "If-Match: $tag" -d '{"habitat": "deep reef"}'
status=$(curl -sS -o /dev/null -w '%{http_code}' -X PATCH "$self" -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' -H "If-Match: $tag" -d '{"habitat": "shallow reef"}')
echo "second change with the old entity tag: $status"

# The details of an error.
refused=$(curl -sS "$API/species" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{}')
jq -r '.error.details[] | "refused: \(.field) \(.code)"' <<<"$refused"
