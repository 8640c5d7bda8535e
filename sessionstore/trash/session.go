package trash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Kind is a kind of obstacle.
type Kind string

// The kinds of obstacles. [Options.Allow] can name the last three.
const (
	Running    Kind = "running"    // a program runs the session
	Symlink    Kind = "symlink"    // the directory is a symlink
	Unreadable Kind = "unreadable" // the directory cannot be read
	Recent     Kind = "recent"     // the session was written within Options.Quiet
	Unsynced   Kind = "unsynced"   // the cloud lacks a part of the session
	Parent     Kind = "parent"     // a session that descends from this one stays
)

// CanAllow reports whether [Options.Allow] may name the kind.
func (k Kind) CanAllow() bool { return k == Recent || k == Unsynced || k == Parent }

// An Obstacle is a reason why a session stays.
type Obstacle struct {
	Kind Kind   `json:"hindrance"`
	Text string `json:"text"` // for people; it has no content of the session
}

// Session is a session that a removal is about.
type Session struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Created  string    `json:"created,omitempty"` // as the metadata say it
	Modified time.Time `json:"modified"`          // time of the directory
	Written  time.Time `json:"written"`           // time of the newest file; of the directory when it has no file
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`

	// Obstacles are the reasons why the session stays, or the obstacles in spite of which
	// it goes.
	Obstacles []Obstacle `json:"obstacles,omitempty"`
}

// Bytes returns the size of all files of sessions.
func Bytes(sessions []Session) (n int64) {
	for _, s := range sessions {
		n += s.Bytes
	}
	return n
}

// kept reports whether a session has an obstacle that allow does not name.
func (s *Session) kept(allow []Kind) bool {
	return slices.ContainsFunc(s.Obstacles, func(o Obstacle) bool {
		return !o.Kind.CanAllow() || !slices.Contains(allow, o.Kind)
	})
}

func (s *Session) obstruct(k Kind, text string) {
	s.Obstacles = append(s.Obstacles, Obstacle{k, text})
}

// examine returns session id with its obstacles, without Parent and Unsynced.
func examine(ctx context.Context, st *sessionstore.Store, id string, quiet time.Duration) (Session, error) {
	s := Session{ID: id}
	dir := filepath.Join(st.Dir(), id)
	if fi, err := os.Lstat(dir); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		s.obstruct(Symlink, "it is a symlink to a directory elsewhere")
		return s, nil
	}
	err := core.Of(st).Busy(ctx, id)
	switch {
	case errors.Is(err, sessionstore.ErrLocked), errors.Is(err, sessionstore.ErrFenced):
		s.obstruct(Running, err.Error())
		err = nil
	case errors.Is(err, sessionstore.ErrNotFound), errors.Is(err, sessionstore.ErrInvalidID), ctx.Err() != nil:
		return s, err
	}
	if err == nil {
		err = s.measure(dir)
	}
	if err != nil {
		s.obstruct(Unreadable, err.Error())
		return s, nil
	}
	if md, err := st.Metadata(ctx, id); err == nil {
		s.Name, s.Created = md.Text("name"), md.Text("created")
	}
	if since := core.Of(st).Now().Sub(s.Written); since < quiet {
		s.obstruct(Recent, "it was written "+ago(since))
	}
	return s, nil
}

// ago returns a duration in words, as "5 m ago".
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d m ago", d/time.Minute)
	}
	return fmt.Sprintf("%d h ago", d/time.Hour)
}

// measure counts the files of a session's directory.
func (s *Session) measure(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return err
	}
	s.Modified, s.Written = fi.ModTime(), time.Time{}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file of a writer
		}
		if err != nil {
			return err
		}
		s.Files++
		s.Bytes += fi.Size()
		if fi.ModTime().After(s.Written) {
			s.Written = fi.ModTime()
		}
		return nil
	})
	if s.Files == 0 {
		s.Written = s.Modified
	}
	return err
}
