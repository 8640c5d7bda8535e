package hybrid

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// want is what a visit is for.
type want struct {
	asked  bool // by a call, not by the worker
	last   bool // the store is about to close
	named  bool // the call named the session
	pull   bool // lines are to be fetched, not sent; other devices' logs too
	hinted bool // the cloud may have changed
}

// visit is one look at a session: what is here, what is there, and what is to
// be done about it.
type visit struct {
	*engine
	want
	link    *link
	id, sid string
	pk      string
	cap     int // of a segment, after a refusal for its size; 0: the default
	window  window

	glancing bool      // nothing is taken note of
	estimate *Estimate // not nil: nothing is sent, but counted here

	st      *state
	present bool
	changed time.Time // of the session's directory
	main    *history
	began   time.Time // when it was last looked at, by the clock on the wall
	logs    []*ownHistory
	files   []*localFile
	doubt   error // why the files must be left alone

	tip   *tip.Tip // nil: none
	etag  azcore.ETag
	infos []segment.Info // of the transcript, once listed
	pages map[string]*tip.More
	op    string // of the last tip that was written

	out outcome
}

// outcome is what a visit did.
type outcome struct {
	state          string
	pushed, pulled bool
	segments       int
	kept           *Conflict
	local, remote  int64
	later          time.Time // when the session is to be looked at again; zero: when something happens
	err            error
}

const rounds = 5

// errLost tells that the tip is not the one that was read: everything is to be
// looked at again.
var errLost = errors.New("the tip changed meanwhile")

// visit looks at a session and does what is to be done.
func (e *engine) visit(ctx context.Context, id string, w want) (outcome, usage) {
	leave, err := e.enter(ctx, id)
	if err != nil {
		return outcome{err: err}, usage{}
	}
	defer leave()
	v, start := e.begin(id, w), time.Now()
	v.run(ctx)
	v.visited(ctx, start)
	e.tell(v.told())
	return v.out, v.link.used
}

// begin returns a visit of a session that the caller has entered, or that only
// looks.
func (e *engine) begin(id string, w want) *visit {
	v := &visit{engine: e, want: w, link: e.link(), id: id, sid: e.sid(id)}
	v.pk = segment.SessionPK(v.sid)
	v.st = e.states.load(v.sid, id)
	v.link.token = v.st.Head.Token
	return v
}

func (v *visit) run(ctx context.Context) {
	if v.denied(ctx, v.id) {
		v.out.state = Local
		return
	}
	if v.out.err = v.identity(v.id).Check(); v.out.err != nil {
		return
	}
	for try := 1; ; try++ {
		err := v.round(ctx)
		if errors.Is(err, errTooBig) && v.cap != minCap {
			v.shrink()
			err = errLost
		}
		again := errors.Is(err, errLost) || errors.Is(err, errMoved)
		if !again || ctx.Err() != nil {
			v.out.err = err
			break
		}
		if try == rounds && errors.Is(err, ErrUnreachable) {
			v.out.err = err
			break
		}
		if try == rounds {
			v.out.err = fmt.Errorf("%w: %w", ErrContended, err)
			break
		}
		if v.out.err = pause(ctx, v.chance.wait(firstBackoff/8<<try), nil); v.out.err != nil {
			break
		}
	}
	if v.out.err != nil { // what was found out is worth keeping
		v.out.err = errors.Join(v.out.err, v.states.save(v.sid, v.st))
	}
	v.conclude()
}

// minCap is the least that a segment is cut to.
const minCap = 128 << 10

func (v *visit) shrink() {
	if v.cap == 0 {
		v.cap = 1 << 20
	}
	v.cap = max(v.cap/2, minCap)
}

// round does all of it once.
func (v *visit) round(ctx context.Context) error {
	v.infos, v.began = nil, time.Now().Round(0)
	if err := v.look(ctx); err != nil {
		return err
	}
	if !v.asked && !v.hinted && v.settled() {
		return v.rest(ctx)
	}
	if !v.present && !v.pull && !v.named {
		v.out.state = Remote
		return v.remember()
	}
	if err := v.readTip(ctx); err != nil {
		return err
	}
	a, err := v.plan(ctx)
	if err != nil {
		return err
	}
	if err := v.act(ctx, a); err != nil {
		return err
	}
	if err := v.remember(); err != nil {
		return err
	}
	return v.catalogue(ctx)
}

// rest is what there is to do for a session that is in step.
func (v *visit) rest(ctx context.Context) error {
	t, err := tip.Decode(v.st.Head.Doc, v.sid)
	if err != nil {
		return err
	}
	v.tip, v.etag, v.out.state = t, v.st.Head.ETag, UpToDate
	if t.Deleted {
		v.out.state = DeletedRemotely
		return nil
	}
	return v.catalogue(ctx)
}

// plan asks what is to be done about the transcript.
func (v *visit) plan(ctx context.Context) (syncplan.Action, error) {
	in := syncplan.Input{
		Device: v.dev.id,
		Policy: syncplan.Policy(v.opts.Conflict),
		Base:   v.st.Base,
		Local: syncplan.Local{
			Present: v.present, Removed: v.st.Gone, Asked: v.named, Live: v.live(), Redaction: v.redaction(),
		},
	}
	if v.present {
		in.Local.Tip = v.main.point()
		in.Local.Has = func(p segment.Point) (bool, error) { return v.main.has(ctx, p) }
	}
	if t := v.tip; t != nil {
		in.Remote = syncplan.Remote{
			Present: true, Deleted: t.Deleted, Tip: t.Transcript.Point(), Redaction: t.Redaction,
			Has: func(p segment.Point) (bool, error) { return v.remoteHas(ctx, p, t.Transcript.Point()) },
		}
		if t.Deleted {
			in.Remote.Has = func(segment.Point) (bool, error) { return false, nil } // its segments may be gone
		}
		in.Remote.Replaced = v.replaced(ctx)
		for _, o := range t.Old {
			in.Remote.Old = append(in.Remote.Old, o.Point)
		}
		branches := t.Branches
		if v.present && !t.Deleted && v.main.point() != t.Transcript.Point() { // else nobody asks for more of them
			var err error
			if branches, err = v.listedBranches(ctx); err != nil && !errors.Is(err, ErrDamaged) {
				return syncplan.Action{}, err
			}
		}
		for _, b := range branches {
			in.Remote.Branches = append(in.Remote.Branches, syncplan.Branch{ID: b.ID, Tip: b.Tip, Device: b.Device})
		}
	}
	return syncplan.Plan(in)
}

func (v *visit) redaction() string {
	if v.opts.Redact == nil {
		return ""
	}
	return v.opts.Redact.Version()
}
