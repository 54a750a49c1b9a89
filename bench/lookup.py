"""The text of one page by its id, from a corpus of about 10 GB of payload: a process of its own, and a process that stays."""

import subprocess

from common import CENTO, FOLDER, TARGET, crawl


def main():
    archives = crawl()
    corpus = FOLDER / "lookup.cento"
    if not (corpus / "manifest.json").exists():
        # Eight times the crawl comes to 10 GB; each addition has its own pages and parts.
        for round in range(8):
            add = ["--add"] if round else []
            subprocess.run([CENTO, "index", *archives, "-o", corpus, *add], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([TARGET / "release/examples/lookup", corpus], check=True)


if __name__ == "__main__":
    main()
