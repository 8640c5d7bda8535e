package hybrid

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
)

// Remove removes sessions from the remote, for every device, with every document that
// holds their text: all histories, logs of all devices, small files, and the name in the
// catalogue. It waits for no age. It removes no file on any device. Devices that have a
// session keep it and report it as [Removed]; it is not sent again until a program calls
// [Store.Recreate]. A session that [Store.KeepLocal] keeps here may be removed, too.
//
// A fork is a session of its own and keeps its copy of the lines, and so does a conflict
// copy: name the forks too; the Parent of [Store.Remote] shows them. The error Is
// [sessionstore.ErrNotFound] when the remote has nothing of a session: then nothing was
// changed. It Is [ErrContended] when a device recreated a session at the same time: that
// session stays, with its new content, and the others are removed. After any other error
// call Remove again: removed sessions stay removed, and no session is left half.
//
// When it returns without an error, no document of these sessions holds text, with one
// exception. A device that is sending lines of a session at that instant removes them
// itself when it meets the removal; where it is killed before, or an answer is lost, the
// next Remove or [Store.Prune] removes them. The session's id, the names of its user and
// project and of this host, its numbers and the hashes of its ends stay, so that no device
// sends it again. Backups of the remote keep their content for their retention.
func (s *Store) Remove(ctx context.Context, ids ...string) error {
	e, err := s.forNamed("remove", ids)
	if err != nil {
		return err
	}
	return wrap("remove", single(ids), e.Remove(e.asked(ctx), ids))
}

var errNoneNamed = errors.New("no session is named")

// forNamed returns the engine for a call that is made for named sessions.
func (s *Store) forNamed(op string, ids []string) (*engine, error) {
	switch {
	case s.engine == nil:
		return nil, wrap(op, single(ids), ErrNoRemote)
	case len(ids) == 0:
		return nil, wrap(op, "", errNoneNamed)
	}
	return s.engine, nil
}

// single returns the one session that a call is about; "" for several.
func single(ids []string) string {
	if len(ids) == 1 {
		return ids[0]
	}
	return ""
}

// Recreate sends sessions anew under today's rules of redaction: transcript, small files,
// and the logs of all devices. It removes all documents that the remote had of them, as
// [Store.Remove] does, whatever their age. So text that the rules of Options.Redact find
// is in no document of the sessions any more, though it was sent under weaker rules or
// none. Text that earlier rules took out does not come back. Files on devices stay as
// they are, and a device keeps what a pull took away for 30 days, until its next pull of the
// session after that; slice.DropBackups removes it at once.
//
// First it brings the session, as Sync and Pull do, also where it is not here. The error
// Is [ErrDeferred], and nothing is removed, when that is not possible just now: a program
// uses the session here, or a branch in the remote has no session of its own there: sync
// the session that keeps it. It Is [ErrDamaged] when a part of the session cannot be
// read. Former histories and branches do not come back. A fork and a conflict copy are
// sessions of their own, with copies of the lines: name them, too; the Parent of
// [Store.Remote] shows them.
//
// For a session that was removed by mistake, with [Store.Remove], it sends the files of
// this device, without the logs of other devices.
//
// Every device that has the session compares all of its lines with the new ones. Its
// additional lines are added, or become a conflict copy where both went on; see [Policy].
// With the same rules it sends and fetches no line because of it, and no device sends a
// former form. Lines that were rewound on a device that was away may come back. A device
// whose rules may find less sends nothing of these sessions any more, with
// [ErrRedaction]. A device on which the session was removed while it was deleted gets it
// again.
//
// Several devices may call it at once: one is first, and the others go on as in
// [Store.Sync], or once more. A Remove at that time ends with [ErrContended], or removes
// the session once more. The error Is ErrContended when other devices change a session
// all the time: then it stays. After any error call it again. A Recreate that was
// interrupted while the remote had only a tombstone is finished by the next sync of this
// device, too.
//
// The error Is [sessionstore.ErrNotFound] when a session is neither here nor in the
// remote, or was removed there, and [ErrLocal], [ErrHeld] or [ErrRedaction] where the
// rules hold it back: then nothing changes. Recreate goes on after a session that fails;
// the error joins the failures. Backups of the remote keep their content for their
// retention.
func (s *Store) Recreate(ctx context.Context, ids ...string) error {
	e, err := s.forNamed("recreate", ids)
	if err != nil {
		return err
	}
	refused := newErrors()
	want := always(syncer.Options{Mode: syncer.Recreate, Named: true})
	ctx = e.asked(ctx)
	for _, id := range ids { // one by one: one may keep a branch of the next
		_, err := e.each(ctx, "recreate", []string{id}, want)
		refused.add(err)
		if is, _ := e.lastOf(id); err == nil && (is.State == Local || is.State == KeptLate) {
			refused.add(wrap("recreate", id, ErrLocal))
		}
	}
	return refused.all()
}

// Report is the result of [Store.Check].
type Report struct {
	SessionID string    `json:"session_id"`
	Lines     int64     `json:"lines"` // read, with the right hashes
	Bytes     int64     `json:"bytes"`
	Documents int       `json:"documents"` // segments that the lines were read from
	Problems  []Problem `json:"problems"`
	Mended    int       `json:"mended"` // problems that are mended
}

// CheckOptions are the options of [Store.Check]. Nil is the zero value.
type CheckOptions struct {
	// Mend stores missing or damaged lines and files again, if this device has them. It
	// asks the rules as a sync does: the error Is [ErrLocal], [ErrHeld] or
	// [ErrRedaction], and nothing is stored, where they hold the session back.
	Mend bool
}

// Check reads everything that the remote has of a session's main line, logs and files,
// and checks every hash. The error Is [ErrDamaged] when problems remain that are not
// mended; the report names them: another device may have those lines.
func (s *Store) Check(ctx context.Context, id string, opts *CheckOptions) (Report, error) {
	const op = "check"
	if s.engine == nil {
		return Report{SessionID: id}, wrap(op, id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	found, err := s.engine.Check(ctx, id, opts != nil && opts.Mend)
	r := Report{SessionID: id, Lines: found.Lines, Bytes: found.Bytes, Documents: found.Documents, Problems: []Problem{}, Mended: found.Mended}
	for i := range found.Problems {
		p := &found.Problems[i]
		r.Problems = append(r.Problems, Problem{
			Stream: p.Stream, File: p.File, From: p.From, To: p.To, Document: p.Document, Mended: p.Mended, Err: p.Err,
		})
	}
	if err != nil {
		return r, wrap(op, id, err)
	}
	if left := len(r.Problems) - r.Mended; left > 0 {
		return r, wrap(op, id, fmt.Errorf("%w: %d of %d problems remain", ErrDamaged, left, len(r.Problems)))
	}
	return r, nil
}

// Problem describes lines or a file that cannot be read from the remote.
type Problem struct {
	Stream   string `json:"stream"`             // "t" is the transcript; empty for a file
	File     string `json:"file,omitempty"`     // of a file
	From     int64  `json:"from"`               // lines From up to To, without To
	To       int64  `json:"to"`                 //
	Document string `json:"document,omitempty"` // that is damaged; empty when it is missing
	Mended   bool   `json:"mended"`             // it was stored again
	Err      error  `json:"-"`                  // Is ErrDamaged
}
