package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// fits reports whether the draft, which is the nth further conversation, is a new one for a tool
// that takes files, or goes on with all that the tool has of it.
func (o *onward) fits(n int) (bool, error) {
	home, err := foreign.Home(o.tool)
	if err != nil {
		return false, err
	}
	o.path = home
	if o.plan && o.grew[o.tool] { // all that is there will be here
		return true, nil
	}
	i := slices.IndexFunc(o.found, func(h foreign.History) bool { return h.ID == o.exported.ID })
	if i < 0 {
		return true, o.unfound // what cannot be read may have it
	}
	o.path = o.found[i].Path
	return foreign.Continues(o.a.ctx, o.t.store, o.t.id, o.found[i], n, o.mend)
}

// take lets the tool import the draft, and returns the number of its bytes.
func (o *onward) take() (int64, error) {
	size, err := o.draft.Seek(0, io.SeekEnd)
	if err != nil || o.plan {
		return size, err
	}
	byHand := fmt.Sprintf("sessions export --to=%s writes the file for \"%s %s\"", o.tool, o.tool, o.tool.Takes("FILE")[0])
	program, err := exec.LookPath(string(o.tool))
	if err != nil {
		return 0, fmt.Errorf("%s is not on PATH; %s", o.tool, byHand)
	}
	dir, err := os.MkdirTemp("", "sessions-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, o.exported.File)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(f, io.NewSectionReader(o.draft, 0, size))
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(o.a.ctx, program, o.tool.Takes(name)...)
	cmd.Dir = o.dir
	failed := cmd.Run() // its words may be of the conversation
	found, err := foreign.Find(o.a.ctx, o.tool, nil)
	has := slices.ContainsFunc(found, func(h foreign.History) bool { return h.ID == o.exported.ID })
	if failed == nil && err == nil && !has {
		failed = errors.New("it did not take it")
	}
	if failed != nil {
		return 0, fmt.Errorf("let %s import the session in %s: %w; %s", o.tool, screen.Plain(o.dir), failed, byHand)
	}
	return size, err
}
