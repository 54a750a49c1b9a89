#!/usr/bin/env python3
"""The interface of `cento serve` against its own description, with requests that schemathesis makes up.

    tests/browser/interface.py target/debug/cento …/bin/schemathesis
"""

import pathlib
import subprocess
import sys
import tempfile


def main():
    cento, schemathesis = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="cento-interface-") as folder:
        run = lambda *words: subprocess.run([cento, *words], check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run("synth", "-o", "s", "--pages", "300", "--languages", "en", "--seed", "1")
        run("index", "s/crawl", "-o", "c.cento", "--query")
        run("copies", "c.cento")
        run("quilts", "c.cento", "-c", "2", "-t", "0.3")
        run("passages", "c.cento", "--clusters")
        run("discover", "c.cento", "-o", "c.labels")
        run("detect", "c.cento", "--labels", "c.labels")
        server = subprocess.Popen(
            [cento, "serve", "c.cento", "--labels", "c.labels", "--listen", "127.0.0.1:0"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        try:
            base = server.stdout.readline().strip().rstrip("/")
            subprocess.run(
                [schemathesis, "run", f"{base}/api/openapi.json", "--max-examples", "12", "--seed", "1", "--request-timeout", "60",
                 "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"],
                check=True, cwd=folder,
            )
        finally:
            server.terminate()
            assert server.wait(timeout=20) == 0


if __name__ == "__main__":
    main()
