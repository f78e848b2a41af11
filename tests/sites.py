"""Several machines on one network: namespaces where the system lets us make them."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.certificates import Authority
from tests.network import Network, network
from tests.proxies import nginx
from tests.relays import RelayProcess
from tests.servers import Server, serving

HASTY = """
import functools, sys
from callboard.__main__ import main
from callboard.server import relays

relays.RelayStream = functools.partial(relays.RelayStream, lasts=2.0)
relays.COMES_BACK_WITHIN = 1.0
sys.exit(main())
"""
"""A server that soon misses a machine that is gone without a word."""
SERVER = "10.77.0.1"


class Site(Protocol):
    """A server, and machines with a relay each, that can be cut off one by one."""

    server: Server
    relays: Sequence[RelayProcess]

    def cut(self, number: int) -> None: ...

    def heal(self, number: int) -> None: ...


@dataclass
class LoopbackSite:
    """Separate homes and ports on one machine."""

    server: Server
    relays: Sequence[RelayProcess]
    ways: Sequence[Network]

    def cut(self, number: int) -> None:
        self.ways[number].is_down = True
        self.ways[number].cut()

    def heal(self, number: int) -> None:
        self.ways[number].is_down = False


@dataclass
class NamespaceSite:
    """Each machine has its own network, with a cable to the server's."""

    server: Server
    relays: Sequence[RelayProcess]
    name: str

    def cut(self, number: int) -> None:
        """Pull the cable: no one hears of it."""
        _in(f"{self.name}-s", f"ip link set to{number} down")

    def heal(self, number: int) -> None:
        _in(f"{self.name}-s", f"ip link set to{number} up")


@asynccontextmanager
async def loopback_site(folder: Path, count: int) -> AsyncGenerator[LoopbackSite]:
    async with AsyncExitStack() as stack:
        program = {"program": ["-c", HASTY]}
        server = await stack.enter_async_context(serving(folder / "t.db", **program))
        relays: list[RelayProcess] = []
        ways: list[Network] = []
        for number in range(count):
            way, port = await stack.enter_async_context(network(server.port))
            relay = RelayProcess(folder / f"home{number}", f"host-{number}")
            stack.push_async_callback(_end, relay)
            await relay.pair(server, f"http://127.0.0.1:{port}")
            relays.append(relay)
            ways.append(way)
        yield LoopbackSite(server, relays, ways)


HAS_NAMESPACES = sys.platform == "linux" and os.geteuid() == 0
"""Only root on Linux can make them, and has to be able to: a test must not fall back unseen."""


def _check_namespaces() -> None:
    name = f"cb{os.getpid()}-try"
    assert shutil.which("ip"), "Network namespaces need `ip`: install iproute2."
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"Root needs CAP_SYS_ADMIN for network namespaces: {made.stderr}"
    subprocess.run(["ip", "netns", "del", name], check=True)


@asynccontextmanager
async def namespace_site(folder: Path, count: int) -> AsyncGenerator[NamespaceSite]:
    _check_namespaces()
    name = f"cb{os.getpid()}"
    async with AsyncExitStack() as stack:
        _wire(name, count, stack)
        inside = ["ip", "netns", "exec", f"{name}-s"]
        server = await stack.enter_async_context(
            serving(
                folder / "t.db",
                program=["-c", HASTY],
                options=["--allowed-host", SERVER],
                before=inside,
            )
        )
        authority = Authority(folder)
        pair = authority.sign(SERVER)
        tls = f"ssl_certificate {pair.certificate}; ssl_certificate_key {pair.key};"
        proxy = nginx(folder / "nginx", server.url, tls=tls, before=inside, address=SERVER)
        url = await stack.enter_async_context(proxy)
        relays: list[RelayProcess] = []
        for number in range(count):
            relay = RelayProcess(folder / f"home{number}", f"host-{number}")
            relay.before = ["ip", "netns", "exec", f"{name}-{number}"]
            stack.push_async_callback(_end, relay)
            await relay.pair(server, url, "--ca-file", str(authority.file))
            relays.append(relay)
        yield NamespaceSite(server, relays, name)


def _wire(name: str, count: int, stack: AsyncExitStack) -> None:
    for one in ("s", *range(count)):
        _run(f"ip netns add {name}-{one}")
        stack.callback(_run, f"ip netns del {name}-{one}")
        _in(f"{name}-{one}", "ip link set lo up")
    _in(f"{name}-s", f"ip addr add {SERVER}/32 dev lo")
    for number in range(count):
        host, net = f"{name}-{number}", f"10.77.{number + 1}"
        ends = f"to{number} netns {name}-s type veth peer name out netns {host}"
        _run(f"ip link add {ends}")
        _in(f"{name}-s", f"ip addr add {net}.1/30 dev to{number}")
        _in(f"{name}-s", f"ip link set to{number} up")
        _in(host, f"ip addr add {net}.2/30 dev out")
        _in(host, "ip link set out up")
        _in(host, f"ip route add {SERVER} via {net}.1")


def _in(namespace: str, command: str) -> None:
    _run(f"ip netns exec {namespace} {command}")


def _run(command: str) -> None:
    subprocess.run(command.split(), check=True)


async def _end(relay: RelayProcess) -> None:
    if relay.process is not None and relay.process.returncode is None:
        relay.process.kill()
        await relay.process.wait()
        await asyncio.sleep(0)
