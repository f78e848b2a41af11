"""A harness for interactive sessions: replace `decide` with an agent, a chat or a form.
Takes a database, as here, or a server (http://127.0.0.1:2255):
    python examples/harness_40_lines.py callboard.db
"""

import asyncio
import json
import os
import sys

from callboard import Callboard, Client
from callboard.errors import ConflictError, ValidationError

ME = f"harness-{os.getpid()}"


def decide(asked):  # Shown as JSON, so that the terminal doesn't interpret control characters.
    return json.loads(input(f"{json.dumps([asked.prompt, asked.config])}\nDecision: ") or "null")


async def attend(people, asked):
    try:
        await people.claim(asked.id, by=ME, ttl_ms=3_600_000)  # For an hour.
        decision = await asyncio.to_thread(decide, asked)
        outcome = "cancelled" if decision is None else "completed"
        print((await people.complete(asked.id, outcome, response=decision, by=ME)).status)
    except ConflictError as error:  # Already claimed or answered.
        print(error.message)
    except (ValidationError, ValueError, EOFError) as error:
        print("No decision:", error)  # Not JSON, or doesn't match the schema.
        await people.release(asked.id, by=ME)


async def main(place):
    async with Client(place) if "://" in place else Callboard.open(place) as board:
        for asked in await board.people.find(status="pending", type="interactive_session"):
            await attend(board.people, asked)


asyncio.run(main(sys.argv[1]))
