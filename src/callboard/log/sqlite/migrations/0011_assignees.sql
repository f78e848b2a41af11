-- Who may answer a question; assigned_to says who is expected to.

ALTER TABLE human_interactions ADD COLUMN assignees TEXT;

DROP VIEW interactions;
CREATE VIEW interactions AS
SELECT
    id,
    execution_id,
    type,
    prompt,
    options,
    status,
    response,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', resolved_at / 1000.0, 'unixepoch') AS resolved_at,
    CASE
        WHEN type <> 'interactive_session' THEN session_config
        WHEN json_extract(session_config, '$.blockOrchestration') IS NOT NULL THEN session_config
        ELSE json_set(coalesce(session_config, '{}'), '$.blockOrchestration', json('true'))
    END AS session_config,
    session_transcript,
    session_duration,
    CASE json_type(error)
        WHEN 'object' THEN coalesce(json_extract(error, '$.message'), error)
        ELSE json_extract(error, '$')
    END AS error,
    phase,
    strftime('%Y-%m-%dT%H:%M:%fZ', deadline / 1000.0, 'unixepoch') AS deadline,
    assignees,
    assigned_to,
    claimed_by,
    strftime('%Y-%m-%dT%H:%M:%fZ', claimed_until / 1000.0, 'unixepoch') AS claimed_until,
    answered_by,
    answered_as,
    via,
    accepted,
    receipt,
    stream
FROM human_interactions;
