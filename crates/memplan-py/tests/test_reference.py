"""docs/python-api.md is what the docstrings say; MEMPLAN_BLESS=1 writes it anew."""

import inspect
import os
import pathlib
import re
import textwrap

import memplan
import memplan.executorch
import memplan.fx
import memplan.inductor
import memplan.tinygrad
import memplan.torch

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python-api.md"

HEAD = """# Python reference

Generated from the package; see [python.md](python.md) for the tutorial.
"""


def signature(thing, name):
    """A signature as people write it: no self, no quotes around annotations."""
    text = f"{name}{inspect.signature(thing)}".replace("(self, ", "(").replace("(self)", "()")
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)


def members(cls):
    """Public methods and properties of a class itself, in the order of its text."""
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield name, name, inspect.getdoc(member)
        elif isinstance(member, (classmethod, staticmethod)):
            yield name, signature(getattr(cls, name), name), inspect.getdoc(member)
        elif inspect.isfunction(member):
            yield name, signature(member, name), inspect.getdoc(member)


def wrapped(words, indent=""):
    """Lines of at most 100 columns. Code stays on one line where it is short enough for that."""
    def joined(code):
        return code[0].replace(" ", "\0") if len(code[0]) <= 82 else code[0]

    whole = re.sub(r"`[^`]+`", joined, " ".join(words.split()))
    lines = textwrap.fill(whole, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ")


def markdown(doc):
    """A docstring as Markdown: plain backticks, examples in fences, paragraphs wrapped."""
    doc = re.sub(r":(?:class|meth|func):`~?([^`]*)`", r"`\1`", doc).replace("``", "`")
    paragraphs = []
    for paragraph in doc.split("\n\n"):
        if paragraph.startswith(">>> "):
            paragraphs.append(f"```pycon\n{paragraph}\n```")
        elif paragraph.startswith(("- ", "    ")):
            paragraphs.append(paragraph)
        else:
            paragraphs.append(wrapped(paragraph))
    return "\n\n".join(paragraphs)


def entry(name, thing):
    text = f"\n## `{name}`\n\n"
    if inspect.isclass(thing) and issubclass(thing, Exception):
        bases = ", ".join(f"`{base.__name__}`" for base in thing.__bases__)
        return text + markdown(f"{inspect.getdoc(thing)} An exception; based on {bases}.") + "\n"
    text += f"```text\n{signature(thing, name)}\n```\n\n{markdown(inspect.getdoc(thing))}\n"
    if inspect.isclass(thing):
        rows = [(shown, markdown(doc).replace("\n", " ")) for _, shown, doc in members(thing) if doc]
        text += "".join("\n" + wrapped(f"- `{shown}`: {doc}", "  ") for shown, doc in rows)
        text += "\n" if rows else ""
    return text


def page():
    things = [(name, getattr(memplan, name)) for name in memplan.__all__]
    things.append(("executorch.algorithm", memplan.executorch.algorithm))
    for module in (memplan.tinygrad, memplan.fx, memplan.inductor, memplan.torch):
        short = module.__name__.removeprefix("memplan.")
        things += [(f"{short}.{name}", getattr(module, name)) for name in module.__all__]
    return HEAD + "".join(entry(name, thing) for name, thing in things)


def test_everything_public_is_documented():
    for name in memplan.__all__:
        assert inspect.getdoc(getattr(memplan, name)), name


def test_the_reference_is_up_to_date():
    if os.environ.get("MEMPLAN_BLESS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), "run with MEMPLAN_BLESS=1"
