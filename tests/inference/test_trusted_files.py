"""Files from elsewhere run no code: nothing that they name is imported or looked up, unless trusted."""

import contextlib
import json
import shutil
import sys

import pytest

from gendsl import choicemap, gen, load_run, load_trace, normal, read_choices, resume, sample, select
from gendsl.errors import FileFormatError, UntrustedFileError, ValueTypeError
from gendsl.inference import mh
from gendsl.inference.running import folder as folders
from gendsl.runtime import files
from gendsl.runtime.saving import TRACE

EVIL = """
import pathlib
from gendsl import gen, normal, select
from gendsl.inference import mh
pathlib.Path(__file__).with_suffix(".ran").touch()

@gen
def model():
    x = ~normal(0, 1)

@gen
def part():
    y = ~normal(0, 1)

def double(trace):
    return 2 * trace["x"]

kernel = mh(select("x"))
"""


@gen
def model():
    x = ~normal(0, 1)


@gen
def higher(program):
    x = ~normal(0, 1)


@gen
def part():
    y = ~normal(0, 1)


def double(trace):
    return 2 * trace["x"]


kernel = mh(select("x"))


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A module that can be imported, whose code leaves a mark when it runs."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "evil_by_name.py").write_text(EVIL)
    yield tmp_path / "evil_by_name.ran"
    sys.modules.pop("evil_by_name", None)


@contextlib.contextmanager
def imports_nothing(mark):
    modules, path = set(sys.modules), list(sys.path)
    yield
    assert not mark.exists() and set(sys.modules) <= modules | {"filelock"} and sys.path == path


def rewrite(path, kind, change, version):
    content = files.read_file(path, kind, [version]).content
    change(content)
    files.write_file(path, kind, content, version)


def renamed(path, kind, version):
    """Make a file name the evil module in place of this one, with a right checksum."""

    def change(content):
        text = json.dumps(content).replace(__name__, "evil_by_name")
        content.clear()
        content.update(json.loads(text))

    rewrite(path, kind, change, version)


# --- traces ------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    model.simulate(rng=1).save(tmp_path / "trace.json")
    return tmp_path / "trace.json"


def test_a_trace_file_imports_nothing(saved, evil):
    renamed(saved, TRACE, 1)
    with imports_nothing(evil), pytest.raises(UntrustedFileError) as caught:
        load_trace(saved)
    problem = f"{saved} is a trace of evil_by_name:model, and reading a file imports nothing"
    assert caught.value.problem == problem
    assert f"pass the program: load_trace('{saved}', model)" in caught.value.fix
    assert f"load_trace('{saved}', trust=True), which imports evil_by_name" in caught.value.fix
    with imports_nothing(evil):
        assert load_trace(saved, model)["x"] == model.simulate(rng=1)["x"]
    assert load_trace(saved, trust=True).gen_fn.__module__ == "evil_by_name" and evil.exists()


def test_what_is_loaded_is_not_looked_up_either(saved):
    with pytest.raises(UntrustedFileError, match=f"is a trace of {__name__}:model"):
        load_trace(saved)


def test_a_program_among_the_arguments_imports_nothing(tmp_path, evil):
    path = tmp_path / "trace.json"
    higher.simulate((part,), rng=1).save(path)
    renamed(path, TRACE, 1)
    with imports_nothing(evil):
        with pytest.raises(UntrustedFileError) as caught:
            load_trace(path, higher)
        assert f"{path}: the file names the program evil_by_name:part, and" in caught.value.problem
        assert "pass it, programs={'evil_by_name:part': ...}" in caught.value.fix
        assert load_trace(path, higher, programs={"evil_by_name:part": part}).args == (part,)
    assert load_trace(path, higher, trust=True).args[0].__module__ == "evil_by_name"


def test_the_choices_of_a_file_need_no_program(tmp_path, saved, evil):
    renamed(saved, TRACE, 1)
    with imports_nothing(evil):
        assert read_choices(saved) == choicemap({"x": model.simulate(rng=1)["x"]})
    higher.generate((part,), {"x": 0.5}, rng=1).trace.save(tmp_path / "other")
    assert read_choices(tmp_path / "other") == choicemap({"x": 0.5})
    (tmp_path / "other").write_text("{}")
    with pytest.raises(FileFormatError, match="is no file of the format 'gendsl trace'"):
        read_choices(tmp_path / "other")


# --- runs --------------------------------------------------------------------------------------------


def a_run(path, record="x", start=None):
    start = model.simulate(rng=1) if start is None else start
    return sample(kernel, start, 300, record=record, seed=1, checkpoint=path, progress=False)


def from_elsewhere(path):
    """A run's folder as somebody else may send it: it names a module, and says in which file that is."""
    shutil.copyfile(path.parent / "evil_by_name.py", path / "evil_by_name.py")
    renamed(path / "run.json", folders.RUN, 2)

    def change(content):
        content["files"] = {"evil_by_name": str(path / "evil_by_name.py")}

    rewrite(path / "run.json", folders.RUN, change, 2)
    return path


@pytest.mark.parametrize("record", ["x", {"it": double, "x": "x"}, double, None])
def test_a_folder_imports_nothing(tmp_path, evil, record):
    whole = a_run(tmp_path / "run", record)
    path = from_elsewhere(tmp_path / "run")
    mark = path / "evil_by_name.ran"
    shown = {"x": "", "None": ""}.get(str(record))
    if shown is None:
        shown = ", record={'it': double, 'x': 'x'}" if isinstance(record, dict) else ", record=double"
    with imports_nothing(evil), imports_nothing(mark):
        with pytest.raises(UntrustedFileError) as caught:
            resume(path)
        problem = caught.value.problem
        assert "only names the kernel evil_by_name:kernel, the model evil_by_name:model" in problem
        assert ("the function evil_by_name:double, which records" in problem) == bool(shown)
        assert f"resume('{path}', kernel, model{shown}); or, if you trust" in caught.value.fix
        assert f"resume('{path}', trust=True), which imports {path}/evil_by_name.py" in caught.value.fix
        if shown:
            with pytest.raises(UntrustedFileError, match="only names the function evil_by_name:double"):
                resume(path, kernel, model)
        assert len(resume(path, kernel, model, record=record)) == 300
        if record is None:
            with pytest.raises(UntrustedFileError, match="only names the model evil_by_name:model") as caught:
                load_run(path)
            assert f"load_run('{path}', model); or" in caught.value.fix
            assert len(load_run(path, model)) == len(load_run(path, programs={"evil_by_name:model": model}))
        else:
            read = load_run(path)
            assert len(read) == 300 and list(read.chains[0].rows) == list(whole.chains[0].rows)
    assert len(resume(path, trust=True)) == 300 and (evil.exists() or mark.exists())


def test_a_program_among_the_arguments_of_a_run_imports_nothing(tmp_path, evil):
    path = tmp_path / "run"
    whole = a_run(path, start=higher.simulate((part,), rng=1))
    renamed(path / "chain-0.start.json", folders.START, 2)
    named = {"evil_by_name:part": part}
    with imports_nothing(evil):
        with pytest.raises(UntrustedFileError, match=r"start.json: the file names the program evil_by_n"):
            resume(path, kernel, higher)
        assert resume(path, kernel, higher, programs=named).last.choices == whole.last.choices
        assert load_run(path, higher, programs=named).last.args == (part,)


def test_what_is_given_must_be_what_it_is_given_as(tmp_path):
    a_run(tmp_path / "run")
    for call in (
        lambda: resume(tmp_path / "run", kernel, kernel),
        lambda: load_run(tmp_path / "run", kernel),
        lambda: load_trace(tmp_path / "run", kernel),
    ):
        with pytest.raises(ValueTypeError, match=r"got model=<kernel mh select\('x'\)>"):
            call()


def test_a_link_in_a_folder_leads_to_no_file_of_the_user_s(tmp_path):
    """A chain that has made no step yet, whose draws are a link, would write to where it leads."""
    path = tmp_path / "run"
    a_run(path)
    (path / "chain-0.state.json").unlink()
    precious = tmp_path / "precious.txt"
    precious.write_text("of the user's")
    for name in ("chain-0.draws.jsonl", "chain-0.lock", "run.lock"):
        (path / name).unlink()
        (path / name).symlink_to(precious)
        with pytest.raises(OSError, match=r"symbolic link|Too many levels|symlink"):
            resume(path, kernel, model)
        assert precious.read_text() == "of the user's"
        (path / name).unlink()
