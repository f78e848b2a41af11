"""Servers that refuse a connection or a statement: the error names a fix that works."""

import re
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from tests.postgres import PostgresServer, running_server
from tests.unit.log.test_postgres import failure, use
from tools.postgres_server import FAST

from callboard.log.postgres.errors import is_lost


def refusal(url: str) -> str:
    """Why a database can't be used: not because it is away, so no one tries again."""
    with pytest.raises(psycopg.OperationalError) as raised:
        psycopg.connect(url)
    assert not is_lost(raised.value)
    refused = failure(url)
    assert "retry_after" not in refused.context
    assert "server is running" not in refused.message
    return refused.message


def statement(message: str, user: str) -> str:
    """The SQL that a message tells people to run."""
    found = re.search(r"(ALTER|GRANT) .*?(?=, or|\.$|$)", message)
    assert found is not None
    return found[0].replace("NAME", user)


@contextmanager
def role(postgres: PostgresServer, options: str) -> Generator[str]:
    """The address of an empty database for a role named guest, which does not own it."""
    url = postgres.create()
    name = url.rpartition("/")[2]
    postgres.execute(f"CREATE ROLE guest {options}")
    try:
        yield postgres.url(name, user="guest")
    finally:
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        postgres.execute("DROP OWNED BY guest", name)
        postgres.execute(f"DROP DATABASE {name}")
        postgres.execute("DROP ROLE guest")


def test_grants_that_are_named_are_all_that_is_missing(postgres: PostgresServer):
    with role(postgres, "LOGIN") as url:
        name = url.rpartition("/")[2]
        use(postgres.url(name))
        postgres.execute("GRANT ALL ON SCHEMA public TO guest", name)
        message = failure(url).message
        assert "permission denied for table" in message
        assert "owner" in message
        postgres.execute(statement(message, "guest"), name)
        use(url)


def test_a_schema_that_a_user_cannot_see(postgres: PostgresServer):
    with role(postgres, "LOGIN") as url:
        name = url.rpartition("/")[2]
        postgres.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC", name)
        postgres.execute(statement(failure(url).message, "guest"), name)
        use(url)


def test_a_user_without_the_right_to_connect(postgres: PostgresServer):
    with role(postgres, "LOGIN") as url:
        name = url.rpartition("/")[2]
        postgres.execute(f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC")
        postgres.execute("GRANT ALL ON SCHEMA public TO guest", name)
        postgres.execute(statement(refusal(url), "guest"), name)
        use(url)


def test_a_role_that_may_not_log_in(postgres: PostgresServer):
    with role(postgres, "NOLOGIN") as url:
        postgres.execute("GRANT ALL ON SCHEMA public TO guest", url.rpartition("/")[2])
        postgres.execute(statement(refusal(url), "guest"))
        use(url)


def test_a_database_that_is_closed(postgres: PostgresServer):
    with role(postgres, "LOGIN") as url:
        name = url.rpartition("/")[2]
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        postgres.execute(statement(refusal(postgres.url(name)), "guest"))
        use(postgres.url(name))


def test_a_role_that_does_not_exist(postgres: PostgresServer):
    message = refusal(postgres.url("postgres", user="stranger"))
    assert "createuser stranger" in message
    assert "another user in the address" in message


def test_a_server_that_is_starting_is_not_a_refusal():
    for text in ("the database system is starting up", "the database system is not yet accepting"):
        assert is_lost(psycopg.OperationalError(f"connection failed: FATAL:  {text} connections"))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("sslmode=foo", "disable, allow, prefer, require, verify-ca or verify-full"),
        ("channel_binding=foo", "channel_binding"),
        ("target_session_attrs=foo", "target_session_attrs"),
        ("ssl_min_protocol_version=foo", "ssl_min_protocol_version"),
        ("keepalives=foo", "keepalives"),
        ("client_encoding=foo", "client_encoding"),
        ("hostaddr=foo", "network address"),
        ("service=foo", "service"),
    ],
)
def test_a_parameter_with_a_wrong_value(postgres: PostgresServer, given: str, named: str):
    message = refusal(f"{postgres.url('postgres')}?{given}")
    assert named in message
    assert "in the address" in message


def test_a_port_that_no_server_can_have(postgres: PostgresServer):
    message = refusal(postgres.url("postgres").replace(str(postgres.port), "99999"))
    assert "invalid port number" in message


def make_certificate(folder: Path, name: str, owner: str | None = None) -> None:
    """Make a certificate that signs itself, and its key."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.crt"
    subject = ["-subj", f"/CN={name}", "-days", "2", "-nodes"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    made = [*kind, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", "req", "-x509", *subject, *made], check=True, capture_output=True)
    for file in (key, certificate):
        file.chmod(0o600)
        if owner is not None:
            shutil.chown(file, owner)


def test_a_server_that_requires_a_client_certificate(tmp_path: Path):
    with running_server() as server:
        server.stop()
        make_certificate(server.data, "server", server.data.owner())
        for name in ("accepted", "other"):
            make_certificate(tmp_path, name)
        shutil.copyfile(tmp_path / "accepted.crt", server.data / "accepted.crt")
        shutil.chown(server.data / "accepted.crt", server.data.owner())
        rules = server.data / "pg_hba.conf"
        strict = "hostssl all guest 127.0.0.1/32 trust clientcert=verify-ca\n"
        rules.write_text(f"{strict}hostssl all named 127.0.0.1/32 cert\n{rules.read_text()}")
        server.start((*FAST, "ssl=on", "ssl_ca_file=accepted.crt"))
        server.execute("CREATE ROLE guest LOGIN; CREATE ROLE named LOGIN")

        def address(user: str, certificate: str, key: str) -> str:
            files = f"sslcert={tmp_path}/{certificate}.crt&sslkey={tmp_path}/{key}.key"
            return f"{server.url('postgres', user)}?sslmode=require&{files}"

        psycopg.connect(address("guest", "accepted", "accepted")).close()
        assert "client certificate" in refusal(address("guest", "none", "none"))
        for wrong in (
            address("guest", "other", "other"),
            address("guest", "accepted", "other"),
            address("guest", "accepted", "none"),
            address("named", "accepted", "accepted"),
        ):
            message = refusal(wrong)
            assert "client certificate" in message
            assert "sslcert and sslkey" in message
            assert "sslrootcert" not in message
