"""As in tests/compiler: updates go block by block."""

from tests.compiler.conftest import block_by_block  # noqa: F401
