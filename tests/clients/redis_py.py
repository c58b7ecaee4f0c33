"""Uses a server the way a service on redis-py 8 does. Ends with an exception where the server does not behave.

Usage: redis_py.py PORT UNIX_PATH PROTOCOL
"""

import sys
import time

import redis

port, unix_path, protocol = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])


def strings(client):
    client.flushall()
    assert client.set("k", b"\x00\xff") is True
    assert client.get("k") == b"\x00\xff"
    assert client.get("missing") is None
    assert client.set("k", "other", nx=True) is None
    assert client.set("k", "new", get=True) == b"\x00\xff"
    assert client.getdel("k") == b"new"
    assert client.mset({"a": 1, "b": 2}) is True
    assert client.mget("a", "missing", "b") == [b"1", None, b"2"]
    assert client.strlen("a") == 1
    assert client.delete("a", "b", "missing") == 2


def numbers_and_parts(client):
    client.flushall()
    assert client.incr("n") == 1
    assert client.incrby("n", 41) == 42
    assert client.decr("n", 2) == 40
    assert client.incrbyfloat("n", 0.5) == 40.5
    assert client.append("s", "Hello") == 5
    assert client.append("s", " World") == 11
    assert client.getrange("s", -5, -1) == b"World"
    assert client.setrange("s", 6, "Redis") == 11
    assert client.get("s") == b"Hello Redis"


def keys(client):
    client.flushall()
    assert client.randomkey() is None
    client.set("a", "1", ex=100)
    assert client.rename("a", "b") is True
    assert client.renamenx("b", "c") is True
    assert client.copy("c", "d") is True
    assert client.copy("c", "d") is False
    assert client.copy("c", "d", replace=True) is True
    assert client.copy("c", "e", destination_db=3) is True
    assert client.touch("c", "d", "missing") == 2
    assert client.randomkey() in (b"c", b"d")
    assert client.object("encoding", "c") in (b"int", "int")
    assert client.object("refcount", "c") == 1
    assert 1 < client.memory_usage("c") < 200
    assert client.expiretime("c") > time.time()
    try:
        client.lpush("list", "item")
    except redis.ResponseError as error:
        assert "works on lists" in str(error), error
    else:
        raise AssertionError("there are lists")


def expiry(client):
    client.set("k", "v", px=40)
    assert 0 < client.pttl("k") <= 40
    time.sleep(0.08)
    assert client.get("k") is None
    client.set("k", "v", ex=100)
    assert client.ttl("k") in (99, 100)
    assert client.persist("k")
    assert client.ttl("k") == -1
    assert client.expire("k", 100, gt=True) == 0
    assert client.getex("k", ex=50) == b"v"
    assert client.ttl("k") in (49, 50)


def scan(client):
    client.flushdb()
    wanted = {b"key:%d" % index for index in range(500)}
    with client.pipeline(transaction=False) as pipeline:
        for key in wanted:
            pipeline.set(key, "v")
        assert pipeline.execute() == [True] * 500
    assert client.dbsize() == 500
    assert set(client.scan_iter(match="key:*", count=50)) == wanted
    assert set(client.keys("key:*")) == wanted


def errors(client):
    with client.pipeline(transaction=False) as pipeline:
        pipeline.set("k", "v")
        pipeline.execute_command("NOSUCHCOMMAND")
        pipeline.get("k")
        results = pipeline.execute(raise_on_error=False)
    assert results[0] is True and results[2] == b"v", results
    assert "unknown command" in str(results[1]), results
    try:
        client.execute_command("GET")
    except redis.ResponseError as error:
        assert "wrong number of arguments for 'get' command" in str(error)
    else:
        raise AssertionError("GET without a key passed")


def publish_subscribe(client):
    subscriber = client.pubsub()
    subscriber.subscribe("news")
    subscriber.psubscribe("n*")
    for kind in ("subscribe", "psubscribe"):
        assert subscriber.get_message(timeout=5)["type"] == kind
    assert client.publish("news", "hello") == 2
    messages = [subscriber.get_message(timeout=5) for _ in range(2)]
    assert {message["type"] for message in messages} == {"message", "pmessage"}, messages
    assert all(message["data"] == b"hello" for message in messages), messages
    subscriber.unsubscribe()
    subscriber.punsubscribe()
    for _ in range(2):
        assert "unsubscribe" in subscriber.get_message(timeout=5)["type"]
    subscriber.close()


def about(client):
    assert client.ping() is True
    assert client.echo("x") == b"x"
    assert "redis_version" in client.info("server")
    assert client.config_get("maxmemory").keys() == {"maxmemory"}
    # redis-py decodes the name on RESP2 only.
    assert client.client_getname() in ("py", b"py")
    assert any(entry["name"] == "py" for entry in client.client_list())
    assert client.client_info()["lib-name"].startswith("redis-py")
    assert client.command_count() > 30
    assert len(client.time()) == 2


def main():
    # The name is set on every connection of the pool.
    common = {"protocol": protocol, "client_name": "py"}
    over_tcp = redis.Redis(port=port, **common)
    over_unix = redis.Redis(unix_socket_path=unix_path, db=2, **common)
    for client in (over_tcp, over_unix):
        for part in (strings, numbers_and_parts, keys, expiry, scan, errors, publish_subscribe, about):
            part(client)
    print("passed")


main()
