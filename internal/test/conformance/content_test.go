package conformance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// content is the content of a file in the vectors.
type content struct {
	Text *string
	B64  []byte
}

func (c content) String() string {
	if c.Text != nil {
		return *c.Text
	}
	return string(c.B64)
}

// files are the files below a directory. Nil: there is no directory.
type files map[string]string

func (f *files) UnmarshalJSON(b []byte) error {
	var m map[string]content
	if err := json.Unmarshal(b, &m); err != nil || m == nil {
		return err
	}
	*f = files{}
	for name, c := range m {
		(*f)[name] = c.String()
	}
	return nil
}

// free returns name, numbered where that is taken.
func (f files) free(name string) string {
	free := name
	for n := 2; ; n++ {
		if _, taken := f[free]; !taken {
			return free
		}
		free = name + "-" + strconv.Itoa(n)
	}
}

// failure is an exception of the reference.
type failure struct {
	Type, Message string
	Source        string
	Diagnostics   json.RawMessage
}

// now is the time at which the stores of this test believe to be. No vector
// holds it, so that it can be told from all other times.
func now() time.Time { return time.Date(2031, 3, 4, 5, 6, 7, 890123000, time.UTC) }

const (
	nowText = "2031-03-04T05:06:07.890123+00:00"
	anyTime = "<NOW>"
	anyUTC  = ".damaged-<UTC>"
)

// place is a sessions directory on its own, and the workspace of its store.
type place struct{ dir, workspace string }

func newPlace(t *testing.T) place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := place{dir: filepath.Join(top, "sessions"), workspace: filepath.Join(top, "work")}
	require.NoError(t, os.Mkdir(p.dir, 0o700))
	require.NoError(t, os.Mkdir(p.workspace, 0o700))
	return p
}

func (p place) open(t *testing.T) *sessionstore.Store {
	t.Helper()
	st, err := sessionstore.Open(p.dir, &sessionstore.Options{Now: now, Workspace: p.workspace})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// put makes the directory of session id with f in it. A vector does not say
// in which order its files were written. So put writes the backups first and
// then all others, as a save of the reference does. Files of one kind are
// written in the order of their names.
func (p place) put(t *testing.T, id string, f files) {
	t.Helper()
	dir := filepath.Join(p.dir, id)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, name := range writingOrder(f) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(f[name]), 0o600))
	}
}

func writingOrder(f files) []string {
	isBackup := func(name string) bool { return strings.HasSuffix(name, ".backup") }
	return slices.SortedFunc(maps.Keys(f), func(a, b string) int {
		switch {
		case isBackup(a) == isBackup(b):
			return strings.Compare(a, b)
		case isBackup(a):
			return -1
		}
		return 1
	})
}

var damagedAt = regexp.MustCompile(`\.damaged-\d{8}T\d{6}Z(-\d+)?`)

// get returns what is in the directory of session id, times replaced. Our
// temporary files must be gone.
func (p place) get(t *testing.T, id string) files {
	t.Helper()
	dir := filepath.Join(p.dir, id)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	found := files{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		found[found.free(damagedAt.ReplaceAllString(name, anyUTC))] = strings.ReplaceAll(string(data), nowText, anyTime)
		return err
	}))
	return found
}

// ascii writes a value as the vectors do.
func ascii(t *testing.T, raw []byte) string {
	t.Helper()
	out, err := pyjson.Append(nil, raw, pyjson.Style{ASCII: true})
	require.NoError(t, err)
	return strings.ReplaceAll(string(out), nowText, anyTime)
}

func metadataText(t *testing.T, md sessionstore.Metadata) string {
	t.Helper()
	return ascii(t, md.AppendTo(nil))
}

func messagesText(t *testing.T, list []sessionstore.Message) string {
	t.Helper()
	raw := make([]string, 0, len(list))
	for _, m := range list {
		raw = append(raw, string(pyjson.TrimSpace(m.AppendTo(nil))))
	}
	return ascii(t, []byte("["+strings.Join(raw, ",")+"]"))
}

// elements returns what Python would find on iterating over a value. What it
// cannot iterate over stands for itself.
func elements(raw string) (list []json.RawMessage) {
	value := pyjson.Trim([]byte(raw))
	switch pyjson.KindOf(value) {
	case pyjson.Array:
		for e := range pyjson.Elements(value) {
			list = append(list, slices.Clone(e))
		}
	case pyjson.Object:
		for m := range pyjson.Members(value) {
			list = append(list, slices.Clone(m.Key))
		}
	case pyjson.String:
		for _, r := range pyjson.Text(value) {
			list = append(list, pyjson.Quote(string(r)))
		}
	default:
		list = append(list, value)
	}
	return list
}

// newMessages makes messages of a JSON list as a program does.
func newMessages(raw string) ([]sessionstore.Message, error) {
	var list []sessionstore.Message
	for _, e := range elements(raw) {
		m, err := sessionstore.NewMessage(e)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// The files of a session that the model knows.
const (
	transcriptFile   = sessiondir.Transcript
	metadataFile     = sessiondir.Metadata
	transcriptBackup = sessiondir.Transcript + ".backup"
	metadataBackup   = sessiondir.Metadata + ".backup"
)
