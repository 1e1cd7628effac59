"""Converts observations in MATLAB or HDF5 files to .npy, as `magnetar estimate`, `locate` and `import` read them.

    magnetar-to-npy campaign.mat --list
    magnetar-to-npy campaign.mat csi --axes bins,channels,n --out csi.npy
    magnetar-to-npy campaign.h5 run1/csi_re run1/csi_im --out csi.npy

One name is a complex array, two are real and imaginary part. --axes names the axes as they are in the file: `n` for
observations, `bins`, `channels`; `1` for an axis of length 1 that is dropped. The result is complex64 [n, bins, channels].
Needs numpy; scipy for .mat files before version 7.3, h5py for later ones and for HDF5.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

AXES = ("n", "bins", "channels")
# A leading dash would look like a flag.
DROPPED = ("1", "-")


def is_hdf5(path):
    """Whether a file is HDF5; MATLAB 7.3 writes it behind a head of its own."""
    with open(path, "rb") as file:
        head = file.read(1024)
    return any(head[at:at + 8] == b"\x89HDF\r\n\x1a\n" for at in (0, 512))


def arrays(path):
    """All arrays of numbers of a file, by name, not yet read where the format allows."""
    if is_hdf5(path):
        import h5py

        found = {}
        h5py.File(path, "r").visititems(
            lambda name, item: found.__setitem__(name, item) if isinstance(item, h5py.Dataset) else None)
        return found
    from scipy.io import loadmat

    return {name: value for name, value in loadmat(path).items() if not name.startswith("__")}


def numbers(array):
    """Its values as complex numbers; MATLAB's HDF5 has pairs called real and imag."""
    values = np.asarray(array)
    if values.dtype.names and {"real", "imag"} <= set(values.dtype.names):
        values = values["real"] + 1j * values["imag"]
    if values.dtype.kind not in "fciu":
        sys.exit(f"the values are {values.dtype}; expected numbers")
    return values.astype(np.complex64)


def ordered(values, axes):
    """The array as [n, bins, channels]."""
    names = axes.split(",")
    if len(names) != values.ndim:
        sys.exit(f"--axes {axes} names {len(names)} axes; the array has the shape {values.shape}")
    for axis in sorted((i for i, name in enumerate(names) if name in DROPPED), reverse=True):
        if values.shape[axis] != 1:
            sys.exit(f"axis {axis} has the length {values.shape[axis]}; only axes of length 1 are dropped")
        values = values.squeeze(axis)
    names = [name for name in names if name not in DROPPED]
    if sorted(names) not in (sorted(AXES), sorted(AXES[1:])):
        sys.exit(f"--axes {axes}: expected bins and channels, and n where there are several observations, each once")
    if "n" not in names:
        values, names = values[None], ["n", *names]
    return np.ascontiguousarray(values.transpose([names.index(name) for name in AXES]))


def main():
    """Reads, orders, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("names", nargs="*", help="the array, or real and imaginary part")
    parser.add_argument("--axes", default=",".join(AXES))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--list", action="store_true", help="print the arrays there are")
    args = parser.parse_args()
    found = arrays(args.file)
    if args.list or not args.names:
        for name, value in found.items():
            print(f"{name}  {getattr(value, 'dtype', type(value).__name__)}  {getattr(value, 'shape', '')}")
        return
    missing = [name for name in args.names if name not in found]
    if missing or len(args.names) > 2:
        sys.exit(f"{args.file}: no array {missing or args.names}; there is {', '.join(found)}")
    values = [numbers(found[name]) for name in args.names]
    if len(values) == 2 and values[0].shape != values[1].shape:
        sys.exit(f"{args.names[0]} has the shape {values[0].shape}, {args.names[1]} {values[1].shape}")
    whole = values[0] if len(values) == 1 else values[0].real + 1j * values[1].real
    whole = ordered(whole.astype(np.complex64), args.axes)
    if args.out is None:
        sys.exit("give --out FILE.npy")
    np.save(args.out, whole)
    print(f"{args.out}: {whole.shape[0]} observations, {whole.shape[1]} bins, {whole.shape[2]} channels")


if __name__ == "__main__":
    main()
