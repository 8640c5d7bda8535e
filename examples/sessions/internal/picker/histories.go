package picker

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// histories are those of other tools that can be imported. Its methods may be called
// by several goroutines.
type histories struct {
	homes map[foreign.Tool]string // directories of the tools; without one, where the tool keeps it

	mu     sync.Mutex
	found  []foreign.History // what the last offer told
	failed error             // what kept the search for them from finding all
	empty  map[string]bool   // ids of sessions that an import did not make, since there is no conversation
}

// seek looks for conversations of other tools that are not here. It reads the
// beginnings of their files. A file that names no directory there holds no
// conversation, as far as one can tell. Another file without one is offered until an
// import has read it whole, and again by the next picker. A session in the trash is
// not offered, and neither is the file of a session that was exported.
func (h *histories) seek(ctx context.Context, s store) Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found, h.failed = nil, nil
	var all []foreign.History
	for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
		some, err := foreign.Find(ctx, tool, &foreign.FindOptions{Home: h.homes[tool]})
		all, h.failed = append(all, some...), errors.Join(h.failed, err)
	}
	if len(all) == 0 {
		return Offered{}
	}
	here, err := s.ids(ctx)
	if err != nil { // what may be here is not offered
		return Offered{}
	}
	var offer Offer
	for _, one := range all {
		id := one.SessionID()
		if id == "" || one.Dir == "" || here[id] || here[one.ID] || h.empty[id] || s.project != "" && one.Project() != s.project {
			continue
		}
		here[id] = true
		h.found = append(h.found, one)
		if one.Tool == foreign.Claude {
			offer.Claude++
		} else {
			offer.Codex++
		}
	}
	return Offered{offer}
}

// ids returns the ids of all sessions, also of those in the trash.
func (s store) ids(ctx context.Context) (map[string]bool, error) {
	slugs, err := s.projects.Slugs(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, slug := range slugs {
		st, err := s.projects.Store(slug)
		if err != nil { // the list tells of a project that cannot be read
			continue
		}
		entries, err := os.ReadDir(st.Dir())
		if err != nil {
			continue
		}
		for _, e := range entries {
			ids[e.Name()] = true
		}
		receipts, _ := trash.List(ctx, st) // one that is damaged hides no other
		for _, r := range receipts {
			for _, gone := range r.Sessions {
				ids[gone.ID] = true
			}
		}
	}
	return ids, ctx.Err()
}

// bring imports what the last offer told, each whole, until stop ends. With ctx it
// ends at once.
func (h *histories) bring(ctx, stop context.Context, run func(context.Context, []foreign.History, func(foreign.History, error) bool) (string, error), tell func(Event)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	tell(Progressed{0, len(h.found)})
	report, err := run(ctx, h.found, func(one foreign.History, err error) bool {
		if errors.Is(err, foreign.ErrEmpty) {
			if h.empty == nil {
				h.empty = map[string]bool{}
			}
			h.empty[one.SessionID()] = true
		}
		n++
		tell(Progressed{n, len(h.found)})
		return stop.Err() == nil
	})
	tell(Imported{clean(report), errors.Join(h.failed, err)})
}
