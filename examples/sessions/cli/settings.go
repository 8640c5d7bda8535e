package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// setting is a remote in the settings, ~/.amplifier/remotes.json. It holds no secret.
type setting struct {
	Name     string            `json:"name"`
	URL      place             `json:"url"`
	Identity string            `json:"identity,omitempty"` // of the remote, when it was added
	User     string            `json:"user,omitempty"`
	Redact   bool              `json:"redact,omitempty"`
	Projects map[string]string `json:"projects,omitempty"` // their names in the remote, by the names of their directories
}

// settingsVersion is the version of the form of the settings.
const settingsVersion = 1

type settingsFile struct {
	Version int       `json:"version"`
	Remotes []setting `json:"remotes"`
}

// settings reads the remotes that were added.
func (a *app) settings() (all []setting, path string, err error) {
	p, err := a.projects(where{})
	if err != nil {
		return nil, "", err
	}
	path = filepath.Join(filepath.Dir(p.Dir()), "remotes.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, nil
	}
	var file settingsFile
	var form struct{ Version int }
	_ = json.Unmarshal(text, &form) // of a newer version, the rest may have another form
	switch {
	case err != nil:
	case form.Version > settingsVersion:
		err = fmt.Errorf("%s is of a newer version of this tool: update the tool", path)
	case json.Unmarshal(text, &file) != nil && json.Unmarshal(text, &file.Remotes) != nil: // the remotes alone have no version
		err = fmt.Errorf("%s is damaged: mend or remove it", path)
	}
	return file.Remotes, path, err
}

// change replaces the settings by what do makes of them, and returns their path. The file
// that will replace them excludes other programs until then. After a crash the settings are
// the former ones, or the new ones.
func (a *app) change(do func(all []setting) ([]setting, error)) (path string, err error) {
	_, path, err = a.settings()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return path, err
	}
	at := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		at = real
	}
	next := at + ".new"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	for end := time.Now().Add(5 * time.Second); errors.Is(err, fs.ErrExist) && a.ctx.Err() == nil && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
		f, err = os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("another program changes the settings, or was killed then: remove %s if none does", next)
	}
	if err != nil {
		return path, err
	}
	all, _, err := a.settings()
	if err == nil {
		all, err = do(all)
	}
	if err == nil {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		err = errors.Join(e.Encode(settingsFile{settingsVersion, all}), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(next, at)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(next))
	}
	return path, err
}

// errNoRemote is returned when no remote is configured.
var errNoRemote = errors.New(`no remote is configured: "sessions remote add NAME URL" adds one, and its --help shows the URLs. All other commands work without one`)

// named returns the remote that --remote names: by its name, by its URL, or the only one.
func (a *app) named(name string) (setting, error) {
	all, path, err := a.settings()
	if err != nil {
		return setting{}, err
	}
	var names []string
	for _, s := range all {
		if name == s.Name || place(name) == s.URL {
			return s, nil
		}
		names = append(names, s.Name)
	}
	switch {
	case strings.Contains(name, ":"):
		return setting{URL: place(name)}, nil
	case name != "":
		return setting{}, fmt.Errorf("no remote is named %s in %s; there are: %s", screen.Plain(name), path, strings.Join(names, ", "))
	case len(all) == 1:
		return all[0], nil
	case len(all) > 1:
		return setting{}, usageError{"--remote=NAME, or SESSIONS_REMOTE, says which remote is meant: " + strings.Join(names, ", ")}
	}
	return setting{}, errNoRemote
}
