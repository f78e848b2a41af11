"""Certificates for tests, and a server that shows one of them."""

import asyncio
import contextlib
import datetime as dt
import ipaddress
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates. Its own is in a file, for those who trust it."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = generate_private_key(SECP256R1())
        self._name = _named(name)
        builder = _builder(self._name, self._name, self._key, dt.timedelta(), 2 * DAY)
        usage = x509.KeyUsage(
            key_cert_sign=True, crl_sign=True, digital_signature=True, content_commitment=False,
            key_encipherment=False, data_encipherment=False, key_agreement=False,
            encipher_only=False, decipher_only=False,
        )  # fmt: skip
        own = (
            builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self._own = own
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(own.public_bytes(Encoding.PEM))

    def sign(
        self,
        name: str,
        start: dt.timedelta = -DAY,
        end: dt.timedelta = DAY,
        *,
        itself: bool = False,
    ) -> KeyPair:
        """A certificate for a host. start, end: from now. itself: signed with its own key."""
        key = generate_private_key(SECP256R1())
        subject = _named(name)
        builder = _builder(subject, subject if itself else self._name, key, start, end)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(
            (key if itself else self._key).public_key()
        )
        made = (
            builder.add_extension(x509.SubjectAlternativeName([_alternative(name)]), critical=False)
            .add_extension(identifier, critical=False)
            .sign(key if itself else self._key, hashes.SHA256())
        )
        pair = KeyPair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.certificate.write_bytes(made.public_bytes(Encoding.PEM))
        pair.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return pair


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: EllipticCurvePrivateKey,
    start: dt.timedelta,
    end: dt.timedelta,
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + start - dt.timedelta(minutes=5))
        .not_valid_after(now + end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncGenerator[int]:
    """A port where connections are answered; all of them are closed at the end."""
    writers: list[asyncio.StreamWriter] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with contextlib.suppress(OSError, EOFError):
            await answer(reader, writer)
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        while any(not writer.transport.is_closing() for writer in writers):
            await asyncio.sleep(0)
        await asyncio.sleep(0.02)


@asynccontextmanager
async def tls_endpoint(pair: KeyPair) -> AsyncGenerator[int]:
    """Something that speaks TLS and answers every request with 201; gives its port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()

    async with listening(answer, context) as port:
        yield port
