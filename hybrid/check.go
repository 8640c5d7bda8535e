package hybrid

import (
	"context"
	"fmt"
)

// Report is what [Store.Check] found in the remote.
type Report struct {
	SessionID string    `json:"session_id"`
	Lines     int64     `json:"lines"` // read, with the right hashes
	Bytes     int64     `json:"bytes"`
	Documents int       `json:"documents"` // segments that the lines were read from
	Problems  []Problem `json:"problems"`
	Mended    int       `json:"mended"` // problems that are mended
}

// CheckOptions say what [Store.Check] does. Nil is the zero value.
type CheckOptions struct {
	// Mend stores again what is missing or damaged, if this device has it. It asks the rules as
	// a sync does: the error Is [ErrLocal], [ErrHeld] or [ErrRedaction], and nothing is stored,
	// where they hold the session back.
	Mend bool
}

// Check reads everything that the remote has of a session's main line, logs and files, and
// checks every hash. The error Is [ErrDamaged] when there are problems that are not mended,
// which the report names: another device may have those lines.
func (s *Store) Check(ctx context.Context, id string, opts *CheckOptions) (Report, error) {
	const op = "check"
	if s.engine == nil {
		return Report{SessionID: id}, wrap(op, id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	found, err := s.engine.Check(ctx, id, opts != nil && opts.Mend)
	r := Report{SessionID: id, Lines: found.Lines, Bytes: found.Bytes, Documents: found.Documents, Mended: found.Mended}
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

// Problem is lines or a file that cannot be read from the cloud.
type Problem struct {
	Stream   string `json:"stream"`             // "t" is the transcript; empty for a file
	File     string `json:"file,omitempty"`     // of a file
	From     int64  `json:"from"`               // lines From up to To, without To
	To       int64  `json:"to"`                 //
	Document string `json:"document,omitempty"` // that is damaged; empty when it is missing
	Mended   bool   `json:"mended"`             // it was stored again
	Err      error  `json:"-"`                  // Is ErrDamaged
}
