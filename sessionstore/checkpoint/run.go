package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// A Run is one session directory. Nothing of it is open between calls.
//
// Each method that changes the state works on the current content of the file, writes to
// the directory that was opened, whatever config.session_directory says, and sets
// last_updated. Nothing is written when it fails before that. An error while writing may
// leave the new state.
type Run struct {
	parent *Dir
	dir    string

	mu    sync.Mutex // guards state
	state State
}

// Dir returns the session directory.
func (r *Run) Dir() string { return r.dir }

// State returns the state as this Run last read or wrote it.
func (r *Run) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// change is the read-modify-write of all methods. The raw state that edit gets
// is valid.
func (r *Run) change(ctx context.Context, what string, edit func(old State) ([]byte, error)) error {
	err := r.apply(ctx, edit)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (r *Run) apply(ctx context.Context, edit func(old State) ([]byte, error)) error {
	f, err := r.parent.openFolder(r.dir)
	if err != nil {
		return err
	}
	defer f.Close()
	lock, err := f.lock(ctx, r.dir)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	old, err := f.read()
	if err != nil {
		return err
	}
	raw, err := edit(old)
	if err != nil {
		return err
	}
	raw = pyjson.Splice(raw, "last_updated", stamp(r.parent.opts.Now()))
	raw = pyjson.Splice(raw, "version", pyjson.Quote(newest))
	if report := validate(raw); len(report.Violations) > 0 {
		return &InvalidError{report.Violations}
	}
	raw = withZones(raw, schema())
	if err := ctx.Err(); err != nil {
		return err
	}
	state, err := f.write(old, raw, r.parent.sync())
	if err == nil && r.parent.sync() { // the process that made the directory may have been killed before its name was durable
		err = r.parent.syncDir(filepath.Dir(r.dir))
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.state = state
	r.mu.Unlock()
	return nil
}

// SetStatus sets the status.
func (r *Run) SetStatus(ctx context.Context, status Status) error {
	return r.change(ctx, "set status", func(old State) ([]byte, error) {
		return pyjson.Splice(old.raw, "status", pyjson.Quote(string(status))), nil
	})
}

// SetContext sets the members of the user's context that c has; it keeps the others.
func (r *Run) SetContext(ctx context.Context, c Context) error {
	return r.change(ctx, "set context", func(old State) ([]byte, error) {
		with, err := encodeObject(c)
		if err != nil {
			return nil, err
		}
		to := memberOr(old.raw, "user_context", "{}")
		for m := range pyjson.Members(with) {
			to = pyjson.Splice(to, pyjson.Text(m.Key), m.Value)
		}
		return pyjson.Splice(old.raw, "user_context", to), nil
	})
}

// SetChapters sets config.num_chapters, from 3 to 7, which phase 1 makes known.
func (r *Run) SetChapters(ctx context.Context, n int) error {
	return r.change(ctx, "set number of chapters", func(old State) ([]byte, error) {
		config := pyjson.Splice(memberOr(old.raw, "config", "{}"), "num_chapters", strconv.AppendInt(nil, int64(n), 10))
		return pyjson.Splice(old.raw, "config", config), nil
	})
}

// Checkpoint records that a phase is done, and its outputs: values of members of outputs,
// each of which replaces the value before. A name that no phase makes is refused. The next
// phase becomes the current one. The first checkpoint makes an initialized session one in
// progress, phase 7 completes it.
func (r *Run) Checkpoint(ctx context.Context, phase int, outputs map[string]any) error {
	return r.change(ctx, "checkpoint", func(old State) ([]byte, error) {
		if err := checkPhase(phase); err != nil {
			return nil, err
		}
		with, err := encodeOutputs(outputs)
		if err != nil {
			return nil, err
		}
		raw, all := old.raw, memberOr(old.raw, "outputs", "{}")
		for m := range pyjson.Members(with) {
			all = pyjson.Splice(all, pyjson.Text(m.Key), m.Value)
		}
		raw = pyjson.Splice(raw, "outputs", all)
		done := old.CompletedPhases()
		if !slices.Contains(done, phase) {
			done = append(done, phase)
		}
		raw = withPhases(raw, min(phase+1, lastPhase), done)
		switch {
		case phase == lastPhase:
			raw = pyjson.Splice(raw, "status", pyjson.Quote(string(Completed)))
		case old.Status() == Initialized:
			raw = pyjson.Splice(raw, "status", pyjson.Quote(string(InProgress)))
		}
		return raw, nil
	})
}

// encodeOutputs returns outputs as JSON.
func encodeOutputs(outputs map[string]any) ([]byte, error) {
	for name := range outputs {
		if known := allOutputs(); !slices.Contains(known, name) {
			return nil, fmt.Errorf("%w: a name is none of %s", ErrInvalidOutput, strings.Join(known, ", "))
		}
	}
	if outputs == nil {
		return []byte("{}"), nil
	}
	raw, err := encodeObject(outputs)
	if err != nil {
		return nil, fmt.Errorf("encode outputs: %w", err)
	}
	return raw, nil
}

func withPhases(raw []byte, current int, done []int) []byte {
	var items [][]byte
	for _, p := range done {
		items = append(items, strconv.AppendInt(nil, int64(p), 10))
	}
	raw = pyjson.Splice(raw, "current_phase", strconv.AppendInt(nil, int64(current), 10))
	return pyjson.Splice(raw, "completed_phases", pyjson.ArrayOf(items))
}

// Rollback goes back to the beginning of a phase: it forgets the completion,
// the outputs and the approvals of that phase and of later ones. The files
// stay. A completed session is in progress again.
func (r *Run) Rollback(ctx context.Context, phase int) error {
	return r.change(ctx, "roll back", func(old State) ([]byte, error) {
		if err := checkPhase(phase); err != nil {
			return nil, err
		}
		done := slices.DeleteFunc(old.CompletedPhases(), func(p int) bool { return p >= phase })
		raw := withPhases(bytes.Clone(old.raw), phase, done)
		all := memberOr(raw, "outputs", "{}")
		for p := phase; p <= lastPhase; p++ {
			for _, name := range outputs(p) {
				all = pyjson.Splice(all, name, []byte("null"))
			}
		}
		raw = pyjson.Splice(raw, "outputs", all)
		approvals := memberOr(raw, "user_approvals", "{}")
		for m := range pyjson.Members(approvals) {
			name := pyjson.Text(m.Key)
			if n, ok := approvalPhase(name); ok && n >= phase {
				approvals = pyjson.Remove(approvals, name)
			}
		}
		raw = pyjson.Splice(raw, "user_approvals", approvals)
		if old.Status() == Completed {
			raw = pyjson.Splice(raw, "status", pyjson.Quote(string(InProgress)))
		}
		return raw, nil
	})
}

// Open opens the session in the directory dir.
func (d *Dir) Open(dir string) (*Run, error) {
	path, err := sessiondir.Abs(dir)
	if err == nil {
		var s State
		if s, err = d.read(path); err == nil {
			return &Run{parent: d, dir: path, state: s}, nil
		}
	}
	return nil, fmt.Errorf("open session: %w", err)
}

func (d *Dir) read(dir string) (State, error) {
	f, err := d.openFolder(dir)
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	return f.read()
}

// A Missing is an output of a completed phase that is not there.
type Missing struct {
	Phase int
	Output
}

// Resume takes up a session that is in progress or interrupted, else the error Is
// [ErrNotResumable]. A completed phase whose outputs are not all there has to be done
// again: it is completed no more, and the current phase becomes the first such phase if
// that comes before. Resume returns the missing outputs.
//
// A relative path is looked for in the output directory, then in the session directory; a
// path that leads out of both is missing, and so is a null.
//
// The example Resume of package slice/accept shows how an agent goes on with a
// session.
func (r *Run) Resume(ctx context.Context) ([]Missing, error) {
	var gone []Missing
	err := r.change(ctx, "resume", func(old State) ([]byte, error) {
		if !resumable(old.Status()) {
			return nil, fmt.Errorf("%w: status is %s", ErrNotResumable, old.Status())
		}
		gone = r.missing(old)
		current, done := old.CurrentPhase(), old.CompletedPhases()
		for _, m := range gone {
			current = min(current, m.Phase)
			done = slices.DeleteFunc(done, func(p int) bool { return p == m.Phase })
		}
		raw := withPhases(old.raw, current, done)
		return pyjson.Splice(raw, "status", pyjson.Quote(string(InProgress))), nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

func resumable(s Status) bool { return s == InProgress || s == Interrupted }

// missing returns the outputs of completed phases that are not there.
func (r *Run) missing(state State) (gone []Missing) {
	for _, phase := range state.CompletedPhases() {
		for _, out := range state.Outputs(phase) {
			if !r.outputExists(state, out.Path) {
				gone = append(gone, Missing{phase, out})
			}
		}
	}
	return gone
}

func (r *Run) outputExists(state State, path string) bool {
	if filepath.IsAbs(path) {
		_, err := os.Stat(path)
		return err == nil
	}
	if !filepath.IsLocal(path) {
		return false
	}
	for _, dir := range []string{state.OutputDirectory(), r.dir} {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
			return true
		}
	}
	return false
}

// Status is the status of a session.
type Status string

// The statuses of a session.
const (
	Initialized Status = "initialized"
	InProgress  Status = "in_progress"
	Completed   Status = "completed"
	Interrupted Status = "interrupted"
	Aborted     Status = "aborted"
	Failed      Status = "error"
)

func statuses() []string {
	return []string{
		string(Initialized), string(InProgress), string(Completed),
		string(Interrupted), string(Aborted), string(Failed),
	}
}
