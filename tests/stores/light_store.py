"""The part of S3 that a dataset needs, in memory, with next to no work of its own: for measurements.

    light_store.py PORT
"""

import http.server
import itertools
import socketserver
import sys
import threading
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

objects = {}
numbers = itertools.count(1)
one_at_a_time = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def name(self):
        return unquote(urlsplit(self.path).path).lstrip("/")

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with one_at_a_time:
            there = objects.get(self.name())
            wanted = self.headers.get("If-Match")
            if self.headers.get("If-None-Match") == "*" and there or wanted and (not there or there[0] != wanted):
                return self.answer(412)
            tag = f'"{next(numbers)}"'
            objects[self.name()] = (tag, body)
        self.answer(200, ETag=tag)

    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query)
        if "list-type" in query:
            return self.answer(200, listing(self.name(), query).encode())
        there = objects.get(self.name())
        if not there:
            return self.answer(404)
        tag, body = there
        common = {"ETag": tag, "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
        part = self.headers.get("Range")
        if self.command == "HEAD":
            self.send_response(200)
            for name, value in (common | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            return self.end_headers()
        if not part:
            return self.answer(200, body, **common)
        first, last = part.removeprefix("bytes=").split("-")
        first, last = int(first), min(int(last), len(body) - 1)
        self.answer(206, body[first : last + 1], Content_Range=f"bytes {first}-{last}/{len(body)}", **common)

    do_HEAD = do_GET

    def do_DELETE(self):
        objects.pop(self.name(), None)
        self.answer(204)


def listing(bucket, query):
    prefix, delimiter = (query.get(key, [""])[0] for key in ("prefix", "delimiter"))
    found, folders = [], set()
    for name, (tag, body) in sorted(objects.items()):
        name = name.removeprefix(bucket.rstrip("/") + "/")
        rest = name.removeprefix(prefix)
        if not name.startswith(prefix):
            continue
        if delimiter and delimiter in rest:
            folders.add(prefix + rest.split(delimiter)[0] + delimiter)
            continue
        found.append(
            f"<Contents><Key>{escape(name)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"<ETag>{escape(tag)}</ETag><Size>{len(body)}</Size></Contents>"
        )
    found += [f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in sorted(folders)]
    return f"<ListBucketResult><IsTruncated>false</IsTruncated>{''.join(found)}</ListBucketResult>"


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
