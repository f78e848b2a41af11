"""The installed versions of the packages named on the command line, as JSON."""

import json
import sys
from importlib import metadata

print(json.dumps({name: metadata.version(name) for name in sys.argv[1:]}))
