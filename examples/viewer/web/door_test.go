package web

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// everyPath returns an address for each route.
func (s *site) everyPath() (all []string) {
	s.Helper()
	server, err := New(s.places, testAddr, nil, s.options)
	require.NoError(s, err)
	fields := strings.NewReplacer("{project}", "weather", "{session}", one, "{n}", "0", "{phase}", "1", "{$}", "")
	for pattern := range server.routes() {
		all = append(all, fields.Replace(pattern))
	}
	require.Greater(s, len(all), 20)
	return append(all, "GET /assets/app.js", "GET /nothing", "HEAD /p/weather", "DELETE /p/weather")
}

// TestEveryRouteNeedsTheToken asks for everything as another user of the machine does.
func TestEveryRouteNeedsTheToken(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{Token: token, Write: true})
	s.create(one, nil, user("confidential"))
	cookie := s.visit("/?token=" + token)
	for _, path := range s.everyPath() {
		method, path, _ := strings.Cut(path, " ")
		for _, headers := range [][]string{
			nil,
			{TokenHeader, ""},
			{TokenHeader, token + "x"},
			{"Cookie", cookie.Name + "=" + token},
			{"Cookie", cookie.Name + "="},
			{"Cookie", "sessions-viewer-1=" + cookie.Value},
			{"Authorization", "token " + token},
		} {
			answer, body := s.send(method, path, append(headers, "Origin", s.url)...)
			require.Equal(t, http.StatusForbidden, answer.StatusCode, "%s %s %v: %s", method, path, headers, body)
			require.Empty(t, answer.Cookies())
			require.NotContains(t, body, "confidential")
			require.NotContains(t, body, token)
			require.NotContains(t, body, "weather")
			if strings.HasPrefix(path, "/api/") {
				require.Contains(t, body, `"kind":"token"`)
			} else if method != http.MethodHead {
				require.Contains(t, body, "<h1>Open the address that the viewer printed</h1>")
			}
		}
		for _, wrong := range []string{"?token=", "?token=" + token + "x", "?token=" + cookie.Value} {
			answer, _ := s.send(method, path+wrong, "Origin", s.url)
			require.Equal(t, http.StatusForbidden, answer.StatusCode, path+wrong)
			require.Empty(t, answer.Cookies())
		}
		if strings.HasSuffix(path, "/stream") {
			continue // it goes on
		}
		if method == http.MethodGet {
			for _, headers := range [][]string{{TokenHeader, token}, {"Cookie", cookie.Name + "=other; " + cookie.Name + "=" + cookie.Value}} {
				answer, body := s.send(method, path, headers...)
				require.NotEqual(t, http.StatusForbidden, answer.StatusCode, "%s: %s", path, body)
			}
		}
	}
	s.listen(api(one)+"/stream", "Cookie", cookie.Name+"="+cookie.Value).next("ready")
	require.Equal(t, "token", s.post(403, api(one)+"/phases", "{}", "Origin", s.url, "Content-Type", "application/json", "Cookie", cookie.Name+"="+cookie.Value), "a cookie changes nothing")

	again := newSiteWith(t, Options{Token: token})
	answer, _ := again.send("GET", "/", "Cookie", again.cookieName()+"="+cookie.Value)
	require.Equal(t, http.StatusForbidden, answer.StatusCode, "the cookie of another process")
}

// visit opens an address and returns the cookie that it sets.
func (s *site) visit(path string, headers ...string) *http.Cookie {
	s.Helper()
	answer, _ := s.send("GET", path, headers...)
	require.Len(s, answer.Cookies(), 1)
	return answer.Cookies()[0]
}

func (s *site) cookieName() string {
	at, err := url.Parse(s.url)
	require.NoError(s, err)
	return "sessions-viewer-" + at.Port()
}

// TestTokenLeavesTheAddress opens the printed address in several ways.
func TestTokenLeavesTheAddress(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{Token: token})
	s.create(one, nil, user("confidential"))
	cookie := s.visit("/?token=" + token)
	require.Equal(t, s.cookieName(), cookie.Name)
	require.Equal(t, s.cookieName()+"="+cookie.Value+"; Path=/; HttpOnly; SameSite=Strict", cookie.String())
	require.Len(t, cookie.Value, 26)
	for path, want := range map[string]string{
		"/?token=" + token:                                 "/",
		page(one) + "?token=" + token:                      page(one),
		"/p/weather?all=1&token=" + token + "&page=2":      "/p/weather?all=1&page=2",
		"/p/a%2Fb?token=" + token:                          "/p/a%2Fb",
		"//evil.example/?token=" + token:                   "/",
		"/" + url.PathEscape("\\evil") + "?token=" + token: "/%5Cevil",
	} {
		answer, _ := s.send("GET", path)
		require.Equal(t, http.StatusSeeOther, answer.StatusCode, path)
		require.Equal(t, want, answer.Header.Get("Location"), path)
	}
	// From a page elsewhere, as from a file, a page of this server leads on.
	for _, from := range []string{"cross-site", "same-site"} {
		answer, body := s.send("GET", "/p/weather?token="+token, "Sec-Fetch-Site", from)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Len(t, answer.Cookies(), 1)
		require.Contains(t, body, `content="0; url=/p/weather"`)
		require.NotContains(t, body, token)
		require.NotContains(t, body, "confidential")
		answer, _ = s.send("GET", "/p/weather", "Sec-Fetch-Site", from, "Cookie", cookie.Name+"="+cookie.Value)
		require.Equal(t, http.StatusForbidden, answer.StatusCode, "the cookie alone is not enough")
	}
	answer, _ := s.send("GET", "/?token="+token, "Host", "evil.example")
	require.Equal(t, http.StatusMisdirectedRequest, answer.StatusCode)
	require.Empty(t, answer.Cookies())
	answer, _ = s.send("POST", "/?token="+token, "Origin", s.url)
	require.Equal(t, http.StatusForbidden, answer.StatusCode)

	writes := newSiteWith(t, Options{Token: token, Write: true})
	answer, _ = writes.send("GET", "/?token="+token)
	require.Equal(t, "/#token="+token, answer.Header.Get("Location"), "its pages keep the token")
}

// TestURL opens what the program prints.
func TestURL(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, tt := range []struct {
		options Options
		want    string
	}{
		{Options{}, `^http://127\.0\.0\.1:4321/\?token=[A-Z2-7]{26}$`},
		{Options{Token: token}, `^http://127\.0\.0\.1:4321/\?token=a-token$`},
		{Options{NoToken: true}, `^http://127\.0\.0\.1:4321/$`},
		{Options{NoToken: true, Write: true}, `^http://127\.0\.0\.1:4321/\?token=[A-Z2-7]{26}$`},
	} {
		server, err := New(s.places, testAddr, nil, tt.options)
		require.NoError(t, err)
		require.Regexp(t, tt.want, server.URL())
	}

	s = newSiteWith(t, Options{Token: token})
	s.create(one, nil, user("hello"))
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/?token="+token, nil)
	require.NoError(t, err)
	answer, err := (&http.Client{Jar: jar}).Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "/p/weather", answer.Request.URL.RequestURI())
	require.Contains(t, string(body), "1 session")
}

// TestBrowse looks at the file and the arguments by which a browser is started.
func TestBrowse(t *testing.T) {
	t.Parallel()
	sh, err := os.Stat("/bin/sh")
	testenv.Need(t, err == nil && !sh.IsDir(), "no shell")
	const at = "http://127.0.0.1:4321/?token=" + token
	told := filepath.Join(t.TempDir(), "told")
	command := []string{"/bin/sh", "-c", `ls -ld "$1" "$(dirname "$1")" > "$0.part"; cat "$1" >> "$0.part"; echo "$@" >> "$0.part"; mv "$0.part" "$0"; exit 3`, told}
	require.ErrorContains(t, browse(t.Context(), at, command), "exit status 3")
	data, err := os.ReadFile(told)
	require.NoError(t, err)
	text := string(data)
	require.Regexp(t, `(?m)^-rw-------.* \S+/sessions\.html$`, text)
	require.Regexp(t, `(?m)^drwx------`, text)
	require.Contains(t, text, `url=http://127.0.0.1:4321/?token=`+token+`"`)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.NotContains(t, lines[len(lines)-1], token, "the arguments, which every user can read")
	require.NoFileExists(t, regexp.MustCompile(`\S+/sessions\.html$`).FindString(lines[len(lines)-1]))
}
