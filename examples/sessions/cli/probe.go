package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// probed is the rights of this device in a remote, and the remote's properties.
type probed struct {
	URL      place    `json:"url"`
	Write    bool     `json:"write"`
	Delete   bool     `json:"delete"`
	Shows    bool     `json:"shows"` // reads and lists have the object stored before
	Clock    *float64 `json:"clock_seconds"`
	Requests int      `json:"requests"`
	Units    float64  `json:"request_units"`
	Cost     string   `json:"cost"`
	LastSync *string  `json:"last_sync"` // of the project of the working directory
	Why      string   `json:"why"`       // the reason why this device may not write or delete
}

// probe finds out the rights of this device in a remote, and shows them: it looks for an
// object, stores it, reads and lists it, and removes it. A bucket that keeps to no conditions refuses the store.
// It sets the identity of the remote. The error is of a remote that cannot be read.
func (a *app) probe(set *setting) error {
	r, err := set.URL.open(a, true)
	if err != nil {
		return err
	}
	p := probed{URL: set.URL, Cost: kinds[set.URL.scheme()].cost}
	ctx := remote.Observed(a.ctx, func(q remote.Request) { p.Requests++; p.Units += q.Units })
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, remote.NoAnswer(answerTime))
	defer cancel()
	const part = "check"
	o := remote.Object{Name: "o-" + sessionstore.NewID(), Label: []byte(`{}`)}
	start := time.Now()
	if _, err := r.Get(ctx, part, o.Name, ""); !errors.Is(err, remote.ErrNotExist) {
		return fmt.Errorf("read: %w", cmp.Or(context.Cause(ctx), err))
	}
	answered := time.Since(start).Milliseconds()
	rights := "read, write, delete"
	_, err = r.Commit(ctx, part, []remote.Object{o}, nil)
	shows := "not tried"
	if p.Write = err == nil; p.Write {
		if p.Shows = consistent(ctx, r, part, o.Name); p.Shows {
			shows = "yes"
		} else {
			shows = a.Paint(screen.Red, "no: a device could make two histories")
		}
		err = r.Delete(ctx, part, []string{o.Name})
		p.Delete = err == nil
	}
	if err != nil {
		p.Why = explain(cmp.Or(context.Cause(ctx), err))
	}
	switch {
	case !p.Write:
		rights = "read alone: pull works, sync does not: " + p.Why
	case !p.Delete:
		rights = "read, write: purge and prune do not work: " + p.Why
	}
	clock := "not known"
	info, _ := r.Info(ctx) // the time is of an answer to the other requests
	if !info.Time.IsZero() {
		p.Clock = new(time.Until(info.Time).Seconds())
		clock = fmt.Sprintf("differs by %.0f s", math.Abs(*p.Clock))
	}
	set.Identity = info.Identity
	last := ""
	if dirs, err := (remoteFlags{}).dirs(a, false); err == nil && len(dirs) > 0 {
		if at, of := hybrid.LastSync(dirs[0]); of == info.Identity {
			p.LastSync, last = moment(at), a.when(at)
		}
	}
	return a.answer(p, func() {
		a.fields([][2]string{
			{"Remote", string(p.URL)},
			{"Answers", fmt.Sprintf("in %d ms", answered)},
			{"Rights", rights},
			{"Consistent", shows},
			{"Clock", clock},
			{"Cost", fmt.Sprintf("%s; this check: %s, %.0f units", p.Cost, count(p.Requests, "request"), p.Units)},
			{"Last sync", last},
		})
	})
}

// consistent reports whether a read and a list have an object.
func consistent(ctx context.Context, r remote.Remote, part, name string) bool {
	listed := false
	for o, err := range r.List(ctx, part, remote.Query{Prefix: name}) {
		listed = listed || err == nil && o.Name == name
	}
	_, err := r.Get(ctx, part, name, "")
	return listed && err == nil
}
