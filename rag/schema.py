"""The library's tables, and the steps from one version of them to the next."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from rag.errors import LibraryError

# MIGRATIONS[n] takes a library from version n to n + 1. A released entry is never edited.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE sources (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,       -- identity of the file on this machine; never shown in an answer
        name TEXT NOT NULL,
        digest TEXT NOT NULL DEFAULT ''  -- sha256 of the file as last read to its end
    );
    CREATE TABLE papers (
        id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: vectors are named by it
        key TEXT NOT NULL UNIQUE,
        paper TEXT NOT NULL,             -- JSON of rag.nouns.Paper without id and key
        venue TEXT NOT NULL DEFAULT '',
        year INTEGER,
        search_title TEXT NOT NULL DEFAULT '',
        search_text TEXT NOT NULL DEFAULT '',
        content TEXT NOT NULL,           -- sha256 of what is embedded: title and abstract
        embedded TEXT NOT NULL DEFAULT ''  -- the content whose vectors are stored
    );
    CREATE INDEX papers_venue ON papers (venue, year);
    CREATE INDEX papers_pending ON papers (id) WHERE embedded <> content;
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        paper_id INTEGER NOT NULL REFERENCES papers ON DELETE CASCADE,
        source_id INTEGER NOT NULL REFERENCES sources ON DELETE CASCADE,
        digest TEXT NOT NULL,            -- sha256 of the record's fields
        record TEXT NOT NULL,            -- JSON of rag.nouns.Record
        seen INTEGER NOT NULL            -- the last reading of the source that held it
    );
    CREATE INDEX records_paper ON records (paper_id);
    CREATE INDEX records_digest ON records (source_id, digest);
    CREATE TABLE names (                 -- ids, titles and abstracts a paper is recognised by
        name TEXT NOT NULL,
        paper_id INTEGER NOT NULL REFERENCES papers ON DELETE CASCADE,
        PRIMARY KEY (name, paper_id)
    ) WITHOUT ROWID;
    CREATE INDEX names_paper ON names (paper_id);
    CREATE TABLE sentences (
        paper_id INTEGER NOT NULL REFERENCES papers ON DELETE CASCADE,
        ordinal INTEGER NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        PRIMARY KEY (paper_id, ordinal)
    ) WITHOUT ROWID;
    CREATE TABLE chunks (                -- what is stored in the vector store, by its name there
        vector TEXT PRIMARY KEY,
        paper_id INTEGER NOT NULL,       -- no foreign key: kept until the vectors are deleted
        kind TEXT NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX chunks_paper ON chunks (paper_id);
    CREATE VIRTUAL TABLE fulltext USING fts5 (
        search_title, search_text,
        content='papers', content_rowid='id', tokenize='porter unicode61'
    );
    CREATE TRIGGER papers_ai AFTER INSERT ON papers BEGIN
        INSERT INTO fulltext (rowid, search_title, search_text)
        VALUES (new.id, new.search_title, new.search_text);
    END;
    CREATE TRIGGER papers_ad AFTER DELETE ON papers BEGIN
        INSERT INTO fulltext (fulltext, rowid, search_title, search_text)
        VALUES ('delete', old.id, old.search_title, old.search_text);
    END;
    CREATE TRIGGER papers_au AFTER UPDATE OF search_title, search_text ON papers BEGIN
        INSERT INTO fulltext (fulltext, rowid, search_title, search_text)
        VALUES ('delete', old.id, old.search_title, old.search_text);
        INSERT INTO fulltext (rowid, search_title, search_text)
        VALUES (new.id, new.search_title, new.search_text);
    END;
    INSERT INTO meta VALUES ('generation', '0'), ('reading', '0');
    """,
    # An earlier version of a record is looked for by its paper, and by its citation key: both must not become
    # a search through all records of a file.
    """
    DROP INDEX records_paper;
    CREATE INDEX records_paper ON records (paper_id, source_id);
    CREATE INDEX records_citekey ON records (source_id, json_extract(record, '$.citekey'));
    """,
    # The vectors themselves are kept here; until now only Chroma held them. The next run embeds anew.
    """
    DROP TABLE chunks;
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: Chroma is filled in this order
        vector TEXT NOT NULL,            -- its name
        paper_id INTEGER NOT NULL,       -- no foreign key: kept until Chroma has forgotten it
        numbers BLOB NOT NULL,           -- 16-bit floats, little-endian
        UNIQUE (paper_id, vector)
    );
    UPDATE papers SET embedded = '';
    DELETE FROM meta WHERE key = 'embedder';
    """,
    # Names as numbers: a quarter of the space. They are made anew from the records (rag.keeping.name_anew).
    # What a person says of two records outlives both, so that it holds when their files are read again.
    """
    DROP TABLE names;
    CREATE TABLE names (                 -- ids, titles and sketches a paper is found by (rag.identity.names)
        name INTEGER NOT NULL,
        paper_id INTEGER NOT NULL REFERENCES papers ON DELETE CASCADE,
        PRIMARY KEY (name, paper_id)
    ) WITHOUT ROWID;
    CREATE INDEX names_paper ON names (paper_id);
    CREATE TABLE verdicts (
        one TEXT NOT NULL,               -- digest of a record; each verdict stands here both ways round
        other TEXT NOT NULL,
        same INTEGER NOT NULL,           -- 1: one paper, 0: two
        PRIMARY KEY (one, other)
    ) WITHOUT ROWID;
    DROP INDEX records_digest;
    CREATE INDEX records_digest ON records (digest, source_id);
    """,
    # PubMed's numbers have a field; until now they stood in the address alone, as these readers wrote it.
    """
    UPDATE papers SET paper = json_set(paper, '$.pmid', '');
    UPDATE papers SET paper = json_set(paper, '$.pmid', rtrim(substr(paper ->> '$.url', 33), '/'))
        WHERE paper ->> '$.url' GLOB 'https://pubmed.ncbi.nlm.nih.gov/[1-9]*/';
    UPDATE records SET record = json_set(record, '$.pmid', rtrim(substr(record ->> '$.url', 33), '/'))
        WHERE record ->> '$.url' GLOB 'https://pubmed.ncbi.nlm.nih.gov/[1-9]*/';
    """,
)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to this program's version, one step a transaction."""
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise LibraryError(
            f"The collection was written by a newer Pincite (tables {version}, this program knows "
            f"{len(MIGRATIONS)}). Update Pincite, or choose another --home."
        )
    while version < len(MIGRATIONS):
        version = _take_step(connection)


def _take_step(connection: sqlite3.Connection) -> int:
    """Take the step that is next once no other process writes: it may have taken some; the version now."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        step = _version(connection)
        if step < len(MIGRATIONS):
            for statement in _statements(f"{MIGRATIONS[step]}PRAGMA user_version = {step + 1};"):
                connection.execute(statement)
        version = _version(connection)
        connection.execute("COMMIT")
        return version
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """A script's statements one by one: `executescript` would end the transaction it is called in."""
    statement = ""
    for piece in re.split(r"(?<=;)", script):
        statement += piece
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
