"""From archives to text with the fastest Python tools: FastWARC reads, another extracts.

    extract.py resiliparse|selectolax|trafilatura PROCESSES EVERY ARCHIVE…      prints pages, bytes of HTML and characters of text, as a JSON list
    extract.py sizes PROCESSES EVERY ARCHIVE…                                   the same, without extracting
    extract.py truth|sample-PEER PROCESSES EVERY ARCHIVE…                       prints the texts of a sample of pages, as a JSON object

Only one of EVERY pages is extracted. Only extraction is done here, which favours the peer: in the same time, cento also cuts chunks, hashes, counts
words, resolves links and writes tables.
"""

import html.parser
import json
import multiprocessing
import sys

SAMPLE = 20


def resiliparse(page):
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    return extract_plain_text(bytes_to_str(page, detect_encoding(page)), preserve_formatting=True)


def selectolax(page):
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(page).body
    return body.text() if body else ""


def trafilatura(page):
    import trafilatura

    return trafilatura.extract(page) or ""


def sizes(_):
    return ""


class Shown(html.parser.HTMLParser):
    """The text that a page shows."""

    HIDDEN = {"script", "style", "template", "title", "noscript"}
    # Elements within a line do not separate words.
    INLINE = set("a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var wbr".split())

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.text, self.hidden = [], 0

    def handle_starttag(self, tag, _):
        self.hidden += tag in self.HIDDEN
        if tag not in self.INLINE:
            self.text.append(" ")

    def handle_endtag(self, tag):
        self.hidden -= tag in self.HIDDEN and self.hidden > 0
        if tag not in self.INLINE:
            self.text.append(" ")

    def handle_data(self, data):
        if not self.hidden:
            self.text.append(data)


def truth(page):
    parser = Shown()
    parser.feed(page.decode("utf-8", "replace"))
    return "".join(parser.text)


def work(job):
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    what, path, every = job
    text_of = {"resiliparse": resiliparse, "selectolax": selectolax, "trafilatura": trafilatura, "sizes": sizes, "truth": truth}[what.removeprefix("sample-")]
    sampled = what == "truth" or what.startswith("sample-")
    pages = size = text = 0
    texts = {}
    with open(path, "rb") as stream:
        for number, record in enumerate(ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True)):
            if number % (SAMPLE if sampled else every):
                continue
            body = record.reader.read()
            found = text_of(body)
            pages += 1
            size += len(body)
            text += len(found)
            if sampled:
                texts[record.headers["WARC-Target-URI"]] = found
    return pages, size, text, texts


def main():
    what, processes, every, *archives = sys.argv[1:]
    with multiprocessing.Pool(int(processes)) as pool:
        done = pool.map(work, [(what, path, int(every)) for path in archives], chunksize=1)
    if what == "truth" or what.startswith("sample-"):
        print(json.dumps({url: text for one in done for url, text in one[3].items()}))
    else:
        print(json.dumps([sum(one[at] for one in done) for at in range(3)]))


if __name__ == "__main__":
    main()
