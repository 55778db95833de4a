"""Prints the fields of all option tables of .tflite files, one table a line.

    python tests/peers/tflite_options.py > crates/memplan-models/src/tflite/options.txt

They are found in the schema that the `ai-edge-litert` package carries. A line is

    1.5 Pool2DOptions padding:i8 stride_w:i32 …

where 1.5 is number 5 of the first union of options; then the fields in the order of their numbers, each with its type and,
if it is not 0, its default. `[i32]` is a vector, `text` a string, `other` anything that holds tables and fields
that are no longer in use.
"""

import re

import ai_edge_litert.schema_py_generated as schema

TYPES = {"Bool": "u8", "Int8": "i8", "Uint8": "u8", "Int16": "i16", "Uint16": "u16", "Int32": "i32", "Uint32": "u32",
         "Int64": "i64", "Uint64": "u64", "Float32": "f32", "Float64": "f64"}  # fmt: skip


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def field(body):
    """The type of a field and its default, from the method that reads it."""
    vector = "a = self._tab.Vector(o)" in body or "x = self._tab.Vector(o)" in body
    number = re.search(r"self\._tab\.Get\(flatbuffers\.number_types\.(\w+)Flags", body)
    if number and number[1] in TYPES:
        kind = TYPES[number[1]]
        default = re.findall(r"return ([-\w.]+)\s*$", body.strip())
        default = default[-1] if default and not vector else "0"
        default = {"False": "0", "True": "1", "0.0": "0"}.get(default, default)
        return (f"[{kind}]" if vector else kind) + ("" if default == "0" else f"={default}")
    return "text" if "self._tab.String(" in body and not vector else "other"


def fields(source, name):
    start = source.index(f"class {name}(object):")
    text = source[start : source.index("def " + name + "Start(", start)]
    found = {}
    for method in re.split(rf"\n    # {name}\n", text)[1:]:
        heading = re.match(r"    def (\w+)\(self", method)
        offset = re.search(r"self\._tab\.Offset\((\d+)\)", method)
        if heading and offset:
            found.setdefault(int(offset[1]), (snake(heading[1]), field(method)))
    # The schema leaves gaps where it once had fields.
    return [found.get(offset, ("removed", "other")) for offset in range(4, max(found, default=2) + 1, 2)]


def main():
    source = open(schema.__file__).read()
    for union, number in ((schema.BuiltinOptions, 1), (schema.BuiltinOptions2, 2)):
        for name, value in sorted(vars(union).items(), key=lambda item: str(item[1]).zfill(4)):
            if name.startswith("_") or value == 0:
                continue
            print(f"{number}.{value} {name}", *(f"{field}:{kind}" for field, kind in fields(source, name)))


if __name__ == "__main__":
    main()
