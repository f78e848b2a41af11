"""A log that has lost its newest events, as after a failover to a standby that lacked them."""

from callboard.log.memory import MemoryLog


def lose(log: MemoryLog, stream: str, count: int) -> None:
    """Take back a stream's newest events, which must be the log's newest, and say so."""
    found = log.memory.streams[stream]
    assert {each for each, _ in log.memory.sequence[-count:]} == {found}
    del found.own[-count:]
    del log.memory.sequence[-count:]
    found.standing = found.standing._replace(head=found.standing.head - count)
    fail_over(log)


def fail_over(log: MemoryLog) -> None:
    """Have another server take over, which has everything."""
    log.incarnation += 1
    log.listeners.wake_all()
