package cli

import (
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
	URL        place    `json:"url"`
	Write      bool     `json:"write"`
	Delete     bool     `json:"delete"`
	Conditions bool     `json:"conditions"` // a swap of a former version is refused
	Shows      bool     `json:"shows"`      // reads and lists have the objects stored before
	Clock      *float64 `json:"clock_seconds"`
	Requests   int      `json:"requests"`
	Units      float64  `json:"request_units"`
	Cost       string   `json:"cost"`
	LastSync   *string  `json:"last_sync"` // of the project of the working directory
	Why        string   `json:"why"`       // the reason why this device may not write or delete
}

// The part of the objects that a probe stores, and the name of the object that it keeps.
const (
	probePart = "check"
	probeName = "probe"
)

// probe finds out the rights of this device in a remote, and shows them. It sets the identity
// of the remote. The error is of a remote that cannot be read.
func (a *app) probe(set *setting) error {
	r, err := set.URL.open(a, true)
	if err != nil {
		return err
	}
	p := probed{URL: set.URL, Cost: kinds[set.URL.scheme()].cost}
	ctx, cancel := context.WithTimeout(remote.Observed(a.ctx, func(q remote.Request) { p.Requests++; p.Units += q.Units }), answerTime)
	defer cancel()
	start := time.Now()
	was, err := r.Get(ctx, probePart, probeName, "")
	if err != nil && !errors.Is(err, remote.ErrNotExist) {
		return fmt.Errorf("read: %w", err)
	}
	answered := time.Since(start).Milliseconds()
	if err := p.try(ctx, r, was.Version); err != nil {
		p.Why = explain(err)
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
	if a.json {
		return a.writeJSON(p)
	}
	rights, kept, shows := "read, write, delete", "yes", "yes"
	switch {
	case !p.Write:
		rights, kept, shows = "read alone: pull works, sync does not: "+p.Why, "not tried", "not tried"
	case !p.Delete:
		rights = "read, write: purge and prune do not work: " + p.Why
	}
	if p.Write && !p.Conditions {
		kept = a.Paint(screen.Red, "no: two devices could lose what the other wrote")
	}
	if p.Write && !p.Shows {
		shows = a.Paint(screen.Red, "no: a device could make two histories")
	}
	a.fields([][2]string{
		{"Remote", string(p.URL)},
		{"Answers", fmt.Sprintf("in %d ms", answered)},
		{"Rights", rights},
		{"Conditions", kept},
		{"Consistent", shows},
		{"Clock", clock},
		{"Cost", fmt.Sprintf("%s; this check: %s, %.0f units", p.Cost, count(p.Requests, "request"), p.Units)},
		{"Last sync", last},
	})
	return nil
}

// try stores objects, reads them, and removes one.
func (p *probed) try(ctx context.Context, r remote.Remote, was remote.Version) error {
	o := remote.Object{Name: "o-" + sessionstore.NewID(), Label: []byte(`{}`), Body: []byte("probe")}
	fixed := remote.Object{Name: probeName, Label: []byte(`{}`), Body: []byte(o.Name)}
	v, err := r.Commit(ctx, probePart, []remote.Object{o}, &remote.Swap{Object: fixed, If: was})
	if err != nil {
		return err
	}
	p.Write = true
	_, err = r.Commit(ctx, probePart, nil, &remote.Swap{Object: fixed, If: was})
	p.Conditions = errors.Is(err, remote.ErrChanged)
	now, err := r.Get(ctx, probePart, probeName, "")
	p.Shows = err == nil && now.Version == v
	listed := false
	for one, err := range r.List(ctx, probePart, remote.Query{Prefix: "o-"}) {
		listed = listed || err == nil && one.Name == o.Name
	}
	p.Shows = p.Shows && listed
	if err := r.Delete(ctx, probePart, []string{o.Name}); err != nil {
		return err
	}
	p.Delete = true
	return nil
}
