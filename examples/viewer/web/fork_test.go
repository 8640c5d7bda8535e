package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestFork forks after a turn and finds the new session; the parent stays as it is.
func TestFork(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{Token: token, NoToken: true, Write: true})
	s.create(one, map[string]any{"name": "parent"}, user("a"), user("b"), user("c"))
	before := s.read(one, "transcript.jsonl")
	var made forked
	require.NoError(t, json.Unmarshal(s.answer(200, api(one)+"/fork", `{"turn": 2}`, s.own()...), &made))
	require.Equal(t, forked{SessionID: made.SessionID, Path: page(made.SessionID), Turn: 2, Messages: 2}, made)
	require.NotEqual(t, one, made.SessionID)
	got, err := s.store.Load(t.Context(), made.SessionID)
	require.NoError(t, err)
	require.Len(t, got.Messages, 2)
	require.Equal(t, one, got.Metadata.Text("parent_id"))
	require.Contains(t, s.get(200, made.Path), made.SessionID)
	require.Equal(t, before, s.read(one, "transcript.jsonl"))
	require.Contains(t, s.get(200, page(one)), " data-write ")
}

// TestForkOfDamage forks what can be read, and nothing where nothing can.
func TestForkOfDamage(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{Token: token, NoToken: true, Write: true})
	s.create(one, nil, user("secret"), user("b"))
	s.damage(one, s.read(one, "transcript.jsonl")+"{secret\n")
	var made forked
	require.NoError(t, json.Unmarshal(s.answer(200, api(one)+"/fork", `{"turn": 1}`, s.own()...), &made))
	require.Equal(t, 1, made.Messages)
	require.Contains(t, made.Damage, "transcript.jsonl: line 3")
	require.NotContains(t, made.Damage, "secret")
	s.create(two, nil, user("a"))
	s.damage(two, "{secret\n")
	require.Equal(t, "damaged", s.post(422, api(two)+"/fork", `{"turn": 1}`, s.own()...))
}

// TestForkRefusals asks for forks that must not be made, and finds that none was.
func TestForkRefusals(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{Token: token, NoToken: true, Write: true})
	s.create(one, nil, user("secret"))
	for _, tt := range []struct {
		name, body string
		headers    []string
		status     int
		kind       string
	}{
		{"foreign origin", `{"turn": 1}`, s.own("Origin", "http://evil.example"), 403, "other_origin"},
		{"no origin", `{"turn": 1}`, []string{TokenHeader, token, "Content-Type", "application/json"}, 403, "other_origin"},
		{"no token", `{"turn": 1}`, s.own(TokenHeader, ""), 403, "token"},
		{"wrong token", `{"turn": 1}`, s.own(TokenHeader, token+"x"), 403, "token"},
		{"form", `{"turn": 1}`, s.own("Content-Type", "text/plain"), 415, "media_type"},
		{"no turn", `{}`, s.own(), 400, "bad_request"},
		{"turn 0", `{"turn": 0}`, s.own(), 400, "bad_request"},
		{"another type", `{"turn": "secret"}`, s.own(), 400, "bad_request"},
		{"unknown member", `{"turn": 1, "secret": 1}`, s.own(), 400, "bad_request"},
		{"unknown turn", `{"turn": 2}`, s.own(), 404, "no_turn"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.kind, s.post(tt.status, api(one)+"/fork", tt.body, tt.headers...))
		})
	}
	require.Equal(t, "not_found", s.post(404, api(two)+"/fork", `{"turn": 1}`, s.own()...))
	s.create(two, nil)
	require.Equal(t, "no_turn", s.post(404, api(two)+"/fork", `{"turn": 1}`, s.own()...))
	require.Equal(t, 2, s.sessions())

	looks := newSiteWith(t, Options{Token: token, NoToken: true})
	looks.create(one, nil, user("a"))
	require.Equal(t, "read_only", looks.post(403, api(one)+"/fork", `{"turn": 1}`, looks.own()...))
	require.Equal(t, 1, looks.sessions())
	require.NotContains(t, looks.get(200, page(one)), "data-write")
}

// sessions returns how many there are.
func (s *site) sessions() int {
	all, err := s.store.List(s.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(s, err)
	return len(all)
}

// damage makes a transcript and its backup hold that text.
func (s *site) damage(id, text string) {
	for _, name := range []string{"transcript.jsonl", "transcript.jsonl.backup"} {
		require.NoError(s, os.WriteFile(filepath.Join(s.dir, id, name), []byte(text), 0o600))
	}
}
