package web

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testAddr is the address of a server that only answers calls.
var testAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4321}

func TestGuard(t *testing.T) {
	t.Parallel()
	const own = "127.0.0.1:4321"
	g := newGuard(testAddr, Options{NoToken: true}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	tests := []struct {
		name, method, host string
		origins            []string
		site               string
		want               int
	}{
		{"address line", "GET", own, nil, "none", 204},
		{"by name", "GET", "localhost:4321", nil, "", 204},
		{"own page", "GET", own, []string{"http://" + own}, "same-origin", 204},
		{"own form", "POST", own, []string{"http://" + own}, "same-origin", 204},
		{"own form of a browser without fetch metadata", "POST", own, []string{"http://" + own}, "", 204},
		{"rebound name", "GET", "evil.example:4321", nil, "same-origin", 421},
		{"rebound name with its origin", "POST", "evil.example:4321", []string{"http://evil.example:4321"}, "same-origin", 421},
		{"name without port", "GET", "127.0.0.1", nil, "", 421},
		{"another port", "GET", "127.0.0.1:4322", nil, "", 421},
		{"suffix", "GET", own + ".evil.example", nil, "", 421},
		{"no host", "GET", "", nil, "", 421},
		{"other origin", "GET", own, []string{"http://evil.example"}, "", 403},
		{"other name of this machine", "GET", own, []string{"http://localhost:4321"}, "", 403},
		{"null origin", "POST", own, []string{"null"}, "", 403},
		{"secure origin", "POST", own, []string{"https://" + own}, "", 403},
		{"two origins", "POST", own, []string{"http://" + own, "http://evil.example"}, "", 403},
		{"empty origin", "GET", own, []string{""}, "", 403},
		{"post without origin", "POST", own, nil, "", 403},
		{"post from the address line", "POST", own, []string{"http://" + own}, "none", 403},
		{"cross site image", "GET", own, nil, "cross-site", 403},
		{"same site, other port", "GET", own, nil, "same-site", 403},
		{"delete without origin", "DELETE", own, nil, "", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), tt.method, "/", nil)
			r.Host = tt.host
			for _, o := range tt.origins {
				r.Header.Add("Origin", o)
			}
			if tt.site != "" {
				r.Header.Set("Sec-Fetch-Site", tt.site)
			}
			w := record(g, r)
			require.Equal(t, tt.want, w.Code)
			require.Equal(t, policy, w.Header().Get("Content-Security-Policy"))
		})
	}
}

// TestEveryAnswerIsGuarded asks for everything there is, and for more.
func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("hello"))
	paths := []string{
		"/", "/p/weather", page(one), "/assets/app.js", "/assets/style.css", "/assets/", "/nothing", "/p/other", page(two),
		api(one) + "/health", api(one) + "/lineage", api(one) + "/phases", api(one) + "/phases/1", api(one) + "/messages",
		api(one) + "/messages/0", api(one) + "/messages/0/line", api(one) + "/events", api(one) + "/event", api(two) + "/phases",
	}
	for _, path := range paths {
		answer, body := s.send("GET", path)
		require.Less(t, answer.StatusCode, 500, "%s: %s", path, body)
		require.Equal(t, policy, answer.Header.Get("Content-Security-Policy"), path)
		require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"), path)
		if answer.StatusCode == http.StatusOK {
			require.Equal(t, "no-store", answer.Header.Get("Cache-Control"), path)
		}
		require.Empty(t, answer.Header.Get("Access-Control-Allow-Origin"), path)
		for _, forged := range [][]string{{"Host", "evil.example"}, {"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
			answer, body := s.send("GET", path, forged...)
			require.GreaterOrEqual(t, answer.StatusCode, 400, path)
			require.Less(t, len(body), 100, path)
		}
	}
	for _, path := range append(paths, api(one)+"/stream", api(one)+"/resume") {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
			if method == "POST" && (strings.HasSuffix(path, "/resume") || strings.HasSuffix(path, "/phases")) {
				continue
			}
			answer, _ := s.send(method, path, "Origin", s.url)
			require.Contains(t, []int{404, 405}, answer.StatusCode, "%s %s", method, path)
		}
	}
	answer, _ := s.send("GET", api(one)+"/resume")
	require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
	answer, _ = s.send("POST", api(one)+"/resume")
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
}

func TestPathsStayInside(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("hello"))
	for _, id := range []string{"..", "%2e%2e", "..%2f..", "%2e%2e%2fweather", "a%2fb", "%00", ".sessionstore", ".hidden", "%5c..%5c..", strings.Repeat("a", 300), "nothing"} {
		for _, tail := range []string{"", "/phases", "/messages", "/stream", "/events"} {
			path := page(id)
			if tail != "" {
				path = api(id) + tail
			}
			answer, body := s.send("GET", path)
			require.Contains(t, []int{301, 307, 308, 400, 404}, answer.StatusCode, "%s: %s", path, body)
		}
	}
	for _, path := range []string{"/p/..", "/p/%2e%2e", "/p/..%2fweather", "/assets/../server.go", "/assets/%2e%2e/pages/list.html"} {
		answer, _ := s.send("GET", path)
		require.NotEqual(t, 200, answer.StatusCode, path)
	}
}

func TestSessionsAreText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, map[string]any{"name": attack, "model": attack, "status": attack, "parent_id": attack, "working_dir": attack, "bundle": attack}, user(attack))
	s.write(one, "transcript.jsonl.damaged-"+`"><b>`, "")
	for _, path := range []string{"/p/weather", page(one)} {
		answer, body := s.send("GET", path)
		require.Equal(t, "text/html; charset=utf-8", answer.Header.Get("Content-Type"))
		require.NotContains(t, body, "<script>alert")
		require.NotContains(t, body, "<img")
		require.NotContains(t, body, "<b>")
		require.Contains(t, body, "&lt;script&gt;alert")
		require.Regexp(t, `status status--*`, body)
		require.NotContains(t, body, "<style")
		require.NotContains(t, body, " style=")
		require.NotRegexp(t, `(?i)\son[a-z]+=`, strings.ReplaceAll(body, "onerror=alert(2)&gt;", ""))
	}
	for path, kind := range map[string]string{api(one) + "/messages": "application/json", api(one) + "/messages/0/line": "text/plain; charset=utf-8"} {
		answer, _ := s.send("GET", path)
		require.Equal(t, kind, answer.Header.Get("Content-Type"))
	}
}
