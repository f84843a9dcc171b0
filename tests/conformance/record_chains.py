"""Write `recorded_chains.json` anew.

    python tests/conformance/record_chains.py [NAME ...]

Without names it records all chains; with names it records these, and leaves the others as they are. The
chains in the file were made by the library at commit 12c1e2d. Record a chain anew only where its example or
model is changed itself. A change of the library that changes a chain is a mistake: a seed gives the same
chain for ever.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from tests.conformance.chains import CHAINS, RECORD, written


def main(names: list[str]) -> None:
    """Record chains."""
    record = json.loads(RECORD.read_text()) if names else {}
    for name in names or CHAINS:
        record[name] = written(CHAINS[name]())
    lines = [f"{json.dumps(name)}: {json.dumps(record[name], separators=(',', ':'))}" for name in CHAINS]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
