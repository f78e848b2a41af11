"""Spans in OpenTelemetry's format, sent by its own exporter. Needs `callboard[otel]`."""

import asyncio
from contextlib import suppress
from importlib.metadata import version
from threading import Thread

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, Status, StatusCode, TraceFlags

from callboard.server.spans import ROOT, Span, span_id, trace_id

_CLOSE_WITHIN = 5.0


class Otlp:
    """Sends spans from its own thread, as configured by the usual `OTEL_…` variables."""

    def __init__(
        self, exporter: SpanExporter | None = None, close_within: float = _CLOSE_WITHIN
    ) -> None:
        self._processor = BatchSpanProcessor(exporter or OTLPSpanExporter())
        self._close_within = close_within
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence over our values.
        ours = Resource({"service.name": "callboard", "service.version": version("callboard")})
        self._resource = ours.merge(OTELResourceDetector().detect())
        self._scope = InstrumentationScope("callboard", version("callboard"))

    def send(self, session_id: str, span: Span) -> None:
        """Queue a span. A full queue drops the oldest."""
        links = [Link(_context(span.forked_from, ROOT))] if span.forked_from else []
        self._processor.on_end(
            ReadableSpan(
                name=span.name,
                context=_context(session_id, span.key),
                parent=_context(session_id, span.parent) if span.parent else None,
                resource=self._resource,
                attributes=span.attributes,
                links=links,
                status=Status(StatusCode.ERROR, span.error) if span.error else Status(),
                start_time=span.start_ms * 1_000_000,
                end_time=span.end_ms * 1_000_000,
                instrumentation_scope=self._scope,
            )
        )

    async def close(self) -> None:
        """Send what is left, within a time limit."""
        loop, closed = asyncio.get_running_loop(), asyncio.Event()

        def shut_down() -> None:
            self._processor.shutdown()
            with suppress(RuntimeError):  # No one waits anymore, and the loop is gone.
                loop.call_soon_threadsafe(closed.set)

        # A daemon thread, because the collector may never answer.
        Thread(target=shut_down, name="callboard-traces", daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._close_within):
                await closed.wait()


def _context(session_id: str, key: str) -> SpanContext:
    sampled = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(trace_id(session_id), span_id(session_id, key), False, sampled)
