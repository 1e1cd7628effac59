"""A store for tests: moto's S3 on loopback, and in front of it, if asked for, a line that fails at random.

    server.py PORT                 the store
    server.py PORT BEHIND SHARE    hands requests on to the port BEHIND; a share of them fails: an answer 500 or 503 instead, no
                                   answer, an answer that is lost after the store has obeyed, or half an answer; with a
                                   share of 1 nothing reaches the store
"""

import http.client
import io
import random
import socketserver
import sys
import threading


def store(port):
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, run_simple

    moto = DomainDispatcherApplication(create_backend_app)
    # moto looks at the condition of a put and obeys in two steps; a store does so in one.
    one_at_a_time = threading.Lock()

    def application(environ, start_response):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(length))
        with one_at_a_time:
            return list(moto(environ, start_response))

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log(self, *_):
            pass

    run_simple("127.0.0.1", port, application, threaded=True, request_handler=Quiet)


class Line(socketserver.StreamRequestHandler):
    """One request of one connection."""

    behind = 0
    share = 0.0
    chance = random.Random(1)

    def handle(self):
        request = self.rfile.readline().decode().split()
        if len(request) < 2:
            return
        headers = http.client.parse_headers(self.rfile)
        body = self.rfile.read(int(headers.get("Content-Length") or 0))
        fates = ["500", "503", "drop", "lose", "cut"] if self.share < 1 else ["500", "503", "drop"]
        fate = self.chance.choice(fates) if self.chance.random() < self.share else "pass"
        if fate in ("500", "503"):
            self.answer(int(fate), {}, b"<Error><Code>SlowDown</Code></Error>")
            return
        if fate == "drop":
            return
        store = http.client.HTTPConnection("127.0.0.1", self.behind)
        store.request(request[0], request[1], body, dict(headers.items()))
        found = store.getresponse()
        content = found.read()
        if fate == "lose":
            return
        kept = {name: value for name, value in found.headers.items() if name.lower() not in ("connection", "transfer-encoding")}
        if request[0] != "HEAD":
            kept["Content-Length"] = str(len(content))
        self.answer(found.status, kept, content[: len(content) // 2] if fate == "cut" else content)

    def answer(self, status, headers, content):
        lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, '')}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in ({"Content-Length": len(content)} | headers).items()]
        self.wfile.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    if len(sys.argv) == 2:
        store(int(sys.argv[1]))
    else:
        Line.behind, Line.share = int(sys.argv[2]), float(sys.argv[3])
        Server(("127.0.0.1", int(sys.argv[1])), Line).serve_forever()
