"""OpenStack Swift with its S3 interface in one process on 127.0.0.1: account, container and object server behind a proxy.

Arguments: a folder of its own (kept from one start to the next), the port. Says "ready" when it answers.
The access key is "test:tester" with the secret "testing".
"""

import logging
import os
import sys
import warnings
from time import time as now

warnings.simplefilter("ignore")

import eventlet
from eventlet import wsgi as server
from swift.common import utils, wsgi
from swift.common.ring import RingBuilder
from swift.common.storage_policy import reload_storage_policies

FOLDER, PORT = sys.argv[1], int(sys.argv[2])
STORAGE = ("account", "container", "object")

PROXY = """
[pipeline:main]
pipeline = catch_errors s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
"""

PART = """
[pipeline:main]
pipeline = {0}-server
[app:{0}-server]
use = egg:swift#{0}
"""


def write(name, text):
    with open(os.path.join(FOLDER, name), "w") as file:
        file.write(text)


def configure(ports):
    """Writes what Swift reads of its folder: one device, one replica of everything."""
    os.makedirs(os.path.join(FOLDER, "devices", "one"), exist_ok=True)
    common = (
        "[DEFAULT]\nswift_dir = {0}\ndevices = {0}/devices\nmount_check = false\n"
        "disable_fallocate = true\nfallocate_reserve = 0\n"
    ).format(FOLDER)
    write("proxy.conf", common + PROXY)
    for name in STORAGE:
        write(name + ".conf", common + PART.format(name))
        ring = RingBuilder(4, 1, 0)
        ring.add_dev({"region": 1, "zone": 1, "weight": 1, "ip": "127.0.0.1", "port": ports[name], "device": "one"})
        ring.rebalance()
        ring.get_ring().save(os.path.join(FOLDER, name + ".ring.gz"))


class Cache:
    """What memcached is for elsewhere; the S3 interface insists on one."""

    def __init__(self):
        self.values = {}

    def get(self, key, **options):
        value, ends = self.values.get(key, (None, 0))
        return value if ends > now() else None

    def set(self, key, value, time=0, **options):
        self.values[key] = (value, now() + (time or 3600))

    def delete(self, key, **options):
        self.values.pop(key, None)


def caching(app):
    cache = Cache()

    def call(env, start_response):
        env["swift.cache"] = cache
        return app(env, start_response)

    return call


def serve(name, sock):
    app = wsgi.loadapp(os.path.join(FOLDER, name + ".conf"), global_conf={"log_name": name})
    if name == "proxy":
        app = caching(app)
    server.server(
        sock,
        app,
        custom_pool=wsgi.RestrictedGreenPool(size=1024),
        protocol=wsgi.SwiftHttpProtocol,
        capitalize_response_headers=False,
        log_output=False,
    )


utils.eventlet_monkey_patch()
write("swift.conf", "[swift-hash]\nswift_hash_path_suffix = tests\n[storage-policy:0]\nname = one\ndefault = yes\n")
utils.set_swift_dir(FOLDER)
reload_storage_policies()
logging.getLogger("swift").addHandler(logging.NullHandler())
sockets = {name: eventlet.listen(("127.0.0.1", 0)) for name in STORAGE}
configure({name: sock.getsockname()[1] for name, sock in sockets.items()})
sockets["proxy"] = eventlet.listen(("127.0.0.1", PORT), reuse_port=False)
threads = [eventlet.spawn(serve, name, sock) for name, sock in sockets.items()]
eventlet.sleep(0)
print("ready", flush=True)
for thread in threads:
    thread.wait()
