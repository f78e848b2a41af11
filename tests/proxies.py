"""What stands between a person and a server: nginx, and a forwarder of connections."""

import asyncio
import grp
import os
import pwd
import shutil
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

PATIENCE = 90

CONFIG = """
{user}
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream servers {{ {upstreams} }}
  {http}
  server {{
    listen {address}:{port}{ssl};
    {server}
    location / {{
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      {location}
    }}
  }}
}}
"""

FORWARDER = """
import os, socket, sys, threading
port, become = int(sys.argv[1]), int(sys.argv[2])

def copy(source, target):
    try:
        while part := source.recv(65536):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass

def forward(near):
    far = socket.socket()
    far.connect(("127.0.0.1", port))
    there = threading.Thread(target=copy, args=(near, far), daemon=True)
    there.start()
    copy(far, near)

listening = socket.create_server(("127.0.0.1", 0))
if become:
    # As sshd does: who changes its user hides what it has open, until it starts a program.
    os.setgroups([])
    os.setgid(become)
    os.setuid(become)
print(listening.getsockname()[1], flush=True)
while True:
    threading.Thread(target=forward, args=(listening.accept()[0],), daemon=True).start()
"""


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@asynccontextmanager
async def nginx(
    folder: Path,
    *upstreams: str,
    http: str = "",
    server: str = "",
    location: str = "",
    tls: str = "",
    before: Sequence[str] = (),
    address: str = "127.0.0.1",
) -> AsyncGenerator[str]:
    """nginx in front of servers, as another user where that can be; gives its address.

    http, server, location: more directives, for where they are named after.
    tls: the directives that name its certificate, which it then shows.
    before: what its command begins with, if it runs on another network. address: where it listens.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    assert program, "nginx is missing; install it with: sudo apt-get install nginx-light"
    folder.mkdir()
    port = free_port()
    config = folder / "nginx.conf"
    listed = " ".join(f"server {url.removeprefix('http://')};" for url in upstreams)
    config.write_text(
        CONFIG.format(
            folder=folder,
            port=port,
            address=address,
            upstreams=listed,
            user=_workers_user(),
            http=http,
            server=f"{server} {tls}",
            ssl=" ssl" if tls else "",
            location=location,
        )
    )
    process = await asyncio.create_subprocess_exec(
        *before, program, "-p", folder, "-c", config, "-e", folder / "error.log"
    )
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                if before and (folder / "nginx.pid").exists():
                    break  # It listens, where we can't look.
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    assert process.returncode is None, (folder / "error.log").read_text()
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield f"http{'s' if before and tls else ''}://{address}:{port}"
    finally:
        process.terminate()
        await process.wait()


def _workers_user() -> str:
    """The line that makes nginx's workers another user's; only root can do that."""
    if os.geteuid() != 0:
        return ""
    nobody = pwd.getpwnam("nobody")
    return f"user {nobody.pw_name} {grp.getgrgid(nobody.pw_gid).gr_name};"


@asynccontextmanager
async def forwarder(
    port: int, before: Sequence[str] = (), *, become: int = 0
) -> AsyncGenerator[int]:
    """A process that forwards connections to a port, like `ssh -L`; gives its own port.

    before: what its command begins with. become: the user that it becomes once it runs.
    """
    process = await asyncio.create_subprocess_exec(
        *before,
        *(sys.executable, "-I", "-S", "-c", FORWARDER, str(port), str(become)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            yield int(await process.stdout.readline())
    finally:
        process.kill()
        await process.wait()
