#!/usr/bin/python3
"""Reads the messages of a camera from Redis into a table of SQLite, each once, and may be killed at any moment.
    consumer.py redis://127.0.0.1:6379/line north table.db [MESSAGES]
Needs python3-redis and python3-cbor2. Ends after MESSAGES rows are in the table; without a number never."""
import json
import sqlite3
import sys
import time

import cbor2
import redis


def read(address, camera, table, most=None):
    server, _, prefix = address.rpartition("/")
    stream = f"{prefix}:{camera}"
    database = sqlite3.connect(table)
    database.executescript("CREATE TABLE IF NOT EXISTS results(run INTEGER, camera TEXT, n INTEGER, kind TEXT, frame INTEGER,"
                           " contours INTEGER, PRIMARY KEY(run, camera, n));"
                           "CREATE TABLE IF NOT EXISTS read_up_to(stream TEXT PRIMARY KEY, id TEXT)")
    (last,) = database.execute("SELECT id FROM read_up_to WHERE stream = ?", [stream]).fetchone() or ("0-0",)
    client = redis.Redis.from_url(server)
    while most is None or database.execute("SELECT count(*) FROM results").fetchone()[0] < most:
        try:
            entries = client.xread({stream: last}, count=64, block=1000)
        except redis.RedisError as error:  # away: it comes back
            print(f"{error}; tried again", file=sys.stderr)
            time.sleep(0.5)
            continue
        for identity, fields in entries[0][1] if entries else []:
            body = fields[b"m"]
            message = json.loads(body) if body[:1] == b"{" else cbor2.loads(body)
            contours = sum(len(one["contours"]) for one in message.get("classes", []))
            # A message may come twice; its key makes it one row.
            database.execute("INSERT INTO results VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                             [message["run"], message["camera"], message["n"], message["kind"], message.get("frame"), contours])
            last = identity.decode()
        # In the same transaction as the rows: a kill leaves both or none.
        database.execute("INSERT OR REPLACE INTO read_up_to VALUES(?, ?)", [stream, last])
        database.commit()


if __name__ == "__main__":
    read(*sys.argv[1:4], *map(int, sys.argv[4:5]))
