"""`callboard stats` on a real database."""

import orjson
from tests.acceptance.cli_process import CallboardCommand


def test_how_runs_went(callboard: CallboardCommand):
    callboard.here("run", "flows.py:trip", "--input", "Rome", "--auto-approve")
    callboard.here("run", "flows.py:trip", "--input", "Oslo", code=3)

    whole = callboard.here("stats", "--days", "7").out.splitlines()
    assert whole[0].split()[:4] == ["workflow", "runs", "completed", "failed"]
    assert whole[1].split()[:5] == ["trip", "2", "1", "0", "100%"]
    assert whole[-1] == "Runs that started in the last 7 days."

    one = callboard.here("stats", "trip").out
    assert "2  (1 completed, 0 failed, 1 active)" in one
    assert "(p50)" in one
    told = orjson.loads(callboard.here("stats", "trip", "--json").out)
    assert (told["workflow"], told["runs"], told["days"]) == ("trip", 2, 30)

    assert "No runs of nothing" in callboard.here("stats", "nothing").out
    refused = callboard.here("stats", "--days", "0", code=2)
    assert "--days" in refused.err
