package slice

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// eventsFile is the name of a session's log.
const eventsFile = "events.jsonl"

// newIDs are the ids that the copy of a log gets, see [eventslog.Log.Cut]. The
// zero value leaves those of the log.
type newIDs struct{ session, parent string }

// cutEvents writes the events of session id up to the time until to w. It
// writes nothing if the session has no log.
func cutEvents(ctx context.Context, st *sessionstore.Store, id string, w io.Writer, until time.Time, ids newIDs) (cut eventslog.Cut, err error) {
	log, err := eventslog.Open(filepath.Join(st.Dir(), id), nil)
	if err != nil {
		return cut, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	cut, err = log.Cut(ctx, w, until, ids.session, ids.parent)
	if errors.Is(err, fs.ErrNotExist) {
		return eventslog.Cut{}, nil
	}
	return cut, err
}
