"""Makes a table of real pages: the manuals of Debian packages, one domain for each package, as JSON Lines of url and text.

roff macros are removed, and the words between them kept. Only the standard library is needed; packages that are not available are skipped.
"""

import gzip
import json
import pathlib
import re
import subprocess
import sys

LANGUAGES = "cs da de es fi fr hu it ja ko mk nb nl pl pt-br ro ru sr sv tr uk vi zh".split()
PACKAGES = (
    ["manpages", "manpages-dev", "freebsd-manpages", "erlang-manpages", "openmpi-doc", "mpich-doc", "libssl-doc", "liblapack-doc"]
    + ["libx11-doc", "libxcb-doc", "tcl8.6-doc", "tk8.6-doc", "perl-doc", "tcllib", "libcurl4-doc", "libpq-dev", "libpcap-dev", "git-man"]
    + ["glibc-doc", "libsdl1.2-dev", "allegro4-doc", "libkokyu-dev", "nmap-common", "systemd", "util-linux-locales", "coreutils", "libevent-dev"]
    + ["libopenmpi-dev", "gromacs-data", "samtools", "grass-doc", "libncurses-dev", "ncurses-doc", "netpbm", "psmisc", "libblas-doc"]
    + [f"manpages-{language}" for language in LANGUAGES]
    + [f"manpages-{language}-dev" for language in LANGUAGES]
)


def text_of(roff):
    lines = []
    for line in roff.splitlines():
        if line.startswith((".\\\"", "'\\\"", "'", ".TH", ".de", ".if", ".ie", ".el", ".nr", ".ds", ".so")):
            continue
        line = re.sub(r"^\.\s*[A-Za-z0-9]*\s*", "" if line.startswith(".") else "", line) if line.startswith(".") else line
        line = re.sub(r"\\f(\[[^]]*\]|\(..|.)|\\s[-+]?\d+|\\[&|^,/]|\\m\[[^]]*\]", "", line)
        line = re.sub(r"\\-", "-", line)
        line = re.sub(r"\\\(..|\\\[[^]]*\]|\\e", " ", line)
        lines.append(line)
    return "\n".join(lines)


def main(folder):
    debs = folder / "debs"
    debs.mkdir(parents=True, exist_ok=True)
    aside = folder / "manuals.jsonl.new"
    count = 0
    with open(aside, "w") as out:
        for package in PACKAGES:
            if not list(debs.glob(f"{package}_*.deb")):
                got = subprocess.run(
                    ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package],
                    cwd=debs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
                if got.returncode != 0:
                    continue
            place = folder / f"{package}.manuals"
            if not place.is_dir():
                subprocess.run(["dpkg-deb", "-x", str(next(debs.glob(f"{package}_*.deb"))), str(place)], check=True)
            for path in sorted((place / "usr/share").rglob("man*/*.gz")) if (place / "usr/share").is_dir() else []:
                if path.is_symlink() or not path.is_file():
                    continue
                text = text_of(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
                if len(text) > 200:
                    url = f"http://www.{package.replace('.', '-')}.example/{path.relative_to(place)}"
                    out.write(json.dumps({"url": url, "text": text}) + "\n")
                    count += 1
    aside.rename(folder / "manuals.jsonl")
    print(f"{count:,} manuals")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
