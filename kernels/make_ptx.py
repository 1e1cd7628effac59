#!/usr/bin/env python3
"""Compiles kernels with NVRTC, without a GPU: make_ptx.py LIBNVRTC SOURCE.cu OUT.ptx [SOURCE.cu OUT.ptx ...]"""

import ctypes
import pathlib
import sys

ARCHITECTURE = "compute_70"


def compile_ptx(nvrtc: ctypes.CDLL, source: pathlib.Path) -> bytes:
    """The PTX of one file; ends the program with the compiler's log where there is none. Headers beside it are handed to
    NVRTC by name, as crates/magnetar-cuda/src/nvrtc.rs does."""
    options = [f"--gpu-architecture={ARCHITECTURE}", *(source.parent / "nvrtc_options").read_text().split()]
    program = ctypes.c_void_p()
    name = source.name.encode()
    headers = sorted(source.parent.glob("*.cuh"))
    texts = (ctypes.c_char_p * len(headers))(*(header.read_bytes() for header in headers))
    names = (ctypes.c_char_p * len(headers))(*(header.name.encode() for header in headers))
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), name, len(headers), texts, names)
    flags = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    if nvrtc.nvrtcCompileProgram(program, len(options), flags) != 0:
        sys.exit(f"{source}: " + text(nvrtc, "ProgramLog", program).decode())
    return text(nvrtc, "PTX", program)


def text(nvrtc: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> bytes:
    """One of the texts that NVRTC keeps for a program."""
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value


def main() -> None:
    library, *files = sys.argv[1:]
    nvrtc = ctypes.CDLL(library)
    for source, out in zip(files[::2], files[1::2]):
        pathlib.Path(out).write_bytes(compile_ptx(nvrtc, pathlib.Path(source)))


if __name__ == "__main__":
    main()
