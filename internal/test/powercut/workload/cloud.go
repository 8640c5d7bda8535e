package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/reader"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A device syncs a directory of the disk with the cloud. Another device, which never
// loses its power, writes to the same sessions.
type device struct {
	*client
	relaxed bool // its writes promise nothing before they are sent
	ids     []string
	copied  *hybrid.Store
	other   string // root of the other device
}

// clouds lets two devices sync, one after the other. The first writes with Durable. The
// second writes with Relaxed, so only the data that it has sent is promised.
func (c *client) clouds(ctx context.Context, n int) error {
	var err error
	for _, mode := range []string{"durable", "relaxed"} {
		if err == nil {
			err = c.device(ctx, mode, n)
		}
	}
	return err
}

func (c *client) device(ctx context.Context, mode string, n int) (err error) {
	own := *c
	own.dir = c.dir + "-cloud-" + mode
	d := &device{client: &own, relaxed: mode == "relaxed", ids: []string{"one", "two"}}
	if d.other, err = reader.Scratch(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.other)) }()
	if d.copied, err = d.account.Open(ctx, d.root, d.dir, "", durability[mode]); err != nil {
		return err
	}
	for i := range n {
		if err := d.step(ctx, i); err != nil {
			return errors.Join(err, d.copied.Close())
		}
	}
	return d.copied.Close()
}

// step makes one of the calls that change a session or the cloud.
func (d *device) step(ctx context.Context, i int) error {
	id := d.ids[d.n(len(d.ids))]
	switch d.n(9) {
	case 0:
		return d.event(ctx, id, i)
	case 1:
		d.number(ctx, id, i)
	case 2:
		d.rewind(ctx, id)
	case 3:
		return d.visit(ctx, id, i)
	case 4:
		d.everywhere(ctx, "prune", d.reader, d.relaxed, func() error { // which sends nothing
			_, err := d.copied.Prune(ctx, nil)
			return err
		})
	case 5, 6:
		d.sync(ctx)
	default:
		d.say(ctx, id, i)
	}
	return d.Err()
}

func (d *device) copy(id string, v history.View) history.Subject {
	s := d.subject(id, v)
	s.Relaxed = d.relaxed
	return s
}

// write makes a call on a session.
func (d *device) write(ctx context.Context, id, kind string, do func() error) {
	s := d.copy(id, history.Cloud)
	d.start(history.Note{Subject: s, Kind: kind, Loose: s.Relaxed})(do(), func() history.State { return d.reader.State(ctx, s) })
}

func (d *device) say(ctx context.Context, id string, i int) {
	msgs := []sessionstore.Message{d.message("user", fmt.Sprintf("%s-c%d", id, i)), d.message("assistant", fmt.Sprintf("%s-c%d-1", id, i))}
	d.write(ctx, id, "append", func() error { return d.copied.Append(ctx, id, msgs[:1+d.n(2)]...) })
}

func (d *device) number(ctx context.Context, id string, i int) {
	if !d.copied.Exists(id) {
		return
	}
	d.write(ctx, id, "update", func() error {
		_, err := d.copied.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error { return md.Set("n", i) })
		return err
	})
}

// rewind takes the last row of a session back.
func (d *device) rewind(ctx context.Context, id string) {
	s, err := d.copied.Load(ctx, id)
	if err != nil || len(s.Messages) < 2 {
		return
	}
	d.write(ctx, id, "rewind", func() error {
		_, err := d.copied.Replace(ctx, id, s.Revision, s.Messages[:len(s.Messages)-1])
		return err
	})
}

// event adds one event to the log of a session.
func (d *device) event(ctx context.Context, id string, i int) error {
	if !d.copied.Exists(id) {
		return nil
	}
	l, err := eventslog.Open(filepath.Join(d.path(), id), &eventslog.Options{Sync: true})
	if err != nil {
		return err
	}
	e := eventslog.Event{Name: "x:y", Data: map[string]any{"k": fmt.Sprintf("%s-e%d", id, i)}}
	d.call(ctx, d.copy(id, history.CloudLog), "events", func() error { return l.Append(ctx, e) })
	return l.Close()
}

func (d *device) sync(ctx context.Context) {
	d.together(ctx, "sync", func() error {
		_, err := d.copied.Sync(ctx)
		return err
	})
}

// together makes a call on all sessions, and notes the reader's view here after it.
func (d *device) together(ctx context.Context, kind string, do func() error) {
	d.everywhere(ctx, kind, d.reader, false, do)
}

// visit lets the other device add a row to a session. This device syncs before that
// and pulls after it, so no two devices write at once.
func (d *device) visit(ctx context.Context, id string, i int) error {
	d.sync(ctx)
	there := reader.New(d.other)
	m := d.message("user", fmt.Sprintf("%s-v%d", id, i))
	d.everywhere(ctx, "visit", there, false, func() error {
		s, err := d.account.Open(ctx, d.other, d.dir, "visitor", sessionstore.Relaxed)
		if err != nil {
			return err
		}
		_, err = s.Pull(ctx)
		if err == nil {
			err = s.Append(ctx, id, m)
		}
		if err == nil {
			_, err = s.Sync(ctx)
		}
		return errors.Join(err, s.Close())
	})
	d.together(ctx, "pull", func() error {
		_, err := d.copied.Pull(ctx)
		return err
	})
	s := d.copy(id, history.Cloud)
	if here, there := d.reader.State(ctx, s), there.State(ctx, s); !slices.Equal(here.Rows, there.Rows) {
		return fmt.Errorf("session %s has %d rows after a pull, %d where they came from: %s", id, len(here.Rows), len(there.Rows), here.Err)
	}
	return there.Close()
}

// everywhere makes a call on all sessions, and notes the view of r after it. A loose call
// promises nothing for transcripts.
func (d *device) everywhere(ctx context.Context, kind string, r *reader.Reader, loose bool, do func() error) {
	type open struct {
		s    history.Subject
		done func(error, func() history.State) bool
	}
	var calls []open
	for _, id := range d.ids {
		for _, v := range []history.View{history.Cloud, history.CloudLog} {
			s := d.copy(id, v)
			calls = append(calls, open{s, d.start(history.Note{Subject: s, Kind: kind, Loose: loose && v == history.Cloud})})
		}
	}
	err := do()
	for _, c := range calls {
		c.done(err, func() history.State { return r.State(ctx, c.s) })
	}
}
