package replica

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
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

// Globs returns the globs of ids and names of sessions that stay.
func (r *Rules) Globs() ([]string, error) { return r.globs, r.globsErr }

// Err returns the reason why all sessions stay, because the rules cannot be read; nil:
// they are known.
func (r *Rules) Err() error { return errors.Join(r.globsErr, r.localErr) }

// Keeps reports whether a session is local only. When that cannot be found out, it is:
// nothing leaves by mistake.
func (r *Rules) Keeps(id string) bool {
	return r.localErr != nil || slices.Contains(r.local.Sessions, id)
}

// Released reports whether the session was released by name.
func (r *Rules) Released(id string) bool {
	return r.localErr == nil && slices.Contains(r.local.Released, id)
}

// rulesCache keeps the rules that were read last, and the state of their files.
type rulesCache struct {
	mu    sync.Mutex // guards the fields below
	rules *Rules     // nil: none were read
	files [3]os.FileInfo
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

var rulesFiles = [3]string{PrivateFile, LocalOnlyFile, RedactionFile}

// Rules returns the stored rules. It opens their files only when one of them changed
// since they were read last, by this or another process.
func (s *States) Rules() *Rules {
	c := &s.rules
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	files, err := s.statRules()
	if err != nil {
		return &Rules{redactionErr: err, globsErr: err, localErr: err}
	}
	if c.rules != nil && c.sure && slices.EqualFunc(files[:], c.files[:], sameFile) {
		return c.rules
	}
	r := &Rules{}
	r.redaction, r.redactionErr = s.Redaction()
	r.globs, r.globsErr = s.Globs(nil)
	r.local, r.localErr = s.readLocalOnly()
	c.rules, c.files, c.sure = r, files, errors.Join(r.redactionErr, r.globsErr, r.localErr) == nil
	for _, f := range files {
		c.sure = c.sure && (f == nil || at.Sub(f.ModTime()) > SettleTime)
	}
	return r
}

// statRules returns the state of the files of the rules; nil for a missing file.
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

// SetLocalOnly records, durably, that a session never leaves this machine, or that it may
// leave, whatever becomes of its parents. Several processes may change it.
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

// readLocalOnly reads the list of sessions that never leave this machine.
func (s *States) readLocalOnly() (doc localOnlyDoc, err error) {
	text, err := s.Read(LocalOnlyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return localOnlyDoc{}, nil
	case err != nil:
		return localOnlyDoc{}, err
	case json.Unmarshal(text, &doc) != nil || doc.V != stateVersion:
		return localOnlyDoc{}, s.unreadable(LocalOnlyFile, "which sessions stay here", "remove it and name those sessions again")
	}
	return doc, nil
}

// unreadable returns the error for a file of rules that holds something else.
func (s *States) unreadable(name, what, mend string) error {
	return fmt.Errorf("%s does not tell %s: bring it back from a backup, or %s", filepath.Join(s.place, sessiondir.Bookkeeping, "sync", name), what, mend)
}

// PrivateFile is the name of the file beside the states with the globs that were given last.
const PrivateFile = "deny.json"

type privateDoc struct {
	V     int      `json:"v"`
	Globs []string `json:"globs"`
}

// Globs stores the given globs for the next process, or returns the globs of the last
// process when given is nil. A malformed glob among those is an error.
func (s *States) Globs(given []string) ([]string, error) {
	var doc privateDoc
	text, err := s.Read(PrivateFile)
	missing := errors.Is(err, fs.ErrNotExist)
	if err == nil && (json.Unmarshal(text, &doc) != nil || doc.V != stateVersion) {
		err = s.unreadable(PrivateFile, "which sessions stay here", "start the program that gives those rules")
	}
	for i, glob := range doc.Globs {
		if _, bad := MatchGlob(glob, ""); bad != nil && err == nil {
			err = fmt.Errorf("read %s: glob %d: %w", PrivateFile, i+1, bad)
		}
	}
	switch {
	case missing && len(given) == 0:
		return given, nil
	case given == nil || err == nil && slices.Equal(doc.Globs, given):
		return doc.Globs, err
	}
	if text, err = json.Marshal(privateDoc{stateVersion, given}); err != nil {
		return given, err
	}
	return given, s.Write(PrivateFile, text)
}

// MatchGlob reports whether a glob fits all of s: as [path.Match] does, but here a slash
// is a character as any other. It returns an error for a malformed glob.
func MatchGlob(glob, s string) (bool, error) {
	if _, err := path.Match(glob, ""); err != nil {
		return false, err
	}
	after, from, starred := "", "", false // the glob behind the last star, and the place in s where it was tried
	for glob != "" || s != "" {
		if strings.HasPrefix(glob, "*") {
			glob = glob[1:]
			after, from, starred = glob, s, true
			continue
		}
		part := firstOf(glob)
		if n := fits(part, s); n > 0 {
			glob, s = glob[len(part):], s[n:]
			continue
		}
		if !starred || from == "" {
			return false, nil
		}
		from = from[1:]
		glob, s = after, from
	}
	return true, nil
}

// firstOf returns the part of a glob without a star at its beginning that matches one
// character.
func firstOf(glob string) string {
	if glob == "" || glob[0] != '[' && glob[0] != '\\' {
		return glob[:min(1, len(glob))]
	}
	for i := 1; glob[0] == '['; i++ {
		switch glob[i] {
		case '\\':
			i++
		case ']':
			return glob[:i+1]
		}
	}
	return glob[:2]
}

// fits returns the number of bytes at the beginning of s that a part of a glob matches;
// 0: it does not fit.
func fits(part, s string) (n int) {
	if part == "" || s == "" {
		return 0
	}
	n = 1
	if part[0] == '?' || part[0] == '[' {
		_, n = utf8.DecodeRuneInString(s)
	}
	if ok, err := path.Match(part, s[:n]); part != "?" && (!ok || err != nil) {
		return 0
	}
	return n
}

// RedactionFile is the name of the file beside the states with the version of the rules
// of redaction that were given last. It holds no rule itself.
const RedactionFile = "redaction.json"

type redactionDoc struct {
	V       int    `json:"v"`
	Version string `json:"version"`
}

// Redaction returns the stored version of the rules; "" for none.
func (s *States) Redaction() (string, error) {
	text, err := s.Read(RedactionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var doc redactionDoc
	if json.Unmarshal(text, &doc) != nil || doc.V != stateVersion {
		return "", s.unreadable(RedactionFile, "which rules of redaction hold", "sync with the rules")
	}
	return doc.Version, nil
}

// SetRedaction stores the version of rules, durably, for all programs that open the
// directory.
func (s *States) SetRedaction(version string) error {
	text, err := json.Marshal(redactionDoc{stateVersion, version})
	if err != nil {
		return err
	}
	return s.Write(RedactionFile, text)
}

// RulesName returns the name of rules without their version: "secrets" for "secrets/3"
// and "secrets/4+1f". Rules of one name follow each other.
func RulesName(version string) string {
	name, _, _ := strings.Cut(version, "/")
	return strings.TrimRight(name, "0123456789")
}

// BuiltIn reports whether rules of the version own, in which only the number grows, can
// replace rules of the version asked.
func BuiltIn(own, asked string) bool {
	_, rest := numbered(asked)
	return strings.Contains(asked, "/") && rest == "" && Follows(own, asked)
}

// Follows reports whether rules of the version own may replace rules of the version was.
// They have the same name, no lower number, and patterns of the user where the former
// rules had some, which is the part behind the number. Whether other patterns find more
// or less is unknown: their author decides.
func Follows(own, was string) bool {
	if RulesName(own) != RulesName(was) {
		return false
	}
	number, rest := numbered(own)
	before, patterns := numbered(was)
	return compareNumbers(number, before) >= 0 && (patterns == "" || rest != "")
}

// numbered returns the digits of a version, without leading zeros, and the rest behind
// them: "4" and "+1f" of "secrets/4+1f".
func numbered(version string) (number, rest string) {
	text := strings.TrimPrefix(version[len(RulesName(version)):], "/")
	rest = strings.TrimLeft(text, "0123456789")
	return strings.TrimLeft(text[:len(text)-len(rest)], "0"), rest
}

func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
