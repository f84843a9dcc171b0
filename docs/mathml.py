"""A hook of MkDocs: formulas become MathML, which browsers show without a script from another site."""

from __future__ import annotations

import html as entities
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
PRIME = re.compile(r"<msup>(<mi>\w+</mi>)<mi>&#x02032;</mi></msup>")
"""A prime made small and raised; the sign is both already, in fonts without mathematics."""


def on_page_content(html: str, **_: Any) -> str:
    """The page with its formulas as MathML."""

    def as_mathml(formula: re.Match[str]) -> str:
        display = "inline" if formula[1] == "span" else "block"
        converted = str(convert(entities.unescape(formula[2]).strip(), display=display))
        return PRIME.sub(r'<mrow>\1<mo lspace="0" rspace="0">′</mo></mrow>', converted)

    return FORMULA.sub(as_mathml, html)
