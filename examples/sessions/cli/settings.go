package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
)

// setting is a remote in the settings, ~/.amplifier/remotes.json. It holds no secret.
type setting struct {
	Name     string            `json:"name"`
	URL      place             `json:"url"`
	User     string            `json:"user,omitempty"`
	Redact   bool              `json:"redact,omitempty"`
	Projects map[string]string `json:"projects,omitempty"` // their names in the remote, by the names of their directories
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
	if err == nil && json.Unmarshal(text, &all) != nil {
		err = fmt.Errorf("%s is damaged: mend or remove it", path)
	}
	return all, path, err
}

// saveSettings replaces the settings, for this user alone.
func saveSettings(path string, all []setting) (err error) {
	text, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".remotes-*") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after an error
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// errNoCloud is returned when no remote is configured.
var errNoCloud = errors.New(`no remote is configured: "sessions remote add NAME URL" adds one, and its --help shows the URLs. All other commands work without one`)

// named returns the remote that --remote names: by its name, by its URL, or the only one.
func (a *app) named(name string) (setting, error) {
	all, path, err := a.settings()
	if err != nil {
		return setting{}, err
	}
	is := func(s setting) bool { return name == s.Name || place(name) == s.URL }
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	switch i := slices.IndexFunc(all, is); {
	case i >= 0:
		return all[i], nil
	case strings.Contains(name, ":"):
		return setting{URL: place(name)}, place(name).check()
	case name != "":
		return setting{}, fmt.Errorf("no remote is named %s in %s; there are: %s", screen.Plain(name), path, strings.Join(names, ", "))
	case len(all) == 1:
		return all[0], nil
	case len(all) > 1:
		return setting{}, usageError{"--remote=NAME, or SESSIONS_REMOTE, says which remote is meant: " + strings.Join(names, ", ")}
	}
	return setting{}, former()
}

// former returns errNoCloud, or the command that adds the account which COSMOS_ENDPOINT or
// the section cosmos of ~/.amplifier/settings.yaml names, as of version 0.1.
func former() error {
	c, ok := cosmos.ConfigFromEnv()
	if !ok {
		c, ok, _ = cosmos.ConfigFromSettings("")
	}
	if !ok {
		return errNoCloud
	}
	url := place("cosmos://ACCOUNT/" + c.Database + "/" + c.Container)
	if found := regexp.MustCompile(`^https://([a-z0-9-]+)\.documents\.azure\.com(:443)?/?$`).FindStringSubmatch(c.Endpoint); found != nil {
		url = place(strings.Replace(string(url), "ACCOUNT", found[1], 1))
	} else if at := url + place("?endpoint="+c.Endpoint); at.check() == nil {
		url = at
	}
	return fmt.Errorf(`COSMOS_ENDPOINT, COSMOS_DATABASE, COSMOS_CONTAINER, COSMOS_USER, COSMOS_PROJECT, COSMOS_REDACT and ~/.amplifier/settings.yaml name no remote any more: run "sessions remote add cloud %s", with --user, --as and --redact where you had them. A key stays in COSMOS_KEY`, url)
}
