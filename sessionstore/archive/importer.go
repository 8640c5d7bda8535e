package archive

import (
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Imported is a session that was made.
type Imported struct {
	ID       string
	Was      string // the id that it had; "" where nothing tells it
	Messages int
	Files    int
	Bytes    int64

	// Damage is not nil when the transcript came as it was, damaged. It Is
	// [sessionstore.ErrCorrupt] then, or tells why the transcript could not be
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
