"""Which certificates a relay trusts, and what to do about one that it doesn't."""

import ssl
from asyncio.sslproto import SSLProtocol
from pathlib import Path
from typing import Final

from callboard.errors import ValidationError

# The numbers of OpenSSL's X509_V_ERR_…; the ssl module has no names for them.
_NOT_YET_VALID: Final = 9
_EXPIRED: Final = 10
_SELF_SIGNED: Final = 18
_UNKNOWN_AUTHORITY: Final = frozenset({2, 19, 20, 21})
_OTHER_NAME: Final = frozenset({62, 64})

_BUFFER: Final = 32_768
"""Bytes that asyncio reads from a TLS connection at once; its own value takes 256 KB for each."""

_NOT_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
"""How OpenSSL's versions say that the reply isn't TLS."""


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """How to verify a server. ca_file: certificates to trust instead of the system's.

    ValidationError if that file can't be used.
    """
    if hasattr(SSLProtocol, "max_size"):  # Undocumented: without it, a relay takes more memory.
        SSLProtocol.max_size = _BUFFER
    try:
        return ssl.create_default_context(cafile=ca_file)
    except ssl.SSLError as error:
        raise ValidationError(
            f"{ca_file} contains no certificates. Use a file in PEM format: --ca-file FILE",
            field="ca_file",
        ) from error
    except OSError as error:
        raise ValidationError(
            f"{ca_file} cannot be read: {error.strerror}. Use another file: --ca-file FILE",
            field="ca_file",
        ) from error


def tls_problem(error: ssl.SSLError, host: str, port: int) -> str:
    """Why there is no connection, and what to do about it; without a period at the end."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_problem(error, host)
    if error.reason in _NOT_TLS:
        return (
            f"it doesn't use TLS at port {port}. Use the port of the proxy that has the "
            "certificate: --server https://HOST:PORT"
        )
    told = (error.reason or "").lower().replace("_", " ")
    return f"TLS failed: {told}" if told else "TLS failed"


def _certificate_problem(error: ssl.SSLCertVerificationError, host: str) -> str:
    code = error.verify_code
    if code == _EXPIRED:
        return "its certificate has expired. Renew it, or correct the clock of this machine"
    if code == _NOT_YET_VALID:
        return "its certificate is not valid yet. Correct the clock of this machine"
    if code in _OTHER_NAME:
        return (
            f"its certificate is not for {host}. Use a name that it is for: --server https://NAME"
        )
    if code == _SELF_SIGNED:
        return (
            "its certificate is self-signed. If it is yours, copy it to this machine and trust "
            "it: --ca-file FILE"
        )
    if code in _UNKNOWN_AUTHORITY:
        return (
            "its certificate is signed by an authority that is not trusted here. If it is yours, "
            "trust its certificate: --ca-file FILE"
        )
    return f"its certificate is not valid: {error.verify_message}"
