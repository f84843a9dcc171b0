"""Write the outputs in pages of the documentation anew: text blocks below Python blocks, and console blocks.

    python docs/outputs.py how-to/incremental.md tutorial/checks.md

Outputs that agree already stay as they are, with their `...`. Times, rates and lines of files become `...`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent

CHANGING = [
    (r"(?m) +$", ""),
    (r"where: \S+:\d+", "where: ..."),
    (r"\(\w+\.py:\d+\)", "(...)"),
    (r"[\d.]+ (ms|µs|s) each", "... each"),
    (r"draws( of \d+ chains)? in [\d.]+ s \([\d.]+/s\)", r"draws\1 in ... s (.../s)"),
]


def load_tests() -> Any:
    """The tests of the pages, which know how to run one."""
    spec = importlib.util.spec_from_file_location("test_docs", DOCS.parent / "tests" / "test_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def renewed(text: str, printed: dict[int, str], tests: Any) -> str:
    """A page with the outputs that its programs printed."""
    parts, last = [], 0
    for fence, before in tests.outputs(text):
        if not tests.agrees(fence["body"], printed[before]):
            output = printed[before].rstrip("\n") + "\n"
            for pattern, replacement in CHANGING:
                output = re.sub(pattern, replacement, output)
            parts.append(text[last : fence.start("body")] + output)
            last = fence.end("body")
    return "".join(parts) + text[last:]


def main() -> None:
    """Renew the pages that are named."""
    tests = load_tests()
    os.environ["COLUMNS"] = tests.COLUMNS
    for name in sys.argv[1:]:
        page = DOCS / name
        before = page.read_text(encoding="utf-8")
        new = before
        for _ in range(2):  # a longer output moves the programs below it, which may print their lines
            text = new
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                new = renewed(text, tests.run_page(name, text, Path(folder)), tests)
                os.chdir(DOCS)
        page.write_text(new, encoding="utf-8")
        print(f"{name}: {'unchanged' if new == before else 'changed'}")


if __name__ == "__main__":
    main()
