"""The text of one page by its id, from a corpus of about 10 GB of payload: in a new process for each page, and in one process."""

import subprocess

from common import CENTO, FOLDER, TARGET, crawl


def main():
    archives = crawl()
    corpus = FOLDER / "lookup.cento"
    if not (corpus / "manifest.json").exists():
        # Eight copies of the crawl are 10 GB; each addition has its own pages and parts.
        for round in range(8):
            add = ["--add"] if round else []
            subprocess.run([CENTO, "index", *archives, "-o", corpus, *add], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([TARGET / "release/examples/lookup", corpus], check=True)


if __name__ == "__main__":
    main()
