package web

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

func TestMain(m *testing.M) { testenv.Main(m, children) }

// children are what a test runs in a process of its own.
var children = map[string]testenv.Child{}

const (
	one    = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c001"
	two    = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c002"
	attack = `<script>alert("1")</script><img src=x onerror=alert(2)>`
)

var manifest = workflow.Manifest{Name: "Research", Phases: []string{"plan", "gather", "write"}}

// site is a project that is served to every user, and another store on its sessions, as
// another process has it.
type site struct {
	*testing.T
	dir     string // the sessions directory
	url     string
	options Options
	store   *sessionstore.Store
	log     *workflow.Workflow
	places  *Places
	stop    func() // stops the server, and waits
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteWith(t, Options{NoToken: true})
}

func newSiteWith(t *testing.T, o Options) *site {
	t.Helper()
	s := &site{T: t, options: o, dir: filepath.Join(t.TempDir(), "weather", "sessions")}
	var err error
	s.store, err = sessionstore.Open(s.dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.store.Close()) })
	s.log = workflow.New(s.store, manifest)
	s.places, err = OpenPlaces(s.dir, []workflow.Manifest{manifest})
	require.NoError(t, err)
	s.serve()
	return s
}

func (s *site) serve() {
	l, err := new(net.ListenConfig).Listen(s.Context(), "tcp", "127.0.0.1:0")
	require.NoError(s, err)
	server, err := New(s.places, l.Addr(), slog.New(slog.DiscardHandler), s.options)
	require.NoError(s, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.Context()))
	var wait sync.WaitGroup
	var failed error
	wait.Go(func() { failed = server.Serve(ctx, l) })
	s.url = "http://" + l.Addr().String()
	s.stop = sync.OnceFunc(func() {
		cancel()
		wait.Wait()
		require.NoError(s, failed)
		require.NoError(s, s.places.Close())
	})
	s.Cleanup(s.stop)
}

func (s *site) create(id string, members map[string]any, msgs ...map[string]any) {
	s.Helper()
	if members == nil {
		members = map[string]any{}
	}
	md, err := sessionstore.NewMetadata(members)
	require.NoError(s, err)
	require.NoError(s, s.store.Create(s.Context(), id, md))
	s.add(id, msgs...)
}

func (s *site) add(id string, msgs ...map[string]any) {
	s.Helper()
	for _, v := range msgs {
		m, err := sessionstore.NewMessage(v)
		require.NoError(s, err)
		require.NoError(s, s.store.Append(s.Context(), id, m))
	}
}

func (s *site) write(id, name, content string) {
	s.Helper()
	path := filepath.Join(s.dir, id, name)
	require.NoError(s, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s, os.WriteFile(path, []byte(content), 0o600))
}

func (s *site) phase(id string, p workflow.PhaseOutput) int64 {
	s.Helper()
	n, err := s.log.SavePhaseOutput(s.Context(), id, p)
	require.NoError(s, err)
	return n
}

// send sends a request with headers, given as names and values.
func (s *site) send(method, path string, headers ...string) (*http.Response, string) {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), 2*time.Minute)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, nil)
	require.NoError(s, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	require.NoError(s, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(s, err)
	require.NoError(s, answer.Body.Close())
	return answer, string(body)
}

// get returns what an address answers with, of that status.
func (s *site) get(status int, path string) string {
	s.Helper()
	answer, body := s.send(http.MethodGet, path)
	require.Equal(s, status, answer.StatusCode, body)
	return body
}

func (s *site) json(path string, v any) {
	s.Helper()
	require.NoError(s, json.Unmarshal([]byte(s.get(http.StatusOK, path)), v))
}

func page(id string) string { return "/p/weather/s/" + id }
func api(id string) string  { return "/api" + page(id) }

// record answers a request without a server.
func record(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func user(text string) map[string]any { return map[string]any{"role": "user", "content": text} }

func long(n int) string { return strings.Repeat("ä", n/2) }
