"""The contract of a driver as tests, to run against your own engine.

    class TestMyDriver(DriverContract):
        @pytest.fixture
        def fleet(self, tmp_path):
            return MyFleet(tmp_path)

`MyFleet` is a `Fleet`: it opens logs, makes dispatchers with your engine, and knows the command of
a worker. The tests are coroutines: run them with pytest-asyncio in auto mode, or with anyio. Those
that take long have the marker `long`.
"""

from callboard.testing.driver_suite_deploys import DeployContract
from callboard.testing.driver_suite_driving import DrivingContract
from callboard.testing.driver_suite_faults import FaultContract, OutageContract
from callboard.testing.driver_suite_sharing import SharingContract
from callboard.testing.driver_suite_slots import SlotWaitContract


class DriverContract(
    DrivingContract,
    SharingContract,
    SlotWaitContract,
    FaultContract,
    OutageContract,
    DeployContract,
):
    """The whole contract. Subclass it and provide a `fleet` fixture."""
