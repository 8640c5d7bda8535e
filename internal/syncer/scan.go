package syncer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/track"
)

// scan finds out what is here, and takes note of who wrote it.
func (l *local) scan(ctx context.Context) error {
	if err := l.scanDir(ctx); err != nil || !l.present {
		return err
	}
	own := l.Dirty.TakeOwn(l.id)
	main, err := l.transcript().Scan(ctx, l.st.Main, false)
	if err != nil {
		return track.Gone(err)
	}
	l.noteWriter(main, own)
	return l.scanRest(ctx, main)
}

// peek finds out what is here. What a later scan is to find out of who wrote it stays.
func (l *local) peek(ctx context.Context) error {
	if err := l.scanDir(ctx); err != nil || !l.present {
		return err
	}
	own := l.Dirty.IsOwn(l.id)
	main, err := l.transcript().Scan(ctx, l.st.Main, false)
	if err != nil {
		return track.Gone(err)
	}
	l.setWriter(main, own)
	return l.scanRest(ctx, main)
}

// scanRest scans the files beside the transcript, which is main.
func (l *local) scanRest(ctx context.Context, main *track.Chain) error {
	l.main, l.st.Main = main, &main.Followed
	if err := l.scanLogs(ctx); err != nil {
		return track.Gone(err)
	}
	return track.Gone(l.scanFiles(ctx))
}

// scanDir finds out whether the session is here, and how its directory stands.
func (l *local) scanDir(ctx context.Context) error {
	l.present, l.doubt = l.Core.Has(l.id), nil
	if !l.present {
		if l.st.RemovedDead(l.sid) {
			l.st.Here = false
			l.Dirty.Returned(l.id)
		}
		l.st.Gone = l.st.Gone || l.st.Here || l.Dirty.Removed(l.id)
		l.main = &track.Chain{Source: l.transcript()}
		return nil
	}
	l.st.Here, l.st.Gone = true, false
	l.Dirty.Returned(l.id)
	return track.Gone(l.Core.Read(ctx, l.id, func(dir *sessiondir.Dir) error {
		at, err := dir.Stat(".")
		if err != nil {
			return err
		}
		l.changed = at.Mtime
		if _, err := dir.Stat(sessiondir.Marker); !errors.Is(err, fs.ErrNotExist) {
			l.doubt = fmt.Errorf("%w: another program is appending, or was killed while it did", ErrDeferred)
		}
		return nil
	}))
}

// settled reports whether everything here is what the known head says, so that
// there is nothing to ask.
func (l *local) settled() bool {
	if len(l.st.Head.Doc) == 0 || !l.present || l.st.Anew != nil {
		return false
	}
	t, err := head.Decode(l.st.Head.Doc, l.sid)
	if err != nil {
		return false
	}
	if t.Deleted {
		return true
	}
	if t.Transcript.Point() != l.main.Point() || l.st.Base == nil || *l.st.Base != l.main.Point() {
		return false
	}
	for _, log := range l.logs {
		if log.There && log.End().N > 0 && t.Logs[log.Stream].Point() != log.Point() {
			return false
		}
	}
	for _, f := range l.files {
		theirs, known := t.Files[f.name]
		if f.there && theirs.Sum != f.sum || !f.there && known && f.name == sessiondir.Metadata {
			return false
		}
	}
	return true
}
