"""Machine code from LLVM IR, by llvmlite."""

from __future__ import annotations

import ctypes
import functools
import re
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from gendsl.compiler.llvm import native_cache, native_draws, native_linear, ufunc_loops
from gendsl.compiler.llvm.native_linear import one_thread, pointer_in
from gendsl.compiler.llvm.text import ENTRY

_LOCK = threading.Lock()
_LAPACK, _PYTHON = "gendsl_lapack_", "gendsl_python_"
_OUTSIDE = re.compile(r"@(gendsl_(?:lapack|python|random|special|ufunc)_\w+)[(,]")
_REVISION = 3
"""Of what is done to a text here: machine code of another revision is not used."""


@functools.cache
def available() -> str | None:
    """Why there is no machine code here; None where there is."""
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return "llvmlite is not installed"
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.check_jit_execution()
    except (OSError, RuntimeError) as error:
        return f"LLVM can't make code here: {error}"
    return None


def _machine() -> Any:
    """A description of this processor; an engine owns the one that it is given."""
    import llvmlite.binding as llvm

    reason = available()
    if reason is not None:
        raise RuntimeError(reason)
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=1)


def _optimise(module: Any, machine: Any) -> None:
    """Make a module faster: functions are inlined where the text says so, then each is worked on once.

    What a kernel does once in a step, and what runs in lanes, gains a few per cent by what comes after
    the first passes; those take a third of the time. LLVM's own work on functions is left for those with
    loops in order, which are marked as hot. Its pipeline for modules takes twice as long, for steps that are
    no faster: it decides what to inline, and works on all functions once more after that.

    Functions that are marked as brief run once in a step. Their machine code is made without selecting and
    scheduling instructions over whole blocks: so steps take some 3 % longer, and LLVM half the time.
    """
    import llvmlite.binding as llvm

    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    whole = llvm.create_new_module_pass_manager()
    whole.add_sroa_pass()
    whole.add_ipsccp_pass()
    whole.add_always_inliner_pass()
    whole.add_global_dead_code_eliminate_pass()
    whole.add_rpo_function_attrs_pass()
    whole.add_dead_arg_elimination_pass()
    whole.add_post_order_function_attributes_pass()
    whole.run(module, builder)
    hot, short = builder.getFunctionPassManager(), llvm.create_new_function_pass_manager()
    brief = llvm.create_new_function_pass_manager()
    for passes in (short, brief):
        passes.add_simplify_cfg_pass()
        passes.add_sroa_pass()
    short.add_instruction_combine_pass()
    short.add_simplify_cfg_pass()
    for function in module.functions:
        if not function.is_declaration:
            marks = b" ".join(function.attributes).split()
            if b'"brief"' in marks:
                brief.run(function, builder)
                function.add_function_attribute("noinline")
                function.add_function_attribute("optnone")
            else:
                (hot if b"hot" in marks else short).run(function, builder)


@functools.cache
def _symbol(name: str) -> None:
    """Make a function of scipy.special known to LLVM."""
    import llvmlite.binding as llvm
    import scipy.special.cython_special as special

    for key, capsule in special.__pyx_capi__.items():
        pointer, signature = pointer_in(capsule)
        plain = re.sub(r"^__pyx_fuse_\d+", "", key)
        if plain == name and re.match(rb"double \((double, )+int __pyx_skip_dispatch\)", signature):
            llvm.add_symbol(f"gendsl_special_{name}", pointer)
            return
    raise LookupError(f"scipy.special has no {name} for Cython")


class Code(NamedTuple):
    """Machine code.

    Attributes:
        objects: object files, of a text and of what it shares with others.
        outside: the functions of others that these call.
        was_kept: whether that of the text was made before, and kept.
    """

    objects: tuple[bytes, ...]
    outside: frozenset[str]
    was_kept: bool


def code_of(text: str, *shared: str) -> Code:
    """A text as machine code, with what it shares with others."""
    with _LOCK:
        code, was_kept = _code_of(text)
        return Code((code, *map(_shared_code, shared)), frozenset(_OUTSIDE.findall(text)), was_kept)


class Native:
    """Machine code that can be run.

    Attributes:
        entry: the function that Python calls, with the address of the context; it returns a status.
        address: where that lies.
        was_kept: whether it was made before, and kept.
    """

    def __init__(self, code: Code) -> None:
        import llvmlite.binding as llvm

        self.was_kept = code.was_kept
        with _LOCK:  # LLVM's own state
            for name in code.outside:
                _make_known(name)
            self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
            for one in code.objects:
                self.engine.add_object_file(llvm.ObjectFileRef.from_data(one))
            self.engine.finalize_object()
            self.address: int = self.engine.get_function_address(ENTRY)
        locked = any(name.startswith(_PYTHON) for name in code.outside)
        function = (ctypes.PYFUNCTYPE if locked else ctypes.CFUNCTYPE)(ctypes.c_int, ctypes.c_void_p)
        entry: Callable[[int], int] = function(self.address)
        linear = any(name.startswith(_LAPACK) for name in code.outside)
        self.entry = one_thread()(entry) if linear else entry


def _make_known(name: str) -> None:
    """Make a function of others known to LLVM."""
    import llvmlite.binding as llvm

    kind, of = name.removeprefix("gendsl_").split("_", 1)
    if kind == "special":
        _symbol(of)
    elif kind == "python":
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, of), ctypes.c_void_p).value)
    elif kind == "ufunc":
        llvm.add_symbol(name, ufunc_loops.address(of))
    else:
        llvm.add_symbol(name, (native_draws if kind == "random" else native_linear).address(of))


def _code_of(text: str) -> tuple[bytes, bool]:
    """A text as an object file, and whether it was kept."""
    key = native_cache.key_of(text, made_by())
    kept = native_cache.load(key)
    if kept is not None:
        return kept, True
    code = _compiled(text, _machine())
    native_cache.store(key, code)
    return code, False


@functools.cache
def _shared_code(text: str) -> bytes:
    """What texts share as an object file, made once by a process."""
    return _code_of(text)[0]


@functools.cache
def made_by() -> str:
    """What makes machine code of a text: versions, the processor, and what this module does."""
    import llvmlite
    import llvmlite.binding as llvm

    processor = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    versions = llvmlite.__version__, *llvm.llvm_version_info
    return " ".join(map(str, (_REVISION, *versions, llvm.get_default_triple(), *processor)))


def _compiled(text: str, machine: Any) -> bytes:
    """A text as an object file."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    module.verify()
    _optimise(module, machine)
    code: bytes = machine.emit_object(module)
    return code
