"""Measures every number of the planner's tuning.rs: `python3 tests/tuning/sweep.py [NAME ...]`.

A number is worth having if another value would be worse. So each one is halved and doubled, alone, and the instances of
the tuning half (see docs/search.md, "What each stage is good for") are planned with it, as far as the planner asks for
the number on them. A row says on how many instances that is so, and for each of the two values how many extents became
larger and smaller, the mean of the extents over the peaks, and all work and processor time together, in percent of
those with the value as it is.

Constants are compiled in, so there is nothing to set from outside. The program copies the sources into target/sweep,
makes a function of every constant of the copy that asks the environment once, and builds the example `measure` there.
The sources themselves stay as they are.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "target" / "sweep"
TUNING = Path("crates/memplan-planner/src/tuning.rs")
CONSTANT = re.compile(r"^pub\(crate\) const (\w+): (u32|u64|usize|i64|f32|f64|\[u(?:32|64); \d+\]) = (.+);$", re.M)

# Lengths of arrays cannot be asked for when the program runs.
LENGTHS = {"ATTEMPTS"}
# What the sum of the work is compared in must not change with what is measured, nor what the caller asks for.
GIVEN = {"QUICK_WORK", "NORMAL_WORK", "THOROUGH_WORK"}

GENERATED = (
    [f"random:3000:100:{seed}" for seed in range(1, 9)]
    + [f"exponential:3000:300:{seed}" for seed in range(1, 5)]
    + [f"exponential:6000:600:{seed}" for seed in range(1, 3)]
    + [f"aligned:2000:60:{seed}" for seed in range(1, 5)]
    + [f"jigsaw:{count}:{seed}" for count in (30, 60, 120, 700) for seed in (1, 2)]
    + [f"kernel:{count}:{seed}" for count in (20, 45, 80, 120) for seed in (1, 2, 3, 4)]
    + [f"kernel:{count}:{seed}@below" for count in (12, 20) for seed in (1, 2, 3, 4)]
    + [f"jigsaw:20:{seed}@below" for seed in (1, 2)]
    + [f"random:{count}:8:{seed}@below" for count in (20, 40) for seed in (1, 2, 3)]
    + [f"in-place:{layers}:{seed}" for layers in (100, 2000) for seed in (1, 2)]
    + [f"training:500:{seed}" for seed in (1, 2)]
)


def is_tuning(name):
    """Whether an instance belongs to the tuning half: the same hash as that of `memplan bench ablation`."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    mixed = (value ^ (value >> 32)) * 0x9E3779B97F4A7C15 % 2**64
    return mixed >> 63 == 0


def instances(folders):
    """Files of the corpus and of further folders, and generated instances: those of the tuning half."""
    names = {}
    for folder in [ROOT / "corpus", *folders]:
        for path in sorted(folder.glob("*/*.csv")):
            # The folder `dsa` has published results, no instances.
            if path.parent.name == "dsa":
                continue
            names.setdefault(str(path.relative_to(folder).with_suffix("")), str(path))
    names.update({name: name for name in GENERATED})
    return [argument for name, argument in names.items() if is_tuning(name)]


def as_function(match):
    """A constant as a function that scales its value by what the environment says."""
    name, kind, value = match.groups()
    if name in LENGTHS:
        return match.group(0)
    element = kind.strip("[]").split(";")[0]
    scaled = f"scaled(\"{name}\", {{}} as f64) as {element}"
    if kind.startswith("["):
        body = "[" + ", ".join(scaled.format(part.strip()) for part in value.strip("[]").split(",")) + "]"
    else:
        body = scaled.format(f"({value})")
    return (
        f"#[allow(non_snake_case)]\n#[inline]\npub(crate) fn {name}() -> {kind} {{\n"
        f"    static VALUE: std::sync::OnceLock<{kind}> = std::sync::OnceLock::new();\n"
        f"    *VALUE.get_or_init(|| {body})\n}}"
    )


SCALED = """
/// The value, multiplied if the environment asks for it; no number falls below 1 that was at least that.
fn scaled(name: &str, value: f64) -> f64 {
    if std::env::var_os("MEMPLAN_SWEEP_USED").is_some() {
        eprintln!("{name}");
    }
    let asked = std::env::var("MEMPLAN_SWEEP").unwrap_or_default();
    match asked.split_once('=') {
        Some((other, factor)) if other == name && value < 1e18 => {
            let scaled = value * factor.parse::<f64>().unwrap_or(1.0);
            if value >= 1.0 { scaled.max(1.0) } else { scaled }
        }
        _ => value,
    }
}
"""


def calls(text, names):
    """Every mention of a constant in code as a call; imports and comments keep the bare names."""
    mention = re.compile(r"\b(" + "|".join(names) + r")\b")
    pieces = re.split(r"(^use [^;]+;|//[^\n]*)", text, flags=re.M)
    return "".join(piece if number % 2 else mention.sub(r"\1()", piece) for number, piece in enumerate(pieces))


def rewritten(name, text, names):
    """The text of a file of the copy: the planner asks for its numbers, everything else is as it is."""
    if name == str(TUNING):
        return CONSTANT.sub(as_function, text.split("#[cfg(test)]")[0]) + SCALED
    return calls(text, names) if name.startswith("crates/memplan-planner/src/") else text


def copy_sources():
    """Copies what the build needs and rewrites the planner in the copy. Files that do not change are left alone, so
    that they are not compiled again."""
    text = (ROOT / TUNING).read_text().split("#[cfg(test)]")[0]
    found = {match.group(1): match.group(3) for match in CONSTANT.finditer(text)}
    names = [name for name in found if name not in LENGTHS]
    wanted = ["Cargo.*", "crates", "docs", "examples", "README.md"]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *wanted], cwd=ROOT, capture_output=True,
                            text=True, check=True)
    for name in listed.stdout.splitlines():
        source, target = ROOT / name, COPY / name
        if not source.is_file():
            continue
        content = source.read_bytes()
        if name.endswith(".rs"):
            content = rewritten(name, content.decode(), names).encode()
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return found


def build(folder, profile):
    """Builds the example in a folder; what it depends on is shared with other builds."""
    environment = dict(os.environ, CARGO_TARGET_DIR=str(ROOT / "target"))
    command = ["cargo", "build", "--profile", profile, "-q", "-p", "memplan-planner", "--example", "measure"]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    built = ROOT / "target" / {"dev": "debug"}.get(profile, profile) / "examples" / "measure"
    COPY.mkdir(parents=True, exist_ok=True)
    return shutil.copy(built, COPY / "measure")


def write(program, folder):
    """Writes the generated instances as files, for `memplan bench ablation`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in GENERATED:
        if "@" not in name:
            text = subprocess.run([program, "write", name], capture_output=True, text=True, check=True).stdout
            (folder / (name.replace(":", "-") + ".json")).write_text(text)


def run(program, work, chosen, setting=""):
    """Peaks, extents and work of instances, the processor time of all, and the numbers that were asked for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    environment = dict(os.environ, MEMPLAN_SWEEP=setting, MEMPLAN_SWEEP_USED="1")
    done = subprocess.run([program, str(work), *chosen], env=environment, capture_output=True, text=True, check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    rows = [(int(peak), int(extent), int(units), status) for _, peak, extent, units, status in rows]
    return rows, seconds, set(done.stderr.split())


def rank(row):
    """Smaller is better: a proof or a plan before nothing, then the extent, or the buffers of a witness."""
    peak, extent, _, status = row
    return (status == "exhausted", extent)


def mean(rows):
    """The mean of extents over peaks, of instances that have a plan."""
    ratios = [extent / peak for peak, extent, _, status in rows if peak and status in ("optimal", "feasible")]
    return sum(ratios) / max(len(ratios), 1)


def compared(before, after):
    """What another value does: larger, smaller, mean, work and time."""
    (rows, seconds), (others, other_seconds, _) = before, after
    pairs = list(zip(rows, others))
    larger = sum(rank(other) > rank(row) for row, other in pairs)
    smaller = sum(rank(other) < rank(row) for row, other in pairs)
    work = 100 * sum(row[2] for row in others) / max(sum(row[2] for row in rows), 1)
    time = 100 * other_seconds / max(seconds, 0.001)
    return f"{larger} | {smaller} | {mean(rows):.5f} → {mean(others):.5f} | {work:.1f} % | {time:.0f} %"


def sweep(program, work, alone, names):
    """Prints two rows for each number: half and double."""
    print("| number | instances | factor | larger | smaller | mean | work | time |\n|---|---|---|---|---|---|---|---|")
    for name in names:
        users = [instance for instance, (_, _, used) in alone.items() if name in used]
        if not users:
            print(f"| `{name}` | 0 | | | | | | |")
            continue
        before = [alone[user][0][0] for user in users], sum(alone[user][1] for user in users)
        for factor in (0.5, 2):
            after = run(program, work, users, f"{name}={factor}")
            print(f"| `{name}` | {len(users)} | {factor} | {compared(before, after)} |")
            sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these constants")
    parser.add_argument("--work", type=int, default=25_000, help="units of work for each instance")
    parser.add_argument("--dir", type=Path, action="append", default=[], help="a further folder of instances")
    parser.add_argument("--list", action="store_true", help="print the instances and what comes of them, no sweep")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the generated instances as files, no sweep")
    parser.add_argument("--profile", default="release", help="how to build; extents and work do not depend on it")
    options = parser.parse_args()
    if options.write:
        write(build(ROOT, options.profile), options.write)
        return
    found = copy_sources()
    program = build(COPY, options.profile)
    alone = {name: run(program, options.work, [name]) for name in instances(options.dir)}
    if options.list:
        for name, (rows, seconds, _) in alone.items():
            print(name, *rows[0], f"{seconds:.2f} s")
        return
    total = sum(rows[0][2] for rows, _, _ in alone.values())
    print(f"{len(alone)} instances, at most {options.work} units each, {total} together\n")
    wanted = options.names or [name for name in found if name not in LENGTHS | GIVEN]
    sweep(program, options.work, alone, wanted)


if __name__ == "__main__":
    main()
