package slice

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// RewindReport tells what a rewind of a stored session did. As JSON it is the
// reference's.
type RewindReport struct {
	Status       string `json:"status"` // Rewound or NoRewindNeeded
	Original     int    `json:"original_entries"`
	Rewound      int    `json:"rewound_entries"`
	BackupPath   string `json:"backup_path"`                  // the transcript that was there
	EventsBackup string `json:"events_backup_path,omitempty"` // the log that was there; empty: there was none, or no time to cut it at
}

// MarshalJSON returns the status alone when nothing was done.
func (r RewindReport) MarshalJSON() ([]byte, error) {
	type report RewindReport
	return marshalReport(r.Status == NoRewindNeeded, r.Status, report(r))
}

// RewindSession takes the end of session id away as [Rewind] does, and the
// events after the last time that is left in the transcript; see
// [eventslog.Log.SliceTo]. Nothing is written when the session is healthy.
//
// Both files are kept, whole, under the names that the reference gives them,
// and are durable before the transcript changes; [Undo] brings them back. The
// log changes after the transcript: what ends the call in between leaves the
// log whole. Metadata stay. The errors are those of [RepairSession].
func RewindSession(ctx context.Context, st *sessionstore.Store, id string) (RewindReport, error) {
	return rewindSession(ctx, st, id, func(rows []sessionstore.Message) ([]sessionstore.Message, error) {
		d, err := Diagnose(rows)
		if err != nil {
			return nil, err
		}
		return Rewind(rows, d)
	})
}

// RewindSessionTo is [RewindSession] to the end of a turn, as [ToTurn] has it,
// and whether the session is healthy or not. When what is left would be broken
// the error Is [ErrStillBroken], and the session wants a repair first.
func RewindSessionTo(ctx context.Context, st *sessionstore.Store, id string, turn int, o Orphans) (RewindReport, error) {
	return rewindSession(ctx, st, id, func(rows []sessionstore.Message) ([]sessionstore.Message, error) {
		return ToTurn(rows, turn, o)
	})
}

// rewinding returns what is left of messages.
type rewinding func([]sessionstore.Message) ([]sessionstore.Message, error)

func rewindSession(ctx context.Context, st *sessionstore.Store, id string, left rewinding) (RewindReport, error) {
	var report RewindReport
	err := st.Inside().ChangeOwned(ctx, id, func(k *sessionstore.Work) (err error) {
		report, err = (&change{ctx: ctx, st: st, id: id, work: k}).rewind(left)
		return err
	})
	if err != nil {
		return RewindReport{}, about("rewind", id, err)
	}
	return report, nil
}

func (c *change) rewind(left rewinding) (RewindReport, error) {
	rows, err := c.rows()
	if err != nil {
		return RewindReport{}, err
	}
	rest, err := left(rows)
	if err != nil {
		return RewindReport{}, err
	}
	if slices.Equal(rest, rows) {
		return RewindReport{Status: NoRewindNeeded, Original: len(rows), Rewound: len(rows)}, nil
	}
	if _, err := verified(rest); err != nil {
		return RewindReport{}, err
	}
	names := []string{sessiondir.Transcript}
	cut, timed := cutBetween(rest, rows)
	if timed {
		names = append(names, eventsFile)
	}
	kept, err := c.keep(labelRewind, names...)
	if err != nil {
		return RewindReport{}, err
	}
	set := func() error { return c.work.SetTranscript(rest) }
	if kept.path(eventsFile) == "" {
		err = set()
	} else {
		err = c.withEvents(func(w io.Writer) error { return c.cutEvents(w, cut) }, set)
	}
	if err := kept.unlessChanged(err); err != nil {
		return RewindReport{}, err
	}
	return RewindReport{
		Status: Rewound, Original: len(rows), Rewound: len(rest),
		BackupPath: kept.path(sessiondir.Transcript), EventsBackup: kept.path(eventsFile),
	}, nil
}

// cutBetween returns the last time that is left, or where no message that is
// left has a time, the moment before the first time of all.
func cutBetween(left, all []sessionstore.Message) (time.Time, bool) {
	if at, ok := lastTime(left); ok {
		return at, true
	}
	for _, m := range all {
		if at, ok := m.Timestamp(); ok {
			return at.Add(-1), true
		}
	}
	return time.Time{}, false
}

// withEvents replaces the log by what write writes. When all but the change of
// names is done, it calls set, which changes the transcript; when that fails
// the log stays. A power cut does not keep the log's new name alone.
func (c *change) withEvents(write func(io.Writer) error, set func() error) error {
	in := c.st.Inside()
	keep := func() (atomicfile.Keep, error) {
		if err := c.ctx.Err(); err != nil {
			return atomicfile.Keep{}, err
		}
		err := set()
		if err == nil && in.Sync() {
			err = c.work.Dir().Sync()
		}
		return atomicfile.Keep{}, err
	}
	if err := c.work.Dir().ReplaceKeeping(eventsFile, in.Sync(), in.Now(), write, keep); err != nil {
		return err
	}
	c.work.Renamed(eventsFile)
	return nil
}

// cutEvents writes the session's events up to a time.
func (c *change) cutEvents(w io.Writer, cut time.Time) (err error) {
	log, err := eventslog.Open(filepath.Join(c.st.Dir(), c.id), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	_, err = log.SliceTo(c.ctx, w, cut, "", "")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
