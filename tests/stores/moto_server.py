"""moto's S3 on a free port of this machine, which it prints. Run by the Python of moto's own environment.

A store decides conditional writes one after another. moto looks and writes in two steps, so its requests are let in
one at a time.
"""

# mypy: ignore-errors

from threading import Lock

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

APP, ONE = DomainDispatcherApplication(create_backend_app), Lock()


def one_at_a_time(environ, start_response):
    with ONE:
        return APP(environ, start_response)


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, one_at_a_time, threaded=True)
    print(server.server_port, flush=True)
    server.serve_forever()
