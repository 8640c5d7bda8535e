package web

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
)

const password = "hx7Qm2Lp9Zt4Wv8R"

// TestExport downloads each format as a file, with secrets and without.
func TestExport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, map[string]any{"name": "weather"}, user("API_KEY="+password), user(attack))
	for format, want := range map[string]string{"md": "# weather", "html": "<!doctype html>", "jsonl": s.read(one, "transcript.jsonl"), "tar": one + "/transcript.jsonl"} {
		body := s.download("?format="+format, "session-"+one+"."+format)
		require.Contains(t, strings.ToLower(body), strings.ToLower(want), format)
		require.Contains(t, body, password, format)
		body = s.download("?format="+format+"&redact=1", "session-"+one+".redacted."+format)
		require.NotContains(t, body, password, format)
		require.Contains(t, body, "[redacted:", format)
	}
	require.NotContains(t, s.download("?format=html", "session-"+one+".html"), "<script>alert")
	names := []string{}
	for r := tar.NewReader(strings.NewReader(s.download("?format=tar", "session-"+one+".tar"))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names = append(names, h.Name)
	}
	require.Contains(t, names, one+"/metadata.json")
	answer, body := s.send(http.MethodHead, api(one)+"/export?format=tar")
	require.Equal(t, 200, answer.StatusCode)
	require.Empty(t, body)
}

// download exports a session as a file of that name.
func (s *site) download(query, name string) string {
	s.Helper()
	answer, body := s.send(http.MethodGet, api(one)+"/export"+query)
	require.Equal(s, 200, answer.StatusCode, body)
	disposition, members, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition"))
	require.NoError(s, err)
	require.Equal(s, []string{"attachment", name}, []string{disposition, members["filename"]})
	require.Equal(s, "nosniff", answer.Header.Get("X-Content-Type-Options"))
	return body
}

func TestExportRefusals(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("a"))
	for _, tt := range []struct {
		path   string
		header []string
		status int
		kind   string
	}{
		{api(one) + "/export", nil, 400, "bad_request"},
		{api(one) + "/export?format=exe", nil, 400, "bad_request"},
		{api(one) + "/export?format=md&redact=yes", nil, 400, "bad_request"},
		{api(two) + "/export?format=md", nil, 404, "not_found"},
		{"/api/p/other/s/" + one + "/export?format=md", nil, 404, "not_found"},
		{api(one) + "/export?format=md", []string{"Origin", "http://evil.example"}, 403, "other_origin"},
		{api(one) + "/export?format=md", []string{"Sec-Fetch-Site", "cross-site"}, 403, "other_origin"},
	} {
		answer, body := s.send(http.MethodGet, tt.path, tt.header...)
		require.Equal(t, tt.status, answer.StatusCode, tt.path)
		require.Contains(t, body, `"kind":"`+tt.kind+`"`)
		require.Empty(t, answer.Header.Get("Content-Disposition"))
	}
}

// TestExportOfDamage downloads what can be read of a damaged session, by a name
// that tells so.
func TestExportOfDamage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("first"))
	s.damage(one, s.read(one, "transcript.jsonl")+"{damage\n")
	require.Contains(t, s.download("?format=md", "session-"+one+".damaged.md"), "first")
	require.Contains(t, s.download("?format=jsonl", "session-"+one+".damaged.jsonl"), "first")
	require.Contains(t, s.download("?format=tar", "session-"+one+".tar"), "{damage")

	s.create(two, nil, user("first"))
	s.write(two, "phase_outputs.jsonl", "{damage\n")
	require.Contains(t, s.get(200, api(two)+"/export?format=md"), "records of the workflow are damaged")
}

// TestExportThatBreaks fails when the file is not whole: the answer is cut off,
// or, where nothing was written yet, it is an error.
func TestExportThatBreaks(t *testing.T) {
	t.Parallel()
	s := &Server{logger: slog.New(slog.DiscardHandler)}
	failed := errors.New("disk trouble")
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = s.download(w, r, func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Repeat("x", 100_000))
			return errors.Join(err, failed)
		})
	}))
	t.Cleanup(at.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.URL, nil)
	require.NoError(t, err)
	answer, err := new(http.Client).Do(r)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, answer.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, answer.Body.Close())

	w := httptest.NewRecorder()
	w.Header().Set("Content-Disposition", "attachment")
	require.ErrorIs(t, s.download(w, r, func(io.Writer) error { return failed }), failed)
	require.Empty(t, w.Header())
}

// TestExportsAreFew refuses one more than runs at once.
func TestExportsAreFew(t *testing.T) {
	t.Parallel()
	s := &Server{exports: make(chan struct{}, 1)}
	s.exports <- struct{}{}
	r := &request{Request: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?format=tar", nil), id: one}
	w := httptest.NewRecorder()
	require.ErrorIs(t, s.export(w, r), errBusy)
	require.Empty(t, w.Header())
}

func TestExportName(t *testing.T) {
	t.Parallel()
	o := &archive.WriteOptions{Format: archive.Tar}
	require.Equal(t, "session-_____a__b__.tar", exportName("../\"\na\u202e b\\/", o, false))
	require.Len(t, exportName(string(bytes.Repeat([]byte("a"), 300)), o, false), 104)
}

func TestResumeLineIsShown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, map[string]any{"working_dir": "/home/ada's"})
	require.Contains(t, s.get(200, page(one)), `readonly>cd &#39;/home/ada&#39;\&#39;&#39;s&#39; &amp;&amp; amplifier session resume `+one+`</textarea>`)
}
