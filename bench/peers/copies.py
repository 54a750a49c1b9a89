"""Runs one peer on a JSON Lines file, as its documentation shows, and lists the duplicates it finds; word 5-grams, threshold 0.8.

    copies.py PEER TEXTS.jsonl PAIRS.tsv WORK-FOLDER

Writes a line for each pair that the peer reports: a page, and the page of which it is a duplicate. For peers that report classes, each page is paired
with the first of its class.
"""

import json
import os
import sys

THRESHOLD = 0.8


def lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield row["url"], row["text"]


def shingles(text):
    words = text.lower().split()
    return {" ".join(words[at : at + 5]) for at in range(max(1, len(words) - 4))}


def sketches(path, work):
    """The sketches of all texts, made in two processes: `work` gets a list of (url, text)."""
    import multiprocessing

    documents = list(lines(path))
    parts = [documents[at : at + 64] for at in range(0, len(documents), 64)]
    with multiprocessing.Pool(2) as pool:
        for part, made in zip(parts, pool.imap(work, parts)):
            yield from zip((url for url, _ in part), made)


def datasketch_part(documents):
    from datasketch import MinHash

    made = []
    for _, text in documents:
        sketch = MinHash(num_perm=128)
        sketch.update_batch([shingle.encode() for shingle in shingles(text)])
        made.append(sketch)
    return made


def datasketch(path, _):
    from datasketch import MinHashLSH

    index, known = MinHashLSH(threshold=THRESHOLD, num_perm=128), {}
    for url, sketch in sketches(path, datasketch_part):
        for other in index.query(sketch):
            if known[other].jaccard(sketch) >= THRESHOLD:
                yield url, other
        index.insert(url, sketch)
        known[url] = sketch


def rensa_part(documents):
    from rensa import RMinHash

    return RMinHash.from_token_sets([list(shingles(text)) for _, text in documents], num_perm=128, seed=42)


def rensa(path, _):
    from rensa import RMinHashLSH

    index = RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16)
    urls, known = [], []
    for number, (url, sketch) in enumerate(sketches(path, rensa_part)):
        for other in index.query(sketch):
            if known[other].jaccard(sketch) >= THRESHOLD:
                yield url, urls[other]
        index.insert(number, sketch)
        urls.append(url)
        known.append(sketch)


def gaoya(path, _):
    from gaoya.minhash import MinHashStringIndex

    urls, texts = [], []
    for url, text in lines(path):
        urls.append(url)
        texts.append(text)
    index = MinHashStringIndex(hash_size=32, jaccard_threshold=THRESHOLD, num_bands=42, band_size=3, analyzer="word", lowercase=True, ngram_range=(5, 5))
    index.par_bulk_insert_docs(list(range(len(urls))), texts)
    for number, found in enumerate(index.par_bulk_query(texts)):
        for other in found:
            if int(other) < number:
                yield urls[number], urls[int(other)]


def datatrove(path, work):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    # Two files, because each file is one task.
    os.makedirs(f"{work}/in", exist_ok=True)
    outs = [open(f"{work}/in/{number}.jsonl", "w", encoding="utf-8") for number in range(2)]
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file):
            outs[number % 2].write(line)
    for out in outs:
        out.close()
    config = MinhashConfig(n_grams=5, num_buckets=14, hashes_per_bucket=8)
    reader = lambda: JsonlReader(f"{work}/in", id_key="url", glob_pattern="*.jsonl")
    run = lambda pipeline, tasks: LocalPipelineExecutor(pipeline=pipeline, tasks=tasks, workers=2, logging_dir=f"{work}/logs").run()
    run([reader(), MinhashDedupSignature(output_folder=f"{work}/signatures", config=config)], 2)
    run([MinhashDedupBuckets(input_folder=f"{work}/signatures", output_folder=f"{work}/buckets", config=config)], 14)
    run([MinhashDedupCluster(input_folder=f"{work}/buckets", output_folder=f"{work}/remove", config=config, save_cluster_id=True)], 1)
    run(
        [
            reader(),
            MinhashDedupFilter(input_folder=f"{work}/remove", exclusion_writer=JsonlWriter(f"{work}/removed", compression=None), load_cluster_ids=True),
            JsonlWriter(f"{work}/kept", compression=None),
        ],
        2,
    )
    classes = {}
    for folder in ("kept", "removed"):
        for name in sorted(os.listdir(f"{work}/{folder}")) if os.path.isdir(f"{work}/{folder}") else []:
            with open(f"{work}/{folder}/{name}", encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    cluster = row.get("metadata", {}).get("minhash_cluster_id", -1)
                    if cluster not in (None, -1):
                        classes.setdefault(cluster, []).append(row["id"])
    for members in classes.values():
        for other in members[1:]:
            yield other, members[0]


def text_dedup(path, work):
    import pickle
    import subprocess

    command = [
        sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", path, "--split", "train", "--cache_dir", f"{work}/cache",
        "--output", f"{work}/out", "--column", "text", "--ngram", "5", "--threshold", str(THRESHOLD), "--num_perm", "128", "--num_proc", "2", "--debug",
    ]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(f"{work}/out/uf.pkl", "rb") as file:
        classes = pickle.load(file)
    urls = [url for url, _ in lines(path)]
    for number in list(classes.parent):
        root = classes.find(number)
        if root != number:
            yield urls[number], urls[root]


def main():
    peer, path, output, work = sys.argv[1:]
    with open(output, "w", encoding="utf-8") as out:
        for page, other in globals()[peer.replace("-", "_")](path, work):
            out.write(f"{page}\t{other}\n")


if __name__ == "__main__":
    main()
