-- Memories, their links, vectors, words, events and workspaces.
-- The tenant stands first in every key, so that a larger store can be cut along it.

CREATE TABLE workspaces (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL CHECK (length(name) > 0),
    name_key TEXT NOT NULL,
    identity TEXT,
    generation INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    archived_at INTEGER,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, name_key)
) STRICT;

CREATE UNIQUE INDEX workspaces_by_identity ON workspaces (tenant, identity) WHERE identity IS NOT NULL;

-- seq is the memory's row in the word index and in the matrix; stamp rises with every change of the row
-- or its vectors, so that a reader finds what it has not seen yet.
CREATE TABLE memories (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    type TEXT NOT NULL CHECK (
        type IN ('decision', 'checkpoint', 'insight', 'context', 'fact', 'reason', 'consequence', 'constraint')
    ),
    content TEXT NOT NULL CHECK (length(trim(content, char(9, 10, 11, 12, 13, 32, 160, 12288))) > 0),
    topic TEXT,
    name TEXT,
    name_key TEXT,
    number INTEGER CHECK (number IS NULL OR type = 'decision'),
    context TEXT,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
    source TEXT NOT NULL CHECK (source IN ('explicit', 'extracted')),
    status TEXT NOT NULL CHECK (status IN ('active', 'reconsidering', 'archived')),
    level INTEGER CHECK (level BETWEEN 0 AND 3),
    domain TEXT,
    module TEXT,
    code_ref TEXT,
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
    metadata TEXT NOT NULL CHECK (
        -- IS: a missing key is NULL, and a check that is NULL lets the row pass.
        json_valid(metadata) AND json_type(metadata, '$.schema_version') IS 'integer'
    ),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    accessed_at INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_until INTEGER CHECK (valid_until >= valid_from),
    known_until INTEGER CHECK (known_until >= created_at),
    pending INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1)),
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, seq),
    FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
) STRICT;

CREATE INDEX memories_by_stamp ON memories (tenant, workspace, stamp);
CREATE INDEX memories_by_created ON memories (tenant, workspace, created_at, id);
CREATE INDEX memories_by_type ON memories (tenant, type, created_at);
CREATE INDEX memories_by_topic ON memories (tenant, topic) WHERE topic IS NOT NULL;
CREATE UNIQUE INDEX memories_by_number ON memories (tenant, number) WHERE number IS NOT NULL;
CREATE UNIQUE INDEX memories_by_name ON memories (tenant, workspace, name_key) WHERE name_key IS NOT NULL;
CREATE INDEX memories_hidden ON memories (tenant, workspace)
    WHERE status = 'archived' OR known_until IS NOT NULL;

-- Saved while no model could read them: the mark outlives the process, so that the next one reads them.
CREATE INDEX memories_pending ON memories (tenant, created_at) WHERE pending = 1;

CREATE TABLE memory_links (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    from_id TEXT NOT NULL,
    to_id TEXT NOT NULL,
    link_type TEXT NOT NULL CHECK (link_type IN ('evolution', 'implementation', 'association', 'temporal')),
    relationship TEXT NOT NULL CHECK (length(relationship) > 0),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
    created_by TEXT NOT NULL CHECK (created_by IN ('user', 'system', 'llm')),
    metadata TEXT NOT NULL CHECK (json_valid(metadata) AND json_type(metadata) = 'object'),
    created_at INTEGER NOT NULL,
    known_until INTEGER CHECK (known_until >= created_at),
    CHECK (from_id <> to_id),
    PRIMARY KEY (tenant, id),
    FOREIGN KEY (tenant, from_id) REFERENCES memories (tenant, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant, to_id) REFERENCES memories (tenant, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX links_from ON memory_links (tenant, from_id, link_type);
CREATE INDEX links_to ON memory_links (tenant, to_id, link_type);
-- One successor: the database itself refuses a second.
CREATE UNIQUE INDEX links_one_successor ON memory_links (tenant, to_id)
    WHERE relationship IN ('supersedes', 'replaces') AND known_until IS NULL;

-- Clustered as it is read: one workspace and model from end to end.
CREATE TABLE vectors (
    tenant TEXT NOT NULL,
    workspace TEXT NOT NULL,
    model TEXT NOT NULL,
    seq INTEGER NOT NULL,
    passage INTEGER NOT NULL,
    own BLOB NOT NULL,
    blend BLOB,
    PRIMARY KEY (tenant, workspace, model, seq, passage)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE words USING fts5 (
    text, context, place,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TABLE events (
    tenant TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    client TEXT,
    session TEXT,
    tool TEXT,
    replaced TEXT CHECK (replaced IS NULL OR json_valid(replaced)),
    PRIMARY KEY (tenant, memory_id, number),
    FOREIGN KEY (tenant, memory_id) REFERENCES memories (tenant, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The saves of the last minutes, so that a client's repeated call answers with the first.
CREATE TABLE requests (
    tenant TEXT NOT NULL,
    request TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, request),
    FOREIGN KEY (tenant, memory_id) REFERENCES memories (tenant, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
