"""Python, without packages. Needs API and TOKEN in the environment."""

import json
import os
import time
import urllib.error
import urllib.request
import uuid

API, TOKEN = os.environ["API"], os.environ["TOKEN"]


def call(method, url, body=None, **headers):
    """Sends a request, and repeats it when the service asks for that and it is safe: status, headers and body."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers["Authorization"] = f"Bearer {TOKEN}"
    if body is not None:
        headers["Content-Type"] = "application/json"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            status, received, text = response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        # A write that got 503 can have happened. A 429 has not.
        is_safe = method != "POST" or "Idempotency-Key" in headers
        if error.code == 429 or (error.code == 503 and is_safe):
            time.sleep(int(error.headers.get("Retry-After", 1)))
            return call(method, url, body, **headers)
        status, received, text = error.code, error.headers, error.read()
    return status, received, json.loads(text) if text else None


# Create. The key makes a repetition safe: it gets the first response.
key = str(uuid.uuid4())
species = {"scientific_name": f"Exemplum serpentis {key}", "habitat": "reef"}
_, _, created = call("POST", f"{API}/species", species, Idempotency_Key=key)
_, _, repeated = call("POST", f"{API}/species", species, Idempotency_Key=key)
self = created["_links"]["self"]["href"]
assert repeated["_links"]["self"]["href"] == self
print(f"created {species['scientific_name']}")

# Read a list through its links.
count, following = 0, f"{API}/species?limit=2"
while following:
    _, _, page = call("GET", following)
    count += len(page["_embedded"]["species"])
    following = (page["_links"]["next"] or {}).get("href")
print(f"read {count} species")

# Change, only if it is still as it was read.
_, received, _ = call("GET", self)
tag = received["ETag"]
call("PATCH", self, {"habitat": "deep reef"}, If_Match=tag)
late, _, _ = call("PATCH", self, {"habitat": "shallow reef"}, If_Match=tag)
print(f"second change with the old entity tag: {late}")

# The details of an error.
_, _, refused = call("POST", f"{API}/species", {})
for detail in refused["error"]["details"]:
    print(f"refused: {detail['field']} {detail['code']}")
