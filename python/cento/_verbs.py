"""The analyses of a corpus, as methods.

Generated from the definition of the command line by tools/generate_verbs.py: do not edit.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, Optional, Sequence, Union

from cento._command import Progress
from cento._findings import Findings

if TYPE_CHECKING:
    from cento._corpus import Corpus, Scan

StrPath = Union[str, "os.PathLike[str]"]
Value = Union[str, int, float]


class Analyses:
    """The analyses of a corpus. Options that are not given have the defaults of the command."""

    def _find(
        self, verb: str, options: Mapping[str, object], progress: Progress
    ) -> Findings:
        raise NotImplementedError

    def _scan(self, options: Mapping[str, object], progress: Progress) -> Scan:
        raise NotImplementedError

    @classmethod
    def _index(
        cls,
        inputs: Union[StrPath, Iterable[StrPath]],
        output: StrPath,
        options: Mapping[str, object],
        progress: Progress,
    ) -> Corpus:
        raise NotImplementedError

    @classmethod
    def index(
        cls,
        inputs: Union[StrPath, Iterable[StrPath]],
        output: StrPath,
        *,
        add: bool = False,
        repeat: bool = False,
        refresh: bool = False,
        query: bool = False,
        format: Optional[Value] = None,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        follow: bool = False,
        any_status: bool = False,
        list_base: Optional[str] = None,
        max_rate: Optional[Value] = None,
        retries: Optional[int] = None,
        stall_timeout: Optional[int] = None,
        anonymous: bool = False,
        content: Optional[Value] = None,
        main: bool = False,
        chunk: Optional[Value] = None,
        normalise: Optional[Value] = None,
        hash: Optional[Value] = None,
        no_text: bool = False,
        private_suffixes: bool = False,
        recursion_components: Optional[int] = None,
        recursion_repeats: Optional[int] = None,
        recursion_cycles: Optional[int] = None,
        strict: bool = False,
        max_page: Optional[Value] = None,
        max_ratio: Optional[int] = None,
        max_header: Optional[Value] = None,
        max_header_lines: Optional[int] = None,
        max_line: Optional[Value] = None,
        max_nesting: Optional[int] = None,
        max_seconds: Optional[Value] = None,
        max_chunks: Optional[int] = None,
        max_url: Optional[Value] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        part_size: Optional[Value] = None,
        json: bool = False,
        progress: Progress = True,
    ) -> Corpus:
        """Make a corpus from archives, folders and tables.

        Reads WARC, WET and ARC archives, folders of HTML and text files, JSON Lines and Parquet
        tables, and writes a folder of Parquet tables: pages, their text, and their chunks. Inputs
        may be local files, objects on S3, or URLs of web servers; S3 is configured by the usual
        variables (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL). Run the same command again to
        resume after an interruption, or to add the files that are new in a folder. Files that have
        changed or are missing are an error, unless ``refresh`` replaces the corpus.

        ``inputs`` is a file, a folder, a pattern or a URL, or several of them.

        Keywords:
          ``add``: Add other inputs to an existing corpus. Inputs that it already contains are
            skipped
          ``repeat``: With ``add``: add inputs once more that the corpus already contains
          ``refresh``: If files have changed or are missing since the corpus was made, index all
            inputs anew and replace the corpus
          ``query``: Also build the index for `cento query`, which otherwise the first query builds.
            With ``add``, an index that exists is always extended
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``follow``: Follow symbolic links that point outside the input folders; by default they
            are skipped
          ``any_status``: Keep pages with any HTTP status; by default those outside 200–299 are
            rejected
          ``list_base``: Base URL for relative lines in @FILE. By default they are paths, and
            relative lines in @URL are relative to its server or bucket
          ``max_rate``: Maximum download rate per second, for all inputs together
          ``retries``: How often a request may fail in a row before the run stops; the pause between
            attempts grows from 0.5 to 30 seconds [default: 8]
          ``stall_timeout``: Repeat a request after this many seconds without data [default: 30]
          ``anonymous``: Do not sign S3 requests, even if the environment has credentials. Without
            credentials, requests are never signed
          ``content``: Which text of an HTML page to keep: all; main, the main content without
            navigation and other boilerplate; or slope, the flattest window of the document slope
            curve (Seo & Croft 2008) [default: all]
          ``main``: Keep only the main content of HTML pages
          ``chunk``: Unit of text: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N
            or document [default: paragraph]
          ``normalise``: Normalise chunks before hashing: none, space or space+case [default:
            space+case]
          ``hash``: Hash function for chunks: blake3 or sha1 [default: blake3]
          ``no_text``: Do not store text: the corpus is smaller, and only analyses of chunks and
            page metadata work
          ``private_suffixes``: Treat suffixes under which anyone can publish, such as github.io, as
            public suffixes of domains
          ``recursion_components``: Reject a URL with more path components than this as a crawler's
            recursion [default: 96]
          ``recursion_repeats``: Reject a URL in which one component occurs this many times
            [default: 4]
          ``recursion_cycles``: Reject a URL in which a cycle of components occurs this many times
            in a row [default: 3]
          ``strict``: Exit with status 3 if records were damaged or pages could not be decoded
          ``max_page``: Largest page, as stored and after decoding; larger ones are rejected as
            too-large [default: 64M; at most 512M]
          ``max_ratio``: Largest expansion factor of a page over 1M when decoded (rejected as
            too-large), and of a compressed member larger than four maximum pages
            (unpacks-too-large) [default: 250]
          ``max_header``: Largest header of a record or response; larger ones are rejected as
            header-too-long [default: 256K]
          ``max_header_lines``: Most lines of a header; longer ones are rejected as header-too-long
            [default: 1000]
          ``max_line``: Longest line of JSON Lines; longer ones are rejected as line-too-long
            [default: 64M, or ``max_page`` if that is larger]
          ``max_nesting``: Deepest nesting of HTML elements or JSON values; deeper pages are
            rejected as too-deep [default: 20000]
          ``max_seconds``: Longest processing time of a page; slower pages are rejected as too-slow.
            No page comes near it within the other limits [default: 60]
          ``max_chunks``: Most chunks of a page; more are rejected as too-many-chunks [default:
            1000000]
          ``max_url``: Longest URL of a page; longer ones are rejected as url-too-long [default: 4K]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``part_size``: Payload per part of the corpus, which is the most work that an interruption
            can lose [default: 512M]
          ``json``: Print JSON, one object per line
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "add": add,
            "repeat": repeat,
            "refresh": refresh,
            "query": query,
            "format": format,
            "base_url": base_url,
            "field": field,
            "follow": follow,
            "any_status": any_status,
            "list_base": list_base,
            "max_rate": max_rate,
            "retries": retries,
            "stall_timeout": stall_timeout,
            "anonymous": anonymous,
            "content": content,
            "main": main,
            "chunk": chunk,
            "normalise": normalise,
            "hash": hash,
            "no_text": no_text,
            "private_suffixes": private_suffixes,
            "recursion_components": recursion_components,
            "recursion_repeats": recursion_repeats,
            "recursion_cycles": recursion_cycles,
            "strict": strict,
            "max_page": max_page,
            "max_ratio": max_ratio,
            "max_header": max_header,
            "max_header_lines": max_header_lines,
            "max_line": max_line,
            "max_nesting": max_nesting,
            "max_seconds": max_seconds,
            "max_chunks": max_chunks,
            "max_url": max_url,
            "threads": threads,
            "memory": memory,
            "part_size": part_size,
            "json": json,
        }
        return cls._index(inputs, output, options, progress)

    def copies(
        self,
        *,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        against: Optional[str] = None,
        resemblance: Optional[float] = None,
        k: Optional[int] = None,
        rule: Optional[Value] = None,
        keep: Optional[Value] = None,
        sweep: Optional[Value] = None,
        emit: Optional[Literal["keep", "drop", "all"]] = None,
        filter: Optional[Union[bool, str, Sequence[str]]] = None,
        output: Optional[StrPath] = None,
        overwrite: bool = False,
        skip_list: Optional[StrPath] = None,
        figures: Optional[StrPath] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        top: Optional[Value] = None,
        progress: Progress = True,
    ) -> Findings:
        """Find duplicate and near-duplicate pages, and which to keep.

        Exact duplicates have identical bytes or identical text. Near-duplicates are pages whose
        sets of word k-grams have a resemblance (shared grams over all grams of both) of at least
        ``resemblance``. In the order of ``keep``, a page is removed if it resembles a page that is
        kept, and kept otherwise. Candidates are found by sketches and verified by all of their
        grams, so no page is removed by chance. At the default of 0.8, a pair with a resemblance of
        exactly 0.8 is missed with a probability of 0.2 %, one of 0.85 with less than 0.01 %. Only
        pages with text count; revisits and rejected pages are counted separately.

        This is ``cento copies`` of this corpus.

        Keywords:
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``against``: Compare the pages with those of this corpus
          ``resemblance``: Minimum resemblance of near-duplicates, 0.1 to 1; 1 finds only exact
            duplicates [default: 0.8]
          ``k``: Words per gram [default: 5]
          ``rule``: How near-duplicates are found: resemblance, or megashingle as in Fetterly et al.
            2005 [default: resemblance]
          ``keep``: Which of several duplicates to keep: earliest (by publication date, else fetch
            date; undated pages last; then a URL without tracking parameters; then corpus order),
            first (in corpus order), longest or shortest-url [default: earliest]
          ``sweep``: Count the findings for other values of one parameter
          ``emit``: Print the URLs of the pages that are kept or removed, or of all pages with the
            decision
          ``filter``: Write the inputs without the pages that were found to the folder of
            ``output``. Without INPUT, all inputs
          ``output``: Where to write the result
          ``overwrite``: Replace existing files
          ``skip_list``: Write a list of what a crawler should skip: prefixes under which at least
            90 % of the pages duplicate the page at the same path under another prefix, the
            exceptions to be fetched anyway, and single URLs. At least one page of every class is
            fetched
          ``figures``: Write figures to this folder, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "base_url": base_url,
            "field": field,
            "format": format,
            "against": against,
            "resemblance": resemblance,
            "k": k,
            "rule": rule,
            "keep": keep,
            "sweep": sweep,
            "emit": emit,
            "filter": filter,
            "output": output,
            "overwrite": overwrite,
            "skip_list": skip_list,
            "figures": figures,
            "figure_format": figure_format,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "top": top,
        }
        return self._find("copies", options, progress)

    def overlap(
        self,
        *,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        servers: Optional[Union[bool, Literal["host", "domain"]]] = None,
        chunk: Optional[Value] = None,
        min_shared: Optional[int] = None,
        max_pages: Optional[int] = None,
        replication: bool = False,
        figures: Optional[StrPath] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        top: Optional[Value] = None,
        progress: Progress = True,
    ) -> Findings:
        """Find pages or servers that share chunks.

        Finds all pairs of pages that share at least ``min_shared`` chunks, and the share of each
        page that is found in the other (Shivakumar & Garcia-Molina 1998). A page is the set of its
        chunks; pages with identical text count as one, the earliest by date. With ``servers``,
        finds pairs of servers, each the union of its pages: mirrors share nearly all chunks.
        Results are exact with any amount of memory; chunks that are ignored because they are on too
        many pages (``max_pages``) are counted and reported.

        This is ``cento overlap`` of this corpus.

        Keywords:
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``servers``: Compare servers instead of pages: by host, or by registered domain
          ``chunk``: Unit of text: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N
            or document [default: that of the corpus]
          ``min_shared``: Minimum number of shared chunks or fingerprints [default: about 500 words,
            see below]
          ``max_pages``: Ignore what is on more pages than this; 0 ignores nothing [default: 1,000;
            more in a small corpus]
          ``replication``: Report how often pages are replicated, and what a crawl without replicas
            would save: by identical text, by 15 shared chunks of four lines, and by 25 shared
            chunks of two lines
          ``figures``: Write figures to this folder, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "base_url": base_url,
            "field": field,
            "format": format,
            "servers": servers,
            "chunk": chunk,
            "min_shared": min_shared,
            "max_pages": max_pages,
            "replication": replication,
            "figures": figures,
            "figure_format": figure_format,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "top": top,
        }
        return self._find("overlap", options, progress)

    def reuse(
        self,
        *,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        against: Optional[str] = None,
        scheme: Optional[Value] = None,
        most: Optional[Value] = None,
        considerable: Optional[Value] = None,
        partial_share: Optional[Value] = None,
        min_shared: Optional[int] = None,
        max_pages: Optional[int] = None,
        frequent: Optional[int] = None,
        frame: bool = False,
        style: Optional[Union[Value, Sequence[Value]]] = None,
        compare: bool = False,
        labelled: Optional[StrPath] = None,
        figures: Optional[StrPath] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        top: Optional[Value] = None,
        progress: Progress = True,
    ) -> Findings:
        """Find pages that share text, from a passage to the whole page.

        Finds all pairs of pages that share fingerprints of their text, the share of each page found
        in the other, and the category of the pair (Seo & Croft 2008): C1, C2 and C4 are
        near-duplicates, C3, C5 and C6 are local reuse. A pair in which only one page reaches
        ``partial_share``, such as a short page inside a very long one, is one-sided. Results are
        exact with any amount of memory.

        This is ``cento reuse`` of this corpus.

        Keywords:
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``against``: Compare the pages with those of this corpus
          ``scheme``: How fingerprints are selected: kgram, mod, winnow, break or dct, with
            parameters (see below) [default: winnow]
          ``most``: Least share of a page of which most is reused [default: 0.8]
          ``considerable``: Least share of a page of which a considerable part is reused [default:
            0.5]
          ``partial_share``: Least share of a page of which a part is reused [default: 0.1]
          ``min_shared``: Minimum number of shared chunks or fingerprints [default: 1]
          ``max_pages``: Ignore what is on more pages than this; 0 ignores nothing [default: 1,000;
            more in a small corpus]
          ``frequent``: From this many pages on, shared text is a template or a common phrase
            [default: 10]
          ``frame``: Remove page frames: fingerprints on at least 5 pages and a fifth of the pages
            of a host. The summary shows the pairs with and without. `cento index ``content`` slope`
            or `main` removes more, by the elements of the page
          ``style``: Keep only pairs of these styles, separated by commas: reuse, template, phrase,
            frame, alias
          ``compare``: Run all five schemes with the parameters of the paper, and compare them with
            kgram
          ``labelled``: With ``compare``: also measure precision, recall and F1 on pairs of known
            category
          ``figures``: Write figures to this folder, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "base_url": base_url,
            "field": field,
            "format": format,
            "against": against,
            "scheme": scheme,
            "most": most,
            "considerable": considerable,
            "partial_share": partial_share,
            "min_shared": min_shared,
            "max_pages": max_pages,
            "frequent": frequent,
            "frame": frame,
            "style": style,
            "compare": compare,
            "labelled": labelled,
            "figures": figures,
            "figure_format": figure_format,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "top": top,
        }
        return self._find("reuse", options, progress)

    def passages(
        self,
        *,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        all: bool = False,
        of: Optional[str] = None,
        pairs: Optional[StrPath] = None,
        fold: Optional[Literal["none", "ocr"]] = None,
        min_chars: Optional[int] = None,
        max_pages: Optional[int] = None,
        clusters: bool = False,
        strip: bool = False,
        strip_kinds: Optional[Union[Literal["verbatim", "edited", "scattered"], Sequence[Literal["verbatim", "edited", "scattered"]]]] = None,
        output: Optional[StrPath] = None,
        overwrite: bool = False,
        print: Optional[Literal["json", "csv", "tei"]] = None,
        figures: Optional[StrPath] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        top: Optional[Value] = None,
        progress: Progress = True,
    ) -> Findings:
        """Show exactly which words texts share.

        With two files, shows the passages that both have, side by side, with differing words
        marked. With a corpus, finds the passages of all pairs of pages that share text, which of
        the two pages is earlier by date, and whether the later one links to it. Passages may be
        verbatim, edited (words replaced, inserted, deleted or reordered) or scattered (A is a
        summary of B). A is the later text.

        This is ``cento passages`` of this corpus.

        Keywords:
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``all``: Compare all pairs of pages that share text; the default for a corpus
          ``of``: Compare only the page with this URL with the others
          ``pairs``: Compare the pairs of URLs in this table (.parquet, .jsonl or .csv), in the
            columns a and b, page and of, or page and source
          ``fold``: How words are compared: none, or ocr to tolerate confusable letters, words
            hyphenated at the end of a line, and words split in two [default: none]
          ``min_chars``: Minimum length of a passage, in characters on each side [default: 160]
          ``max_pages``: Ignore what is on more pages than this; 0 ignores nothing [default: 100]
          ``clusters``: List passages that were found on at least three pages, with the page that
            was published or fetched first, where dates decide, and their spread over time and sites
          ``strip``: Write the inputs without the passages that another page keeps to the folder of
            ``output``, with a table cuts.csv of what was cut and why
          ``strip_kinds``: Kinds of passages that ``strip`` cuts: verbatim, edited, scattered
            [default: verbatim]
          ``output``: Where to write the result
          ``overwrite``: Replace existing files
          ``print``: Print all passages in this format: json, csv, or tei (TEI P5, for scholarly
            editions)
          ``figures``: Write figures to this folder, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "base_url": base_url,
            "field": field,
            "format": format,
            "all": all,
            "of": of,
            "pairs": pairs,
            "fold": fold,
            "min_chars": min_chars,
            "max_pages": max_pages,
            "clusters": clusters,
            "strip": strip,
            "strip_kinds": strip_kinds,
            "output": output,
            "overwrite": overwrite,
            "print": print,
            "figures": figures,
            "figure_format": figure_format,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "top": top,
        }
        return self._find("passages", options, progress)

    def quilts(
        self,
        *,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        k: Optional[int] = None,
        m: Optional[int] = None,
        c: Optional[int] = None,
        theta: Optional[float] = None,
        foreign: Optional[Literal["domain", "host", "ip", "none"]] = None,
        min_source: Optional[float] = None,
        collapse: Optional[Union[bool, Literal["yes", "no"]]] = None,
        sweep: Optional[Union[Value, Sequence[Value]]] = None,
        figures: Optional[StrPath] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        seed: Optional[int] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        sample: Optional[int] = None,
        top: Optional[Value] = None,
        progress: Progress = True,
    ) -> Findings:
        """Find pages stitched from patches of other pages.

        A page is quilted if at least the share THETA of its distinct word k-grams are patch grams,
        and at least C foreign pages are needed to cover the patch grams that foreign pages have
        (Najork 2012). A patch gram occurs on 2 to M pages. All such pages are found with all of
        their sources, without sampling. The cover is greedy, with ties broken by corpus order. If
        several pages have the same patch, the earliest by date is named as its source. Shared text
        does not say who copied from whom; dates and links may.

        This is ``cento quilts`` of this corpus.

        Keywords:
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``k``: Words per gram [default: 5]
          ``m``: Most pages of a patch gram; a gram on more pages is common [default: 50]
          ``c``: Minimum number of sources of a quilt [default: 4]
          ``theta``: Minimum share of patch grams, above 0 and up to 1 [default: 0.5]
          ``foreign``: Which pages are foreign to a page. A page without a domain, host or ip, such
            as a local file, is foreign to all [default: domain]
          ``min_source``: Count only sources that cover at least this additional share of the page's
            patch grams [default: 0]
          ``collapse``: Count duplicates and near-duplicates as one page: yes or no [default: no]
          ``sweep``: Count the findings for other values of one parameter
          ``figures``: Write figures to this folder, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``seed``: Seed of the random generator
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``sample``: Print this many results, drawn at random
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "base_url": base_url,
            "field": field,
            "format": format,
            "k": k,
            "m": m,
            "c": c,
            "theta": theta,
            "foreign": foreign,
            "min_source": min_source,
            "collapse": collapse,
            "sweep": sweep,
            "figures": figures,
            "figure_format": figure_format,
            "seed": seed,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "sample": sample,
            "top": top,
        }
        return self._find("quilts", options, progress)

    def phrases(
        self,
        *,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        k: Optional[int] = None,
        min_pages: Optional[int] = None,
        exact: bool = False,
        collapse: Optional[Union[bool, Literal["yes", "no"]]] = None,
        rule: Optional[Value] = None,
        site: Optional[Value] = None,
        flag_pages: Optional[int] = None,
        flag_mean: Optional[float] = None,
        flag_deviation: Optional[float] = None,
        cover_from: Optional[int] = None,
        cover_pages: Optional[Value] = None,
        candidates: Optional[int] = None,
        foreign: Optional[Literal["both", "ip", "domain"]] = None,
        figures: Optional[StrPath] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        top: Optional[Value] = None,
        progress: Progress = True,
    ) -> Findings:
        """Find popular phrases, and the pages and sites made of them.

        After Fetterly, Manasse & Najork 2005. From each page, 84 phrases of five words are sampled,
        its shingles; near-duplicates count as one page. Unlike in the paper, the end of a page is
        not joined to its beginning, which would make phrases that nobody wrote. A phrase is popular
        if it is a shingle of at least ``min_pages`` pages. A site is flagged if all of its pages
        have many popular shingles: such pages may be generated from a limited stock of sentences,
        but also be templates filled from a database, so review what is flagged. For pages with many
        popular shingles, a covering set names other pages that they could be assembled from.

        This is ``cento phrases`` of this corpus.

        Keywords:
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``k``: Words per gram [default: 5]
          ``min_pages``: Minimum number of pages that a popular phrase was sampled from; with
            ``exact``, that it is on [default: 5]
          ``exact``: Count all phrases of all pages, instead of the sampled ones
          ``collapse``: Count duplicates and near-duplicates as one page: yes or no [default: yes]
          ``rule``: How near-duplicates are found: resemblance, or megashingle as in Fetterly et al.
            2005 [default: resemblance]
          ``site``: What a site is: host, domain or ip. A spammer with few pages on each of many
            hosts shows up only by ip [default: host]
          ``flag_pages``: Flag only sites with at least this many pages [default: 10]
          ``flag_mean``: Flag only sites with a mean of at least this many popular shingles per
            page, of 84 [default: 30]
          ``flag_deviation``: Flag only sites with a standard deviation of popular shingles below
            this [default: 15]
          ``cover_from``: Cover pages with at least this many popular shingles [default: 30]
          ``cover_pages``: Number of pages to cover for each number of popular shingles, or all; 0
            covers none [default: 50]
          ``candidates``: Number of candidate pages per phrase for the cover of a page, foreign
            pages first [default: 256]
          ``foreign``: Which pages are foreign to a page. A page without a domain, host or ip, such
            as a local file, is foreign to all [default: both]
          ``figures``: Write figures to this folder, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "base_url": base_url,
            "field": field,
            "format": format,
            "k": k,
            "min_pages": min_pages,
            "exact": exact,
            "collapse": collapse,
            "rule": rule,
            "site": site,
            "flag_pages": flag_pages,
            "flag_mean": flag_mean,
            "flag_deviation": flag_deviation,
            "cover_from": cover_from,
            "cover_pages": cover_pages,
            "candidates": candidates,
            "foreign": foreign,
            "figures": figures,
            "figure_format": figure_format,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "top": top,
        }
        return self._find("phrases", options, progress)

    def discover(
        self,
        *,
        output: StrPath,
        from_: Optional[Union[str, Sequence[str]]] = None,
        unit: Optional[Value] = None,
        more_than: Optional[int] = None,
        most_frequent: Optional[int] = None,
        min_length: Optional[int] = None,
        stop: Optional[Union[StrPath, Sequence[StrPath]]] = None,
        no_stop: bool = False,
        stop_proposed: bool = False,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        main: bool = False,
        chunk: Optional[Value] = None,
        normalise: Optional[Value] = None,
        hash: Optional[Value] = None,
        figures: Optional[StrPath] = None,
        seed: Optional[int] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        sample: Optional[int] = None,
        top: Optional[Value] = None,
        progress: Progress = True,
    ) -> Findings:
        """Find what is copied: labels for `cento detect`.

        After Ardi & Heidemann 2014. Blind discovery labels the chunks that occur in CORPUS more
        often than a threshold and are not stop chunks. Informed discovery (``from``) labels all
        chunks of your originals that are long enough. Index a crawl as one corpus: parts of it do
        not show what is frequent in the whole.

        This is ``cento discover`` of this corpus.

        Keywords:
          ``output``: Where to write the result
          ``from_``: Label all chunks of these originals: a corpus, or anything that `cento index`
            reads
          ``unit``: What to label: chunks or files [default: chunks]
          ``more_than``: Label what occurs more often than this [default: 2.5 per million chunks, at
            least 5]
          ``most_frequent``: Label the N most frequent ones
          ``min_length``: Ignore chunks of the originals with fewer bytes than this [default: 100]
          ``stop``: Additional stop list: a text file in the format of `cento labels stops`
          ``no_stop``: Do not use the built-in stop list
          ``stop_proposed``: Stop all labels that look like idioms or templates, without a review
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``main``: Keep only the main content of HTML pages
          ``chunk``: Unit of text: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N
            or document [default: paragraph]
          ``normalise``: Normalise chunks before hashing: none, space or space+case [default:
            space+case]
          ``hash``: Hash function for chunks: blake3 or sha1 [default: blake3]
          ``figures``: Write figures to this folder, as SVG and CSV
          ``seed``: Seed of the random generator
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``sample``: Print this many results, drawn at random
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "output": output,
            "from_": from_,
            "unit": unit,
            "more_than": more_than,
            "most_frequent": most_frequent,
            "min_length": min_length,
            "stop": stop,
            "no_stop": no_stop,
            "stop_proposed": stop_proposed,
            "base_url": base_url,
            "field": field,
            "format": format,
            "main": main,
            "chunk": chunk,
            "normalise": normalise,
            "hash": hash,
            "figures": figures,
            "seed": seed,
            "figure_format": figure_format,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "sample": sample,
            "top": top,
        }
        return self._find("discover", options, progress)

    def detect(
        self,
        *,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        labels: Optional[StrPath] = None,
        against: Optional[Union[str, Sequence[str]]] = None,
        grams: Optional[int] = None,
        min_share: Optional[float] = None,
        min_length: Optional[int] = None,
        fuzzy: Optional[Union[bool, float]] = None,
        own: Optional[Union[str, Sequence[str]]] = None,
        threshold: Optional[float] = None,
        page_threshold: Optional[float] = None,
        mean_threshold: Optional[float] = None,
        ratio_threshold: Optional[float] = None,
        depth: Optional[int] = None,
        count_stops: bool = False,
        stop: Optional[Union[StrPath, Sequence[StrPath]]] = None,
        stop_proposed: bool = False,
        against_field: Optional[Union[str, Sequence[str]]] = None,
        truth: Optional[StrPath] = None,
        write_labels: Optional[StrPath] = None,
        filter: Optional[Union[bool, str, Sequence[str]]] = None,
        output: Optional[StrPath] = None,
        overwrite: bool = False,
        figures: Optional[StrPath] = None,
        evidence: Optional[StrPath] = None,
        reproducible: bool = False,
        seed: Optional[int] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        sample: Optional[int] = None,
        top: Optional[Value] = None,
        progress: Progress = True,
    ) -> Findings:
        """Find where text is copied: pages, sites and folders that contain labels.

        After Ardi & Heidemann 2014. The score of a page is the share of its chunks that are labels,
        without stop chunks. A neighbourhood (all pages under a host or a folder) has two scores,
        the mean of its pages and the share of all of its chunks. It is flagged (a "bad
        neighbourhood" in the paper) if either is above its threshold, by default the mean of all
        neighbourhoods plus one standard deviation. Scores are compared exactly, without rounding. A
        match means that the text is in two places, not who copied it.

        This is ``cento detect`` of this corpus.

        Keywords:
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``labels``: Find these labels, made by `cento discover`
          ``against``: Compare the pages with those of this corpus
          ``grams``: With ``against``: match overlapping runs of K words instead of chunks
          ``min_share``: With ``grams``: list pages with at least this share of an item's runs
            [default: 0.5]
          ``min_length``: Ignore chunks of the originals with fewer bytes than this [default: 100]
          ``fuzzy``: Also find edited chunks: those with at least this share of a label's words, in
            runs of 4. They do not affect scores
          ``own``: Ignore pages of this domain or host, such as that of the originals. May be
            repeated
          ``threshold``: Flag pages and neighbourhoods above this share [default: mean plus standard
            deviation of each score]
          ``page_threshold``: Flag pages above this share
          ``mean_threshold``: Flag neighbourhoods whose mean is above this
          ``ratio_threshold``: Flag neighbourhoods whose ratio is above this
          ``depth``: Number of levels of neighbourhoods: 1 is only hosts [default: all]
          ``count_stops``: Count stop chunks like other chunks
          ``stop``: Additional stop list: a text file in the format of `cento labels stops`
          ``stop_proposed``: Stop all labels that look like idioms or templates, without a review
          ``against_field``: Assign a field of a table of ``against`` to a role, if its fields are
            not those of CORPUS. May be repeated [default: as ``field``]
          ``truth``: What is to be found: the truth.jsonl of `cento synth`
          ``write_labels``: With ``against``: write the labels of the originals to this file
          ``filter``: Write the inputs without the pages that were found to the folder of
            ``output``. Without INPUT, all inputs
          ``output``: Where to write the result
          ``overwrite``: Replace existing files
          ``figures``: Write figures to this folder, as SVG and CSV
          ``evidence``: With ``against``: write a folder with an HTML page for each site that has
            text of the originals, to be sent to somebody: its pages with addresses, dates and
            hashes of their payloads, and the shared passages beside the originals' words
          ``reproducible``: Leave out the time at which it was made: the same data give the same
            bytes
          ``seed``: Seed of the random generator
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``sample``: Print this many results, drawn at random
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "base_url": base_url,
            "field": field,
            "format": format,
            "labels": labels,
            "against": against,
            "grams": grams,
            "min_share": min_share,
            "min_length": min_length,
            "fuzzy": fuzzy,
            "own": own,
            "threshold": threshold,
            "page_threshold": page_threshold,
            "mean_threshold": mean_threshold,
            "ratio_threshold": ratio_threshold,
            "depth": depth,
            "count_stops": count_stops,
            "stop": stop,
            "stop_proposed": stop_proposed,
            "against_field": against_field,
            "truth": truth,
            "write_labels": write_labels,
            "filter": filter,
            "output": output,
            "overwrite": overwrite,
            "figures": figures,
            "evidence": evidence,
            "reproducible": reproducible,
            "seed": seed,
            "figure_format": figure_format,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "sample": sample,
            "top": top,
        }
        return self._find("detect", options, progress)

    def dedup(
        self,
        *,
        output: StrPath,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        against: Optional[str] = None,
        resemblance: Optional[float] = None,
        k: Optional[int] = None,
        rule: Optional[Value] = None,
        keep: Optional[Value] = None,
        overwrite: bool = False,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        top: Optional[Value] = None,
        filter: Optional[Union[bool, str, Sequence[str]]] = None,
        progress: Progress = True,
    ) -> Findings:
        """Write a data set without duplicate and near-duplicate records: `copies --filter`.

        The same as `cento copies INPUT… ``filter`` -o FOLDER`, see there for how duplicates are
        found and which of them is kept. Files, columns, types, the order of records and the
        division into shards are kept; only the removed records are missing.

        This is ``cento dedup`` of this corpus.

        Keywords:
          ``output``: Where to write the result
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``against``: Compare the pages with those of this corpus
          ``resemblance``: Minimum resemblance of near-duplicates, 0.1 to 1; 1 finds only exact
            duplicates [default: 0.8]
          ``k``: Words per gram [default: 5]
          ``rule``: How near-duplicates are found: resemblance, or megashingle as in Fetterly et al.
            2005 [default: resemblance]
          ``keep``: Which of several duplicates to keep: earliest (by publication date, else fetch
            date; undated pages last; then a URL without tracking parameters; then corpus order),
            first (in corpus order), longest or shortest-url [default: earliest]
          ``overwrite``: Replace existing files
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``filter``: Write only these of the inputs, if CORPUS is a corpus
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "output": output,
            "base_url": base_url,
            "field": field,
            "format": format,
            "against": against,
            "resemblance": resemblance,
            "k": k,
            "rule": rule,
            "keep": keep,
            "overwrite": overwrite,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "top": top,
            "filter": filter,
        }
        return self._find("dedup", options, progress)

    def contamination(
        self,
        *,
        against: Union[str, Sequence[str]],
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        format: Optional[Value] = None,
        against_field: Optional[Union[str, Sequence[str]]] = None,
        output: Optional[StrPath] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        top: Optional[Value] = None,
        grams: Optional[int] = None,
        min_share: Optional[float] = None,
        filter: Optional[Union[bool, str, Sequence[str]]] = None,
        overwrite: bool = False,
        progress: Progress = True,
    ) -> Findings:
        """Find the items of a benchmark in training data: `detect --grams`.

        The same as `cento detect CORPUS ``against`` ITEMS ``grams`` 8`. An item is compared by its
        overlapping runs of K words, anywhere on a page; runs in more than a tenth of the items (8
        to 64 items) are ignored. `cento report` shows the items that were found beside the words of
        the pages.

        This is ``cento contamination`` of this corpus.

        Keywords:
          ``against``: The items of the benchmark: a corpus, or anything that `cento index` reads
          ``base_url``: URL of the input folder; by default the URL of a file is its path
          ``field``: Assign a field of a table to a role: text, html, url, date, title, id, language
            or ip. May be repeated; `a.b` reads a field of a nested object
          ``format``: Read inputs in this format instead of detecting it: warc, arc, wacz, html,
            text, jsonl or parquet
          ``against_field``: Assign a field of a table of ``against`` to a role, if its fields are
            not those of CORPUS. May be repeated [default: as ``field``]
          ``output``: Where to write the result
          ``out``: Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
            extension: .parquet, .jsonl or .csv; - prints JSON Lines
          ``json``: Print JSON, one object per line
          ``explain``: Print the seconds, rows and bytes of each stage
          ``findings``: Folder of the findings [default: CORPUS/findings]
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``grams``: Compare overlapping runs of K words; shorter items are ignored [default: 8]
          ``min_share``: An item is found on a page that has at least this share of its runs
            [default: 0.5]
          ``filter``: Write the inputs without the pages that were found to the folder of
            ``output``. Without INPUT, all inputs
          ``overwrite``: Replace existing files
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "against": against,
            "base_url": base_url,
            "field": field,
            "format": format,
            "against_field": against_field,
            "output": output,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "top": top,
            "grams": grams,
            "min_share": min_share,
            "filter": filter,
            "overwrite": overwrite,
        }
        return self._find("contamination", options, progress)

    def scan(
        self,
        *,
        only: Optional[Union[Literal["copies", "copies-sweep", "replication", "overlap-servers", "overlap", "reuse", "passages", "quilts", "quilts-sweep", "phrases", "discover", "detect", "contamination", "copied-passages"], Sequence[Literal["copies", "copies-sweep", "replication", "overlap-servers", "overlap", "reuse", "passages", "quilts", "quilts-sweep", "phrases", "discover", "detect", "contamination", "copied-passages"]]]] = None,
        labels: Optional[StrPath] = None,
        report: Optional[StrPath] = None,
        figures: Optional[StrPath] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        top: Optional[Value] = None,
        open: bool = False,
        reproducible: bool = False,
        explain: bool = False,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        progress: Progress = True,
    ) -> Scan:
        """Find all reuse in files or in a corpus, and write a report.

        Indexes the inputs, or opens an existing corpus; runs all analyses that suit it; prints a
        summary, and writes an HTML report. Run the same command again to resume after an
        interruption, or to add the files that are new in a folder; cached results are used again.

        This is ``cento scan`` of this corpus.

        Keywords:
          ``only``: Run only these analyses, separated by commas
          ``labels``: Find these labels, made by `cento discover`
          ``report``: File of the report [default: report.html in the corpus]
          ``figures``: Write figures to this folder, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``top``: Number of rows to show of each table, or all [default: 10]
          ``open``: Open the result in a browser
          ``reproducible``: Leave out the time at which it was made: the same data give the same
            bytes
          ``explain``: Print the seconds, rows and bytes of each stage
          ``again``: Do the work again instead of using cached results
          ``partial``: Use a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings; for inputs, the
            system's]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "only": only,
            "labels": labels,
            "report": report,
            "figures": figures,
            "figure_format": figure_format,
            "top": top,
            "open": open,
            "reproducible": reproducible,
            "explain": explain,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
        }
        return self._scan(options, progress)
