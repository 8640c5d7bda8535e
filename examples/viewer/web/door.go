package web

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strings"
)

// TokenHeader is the header in which a program sends the token of [Options].
const TokenHeader = "X-Viewer-Token"

// tokenQuery is the name of the token in the printed address.
const tokenQuery = "token"

// door lets in requests of the user who started the server, since every user of the
// machine reaches its port. A program sends the token in [TokenHeader]. A browser that
// opens the printed address gets a cookie. Browsers send the cookies of a host to all of
// its ports, so the value of the cookie is not the token: it lets a reader in for as long
// as this process runs, and changes nothing.
type door struct {
	token  string
	cookie http.Cookie
	open   bool // every user of the machine may read
	keeps  bool // pages keep the token, for requests that change something
}

// newDoor returns the door of a server that listens at addr. It draws the token, unless the
// options have one.
func newDoor(addr net.Addr, o Options) *door {
	d := &door{token: cmp.Or(o.Token, rand.Text()), open: o.NoToken, keeps: o.changes()}
	_, port, _ := net.SplitHostPort(addr.String()) // an address without a port has one server
	d.cookie = http.Cookie{Name: "sessions-viewer-" + port, Value: rand.Text(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
	return d
}

// fits reports whether a text is the token.
func (d *door) fits(text string) bool { return equal(text, d.token) }

// equal compares in a time that depends on lengths alone.
func equal(a, b string) bool { return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// lets reports whether a request may read.
func (d *door) lets(r *http.Request) bool {
	return d.open || d.fits(r.Header.Get(TokenHeader)) ||
		slices.ContainsFunc(r.CookiesNamed(d.cookie.Name), func(c *http.Cookie) bool { return equal(c.Value, d.cookie.Value) })
}

// enter answers a request for the printed address: the browser gets the cookie and goes on
// to the same address without the token. It reports whether r is such a request.
func (d *door) enter(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !d.fits(query.Get(tokenQuery)) {
		return false
	}
	query.Del(tokenQuery)
	to := *r.URL
	to.Scheme, to.Host, to.RawQuery = "", "", query.Encode()
	if strings.HasPrefix(to.Path, "//") { // which would be the name of another server
		to.Path, to.RawPath = "/", ""
	}
	if d.keeps {
		to.Fragment = tokenQuery + "=" + d.token // which a browser does not send
	}
	http.SetCookie(w, &d.cookie)
	if site := r.Header.Get("Sec-Fetch-Site"); site == "" || site == "none" || site == "same-origin" {
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
		return true
	}
	// A browser that came from elsewhere, as from the file of Browse, sends the cookie
	// only when a page of this server leads on.
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = refresh.Execute(w, to.String()) // the reader may be gone
	return true
}

// refresh leads a browser on to an address. The entry of its history is replaced.
var refresh = template.Must(template.New("refresh").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>sessions</title><meta http-equiv="refresh" content="0; url={{.}}"></head>
<body><p><a href="{{.}}">Sessions</a></p></body></html>
`))

//go:embed pages/locked.html
var locked string

// lacksToken is the text of the failure of a request without the token.
const lacksToken = "the request lacks the token; open the address that the viewer printed"

// refuse answers a request without the token.
func (d *door) refuse(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		writeJSON(w, http.StatusForbidden, failureText{lacksToken, "token"})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte(locked)) // the reader may be gone
}
