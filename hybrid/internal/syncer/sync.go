package syncer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Sync syncs a session that the caller has entered, and returns the result and the cost.
func (e *Syncer) Sync(ctx context.Context, id string, w Options) (Result, remoteread.Usage) {
	v := e.work(id, w)
	v.out.Scanned = true
	v.stat = e.Stats.Note(id)
	v.run(ctx)
	v.keepFailure()
	v.checkpoint()
	v.out.Pulls = v.fetches
	return v.out, v.cloud.link.Usage()
}

// passing are the errors that a later sync may not meet.
var passing = []error{remote.ErrUnreachable, remoteread.ErrContended, remoteread.ErrLost, ErrRemoved, context.Canceled, context.DeadlineExceeded}

// lasting are others that decide the state of a session, by their names in the state files.
var lasting = []struct {
	name string
	is   error
}{
	{"held", privacy.ErrHeld},
	{"full", remote.ErrFull},
	{"large", remote.ErrTooLarge},
	{"taken", ErrTakenAway},
	{"redaction", privacy.ErrRedaction},
	{"newer", segment.ErrNewer},
	{"foreign", segment.ErrForeign},
	{"damaged", remoteread.ErrDamaged},
	{"unauthorized", remote.ErrUnauthorized},
	{"clock", remote.ErrClock},
	{"blocked", remote.ErrBlocked},
	{"format", segment.ErrFormat},
	{"deferred", ErrDeferred},
	{"other", errOther},
}

// errOther stands for all other errors.
var errOther = errors.New("a sync failed")

// keepFailure records why a session that is here failed, or waits for a program, for the
// programs that come later. What ends at a time they find out by themselves.
func (v *work) keepFailure() {
	now := failureOf(v.out.Err)
	if v.out.Err == nil && v.out.State == Behind && Until(v.out.Why).IsZero() {
		now = failureOf(v.out.Why)
	}
	if now == v.st.Failed || !v.Core.Has(v.id) {
		return
	}
	v.st.Failed = now
	if err := v.States.Save(v.sid, v.st); err != nil {
		v.Log.Info("why the session failed is not recorded", "session", v.id, "err", err)
	}
}

// failureOf returns the record of an error; the zero Failure where a later sync may not meet
// it.
func failureOf(err error) replica.Failure {
	if err == nil || slices.ContainsFunc(passing, func(is error) bool { return errors.Is(err, is) }) {
		return replica.Failure{}
	}
	for _, l := range lasting {
		if errors.Is(err, l.is) {
			return replica.Failure{Is: l.name, Text: err.Error()}
		}
	}
	return replica.Failure{Is: "other", Text: err.Error()}
}

// failed is a failure that an earlier program recorded.
type failed struct {
	text string
	is   error
}

func (f *failed) Error() string { return f.text }

func (f *failed) Unwrap() error { return f.is }

// failure returns the error of a recorded failure; nil for none.
func failure(of replica.Failure) error {
	for _, l := range lasting {
		if l.name == of.Is {
			return &failed{of.Text, l.is}
		}
	}
	return nil
}

// run tries to sync the session until no other writer changes it during a try.
func (v *work) run(ctx context.Context) {
	is, err := v.cloud.permit(ctx)
	if err == nil && !is.Kept {
		err = v.Privacy.RedactionHolds()
	}
	if v.verdict = is; errors.Is(err, privacy.ErrHeld) && len(v.st.Head.Doc) > 0 && !v.recreates {
		v.barred, err = err, nil // lines from the cloud may mend it
	}
	if err != nil {
		v.out.Err = err
		v.finish()
		return
	}
	if is.Kept {
		v.out.State = Local
		if _, sent := v.remoteHas(); sent {
			v.out.State = KeptLate
		}
		return
	}
	if v.out.Err = v.identityOf(v.id).Check(); v.out.Err != nil {
		return
	}
	v.out.Err = v.tries(ctx, func() error {
		if err := v.once(ctx); err != nil || !v.recreates || v.passed {
			return err
		}
		return v.bury(ctx)
	})
	if v.out.Err == nil && v.recreates && !v.passed {
		v.out.Err = v.tries(ctx, func() error { return v.once(ctx) })
	}
	if v.out.Err != nil && v.recreates && v.st.Anew == nil && len(v.cloud.left.ids) > 0 {
		v.recreates = false // its unused documents are removed, as in every sync that meets a tombstone
		v.out.Err = errors.Join(v.out.Err, v.readHead(ctx))
	}
	if v.out.Err != nil { // the forms and stamps found are worth keeping
		v.restoreState()
		v.out.Err = errors.Join(v.out.Err, v.States.Save(v.sid, v.st))
	}
	v.finish()
}

// tries calls do again while other writers change the session in between, or a finding
// changes the outcome: a smaller limit, or mended damage.
func (v *work) tries(ctx context.Context, do func() error) error {
	return v.again(ctx, func() error {
		err := do()
		if v.cloud.outdated(ctx, err) {
			err = errLost
		}
		if errors.Is(err, errTooBig) && v.cloud.cap != minCap {
			v.cloud.shrink()
			err = errLost
		}
		if errors.Is(err, remoteread.ErrDamaged) && len(v.cloud.lacking) == 0 {
			if mended, failed := v.mendMet(ctx); mended {
				err = errLost
			} else {
				err = errors.Join(err, failed)
			}
		}
		return err
	})
}

// minCap is the smallest size that segments are cut to.
const minCap = 128 << 10

// shrink halves the size of segments, after the account refused one.
func (c *cloud) shrink() {
	if c.cap == 0 {
		c.cap = 1 << 20
	}
	c.cap = max(c.cap/2, minCap)
}

// once goes through the steps once.
func (v *work) once(ctx context.Context) error {
	v.restoreState()
	v.out.Did = Nothing
	v.cloud.lacking, v.cloud.infos, v.formsKnown, v.began, v.resumes = nil, nil, false, time.Now().Round(0), !v.fetches
	if err := v.local.scan(ctx); err != nil {
		return err
	}
	if !v.Look && v.Mode <= Asked && v.local.settled() {
		return v.idle(ctx)
	}
	if !v.local.present && !v.asked() && v.Look && v.Arrives(v.id, v.st) {
		v.fetches = true
	}
	if !v.local.present && !v.fetches && !v.Named {
		v.out.State = Absent
		return v.remember()
	}
	v.out.Asking = true
	if err := v.readHead(ctx); err != nil {
		return err
	}
	a, err := v.plan(ctx)
	if err != nil {
		return err
	}
	if v.recreates && v.cloud.living() != nil {
		if err := v.cloud.rulesHold(); err != nil {
			return err
		}
	}
	lacks := v.withoutRules(a)
	if lacks != nil && sends(a) {
		return lacks
	}
	if err := v.apply(ctx, a); err != nil {
		return err
	}
	if t := v.cloud.living(); t != nil {
		v.takeEntry(ctx, t)
	}
	if err := v.remember(); err != nil {
		return err
	}
	if lacks != nil && v.local.present && (v.out.State != Behind || v.out.Did == Diverged) && !v.local.settled() {
		return lacks
	}
	if err := v.catalogue(ctx); err != nil || v.fetches {
		return err
	}
	if lacks := v.cloud.lacks(); errors.Is(lacks, remoteread.ErrDamaged) {
		return lacks
	}
	return nil
}

// idle updates the time and the entry of a session that is in step.
func (v *work) idle(ctx context.Context) error {
	t, err := head.Decode(v.st.Head.Doc, v.sid)
	if err != nil {
		return err
	}
	v.cloud.head, v.cloud.version, v.out.State = t, v.st.Head.Version, UpToDate
	if t.Deleted {
		v.out.State = Removed
		return nil
	}
	if err := v.setTime(ctx); err != nil {
		return err
	}
	return v.catalogue(ctx)
}

// finish fills in the result.
func (v *work) finish() {
	switch {
	case v.out.Did != Nothing:
	case v.out.Pushed:
		v.out.Did = Pushed
	case v.out.Pulled:
		v.out.Did = Pulled
	}
	v.out.Lacks = v.cloud.lacks()
	if v.local.main != nil {
		v.out.Local = v.local.main.End().N
	}
	t := v.cloud.head
	if t == nil && v.out.Err != nil {
		t = v.st.Head.Head(v.sid) // as it was known
	}
	if t != nil {
		v.out.Remote = t.Transcript.N
	}
	if v.out.Err == nil {
		return
	}
	v.out.State = StateOf(v.out.Err)
}

// StateOf returns the state of a session whose sync failed.
func StateOf(err error) State {
	switch {
	case errors.Is(err, ErrRemoved):
		return Removed
	case errors.Is(err, remote.ErrBlocked), errors.Is(err, privacy.ErrRedaction), errors.Is(err, privacy.ErrHeld), errors.Is(err, remote.ErrFull), errors.Is(err, ErrTakenAway), errors.Is(err, remote.ErrTooLarge), errors.Is(err, segment.ErrNewer), errors.Is(err, segment.ErrFormat), errors.Is(err, segment.ErrForeign), errors.Is(err, remoteread.ErrHead), errors.Is(err, sessionstore.ErrInvalidID):
		return Blocked
	}
	return Deferred
}

// work is one piece of work on a session: both sides of the session, the result of
// comparing them, and the outcome.
type work struct {
	*session
	local *local
	cloud *cloud

	began      time.Time // when the session was last scanned, by the clock on the wall
	why        error     // the reason why the files must not be changed, when that was last asked
	turns      bool      // the head that was known before is this device's
	formsKnown bool      // the forms of lines were compared with those in the cloud

	resumes bool                  // a tombstone that this device wrote to send the session anew is passed over
	passed  bool                  // a tombstone was passed over
	undo    *replica.SessionState // not nil: the state to restore unless the sync comes to a new head

	barred error        // the reason why nothing may be sent, once found
	stat   replica.Stat // before it was scanned
	mended bool         // parts damaged in the cloud and whole here were stored again

	out Result
}

func (e *Syncer) work(id string, w Options) *work {
	l := e.local(id, w)
	return &work{session: l.session, local: l, cloud: l.session.cloud()}
}

// remember saves the state that the next sync begins with.
func (s *work) remember() error {
	s.undo = nil
	s.st.Lacks = len(s.cloud.lacking) > 0
	if s.cloud.head != nil {
		s.st.Born = s.cloud.head.Born
		if s.local.present && s.local.main.Point() == s.cloud.head.Transcript.Point() && !s.cloud.head.Deleted {
			base := s.local.main.Point()
			s.st.Base = &base
		}
	}
	for _, l := range s.local.logs {
		if s.cloud.head != nil && s.cloud.head.Logs[l.Stream].Point() == l.Point() {
			l.own.Base = l.Point()
			s.keepLog(l.kind, l.own)
		}
	}
	if s.resumes && !s.fetches && s.anewIsOver(s.cloud.head) {
		return s.forgetAnew()
	}
	return s.States.Save(s.sid, s.st)
}

// plan decides what to do about the transcript. Where the two sides may differ only by
// other rules than today's, it first finds out in which form the lines here were sent.
func (s *work) plan(ctx context.Context) (syncplan.Action, error) {
	a, err := s.ask(ctx)
	if err != nil || s.Privacy.Redact == nil && s.cloud.head != nil && s.cloud.head.Redaction != "" {
		return a, err
	}
	if a.Kind == syncplan.Blocked {
		if err := s.learnForms(ctx); err != nil {
			return a, err
		}
		if a, err = s.ask(ctx); err != nil {
			return a, err
		}
	}
	if !s.guesses(a) {
		return a, nil
	}
	if found, err := s.learnFormer(ctx); !found || err != nil {
		return a, err
	}
	return s.ask(ctx)
}

// guesses reports whether an action takes lines for new that a former head may have had:
// there is no base to decide it.
func (s *work) guesses(a syncplan.Action) bool {
	if s.st.Base != nil || !s.local.present || s.cloud.head == nil || s.cloud.head.Deleted || s.local.main.End().N == 0 {
		return false
	}
	why := a.Why
	if a.Reason != syncplan.InStep {
		why = a.Reason
	}
	return why == syncplan.LocalAdded || why == syncplan.Diverged
}

// ask calls package syncplan.
func (s *work) ask(ctx context.Context) (syncplan.Action, error) {
	s.why = s.local.busy()
	in := syncplan.Input{
		Policy: s.Policy,
		Base:   s.st.Base,
		Local: syncplan.Local{
			Present: s.local.present, Removed: s.st.Gone, Asked: s.Named, Live: s.why != nil, Redaction: s.redaction(),
		},
	}
	if s.local.present {
		in.Local.Tip = s.local.main.Point()
		in.Local.Has = func(p segment.Point) (bool, error) { return s.local.main.Has(ctx, p) }
	}
	if t := s.cloud.head; t != nil {
		in.Remote = syncplan.Remote{
			Present: true, Deleted: t.Deleted, Tip: t.Transcript.Point(), Redaction: s.rulesOf(t),
			Has: func(p segment.Point) (bool, error) { return s.cloud.has(ctx, p, t.Transcript.Point()) },
		}
		if t.Deleted {
			in.Remote.Has = func(segment.Point) (bool, error) { return false, nil } // its segments may be gone
		}
		in.Remote.Replaced = s.cloud.replaced(ctx)
		in.Remote.Branches = func() ([]syncplan.Branch, error) { return s.cloud.planBranches(ctx) }
	}
	return syncplan.Plan(in)
}

// rulesOf returns the version of the rules of a head's lines, for the comparison with the
// lines here: today's version when they can be compared.
func (s *work) rulesOf(t *head.Head) string {
	switch {
	case s.formsKnown || t.AllUnder(s.redaction()) && (s.st.Base != nil || t.Anew.Rules == ""):
		return s.redaction()
	case t.Redaction == s.redaction():
		return "several"
	}
	return t.Redaction
}
