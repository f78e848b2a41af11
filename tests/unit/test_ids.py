"""Ids are what they say they are, and never twice the same."""

import os
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from callboard.ids import event_id, short_id


def test_an_event_id_is_a_version_7_uuid_of_this_moment() -> None:
    before = time.time_ns() // 1_000_000
    made = event_id()
    parsed = uuid.UUID(made)
    assert str(parsed) == made
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert before <= parsed.int >> 80 <= time.time_ns() // 1_000_000


def test_ids_differ() -> None:
    assert len({event_id() for _ in range(100_000)}) == 100_000
    assert len({short_id() for _ in range(10_000)}) == 10_000
    assert all(len(one) == 12 and one.isalnum() for one in [short_id()])


def test_a_forked_process_makes_ids_of_its_own() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, event_id()[14:].encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100).decode() != event_id()[14:]
    os.close(reader)
    os.close(writer)


def test_threads_make_ids_of_their_own() -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: event_id(), range(20_000)))
    assert len(set(made)) == len(made)
