"""Picks places to read as a stranger would: `python3 tests/words/places.py 20 --seed 7`.

Each place is a function of at least eight lines, drawn with equal chances from all crates. Read it with
nothing but its file and docs/glossary.md at hand; what is not understood is written anew. The same seed
picks the same places as long as the code is the same, so that a second reader can look at them.
"""

import argparse
import random

from measure import ROOT, functions, production

SHORTEST = 8


def places():
    """Every function that is worth a look: file, first line, name."""
    for file in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        if file.name == "tests.rs":
            continue
        for name, start, body in functions(production(file.read_text(encoding="utf-8"))):
            if len(body) >= SHORTEST:
                yield f"{file.relative_to(ROOT)}:{start} {name}, {len(body)} lines"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("count", type=int, nargs="?", default=20)
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    for place in sorted(random.Random(chosen.seed).sample(list(places()), chosen.count)):
        print(place)


if __name__ == "__main__":
    main()
