package archive

import (
	"cmp"
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// extraction makes one session. Its files are written to a staging directory,
// which becomes the session's by one rename at the end of run.
type extraction struct {
	*importer
	tx     core.Tx
	result Imported
	seen   map[string]bool // paths of the files
	former []string        // ids that the session had
}

// newExtraction returns the extraction of the session that had the id was.
func newExtraction(im *importer, was string) *extraction {
	x := &extraction{importer: im, result: Imported{ID: idFor(im.opts.ID, was), Was: was}, seen: map[string]bool{}, former: []string{was}}
	im.started[was] = true
	return x
}

// idFor returns the id of a session that had the id was: the id that the caller named, else was
// if a session from outside may have it, else a fresh one. Names that lead upwards or are the
// store's own stay: the store refuses them.
func idFor(named, was string) string {
	switch {
	case named != "":
		return named
	case was == ".", was == "..", sessiondir.Reserved(was):
		return was
	case sessiondir.Foreign(was) != "":
		return sessionstore.NewID()
	}
	return was
}

// run makes the session of the files that write writes, and reports it.
func (x *extraction) run(ctx context.Context, write func() error) error {
	err := x.core.Make(ctx, x.result.ID, func(tx core.Tx) error {
		x.tx = tx
		return write()
	})
	if err != nil {
		return fmt.Errorf("import session %q: %w", limits.ID(cmp.Or(x.opts.ID, x.result.Was, x.result.ID)), err)
	}
	x.count(context.WithoutCancel(ctx))
	x.done = append(x.done, x.result)
	return nil
}

// count counts the messages of the session, which is in the store already.
func (x *extraction) count(ctx context.Context) {
	x.result.Messages = 0
	for _, err := range x.st.Messages(ctx, x.result.ID) {
		if err != nil {
			x.result.Damage = err
			return
		}
		x.result.Messages++
	}
}

// complete returns ErrNoSession if the archive had neither a transcript nor metadata.
func (x *extraction) complete() error {
	if !x.seen[sessiondir.Transcript] && !x.seen[sessiondir.Metadata] {
		return ErrNoSession
	}
	return nil
}

// wrote records that the file name of the session is complete.
func (x *extraction) wrote(name string) {
	x.result.Files++
	x.tx.Renamed(name)
}

// Imported is a session that was made.
type Imported struct {
	ID       string
	Was      string // the id that it had; "" if the source does not name one. It may hold anything, also what a terminal obeys
	Messages int
	Files    int
	Bytes    int64
	Kept     bool // it stays on this machine, as it did where it comes from

	// What was approved elsewhere does not count here.
	AskedAgain      int // calls that were approved, and wait for a verdict again
	CommandsDropped int // commands that were approved for good, and are not any more

	// Damage is not nil when the transcript was damaged and was imported unchanged. It Is
	// [sessionstore.ErrCorrupt] then, or else the reason why the transcript could not be
	// read.
	Damage error
}

// importer makes sessions of a source.
type importer struct {
	st      *sessionstore.Store
	core    core.Store
	opts    ReadOptions
	max     bounds
	started map[string]bool // ids that sessions had, in this source
	done    []Imported
}

func newImporter(st *sessionstore.Store, opts *ReadOptions) *importer {
	im := &importer{st: st, core: core.Of(st), started: map[string]bool{}}
	if opts != nil {
		im.opts = *opts
	}
	im.max = im.opts.bounds()
	return im
}
