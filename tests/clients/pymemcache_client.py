"""Uses a server the way a service on pymemcache 4 does. Ends with an exception where the server does not behave.

Usage: pymemcache_client.py PORT UNIX_PATH
"""

import sys
import time

from pymemcache.client.base import Client, PooledClient
from pymemcache.exceptions import MemcacheClientError, MemcacheUnknownCommandError

port, unix_path = int(sys.argv[1]), sys.argv[2]


def storage(client):
    assert client.set("k", b"\x00\r\n\xff", flags=7) is True
    assert client.get("k") == b"\x00\r\n\xff"
    assert client.get("missing") is None
    assert client.add("k", "other") is False
    assert client.add("new", "first") is True
    assert client.replace("missing", "x") is False
    assert client.replace("new", "second") is True
    assert client.append("new", ">") is True
    assert client.prepend("new", "<") is True
    assert client.get("new") == b"<second>"
    assert client.append("missing", "x") is False
    assert client.delete("new") is True
    assert client.delete("new") is False


def noreply(client):
    assert client.set("quiet", "1", noreply=True) is True
    assert client.incr("quiet", 4, noreply=True) is None
    assert client.append("quiet", "0", noreply=True) is True
    assert client.get("quiet") == b"50"
    client.delete("quiet", noreply=True)
    assert client.get("quiet") is None


def compare_and_swap(client):
    client.set("c", "1")
    value, unique = client.gets("c")
    assert value == b"1"
    assert client.cas("c", "2", unique) is True
    assert client.cas("c", "3", unique) is False
    assert client.cas("missing", "3", unique) is None
    assert client.get("c") == b"2"
    assert client.gets_many(["c", "missing"]).keys() == {"c"}


def numbers(client):
    client.set("n", "10")
    assert client.incr("n", 5) == 15
    assert client.decr("n", 20) == 0
    assert client.incr("missing", 1) is None
    client.set("n", "18446744073709551615")
    assert client.incr("n", 2) == 1
    client.set("n", "text")
    try:
        client.incr("n", 1)
    except MemcacheClientError as error:
        assert b"non-numeric" in error.args[0], error
    else:
        raise AssertionError("text was counted up")


def expiry(client):
    client.set("k", "v", expire=1)
    assert client.touch("k", 100) is True
    assert client.touch("missing", 100) is False
    client.set("short", "v", expire=1)
    time.sleep(1.5)
    assert client.get("short") is None
    assert client.get("k") == b"v"
    # The client has no method for these.
    assert client.raw_command("gat 100 k", "END\r\n") == b"VALUE k 0 1\r\nv\r\n"
    assert client.raw_command("gats -1 k", "END\r\n").startswith(b"VALUE k 0 1 ")
    assert client.get("k") is None
    client.set("gone", "v", expire=-1)
    assert client.get("gone") is None


def many(client):
    values = {f"key:{index}": b"%d" % index for index in range(2000)}
    assert client.set_many(values) == []
    assert client.get_many(values.keys()) == values
    assert client.get_many(["missing", "key:1"]) == {"key:1": b"1"}
    assert client.delete_many(list(values)) is True
    assert client.get_many(values.keys()) == {}


def large(client):
    value = bytes(range(256)) * 20_000
    assert client.set("large", value) is True
    assert client.get("large") == value
    assert client.append("large", value) is True
    assert client.prepend("large", b"<") is True
    assert client.get("large") == b"<" + value + value
    assert client.delete("large") is True


def about(client):
    assert client.version().startswith(b"1.6.")
    stats = client.stats()
    assert stats[b"curr_items"] >= 0 and stats[b"cmd_set"] > 2000, stats
    assert stats[b"get_misses"] > 0 and stats[b"hotcopy_version"], stats
    assert client.stats("settings")[b"num_threads"] == 2
    assert client.flush_all() is True
    assert client.get("c") is None and client.stats()[b"curr_items"] == 0
    client.set("k", "v")
    assert client.flush_all(delay=1) is True
    assert client.get("k") == b"v"
    time.sleep(1.5)
    assert client.get("k") is None
    try:
        client.raw_command("nonsense")
    except MemcacheUnknownCommandError:
        pass
    else:
        raise AssertionError("nonsense was understood")


def main():
    over_tcp = Client(("127.0.0.1", port), default_noreply=False, no_delay=True)
    over_unix = Client(unix_path, default_noreply=False)
    pooled = PooledClient(("127.0.0.1", port), default_noreply=False, max_pool_size=4)
    for client in (over_tcp, over_unix, pooled):
        client.flush_all()
        for part in (storage, noreply, compare_and_swap, numbers, expiry, many, large):
            part(client)
    about(over_tcp)
    for client in (over_tcp, over_unix):
        client.quit()
    print("passed")


main()
