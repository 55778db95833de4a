"""Picks places to read as a stranger would: `python3 tests/words/places.py 20 --seed 7`.

Each place is a function of at least ten lines. A function of forty lines is picked four times as often as
one of ten: it has four times as much in it that may be unclear. Read each place with nothing but its file
and docs/glossary.md at hand. If you cannot say what the function does, why it is needed and what each line
is for, write its comments anew. The same seed picks the same places as long as the code is the same, so
that a second reader can look at them.
"""

import argparse
import random

from measure import ROOT, functions, production

SHORTEST = 10


def places():
    """Every function that is worth a look: its length, and where it is."""
    for file in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        if file.name == "tests.rs":
            continue
        for name, start, body in functions(production(file.read_text(encoding="utf-8"))):
            if len(body) >= SHORTEST:
                yield len(body), f"{file.relative_to(ROOT)}:{start} {name}, {len(body)} lines"


def pick(count, seed):
    """`count` different places, each drawn with chances in proportion to its length."""
    generator = random.Random(seed)
    left = list(places())
    for _ in range(min(count, len(left))):
        [index] = generator.choices(range(len(left)), weights=[length for length, _ in left])
        yield left.pop(index)[1]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("count", type=int, nargs="?", default=20)
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    print("\n".join(sorted(pick(chosen.count, chosen.seed))))


if __name__ == "__main__":
    main()
