"""The work of `cento index` with the fastest Python tools: FastWARC reads, resiliparse or selectolax extracts.

    peer_index.py resiliparse|selectolax PROCESSES ARCHIVE…

Only extraction is done here, which favours the peer: in the same time, cento also cuts chunks, hashes, counts words, resolves links
and writes tables.
"""

import multiprocessing
import sys
import time


def text_of_resiliparse(html):
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    return extract_plain_text(bytes_to_str(html, detect_encoding(html)), preserve_formatting=True)


def text_of_selectolax(html):
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(html).body
    return body.text() if body else ""


def work(job):
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    extract, path = job
    text_of = {"resiliparse": text_of_resiliparse, "selectolax": text_of_selectolax}[extract]
    pages = size = text = 0
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            body = record.reader.read()
            pages += 1
            size += len(body)
            text += len(text_of(body))
    return pages, size, text


def main():
    extract, processes, *archives = sys.argv[1:]
    begun = time.time()
    with multiprocessing.Pool(int(processes)) as pool:
        done = pool.map(work, [(extract, path) for path in archives], chunksize=1)
    pages, size, text = (sum(column) for column in zip(*done))
    print(pages, size, text, time.time() - begun)


if __name__ == "__main__":
    main()
