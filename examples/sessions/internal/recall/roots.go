package recall

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// roots are the directories that a client works in, as far as it has said.
type roots struct {
	sync.Mutex
	asked chan struct{} // closed by the answer to the last question; nil: there was none
	until time.Time     // when calls stop to wait for it
	known []*mcp.Root
}

// ask asks the client for its directories, and waits for a second at most. While a client leaves a
// question unanswered, it gets no other one and no call waits again: what it said before holds.
func (r *roots) ask(ctx context.Context, client *mcp.ServerSession) []*mcp.Root {
	r.Lock()
	asked := r.asked
	if asked == nil {
		asked = make(chan struct{})
		r.asked, r.until = asked, time.Now().Add(time.Second)
		go func() {
			//lint:ignore SA1019 clients before protocol 2026-07-28 say their directories so
			all, err := client.ListRoots(context.WithoutCancel(ctx), nil) // until the client answers or goes away
			r.Lock()
			defer r.Unlock()
			if r.asked, r.known = nil, nil; err == nil {
				r.known = all.Roots
			}
			close(asked)
		}()
	}
	late := time.NewTimer(time.Until(r.until))
	r.Unlock()
	defer late.Stop()
	select {
	case <-asked:
	case <-late.C:
	case <-ctx.Done():
	}
	r.Lock()
	defer r.Unlock()
	return r.known
}

// scope returns the projects that calls are about. The person and the client say which, and never
// the model.
func (s *Server) scope(ctx context.Context, client *mcp.ServerSession) (slugs []string) {
	//lint:ignore SA1019 clients before protocol 2026-07-28 say their directories so
	if p := client.InitializeParams(); s.Project != "" || p == nil || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		return []string{cmp.Or(s.Project, s.Here)}
	}
	all := s.roots.ask(ctx, client)
	if len(all) == 0 {
		return []string{s.Here}
	}
	for _, root := range all {
		at, err := url.Parse(root.URI)
		if err != nil || at.Scheme != "file" {
			continue
		}
		dir := filepath.FromSlash(at.Path)
		if bare := dir[min(1, len(dir)):]; filepath.VolumeName(bare) != "" {
			dir = bare
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			slugs = append(slugs, sessionstore.ProjectSlug(real))
		}
	}
	return slugs
}
