"""Makes one JSON Lines file of real text: the RFCs in Debian's packages doc-rfc-*, one line (url, text) for each.

The packages are in Debian's non-free section, which few machines have enabled, so they are fetched with a separate list of
sources. Only the standard library is needed.
"""

import gzip
import json
import pathlib
import re
import subprocess
import sys

PACKAGES = """
doc-rfc-experimental doc-rfc-fyi-bcp doc-rfc-informational doc-rfc-misc doc-rfc-old-std doc-rfc-others doc-rfc-std
doc-rfc-std-proposed
""".split()


def source():
    """The package source of this machine, with the section non-free."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages", "Component: main"],
        check=True, capture_output=True, text=True,
    ).stdout.split("\n")  # fmt: skip
    address, release = next(line for line in targets if line and "-" not in line.split()[1]).split()
    return f"deb {address} {release} non-free"


def fetched(folder):
    """The folder with all packages, unpacked."""
    place = folder / "rfc"
    if place.is_dir():
        return place
    debs = folder / "debs"
    apt = folder / "apt"
    for path in (debs, apt / "lists/partial", apt / "archives/partial"):
        path.mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text(f"{source()}\n")
    options = [
        "-q",
        "-o", f"Dir::Etc::sourcelist={apt}/sources.list",
        "-o", "Dir::Etc::sourceparts=/dev/null",
        "-o", f"Dir::State::lists={apt}/lists",
        "-o", f"Dir::Cache={apt}",
        "-o", "APT::Sandbox::User=root",
    ]
    missing = [package for package in PACKAGES if not list(debs.glob(f"{package}_*.deb"))]
    if missing:
        quiet = {"check": True, "stdout": subprocess.DEVNULL}
        subprocess.run(["apt-get", *options, "update"], **quiet)
        subprocess.run(["apt-get", *options, "download", *missing], cwd=debs, **quiet)
    aside = folder / "rfc.new"
    for package in PACKAGES:
        subprocess.run(["dpkg-deb", "-x", next(debs.glob(f"{package}_*.deb")), aside], check=True)
    aside.rename(place)
    return place


def texts(place):
    """Number and text of each RFC, in order. Some are in two packages: the first one counts."""
    found = {}
    for path in sorted(place.rglob("rfc*.txt*")):
        name = re.fullmatch(r"rfc0*(\d+)\.txt(\.gz)?", path.name)
        if name and path.is_file() and not path.is_symlink():
            found.setdefault(int(name[1]), path)
    for number, path in sorted(found.items()):
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        try:
            yield number, data.decode()
        except UnicodeDecodeError:
            yield number, data.decode("latin-1")


def make(folder):
    """The path of the file; made on first use."""
    path = pathlib.Path(folder) / "rfc.jsonl"
    if path.exists():
        return path
    aside = path.with_suffix(".aside")
    count = size = 0
    with open(aside, "w") as file:
        for number, text in texts(fetched(pathlib.Path(folder))):
            url = f"https://www.rfc-editor.org/rfc/rfc{number}.txt"
            file.write(json.dumps({"url": url, "text": text}, ensure_ascii=False) + "\n")
            count += 1
            size += len(text)
    aside.rename(path)
    print(f"{count:,} documents, {size:,} characters")
    return path


if __name__ == "__main__":
    make(sys.argv[1])
