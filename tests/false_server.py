"""An HTTP server that answers as a test says: what stands between us and Canonry, or claims to be it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from canonry.remote import Remote

Given = tuple[int, str, bytes]
"""Status, type and body."""


@contextmanager
def serving(answer: Callable[[str, bytes], Given]) -> Iterator[Remote]:
    """A client of a server that answers so to a method and a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, kind, content = answer(self.command, body)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815  (as the server calls it)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    remote = Remote(f"http://127.0.0.1:{server.server_port}", "cnr_test", lambda _: None)
    try:
        yield remote
    finally:
        remote.close()
        server.shutdown()
        thread.join()
        server.server_close()
