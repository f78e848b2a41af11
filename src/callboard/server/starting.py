"""Puts a server together: the application, the guard around it, the driver beside it."""

from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp

from callboard.board.counting import Counting
from callboard.board.emptying import Emptying
from callboard.board.grips import Grips
from callboard.board.holding import Holding
from callboard.board.leaving import Leavings
from callboard.board.listening import Listener
from callboard.board.places import hooks_folder
from callboard.board.plates import Plates
from callboard.board.rounds import Rounds
from callboard.board.spool import Spool
from callboard.drivers.local import LocalDriver
from callboard.drivers.watching import WatchingDriver
from callboard.server import logs
from callboard.server.access.audit import Audit
from callboard.server.access.failures import Failures
from callboard.server.access.guard import Guard
from callboard.server.access.links import Links
from callboard.server.access.tokens import Tokens
from callboard.server.application import build
from callboard.server.dashboard import Dashboard
from callboard.server.measured import Measured, Routed
from callboard.server.memory import Memory
from callboard.server.metrics import Metrics
from callboard.server.pacing import Paced
from callboard.server.ports import Board
from callboard.server.service import Service
from callboard.server.settings import Settings
from callboard.server.streams import Streams


@dataclass(frozen=True, slots=True)
class Prepared:
    """A server that can be started."""

    app: ASGIApp
    service: Service
    driver: WatchingDriver
    tokens: Tokens


def prepare(board: Board, driver: LocalDriver, settings: Settings, database: Path) -> Prepared:
    """Make everything; beside the database lie the tokens and the record of commands."""
    tokens = Tokens(database, board.clock)
    links = Links(board.clock, settings.link_lives)
    watching = WatchingDriver(driver, board.log, board.clock, settings.concurrency)
    memory = Memory(settings.memory)
    streams = Streams(board.log, settings, memory)
    metrics = Metrics(board.log, board.clock, watching, streams, memory)
    plates = Plates(board.log, board.clock)
    listener = Listener(plates, board.clock.now_ms)
    folder = hooks_folder(database)
    spool = Emptying(Spool(folder, board.clock), listener)
    counting = Counting(folder, spool.counted)
    metrics.watch_hooks(spool.counted)
    listener.before = spool.empty
    holding = Holding(board.log, board.people, Grips(folder))
    service = Service(
        board=board,
        settings=settings,
        streams=streams,
        links=links,
        tokens=tokens,
        driver=watching,
        metrics=metrics,
        memory=memory,
        dashboard=Dashboard(settings.ui),
        plates=plates,
        listener=listener,
        holding=holding,
        leavings=Leavings(plates, holding, board.clock),
        spool=spool,
        rounds=Rounds(plates, holding, board.clock, spool.empty, counting),
    )
    guard = Guard(
        Routed(build(service)),
        settings=settings,
        tokens=tokens,
        links=links,
        failures=Failures(board.clock, settings.wrong_tokens),
        audit=Audit(database),
    )
    paced = Paced(guard, settings.patience)
    measured = Measured(paced, board.clock, [metrics.served, logs.served])
    return Prepared(measured, service, watching, tokens)
