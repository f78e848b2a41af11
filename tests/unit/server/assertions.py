"""An issuer of assertions about people, with a key of its own, as an OIDC provider is one."""

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm

ISSUER = "https://id.example.com"
AUDIENCE = "callboard"


@dataclass
class Issuer:
    """Signs assertions. id: what its key is called."""

    id: str = "first"
    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))

    @property
    def jwk(self) -> dict[str, Any]:
        told = ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {**told, "kid": self.id, "alg": "ES256", "use": "sig"}

    @property
    def pem(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def assertion(self, head: dict[str, Any] | None = None, **claims: Any) -> str:
        """A valid assertion about ada, but for what is given; None leaves a claim out."""
        told = {"iss": ISSUER, "aud": AUDIENCE, "exp": int(time()) + 600, "email": "ada"} | claims
        given = {name: value for name, value in told.items() if value is not None}
        # Not `encode` of the payload, which refuses some of what we have to send.
        body = json.dumps(given).encode()
        return jwt.PyJWS().encode(
            body, self.key, algorithm="ES256", headers={"kid": self.id, **(head or {})}
        )


def jwks(*issuers: Issuer) -> bytes:
    return json.dumps({"keys": [one.jwk for one in issuers]}).encode()


def unsigned(algorithm: str = "none", signature: str = "", **claims: Any) -> str:
    """An assertion that no key has signed."""
    told = {"iss": ISSUER, "aud": AUDIENCE, "exp": int(time()) + 600, "email": "ada"} | claims
    head = {"alg": algorithm, "typ": "JWT"}
    parts = [base64.urlsafe_b64encode(json.dumps(one).encode()).decode() for one in (head, told)]
    return ".".join([*(part.rstrip("=") for part in parts), signature])


def written(folder: Path, text: str) -> Path:
    """A file for `--proxy-auth`."""
    file = folder / "proxy.toml"
    file.write_text(text)
    return file


SIGNED = f"""
sign_out = "/oauth2/sign_out"

[assertion]
header = "X-Assertion"
issuer = "{ISSUER}"
audience = "{AUDIENCE}"
keys = "keys.json"

[scopes]
default = "answer"

[scopes.groups]
release = "operate"
admins = "admin"
"""

SECRET = "a secret that nginx and the server share, of 48 ch"

PLAIN = """
[headers]
secret_file = "secret"

[scopes.people]
ada = "operate"

[scopes.groups]
release = "answer"
"""
