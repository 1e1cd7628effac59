"""What stores in memory share: how they answer, hand out ranges of objects and list them."""

import http.server
import socketserver
import sys
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class StoreHandler(http.server.BaseHTTPRequestHandler):
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

    def place(self):
        """Name and query."""
        parts = urlsplit(self.path)
        return unquote(parts.path).lstrip("/"), parse_qs(parts.query, keep_blank_values=True)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def hand_out(self, body, **about):
        """The object, or the part of it that is asked for."""
        about["Last_Modified"] = "Thu, 01 Jan 2026 00:00:00 GMT"
        part = self.headers.get("Range")
        if not part:
            return self.answer(200, body, **about)
        first, last = part.removeprefix("bytes=").split("-")
        first, last = int(first), min(int(last), len(body) - 1)
        self.answer(206, body[first : last + 1], Content_Range=f"bytes {first}-{last}/{len(body)}", **about)


def listing(objects, bucket, query, about):
    """A listing as XML; `about` gives an object's own elements from its first value."""
    bucket = bucket.rstrip("/") + "/"
    prefix, delimiter = (query.get(key, [""])[0] for key in ("prefix", "delimiter"))
    found, folders = [], set()
    for name, (tag, body) in sorted(dict(objects).items()):
        if not name.startswith(bucket + prefix):
            continue
        name = name.removeprefix(bucket)
        rest = name.removeprefix(prefix)
        if delimiter and delimiter in rest:
            folders.add(prefix + rest.split(delimiter)[0] + delimiter)
            continue
        found.append(
            f"<Contents><Key>{escape(name)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"{about(tag)}<Size>{len(body)}</Size></Contents>"
        )
    found += [f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in sorted(folders)]
    return f"<ListBucketResult><IsTruncated>false</IsTruncated>{''.join(found)}</ListBucketResult>".encode()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128


def serve(handler):
    """Serves on the port that the command line names."""
    Server(("127.0.0.1", int(sys.argv[1])), handler).serve_forever()
