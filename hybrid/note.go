package hybrid

import (
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// The file with the identity of a remote and, in the next line, its note; see [remote.Noter].
const (
	noteFile  = "note"
	noteLasts = 7 * 24 * time.Hour
)

// recallNote gives the remote the note that is kept of it.
func (e *engine) recallNote() {
	of, ok := e.opts.Remote.(remote.Noter)
	if !ok {
		return
	}
	text, _ := e.States.Read(noteFile) // without it there is no note
	is, err := e.States.Stat(noteFile)
	note, same := strings.CutPrefix(string(text), e.address+"\n")
	if same && err == nil && is[0] != nil && time.Since(is[0].ModTime()) < noteLasts {
		of.SetNote(note)
		e.noted.Store(note != "")
	}
}

// forgetNote forgets the note here, in the remote and in the file: it is of another service, or of
// a former state of this one.
func (e *engine) forgetNote() {
	of, ok := e.opts.Remote.(remote.Noter)
	if !ok {
		return
	}
	of.SetNote("")
	e.noted.Store(false)
	if err := e.States.Remove(noteFile); err != nil {
		e.Log.Info("what was found out about the former remote is not removed", "err", err)
	}
}

// keepNote records, once for a store, what the remote has found out.
func (e *engine) keepNote() {
	of, ok := e.opts.Remote.(remote.Noter)
	if !ok || of.Note() == "" || e.noted.Swap(true) {
		return
	}
	if err := e.States.Write(noteFile, []byte(e.address+"\n"+of.Note())); err != nil {
		e.Log.Info("what was found out about the remote is not recorded", "err", err)
	}
}
