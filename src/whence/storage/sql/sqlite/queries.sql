-- Written without statistics: where the small side is known, CROSS JOIN tells the engine to begin there.

-- name: memories
-- Return the memories of these ids, with what they replaced and what replaced them.
SELECT
    m.id, m.type, m.content, m.workspace, m.created_at, m.updated_at, m.accessed_at, m.valid_from,
    m.valid_until, m.known_until, m.topic, m.name, m.number, m.context, m.confidence, m.source,
    m.status, m.level, m.domain, m.module, m.code_ref, m.tags, m.metadata, m.pending,
    (
        SELECT l.from_id FROM memory_links AS l
        WHERE l.tenant = m.tenant AND l.to_id = m.id
            AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
    ) AS superseded_by,
    (
        SELECT json_group_array(earlier.to_id) FROM (
            SELECT l.to_id FROM memory_links AS l
            WHERE l.tenant = m.tenant AND l.from_id = m.id AND l.link_type = 'evolution'
                AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
            ORDER BY l.created_at DESC, l.id DESC
        ) AS earlier
    ) AS supersedes
FROM json_each(:ids) AS asked
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.id = asked.value
ORDER BY asked.key;

-- name: recent
-- Return the newest memories of one workspace: their ids and when they were made.
SELECT m.id, m.created_at FROM memories AS m
WHERE m.tenant = :tenant AND m.workspace = :workspace
    AND (:types IS NULL OR m.type IN (SELECT value FROM json_each(:types)))
    AND (:history OR m.status <> 'archived')
    AND (CASE WHEN :known_at IS NULL THEN m.known_until IS NULL
         ELSE m.created_at <= :known_at AND (m.known_until IS NULL OR m.known_until > :known_at) END)
    AND (:as_of IS NULL OR m.valid_from <= :as_of)
    AND (:history OR NOT EXISTS (
        SELECT 1 FROM memory_links AS l
        WHERE l.tenant = m.tenant AND l.to_id = m.id
            AND l.relationship IN ('supersedes', 'replaces')
            AND (CASE WHEN :known_at IS NULL THEN l.known_until IS NULL
                 ELSE l.created_at <= :known_at AND (l.known_until IS NULL OR l.known_until > :known_at) END)
            AND (:as_of IS NULL OR m.valid_until <= :as_of)
    ))
ORDER BY m.created_at DESC, m.id DESC
LIMIT :limit;

-- name: by_words
-- Return the rows that these words meet in this place, best first.
SELECT w.rowid, bm25(words, 1.0, 0.5, 0.0) AS score
FROM words AS w
WHERE words MATCH :match
ORDER BY score
LIMIT :limit;

-- name: by_words_within
-- Return the rows that these words meet among the allowed ones, best first.
SELECT w.rowid, bm25(words, 1.0, 0.5, 0.0) AS score
FROM words AS w
WHERE words MATCH :match
    AND +w.rowid IN (SELECT value FROM json_each(:allowed))
ORDER BY score
LIMIT :limit;

-- name: allowed
-- Return the rows that a scope with filters lets in, ways in to a chain included.
SELECT m.seq FROM memories AS m
WHERE m.tenant = :tenant
    AND (:workspaces IS NULL OR m.workspace IN (SELECT value FROM json_each(:workspaces)))
    AND (:types IS NULL OR m.type IN (SELECT value FROM json_each(:types)))
    AND (:history OR m.status <> 'archived')
    AND (CASE WHEN :known_at IS NULL THEN m.known_until IS NULL
         ELSE m.created_at <= :known_at AND (m.known_until IS NULL OR m.known_until > :known_at) END)
    AND (:as_of IS NULL OR m.valid_from <= :as_of);

-- name: heads
-- Return, for each row, the version of its chain that answers: the last one that held then, as known then.
-- Up to the heads and down again, each version once: a question may meet all of a long chain.
-- CROSS: in this order, whatever the planner thinks of tables it knows nothing of.
WITH RECURSIVE up (id) AS (
    SELECT m.id FROM json_each(:seqs) AS asked
    CROSS JOIN memories AS m ON m.tenant = :tenant AND m.seq = asked.value
    UNION
    SELECT l.from_id FROM up
    CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.to_id = up.id
        AND l.relationship IN ('supersedes', 'replaces')
        AND (CASE WHEN :known_at IS NULL THEN l.known_until IS NULL
             ELSE l.created_at <= :known_at AND (l.known_until IS NULL OR l.known_until > :known_at) END)
), down (id, answer) AS (
    SELECT m.id, CASE WHEN :as_of IS NULL OR m.valid_from <= :as_of THEN m.id END
    FROM up CROSS JOIN memories AS m ON m.tenant = :tenant AND m.id = up.id
    WHERE NOT EXISTS (
        SELECT 1 FROM memory_links AS l
        WHERE l.tenant = :tenant AND l.to_id = up.id
            AND l.relationship IN ('supersedes', 'replaces')
            AND (CASE WHEN :known_at IS NULL THEN l.known_until IS NULL
                 ELSE l.created_at <= :known_at AND (l.known_until IS NULL OR l.known_until > :known_at) END)
    )
    UNION ALL
    SELECT m.id, coalesce(down.answer, CASE WHEN m.valid_from <= :as_of THEN m.id END)
    FROM down
    CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.from_id = down.id
        AND l.relationship IN ('supersedes', 'replaces')
        AND (CASE WHEN :known_at IS NULL THEN l.known_until IS NULL
             ELSE l.created_at <= :known_at AND (l.known_until IS NULL OR l.known_until > :known_at) END)
    CROSS JOIN memories AS m ON m.tenant = :tenant AND m.id = l.to_id
)
SELECT s.seq, s.id, m.id, m.source, m.valid_from, m.status, m.workspace, m.type, m.known_until
FROM down
CROSS JOIN memories AS s ON s.tenant = :tenant AND s.id = down.id
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.id = down.answer
WHERE s.seq IN (SELECT value FROM json_each(:seqs))
ORDER BY s.seq;

-- name: rows
-- Return what ranking needs to know of these rows, each version for itself, and whether it was ever replaced.
SELECT m.seq, m.id, m.id, m.source, m.valid_from, m.status, m.workspace, m.type, m.known_until,
    EXISTS (
        SELECT 1 FROM memory_links AS l WHERE l.tenant = m.tenant AND l.to_id = m.id
            AND l.relationship IN ('supersedes', 'replaces')
    )
FROM json_each(:seqs) AS asked
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.seq = asked.value;

-- name: chain
-- Return the ids of every version that leads to the same head.
WITH RECURSIVE later (id) AS (
    SELECT :id
    UNION
    SELECT l.from_id FROM later CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.to_id = later.id
        AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
), whole (id) AS (
    SELECT id FROM later
    UNION
    SELECT l.to_id FROM whole CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.from_id = whole.id
        AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
)
SELECT m.id FROM whole CROSS JOIN memories AS m ON m.tenant = :tenant AND m.id = whole.id
ORDER BY m.valid_from, m.created_at, m.id;

-- name: head
-- Return the last of the chain that replaced this memory.
WITH RECURSIVE later (id, step) AS (
    SELECT :id, 0
    UNION
    SELECT l.from_id, later.step + 1 FROM later CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.to_id = later.id
        AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
)
SELECT id FROM later ORDER BY step DESC LIMIT 1;

-- name: events
-- Return what happened to a memory, first things first.
SELECT number, at, action, client, session, tool, replaced FROM events
WHERE tenant = :tenant AND memory_id = :id ORDER BY number;

-- name: links
-- Return the links that touch a memory.
SELECT id, from_id, to_id, link_type, relationship, confidence, created_by, created_at, metadata, known_until
FROM memory_links WHERE tenant = :tenant AND from_id = :id
UNION
SELECT id, from_id, to_id, link_type, relationship, confidence, created_by, created_at, metadata, known_until
FROM memory_links WHERE tenant = :tenant AND to_id = :id
ORDER BY created_at, id;

-- name: workspaces
-- Return every workspace of the tenant.
SELECT id, name, identity, created_at, archived_at FROM workspaces WHERE tenant = :tenant ORDER BY created_at, id;

-- name: census
-- Count what lies in a scope and what its filters keep out.
SELECT
    coalesce(sum(here AND type_fits AND then_fits AND NOT superseded AND NOT archived), 0),
    coalesce(sum(here AND type_fits AND then_fits AND superseded AND NOT archived), 0),
    coalesce(sum(here AND type_fits AND then_fits AND archived), 0),
    coalesce(sum(here AND NOT type_fits), 0),
    coalesce(sum(here AND type_fits AND NOT then_fits), 0),
    coalesce(sum(NOT here), 0)
FROM (
    SELECT
        (:workspaces IS NULL OR m.workspace IN (SELECT value FROM json_each(:workspaces))) AS here,
        (:types IS NULL OR m.type IN (SELECT value FROM json_each(:types))) AS type_fits,
        ((:as_of IS NULL OR (m.valid_from <= :as_of AND (m.valid_until IS NULL OR m.valid_until > :as_of)))
            AND (:known_at IS NULL OR m.created_at <= :known_at)) AS then_fits,
        EXISTS (
            SELECT 1 FROM memory_links AS l WHERE l.tenant = m.tenant AND l.to_id = m.id
                AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
        ) AS superseded,
        m.status = 'archived' AS archived
    FROM memories AS m WHERE m.tenant = :tenant AND m.known_until IS NULL
);

-- name: lacking
-- Return the ids of memories of a workspace that a model has not read yet and that changed since a stamp.
SELECT m.id FROM memories AS m
WHERE m.tenant = :tenant AND m.workspace = :workspace AND m.stamp > :stamp
    AND m.known_until IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM vectors AS v WHERE v.tenant = m.tenant AND v.workspace = m.workspace
            AND v.model = :model AND v.seq = m.seq
    )
ORDER BY m.created_at DESC, m.id DESC
LIMIT :limit;

-- name: pending
-- Return the ids of memories that no model has read yet, newest first.
SELECT id FROM memories
WHERE tenant = :tenant AND pending = 1 AND known_until IS NULL
    AND (:workspaces IS NULL OR workspace IN (SELECT value FROM json_each(:workspaces)))
ORDER BY created_at DESC LIMIT :limit;

-- name: models_here
-- Return the models that have a vector in this workspace, hopping from one to the next.
WITH RECURSIVE seen (model) AS (
    SELECT min(model) FROM vectors WHERE tenant = :tenant AND workspace = :workspace
    UNION ALL
    SELECT (
        SELECT min(v.model) FROM vectors AS v
        WHERE v.tenant = :tenant AND v.workspace = :workspace AND v.model > seen.model
    ) FROM seen WHERE seen.model IS NOT NULL
)
SELECT model FROM seen WHERE model IS NOT NULL;

-- name: marks
-- Return how far a workspace has come: its generation and the stamp of its last change.
SELECT w.generation, coalesce(
    (SELECT max(m.stamp) FROM memories AS m WHERE m.tenant = w.tenant AND m.workspace = w.id), 0
)
FROM workspaces AS w WHERE w.tenant = :tenant AND w.id = :workspace;

-- name: all_vectors
-- Return every vector that one model made in one workspace.
SELECT seq, coalesce(blend, own) FROM vectors
WHERE tenant = :tenant AND workspace = :workspace AND model = :model;

-- name: hidden
-- Return the rows of a workspace that never answer a plain search.
SELECT seq FROM memories
WHERE tenant = :tenant AND workspace = :workspace AND (status = 'archived' OR known_until IS NOT NULL);

-- name: changed
-- Return the rows of a workspace that changed since a stamp, and whether they are hidden.
SELECT seq, status = 'archived' OR known_until IS NOT NULL FROM memories
WHERE tenant = :tenant AND workspace = :workspace AND stamp > :stamp ORDER BY stamp;

-- name: vectors_of
-- Return the scanned vectors of these rows.
SELECT v.seq, coalesce(v.blend, v.own) FROM json_each(:seqs) AS asked
CROSS JOIN vectors AS v ON v.tenant = :tenant AND v.workspace = :workspace AND v.model = :model
    AND v.seq = asked.value
ORDER BY v.seq, v.passage;

-- name: own_vectors_of
-- Return the own vectors of these rows, blended with nothing.
SELECT v.seq, v.own FROM json_each(:seqs) AS asked
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.seq = asked.value
CROSS JOIN vectors AS v ON v.tenant = m.tenant AND v.workspace = m.workspace AND v.model = :model AND v.seq = m.seq;

-- name: every
-- Return the ids of memories in the order they came, after one row.
SELECT seq, id FROM memories WHERE tenant = :tenant AND seq > :seq ORDER BY seq LIMIT 500;

-- name: insert_memory
-- Add a memory.
INSERT INTO memories (
    tenant, id, seq, stamp, workspace, type, content, topic, name, name_key, number, context, confidence,
    source, status, level, domain, module, code_ref, tags, metadata, created_at, updated_at, accessed_at,
    valid_from, valid_until, known_until, pending
) VALUES (
    :tenant, :id, :seq, :stamp, :workspace, :type, :content, :topic, :name, :name_key, :number, :context,
    :confidence, :source, :status, :level, :domain, :module, :code_ref, :tags, :metadata, :created_at,
    :updated_at, :accessed_at, :valid_from, :valid_until, :known_until, :pending
);

-- name: update_memory
-- Change a memory.
UPDATE memories SET
    stamp = :stamp, workspace = :workspace, type = :type, content = :content, topic = :topic, name = :name,
    name_key = :name_key, number = :number, context = :context, confidence = :confidence, source = :source,
    status = :status, level = :level, domain = :domain, module = :module, code_ref = :code_ref, tags = :tags,
    metadata = :metadata, created_at = :created_at, updated_at = :updated_at, accessed_at = :accessed_at,
    valid_from = :valid_from, valid_until = :valid_until, known_until = :known_until, pending = :pending
WHERE tenant = :tenant AND id = :id;

-- name: restamp
-- Mark a memory as changed, and say whether the model of its script must still read it.
UPDATE memories SET stamp = :stamp, pending = :pending WHERE tenant = :tenant AND id = :id;

-- name: seq_of
-- Return a memory's row.
SELECT seq FROM memories WHERE tenant = :tenant AND id = :id;

-- name: last_seq
-- Return the highest row of the file: the word index is one for all tenants of a file.
WITH RECURSIVE seen (tenant) AS (
    SELECT min(tenant) FROM memories
    UNION ALL
    SELECT (SELECT min(m.tenant) FROM memories AS m WHERE m.tenant > seen.tenant)
    FROM seen WHERE seen.tenant IS NOT NULL
)
SELECT coalesce(max((SELECT max(m.seq) FROM memories AS m WHERE m.tenant = seen.tenant)), 0) FROM seen;

-- name: last_stamp
-- Return the stamp of the last change in a workspace.
SELECT coalesce(max(stamp), 0) FROM memories WHERE tenant = :tenant AND workspace = :workspace;

-- name: bump_generation
-- Tell readers that rows left a workspace.
UPDATE workspaces SET generation = generation + 1 WHERE tenant = :tenant AND id = :workspace;

-- name: index_words
-- Put a memory into the word index.
INSERT INTO words (rowid, text, context, place) VALUES (:seq, :text, :context, :place);

-- name: unindex_words
-- Take a memory out of the word index.
DELETE FROM words WHERE rowid = :seq;

-- name: insert_vector
-- Add or replace the vectors of one passage.
INSERT OR REPLACE INTO vectors (tenant, workspace, model, seq, passage, own, blend)
VALUES (:tenant, :workspace, :model, :seq, :passage, :own, :blend);

-- name: drop_vectors
-- Remove the vectors that one model made of a memory.
DELETE FROM vectors WHERE tenant = :tenant AND workspace = :workspace AND model = :model AND seq = :seq;

-- name: move_vectors
-- Carry the vectors of a memory to another workspace.
UPDATE vectors SET workspace = :to_workspace
WHERE tenant = :tenant AND workspace = :workspace AND model = :model AND seq = :seq;

-- name: insert_link
-- Add a link.
INSERT INTO memory_links (
    tenant, id, from_id, to_id, link_type, relationship, confidence, created_by, metadata, created_at,
    known_until
) VALUES (
    :tenant, :id, :from_id, :to_id, :link_type, :relationship, :confidence, :created_by, :metadata,
    :created_at, :known_until
);

-- name: insert_event
-- Append an event.
INSERT INTO events (tenant, memory_id, number, at, action, client, session, tool, replaced)
VALUES (:tenant, :memory_id, :number, :at, :action, :client, :session, :tool, :replaced);

-- name: next_event
-- Return the number of a memory's next event.
SELECT coalesce(max(number), 0) + 1 FROM events WHERE tenant = :tenant AND memory_id = :id;

-- name: next_number
-- Return the next decision's number.
SELECT coalesce(max(number), 0) + 1 FROM memories WHERE tenant = :tenant AND number IS NOT NULL;

-- name: repeated
-- Return the memory that the same request made, if that was lately.
SELECT memory_id FROM requests WHERE tenant = :tenant AND request = :request AND at >= :since;

-- name: remember_request
-- Note a request and its memory.
INSERT OR REPLACE INTO requests (tenant, request, memory_id, at) VALUES (:tenant, :request, :memory_id, :at);

-- name: forget_requests
-- Drop requests that are too old to be repeated.
DELETE FROM requests WHERE tenant = :tenant AND at < :before;

-- name: insert_workspace
-- Found a workspace.
INSERT INTO workspaces (tenant, id, name, name_key, identity, created_at, archived_at)
VALUES (:tenant, :id, :name, :name_key, :identity, :created_at, :archived_at);

-- name: touch
-- Note when a memory was last returned.
UPDATE memories SET accessed_at = max(accessed_at, :at) WHERE tenant = :tenant AND id = :id;

-- name: counts
-- Count memories, links and events.
SELECT
    (SELECT count(*) FROM memories WHERE tenant = :tenant),
    (SELECT count(*) FROM memory_links WHERE tenant = :tenant),
    (SELECT count(*) FROM events WHERE tenant = :tenant),
    (SELECT count(*) FROM workspaces WHERE tenant = :tenant);
