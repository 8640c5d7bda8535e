package slice

import (
	"context"
	"errors"
	"io"
	"io/fs"
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

// withEvents writes a new log with write, then changes the transcript with set,
// and then gives the new log its name. If writing the log or set fails, the old
// log stays. If the store syncs, the new transcript is durable before the log
// gets its name: a power cut does not keep the new log alone.
func (c *change) withEvents(write func(io.Writer) error, set func() error) error {
	store, dir := core.Of(c.st), c.tx.Dir()
	log, err := dir.Prepare(eventsFile, store.Syncs(), store.Now(), write)
	if err != nil {
		return err
	}
	if err = c.ctx.Err(); err == nil {
		err = set()
	}
	if err == nil && store.Syncs() {
		err = dir.Sync()
	}
	if err == nil {
		err = log.Rename(eventsFile)
	}
	if err != nil {
		log.Discard()
		return err
	}
	c.tx.Renamed(eventsFile)
	return log.Close()
}
