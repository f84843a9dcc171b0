"""Puts the examples into the package when it is built, where `gendsl demo` finds them."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

EXAMPLES = Path(__file__).parent / "examples"


class BuildWithExamples(build_py):
    """Builds the package with a copy of `examples` in it, as `gendsl/demos`.

    An editable installation runs them from where they are.
    """

    def run(self):
        super().run()
        if not self.editable_mode:
            for source in self.examples():
                target = self.place(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def examples(self):
        """The files of the examples, with their data."""
        return sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("data/*.csv")])

    def place(self, source):
        """Where a file of the examples goes."""
        return Path(self.build_lib, "gendsl", "demos", source.relative_to(EXAMPLES))

    def get_outputs(self, include_bytecode=True):
        built = super().get_outputs(include_bytecode)
        return built if self.editable_mode else [*built, *map(str, map(self.place, self.examples()))]

    def get_source_files(self):
        return [*super().get_source_files(), *(str(p.relative_to(EXAMPLES.parent)) for p in self.examples())]


setup(cmdclass={"build_py": BuildWithExamples})
