"""A folder of inputs, two strategies, one table; interrupted sweeps go on where they stopped."""

import pathlib
import tempfile

import memplan


def main():
    with tempfile.TemporaryDirectory() as folder:
        for index in range(4):
            rows = "".join(f"{i},{i},{i + 2 + index},{64 * (i + 1)}\n" for i in range(20))
            pathlib.Path(folder, f"net{index}.csv").write_text("id,lower,upper,size\n" + rows)
        journal = pathlib.Path(folder, "sweep.jsonl")
        table = memplan.sweep(folder, ["greedy-by-size", "auto"], workers=2, journal=journal)
        print(table)
        assert len(table) == 8 and all(row["error"] is None for row in table)


# Workers import this file: without the guard each would start a sweep of its own.
if __name__ == "__main__":
    main()
