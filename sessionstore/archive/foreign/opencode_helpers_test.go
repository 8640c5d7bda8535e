package foreign

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// openCodeHome is a directory of opencode whose database a test writes.
type openCodeHome struct {
	t   testing.TB
	dir string
	p   *projects.Projects
}

func newOpenCodeHome(t testing.TB) *openCodeHome {
	t.Helper()
	h := &openCodeHome{t, t.TempDir(), openProjects(t)}
	h.makeTables()
	return h
}

// makeTables makes the database, with the tables that opencode makes.
func (h *openCodeHome) makeTables() {
	h.t.Helper()
	h.exec(original(h.t, "testdata/opencode/schema.sql"))
}

func (h *openCodeHome) path() string { return filepath.Join(h.dir, "opencode.db") }

// exec changes the database as another program does, which then ends.
func (h *openCodeHome) exec(query string, args ...any) {
	h.t.Helper()
	db, err := sql.Open("sqlite", h.path())
	require.NoError(h.t, err)
	_, err = db.Exec(query, args...)
	require.NoError(h.t, err)
	require.NoError(h.t, db.Close())
}

// last returns when the last message of a session was made.
func (h *openCodeHome) last(session string) (at int64) {
	h.t.Helper()
	db, err := sql.Open("sqlite", h.path())
	require.NoError(h.t, err)
	require.NoError(h.t, db.QueryRow("SELECT max(time_created) FROM message WHERE session_id = ?", session).Scan(&at))
	require.NoError(h.t, db.Close())
	return at
}

// put adds a row to a table, unless that has one with its id.
func (h *openCodeHome) put(table string, row map[string]any) {
	h.t.Helper()
	names := slices.Sorted(maps.Keys(row))
	var values []any
	for _, n := range names {
		values = append(values, row[n])
	}
	h.exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s) ON CONFLICT DO NOTHING", table, strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1)), values...)
}

// load adds the rows in a file of testdata.
func (h *openCodeHome) load(name string) {
	h.t.Helper()
	for l := range strings.Lines(original(h.t, name)) {
		var r struct {
			Table string
			Row   map[string]any
		}
		require.NoError(h.t, json.Unmarshal([]byte(l), &r))
		h.put(r.Table, r.Row)
	}
}

// session adds a session.
func (h *openCodeHome) session(id, parent string, at int) {
	h.t.Helper()
	row := map[string]any{"id": id, "project_id": "p", "slug": "s", "directory": "/w", "title": "New session - 2026-11-01T10:00:00.000Z", "version": "1.18.33", "time_created": at, "time_updated": at}
	if parent != "" {
		row["parent_id"] = parent
	}
	h.put("session", row)
}

// message adds a message with parts.
func (h *openCodeHome) message(session, id, role string, at int, parts ...string) {
	h.t.Helper()
	data := fmt.Sprintf(`{"role":%q,"time":{"created":%d},"agent":"build"}`, role, at)
	if role == "assistant" {
		data = fmt.Sprintf(`{"role":"assistant","time":{"created":%d,"completed":%d},"modelID":"m","tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}`, at, at)
	}
	h.put("message", map[string]any{"id": id, "session_id": session, "time_created": at, "time_updated": at, "data": data})
	for i, p := range parts {
		h.put("part", map[string]any{"id": fmt.Sprintf("%s%02d", strings.Replace(id, "msg", "prt", 1), i), "message_id": id, "session_id": session, "time_created": at, "time_updated": at, "data": p})
	}
}

func textPart(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

// turn adds a prompt and its answer, at a time.
func (h *openCodeHome) turn(session string, at int, text string) {
	h.t.Helper()
	h.message(session, fmt.Sprintf("msg_%s_%04d", session[4:], at), "user", at, textPart(text))
	h.message(session, fmt.Sprintf("msg_%s_%04d", session[4:], at+1), "assistant", at+1, textPart("re "+text))
}

// fork copies a session as opencode does: under new ids, with the times.
func (h *openCodeHome) fork(id, to string) {
	h.t.Helper()
	h.exec(`INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) SELECT ?2, project_id, slug, directory, title || ' (fork #1)', version, time_created + 1, time_updated FROM session WHERE id = ?1;
		INSERT INTO message SELECT replace(id, 'msg_', 'msg_F'), ?2, time_created, time_updated, data FROM message WHERE session_id = ?1;
		INSERT INTO part SELECT replace(id, 'prt_', 'prt_F'), replace(message_id, 'msg_', 'msg_F'), ?2, time_created, time_updated, data FROM part WHERE session_id = ?1`, id, to)
}

// take imports a file as opencode does, which changes no row that it has.
func (h *openCodeHome) take(file []byte) {
	h.t.Helper()
	var all struct {
		Info struct {
			ID, Directory, Title, Version string
			Time                          struct{ Created, Updated int }
		}
		Messages []struct {
			Info  map[string]any
			Parts []map[string]any
		}
	}
	require.NoError(h.t, json.Unmarshal(file, &all), "%s", file)
	i := all.Info
	h.put("session", map[string]any{"id": i.ID, "project_id": "p", "slug": "s", "directory": "/w", "title": i.Title, "version": i.Version, "time_created": i.Time.Created, "time_updated": i.Time.Updated})
	data := func(m map[string]any, drop ...string) string {
		for _, d := range drop {
			require.NotEmpty(h.t, m[d], d)
			delete(m, d)
		}
		raw, err := json.Marshal(m)
		require.NoError(h.t, err)
		return string(raw)
	}
	for _, m := range all.Messages {
		id, at := m.Info["id"], m.Info["time"].(map[string]any)["created"]
		h.put("message", map[string]any{"id": id, "session_id": i.ID, "time_created": at, "time_updated": 1, "data": data(m.Info, "id", "sessionID")})
		for _, p := range m.Parts {
			h.put("part", map[string]any{"id": p["id"], "message_id": id, "session_id": i.ID, "time_created": 1, "time_updated": 1, "data": data(p, "id", "sessionID", "messageID")})
		}
	}
}

// sentByOpenCode returns the message that opencode sends of a line.
func (a *away) sentByOpenCode(line string) string {
	type object = map[string]any
	type file struct{ Type, Text, URL, Mime string }
	var l struct {
		Type, Call string
		Data       struct{ Role string }
		Parts      []struct {
			Data struct {
				file
				CallID, Tool string
				State        struct{ Input json.RawMessage }
			}
		}
		State struct {
			Output      string
			Attachments []file
		}
	}
	require.NoError(a.t, json.Unmarshal([]byte(line), &l))
	content, calls := []any{}, []any{}
	add := func(f file) {
		if data, ok := strings.CutPrefix(f.URL, "data:"+f.Mime+";base64,"); ok {
			content = append(content, object{"type": "image", "source": object{"type": "base64", "media_type": f.Mime, "data": data}})
		} else if f.Text != "" {
			content = append(content, object{"type": "text", "text": f.Text})
		}
	}
	row := object{"role": l.Data.Role}
	switch l.Type {
	case "message":
		for _, p := range l.Parts {
			if add(p.Data.file); p.Data.Type == "tool" {
				calls = append(calls, object{"id": p.Data.CallID, "tool": p.Data.Tool, "arguments": p.Data.State.Input})
			}
		}
		if len(calls) > 0 {
			row["tool_calls"] = calls
		}
	case "result":
		row = object{"role": "tool", "tool_call_id": l.Call}
		add(file{Text: l.State.Output})
		for _, f := range l.State.Attachments {
			add(f)
		}
	default:
		return ""
	}
	row["content"] = content
	raw, err := json.Marshal(row)
	require.NoError(a.t, err)
	return string(raw)
}

// requireBegins requires that a file of the tool begins with another one. opencode writes the
// lines anew, and has results in the order of the calls.
func (a *away) requireBegins(file, with string) {
	a.t.Helper()
	if a.tool != OpenCode {
		require.True(a.t, strings.HasPrefix(file, with))
		return
	}
	says := func(file string) (all []uint64) {
		for l := range strings.Lines(file) {
			if tool := programs[string(a.tool)]; tool.Speaks([]byte(l)) {
				all = append(all, tool.Says([]byte(l)))
			}
		}
		return all
	}
	require.Subset(a.t, says(file), says(with))
}

// write writes the file of the tool anew.
func (a *away) write(file string) {
	a.t.Helper()
	if a.tool != OpenCode {
		require.NoError(a.t, os.WriteFile(a.path, []byte(file), 0o600))
		return
	}
	h := &openCodeHome{a.t, a.home, a.p}
	h.exec("DELETE FROM part WHERE session_id = ?1; DELETE FROM message WHERE session_id = ?1", a.thread())
	h.take(packOf(a.t, file))
}

// found finds the sessions.
func (h *openCodeHome) found() []History {
	h.t.Helper()
	all, err := Find(h.t.Context(), OpenCode, &FindOptions{Home: h.dir})
	require.NoError(h.t, err)
	return all
}

// run imports the sessions, and returns the reports by their ids.
func (h *openCodeHome) run() map[string]*Report {
	h.t.Helper()
	reports := map[string]*Report{}
	for _, one := range h.found() {
		report, err := Import(h.t.Context(), h.p, one, nil)
		require.NoError(h.t, err)
		reports[one.ID] = report
	}
	return reports
}

func (h *openCodeHome) store() *sessionstore.Store {
	h.t.Helper()
	st, err := h.p.Store("-w")
	require.NoError(h.t, err)
	return st
}

// said returns the texts of a session.
func (h *openCodeHome) said(id string) (said []string) {
	h.t.Helper()
	for _, m := range healthy(h.t, h.store(), id) {
		said = append(said, m.Content())
	}
	return said
}

// linesAt returns the lines of a session in a database.
func linesAt(t testing.TB, path string) string {
	t.Helper()
	r, size, leave, err := programs[string(OpenCode)].(thread.Database).Open(t.Context(), path)
	require.NoError(t, err)
	defer leave()
	all, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	require.NoError(t, err)
	return string(all)
}

// exportLines writes the lines of an export.
func exportLines(t testing.TB, st *sessionstore.Store, id string, tool Tool, w io.Writer, o *ExportOptions) (Exported, error) {
	t.Helper()
	return export(t.Context(), st, id, programs[string(tool)], 0, w, o)
}

// packOf returns the file that opencode imports.
func packOf(t testing.TB, lines string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, programs[string(OpenCode)].(thread.Database).Pack(t.Context(), strings.NewReader(lines), "", &b))
	return b.Bytes()
}

// called adds a prompt, a call with its result, and the answer.
func (h *openCodeHome) called(session string, at int, prompt string) {
	h.t.Helper()
	id := func(n int) string { return fmt.Sprintf("msg_%s_%d", session[4:], at+n) }
	h.message(session, id(0), "user", at, textPart(prompt))
	h.message(session, id(1), "assistant", at+1, `{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"ls"},"output":"a","time":{"start":1,"end":2}}}`)
	h.message(session, id(2), "assistant", at+2, textPart("re "+prompt))
}

// removeFrom removes the messages from one on, as opencode does with a prompt after a revert.
func (h *openCodeHome) removeFrom(message string) {
	h.t.Helper()
	h.exec("UPDATE session SET revert = NULL")
	h.exec("DELETE FROM part WHERE message_id >= ?", message)
	h.exec("DELETE FROM message WHERE id >= ?", message)
}
