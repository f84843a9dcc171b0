"""What choice maps print as."""

import html.parser

import numpy as np

from gendsl.choices import choicemap

EXAMPLE = {
    "k": 2,
    "mu": {0: 1.5, 1: np.float64(-0.25)},
    "left": {"right": {"done": True}, "a name": None},
    "w": np.array([0.25, 0.75]),
    ("z", ("t", 1)): "text",
}


def test_tree():
    assert str(choicemap(EXAMPLE)) == "\n".join(
        [
            "choicemap, 7 choices",
            "├── k: 2",
            "├── mu",
            "│   ├── 0: 1.5",
            "│   └── 1: -0.25",
            "├── left",
            "│   ├── right",
            "│   │   └── done: True",
            "│   └── 'a name': None",
            "├── w: array([0.25, 0.75])",
            "└── z",
            "    └── ('t', 1): 'text'",
        ]
    )


def test_trees_of_few_choices():
    assert str(choicemap()) == "choicemap, no choices"
    assert str(choicemap({"x": 1})) == "choicemap, 1 choice\n└── x: 1"


def test_text_and_number_components_look_different():
    assert str(choicemap({("x", 0): 1, ("x", "0"): 2})).splitlines()[2:] == ["    ├── 0: 1", "    └── '0': 2"]
    assert str(choicemap({("x", np.int64(3)): 1})).splitlines()[2:] == ["    └── 3: 1"]


def test_repr_is_one_line_that_evaluates_to_the_map():
    cm = choicemap({"k": 2, ("mu", 0): 1.5, ("mu", 1): None, "s": "a\nb"})
    assert repr(cm) == "choicemap({'k': 2, ('mu', 0): 1.5, ('mu', 1): None, 's': 'a\\nb'})"
    assert eval(repr(cm)) == cm
    assert repr(choicemap()) == "choicemap({})"
    assert "\n" not in repr(choicemap({"x": np.zeros((2, 2)), "y": np.zeros(100)}))


def test_many_siblings_are_elided():
    shown = str(choicemap({("x", i): i for i in range(93)})).splitlines()
    assert shown[0] == "choicemap, 93 choices"
    assert shown[1] == "└── x"
    assert shown[2:12] == [f"    ├── {i}: {i}" for i in range(10)]
    assert shown[12:] == ["    ├── … 80 more", "    ├── 90: 90", "    ├── 91: 91", "    └── 92: 92"]
    one_line = repr(choicemap({i: i for i in range(93)}))
    assert one_line == (
        f"choicemap({{{', '.join(f'{i}: {i}' for i in range(10))}, … 80 more, 90: 90, 91: 91, 92: 92}})"
    )


def test_forty_siblings_are_all_shown():
    assert len(str(choicemap({i: i for i in range(40)})).splitlines()) == 41
    assert len(str(choicemap({i: i for i in range(41)})).splitlines()) == 15
    assert "…" not in repr(choicemap({i: i for i in range(40)}))
    assert "… 28 more" in repr(choicemap({i: i for i in range(41)}))


def test_namespaces_are_elided_too():
    shown = str(choicemap({(f"n{i}", j): 0 for i in range(50) for j in range(2)})).splitlines()
    assert len(shown) == 1 + 13 * 3 + 1
    assert "├── … 37 more" in shown


def line(value):
    return str(choicemap({"x": value})).splitlines()[1].removeprefix("└── x: ")


def test_values_are_summarised():
    assert line(np.arange(8)) == "array([0, 1, 2, 3, 4, 5, 6, 7])"
    assert line(np.array([[1.0, 2.0], [3.0, 4.0]])) == "array([[1., 2.], [3., 4.]])"
    assert line(np.arange(100.0)) == "float64 array, 100: 0, 1, 2, …, 99"
    assert line(np.arange(12).reshape(3, 4)) == f"{np.arange(1).dtype} array, 3×4: 0, 1, 2, …, 11"
    assert line(np.full(9, 1 / 3)) == "float64 array, 9: 0.333333, 0.333333, 0.333333, …, 0.333333"
    assert line(np.array(["a"] * 9)) == "<U1 array, 9"
    assert line(np.array([])) == "array([])"
    assert line(list(range(100))) == "list of 100: 0, 1, 2, …, 99"
    assert line(tuple("abcdefghi")) == "tuple of 9: 'a', 'b', 'c', …, 'i'"
    assert line([1, 2]) == "[1, 2]"
    assert line(np.float64(0.5)) == "0.5"
    assert line(np.int8(5)) == "5"
    assert line("a" * 200) == "'" + "a" * 70 + "…"
    assert len(line(np.arange(8) + 0.123456789)) <= 72


def test_a_value_that_is_a_dict_is_no_namespace():
    class Odd:
        def __repr__(self):
            return "two\n   lines"

    assert line(Odd()) == "two lines"
    cm = type(choicemap())._from_flat({("x",): {"a": 1}})
    assert str(cm) == "choicemap, 1 choice\n└── x: {'a': 1}"


class Balance(html.parser.HTMLParser):
    """Checks that tags nest and collects the text."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(cm):
    balance = Balance()
    balance.feed(cm._repr_html_())
    balance.close()
    assert not balance.open
    return balance


def test_html_is_the_same_tree():
    page = parsed(choicemap(EXAMPLE))
    assert page.text == [
        "choicemap, 7 choices",
        "k: 2",
        "mu",
        " (2 choices)",
        "0: 1.5",
        "1: -0.25",
        "left",
        " (2 choices)",
        "right",
        " (1 choice)",
        "done: True",
        "'a name': None",
        "w: array([0.25, 0.75])",
        "z",
        " (1 choice)",
        "('t', 1): 'text'",
    ]
    assert page.tags == {"div", "ul", "li", "details", "summary", "code"}


def test_html_is_escaped():
    cm = choicemap({"<b>x</b>": "<script>alert('&')</script>", ("<i>", "<u>"): 1})
    assert parsed(cm).tags == {"div", "ul", "li", "details", "summary", "code"}
    assert "<script>" not in cm._repr_html_()
    assert "&lt;script&gt;" in cm._repr_html_()
    assert "&amp;" in cm._repr_html_()


def test_html_of_empty_wide_and_deep_maps():
    assert parsed(choicemap()).text == ["choicemap, no choices"]
    assert "… 80 more" in parsed(choicemap({i: i for i in range(93)})).text
    deep = choicemap({("n",) * 2000: 1})
    assert parsed(deep).text[-2:] == ["n", " (1 choice)"]
    assert len(str(deep).splitlines()) == 31
