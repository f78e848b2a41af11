"""cluster.py FOLDER: PostgreSQL, three servers behind nginx, and two workers, on this machine.

What `make run-cluster` starts, and what Ctrl-C stops again, in reverse order. The folder keeps the
database, the logs and the secrets. Everything listens on loopback only, with passwords and a token
that are made once, and that only the owner of the folder can read.
"""

import grp
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from string import Template

from cluster_processes import (
    TICK,
    Child,
    ClusterFailure,
    Secrets,
    report,
    wait_until,
    write_private,
)
from postgres_server import NotRunning, PostgresServer, find_program, free_port

ROOT = Path(__file__).resolve().parent.parent
SERVERS = 3
WORKERS = 2
WORKFLOWS = ROOT / "examples" / "trip.py"
SETTINGS = ("max_connections=200", "unix_socket_directories=")
"""Without a socket in the folder: its path could be too long for one."""

# What nginx needs beside the servers, without a folder of the system.
NGINX = """\
{user}
daemon off; worker_processes 1; pid "{folder}/pid"; error_log "{log}";
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path "{folder}/body"; proxy_temp_path "{folder}/proxy";
  fastcgi_temp_path "{folder}/f"; uwsgi_temp_path "{folder}/u"; scgi_temp_path "{folder}/s";
{servers}
}}
"""


class Cluster:
    """All processes, in the order in which they start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.url = ""
        self._temporary: Path | None = None
        self._database: PostgresServer | None = None
        self._servers: list[Child] = []
        self._workers: list[Child] = []
        self._nginx: Child | None = None
        self._reported: set[str] = set()
        folder.mkdir(0o711, parents=True, exist_ok=True)
        folder.chmod(0o711)  # The user postgres has to pass, but may not look around.
        self.logs.mkdir(0o700, exist_ok=True)
        self.secrets = Secrets.of(folder)

    def start(self) -> None:
        """Start everything; returns when requests are answered."""
        print(f"PostgreSQL, in {self._database_folder()} …", flush=True)
        address = self._start_database()
        print(f"{SERVERS} servers and {WORKERS} workers, for {shown(WORKFLOWS)} …", flush=True)
        self._start_callboard(address)
        print("nginx …", flush=True)
        self._start_nginx()
        write_private(self.folder / "env", self._environment())

    def watch(self) -> int:
        """Report what dies, until the cluster can't work any more; returns the exit code."""
        while True:
            for name, code, log in self._ended():
                print(report(name, code, log), flush=True)
                if name in ("PostgreSQL", "nginx"):
                    return 1
                print("The others continue.", flush=True)
            time.sleep(TICK)

    def stop(self) -> None:
        """Stop everything, what started last first; whatever happens, nothing is left running."""
        try:
            for group in ([self._nginx] if self._nginx else [], self._workers, self._servers):
                for child in group:
                    child.stop()
                for child in group:
                    child.wait()
            if self._database is not None:
                self._database.stop(signal.SIGINT)
        except BaseException:
            self._kill()
            raise
        finally:
            (self.folder / "env").unlink(missing_ok=True)
            if self._temporary is not None:
                shutil.rmtree(self._temporary, ignore_errors=True)

    def _kill(self) -> None:
        for child in (*([self._nginx] if self._nginx else []), *self._workers, *self._servers):
            child.kill()
        if self._database is not None:
            self._database.stop(signal.SIGQUIT)

    def _ended(self) -> list[tuple[str, int, Path]]:
        """What has ended since the last look."""
        watched = [(one.name, one) for one in (*self._servers, *self._workers)]
        if self._nginx is not None:
            watched.append(("nginx", self._nginx))
        if self._database is not None:
            watched.append(("PostgreSQL", self._database))
        found = [(name, one.exit_code(), one.log) for name, one in watched]
        ended = [
            (name, code, log)
            for name, code, log in found
            if code is not None and name not in self._reported
        ]
        self._reported |= {name for name, _, _ in ended}
        return ended

    def _database_folder(self) -> Path:
        """A folder that PostgreSQL's user can enter: ours, or else a temporary one.

        PostgreSQL refuses to run as root, and the user postgres can't enter root's home.
        """
        if self._temporary is not None:
            return self._temporary
        parents = self.folder.resolve().parents
        if os.getuid() == 0 and not all(one.stat().st_mode & 0o001 for one in parents):
            self._temporary = Path(tempfile.mkdtemp(prefix="callboard-cluster-"))
            return self._temporary
        folder = self.folder / "database"
        folder.mkdir(0o700, exist_ok=True)
        return folder.resolve()

    def _start_database(self) -> str:
        """Start PostgreSQL; returns the address of a database that a user without rights owns."""
        try:
            self._database = PostgresServer(
                self._database_folder(), password=self.secrets.superuser
            )
            self._database.start(SETTINGS, detached=True)
        except subprocess.CalledProcessError as error:
            raise ClusterFailure(f"PostgreSQL can't create its files: {error}") from error
        except NotRunning as error:
            raise ClusterFailure(
                f"PostgreSQL doesn't start:\n{error}\nTo start with an empty database, remove "
                f"{self._database_folder()}."
            ) from error
        execute, password = self._database.execute, self.secrets.database
        if not execute("SELECT 1 FROM pg_roles WHERE rolname = 'callboard'"):
            execute("CREATE ROLE callboard LOGIN")
        execute(f"ALTER ROLE callboard PASSWORD '{password}'")
        if not execute("SELECT 1 FROM pg_database WHERE datname = 'board'"):
            execute("CREATE DATABASE board OWNER callboard TEMPLATE template0")
        return self._database.url("board", "callboard")

    def _start_callboard(self, address: str) -> None:
        env = {
            "CALLBOARD_DB": address,
            "PGPASSWORD": self.secrets.database,
            "CALLBOARD_TOKEN": self.secrets.token,
            # What servers keep on each machine stays apart from what this person has.
            "XDG_DATA_HOME": str(self.folder.resolve() / "data"),
        }
        command = [sys.executable, "-m", "callboard"]
        serve = [*command, "serve", str(WORKFLOWS), "--driver=procrastinate", "--port=0", "--json"]
        work = [*command, "worker", str(WORKFLOWS), "--json"]
        for number in range(1, SERVERS + 1):
            self._servers.append(Child(f"server-{number}", serve, self.logs, env))
        for number in range(1, WORKERS + 1):
            self._workers.append(Child(f"worker-{number}", work, self.logs, env))
        for child in (*self._servers, *self._workers):
            wait_until(child.announced, child.name)

    def _start_nginx(self) -> None:
        port = free_port()
        urls = [child.said()["url"].removeprefix("http://") for child in self._servers]
        template = Template((ROOT / "tools" / "nginx.conf.template").read_text())
        servers = template.safe_substitute(
            CALLBOARD_LISTEN=f"127.0.0.1:{port}",
            CALLBOARD_SERVERS=" ".join(f"server {url};" for url in urls),
        )
        folder, log = self.folder.resolve() / "nginx", self.logs.resolve() / "nginx.log"
        folder.mkdir(0o700, exist_ok=True)
        config = folder / "nginx.conf"
        given = {"folder": folder, "log": log, "servers": servers, "user": workers_user()}
        config.write_text(NGINX.format(**given))
        program = find_program("nginx") or "nginx"
        command = [program, "-p", str(folder), "-c", str(config), "-e", str(log)]
        child = self._nginx = Child("nginx", command, self.logs, {})

        def listens() -> bool:
            if child.exit_code() is not None:
                raise ClusterFailure(report("nginx", child.exit_code(), child.log))
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return True
            return False

        wait_until(listens, "nginx")
        self.url = f"http://127.0.0.1:{port}"

    def _environment(self) -> str:
        given = {"CALLBOARD_SERVER": self.url, "CALLBOARD_TOKEN": self.secrets.token}
        return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in given.items())


def workers_user() -> str:
    """The line that makes nginx's workers another user's, which only root can do."""
    if os.geteuid() != 0:
        return ""
    other = pwd.getpwuid(65534)  # the user without rights
    return f"user {other.pw_name} {grp.getgrgid(other.pw_gid).gr_name};"


def shown(path: Path) -> str:
    """A path as short as this folder allows."""
    with suppress(ValueError):
        return str(path.relative_to(Path.cwd()))
    return str(path)


def callboard() -> str:
    """The command, as it can be typed here."""
    return shlex.quote(shown(Path(sys.executable).parent / "callboard"))


def announce(cluster: Cluster) -> None:
    """Say where it is, and what to do next."""
    env = shlex.quote(shown(cluster.folder / "env"))
    print(
        f"\nCallboard is at {cluster.url}\n"
        "In another terminal:\n"
        f"  . {env}   (sets the address and the token)\n"
        f"  {callboard()} run trip --input Lisbon   (start a session, and answer it)\n"
        f"  {callboard()} open   (open the dashboard, signed in)\n"
        f"Logs: {shown(cluster.logs)}   Ctrl-C to stop",
        flush=True,
    )


def open_dashboard(cluster: Cluster) -> None:
    """Open the dashboard, if this is a terminal with a browser."""
    from callboard.cli.commands.open import has_browser

    if sys.stdout.isatty() and has_browser(os.environ):
        given = {"CALLBOARD_SERVER": cluster.url, "CALLBOARD_TOKEN": cluster.secrets.token}
        command = [sys.executable, "-m", "callboard", "open"]
        subprocess.Popen(command, env={**os.environ, **given}, start_new_session=True)


def check_programs() -> None:
    """Raise an error if a program is missing."""
    debian = {"nginx": "nginx-light", "initdb": "postgresql"}
    homebrew = {"nginx": "nginx", "initdb": "postgresql@17"}
    missing = [program for program in debian if not find_program(program)]
    if missing:
        is_mac = sys.platform == "darwin"
        names, install = (homebrew, "brew") if is_mac else (debian, "sudo apt-get")
        wanted = " ".join(names[program] for program in missing)
        raise ClusterFailure(f"Programs are missing. Install them: {install} install {wanted}")


def forget_environment() -> None:
    """Forget what this terminal is set to: other databases, and an earlier cluster."""
    for name in list(os.environ):
        if name.startswith("PG") or name in ("CALLBOARD_DB", "CALLBOARD_SERVER"):
            del os.environ[name]


def interrupt(*_: object) -> None:
    """SIGTERM and a closed terminal stop the cluster as Ctrl-C does."""
    raise KeyboardInterrupt


def main(folder: Path) -> int:
    """Run the cluster until Ctrl-C; returns the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    forget_environment()
    cluster = None
    try:
        check_programs()
        cluster = Cluster(folder)
        cluster.start()
        announce(cluster)
        open_dashboard(cluster)
        return cluster.watch()
    except ClusterFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopping …", flush=True)
        return 0
    finally:
        if cluster is not None:
            cluster.stop()
            print("Everything has stopped.", flush=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
