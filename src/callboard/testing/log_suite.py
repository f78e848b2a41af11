"""The contract of a log as tests, to run against your own log.

    class TestMyLog(LogContract):
        @pytest.fixture
        async def open_log(self, tmp_path):
            opened = []

            def open_log(project=no_views):
                opened.append(MyLog(tmp_path / "log", project))
                return opened[-1]

            yield open_log
            for log in opened:
                await log.close()

        def kill(self, log):
            log.stop_without_giving_leases_back()

Each call of `open_log` opens another handle on the same store, as another process would. The tests
are coroutines: run them with pytest-asyncio in auto mode, or with anyio.
"""

from callboard.testing.log_suite_counts import CountContract
from callboard.testing.log_suite_deletes import DeleteContract, OrphanContract
from callboard.testing.log_suite_forks import ForkContract, TailContract
from callboard.testing.log_suite_leases import LeaseContract
from callboard.testing.log_suite_owners import OwnerContract
from callboard.testing.log_suite_server_state import ServerStateContract
from callboard.testing.log_suite_slots import KeptPlaceContract, SlotContract
from callboard.testing.log_suite_streams import AppendContract, ReadContract
from callboard.testing.log_suite_tokens import TokenContract
from callboard.testing.log_suite_views import QueryContract, ViewContract


class LogContract(
    AppendContract,
    ReadContract,
    ForkContract,
    TailContract,
    LeaseContract,
    ViewContract,
    QueryContract,
    CountContract,
    DeleteContract,
    OrphanContract,
    TokenContract,
    ServerStateContract,
    OwnerContract,
    SlotContract,
    KeptPlaceContract,
):
    """The whole contract. Subclass it and provide an `open_log` fixture and a `kill` method."""
