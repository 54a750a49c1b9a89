"""Extracts the main content of pages with a peer; prints a JSON array of path and text for each.

    content.py trafilatura|resiliparse|readability < PATHS
"""

import json
import logging
import sys

def peer(name, paths):
    if name == "trafilatura":
        import trafilatura

        def extract(html):
            return trafilatura.extract(html) or ""
    elif name == "resiliparse":
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import bytes_to_str, detect_encoding

        def extract(html):
            return extract_plain_text(bytes_to_str(html, detect_encoding(html)), main_content=True, alt_texts=False)
    else:
        import lxml.html
        import readability

        def extract(html):
            return lxml.html.fromstring(readability.Document(html.decode("utf-8", "replace")).summary()).text_content()

    logging.disable(logging.CRITICAL)
    for path in paths:
        with open(path, "rb") as file:
            html = file.read()
        try:
            text = extract(html)
        except Exception:
            # A page that a program cannot handle counts as empty.
            text = ""
        print(json.dumps([path, text]))


peer(sys.argv[1], [line for line in sys.stdin.read().split("\n") if line])
