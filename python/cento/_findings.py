"""Tables and findings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union

from cento import _cento, _html
from cento._errors import UsageError

__all__ = ["Findings", "Table"]


class Table:
    """A table in Parquet files, which other libraries read through the Arrow PyCapsule interface
    without copying it:

    - ``pyarrow.table(table)``, ``pyarrow.RecordBatchReader.from_stream(table)``
    - ``polars.DataFrame(table)``
    - ``pandas.DataFrame.from_arrow(table)`` (pandas 3), ``table.to_pandas()``
    - ``duckdb.sql("from reader")`` with ``reader = table.to_pyarrow_reader()``

    Or read ``table.paths`` with anything that reads Parquet.
    """

    __slots__ = ("_table",)

    def __init__(self, table: _cento.ArrowTable) -> None:
        self._table = table

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._table.name

    @property
    def paths(self) -> List[Path]:
        """Its Parquet files, in order."""
        return [Path(path) for path in self._table.paths]

    @property
    def columns(self) -> List[str]:
        """The names of its columns."""
        return self._table.columns

    def __len__(self) -> int:
        return self._table.rows

    def head(self, rows: int = 10) -> List[Dict[str, Any]]:
        """Returns the first rows as dicts, with the values that ``--json`` prints."""
        return [json.loads(line) for line in self._table.json_lines(max(rows, 0))]

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def to_pyarrow(self) -> Any:
        """Returns a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_pyarrow_reader(self) -> Any:
        """Returns a ``pyarrow.RecordBatchReader``, which reads one batch at a time."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self)

    def to_polars(self) -> Any:
        """Returns a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """Returns a ``pandas.DataFrame``, by way of pyarrow."""
        return self.to_pyarrow().to_pandas()

    def __repr__(self) -> str:
        return f"<cento.Table {self.name!r}, {len(self):,} rows>"

    def _repr_html_(self) -> str:
        return _html.rows(self.name, self.columns, self.head(_html.ROWS), len(self))


class Findings(Mapping[str, Table]):
    """The findings of an analysis: its tables by name, and its summary.

    ``findings["pairs"]`` is a table, and ``list(findings)`` names all of them. The tables are files
    in the folder ``path``, and stay there: the same call returns cached findings.
    """

    def __init__(
        self,
        found: Mapping[str, Any],
        *,
        main: Optional[str] = None,
        text: str = "",
        notes: Optional[List[str]] = None,
        others: Optional[List[Findings]] = None,
    ) -> None:
        record = json.loads(found["record"])
        #: The name of the analysis.
        self.analysis: str = found["analysis"]
        #: The folder of the tables.
        self.path: Path = Path(found["path"])
        #: Whether they were cached.
        self.cached: bool = found["cached"]
        #: The counts of the analysis, those that the command line prints and others.
        self.summary: Dict[str, Any] = record["summary"]
        #: All parameters, also those that were not given.
        self.parameters: Dict[str, Any] = record["parameters"]
        #: The rows, bytes and seconds of each stage.
        self.report: Dict[str, Any] = record["report"]
        #: What the command line prints.
        self.text: str = text
        #: What the command line prints to standard error, such as that the corpus is unfinished.
        self.notes: List[str] = notes or []
        #: The findings of other analyses that this one used, such as those of the duplicates that
        #: it removed.
        self.others: List[Findings] = others or []
        self._main = main
        self._tables: Dict[str, Table] = {
            name: Table(table) for name, table in found["tables"].items()
        }

    @classmethod
    def open(cls, path: Union[str, os.PathLike[str]]) -> Findings:
        """Opens the folder of earlier findings, and verifies the checksums of its tables."""
        if not os.path.exists(os.path.join(path, "run.json")):
            state = "has no findings" if os.path.isdir(path) else "does not exist"
            hint = "findings are in CORPUS/findings/ANALYSIS/…, and have a file run.json"
            raise UsageError(f"{os.fspath(path)} {state}", hint)
        return cls(_cento.open_findings(path))

    @property
    def main(self) -> Table:
        """The main table, which ``--out`` and ``--json`` export."""
        if self._main is None:
            raise KeyError(f"{self.analysis} has no main table here; the tables are {list(self)}")
        return self._tables[self._main]

    def __getitem__(self, name: str) -> Table:
        try:
            return self._tables[name]
        except KeyError:
            raise KeyError(f"no table {name!r}; the tables are {list(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        tables = ", ".join(f"{name}: {len(table):,}" for name, table in self.items())
        return f"<cento.Findings of {self.analysis}: {tables}>"

    def __str__(self) -> str:
        return self.text or repr(self)

    def _repr_html_(self) -> str:
        parts = [_html.mapping(f"cento {self.analysis}", self.summary)]
        parts += [_html.mapping("note", {"": note}) for note in self.notes]
        shown = [self._tables[self._main]] if self._main else list(self._tables.values())
        parts += [table._repr_html_() for table in shown]
        return "".join(parts)
