"""Collect the licences of what a bundle of the light program contains.

python scripts/licences.py BUNDLE FOLDER    writes the licence files into FOLDER, and to standard
output who has which licence. Named are the packages that the light program needs, the libraries
that lie in their wheels, Python, and the system's libraries in BUNDLE. A library in a wheel of
which nothing is known here is an error: look its licence up, and add it.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PROGRAM, EXTRAS = "surtitle", ("speech", "translation")
"""What scripts/bundle --light takes along."""

_FILE = re.compile(r"(?i)(licen[cs]e|copying|notice|thirdparty|authors)[^/]*$")
_NAMES = {  # of the shared libraries in wheels, by how their file begins
    "Qt": ("LGPL-3.0-only", "libQt6 libicu"),
    "PySide6 and shiboken6": ("LGPL-3.0-only", "libpyside6 libshiboken6"),
    "FFmpeg": ("LGPL-3.0-or-later", "libavcodec libavdevice libavfilter libavformat libavutil "
               "libswresample libswscale"),
    "x264": ("GPL-2.0-or-later", "libx264"),
    "x265": ("GPL-2.0-or-later", "libx265"),
    "LAME": ("LGPL-2.0-or-later", "libmp3lame"),
    "GnuTLS": ("LGPL-2.1-or-later", "libgnutls"),
    "Nettle": ("LGPL-3.0-or-later or GPL-2.0-or-later", "libnettle libhogweed"),
    "GMP": ("LGPL-3.0-or-later or GPL-2.0-or-later", "libgmp"),
    "libunistring": ("LGPL-3.0-or-later or GPL-2.0-or-later", "libunistring"),
    "ALSA": ("LGPL-2.1-or-later", "libasound"),
    "dav1d": ("BSD-2-Clause", "libdav1d"),
    "SVT-AV1": ("BSD-3-Clause-Clear", "libSvtAv1Enc"),
    "libvpx": ("BSD-3-Clause", "libvpx"),
    "libwebp": ("BSD-3-Clause", "libwebp libsharpyuv"),
    "Opus": ("BSD-3-Clause", "libopus"),
    "OpenCORE AMR": ("Apache-2.0", "libopencore-amr"),
    "Intel VPL": ("MIT", "libvpl"),
    "libdrm and XCB": ("MIT", "libdrm libxcb libXau"),
    "ONNX Runtime": ("MIT", "libonnxruntime"),
    "sherpa-onnx": ("Apache-2.0", "libsherpa-onnx libcargs"),
    "CTranslate2": ("MIT", "libctranslate2"),
    "Moonshine": ("MIT", "libmoonshine"),
    "oneDNN": ("Apache-2.0", "libdnnl"),
    "OpenBLAS": ("BSD-3-Clause", "libscipy_openblas libopenblas"),
    "GCC's libraries": (
        "GPL-3.0-or-later with GCC-exception-3.1",
        "libgomp libgfortran libquadmath libgcc_s libstdc++",
    ),
    "jemalloc": ("BSD-2-Clause", "libjemalloc"),
    "PortAudio": ("MIT", "libportaudio"),
}  # fmt: skip
_HEAD = """
Below are all parts that are not ours. x264 and x265, which FFmpeg was built with, are under the
GPL, version 2 or later: so this package as a whole may be handed out under the GNU General Public
License, version 3 or later. The GPL, LGPL, Apache and BSD licences are in
/usr/share/common-licenses of Debian; the sources of each part are where its package has them (https://pypi.org/project/NAME).
MIT is this, with the copyright of the part's authors:

  Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
  associated documentation files (the "Software"), to deal in the Software without restriction,
  including without limitation the rights to use, copy, modify, merge, publish, distribute,
  sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
  furnished to do so, subject to the following conditions: The above copyright notice and this
  permission notice shall be included in all copies or substantial portions of the Software. THE
  SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
  LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
  NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
  DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
  OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

"""


class LicenceError(Exception):
    """Nothing is known of a library's licence."""


@dataclass
class Part:
    """What is in the bundle and not ours.

    Attributes:
        name: with its version.
        licence: as it says itself.
        files: with the text of the licence, where its package has some.
    """

    name: str
    licence: str
    files: list[Path] = field(default_factory=list)


def needed(name: str = PROGRAM, extras: tuple[str, ...] = EXTRAS) -> dict[str, Distribution]:
    """Return the distributions that one needs, those that these need, and so on."""
    found, waiting = dict[str, Distribution](), [(name, extras)]
    while waiting:
        name, extras = waiting.pop()
        for text in distribution(name).requires or ():
            wanted = Requirement(text)
            markers = [{"extra": extra} for extra in extras or ("",)]
            if wanted.marker and not any(map(wanted.marker.evaluate, markers)):
                continue
            try:
                package = distribution(wanted.name)
            except PackageNotFoundError:
                continue  # nothing of ours imports it
            if package.name not in found:
                found[package.name] = package
                waiting.append((wanted.name, tuple(wanted.extras)))
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def parts_of(package: Distribution) -> Iterator[Part]:
    """Yield a package, and the libraries that lie in its wheel.

    Raises:
        LicenceError: one of them is not known.
    """
    data, files = package.metadata, [path for path in package.files or () if path.suffix != ".pyc"]
    classes = [one.rpartition(" :: ")[2] for one in data.get_all("Classifier") or ()
               if one.startswith("License :: ")]  # fmt: skip
    stated = data["License-Expression"] or (data["License"] or "").partition("\n")[0]
    texts = [Path(str(path.locate())) for path in files if _FILE.search(str(path))]
    yield Part(f"{package.name} {package.version}", stated or ", ".join(classes), texts)
    names = set[str]()
    for path in files:
        of_qt = path.parts[:2] == ("PySide6", "Qt") and path.parts[2] != "lib"  # plugins, hundreds
        if re.search(r"\.so(\.\d+)*$", path.name) and path.name.startswith("lib") and not of_qt:
            names.add(_library(path.name))
    for name in sorted(names):
        yield Part(f"{name}, in {package.name}", _NAMES[name][0])


def _library(file: str) -> str:
    for name, (_, beginnings) in _NAMES.items():
        if file.startswith(tuple(beginnings.split())):
            return name
    msg = f"the licence of {file} is not known: look it up, and add it to scripts/licences.py"
    raise LicenceError(msg)


def of_python() -> Part:
    """Return Python, whose standard library comes along."""
    library = Path(sysconfig.get_path("stdlib"))
    texts = [path for path in (library / "LICENSE.txt", library / "LICENSE") if path.is_file()]
    return Part(f"Python {sys.version.split()[0]}", "PSF-2.0", texts)


def of_system(bundle: Path) -> Iterator[Part]:
    """Yield the Debian packages of the system's libraries in a bundle, as OpenSSL."""
    names = {path.name for path in (bundle / "_internal").glob("*.so*") if not path.is_symlink()}
    for name in sorted(names):
        command = ["dpkg-query", "-S", f"*/{name}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        package = done.stdout.partition(":")[0]
        if package:
            text = Path("/usr/share/doc") / package / "copyright"
            yield Part(f"{name}, of Debian's {package}", "see its file", [text] * text.is_file())


def write(parts: list[Part], folder: Path) -> str:
    """Copy the licence files; return who has which licence."""
    lines = [_HEAD]
    for part in parts:
        lines.append(f"{part.name}: {part.licence}\n")
        place = folder / re.sub(r"[^\w.+-]+", "_", part.name)
        for number, text in enumerate(part.files):
            place.mkdir(parents=True, exist_ok=True)
            kept = place / (f"{number}-{text.name}" if (place / text.name).exists() else text.name)
            shutil.copyfile(text, kept)
            lines.append(f"    {kept.relative_to(folder.parent)}\n")
    return "".join(lines)


def collected(bundle: Path, folder: Path) -> str:
    """Write the licences of a bundle into a folder; return who has which."""
    parts = [part for package in needed().values() for part in parts_of(package)]
    return write([of_python(), *parts, *of_system(bundle)], folder)


if __name__ == "__main__":
    sys.stdout.write(collected(Path(sys.argv[1]), Path(sys.argv[2])))
