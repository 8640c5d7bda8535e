package foreign

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// foundNote is what a database had when its files had these facts. It may be lost or damaged at
// any time.
type foundNote struct {
	Form  int
	Home  string
	Facts string
	Found []thread.History
}

// findNoted finds the histories of a tool. Those in a database that did not change are taken from
// the note of the last time, which are in the folder notes; "": there is none.
func findNoted(ctx context.Context, tool thread.Tool, home, notes string) ([]thread.History, error) {
	db, ok := tool.(thread.Database)
	if !ok || notes == "" {
		return tool.Find(ctx, home)
	}
	name := filepath.Join(notes, tool.Name()+".json")
	now := foundNote{Form: notesForm, Home: home, Facts: factsOf(time.Now(), db.Database(home))}
	raw, _ := os.ReadFile(name) // without one the database is read
	var was foundNote
	if json.Unmarshal(raw, &was) == nil && now.Facts != "" && was.Form == now.Form && was.Home == home && was.Facts == now.Facts {
		now.Found = was.Found
	} else {
		var err error
		if now.Found, err = tool.Find(ctx, home); err != nil {
			return now.Found, err
		}
		if now.Facts != "" {
			_ = now.write(ctx, name) // which costs the next call a reading
		}
	}
	return now.Found, nil
}

// write replaces a note.
func (n foundNote) write(ctx context.Context, name string) error {
	raw, err := json.Marshal(n)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	if err != nil {
		return err
	}
	return vfs.WriteNamed(ctx, name, name, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}
