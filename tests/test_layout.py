"""The layout: imports run one way, and the names that users rely on exist."""

import ast
import functools
import inspect
from pathlib import Path

import pytest

import gendsl
import gendsl.inference
from gendsl.distributions import Distribution

ORDER = [
    "errors", "address", "choices", "selection", "supports", "distributions", "interface", "lang", "compiler",
    "runtime", "transforms", "inference", "testing", "viz", "commands", "__main__",
]  # fmt: skip
COMPILER = ["hir", "front", "passes", "python", "programs", "steps", "llvm", "run"]
"""The packages of the compiler: each imports only those before it."""
PACKAGE = Path(gendsl.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(module):
    """The name in ORDER of a dotted module name; None for the package itself and for other libraries."""
    parts = module.split(".")
    return parts[1] if parts[0] == "gendsl" and len(parts) > 1 else None


@functools.cache
def parsed(path):
    return ast.parse(path.read_text())


def imported(path):
    """The modules of gendsl that a file imports, anywhere in it, with the lines."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            if node.module == "gendsl":
                for alias in node.names:
                    yield f"gendsl.{alias.name}", node.lineno
            elif node.module is not None:
                yield node.module, node.lineno


def wrong_imports(paths, package=PACKAGE):
    wrong = []
    for path in paths:
        own = path.relative_to(package).with_suffix("").parts[0]
        if own == "__init__":
            continue
        for module, line in imported(path):
            part = part_of(module)
            if module == "gendsl" or (part is not None and ORDER.index(part) > ORDER.index(own)):
                wrong.append(f"{path.relative_to(package)}:{line} imports {module}")
    return wrong


def wrong_imports_of_the_compiler(paths, compiler=PACKAGE / "compiler"):
    wrong = []
    for path in paths:
        own = path.relative_to(compiler).parts[0]
        if own not in COMPILER:
            continue
        later = {f"gendsl.compiler.{name}" for name in COMPILER[COMPILER.index(own) + 1 :]}
        for module, line in imported(path):
            if ".".join(module.split(".")[:3]) in later:
                wrong.append(f"{path.relative_to(compiler)}:{line} imports {module}")
    return wrong


def test_the_compiler_is_packages_that_import_one_way():
    compiler = PACKAGE / "compiler"
    assert {path.name for path in compiler.iterdir() if (path / "__init__.py").exists()} == set(COMPILER)
    assert wrong_imports_of_the_compiler(sorted(compiler.rglob("*.py"))) == []


def test_an_import_against_the_order_of_the_compiler_is_found(tmp_path):
    module = tmp_path / "passes" / "planted.py"
    module.parent.mkdir()
    module.write_text("from gendsl.compiler.hir import types\nfrom gendsl.compiler.llvm.writer import Work\n")
    assert wrong_imports_of_the_compiler([module], tmp_path) == [
        f"{Path('passes', 'planted.py')}:2 imports gendsl.compiler.llvm.writer"
    ]


def named(package, folder):
    """The modules of a package in a folder, by their names."""
    parts = {path: path.relative_to(folder).with_suffix("").parts for path in sorted(folder.rglob("*.py"))}
    return {".".join([package, *own]).removesuffix(".__init__"): path for path, own in parts.items()}


def within(modules):
    """Which modules each of some imports, also for types and in functions: module -> their (name, line)."""
    found = {}
    for module, path in modules.items():
        found[module] = own = []
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                own += [(alias.name, node.lineno) for alias in node.names if alias.name in modules]
            elif isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                names = {name if name in modules else node.module for name in names}
                own += [(name, node.lineno) for name in sorted(names) if name in modules]
    return found


def circles(modules):
    """The imports between some modules that go round in circles."""
    imports = within(modules)

    def leads_to(start, end):
        seen, to_see = {start}, [start]
        while to_see and end not in seen:
            new = {other for other, _ in imports[to_see.pop()]} - seen
            seen |= new
            to_see += new
        return end in seen

    return [f"{name}:{line} imports {other}" for name, own in imports.items() for other, line in own
            if leads_to(other, name)]  # fmt: skip


def test_modules_import_one_way():
    """Within a package, too; but for the runtime's."""
    modules = named("gendsl", PACKAGE)
    others = {name: path for name, path in modules.items() if not name.startswith("gendsl.runtime.")}
    assert circles(others) == []


def test_a_circle_of_imports_is_found_in_functions_and_for_types_too(tmp_path):
    for name, text in {
        "top": "from planted import first\n",
        "first": "from planted.second import f\nfrom planted import third\n",
        "second": "def g():\n    from planted import first, last\n",
        "third": "if TYPE_CHECKING:\n    from planted.first import A\n",
        "last": "import planted.below.least\n",
        "below/least": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    assert circles(named("planted", tmp_path)) == [
        "planted.first:1 imports planted.second", "planted.first:2 imports planted.third",
        "planted.second:2 imports planted.first", "planted.third:2 imports planted.first",
    ]  # fmt: skip


def test_the_index_of_the_front_end_names_every_module():
    front = PACKAGE / "compiler" / "front"
    index = ast.get_docstring(parsed(front / "__init__.py"))
    assert [path.stem for path in front.glob("*.py") if f"`{path.stem}`" not in index] == ["__init__"]


def test_every_module_is_in_the_order():
    known = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES}
    assert known - {"__init__"} <= set(ORDER)


def test_imports_run_one_way():
    assert wrong_imports(MODULES) == []


@pytest.mark.parametrize("statement", ["from gendsl.runtime.trace import ReferenceTrace", "import gendsl",
                                       "from gendsl import inference"])  # fmt: skip
def test_an_import_against_the_order_is_found(tmp_path, statement):
    module = tmp_path / "choices" / "planted.py"
    module.parent.mkdir()
    module.write_text(f"def f():\n    {statement}\n")
    (found,) = wrong_imports([module], tmp_path)
    assert found.startswith(f"{Path('choices', 'planted.py')}:2 imports gendsl")


FORMS_OF_PROPOSALS = {"Edit", "Image", "LocalDensity", "LocalRedraw", "Updated"}
"""What the runtimes make of a proposed trace; kernels get a `Proposal` of each."""


def forms_of_proposals(path):
    """The names of forms of proposals that a file imports, with the lines; the compiler has others."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and not node.module.startswith("gendsl.compiler"):
            names = FORMS_OF_PROPOSALS.intersection(alias.name for alias in node.names)
            yield from (f"{path.name}:{node.lineno} imports {name}" for name in sorted(names))


def test_kernels_do_not_tell_the_forms_of_proposals_apart():
    found = {path.name: list(forms_of_proposals(path)) for path in (PACKAGE / "inference").rglob("*.py")}
    assert found.pop("proposal.py") != []
    assert [wrong for several in found.values() for wrong in several] == []


def test_a_kernel_that_imports_a_form_of_proposals_is_found(tmp_path):
    module = tmp_path / "planted.py"
    module.write_text("from gendsl.runtime.trace import Edit, ReferenceTrace\n")
    assert list(forms_of_proposals(module)) == ["planted.py:1 imports Edit"]


def test_modules_are_short_or_say_why():
    """Past 500 lines a module's docstring gives the reason."""
    for path in MODULES:
        if path.read_text().count("\n") > 500:
            docstring = ast.get_docstring(parsed(path)) or ""
            assert "lines" in docstring or "one module" in docstring, f"{path} is long, and doesn't say why"


def test_every_module_has_a_docstring():
    for path in MODULES:
        assert ast.get_docstring(parsed(path)), path


CORE = [
    "gen", "transform", "read", "write", "copy", "discrete", "continuous", "pair", "choicemap", "select",
    "Distribution", "GenerativeFunction", "Trace", "ChoiceMap", "Selection", "GenDSLError",
    "involutive_mcmc", "sample", "check_involutive",
]  # fmt: skip
DISTRIBUTIONS = [
    "bernoulli", "beta", "beta_uniform", "binom", "categorical", "cauchy", "dirichlet", "exponential",
    "factor", "flat", "gamma", "geometric", "half_normal", "half_cauchy", "half_student_t", "inv_gamma",
    "laplace", "lkj", "log_normal", "multinomial", "mvnormal", "neg_binom", "normal", "piecewise_uniform",
    "poisson", "student_t", "truncated_normal", "uniform", "uniform_discrete", "von_mises", "wishart",
    "inv_wishart", "mixture_of_normals", "mixture", "product", "iid", "ordered",
]  # fmt: skip


@pytest.mark.parametrize("name", CORE + DISTRIBUTIONS)
def test_public_names(name):
    assert name in gendsl.__all__
    assert hasattr(gendsl, name)


def test_everything_exported_exists():
    for module in (gendsl, gendsl.inference, gendsl.distributions):
        assert len(set(module.__all__)) == len(module.__all__)
        for name in module.__all__:
            assert hasattr(module, name), name


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_are_distributions(name):
    family = getattr(gendsl, name)
    assert callable(family)
    if inspect.isclass(family):
        assert issubclass(family, Distribution)


SIGNATURES = {
    "simulate": ["self", "args", "*rng"],
    "generate": ["self", "args", "observations", "*init", "*rng"],
    "assess": ["self", "args", "choices"],
    "propose": ["self", "args", "*rng"],
    "explain": ["self"],
}
TRACE_SIGNATURES = {
    "update": ["self", "choices", "*args", "*rng"],
    "regenerate": ["self", "selection", "*args", "*rng"],
    "project": ["self", "selection"],
    "gradients": ["self", "selection"],
}


def shape(function):
    """The names of the parameters, those that are keyword-only with a star."""
    return [
        ("*" if p.kind is p.KEYWORD_ONLY else "") + name
        for name, p in inspect.signature(function).parameters.items()
    ]


def test_signatures_of_the_contract():
    for owner, expected in ((gendsl.GenerativeFunction, SIGNATURES), (gendsl.Trace, TRACE_SIGNATURES)):
        for name, parameters in expected.items():
            assert shape(getattr(owner, name)) == parameters, name
    assert shape(gendsl.involutive_mcmc) == ["trace", "q", "q_args", "f", "*check", "*rng"]
    assert shape(gendsl.sample)[:3] == ["kernel", "trace", "draws"]
    assert all(name.startswith("*") for name in shape(gendsl.sample)[3:])


@gendsl.gen
def model():
    x = ~gendsl.normal(0, 1)


def test_results_are_named():
    trace = model.simulate(rng=1)
    assert model.generate()._fields == ("trace", "log_weight")
    assert model.assess((), {"x": 1.0})._fields == ("log_prob", "retval")
    assert model.propose()._fields == ("choices", "log_prob", "retval")
    assert trace.update({"x": 1.0})._fields == ("trace", "log_weight", "discard")
    assert trace.regenerate(gendsl.select("x"))._fields == ("trace", "log_weight")
    assert isinstance(trace.project(gendsl.select("x")), float)
    assert isinstance(trace.gradients(gendsl.select("x")), gendsl.ChoiceMap)
    for name in ("choices", "args", "retval", "log_prob", "gen_fn", "observed"):
        assert hasattr(trace, name)
    assert isinstance(model.source, str) and isinstance(model.explain(), str)


def test_the_info_of_a_move():
    @gendsl.transform
    def flip(model_in, *, model_out):
        gendsl.write(model_out["x"], -gendsl.read(model_in["x"]))

    _, info = gendsl.involutive_mcmc(model.simulate(rng=1), None, (), flip, check=True, rng=1)
    assert (info.accepted, info.log_accept_ratio, info.log_abs_det) == (True, 0.0, 0.0)


def test_kernels_of_the_inference_package():
    for name in ("mh", "involutive", "cycle", "mixture", "repeat", "sample", "involutive_mcmc"):
        assert name in gendsl.inference.__all__
