"""Datasets in Google's kind of store: the program against a stand-in on loopback (google_store.py).

    check_google.py PROGRAM FOLDER
"""

import json
import sys
import urllib.request
from xml.etree import ElementTree

from harness import SECRET, free_port, here, listening
from rounds import check_all


class Store:
    """What the test itself sees of the store."""

    kind = "google"

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        # An account that signs nothing: GOOGLE_SKIP_SIGNATURE is for reads alone, writes would ask for the machine's account.
        account = {"private_key": "", "private_key_id": "", "client_email": "", "disable_oauth": True}
        self.keys = {"GOOGLE_BASE_URL": self.url, "GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(account)}

    def address(self, prefix):
        return f"gs://bucket/{prefix}"

    def get(self, path):
        with urllib.request.urlopen(f"{self.url}/bucket{path}") as answer:
            return answer.read()

    def names(self, prefix):
        return [found.text for found in ElementTree.fromstring(self.get(f"?list-type=2&prefix={prefix}/")).iter("Key")]

    def content(self, prefix):
        return {name.removeprefix(prefix + "/"): self.get("/" + name) for name in self.names(prefix)}


port = free_port()
with listening(port, [sys.executable, here / "google_store.py", str(port)]):
    check_all(Store(port), [SECRET])
