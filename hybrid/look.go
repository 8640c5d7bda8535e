package hybrid

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// look finds out what is here.
func (v *visit) look(ctx context.Context) error {
	v.present, v.doubt = v.in.Has(v.id), nil
	if !v.present {
		v.st.Gone = v.st.Gone || v.st.Here || v.marks.removed(v.id)
		v.main = &history{source: v.transcript()}
		return nil
	}
	v.st.Here, v.st.Gone = true, false
	v.marks.returned(v.id)
	if err := v.lookAround(ctx); err != nil {
		return gone(err)
	}
	takeOwn := v.marks.takeOwn
	if v.glancing {
		takeOwn = v.marks.isOwn
	}
	own := takeOwn(v.id)
	main, err := v.transcript().look(ctx, v.st.Main, false)
	if err != nil {
		return gone(err)
	}
	if v.st.Main == nil || !v.st.Main.File.SameContent(main.File) {
		v.st.Own, v.st.Quiet = own, time.Now()
	}
	v.main, v.st.Main = main, &main.followed
	if err := v.lookAtLogs(ctx); err != nil {
		return gone(err)
	}
	return gone(v.lookAtFiles(ctx))
}

// gone makes a session that vanishes while it is read a reason to look again.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

func (v *visit) transcript() source {
	return source{in: v.in, id: v.id, name: sessiondir.Transcript, stream: segment.Transcript, redact: v.opts.Redact, window: &v.window}
}

// lookAround looks at the directory itself.
func (v *visit) lookAround(ctx context.Context) error {
	return v.in.Read(ctx, v.id, func(dir *sessiondir.Dir) error {
		at, err := dir.Stat(".")
		if err != nil {
			return err
		}
		v.changed = at.Mtime
		if _, err := dir.Stat(sessiondir.Marker); !errors.Is(err, fs.ErrNotExist) {
			v.doubt = fmt.Errorf("%w: another program is appending, or was killed while it did", ErrDeferred)
		}
		return nil
	})
}

// live reports whether the files must not be changed now: somebody runs the
// session, or wrote it a short time ago and may have its lines in memory. A
// call of this process may follow this process's own writes at once.
func (v *visit) live() bool {
	if !v.present {
		return false
	}
	if v.doubt != nil || !v.in.Free(v.id) {
		return true
	}
	if v.asked && v.st.Own && !v.main.Torn {
		return false
	}
	now := time.Now()
	return now.Sub(v.st.Quiet) < quietFor && now.Sub(v.main.File.Mtime) < quietFor
}

// settled reports whether everything here is what the known tip says, so that
// there is nothing to ask.
func (v *visit) settled() bool {
	if len(v.st.Head.Doc) == 0 || !v.present {
		return false
	}
	t, err := tip.Decode(v.st.Head.Doc, v.sid)
	if err != nil {
		return false
	}
	if t.Deleted {
		return true
	}
	if t.Transcript.Point() != v.main.point() || v.st.Base == nil || *v.st.Base != v.main.point() {
		return false
	}
	for _, l := range v.logs {
		if l.there && l.end().N > 0 && t.Logs[l.stream].Point() != l.point() {
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

// sound refuses to replace the history in the cloud by one that the store
// itself would not take as it lies on the disk, such as what a power cut left.
func (v *visit) sound(ctx context.Context) error {
	if v.doubt != nil {
		return v.doubt
	}
	s, err := v.store.Load(ctx, v.id)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDeferred, err)
	}
	if s.Recovered != nil {
		return fmt.Errorf("%w: the transcript had to be recovered; the next write mends it", ErrDeferred)
	}
	if !v.main.there && v.st.Base != nil && v.st.Base.N > 0 {
		return fmt.Errorf("%w: the transcript is gone", ErrDeferred)
	}
	return nil
}

// harden makes the files here durable before the cloud, or the state, says that
// they were: else what a power cut takes would be taken for a rewind, and be
// taken from all devices.
func (v *visit) harden(ctx context.Context) error {
	if !v.present {
		return nil
	}
	names := watched()
	return gone(v.in.Harden(ctx, v.id, names[:]...))
}

// remember keeps what is known now for the next visit.
func (v *visit) remember() error {
	if v.tip != nil {
		v.st.Born = v.tip.Born
		if v.present && v.main.point() == v.tip.Transcript.Point() && !v.tip.Deleted {
			base := v.main.point()
			v.st.Base = &base
		}
	}
	return v.states.save(v.sid, v.st)
}

// conclude gives the outcome its name and numbers.
func (v *visit) conclude() {
	if v.main != nil {
		v.out.local = v.main.end().N
	}
	if v.tip != nil {
		v.out.remote = v.tip.Transcript.N
	}
	if v.out.err == nil {
		return
	}
	switch err := v.out.err; {
	case errors.Is(err, ErrDeleted):
		v.out.state = DeletedRemotely
	case errors.Is(err, ErrBlocked), errors.Is(err, ErrRedaction), errors.Is(err, ErrNewer), errors.Is(err, ErrForeign):
		v.out.state = Blocked
	default:
		v.out.state = Deferred
	}
}

// told is the status that the visit leaves.
func (v *visit) told() Status {
	s := Status{SessionID: v.id, State: v.out.state, Local: int(v.out.local), Remote: int(v.out.remote), Err: v.out.err}
	if s.Err != nil {
		s.NextTry = v.budget.opens()
	}
	return s
}
