"""The section "Adding a protocol" of kernels/PROTOCOLS.md, as a reader follows it.

Each block of code is headed by a line with the name of what it is for: a whole file, an edit of
one (```diff), or a shell (```console).

usage: toy_section.py ROOT FILE OUTPUT    writes FILE with the section's edits of it applied
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^`([^`\n]+)`\n```(\w+)\n(.*?)^```$", re.M | re.S)


@dataclass
class Block:
    name: str
    kind: str
    text: str


def blocks(root):
    text = (root / "kernels/PROTOCOLS.md").read_text(encoding="utf-8")
    _, _, after = text.partition("\n## Adding a protocol\n")
    section, _, _ = after.partition("\n## ")
    found = [Block(*match.groups()) for match in BLOCK.finditer(section)]
    fences = len(re.findall(r"^```", section, re.M))
    if not found or fences != 2 * len(found):
        raise ValueError(f'"Adding a protocol": {fences} fences, but {len(found)} named blocks')
    return found


def applied(diff, text):
    """`text` after the edits of a diff, whose parts are separated by lines of @@."""
    for part in re.split(r"^@@\n", diff, flags=re.M):
        lines = part.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] != "+")
        new = "".join(line[1:] for line in lines if line[0] != "-")
        if text.count(old) != 1:
            raise ValueError(f"the file has this {text.count(old)} times, not once:\n{old}")
        text = text.replace(old, new)
    return text


def edited(root, name):
    diffs = [block.text for block in blocks(root) if (block.name, block.kind) == (name, "diff")]
    if not diffs:
        raise ValueError(f'"Adding a protocol" does not edit {name}')
    text = (root / name).read_text(encoding="utf-8")
    for diff in diffs:
        text = applied(diff, text)
    return text


def main():
    root, name, output = sys.argv[1:]
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(edited(Path(root), name), encoding="utf-8")


if __name__ == "__main__":
    main()
