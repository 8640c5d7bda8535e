package hybrid

import (
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// noteFile is the file with the identity of a remote, and in the next line the note of it; see
// [remote.Noter].
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
	text, err := e.States.Read(noteFile)
	is, failed := e.States.Stat(noteFile)
	note, same := strings.CutPrefix(string(text), e.States.Remote+"\n")
	if err != nil || failed != nil || !same || is[0] == nil || time.Since(is[0].ModTime()) > noteLasts {
		return
	}
	of.SetNote(note)
	e.note = note
}

// keepNote records what the remote has found out since.
func (e *engine) keepNote() {
	of, ok := e.opts.Remote.(remote.Noter)
	if !ok {
		return
	}
	note := of.Note()
	e.mu.Lock()
	same := note == e.note
	e.note = note
	e.mu.Unlock()
	if same {
		return
	}
	if err := e.States.Write(noteFile, []byte(e.States.Remote+"\n"+note)); err != nil {
		e.Log.Info("what was found out about the remote is not recorded", "err", err)
	}
}
