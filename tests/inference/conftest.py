"""On which runtimes the tests of chains of closed kernels run."""

import pytest

from gendsl.compiler.llvm.native import available
from tests.inference.forms import FORMS


@pytest.fixture(params=FORMS)
def form(request):
    """A runtime on which all chains of closed kernels run in one of the forms that their text has."""
    if request.param == "native" and available() is not None:
        pytest.skip("there is no LLVM here")
    return request.param
