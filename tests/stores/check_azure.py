"""Datasets in Azure's kind of store: the program against Azurite on loopback, which obeys the conditions of puts and copies.

    check_azure.py PROGRAM FOLDER AZURITE
"""

import base64
import os
import sys

from azure.storage.blob import ContainerClient

from harness import SECRET, free_port, listening, work
from rounds import check_all

ACCOUNT, KEY = "lab", base64.b64encode(SECRET.encode()).decode()


class Store:
    """What the test itself sees of the store."""

    kind = "azure"

    def __init__(self, port):
        url = f"http://127.0.0.1:{port}/{ACCOUNT}"
        self.keys = {
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": KEY, "AZURE_STORAGE_ENDPOINT": url,
        }
        self.client = ContainerClient(url, "container", {"account_name": ACCOUNT, "account_key": KEY})
        self.client.create_container()

    def address(self, prefix):
        return f"az://container/{prefix}"

    def names(self, prefix):
        return list(self.client.list_blob_names(name_starts_with=prefix + "/"))

    def content(self, prefix):
        read = lambda name: self.client.download_blob(name).readall()
        return {name.removeprefix(prefix + "/"): read(name) for name in self.names(prefix)}


port = free_port()
os.environ["AZURITE_ACCOUNTS"] = f"{ACCOUNT}:{KEY}"
command = [sys.argv[3], "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", work / "azurite", "--silent"]
with listening(port, [*command, "--skipApiVersionCheck", "--disableTelemetry"]):
    check_all(Store(port), [SECRET, KEY])
