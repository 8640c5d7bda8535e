package slice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const eventsFile = "events.jsonl"

// LastTimestamp returns the text of the last time in a turn, as it stands in a
// message: its timestamp, ts, or metadata.timestamp. It is empty when the turn
// has none. Values that are no text count as missing. The error is the
// reference's, for a turn that is not there.
func LastTimestamp(msgs []sessionstore.Message, turn int) (string, error) {
	t, count := turnAt(msgs, turn)
	switch {
	case count == 0:
		return "", textError("No user messages found in transcript")
	case turn < 1 || turn > count:
		return "", textError(fmt.Sprintf("Turn %d out of range (1-%d)", turn, count))
	}
	for i := t.End - 1; i >= t.Start; i-- {
		if text := timestampOf(msgs[i]); text != "" {
			return text, nil
		}
	}
	return "", nil
}

func timestampOf(m sessionstore.Message) string {
	found := members(m.AppendTo(nil), "timestamp", "ts", "metadata")
	for _, raw := range [][]byte{found[0], found[1], members(found[2], "timestamp")[0]} {
		if pyjson.KindOf(raw) == pyjson.String {
			if text := pyjson.Text(raw); text != "" {
				return text
			}
		}
	}
	return ""
}

// lastTime returns the last time of messages that can be read.
func lastTime(msgs []sessionstore.Message) (time.Time, bool) {
	for i := len(msgs) - 1; i >= 0; i-- {
		if at, ok := msgs[i].Timestamp(); ok {
			return at, true
		}
	}
	return time.Time{}, false
}

// events gives the new session the events up to the end of its last turn.
func (f *forking) events(ctx context.Context, k *sessionstore.Work) error {
	in := f.st.Inside()
	cut, timed := lastTime(f.parent.rows[f.turn.Start:f.turn.End])
	write := func(w io.Writer) error {
		if !timed {
			return nil
		}
		return f.sliceEvents(ctx, w, cut)
	}
	if err := k.Dir().Replace(eventsFile, in.Sync(), in.Now(), write); err != nil {
		return err
	}
	k.Renamed(eventsFile)
	return nil
}

func (f *forking) sliceEvents(ctx context.Context, w io.Writer, cut time.Time) (err error) {
	log, err := eventslog.Open(filepath.Join(f.st.Dir(), f.parent.id), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	done, err := log.Cut(ctx, w, cut, f.done.ID, f.done.ParentID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the parent has no log
	}
	f.done.Events, f.done.SkippedEvents = done.Events, done.Skipped
	return err
}
