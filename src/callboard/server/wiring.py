"""Builds a server: the application, the guard around it, and the driver."""

from pathlib import Path

from starlette.types import ASGIApp

from callboard.app import Callboard
from callboard.board.arrivals import Arrivals
from callboard.board.budget_watch import BudgetWatch
from callboard.board.held_hooks import HeldHooks, Leavings
from callboard.board.hook_folders import Counting, hooks_folder
from callboard.board.intake import Listener
from callboard.board.message_delivery import MessageDelivery
from callboard.board.rest import Rest
from callboard.board.spool.drain import SpoolDrain
from callboard.board.spool.files import Spool
from callboard.board.usage_recording import UsageRecorder
from callboard.board.watchdog import Rounds
from callboard.drivers.choice import Driven, choose_driver
from callboard.server import logs
from callboard.server.access.audit import Audit
from callboard.server.access.credentials import Credentials, Failures
from callboard.server.access.guard import Guard
from callboard.server.access.login import Links
from callboard.server.access.proxy_sign_in import proxy_sign_in
from callboard.server.access.sign_ins import SignIns
from callboard.server.access.tokens import Tokens
from callboard.server.application import build
from callboard.server.dashboard import Dashboard
from callboard.server.memory import MemoryBudget
from callboard.server.metrics import Metrics
from callboard.server.own_machine import OwnMachine
from callboard.server.pacing import Paced
from callboard.server.relay_intake import RelayIntake
from callboard.server.relays import Relays
from callboard.server.request_metrics import Measured, Routed
from callboard.server.service import Service
from callboard.server.settings import ServerSettings
from callboard.server.streams import Streams


def prepare(board: Callboard, settings: ServerSettings, database: Path) -> tuple[ASGIApp, Service]:
    """Create the application as it is served, and the service that its routes use.

    The admin token and the audit are next to the database.
    """
    tokens = Tokens(database, board.tokens)
    driven = Driven(board.log, board.driver, board.workflows, board.clock)
    driver = choose_driver(settings.driver, driven, settings.concurrency, works=False)
    memory = MemoryBudget(settings.memory)
    streams = Streams(board.log, settings, memory)
    metrics = Metrics(board.log, board.clock, driver, streams, memory)
    plates = board.plates
    listener = Listener(plates, board.clock.now_ms, board.changes.snapshots.heard)
    folder = hooks_folder(database)
    spool = SpoolDrain(Spool(folder, board.clock), listener, board.clock)
    counting = Counting(folder, spool.counted)
    metrics.watch_hooks(spool.counted)
    holding = HeldHooks(board.log, board.people)
    rest = Rest(board.log, folder, board.clock)
    service = Service(
        board=board,
        settings=settings,
        streams=streams,
        links=Links(board.log.server_state, board.clock, settings.link_lives),
        sign_ins=SignIns(board.log.server_state, board.clock),
        proxy=proxy_sign_in(settings.proxy_auth, board.clock),
        tokens=tokens,
        database=database,
        started_at=board.clock.now_ms(),
        listener=listener,
        driver=driver,
        metrics=metrics,
        memory=memory,
        dashboard=Dashboard(settings.ui),
        plates=plates,
        arrivals=Arrivals(listener, spool),
        holding=holding,
        leavings=Leavings(plates, holding, board.clock),
        spool=spool,
        rounds=Rounds(plates, holding, board.clock, spool.keep_up, counting, rest),
        relay_intake=RelayIntake(plates, listener, board.people, board.hosts.requests),
        pairing=board.pairing,
        relays=Relays(board.log, plates, board.people, board.hosts, board.clock),
        own_machine=OwnMachine(board.hosts, plates.host(), database, board.clock, board.changes),
        delivery=MessageDelivery(board.log, plates, board.messages, board.hosts, board.clock),
        usage=_usage(board),
        budget=BudgetWatch(board.log, board.usage.budgets.check, board.clock),
    )
    paced = Paced(_guarded(service), settings.patience)
    return Measured(paced, board.clock, [metrics.served, logs.served]), service


def _usage(board: Callboard) -> UsageRecorder:
    """What counts the tokens of coding agents."""
    return UsageRecorder(board.log, board.plates, board.conversations.usage, board.clock)


def _guarded(service: Service) -> Guard:
    """The routes behind the guard."""
    settings = service.settings
    credentials = Credentials(
        service.tokens,
        service.links,
        Failures(service.board.clock, settings.wrong_tokens),
        dev=settings.dev,
        proxy=service.proxy,
        sign_ins=service.sign_ins,
    )
    return Guard(
        Routed(build(service)),
        settings=settings,
        credentials=credentials,
        audit=Audit(service.database),
    )
