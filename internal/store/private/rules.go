package private

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// Rules are the stored rules about what may leave, as of one moment. They do not change.
type Rules struct {
	redaction    string
	redactionErr error
	globs        []string
	globsErr     error
	local        localOnlyDoc
	localErr     error
}

// Redaction returns the version of the rules of redaction; "" for none.
func (r *Rules) Redaction() (string, error) { return r.redaction, r.redactionErr }

// Err returns the reason why all sessions stay, because the rules cannot be read; nil:
// they are known.
func (r *Rules) Err() error { return errors.Join(r.globsErr, r.localErr) }

// Keeps reports whether a session is local only, or hidden. When that cannot be found out, it is:
// nothing leaves by mistake.
func (r *Rules) Keeps(id string) bool {
	is := r.local.of(id)
	return r.localErr != nil || is.kept || is.hidden
}

// Released reports whether the session was released by name.
func (r *Rules) Released(id string) bool {
	return r.localErr == nil && slices.Contains(r.local.Released, id)
}

// rulesCache keeps the rules that were read last, and the state of their files.
type rulesCache struct {
	mu    sync.Mutex // guards the fields below
	rules *Rules     // nil: none were read
	files []os.FileInfo
	sure  bool // a change of a file shows in its stat
}

// LocalOnlyFile is the name of the file beside the states with the sessions that never
// leave this machine.
const LocalOnlyFile = "local-only.json"

type localOnlyDoc struct {
	V        int      `json:"v"`
	Sessions []string `json:"sessions"`
	Released []string `json:"released,omitempty"`
}

var rulesFiles = [3]string{GlobsFile, LocalOnlyFile, RedactionFile}

// Rules returns the stored rules. It opens their files only when one of them changed
// since they were read last, by this or another process.
func (s *Book) Rules() *Rules {
	c := &s.rules
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	files, err := s.files.Stat(rulesFiles[:]...)
	if err != nil {
		return &Rules{redactionErr: err, globsErr: err, localErr: err}
	}
	if c.rules != nil && c.sure && slices.EqualFunc(files, c.files, sameFile) {
		return c.rules
	}
	r := &Rules{}
	r.redaction, r.redactionErr = s.Redaction()
	r.globs, r.globsErr = s.Globs(nil)
	r.local, r.localErr = s.readLocalOnly()
	c.rules, c.files, c.sure = r, files, errors.Join(r.redactionErr, r.globsErr, r.localErr) == nil
	for _, f := range files {
		c.sure = c.sure && (f == nil || at.Sub(f.ModTime()) > settleTime)
	}
	return r
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// hiddenWord stands before the id of a hidden session in the list of local-only sessions. No id
// has a slash. The session stands there by its id, too: programs that do not know the word keep
// it here, and keep the word when they write the list. They add what they keep at the end: the id
// comes after the word if the session is kept also when it is no longer hidden.
const hiddenWord = "hidden/"

// standing is what the list says of a session.
type standing struct{ kept, hidden, released bool }

// Hidden returns the hidden sessions of the sessions directory dir, nothing where they cannot be
// read. It changes nothing there.
func Hidden(dir string) (ids []string) {
	path, doc := filepath.Join(dir, sessiondir.Bookkeeping, Folder, LocalOnlyFile), localOnlyDoc{}
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &doc) != nil {
		return nil
	}
	for _, name := range doc.Sessions {
		if id, ok := strings.CutPrefix(name, hiddenWord); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// of returns what the list says of a session.
func (d localOnlyDoc) of(id string) standing {
	listed, hidden := slices.Index(d.Sessions, id), slices.Index(d.Sessions, hiddenWord+id)
	return standing{listed > hidden, hidden >= 0, slices.Contains(d.Released, id)}
}

// with returns a list that says something else of a session.
func (d localOnlyDoc) with(id string, is standing) localOnlyDoc {
	put := func(all []string, name string, on bool) []string {
		all = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == name })
		if on {
			all = append(all, name)
		}
		return all
	}
	sessions := put(put(d.Sessions, id, is.hidden), hiddenWord+id, is.hidden)
	if is.kept {
		sessions = put(sessions, id, true)
	}
	return localOnlyDoc{V: version, Sessions: sessions, Released: put(d.Released, id, is.released)}
}

// SetLocalOnly records, durably, that a session never leaves this machine, or that it may
// leave, whatever becomes of its parents. A hidden session may not: that is an error. Several
// processes may change it.
func (s *Book) SetLocalOnly(id string, on bool) error {
	return s.change(id, func(is *standing) error {
		if is.hidden && !on {
			return fmt.Errorf("%w: the session is hidden: unhide it first (Store.Unhide; sessions hide --no)", ErrLocal)
		}
		is.kept, is.released = on, !on
		return nil
	})
}

// SetHidden records, durably, that a session is hidden, or is what it was before. Several
// processes may change it.
func (s *Book) SetHidden(id string, on bool) error {
	return s.change(id, func(is *standing) error {
		is.hidden = on
		return nil
	})
}

func (s *Book) change(id string, edit func(*standing) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.files.Alone(func() error {
		doc, err := s.readLocalOnly()
		if err != nil {
			return err
		}
		is := doc.of(id)
		if err := edit(&is); err != nil {
			return err
		}
		text, err := json.Marshal(doc.with(id, is))
		if err != nil {
			return err
		}
		return s.files.Write(LocalOnlyFile, text)
	})
}

// readLocalOnly reads the list of sessions that never leave this machine.
func (s *Book) readLocalOnly() (doc localOnlyDoc, err error) {
	text, err := s.files.Read(LocalOnlyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return localOnlyDoc{}, nil
	case err != nil || json.Unmarshal(text, &doc) != nil || doc.V != version:
		return localOnlyDoc{}, s.unreadable(LocalOnlyFile, "which sessions stay here", "remove it and name those sessions again", err)
	}
	return doc, nil
}

// unreadable returns the error for a file of rules that holds something else, or that cannot be
// read because of err.
func (s *Book) unreadable(name, what, mend string, err error) error {
	said := fmt.Errorf("%s does not tell %s: bring it back from a backup, or %s", filepath.Join(s.dir, sessiondir.Bookkeeping, Folder, name), what, mend)
	if err != nil {
		said = fmt.Errorf("%w: %w", said, err)
	}
	return said
}

// GlobsFile is the name of the file beside the states with the globs that were given last.
const GlobsFile = "deny.json"

type privateDoc struct {
	V     int      `json:"v"`
	Globs []string `json:"globs"`
}

// Globs stores the given globs for the next process, or returns the globs of the last
// process when given is nil. A malformed glob among those is an error.
func (s *Book) Globs(given []string) ([]string, error) {
	var doc privateDoc
	text, err := s.files.Read(GlobsFile)
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && (err != nil || json.Unmarshal(text, &doc) != nil || doc.V != version) {
		err = s.unreadable(GlobsFile, "which sessions stay here", "start the program that gives those rules", err)
	}
	for i, glob := range doc.Globs {
		if _, bad := MatchGlob(glob, ""); bad != nil && err == nil {
			err = fmt.Errorf("read %s: glob %d: %w", GlobsFile, i+1, bad)
		}
	}
	switch {
	case missing && len(given) == 0:
		return given, nil
	case given == nil || err == nil && slices.Equal(doc.Globs, given):
		return doc.Globs, err
	}
	if text, err = json.Marshal(privateDoc{version, given}); err != nil {
		return given, err
	}
	return given, s.files.Write(GlobsFile, text)
}

// RedactionFile is the name of the file beside the states with the version of the rules
// of redaction that were given last. It holds no rule itself.
const RedactionFile = "redaction.json"

type redactionDoc struct {
	V       int    `json:"v"`
	Version string `json:"version"`
}

// Redaction returns the stored version of the rules; "" for none.
func (s *Book) Redaction() (string, error) {
	text, err := s.files.Read(RedactionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var doc redactionDoc
	if err != nil || json.Unmarshal(text, &doc) != nil || doc.V != version {
		return "", s.unreadable(RedactionFile, "which rules of redaction hold", "sync with the rules", err)
	}
	return doc.Version, nil
}

// SetRedaction stores the version of rules, durably, for all programs that open the
// directory.
func (s *Book) SetRedaction(rules string) error {
	text, err := json.Marshal(redactionDoc{version, rules})
	if err != nil {
		return err
	}
	return s.files.Write(RedactionFile, text)
}
