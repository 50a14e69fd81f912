"""The tables of notes in SQLite."""

from __future__ import annotations

from evelab.notes_store import LAYOUT
from evelab.sqlite import Layout

_TABLES = (
    "CREATE TABLE evelab_partitions (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    """CREATE TABLE evelab_notes (
      number INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL REFERENCES evelab_partitions,
      id TEXT NOT NULL, text TEXT NOT NULL, length INTEGER NOT NULL, written REAL NOT NULL, UNIQUE (partition, id))""",
    "CREATE INDEX evelab_notes_by_age ON evelab_notes (partition, written, number, length)",
    """CREATE TABLE evelab_words (
      partition INTEGER NOT NULL, word TEXT NOT NULL,
      note INTEGER NOT NULL REFERENCES evelab_notes ON DELETE CASCADE, times INTEGER NOT NULL,
      PRIMARY KEY (partition, word, note)) WITHOUT ROWID""",
    "CREATE INDEX evelab_words_by_note ON evelab_words (note)",
    """CREATE TABLE evelab_operations (
      serial INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL REFERENCES evelab_partitions,
      id TEXT NOT NULL, UNIQUE (partition, id))""",
    "CREATE INDEX evelab_operations_by_serial ON evelab_operations (partition, serial)",
)
NOTES = Layout("notes", 0x65766E74, LAYOUT, _TABLES)
"""The file's header says ``evnt``."""
