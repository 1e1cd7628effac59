"""The part of Google's XML interface that a dataset needs, in memory: puts and copies under the condition of a generation,
reads of ranges, listings, uploads in parts. A stand-in written after Google's documentation, as no emulator that can be
installed has these conditions.

    google_store.py PORT
"""

import itertools
import threading
from urllib.parse import unquote

from memory_store import StoreHandler, listing, serve

objects = {}
uploads = {}
generations = itertools.count(1)
one_at_a_time = threading.Lock()


class Handler(StoreHandler):
    def keep(self, name, body):
        """Stores an object if its condition holds; its generation, or nothing."""
        with one_at_a_time:
            wanted = self.headers.get("x-goog-if-generation-match")
            there = objects.get(name, (0, b""))[0]
            if wanted is not None and int(wanted) != there:
                return None
            generation = next(generations)
            objects[name] = (generation, body)
            return generation

    def do_PUT(self):
        body, (name, query) = self.body(), self.place()
        if "uploadId" in query:
            uploads[query["uploadId"][0]][int(query["partNumber"][0])] = body
            return self.answer(200, ETag='"part"')
        source = self.headers.get("x-goog-copy-source")
        if source is not None:
            source = unquote(source).lstrip("/")
            if source not in objects:
                return self.answer(404)
            body = objects[source][1]
        generation = self.keep(name, body)
        if generation is None:
            return self.answer(412)
        self.answer(200, ETag=f'"{generation}"', x_goog_generation=str(generation))

    def do_POST(self):
        self.body()
        name, query = self.place()
        if "uploads" in query:
            number = str(next(generations))
            uploads[number] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>{number}</UploadId></InitiateMultipartUploadResult>"
            return self.answer(200, text.encode())
        parts = uploads.pop(query["uploadId"][0], {})
        generation = self.keep(name, b"".join(part for _, part in sorted(parts.items())))
        if generation is None:
            return self.answer(412)
        text = f"<CompleteMultipartUploadResult><ETag>\"{generation}\"</ETag></CompleteMultipartUploadResult>"
        self.answer(200, text.encode(), x_goog_generation=str(generation))

    def do_GET(self):
        name, query = self.place()
        if "list-type" in query:
            return self.answer(200, listing(objects, name, query, about))
        if name not in objects:
            return self.answer(404)
        generation, body = objects[name]
        self.hand_out(body, ETag=f'"{generation}"', x_goog_generation=str(generation))

    do_HEAD = do_GET

    def do_DELETE(self):
        name, query = self.place()
        there = uploads.pop(query["uploadId"][0], None) if "uploadId" in query else objects.pop(name, None)
        self.answer(404 if there is None else 204)


def about(generation):
    return f"<ETag>\"{generation}\"</ETag><Generation>{generation}</Generation>"


if __name__ == "__main__":
    serve(Handler)
