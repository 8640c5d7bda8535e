package slice

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Diagnosis describes the faults that prevent a conversation from going on. As JSON it is
// the reference's.
type Diagnosis struct {
	Status     string       `json:"status"`             // healthy or broken
	Modes      []string     `json:"failure_modes"`      // missing_tool_results, ordering_violation, incomplete_assistant_turn
	Orphaned   []string     `json:"orphaned_tool_ids"`  // ids of calls without a result; "" for calls without an id
	Misplaced  []string     `json:"misplaced_tool_ids"` // ids of calls that are separated from their result
	Incomplete []Incomplete `json:"incomplete_turns"`
	Action     string       `json:"recommended_action"` // none or repair
}

// Incomplete is a turn that ends with results of tools instead of an answer.
type Incomplete struct {
	AfterLine  int    `json:"after_line"`  // number of the turn's last result's message, from 1
	AfterIndex int    `json:"after_index"` // index of that message, from 0
	Missing    string `json:"missing"`     // assistant_response
}

// Healthy reports whether nothing is wrong.
func (d Diagnosis) Healthy() bool { return d.Status == "healthy" }

// Diagnose reports the faults of a conversation, as the reference does:
//
//   - missing_tool_results: a call has no result anywhere;
//   - ordering_violation: a real user message (see [IsRealUser]) or an assistant
//     message without calls is between a call and its result;
//   - incomplete_assistant_turn: the last result of a message's calls is
//     followed by a real user message, or by nothing.
//
// If several calls or several results have one id, the last counts. AfterLine is
// the line of a transcript that has no blank lines. The error Is
// [sessionstore.ErrUnstorable] when a message is the zero Message; there is no
// other error.
func Diagnose(msgs []sessionstore.Message) (Diagnosis, error) {
	for i, m := range msgs {
		if m == (sessionstore.Message{}) {
			return Diagnosis{}, fmt.Errorf("diagnose message %d: %w: it is the zero Message", i, sessionstore.ErrUnstorable)
		}
	}
	return diagnose(readRows(msgs)), nil
}

func diagnose(rows []turns.Row) Diagnosis {
	d := Diagnosis{Status: "healthy", Modes: []string{}, Orphaned: []string{}, Misplaced: []string{}, Incomplete: []Incomplete{}, Action: "none"}
	x := newExamination(rows)
	for n, e := range x.Exchanges {
		switch {
		case e.Result < 0:
			d.Orphaned = append(d.Orphaned, e.ID)
			x.broken[n] = true
		case e.Result > e.Call && !x.waits.InPlace(e.Call, e.Result):
			d.Misplaced = append(d.Misplaced, e.ID)
			x.broken[n] = true
		}
	}
	for n := range x.Exchanges {
		if at, ok := x.unfinished(n); ok {
			d.Incomplete = append(d.Incomplete, Incomplete{at + 1, at, "assistant_response"})
		}
	}
	d.note("missing_tool_results", len(d.Orphaned))
	d.note("ordering_violation", len(d.Misplaced))
	d.note("incomplete_assistant_turn", len(d.Incomplete))
	return d
}

// note adds a failure mode if it was found at least once.
func (d *Diagnosis) note(mode string, found int) {
	if found > 0 {
		d.Status, d.Action = "broken", "repair"
		d.Modes = append(d.Modes, mode)
	}
}

// examination holds the state of one diagnosis.
type examination struct {
	*turns.Matcher
	rows   []turns.Row
	waits  turns.Waits
	first  []int  // index of the first call of each message; one more element at the end
	broken []bool // by exchange: its calls have no result, or are separated from it
}

func newExamination(rows []turns.Row) *examination {
	x := &examination{Matcher: turns.Match(rows), rows: rows, first: make([]int, len(rows)+1)}
	for i, r := range rows {
		x.first[i+1] = x.first[i] + len(r.Calls())
	}
	x.waits = turns.WaitsOf(len(rows), func(i int) bool { return rows[i].Real || rows[i].Assistant && !rows[i].Acts })
	x.broken = make([]bool, len(x.Exchanges))
	return x
}

// unfinished looks at the last message that has a call of exchange n. It returns the
// message with the last result of the calls of that message, and true if the turn ends
// there. So that each message is judged once, it returns false unless the message's first
// call belongs to exchange n. It also does if all of the message's calls are broken: then
// there is no result to look for.
func (x *examination) unfinished(n int) (last int, ok bool) {
	call := x.Exchanges[n].Call
	all := x.Calls[x.first[call]:x.first[call+1]]
	if all[0].Exchange != n {
		return 0, false
	}
	last = call
	whole := false
	for _, c := range all {
		whole = whole || !x.broken[c.Exchange]
		last = max(last, x.Exchanges[c.Exchange].Result)
	}
	if !whole || last == call || x.rows[last].Real {
		return 0, false
	}
	return last, last+1 == len(x.rows) || x.rows[last+1].Asks()
}

// Healthy reports whether the transcript of session id, as Load reads it, can
// be continued. It is a filter for [projects.Query]. A session that has
// neither a transcript nor a backup of one is neither healthy nor broken. The
// error Is [sessionstore.ErrCorrupt] when a line cannot be read or is no JSON
// object.
func Healthy(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	d, err := diagnoseStored(ctx, st, id)
	return d.Healthy(), err
}

// Broken reports whether the transcript of session id needs repair. It is a filter for
// [projects.Query]. It returns the same errors as [Healthy].
func Broken(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	d, err := diagnoseStored(ctx, st, id)
	return d.Status != "" && !d.Healthy(), err
}

// diagnoseStored diagnoses the transcript of session id. It returns the zero
// Diagnosis for a session without a transcript.
func diagnoseStored(ctx context.Context, st *sessionstore.Store, id string) (Diagnosis, error) {
	var rows []sessionstore.Message
	for m, err := range st.Messages(ctx, id) { // a search must not keep every transcript in memory, as Load does
		if err != nil {
			return Diagnosis{}, err
		}
		rows = append(rows, m)
	}
	if len(rows) == 0 {
		switch err := hasTranscript(ctx, st, id); {
		case errors.Is(err, errNoTranscript):
			return Diagnosis{}, nil
		case err != nil:
			return Diagnosis{}, err
		}
	}
	if err := onlyObjects(st, id, rows); err != nil {
		return Diagnosis{}, err
	}
	return Diagnose(rows)
}

// errNoObject is the damage of a row that is JSON, but no object.
var errNoObject = errors.New("row is no object")

// onlyObjects returns an error that Is [sessionstore.ErrCorrupt] when one of
// rows, of session id, is no object. Load accepts such rows, as the reference's
// store does; the reference's diagnosis fails on them.
func onlyObjects(st *sessionstore.Store, id string, rows []sessionstore.Message) error {
	for _, m := range rows {
		if !isObject(m) {
			return &sessionstore.CorruptError{Path: filepath.Join(st.Dir(), id, sessiondir.Transcript), Err: errNoObject}
		}
	}
	return nil
}

// errNoTranscript is returned for a session without a transcript and without a backup of one.
var errNoTranscript = limits.Errorf(fs.ErrNotExist, "the session has no %s", sessiondir.Transcript)

// hasTranscript returns errNoTranscript if the session has neither a transcript
// nor a backup of one.
func hasTranscript(ctx context.Context, st *sessionstore.Store, id string) error {
	return core.Of(st).Read(ctx, id, func(d *sessiondir.Dir) error {
		for _, name := range []string{sessiondir.Transcript, sessiondir.Backup(sessiondir.Transcript)} {
			if _, err := d.Stat(name); !errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
		return errNoTranscript
	})
}

// noTranscript returns errNoTranscript in the reference's words.
func noTranscript(st *sessionstore.Store, id, more string) error {
	return limits.Reference(errNoTranscript, "No "+sessiondir.Transcript+" in "+filepath.Join(st.Dir(), id)+more)
}
