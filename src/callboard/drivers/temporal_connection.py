"""The connection to Temporal: where it is, and what to do if it can't be used."""

import asyncio
import logging
import os
import socket
from functools import cache
from typing import Final

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)
from temporalio.service import RPCError, RPCStatusCode

from callboard.errors import ServerUnreachable, ValidationError

_DEFAULT_ADDRESS: Final = "localhost:7233"
_CONNECT_WITHIN = 5.0

# What it answers while it starts, stops, or elects something; and ours, when it does not answer.
PASSING = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.ABORTED,
        RPCStatusCode.CANCELLED,
        RPCStatusCode.INTERNAL,
        RPCStatusCode.UNKNOWN,
    }
)


@cache
def _runtime() -> Runtime:
    """What Temporal's library runs on, once for each process; its messages go to our log.

    By default it prints them to standard output, between the lines of `callboard worker --json`.
    """
    forwarding = LogForwardingConfig(logging.getLogger("temporalio.core"))
    levels = TelemetryFilter(core_level="WARN", other_level="ERROR")
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(levels, forwarding)))


async def connect() -> Client:
    """Connect to the Temporal server that its environment variables or its file name."""
    try:
        config = ClientConfig.load_client_connect_config()
    except Exception as error:
        raise ValidationError(
            f"Temporal's settings can't be read: {error}. Correct its configuration file or the "
            "TEMPORAL_ variables.",
            field="TEMPORAL_ADDRESS",
        ) from error
    address = config.setdefault("target_host", _DEFAULT_ADDRESS)
    identity = f"callboard {os.getpid()}@{socket.gethostname()}"
    try:
        async with asyncio.timeout(_CONNECT_WITHIN):
            client = await Client.connect(**config, identity=identity, runtime=_runtime())
            await client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=client.namespace)
            )
    except RPCError as error:
        if error.status in PASSING:
            raise _unreachable(address, error) from error
        raise refused(error, config.get("namespace", "default")) from error
    except (RuntimeError, TimeoutError) as error:
        raise _unreachable(address, error) from error
    except ValueError as error:
        raise ValidationError(
            f"TEMPORAL_ADDRESS: {address!r} is not an address ({error}). Use host:port, such as "
            f"{_DEFAULT_ADDRESS}.",
            field="TEMPORAL_ADDRESS",
        ) from error
    return client


def _unreachable(address: str, error: Exception) -> ServerUnreachable:
    cause = f" ({error})" if str(error) else ""
    return ServerUnreachable(
        f"Can't reach Temporal at {address}{cause}. Start it, or set TEMPORAL_ADDRESS to its "
        "address and check its TLS settings.",
        url=address,
    )


def is_away(error: ServerUnreachable) -> bool:
    """Whether Temporal may be there later; otherwise it is there, and refuses."""
    return "url" in error.context


def refused(error: RPCError, namespace: str | None = None) -> ServerUnreachable:
    """Why Temporal does not do what is asked of it, and what to do."""
    if namespace is not None and error.status == RPCStatusCode.NOT_FOUND:
        return ServerUnreachable(
            f"Temporal has no namespace {namespace!r}. Create it, or set TEMPORAL_NAMESPACE: "
            f"temporal operator namespace create --namespace {namespace}",
        )
    if error.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED):
        return ServerUnreachable(
            f"Temporal refused access: {error.message}. Set TEMPORAL_API_KEY, or the certificate "
            "in Temporal's configuration file.",
        )
    if error.status == RPCStatusCode.UNIMPLEMENTED:
        return ServerUnreachable(
            f"This Temporal server can't do that: {error.message}. Standalone activities need "
            "version 1.31 or later; with an older one, use --driver temporal.",
        )
    return ServerUnreachable(f"Temporal refused a request: {error.message}")
