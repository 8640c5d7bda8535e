package web

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// policy lets a page load from here alone, and run no script but those files.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guard refuses requests that come neither from a page of this server nor from the
// address line, and requests of another user of the machine. It sends browsers the policy
// of pages.
type guard struct {
	hosts       []string // by which the server is reached
	door        *door
	connections connections
	next        http.Handler
}

// newGuard returns the guard of a server that listens at addr.
func newGuard(addr net.Addr, o Options, next http.Handler) *guard {
	g := &guard{hosts: []string{addr.String()}, door: newDoor(addr, o), next: next}
	if _, port, err := net.SplitHostPort(addr.String()); err == nil {
		g.hosts = append(g.hosts, net.JoinHostPort("localhost", port))
		if port == "80" {
			g.hosts = append(g.hosts, "localhost")
		}
	}
	return g
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !slices.Contains(g.hosts, r.Host):
		refuse(w, r, http.StatusMisdirectedRequest, "unknown host")
	case g.door.enter(w, r):
		g.connections.letIn(r) // also from a page elsewhere, which knows the token then
	case !ownOrigin(r):
		refuse(w, r, http.StatusForbidden, "request of another origin")
	case !g.door.lets(r):
		g.door.refuse(w, r)
	default:
		g.connections.letIn(r)
		g.next.ServeHTTP(w, r)
	}
}

// ownOrigin reports whether a request comes from a page of this server or,
// where it can only read, from no page at all.
func ownOrigin(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		if origin != "http://"+r.Host {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
		return reads || len(origins) > 0
	case "none":
		return reads
	}
	return false
}

func refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		writeJSON(w, status, failureText{text, kinds[status]})
		return
	}
	http.Error(w, text, status)
}
