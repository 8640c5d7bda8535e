package web

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxStrangers is the largest number of connections on which no request had the token yet.
// With one more, the oldest of them is closed: other users of the machine, who can open
// connections but have no token, neither fill the memory nor keep the user out.
const maxStrangers = 64

// connections are the open connections of a server that nobody let in yet.
type connections struct {
	mu        sync.Mutex
	strangers []net.Conn            // the oldest first
	unused    map[net.Conn]struct{} // on which nothing was asked
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// withConnection is an [http.Server.ConnContext].
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// changed is an [http.Server.ConnState].
func (cs *connections) changed(c net.Conn, state http.ConnState) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if state != http.StateNew {
		delete(cs.unused, c)
		if state == http.StateClosed || state == http.StateHijacked {
			cs.forget(c)
		}
		return
	}
	if cs.unused == nil {
		cs.unused = map[net.Conn]struct{}{}
	}
	cs.unused[c] = struct{}{}
	cs.strangers = append(cs.strangers, c)
	if len(cs.strangers) > maxStrangers {
		_ = cs.strangers[0].Close() // its other end may have done so
		cs.strangers = slices.Delete(cs.strangers, 0, 1)
	}
}

// letIn notes that a request with the token came by its connection.
func (cs *connections) letIn(r *http.Request) {
	c, _ := r.Context().Value(connectionKey{}).(net.Conn)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.forget(c)
}

func (cs *connections) forget(c net.Conn) {
	cs.strangers = slices.DeleteFunc(cs.strangers, func(other net.Conn) bool { return other == c })
}

// closeUnused closes the connections on which nothing was asked.
func (cs *connections) closeUnused() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for c := range cs.unused {
		_ = c.Close() // its other end may have done so
	}
}
