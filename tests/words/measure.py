"""Measures how well the words of the project serve a reader: `python3 tests/words/measure.py`.

For every crate it prints how many lines of code have a comment, how many functions of 25 lines and more
have none inside, how many closures have a name, and how many of those are inside functions of 25 lines and
more; for every page how many lines of prose are wider than 100 columns. `--list` names the functions, the
closures and the lines. Numbers do not say whether a comment is understood: `tests/words/places.py` picks
functions at random for a reader to try.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONG = 25
COLUMNS = 100
FUNCTION = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe |extern \"C\" )*fn (\w+)")
TESTS = re.compile(r"#\[cfg\((?:all\()?test\b")
CLOSURE = re.compile(r"^\s*let (?:mut )?(\w+)(?:: [^=]+)? =\s+(?:move )?\|")  # also where it is wrapped behind `=`


def production(text):
    """The lines of a source file before its tests, which are code under `cfg(test)` or `cfg(all(test, …))`."""
    return TESTS.split(text, maxsplit=1)[0].splitlines()


def functions(lines):
    """Name, first line and lines of every function, found by the indentation of its closing brace."""
    for start, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match or line.rstrip().endswith(";"):
            continue
        indent = len(line) - len(line.lstrip())
        closing = " " * indent + "}"
        for end in range(start, len(lines)):
            if lines[end] == closing or (end == start and line.rstrip().endswith("}")):
                yield match[1], start + 1, lines[start : end + 1]
                break


def is_comment(line):
    return line.lstrip().startswith("//")


def measure_crate(crate, listing):
    code = comments = closures = long = silent = 0
    inside = set()  # places of named closures in long functions; a nested function counts its closures once
    for file in sorted((crate / "src").rglob("*.rs")):
        if file.name == "tests.rs":
            continue
        lines = production(file.read_text())
        code += sum(1 for line in lines if line.strip() and not is_comment(line))
        comments += sum(1 for line in lines if is_comment(line) and not line.lstrip().startswith(("///", "//!")))
        closures += sum(1 for _ in named_closures(lines))
        for name, start, body in functions(lines):
            if len(body) >= LONG:
                long += 1
                if not any("//" in line for line in body[1:]):
                    silent += 1
                    listing.append(f"{file.relative_to(ROOT)}:{start} {name}, {len(body)} lines, no comment")
                inside.update(closures_inside(file.relative_to(ROOT), start, body))
    listing.extend(f"{path}:{line} closure {name}" for path, line, name in sorted(inside))
    return code, comments, closures, long, silent, len(inside)


def named_closures(lines):
    """Position and name of every closure that is bound to a name: `let is_odd = |n| n % 2 == 1;`. Closures without a
    name, as in `numbers.filter(|n| n % 2 == 1)`, are not counted: a reader meets them where they are used."""
    for position, line in enumerate(lines):
        if match := CLOSURE.match("\n".join([line, *lines[position + 1 : position + 2]])):
            yield position, match[1]


def closures_inside(path, start, body):
    """Path, line and name of every closure with a name in a function that begins at the line `start`."""
    for position, name in named_closures(body):
        yield path, start + position, name


def prose(text):
    """The numbered lines of a page that are neither code nor table."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.lstrip().startswith(("|", "<", "![", "[")):
            yield number, line


def measure_pages(listing):
    wide = total = 0
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]):
        if page.name == "cli.md":
            continue  # generated from the help of the command line
        for number, line in prose(page.read_text()):
            total += bool(line.strip())
            if len(line) > COLUMNS:
                wide += 1
                listing.append(f"{page.relative_to(ROOT)}:{number} {len(line)} columns")
    return wide, total


def main():
    listing = []
    print(f"{'crate':20} {'code':>7} {'comments':>9} {'1 in':>6} {'long fns':>9} {'silent':>7} {'closures/1000':>14} {'in long fns':>12}")
    sums = [0] * 6
    for crate in sorted(ROOT.glob("crates/*")):
        row = measure_crate(crate, listing)
        sums = [a + b for a, b in zip(sums, row)]
        print_row(crate.name, row)
    print_row("all", sums)
    wide, total = measure_pages(listing)
    print(f"\n{wide} of {total} lines of prose are wider than {COLUMNS} columns")
    if "--list" in sys.argv:
        print("\n".join(listing))


def print_row(name, row):
    code, comments, closures, long, silent, inside = row
    share = f"{100 * silent / long:.0f} %" if long else "-"
    ratio = f"{code / comments:.0f}" if comments else "-"
    density = f"{1000 * closures / max(code, 1):.1f}"
    print(f"{name:20} {code:7} {comments:9} {ratio:>6} {long:9} {share:>7} {density:>14} {inside:12}")


if __name__ == "__main__":
    main()
