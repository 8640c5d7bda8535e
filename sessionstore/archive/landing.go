package archive

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// landing makes one session. Its files are written to a staging directory,
// which becomes the session's by one rename at the end of land.
type landing struct {
	*importer
	tx   core.Tx
	res  Imported
	seen map[string]bool // paths of the files
}

// newLanding returns the landing of the session that had the id was.
func newLanding(im *importer, was string) *landing {
	l := &landing{importer: im, res: Imported{ID: im.opts.ID, Was: was}, seen: map[string]bool{}}
	if l.res.ID == "" {
		l.res.ID = was
	}
	if l.res.ID == "" {
		l.res.ID = sessionstore.NewID()
	}
	im.begun[was] = true
	return l
}

// land makes the session of the files that write writes, and reports it.
func (l *landing) land(ctx context.Context, write func() error) error {
	err := l.core.Make(ctx, l.res.ID, func(tx core.Tx) error {
		l.tx = tx
		return write()
	})
	if err != nil {
		return fmt.Errorf("import session %q: %w", l.res.ID, err)
	}
	l.count(context.WithoutCancel(ctx))
	l.done = append(l.done, l.res)
	l.meter.session()
	return nil
}

// count counts the messages of the session, which is in the store already.
func (l *landing) count(ctx context.Context) {
	l.res.Messages = 0
	for _, err := range l.st.Messages(ctx, l.res.ID) {
		if err != nil {
			l.res.Damage = err
			return
		}
		l.res.Messages++
	}
}

// complete returns ErrNoSession if the archive had neither a transcript nor metadata.
func (l *landing) complete() error {
	if !l.seen[sessiondir.Transcript] && !l.seen[sessiondir.Metadata] {
		return ErrNoSession
	}
	return nil
}

// wrote records that the file name of the session is complete.
func (l *landing) wrote(name string) {
	l.res.Files++
	l.tx.Renamed(name)
	l.meter.file()
}

// Imported is a session that was made.
type Imported struct {
	ID       string
	Was      string // the id that it had; "" if the source does not name one
	Messages int
	Files    int
	Bytes    int64

	// Damage is not nil when the transcript was damaged and was imported unchanged. It Is
	// [sessionstore.ErrCorrupt] then, or else the reason why the transcript could not be
	// read.
	Damage error
}

// importer makes sessions of a source.
type importer struct {
	st    *sessionstore.Store
	core  core.Store
	opts  ReadOptions
	max   limits
	meter meter
	begun map[string]bool // ids that sessions had, in this source
	done  []Imported
}

func newImporter(st *sessionstore.Store, opts *ReadOptions) *importer {
	im := &importer{st: st, core: core.Of(st), begun: map[string]bool{}}
	if opts != nil {
		im.opts = *opts
	}
	im.max = im.opts.limits()
	im.meter.tell = im.opts.Progress
	return im
}
