"""Makes a crawl of real pages: Debian's documentation packages as WARC files, one host for each package.

Only the standard library is needed. The files are reproducible: names are sorted, dates are fixed.
"""

import argparse
import gzip
import hashlib
import base64
import os
import pathlib
import subprocess

PACKAGES = """
openjdk-17-doc rust-doc postgresql-doc-15 python3.11-doc libboost1.74-doc libboost1.81-doc llvm-14-doc llvm-15-doc
debian-handbook installation-guide-amd64 installation-guide-arm64 installation-guide-i386 linux-doc-6.1 git-doc
debian-reference-zh-cn debian-reference-ja
""".split()


def unpacked(package, folder):
    """The folder with the package's files; fetched on first use."""
    place = folder / package
    if not place.is_dir():
        debs = folder / "debs"
        debs.mkdir(parents=True, exist_ok=True)
        if not list(debs.glob(f"{package}_*.deb")):
            subprocess.run(
                ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package],
                cwd=debs, check=True, stdout=subprocess.DEVNULL,
            )
        aside = folder / f"{package}.new"
        subprocess.run(["dpkg-deb", "-x", str(next(debs.glob(f"{package}_*.deb"))), str(aside)], check=True)
        aside.rename(place)
    return place


def pages(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        if path.suffix in (".html", ".htm", ".xhtml"):
            yield path


def record(kind, url, block, content_type, digest=None, ip=None):
    head = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        "WARC-Date: 2024-05-01T12:00:00Z",
        f"WARC-Record-ID: <urn:sha1:{hashlib.sha1((kind + url).encode()).hexdigest()}>",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(block)}",
    ]
    if ip:
        head.append(f"WARC-IP-Address: {ip}")
    if digest:
        head.append(f"WARC-Payload-Digest: sha1:{digest}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def response(url, body, ip):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
    return record("response", url, head + body, "application/http; msgtype=response", digest, ip)


def request(url, host, path):
    block = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: bench\r\n\r\n".encode()
    return record("request", url, block, "application/http; msgtype=request")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="folder for packages and archives")
    parser.add_argument("--files", type=int, default=8, help="number of archives")
    arguments = parser.parse_args()
    crawl = arguments.folder / "crawl"
    done = crawl / "done"
    if done.exists():
        print(done.read_text().strip())
        return
    crawl.mkdir(parents=True, exist_ok=True)
    archives = [open(crawl / f"crawl-{n:02}.warc.gz", "wb") for n in range(arguments.files)]
    count = size = 0
    for ordinal, package in enumerate(PACKAGES):
        root = unpacked(package, arguments.folder)
        host = f"www.{package.replace('.', '-')}.example"
        for path in pages(root):
            body = path.read_bytes()
            name = "/" + os.path.relpath(path, root).replace(os.sep, "/")
            url = f"http://{host}{name}"
            # Consecutive pages are in one archive, as in a real crawl.
            archive = archives[count // 64 % len(archives)]
            archive.write(gzip.compress(request(url, host, name), 6, mtime=0))
            archive.write(gzip.compress(response(url, body, f"192.0.2.{ordinal + 1}"), 6, mtime=0))
            count += 1
            size += len(body)
    for archive in archives:
        archive.close()
    done.write_text(f"{count} pages, {size} bytes of HTML, {len(PACKAGES)} hosts\n")
    print(done.read_text().strip())


if __name__ == "__main__":
    main()
