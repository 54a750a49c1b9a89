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
        again: bool = False,
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
        resume after an interruption.

        ``inputs`` is a file, a folder, a pattern or a URL, or several of them.

        Keywords:
          ``add``: Add the inputs to an existing corpus with the same parameters. Inputs that it
            already contains are skipped
          ``again``: With ``add``: add inputs again that the corpus already contains
          ``query``: Also build the index for `cento query`, which otherwise the first query builds.
            With ``add``, an index that exists is always extended
          ``format``: Read every input in this format instead of detecting it from name and content:
            warc, arc, wacz, html, text, jsonl or parquet
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
          ``main``: Same as ``content`` main
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
          ``json``: Print the summary as one JSON object
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "add": add,
            "again": again,
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
        against: Optional[StrPath] = None,
        resemblance: Optional[float] = None,
        k: Optional[int] = None,
        scheme: Optional[Value] = None,
        keep: Optional[Value] = None,
        emit: Optional[Literal["keep", "drop", "all"]] = None,
        filter: Optional[Union[bool, str, Sequence[str]]] = None,
        output: Optional[StrPath] = None,
        overwrite: bool = False,
        skip_list: Optional[StrPath] = None,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        out: Optional[StrPath] = None,
        json: bool = False,
        explain: bool = False,
        findings: Optional[StrPath] = None,
        again: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
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
          ``against``: Find only pages of CORPUS that duplicate pages of this corpus
          ``resemblance``: Minimum resemblance of near-duplicates, 0.1 to 1; 1 finds only exact
            duplicates [default: 0.8]
          ``k``: Words per gram [default: 5]
          ``scheme``: How near-duplicates are found: resemblance, or megashingle, the rule of
            Fetterly et al. 2005 (two of six bands of 14 minima agree; not verified; transitive)
            [default: resemblance]
          ``keep``: Which of several duplicates to keep: earliest (by publication date, else fetch
            date; undated pages last; then a URL without tracking parameters; then corpus order),
            first (in corpus order), longest or shortest-url [default: earliest]
          ``emit``: Print the URLs of the pages that are kept or removed, or of all pages with the
            decision
          ``filter``: Write the inputs without the removed pages to the folder of ``output``: JSON
            Lines, Parquet, archives (in WARC, a page with identical bytes becomes a revisit record)
            and single files. Without INPUT, all inputs
          ``output``: Folder for ``filter``. It must not contain inputs or be inside an input
            folder; existing files are not replaced
          ``overwrite``: With ``filter``: replace existing files
          ``skip_list``: Write a list of what a crawler should skip: prefixes under which at least
            90 % of the pages duplicate the page at the same path under another prefix, the
            exceptions to be fetched anyway, and single URLs. At least one page of every class is
            fetched
          ``base_url``: URL of the input folder
          ``field``: Assign a field of a table to a role, as for `cento index`
          ``out``: Write the main table to a file, in the format of its extension: .parquet, .jsonl
            or .csv
          ``json``: Print the rows of the main table, one JSON object per line
          ``explain``: Print the rows, bytes and seconds of each stage
          ``findings``: Folder for the findings [default: CORPUS/findings]
          ``again``: Run the analysis again instead of using cached results
          ``partial``: Analyse a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "against": against,
            "resemblance": resemblance,
            "k": k,
            "scheme": scheme,
            "keep": keep,
            "emit": emit,
            "filter": filter,
            "output": output,
            "overwrite": overwrite,
            "skip_list": skip_list,
            "base_url": base_url,
            "field": field,
            "out": out,
            "json": json,
            "explain": explain,
            "findings": findings,
            "again": again,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
        }
        return self._find("copies", options, progress)

    def overlap(
        self,
        *,
        servers: Optional[Union[bool, Literal["host", "domain"]]] = None,
        chunk: Optional[Value] = None,
        threshold: Optional[int] = None,
        max_pages: Optional[int] = None,
        replication: bool = False,
        top: Optional[int] = None,
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
        progress: Progress = True,
    ) -> Findings:
        """Find pages or servers that share chunks.

        Finds all pairs of pages that share at least ``threshold`` chunks, and the share of each
        page that is found in the other (Shivakumar & Garcia-Molina 1998). A page is the set of its
        chunks; pages with identical text count as one, the earliest by date. With ``servers``,
        finds pairs of servers, each the union of its pages: mirrors share nearly all chunks.
        Results are exact with any amount of memory; chunks that are ignored because they are on too
        many pages (``max_pages``) are counted and reported.

        This is ``cento overlap`` of this corpus.

        Keywords:
          ``servers``: Compare servers instead of pages: by host, or by registered domain
          ``chunk``: Unit of text: paragraph, lines:N, sentences:N, words:N or document [default:
            that of the corpus]
          ``threshold``: Minimum number of shared chunks [default: about 500 words, see below]
          ``max_pages``: Ignore chunks on more pages, or servers, than this: a chunk on p pages
            makes p²/2 pairs. 0 ignores none [default: 1,000; more in a small corpus, where no chunk
            need be ignored]
          ``replication``: Report how often pages are replicated, and what a crawl without replicas
            would save: by identical text, by 15 shared chunks of four lines, and by 25 shared
            chunks of two lines
          ``top``: Number of pairs to show [default: 10]
          ``figures``: Write figures of the replication, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file, in the format of its extension: .parquet, .jsonl
            or .csv
          ``json``: Print the rows of the main table, one JSON object per line
          ``explain``: Print the rows, bytes and seconds of each stage
          ``findings``: Folder for the findings [default: CORPUS/findings]
          ``again``: Run the analysis again instead of using cached results
          ``partial``: Analyse a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "servers": servers,
            "chunk": chunk,
            "threshold": threshold,
            "max_pages": max_pages,
            "replication": replication,
            "top": top,
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
        }
        return self._find("overlap", options, progress)

    def reuse(
        self,
        *,
        against: Optional[StrPath] = None,
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
        top: Optional[int] = None,
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
          ``against``: Compare the pages of CORPUS only with those of another corpus
          ``scheme``: How fingerprints are selected: kgram, mod, winnow, break or dct, with
            parameters (see below) [default: winnow]
          ``most``: Least share of a page of which most is reused [default: 0.8]
          ``considerable``: Least share of a page of which a considerable part is reused [default:
            0.5]
          ``partial_share``: Least share of a page of which a part is reused [default: 0.1]
          ``min_shared``: Minimum number of shared fingerprints [default: 1]
          ``max_pages``: Ignore fingerprints on more distinct pages than this: one on p pages makes
            p²/2 pairs. 0 ignores none [default: 1,000; more in a small corpus]
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
          ``top``: Number of pairs to show [default: 10]
          ``figures``: Write figures, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file, in the format of its extension: .parquet, .jsonl
            or .csv
          ``json``: Print the rows of the main table, one JSON object per line
          ``explain``: Print the rows, bytes and seconds of each stage
          ``findings``: Folder for the findings [default: CORPUS/findings]
          ``again``: Run the analysis again instead of using cached results
          ``partial``: Analyse a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
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
            "top": top,
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
        }
        return self._find("reuse", options, progress)

    def passages(
        self,
        *,
        all: bool = False,
        of: Optional[str] = None,
        pairs: Optional[StrPath] = None,
        fold: Optional[Literal["none", "ocr"]] = None,
        min_chars: Optional[int] = None,
        max_pages: Optional[int] = None,
        clusters: bool = False,
        strip: bool = False,
        output: Optional[StrPath] = None,
        overwrite: bool = False,
        top: Optional[int] = None,
        format: Optional[Literal["json", "csv", "tei"]] = None,
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
          ``all``: Compare all pairs of pages that share text; the default for a corpus
          ``of``: Compare only the page with this URL with the others
          ``pairs``: Compare the pairs of URLs in this table (.parquet, .jsonl or .csv), in the
            columns a and b, page and of, or page and source
          ``fold``: How words are compared: none, or ocr to tolerate confusable letters, words
            hyphenated at the end of a line, and words split in two [default: none]
          ``min_chars``: Minimum length of a passage, in characters on each side [default: 160]
          ``max_pages``: What is on more pages than this is boilerplate: its fingerprints do not
            make pairs (unless ``of`` or ``pairs`` chooses them), and paragraphs with which a page
            begins or ends are not compared [default: 100]
          ``clusters``: List passages that are on at least three pages, with their first appearance
            and their spread over time and sites
          ``strip``: Write the inputs without the passages that an earlier page has to the folder of
            ``output``, with a table cuts.csv of what was cut and why. JSON Lines and text files
            keep their format, HTML files become plain paragraphs, WARC records become conversion
            records of plain text, and in Parquet tables the column with the text changes; ARC is
            refused
          ``output``: Folder for ``strip``. It must not contain inputs or be inside an input folder;
            existing files are not replaced
          ``overwrite``: With ``strip``: replace existing files
          ``top``: Number of passages to show [default: 10]
          ``format``: Print all passages in this format: json, csv, or tei (TEI P5, for scholarly
            editions)
          ``figures``: Write figures of the passages, or with ``clusters`` of their spread over
            time, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file, in the format of its extension: .parquet, .jsonl
            or .csv
          ``json``: Print the rows of the main table, one JSON object per line
          ``explain``: Print the rows, bytes and seconds of each stage
          ``findings``: Folder for the findings [default: CORPUS/findings]
          ``again``: Run the analysis again instead of using cached results
          ``partial``: Analyse a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "all": all,
            "of": of,
            "pairs": pairs,
            "fold": fold,
            "min_chars": min_chars,
            "max_pages": max_pages,
            "clusters": clusters,
            "strip": strip,
            "output": output,
            "overwrite": overwrite,
            "top": top,
            "format": format,
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
        }
        return self._find("passages", options, progress)

    def quilts(
        self,
        *,
        k: Optional[int] = None,
        m: Optional[int] = None,
        c: Optional[int] = None,
        theta: Optional[float] = None,
        foreign: Optional[Value] = None,
        min_share: Optional[float] = None,
        collapse: bool = False,
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
        progress: Progress = True,
    ) -> Findings:
        """Find pages stitched from patches of other pages.

        A page is quilted if at least the share THETA of its distinct word k-grams are patch grams,
        and at least C other pages are needed to cover these (Najork 2012). A patch gram occurs on 2
        to M pages. All such pages are found with all of their sources, without sampling. The cover
        is greedy, with ties broken by corpus order. If several pages have the same patch, the
        earliest by date is named as its source. Shared text does not say who copied from whom;
        dates and links may.

        This is ``cento quilts`` of this corpus.

        Keywords:
          ``k``: Words per gram [default: 5]
          ``m``: Most pages of a patch gram; a gram on more pages is common [default: 50]
          ``c``: Minimum number of sources of a quilt [default: 4]
          ``theta``: Minimum share of patch grams, above 0 and up to 1 [default: 0.5]
          ``foreign``: Which pages can be sources: those of another domain, host or ip, or all pages
            (none). A page without one, such as a local file, is foreign to all [default: domain]
          ``min_share``: Count only sources that cover at least this additional share of the page's
            patch grams [default: 0]
          ``collapse``: Remove duplicates and near-duplicates first, as `cento copies` finds them
          ``sweep``: Also count quilts for other values of one parameter: k=2..10, m=10..80:10,
            c=2,4,8, theta=0.4..1.0. May be repeated; each value of k takes a pass over the texts.
            ``out`` and ``json`` then export the counts
          ``figures``: Write figures of the sweeps, as DIR/NAME.svg and DIR/NAME.csv
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``seed``: Seed of the sample: another seed draws another sample
          ``out``: Write the main table to a file, in the format of its extension: .parquet, .jsonl
            or .csv
          ``json``: Print the rows of the main table, one JSON object per line
          ``explain``: Print the rows, bytes and seconds of each stage
          ``findings``: Folder for the findings [default: CORPUS/findings]
          ``again``: Run the analysis again instead of using cached results
          ``partial``: Analyse a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``sample``: Print this many quilts with their patches, drawn at random; ``out`` and
            ``json`` write them as JSON Lines
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "k": k,
            "m": m,
            "c": c,
            "theta": theta,
            "foreign": foreign,
            "min_share": min_share,
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
        }
        return self._find("quilts", options, progress)

    def phrases(
        self,
        *,
        k: Optional[int] = None,
        min_pages: Optional[int] = None,
        exact: bool = False,
        no_collapse: bool = False,
        scheme: Optional[Value] = None,
        site: Optional[Value] = None,
        flag_pages: Optional[int] = None,
        flag_mean: Optional[float] = None,
        flag_deviation: Optional[float] = None,
        cover_from: Optional[int] = None,
        cover_pages: Optional[Value] = None,
        candidates: Optional[int] = None,
        foreign: Optional[Value] = None,
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
          ``k``: Words per phrase [default: 5]
          ``min_pages``: Minimum number of pages that a popular phrase was sampled from; with
            ``exact``, that it is on [default: 5]
          ``exact``: Count all phrases of all pages, instead of the sampled ones
          ``no_collapse``: Do not remove near-duplicates
          ``scheme``: How near-duplicates are found: resemblance, or megashingle as in the paper
            [default: resemblance]
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
          ``foreign``: Which pages are foreign: those of another domain and address (both), of
            another ip, or of another domain. Pages without one are foreign to all [default: both]
          ``figures``: Write the figures of the paper to a folder, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file, in the format of its extension: .parquet, .jsonl
            or .csv
          ``json``: Print the rows of the main table, one JSON object per line
          ``explain``: Print the rows, bytes and seconds of each stage
          ``findings``: Folder for the findings [default: CORPUS/findings]
          ``again``: Run the analysis again instead of using cached results
          ``partial``: Analyse a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "k": k,
            "min_pages": min_pages,
            "exact": exact,
            "no_collapse": no_collapse,
            "scheme": scheme,
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
        }
        return self._find("phrases", options, progress)

    def discover(
        self,
        *,
        output: StrPath,
        from_: Optional[Union[str, Sequence[str]]] = None,
        of: Optional[Value] = None,
        threshold: Optional[int] = None,
        top: Optional[int] = None,
        min_length: Optional[int] = None,
        stop: Optional[Union[StrPath, Sequence[StrPath]]] = None,
        no_stop: bool = False,
        stop_proposed: bool = False,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
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
        progress: Progress = True,
    ) -> Findings:
        """Find what is copied: labels for `cento detect`.

        After Ardi & Heidemann 2014. Blind discovery labels the chunks that occur in CORPUS more
        often than a threshold and are not stop chunks. Informed discovery (``from``) labels all
        chunks of your originals that are long enough. Index a crawl as one corpus: parts of it do
        not show what is frequent in the whole.

        This is ``cento discover`` of this corpus.

        Keywords:
          ``output``: The file of labels to write
          ``from_``: Label all chunks of these originals: a corpus, or anything that `cento index`
            reads
          ``of``: What to label: chunks or files [default: chunks]
          ``threshold``: Label what occurs more often than this [default: 2.5 per million chunks, at
            least 5]
          ``top``: Label the N most frequent ones
          ``min_length``: With ``from``: label chunks of at least this many bytes [default: 100]
          ``stop``: Additional stop list: a text file in the format of `cento labels stops`
          ``no_stop``: Do not use the built-in stop list
          ``stop_proposed``: Stop all proposed labels, without a review
          ``base_url``: URL of the input folder
          ``field``: Assign a field of a table to a role, as for `cento index`
          ``main``: Keep only the main content of HTML pages
          ``chunk``: Unit of text: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N
            or document [default: paragraph]
          ``normalise``: Normalise chunks before hashing: none, space or space+case [default:
            space+case]
          ``hash``: Hash function for chunks: blake3 or sha1 [default: blake3]
          ``figures``: Write the figure of frequencies in the paper to a folder, as SVG and CSV
          ``seed``: Seed of the sample: another seed draws another sample
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file, in the format of its extension: .parquet, .jsonl
            or .csv
          ``json``: Print the rows of the main table, one JSON object per line
          ``explain``: Print the rows, bytes and seconds of each stage
          ``findings``: Folder for the findings [default: CORPUS/findings]
          ``again``: Run the analysis again instead of using cached results
          ``partial``: Analyse a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``sample``: Print this many labels, drawn at random, to be classified as in Tables 2 and 4
            of the paper
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
            "output": output,
            "from_": from_,
            "of": of,
            "threshold": threshold,
            "top": top,
            "min_length": min_length,
            "stop": stop,
            "no_stop": no_stop,
            "stop_proposed": stop_proposed,
            "base_url": base_url,
            "field": field,
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
        }
        return self._find("discover", options, progress)

    def detect(
        self,
        *,
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
        no_stop: bool = False,
        stop: Optional[Union[StrPath, Sequence[StrPath]]] = None,
        stop_proposed: bool = False,
        base_url: Optional[str] = None,
        field: Optional[Union[str, Sequence[str]]] = None,
        truth: Optional[StrPath] = None,
        output: Optional[StrPath] = None,
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
          ``labels``: Find these labels, made by `cento discover`
          ``against``: Find all chunks of these originals: a corpus, or anything that `cento index`
            reads
          ``grams``: With ``against``: match overlapping runs of K words instead of chunks
          ``min_share``: With ``grams``: list pages with at least this share of an item's runs
            [default: 0.5]
          ``min_length``: With ``against``: find chunks of at least this many bytes [default: 100]
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
          ``no_stop``: Count stop chunks like other chunks
          ``stop``: With ``against``: additional stop list
          ``stop_proposed``: With ``against``: also stop chunks that look like idioms or templates
            of the originals
          ``base_url``: URL of the input folder
          ``field``: Assign a field of a table to a role, as for `cento index`
          ``truth``: Also print true and false positive rates of pages over all thresholds: FILE has
            the URLs of the pages that are copies, one per line, or is the truth.jsonl of `cento
            synth`
          ``output``: With ``against``: write the labels of the originals to this file
          ``figures``: Write the figures of the paper to a folder, as SVG and CSV
          ``seed``: Seed of the sample: another seed draws another sample
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``out``: Write the main table to a file, in the format of its extension: .parquet, .jsonl
            or .csv
          ``json``: Print the rows of the main table, one JSON object per line
          ``explain``: Print the rows, bytes and seconds of each stage
          ``findings``: Folder for the findings [default: CORPUS/findings]
          ``again``: Run the analysis again instead of using cached results
          ``partial``: Analyse a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``sample``: Print this many flagged neighbourhoods, drawn at random, to be classified as
            in Tables 5 and 6 of the paper
          ``progress``: True to show it as the command line does, False for none, or a function of
            how much is done, how much there is, and a line of text
        """
        options: Mapping[str, Any] = {
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
            "no_stop": no_stop,
            "stop": stop,
            "stop_proposed": stop_proposed,
            "base_url": base_url,
            "field": field,
            "truth": truth,
            "output": output,
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
        }
        return self._find("detect", options, progress)

    def scan(
        self,
        *,
        only: Optional[Union[Literal["copies", "replication", "overlap-servers", "overlap", "reuse", "passages", "quilts", "quilts-sweep", "phrases", "discover", "detect"], Sequence[Literal["copies", "replication", "overlap-servers", "overlap", "reuse", "passages", "quilts", "quilts-sweep", "phrases", "discover", "detect"]]]] = None,
        labels: Optional[StrPath] = None,
        report: Optional[StrPath] = None,
        figures: Optional[StrPath] = None,
        figure_format: Optional[Literal["pdf"]] = None,
        top: Optional[int] = None,
        open: bool = False,
        explain: bool = False,
        partial: bool = False,
        temp: Optional[StrPath] = None,
        threads: Optional[int] = None,
        memory: Optional[Value] = None,
        again: bool = False,
        progress: Progress = True,
    ) -> Scan:
        """Find all reuse in files or in a corpus, and write a report.

        Indexes the inputs, or opens an existing corpus; runs all analyses that suit it; prints a
        summary, and writes an HTML report. Run the same command again to resume after an
        interruption; cached results are used again.

        This is ``cento scan`` of this corpus.

        Keywords:
          ``only``: Run only these analyses, separated by commas
          ``labels``: Find these labels, made by `cento discover`, instead of labels discovered in
            the corpus
          ``report``: File of the report [default: report.html in the corpus]
          ``figures``: Also write each figure to a file, as SVG and CSV
          ``figure_format``: With ``figures``: write the figures in this format too, in addition to
            SVG and CSV
          ``top``: Number of rows of the tables in the report [default: 10]
          ``open``: Open the report in a browser
          ``explain``: Print the time of each step, and the rows, bytes and seconds of its stages
          ``partial``: Scan a corpus whose last index was interrupted: the pages indexed so far
          ``temp``: Folder for temporary files [default: beside the findings]
          ``threads``: Worker threads [default: the number of cores]
          ``memory``: Memory to use [default: half of the machine's memory]
          ``again``: Run the analyses again instead of using cached results
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
            "explain": explain,
            "partial": partial,
            "temp": temp,
            "threads": threads,
            "memory": memory,
            "again": again,
        }
        return self._scan(options, progress)
