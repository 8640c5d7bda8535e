package syncer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// scan finds out what is here, and takes note of who wrote it.
func (v *sessionSync) scan(ctx context.Context) error {
	if err := v.scanDir(ctx); err != nil || !v.present {
		return err
	}
	own := v.Dirty.TakeOwn(v.id)
	main, err := v.transcript().scan(ctx, v.st.Main, false)
	if err != nil {
		return gone(err)
	}
	v.noteWriter(main, own)
	return v.scanRest(ctx, main)
}

// peek finds out what is here. What a later scan is to find out of who wrote it stays.
func (v *sessionSync) peek(ctx context.Context) error {
	if err := v.scanDir(ctx); err != nil || !v.present {
		return err
	}
	own := v.Dirty.IsOwn(v.id)
	main, err := v.transcript().scan(ctx, v.st.Main, false)
	if err != nil {
		return gone(err)
	}
	v.setWriter(main, own)
	return v.scanRest(ctx, main)
}

// scanRest scans the files beside the transcript, which is main.
func (v *sessionSync) scanRest(ctx context.Context, main *history) error {
	v.main, v.st.Main = main, &main.Followed
	if err := v.scanLogs(ctx); err != nil {
		return gone(err)
	}
	return gone(v.scanFiles(ctx))
}

// scanDir finds out whether the session is here, and how its directory stands.
func (v *sessionSync) scanDir(ctx context.Context) error {
	v.present, v.doubt = v.Core.Has(v.id), nil
	if !v.present {
		v.st.Gone = v.st.Gone || v.st.Here || v.Dirty.Removed(v.id)
		v.main = &history{source: v.transcript()}
		return nil
	}
	v.st.Here, v.st.Gone = true, false
	v.Dirty.Returned(v.id)
	return gone(v.Core.Read(ctx, v.id, func(dir *sessiondir.Dir) error {
		at, err := dir.Stat(".")
		if err != nil {
			return err
		}
		v.changed = at.Mtime
		if _, err := dir.Stat(sessiondir.Marker); !errors.Is(err, fs.ErrNotExist) {
			v.doubt = fmt.Errorf("%w: another program is appending, or was killed while it did", ErrDeferred)
		}
		return nil
	}))
}

// settled reports whether everything here is what the known head says, so that
// there is nothing to ask.
func (v *sessionSync) settled() bool {
	if len(v.st.Head.Doc) == 0 || !v.present {
		return false
	}
	t, err := head.Decode(v.st.Head.Doc, v.sid)
	if err != nil {
		return false
	}
	if t.Deleted {
		return true
	}
	if t.Transcript.Point() != v.main.point() || v.st.Base == nil || *v.st.Base != v.main.point() {
		return false
	}
	for _, log := range v.logs {
		if log.there && log.end().N > 0 && t.Logs[log.stream].Point() != log.point() {
			return false
		}
	}
	for _, f := range v.files {
		theirs, known := t.Files[f.name]
		if f.there && theirs.Sum != f.sum || !f.there && known && f.name == sessiondir.Metadata {
			return false
		}
	}
	return true
}
