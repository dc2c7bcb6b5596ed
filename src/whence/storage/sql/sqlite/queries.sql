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
    AND (CASE WHEN :types IS NULL THEN m.type NOT IN ('reason', 'consequence', 'constraint')
         ELSE m.type IN (SELECT value FROM json_each(:types)) END)
    AND m.confidence >= :least_confidence
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

-- name: of_topic
-- Return the rows whose topic is this one, newest first.
-- +: by the topic's own index; the order must not make the engine go through the whole workspace.
SELECT m.seq FROM memories AS m
WHERE m.tenant = :tenant AND m.workspace = :workspace AND m.topic_key = :topic AND m.known_until IS NULL
ORDER BY +m.created_at DESC
LIMIT :limit;

-- name: allowed
-- Return the rows that a scope with filters lets in, ways in to a chain included.
SELECT m.seq FROM memories AS m
WHERE m.tenant = :tenant
    AND (:workspaces IS NULL OR m.workspace IN (SELECT value FROM json_each(:workspaces)))
    AND (:types IS NULL OR m.type IN (SELECT value FROM json_each(:types))
         OR (m.type IN ('reason', 'consequence', 'constraint')
             AND 'decision' IN (SELECT value FROM json_each(:types))))
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
SELECT s.seq, s.id, m.id, m.source, m.valid_from, m.status, m.workspace, m.type, m.known_until, m.confidence,
    s.topic
FROM down
CROSS JOIN memories AS s ON s.tenant = :tenant AND s.id = down.id
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.id = down.answer
WHERE s.seq IN (SELECT value FROM json_each(:seqs))
ORDER BY s.seq;

-- name: rows
-- Return what ranking needs to know of these rows, each version for itself, and whether it was ever replaced.
SELECT m.seq, m.id, m.id, m.source, m.valid_from, m.status, m.workspace, m.type, m.known_until,
    m.confidence, m.topic, EXISTS (
        SELECT 1 FROM memory_links AS l WHERE l.tenant = m.tenant AND l.to_id = m.id
            AND l.relationship IN ('supersedes', 'replaces')
    )
FROM json_each(:seqs) AS asked
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.seq = asked.value;

-- name: decided_by
-- Return, for each part of a decision among these rows, the decisions that it hangs on.
SELECT p.seq, p.id, m.seq FROM json_each(:seqs) AS asked
CROSS JOIN memories AS p ON p.tenant = :tenant AND p.seq = asked.value
    AND p.type IN ('reason', 'consequence', 'constraint')
CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.from_id = p.id
    AND l.relationship IN ('justifies', 'blocks', 'causes') AND l.known_until IS NULL
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.id = l.to_id AND m.type = 'decision'
UNION
SELECT p.seq, p.id, m.seq FROM json_each(:seqs) AS asked
CROSS JOIN memories AS p ON p.tenant = :tenant AND p.seq = asked.value
    AND p.type IN ('reason', 'consequence', 'constraint')
CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.to_id = p.id
    AND l.relationship IN ('leads_to', 'causes') AND l.known_until IS NULL
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.id = l.from_id AND m.type = 'decision';

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
ORDER BY NOT EXISTS (  -- the head stands last, whenever it began to be true
    SELECT 1 FROM memory_links AS l WHERE l.tenant = :tenant AND l.to_id = m.id
        AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
), m.valid_from, m.created_at, m.id;

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

-- name: live_links
-- Return the links that touch a memory and were not taken away.
SELECT id, from_id, to_id, link_type, relationship, confidence, created_by, created_at, metadata, known_until
FROM memory_links WHERE tenant = :tenant AND from_id = :id AND known_until IS NULL
UNION
SELECT id, from_id, to_id, link_type, relationship, confidence, created_by, created_at, metadata, known_until
FROM memory_links WHERE tenant = :tenant AND to_id = :id AND known_until IS NULL
ORDER BY created_at, id;

-- name: link_of
-- Return one link.
SELECT id, from_id, to_id, link_type, relationship, confidence, created_by, created_at, metadata, known_until
FROM memory_links WHERE tenant = :tenant AND id = :id;

-- name: links_by_system
-- Return the automatic links that stand, oldest first.
SELECT id, from_id, to_id, link_type, relationship, confidence, created_by, created_at, metadata, known_until
FROM memory_links WHERE tenant = :tenant AND created_by = 'system' AND known_until IS NULL
ORDER BY created_at, id;

-- name: walk_out
-- Return what can be reached along links from newer to older, each memory once, with its least distance and the
-- surest link that leads to it from one step nearer.
-- A queue without order is first in, first out: the walk goes breadth first, and the limit cuts the farthest.
-- The row of the greatest strength gives the other columns: so SQLite reads max().
WITH RECURSIVE reached (id, distance) AS (
    SELECT :start, 0
    UNION
    SELECT l.to_id, reached.distance + 1
    FROM reached CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.from_id = reached.id
        AND l.known_until IS NULL
        AND (:link_types IS NULL OR l.link_type IN (SELECT value FROM json_each(:link_types)))
        AND (:relationships IS NULL OR l.relationship IN (SELECT value FROM json_each(:relationships)))
        AND (:since IS NULL OR l.created_at >= :since) AND (:until IS NULL OR l.created_at < :until)
        AND (:least <= 0.0 OR l.confidence * (CASE
            WHEN l.created_by <> 'system' THEN 1.0
            WHEN l.link_type = 'temporal'
                THEN max(0.0, 1.0 - max(0, :now - l.created_at) / :temporal_life)
            WHEN l.link_type = 'association' THEN exp(-0.05 * max(0, :now - l.created_at) / :day)
            WHEN l.link_type = 'implementation' THEN exp(-0.02 * max(0, :now - l.created_at) / :day)
            ELSE 1.0 END) >= :least)
    WHERE reached.distance < :depth
    LIMIT :most
), nearest (id, distance) AS MATERIALIZED (
    SELECT id, min(distance) FROM reached GROUP BY id
), crossed AS (
    SELECT far.id AS reached_id, far.distance, l.id, l.from_id, l.to_id, l.link_type, l.relationship,
        l.confidence, l.created_by, l.created_at, l.metadata, l.known_until, l.confidence * (CASE
            WHEN l.created_by <> 'system' THEN 1.0
            WHEN l.link_type = 'temporal'
                THEN max(0.0, 1.0 - max(0, :now - l.created_at) / :temporal_life)
            WHEN l.link_type = 'association' THEN exp(-0.05 * max(0, :now - l.created_at) / :day)
            WHEN l.link_type = 'implementation' THEN exp(-0.02 * max(0, :now - l.created_at) / :day)
            ELSE 1.0 END) AS strength
    FROM nearest AS near
    CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.from_id = near.id AND l.known_until IS NULL
        AND (:link_types IS NULL OR l.link_type IN (SELECT value FROM json_each(:link_types)))
        AND (:relationships IS NULL OR l.relationship IN (SELECT value FROM json_each(:relationships)))
        AND (:since IS NULL OR l.created_at >= :since) AND (:until IS NULL OR l.created_at < :until)
    CROSS JOIN nearest AS far ON far.id = l.to_id AND far.distance = near.distance + 1
)
SELECT id, from_id, to_id, link_type, relationship, confidence, created_by, created_at, metadata, known_until,
    reached_id, distance, max(strength)
FROM crossed WHERE strength >= :least GROUP BY reached_id;

-- name: walk_in
-- Return what can be reached along links from older to newer, as walk_out does.
WITH RECURSIVE reached (id, distance) AS (
    SELECT :start, 0
    UNION
    SELECT l.from_id, reached.distance + 1
    FROM reached CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.to_id = reached.id
        AND l.known_until IS NULL
        AND (:link_types IS NULL OR l.link_type IN (SELECT value FROM json_each(:link_types)))
        AND (:relationships IS NULL OR l.relationship IN (SELECT value FROM json_each(:relationships)))
        AND (:since IS NULL OR l.created_at >= :since) AND (:until IS NULL OR l.created_at < :until)
        AND (:least <= 0.0 OR l.confidence * (CASE
            WHEN l.created_by <> 'system' THEN 1.0
            WHEN l.link_type = 'temporal'
                THEN max(0.0, 1.0 - max(0, :now - l.created_at) / :temporal_life)
            WHEN l.link_type = 'association' THEN exp(-0.05 * max(0, :now - l.created_at) / :day)
            WHEN l.link_type = 'implementation' THEN exp(-0.02 * max(0, :now - l.created_at) / :day)
            ELSE 1.0 END) >= :least)
    WHERE reached.distance < :depth
    LIMIT :most
), nearest (id, distance) AS MATERIALIZED (
    SELECT id, min(distance) FROM reached GROUP BY id
), crossed AS (
    SELECT far.id AS reached_id, far.distance, l.id, l.from_id, l.to_id, l.link_type, l.relationship,
        l.confidence, l.created_by, l.created_at, l.metadata, l.known_until, l.confidence * (CASE
            WHEN l.created_by <> 'system' THEN 1.0
            WHEN l.link_type = 'temporal'
                THEN max(0.0, 1.0 - max(0, :now - l.created_at) / :temporal_life)
            WHEN l.link_type = 'association' THEN exp(-0.05 * max(0, :now - l.created_at) / :day)
            WHEN l.link_type = 'implementation' THEN exp(-0.02 * max(0, :now - l.created_at) / :day)
            ELSE 1.0 END) AS strength
    FROM nearest AS near
    CROSS JOIN memory_links AS l ON l.tenant = :tenant AND l.to_id = near.id AND l.known_until IS NULL
        AND (:link_types IS NULL OR l.link_type IN (SELECT value FROM json_each(:link_types)))
        AND (:relationships IS NULL OR l.relationship IN (SELECT value FROM json_each(:relationships)))
        AND (:since IS NULL OR l.created_at >= :since) AND (:until IS NULL OR l.created_at < :until)
    CROSS JOIN nearest AS far ON far.id = l.from_id AND far.distance = near.distance + 1
)
SELECT id, from_id, to_id, link_type, relationship, confidence, created_by, created_at, metadata, known_until,
    reached_id, distance, max(strength)
FROM crossed WHERE strength >= :least GROUP BY reached_id;

-- name: graph_mark
-- Return a number that rises with every change of a link.
SELECT coalesce(max(graph_mark), 0) FROM memories WHERE tenant = :tenant AND graph_mark > 0;

-- name: graph_changed
-- Return the memories whose links changed since a mark.
SELECT id FROM memories WHERE tenant = :tenant AND graph_mark > :since AND graph_mark > 0;

-- name: mark_graph
-- Note that the links of these memories changed.
UPDATE memories SET graph_mark = :mark
WHERE tenant = :tenant AND id IN (SELECT value FROM json_each(:ids));

-- name: unlinked
-- Return the memories whose automatic links can be made, oldest first.
SELECT id FROM memories
WHERE tenant = :tenant AND (unlinked = 1 OR (unlinked = 2 AND pending = 0)) AND known_until IS NULL
ORDER BY created_at LIMIT :limit;

-- name: set_linked
-- Take the mark off a memory whose automatic links are made; one that no model has read gets a quieter mark.
UPDATE memories SET unlinked = CASE WHEN pending = 1 THEN 2 ELSE 0 END WHERE tenant = :tenant AND id = :id;

-- name: retire_links
-- Note that links were taken away which somebody had stated.
UPDATE memory_links SET known_until = max(created_at, :at)
WHERE tenant = :tenant AND created_by <> 'system' AND known_until IS NULL
    AND id IN (SELECT value FROM json_each(:ids));

-- name: drop_links
-- Remove links that the system had made.
DELETE FROM memory_links
WHERE tenant = :tenant AND created_by = 'system' AND id IN (SELECT value FROM json_each(:ids));

-- name: ends_of
-- Return the memories that these links join.
SELECT from_id, to_id FROM memory_links WHERE tenant = :tenant AND id IN (SELECT value FROM json_each(:ids));

-- name: chore
-- Return when a chore was done last.
SELECT at FROM chores WHERE tenant = :tenant AND name = :name;

-- name: note_chore
-- Note that a chore is done now.
INSERT OR REPLACE INTO chores (tenant, name, at) VALUES (:tenant, :name, :at);

-- name: count
-- Add to a counter.
INSERT INTO counters (tenant, name, value) VALUES (:tenant, :name, :by)
ON CONFLICT (tenant, name) DO UPDATE SET value = value + :by;

-- name: counters
-- Return what is counted: what programs add up, the links that stand by their creator, what waits for links.
SELECT name, value FROM counters WHERE tenant = :tenant
UNION ALL
SELECT 'links_by_' || l.created_by, count(*) FROM memory_links AS l
WHERE l.tenant = :tenant AND l.known_until IS NULL GROUP BY l.created_by
UNION ALL
SELECT 'unlinked', count(*) FROM memories AS m
WHERE m.tenant = :tenant AND (m.unlinked = 1 OR (m.unlinked = 2 AND m.pending = 0)) AND m.known_until IS NULL;

-- name: by_topic
-- Return the memories of one topic in a workspace.
SELECT m.id, m.updated_at, m.number FROM memories AS m
WHERE m.tenant = :tenant AND m.workspace = :workspace AND m.topic_key = :topic
    AND m.known_until IS NULL
    AND (:types IS NULL OR m.type IN (SELECT value FROM json_each(:types)))
ORDER BY +m.created_at DESC, m.id DESC
LIMIT :limit;

-- name: by_number
-- Return the decisions of these numbers.
SELECT m.id, m.updated_at, m.number, m.workspace FROM json_each(:numbers) AS asked
CROSS JOIN memories AS m ON m.tenant = :tenant AND m.number = asked.value
WHERE m.known_until IS NULL;

-- name: decisions
-- Return the decisions of a workspace, the last changed first.
SELECT m.id, m.updated_at, m.number FROM memories AS m
WHERE m.tenant = :tenant AND m.workspace = :workspace AND m.type = 'decision' AND m.known_until IS NULL
    AND m.confidence >= :least_confidence
    AND (CASE
        WHEN :status IS NULL THEN m.status <> 'archived'
        WHEN :status = 'superseded' THEN m.status <> 'archived' AND EXISTS (
            SELECT 1 FROM memory_links AS l WHERE l.tenant = m.tenant AND l.to_id = m.id
                AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
        )
        WHEN :status IN ('active', 'reconsidering') THEN m.status = :status AND NOT EXISTS (
            SELECT 1 FROM memory_links AS l WHERE l.tenant = m.tenant AND l.to_id = m.id
                AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
        )
        ELSE m.status = :status END)
ORDER BY m.updated_at DESC, m.number DESC
LIMIT :limit;

-- name: decisions_of_type
-- Return the decisions of one kind in a workspace, the last changed first.
SELECT m.id, m.updated_at, m.number FROM memories AS m
WHERE m.tenant = :tenant AND m.workspace = :workspace AND m.type = 'decision' AND m.known_until IS NULL
    AND json_extract(m.metadata, '$.decision_type') = :decision_type
    AND m.confidence >= :least_confidence
    AND (CASE
        WHEN :status IS NULL THEN m.status <> 'archived'
        WHEN :status = 'superseded' THEN m.status <> 'archived' AND EXISTS (
            SELECT 1 FROM memory_links AS l WHERE l.tenant = m.tenant AND l.to_id = m.id
                AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
        )
        WHEN :status IN ('active', 'reconsidering') THEN m.status = :status AND NOT EXISTS (
            SELECT 1 FROM memory_links AS l WHERE l.tenant = m.tenant AND l.to_id = m.id
                AND l.relationship IN ('supersedes', 'replaces') AND l.known_until IS NULL
        )
        ELSE m.status = :status END)
ORDER BY m.updated_at DESC, m.number DESC
LIMIT :limit;

-- name: topics
-- Return the topics of a workspace, each once.
SELECT min(m.topic) FROM memories AS m
WHERE m.tenant = :tenant AND m.workspace = :workspace AND m.topic_key IS NOT NULL
    AND m.known_until IS NULL AND m.status <> 'archived'
GROUP BY m.topic_key;

-- name: workspaces
-- Return every workspace of the tenant.
SELECT id, name, identity, created_at, archived_at FROM workspaces WHERE tenant = :tenant ORDER BY created_at, id;

-- name: census
-- Count what lies in a scope and what its filters keep out.
SELECT
    coalesce(sum(here AND type_fits AND then_fits AND sure AND NOT superseded AND NOT archived), 0),
    coalesce(sum(here AND type_fits AND then_fits AND superseded AND NOT archived), 0),
    coalesce(sum(here AND type_fits AND then_fits AND archived), 0),
    coalesce(sum(here AND NOT type_fits), 0),
    coalesce(sum(here AND type_fits AND NOT then_fits), 0),
    coalesce(sum(NOT here), 0),
    coalesce(sum(here AND type_fits AND then_fits AND NOT sure AND NOT superseded AND NOT archived), 0)
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
        m.status = 'archived' AS archived,
        m.confidence >= :least_confidence AS sure
    FROM memories AS m WHERE m.tenant = :tenant AND m.known_until IS NULL
        AND (:types IS NOT NULL OR m.type NOT IN ('reason', 'consequence', 'constraint'))
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
    valid_from, valid_until, known_until, pending, topic_key, unlinked
) VALUES (
    :tenant, :id, :seq, :stamp, :workspace, :type, :content, :topic, :name, :name_key, :number, :context,
    :confidence, :source, :status, :level, :domain, :module, :code_ref, :tags, :metadata, :created_at,
    :updated_at, :accessed_at, :valid_from, :valid_until, :known_until, :pending, :topic_key, :unlinked
);

-- name: update_memory
-- Change a memory.
UPDATE memories SET
    stamp = :stamp, workspace = :workspace, type = :type, content = :content, topic = :topic, name = :name,
    name_key = :name_key, number = :number, context = :context, confidence = :confidence, source = :source,
    status = :status, level = :level, domain = :domain, module = :module, code_ref = :code_ref, tags = :tags,
    metadata = :metadata, created_at = :created_at, updated_at = :updated_at, accessed_at = :accessed_at,
    valid_from = :valid_from, valid_until = :valid_until, known_until = :known_until, pending = :pending,
    topic_key = :topic_key
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
