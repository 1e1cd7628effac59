"""The part of S3 that a dataset needs, in memory, with next to no work of its own: for measurements.

    light_store.py PORT
"""

import itertools
import threading
from xml.sax.saxutils import escape

from memory_store import StoreHandler, listing, serve

objects = {}
numbers = itertools.count(1)
one_at_a_time = threading.Lock()


class Handler(StoreHandler):
    def do_PUT(self):
        body, (name, _) = self.body(), self.place()
        with one_at_a_time:
            there = objects.get(name)
            wanted = self.headers.get("If-Match")
            if self.headers.get("If-None-Match") == "*" and there or wanted and (not there or there[0] != wanted):
                return self.answer(412)
            tag = f'"{next(numbers)}"'
            objects[name] = (tag, body)
        self.answer(200, ETag=tag)

    def do_GET(self):
        name, query = self.place()
        if "list-type" in query:
            return self.answer(200, listing(objects, name, query, lambda tag: f"<ETag>{escape(tag)}</ETag>"))
        if name not in objects:
            return self.answer(404)
        tag, body = objects[name]
        self.hand_out(body, ETag=tag)

    do_HEAD = do_GET

    def do_DELETE(self):
        objects.pop(self.place()[0], None)
        self.answer(204)


if __name__ == "__main__":
    serve(Handler)
