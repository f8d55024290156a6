/**
 * Functions in the database that a group of commits consists of: each stands for a dozen statements, of which every one
 * would cost both sides more than what it does. Their numbers are those of the format that made them: what is released stays
 * as it is, because servers of that release call it while others are replaced.
 */

/**
 * `read_group_4` waits for the turn of the transaction among all, and returns the places that its commits look at as they
 * stand then: a statement of such a function sees what was committed before it. Each place is looked up by its whole key. With
 * it come the number and state of its site, the counters of the site at its root, lines of entries, and for places where a
 * file is to be put and nothing stands the time of the last event there.
 */
const READ = `
CREATE FUNCTION read_group_4(sites text[], folders text[], names text[], puts boolean[])
RETURNS TABLE (
  last_version bigint, last_id bigint, site_name text, site_id bigint, ms bigint, seq bigint, counters text,
  folder text, name text, id bigint, kind smallint, version bigint, digest text, size bigint, type text, language text,
  created bigint, modified bigint, shown bigint, same_second smallint, properties text, members text, body bigint,
  in_file int, unlisted smallint, lines text, seen bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  at_version bigint;
  at_id bigint;
BEGIN
  SELECT p.version, p.last_id INTO STRICT at_version, at_id FROM progress p FOR UPDATE;
  RETURN QUERY SELECT at_version, at_id, k.site, s.id, s.ms, s.seq,
    CASE WHEN k.folder = '' THEN (SELECT json_object_agg(c.name, c.value)::text FROM counter c WHERE c.site = s.id) END,
    k.folder, k.name, r.id, r.kind, r.version, r.digest, r.size, r.type, r.language, r.created, r.modified, r.shown,
    r.same_second, r.properties, r.members, r.body, (r.blob IS NOT NULL)::int, r.unlisted,
    CASE WHEN k.put AND r.id IS NOT NULL THEN coalesce((SELECT t.lines FROM entry_text t WHERE t.id = r.id), '') END,
    CASE WHEN k.put AND r.id IS NULL THEN coalesce(
      (SELECT e.ms FROM event e WHERE e.site = s.id AND e.path = k.folder || k.name ORDER BY e.ms DESC, e.seq DESC LIMIT 1),
      (SELECT d.ms FROM dropped d WHERE d.site = s.id AND d.path = k.folder || k.name), -1) END
  FROM unnest(sites, folders, names, puts) AS k (site, folder, name, put)
  LEFT JOIN site s ON s.name = k.site
  LEFT JOIN LATERAL (SELECT * FROM resource o WHERE o.site = s.id AND o.folder = k.folder AND o.name = k.name LIMIT 1) r
    ON true;
END $$;
`

/** `write_group_4` writes rows of all tables that most commits change. Bodies stand one after another in `body_bytes`. */
const WRITE = `
CREATE FUNCTION write_group_4(
  site_id bigint[], site_name text[], site_ms bigint[], site_seq bigint[],
  r_site bigint[], r_folder text[], r_name text[], r_id bigint[], r_kind smallint[], r_version bigint[], r_digest text[],
  r_size bigint[], r_type text[], r_language text[], r_created bigint[], r_modified bigint[], r_shown bigint[],
  r_same_second smallint[], r_properties text[], r_members text[], r_body bigint[], r_blob text[], r_unlisted smallint[],
  body_id bigint[], body_start int[], body_length int[], body_bytes bytea,
  d_whole bigint[], d_id bigint[], d_name text[], d_site bigint[], d_value text[], d_derivation smallint,
  e_site bigint[], e_ms bigint[], e_seq bigint[], e_path text[], e_version bigint[], e_payload text[], e_session text[],
  e_token text[], e_facts text[], e_bytes bigint[],
  c_site bigint[], c_name text[], c_value bigint[],
  l_version bigint[], l_site text[], l_paths text[], l_raised text[], l_edit text[], l_origin text,
  last_version bigint, last_number bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF cardinality(site_id) > 0 THEN
    INSERT INTO site (id, name, ms, seq) SELECT * FROM unnest(site_id, site_name, site_ms, site_seq)
    ON CONFLICT (id) DO UPDATE SET ms = EXCLUDED.ms, seq = EXCLUDED.seq;
  END IF;
  IF cardinality(r_id) > 0 THEN
    INSERT INTO resource (site, folder, name, id, kind, version, digest, size, type, language, created, modified, shown,
      same_second, properties, members, body, blob, unlisted)
    SELECT * FROM unnest(r_site, r_folder, r_name, r_id, r_kind, r_version, r_digest, r_size, r_type, r_language, r_created,
      r_modified, r_shown, r_same_second, r_properties, r_members, r_body, r_blob, r_unlisted)
    ON CONFLICT (site, folder, name) DO UPDATE SET id = EXCLUDED.id, kind = EXCLUDED.kind, version = EXCLUDED.version,
      digest = EXCLUDED.digest, size = EXCLUDED.size, type = EXCLUDED.type, language = EXCLUDED.language,
      created = EXCLUDED.created, modified = EXCLUDED.modified, shown = EXCLUDED.shown,
      same_second = EXCLUDED.same_second, properties = EXCLUDED.properties, members = EXCLUDED.members,
      body = EXCLUDED.body, blob = EXCLUDED.blob, unlisted = EXCLUDED.unlisted;
  END IF;
  IF cardinality(body_id) > 0 THEN
    INSERT INTO body (id, bytes) SELECT id, substring(body_bytes FROM start FOR length)
    FROM unnest(body_id, body_start, body_length) AS k (id, start, length);
  END IF;
  IF cardinality(d_whole) > 0 THEN
    DELETE FROM derived d WHERE d.id = ANY (d_whole) AND NOT EXISTS (
      SELECT FROM unnest(d_id, d_name) AS k (id, name) WHERE k.id = d.id AND k.name = d.name);
  END IF;
  IF cardinality(d_id) > 0 THEN
    INSERT INTO derived (id, name, site, value, derivation)
    SELECT k.id, k.name, k.site, k.value, d_derivation FROM unnest(d_id, d_name, d_site, d_value) AS k (id, name, site, value)
    ON CONFLICT (id, name) DO UPDATE SET value = EXCLUDED.value WHERE derived.value <> EXCLUDED.value;
  END IF;
  IF cardinality(e_site) > 0 THEN
    INSERT INTO event (site, ms, seq, path, version, payload, session, token, facts, bytes)
    SELECT * FROM unnest(e_site, e_ms, e_seq, e_path, e_version, e_payload, e_session, e_token, e_facts, e_bytes);
  END IF;
  IF cardinality(c_site) > 0 THEN
    INSERT INTO counter (site, name, value) SELECT * FROM unnest(c_site, c_name, c_value)
    ON CONFLICT (site, name) DO UPDATE SET value = EXCLUDED.value;
  END IF;
  IF cardinality(l_version) > 0 THEN
    INSERT INTO commit_log (version, origin, site, paths, raised, edit)
    SELECT k.version, l_origin, k.site, k.paths, k.raised, k.edit
    FROM unnest(l_version, l_site, l_paths, l_raised, l_edit) AS k (version, site, paths, raised, edit);
  END IF;
  IF last_version IS NOT NULL THEN
    UPDATE progress SET version = last_version, last_id = last_number;
  END IF;
END $$;
`

/**
 * Compression that costs a fifth of the usual one, for servers that were built with it: every saved document is in an event
 * for a while.
 */
const COMPRESSION = `
DO $$ BEGIN
  ALTER TABLE event ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;
`

export const GROUP_FUNCTIONS = READ + WRITE + COMPRESSION

/**
 * `write_group_5` writes what `write_group_4` does, and entries, and lets go of bodies that no resource has any more. Given
 * the version that its commits were made after, it is their whole transaction: it waits for its turn and writes nothing,
 * and says so, where others have committed since, where its turn comes too late, or where something is or was at a place
 * where the commits take it that nothing ever was.
 */
export const WRITE_FROM_MEMORY = `
CREATE FUNCTION write_group_5(
  made_after bigint, in_time bigint, n_site bigint[], n_folder text[], n_name text[],
  site_id bigint[], site_name text[], site_ms bigint[], site_seq bigint[],
  r_site bigint[], r_folder text[], r_name text[], r_id bigint[], r_kind smallint[], r_version bigint[], r_digest text[],
  r_size bigint[], r_type text[], r_language text[], r_created bigint[], r_modified bigint[], r_shown bigint[],
  r_same_second smallint[], r_properties text[], r_members text[], r_body bigint[], r_blob text[], r_unlisted smallint[],
  body_id bigint[], body_bytes bytea[], body_freed bigint[],
  d_whole bigint[], d_id bigint[], d_name text[], d_site bigint[], d_value text[], d_derivation smallint,
  g_id bigint[], g_item text[], k_site bigint[], k_key bytea[], k_id bigint[], k_item text[], t_id bigint[], t_lines text[],
  e_site bigint[], e_ms bigint[], e_seq bigint[], e_path text[], e_version bigint[], e_payload text[], e_session text[],
  e_token text[], e_facts text[], e_bytes bigint[],
  c_site bigint[], c_name text[], c_value bigint[],
  l_version bigint[], l_site text[], l_paths text[], l_raised text[], l_edit text[], l_origin text,
  last_version bigint, last_number bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at_version bigint;
  gone bigint;
BEGIN
  IF made_after IS NOT NULL THEN
    SELECT p.version INTO STRICT at_version FROM progress p FOR UPDATE;
    IF at_version <> made_after OR extract(epoch FROM clock_timestamp()) * 1000 > in_time THEN RETURN false; END IF;
    IF cardinality(n_site) > 0 THEN
      PERFORM FROM unnest(n_site, n_folder, n_name) AS k (site, folder, name)
      WHERE (SELECT true FROM resource r WHERE r.site = k.site AND r.folder = k.folder AND r.name = k.name LIMIT 1)
        OR (SELECT true FROM event e WHERE e.site = k.site AND e.path = k.folder || k.name LIMIT 1)
        OR (SELECT true FROM dropped d WHERE d.site = k.site AND d.path = k.folder || k.name LIMIT 1) LIMIT 1;
      IF FOUND THEN RETURN false; END IF;
    END IF;
  END IF;
  IF cardinality(site_id) > 0 THEN
    INSERT INTO site (id, name, ms, seq) SELECT * FROM unnest(site_id, site_name, site_ms, site_seq)
    ON CONFLICT (id) DO UPDATE SET ms = EXCLUDED.ms, seq = EXCLUDED.seq;
  END IF;
  IF cardinality(r_id) > 0 THEN
    INSERT INTO resource (site, folder, name, id, kind, version, digest, size, type, language, created, modified, shown,
      same_second, properties, members, body, blob, unlisted)
    SELECT * FROM unnest(r_site, r_folder, r_name, r_id, r_kind, r_version, r_digest, r_size, r_type, r_language, r_created,
      r_modified, r_shown, r_same_second, r_properties, r_members, r_body, r_blob, r_unlisted)
    ON CONFLICT (site, folder, name) DO UPDATE SET id = EXCLUDED.id, kind = EXCLUDED.kind, version = EXCLUDED.version,
      digest = EXCLUDED.digest, size = EXCLUDED.size, type = EXCLUDED.type, language = EXCLUDED.language,
      created = EXCLUDED.created, modified = EXCLUDED.modified, shown = EXCLUDED.shown,
      same_second = EXCLUDED.same_second, properties = EXCLUDED.properties, members = EXCLUDED.members,
      body = EXCLUDED.body, blob = EXCLUDED.blob, unlisted = EXCLUDED.unlisted;
  END IF;
  IF cardinality(body_id) > 0 THEN
    INSERT INTO body (id, bytes) SELECT * FROM unnest(body_id, body_bytes);
  END IF;
  IF cardinality(d_whole) > 0 THEN
    DELETE FROM derived d WHERE d.id = ANY (d_whole) AND NOT EXISTS (
      SELECT FROM unnest(d_id, d_name) AS k (id, name) WHERE k.id = d.id AND k.name = d.name);
  END IF;
  IF cardinality(d_id) > 0 THEN
    INSERT INTO derived (id, name, site, value, derivation)
    SELECT k.id, k.name, k.site, k.value, d_derivation FROM unnest(d_id, d_name, d_site, d_value) AS k (id, name, site, value)
    ON CONFLICT (id, name) DO UPDATE SET value = EXCLUDED.value WHERE derived.value <> EXCLUDED.value;
  END IF;
  IF cardinality(g_id) > 0 THEN
    DELETE FROM entry e USING unnest(g_id, g_item) AS k (id, item) WHERE e.id = k.id AND e.item = k.item;
  END IF;
  IF cardinality(k_id) > 0 THEN
    INSERT INTO entry (site, key, id, item) SELECT * FROM unnest(k_site, k_key, k_id, k_item) ON CONFLICT DO NOTHING;
  END IF;
  IF cardinality(t_id) > 0 THEN
    DELETE FROM entry e USING unnest(t_id, t_lines) AS k (id, lines) WHERE e.id = k.id AND k.lines IS NULL;
    DELETE FROM entry_text t USING unnest(t_id, t_lines) AS k (id, lines) WHERE t.id = k.id AND k.lines IS NULL;
    INSERT INTO entry_text (id, lines) SELECT k.id, k.lines FROM unnest(t_id, t_lines) AS k (id, lines)
    WHERE k.lines IS NOT NULL ON CONFLICT (id) DO UPDATE SET lines = EXCLUDED.lines;
  END IF;
  IF cardinality(e_site) > 0 THEN
    INSERT INTO event (site, ms, seq, path, version, payload, session, token, facts, bytes)
    SELECT * FROM unnest(e_site, e_ms, e_seq, e_path, e_version, e_payload, e_session, e_token, e_facts, e_bytes);
  END IF;
  IF cardinality(c_site) > 0 THEN
    INSERT INTO counter (site, name, value) SELECT * FROM unnest(c_site, c_name, c_value)
    ON CONFLICT (site, name) DO UPDATE SET value = EXCLUDED.value;
  END IF;
  IF cardinality(l_version) > 0 THEN
    INSERT INTO commit_log (version, origin, site, paths, raised, edit)
    SELECT k.version, l_origin, k.site, k.paths, k.raised, k.edit
    FROM unnest(l_version, l_site, l_paths, l_raised, l_edit) AS k (version, site, paths, raised, edit);
  END IF;
  IF cardinality(body_freed) > 0 THEN
    DELETE FROM body b WHERE b.id = ANY (body_freed) AND NOT EXISTS (SELECT FROM event e WHERE e.body = b.id);
    GET DIAGNOSTICS gone = ROW_COUNT;
    IF gone < cardinality(body_freed) THEN UPDATE body SET told = true WHERE id = ANY (body_freed); END IF;
  END IF;
  IF last_version IS NOT NULL THEN
    UPDATE progress SET version = last_version, last_id = last_number;
  END IF;
  RETURN true;
END $$;
`
