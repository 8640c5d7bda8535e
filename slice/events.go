package slice

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// eventsFile is the name of a session's log.
const eventsFile = "events.jsonl"

// newIDs are the ids that the copy of a log gets, see [eventslog.Log.SliceTo]. The zero value
// keeps the ids of the log.
type newIDs struct{ session, parent string }

// cutEvents writes the events of session id up to the time until to w. It
// writes nothing if the session has no log.
func cutEvents(ctx context.Context, st *sessionstore.Store, id string, w io.Writer, until time.Time, ids newIDs) (cut eventslog.Cut, err error) {
	log, err := eventslog.Open(filepath.Join(st.Dir(), id), nil)
	if err != nil {
		return cut, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	cut, err = log.SliceTo(ctx, w, until, ids.session, ids.parent)
	if errors.Is(err, fs.ErrNotExist) {
		return eventslog.Cut{}, nil
	}
	return cut, err
}

// withEvents writes a new log with write, changes the transcript with set, and gives the new
// log its name: before set where it is longer than the old one, else after it. A kill or a power
// cut between the two so leaves the longer log. If the store syncs, the first of them is durable
// before the second. If writing the log or set fails, [copies.dropUnlessChanged] brings the old
// log back.
func (c *change) withEvents(copied *copies, write func(io.Writer) error, set func() error) error {
	store, dir := core.Of(c.st), c.tx.Dir()
	log, err := dir.Prepare(eventsFile, store.Syncs(), store.Now(), write)
	if err != nil {
		return err
	}
	first, then := set, func() error {
		err := log.Rename(eventsFile)
		if copied.logged = err == nil; copied.logged {
			c.tx.Renamed(eventsFile)
		}
		return err
	}
	longer, err := c.longer(log.File())
	if longer {
		first, then = then, first
	}
	if err = cmp.Or(err, c.ctx.Err()); err == nil {
		err = first()
	}
	if err == nil && store.Syncs() {
		err = dir.Sync()
	}
	if err == nil {
		err = then()
	}
	if err != nil {
		log.Discard()
		return err
	}
	return log.Close()
}

// longer reports whether a file is longer than the log.
func (c *change) longer(file *os.File) (bool, error) {
	fi, err := file.Stat()
	if err != nil {
		return false, err
	}
	log, now, err := c.tx.Dir().Open(eventsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return fi.Size() > now.Size, log.Close()
}
