-- Topics by their key, decisions as a register, links that are walked, and work that is done once a while.

ALTER TABLE memories ADD COLUMN topic_key TEXT;
UPDATE memories SET topic_key = lower(replace(replace(replace(topic, ' ', ''), '_', ''), '-', ''))
WHERE topic IS NOT NULL;
DROP INDEX memories_by_topic;
CREATE INDEX memories_by_topic ON memories (tenant, workspace, topic_key) WHERE topic_key IS NOT NULL;

CREATE INDEX decisions_by_updated ON memories (tenant, workspace, updated_at, number) WHERE type = 'decision';
CREATE INDEX decisions_by_type ON memories (
    tenant, workspace, json_extract(metadata, '$.decision_type'), updated_at, number
) WHERE type = 'decision';
CREATE INDEX decisions_by_outcome ON memories (
    tenant, workspace, json_extract(metadata, '$.outcome'), updated_at, number
) WHERE type = 'decision';

-- Its automatic links are still to be made: 1 all of them, 2 those by meaning, once a model has read it.
-- The mark outlives the process.
ALTER TABLE memories ADD COLUMN unlinked INTEGER NOT NULL DEFAULT 0 CHECK (unlinked IN (0, 1, 2));
CREATE INDEX memories_unlinked ON memories (tenant, created_at)
    WHERE unlinked = 1 OR (unlinked = 2 AND pending = 0);

-- Rises with every change of a memory's links, so that a remembered walk knows what it no longer knows.
ALTER TABLE memories ADD COLUMN graph_mark INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memories_by_graph_mark ON memories (tenant, graph_mark) WHERE graph_mark > 0;

-- One link a pair and word; walked outward by this, inward by the next.
UPDATE memory_links SET relationship = lower(relationship)
WHERE relationship <> lower(relationship) AND lower(relationship) NOT IN ('supersedes', 'replaces');
DELETE FROM memory_links WHERE known_until IS NULL AND rowid NOT IN (
    SELECT min(rowid) FROM memory_links WHERE known_until IS NULL
    GROUP BY tenant, from_id, to_id, relationship
);
CREATE UNIQUE INDEX links_once ON memory_links (tenant, from_id, to_id, relationship) WHERE known_until IS NULL;
CREATE INDEX links_by_confidence ON memory_links (tenant, link_type, confidence);
CREATE INDEX links_by_creator ON memory_links (tenant, created_by, created_at, id) WHERE known_until IS NULL;

-- What is done once a while, by whichever program is there: when it was done last.
CREATE TABLE chores (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- What the programs count together, such as walks that were remembered.
CREATE TABLE counters (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
