#!/usr/bin/env python3
"""A binary holds every kernel for each architecture of the project, and as PTX for later ones.

usage: embedded_code_test.py BINARY

Reads the binary itself (cuobjdump --list-elf --list-ptx would tell the same, but is no part of the
packages that are needed to build): the section .nv_fatbin is a sequence of containers, one a file
of kernels. A container is a head (magic number, u16 version, u16 bytes of the head, u64 bytes of
what follows) and entries; an entry is a head (u16 kind, 1 for PTX and 2 for machine code; u16; u32
bytes of the head; u64 bytes of what follows; at byte 28 u32 architecture) and code.
"""

import struct
import sys
from pathlib import Path

MAGIC = 0xBA55ED50
PTX, MACHINE_CODE = 1, 2
EXPECTED = {(MACHINE_CODE, 90), (MACHINE_CODE, 100), (MACHINE_CODE, 103), (PTX, 103)}


def section(binary, name):
    """Of a 64-bit little-endian ELF file (elf.h: Elf64_Ehdr, Elf64_Shdr)."""
    table = struct.unpack_from("<Q", binary, 0x28)[0]
    size, count, names_index = struct.unpack_from("<HHH", binary, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", binary, table + i * size) for i in range(count)]
    names = heads[names_index][4]
    for name_at, _, _, _, offset, length in heads:
        at = names + name_at
        if binary[at : binary.index(b"\0", at)] == name.encode():
            return binary[offset : offset + length]
    raise ValueError(f"no section {name}")


def entries(code):
    """Returns {(kind, architecture)}."""
    found, at = set(), 0
    while at < len(code):
        kind, _, head, length = struct.unpack_from("<HHIQ", code, at)
        found.add((kind, struct.unpack_from("<I", code, at + 28)[0]))
        at += head + length
    return found


def containers(data):
    """Returns [{(kind, architecture)}], one a file of kernels."""
    found, at = [], 0
    while (at := data.find(struct.pack("<I", MAGIC), at)) >= 0:
        _, _, head, length = struct.unpack_from("<IHHQ", data, at)
        found.append(entries(data[at + head : at + head + length]))
        at += head + length
    return found


def main(path):
    found = containers(section(Path(path).read_bytes(), ".nv_fatbin"))
    for kinds in found:
        print(sorted(kinds))
    # Files without kernels have an empty container.
    with_kernels = [kinds for kinds in found if kinds]
    return 0 if with_kernels and all(kinds == EXPECTED for kinds in with_kernels) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
