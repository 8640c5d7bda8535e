package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

var rulesFiles = [3]string{DenyFile, LocalOnlyFile, RedactionFile}

// Rules returns the rules as they are remembered now. It opens their files only when one
// of them changed since they were read last, by this or another process.
func (s *States) Rules() *Rules {
	c := &s.rules
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	files, err := s.statRules()
	if err != nil {
		return &Rules{redactionErr: err, denyErr: err, localErr: err}
	}
	if c.rules != nil && c.sure && slices.EqualFunc(files[:], c.files[:], sameFile) {
		return c.rules
	}
	r := &Rules{}
	r.redaction, r.redactionErr = s.Redaction()
	r.deny, r.denyErr = s.Globs(nil)
	r.local, r.localErr = s.readLocalOnly()
	c.rules, c.files, c.sure = r, files, errors.Join(r.redactionErr, r.denyErr, r.localErr) == nil
	for _, f := range files {
		c.sure = c.sure && (f == nil || at.Sub(f.ModTime()) > SettleTime)
	}
	return r
}

// statRules returns how the files of the rules stand; nil for one that is not there.
func (s *States) statRules() (files [3]os.FileInfo, err error) {
	err = s.with(func(dir *vfs.Dir) error {
		for i, name := range rulesFiles {
			var err error
			if files[i], err = dir.Root().Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
	return files, err
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// SetLocalOnly remembers that a session never leaves this machine, or that it may leave
// whatever became of its parents. It is durable then. Several processes may change it.
func (s *States) SetLocalOnly(id string, on bool) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	was, err := s.readLocalOnly()
	if err != nil {
		return err
	}
	doc := localOnlyDoc{V: stateVersion, Sessions: without(was.Sessions, id), Released: without(was.Released, id)}
	if on {
		doc.Sessions = append(doc.Sessions, id)
	} else {
		doc.Released = append(doc.Released, id)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return s.Write(LocalOnlyFile, text)
}

func without(all []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == id })
}

// readLocalOnly reads which sessions never leave this machine.
func (s *States) readLocalOnly() (doc localOnlyDoc, err error) {
	text, err := s.Read(LocalOnlyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return localOnlyDoc{}, nil
	case err != nil:
		return localOnlyDoc{}, err
	case json.Unmarshal(text, &doc) != nil || doc.V != stateVersion:
		return localOnlyDoc{}, fmt.Errorf("read %s: not of this version", LocalOnlyFile)
	}
	return doc, nil
}
