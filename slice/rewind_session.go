package slice

import (
	"context"
	"io"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// RewindSession removes the end of session id's transcript as [Rewind] does. It
// also removes the events after the last time that is left in the transcript, see
// [eventslog.Log.SliceTo]. It writes nothing when the session is healthy.
//
// It first copies both files completely, under the names that the reference uses; [Undo]
// brings the copies back. If the store syncs, the copies are durable before the transcript
// changes. The log changes after the transcript: a call that ends between the two leaves
// the log complete. Metadata do not change. The errors are the same as for [RepairSession].
func RewindSession(ctx context.Context, st *sessionstore.Store, id string) (RewindReport, error) {
	return rewindSession(ctx, st, id, func(rows []sessionstore.Message) ([]sessionstore.Message, error) {
		d, err := Diagnose(rows)
		if err != nil {
			return nil, err
		}
		rest, err := Rewind(rows, d)
		if err == nil && !slices.Equal(rest, rows) {
			_, err = verified(rest)
		}
		return rest, err
	})
}

// RewindSessionTo is [RewindSession] to the end of a turn, counted from 1, as [ToTurn] cuts
// it. It also rewinds a healthy session. It leaves the messages that a [Fork] at that turn
// has, and is refused where the fork is: the messages that are left need not be healthy,
// since the fault may lie in the turns that stay. The first turn always stays:
// [sessionstore.Store.Replace] with no messages cuts all, without a copy for [Undo].
func RewindSessionTo(ctx context.Context, st *sessionstore.Store, id string, turn int, o Orphans) (RewindReport, error) {
	return rewindSession(ctx, st, id, func(rows []sessionstore.Message) ([]sessionstore.Message, error) {
		return ToTurn(rows, turn, o)
	})
}

// rewinding is a function that returns the messages that a rewind leaves.
type rewinding func([]sessionstore.Message) ([]sessionstore.Message, error)

func rewindSession(ctx context.Context, st *sessionstore.Store, id string, left rewinding) (RewindReport, error) {
	var report RewindReport
	err := core.Of(st).ChangeOwned(ctx, id, func(tx core.Tx) (err error) {
		report, err = (&change{ctx: ctx, st: st, id: id, tx: tx}).rewind(left)
		return err
	})
	if err != nil {
		return RewindReport{}, wrapError("rewind", id, err)
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
	names := []string{sessiondir.Transcript}
	until, timed := cutBetween(rest, rows)
	if timed {
		names = append(names, eventsFile)
	}
	copied, err := c.copyFiles(sessiondir.LabelRewind, names...)
	if err != nil {
		return RewindReport{}, err
	}
	set := func() error { return c.tx.SetTranscript(rest) }
	if copied.path(eventsFile) == "" {
		err = set()
	} else {
		err = c.withEvents(copied, func(w io.Writer) error {
			_, err := cutEvents(c.ctx, c.st, c.id, w, until, newIDs{})
			return err
		}, set)
	}
	if err := copied.dropUnlessChanged(err); err != nil {
		return RewindReport{}, err
	}
	return RewindReport{
		Status: Rewound, Original: len(rows), Rewound: len(rest),
		BackupPath: copied.path(sessiondir.Transcript), EventsBackup: copied.path(eventsFile),
	}, nil
}
