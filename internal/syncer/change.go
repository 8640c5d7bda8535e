package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// change makes a change, by Change or Make of the store, and notes which
// files of the session it wrote: what a sync writes is nobody's use of it. The
// store tells of the files before another call of it may write the session.
func (e *Syncer) change(ctx context.Context, change func(context.Context, string, func(core.Tx) error) error, id string, do func(core.Tx) error) error {
	err := change(ctx, id, func(tx core.Tx) error {
		defer e.Stats.Brought(id)
		b := &installing{Tx: tx}
		if err := do(b); err != nil {
			return err
		}
		e.Dirty.Install(id, b.files)
		return nil
	})
	if err != nil {
		e.Dirty.Install(id, nil)
	}
	return err
}

// installing is a transaction that keeps in mind which files were written.
type installing struct {
	core.Tx
	files []string
}

func (b *installing) Changed(name string) {
	b.files = append(b.files, name)
	b.Tx.Changed(name)
}

func (b *installing) Renamed(name string) {
	b.files = append(b.files, name)
	b.Tx.Renamed(name)
}

func (b *installing) SetMetadata(md sessionstore.Metadata) error {
	b.files = append(b.files, sessiondir.Metadata)
	return b.Tx.SetMetadata(md)
}

func (b *installing) Replace(name string, r commit.Replacement) error {
	err := b.Tx.Replace(name, r)
	if err == nil {
		b.files = append(b.files, name)
	}
	return err
}
