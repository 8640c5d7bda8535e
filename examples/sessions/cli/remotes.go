package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type remotesCommand struct{}

// Help is shown below the usage.
func (remotesCommand) Help() string {
	return `Lists the remotes of the settings, ~/.amplifier/remotes.json (AMPLIFIER_HOME). "sessions remote check" shows what one lets this device do, "sessions remote show" the sessions that it has.`
}

// Run lists.
func (*remotesCommand) Run(a *app) error {
	all, _, err := a.settings()
	if err != nil {
		return err
	}
	rows := [][]string{}
	for _, s := range all {
		rows = append(rows, []string{s.Name, string(s.URL), s.User})
	}
	return a.list(filled(all), errNoRemote.Error(), []screen.Column{{Title: "Remote", Tint: screen.In(screen.Green)}, {Title: "URL", Min: 20}, {Title: "User", Drop: 1}}, rows)
}

// lastSynced returns a sentence about the last sync of a sessions directory that succeeded,
// the oldest of several; "" if no remote is configured, or, but for always, if that is not
// more than a day ago.
func (a *app) lastSynced(always bool, dirs ...string) string {
	oldest := a.now()
	for _, dir := range dirs {
		if at, _ := hybrid.LastSync(dir); at.Before(oldest) {
			oldest = at
		}
	}
	_, err := a.named(a.env("SESSIONS_REMOTE"))
	switch {
	case len(dirs) == 0, errors.Is(err, errNoRemote), !always && a.now().Sub(oldest) < 24*time.Hour:
		return ""
	case !oldest.IsZero():
		return fmt.Sprintf("Last synced %s, %s", screen.Ago(a.now(), oldest), a.when(oldest))
	case always:
		return "Never synced"
	}
	return ""
}

// noteSynced notes what lastSynced returned, if anything.
func (a *app) noteSynced(text string) {
	if text != "" {
		a.Notef("%s.", text)
	}
}

type addCommand struct {
	Name string `arg:"" help:"Name of the remote on this device: letters, digits, - and _."`
	URL  string `arg:"" help:"cosmos://…, s3://…, postgres://… or dir:/…"`
	recorded
	Provision bool `help:"Make the directory, or the table of PostgreSQL, where it is missing. A bucket must exist; \"go run . -provision\" in examples/cloudsync makes a container."`
}

// Help is shown below the usage.
func (addCommand) Help() string {
	return `Adds a remote to the settings, ~/.amplifier/remotes.json (AMPLIFIER_HOME), after a check, and prints the command that joins another device. A name that is there gets the new settings.

    sessions remote add work "cosmos://ACCOUNT/DATABASE/CONTAINER"
    sessions remote add work "s3://BUCKET/PREFIX?region=eu-west-1"
    sessions remote add work "s3://BUCKET?endpoint=https://HOST&region=auto"
    sessions remote add work "postgres://USER@HOST/DATABASE"
    sessions remote add work "dir:/mnt/share/sessions" --provision

No URL holds a password or key, and neither do the settings. Those of Cosmos DB belong into COSMOS_KEY, unless you signed in with "az login"; those of S3 are where the AWS tools have them; those of PostgreSQL belong into PGPASSWORD or ~/.pgpass.

With one remote, all commands are about that one. With several, --remote=NAME says which, or SESSIONS_REMOTE.`
}

var remoteName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Run adds.
func (c *addCommand) Run(a *app) error {
	if !remoteName.MatchString(c.Name) {
		return usageError{"the name of a remote has letters, digits, - and _ alone"}
	}
	if _, _, err := a.settings(); err != nil {
		return err
	}
	set := setting{Name: c.Name, URL: place(c.URL), User: c.User, Redact: c.Redact}
	if set.URL.scheme() == "dir" {
		at, err := filepath.Abs(c.URL[len("dir:"):])
		if err != nil {
			return err
		}
		set.URL = place("dir:" + at)
	}
	if c.Provision {
		if err := set.URL.provision(a.ctx); err != nil {
			return err
		}
	}
	dirs, err := remoteFlags{}.dirs(a, true)
	if err == nil {
		err = a.probe(&set)
	}
	if err != nil {
		return err
	}
	path, err := a.change(func(all []setting) ([]setting, error) {
		i := slices.IndexFunc(all, func(s setting) bool { return s.Name == c.Name })
		if i < 0 {
			i, all = len(all), append(all, set)
		}
		if set.Projects = all[i].Projects; c.As != "" {
			if set.Projects == nil {
				set.Projects = map[string]string{}
			}
			set.Projects[filepath.Base(filepath.Dir(dirs[0]))] = c.As
		}
		all[i] = set
		return all, nil
	})
	if err != nil || a.json {
		return err
	}
	join := "sessions remote add " + c.Name
	for _, part := range [][2]string{{"", string(set.URL)}, {"--as ", c.As}, {"--user ", c.User}} {
		if part[1] != "" {
			join += " " + part[0] + "'" + strings.ReplaceAll(part[1], "'", `'\''`) + "'"
		}
	}
	if c.Redact {
		join += " --redact"
	}
	a.Printf("%s Added to %s. On another device:\n\n    %s\n\n", a.mark(nil), path, join)
	return nil
}

type forgetCommand struct {
	Name string `arg:"" help:"Name of the remote."`
}

// Help is shown below the usage.
func (forgetCommand) Help() string {
	return `Takes a remote out of the settings of this device. The remote keeps all that it has; "sessions remote purge" removes sessions there.`
}

// Run removes.
func (c *forgetCommand) Run(a *app) error {
	path, err := a.change(func(all []setting) ([]setting, error) {
		i := slices.IndexFunc(all, func(s setting) bool { return s.Name == c.Name })
		if i < 0 {
			return nil, fmt.Errorf("no remote is named %s", screen.Plain(c.Name))
		}
		return slices.Delete(all, i, i+1), nil
	})
	if err != nil {
		return err
	}
	return a.answer(map[string]string{"removed": c.Name}, func() {
		a.Printf("%s Removed from %s; what it has stays there\n", a.mark(nil), path)
	})
}

type copyCommand struct {
	From string `arg:"" help:"Remote to copy: a name or URL."`
	To   string `arg:"" help:"Remote to copy to: a name or URL. It must be there, as after \"remote add --provision\"."`
	local
	recorded
}

// Help is shown below the usage.
func (copyCommand) Help() string {
	return `Copies everything that a remote has of the projects that are here, or of the one that --project names, to another remote: sessions with their histories, the logs of all devices, and the marks of removed ones. Every hash is checked in the other remote. A copy that was broken off goes on when it is run again, and copies what is new.

A project must be empty in the other remote, or have what the same copy brought there: other sessions are named, and not touched, and the exit code is 1. Sessions that the rules of this device keep on it are named, too, and left out: "sessions remote keep-local --release" lets one leave. A remote does not list its projects: name those that are not here by --as.

End the programs that sync with either remote first. Then let the devices use the other remote: "sessions remote remove OLD" on each, and the command that "remote add" printed.`
}

// Run copies.
func (c *copyCommand) Run(a *app) error {
	from, err := a.named(c.From)
	if err != nil {
		return err
	}
	to, err := a.named(c.To)
	if err != nil {
		return err
	}
	source, err := from.URL.open(a, true)
	if err != nil {
		return err
	}
	target, err := to.URL.open(a, true)
	if err != nil {
		return err
	}
	a.place = from.URL + " or " + to.URL
	dirs, err := remoteFlags{local: c.local, AllProjects: c.Project == "" && c.As == ""}.dirs(a, true)
	if err != nil {
		return err
	}
	bar := a.Progress("copying", 0)
	defer bar.Done()
	sum := hybrid.CopyResult{Skipped: []string{}}
	var failed error
	var skipped []string // the reasons for sum.Skipped
	for _, dir := range dirs {
		project := filepath.Base(filepath.Dir(dir))
		o, there := c.options(from, project), c.options(to, project)
		if to.Name != "" && (o.User != there.User || o.Project != there.Project || (o.Redact == nil) != (there.Redact == nil)) {
			return fmt.Errorf("%s has another --user, --as or --redact than %s: devices would not find what is copied, or send it anew; add it with the same", to.Name, c.From)
		}
		o.Remote = source
		stays, err := a.stays(dir, o)
		if err != nil {
			return err
		}
		skip := func(id string) bool {
			why := stays(id)
			if why != "" {
				skipped = append(skipped, why)
			}
			return why != ""
		}
		res, err := hybrid.Copy(a.ctx, source, target, o.User, o.Project, &hybrid.CopyOptions{Skip: skip, Done: func() { bar.Step(1) }})
		failed = errors.Join(failed, err)
		sum.Skipped = append(sum.Skipped, res.Skipped...)
		sum.Sessions += res.Sessions
		sum.Copied += res.Copied
		sum.Objects += res.Objects
		sum.Bytes += res.Bytes
	}
	bar.Done()
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if a.json {
		err := a.writeJSON(struct {
			hybrid.CopyResult
			Error string `json:"error"`
		}{sum, textOf(failed)})
		return errors.Join(err, a.half(failed))
	}
	for i, id := range sum.Skipped {
		a.Notef("Not copied, since %s: %s", skipped[i], screen.Plain(id))
	}
	a.Printf("%s %s looked at, %s copied: %s in %s\n", a.mark(failed), count(sum.Sessions, "session"), number(sum.Copied), size(sum.Bytes), count(sum.Objects, "object"))
	return a.half(failed)
}

// stays returns a function that returns the reason why a session must not get into another remote:
// the rules that a sessions directory remembers keep it on this machine, or may do so; "" where
// nothing does. Below a parent that is not here the parents count that the remote names.
func (a *app) stays(dir string, o *hybrid.Options) (func(id string) string, error) {
	if !isDir(dir) {
		return func(string) string { return "" }, nil
	}
	st, err := hybrid.Open(a.ctx, dir, o)
	if err != nil {
		return nil, err
	}
	a.later(st.Close)
	parents := map[string]string{}
	listed, err := st.Remote(a.ctx)
	for _, s := range listed {
		parents[s.SessionID] = s.Parent
	}
	return func(id string) string {
		below := false // the session is here, and its status says what holds of the next parent
		for range len(parents) + 1 {
			found, err := st.Status(a.ctx, id)
			switch {
			case errors.Is(err, sessionstore.ErrNotFound):
				below = false
			case err != nil:
				return textOf(err)
			case below:
			case staysFor(&found[0]) != "":
				return staysFor(&found[0])
			default:
				below = true
			}
			if id = parents[id]; id == "" {
				return ""
			}
		}
		return "it is among its own parents"
	}, err
}

// staysFor returns the reason why a session stays on this machine; "" where it may leave.
func staysFor(s *hybrid.Status) string {
	switch {
	case s.State == hybrid.Local, s.State == hybrid.KeptLate, errors.Is(s.Err, hybrid.ErrHeld):
		return "a rule keeps it on this machine"
	case s.State == hybrid.Blocked && errors.Is(s.Err, hybrid.ErrRedaction):
		return textOf(s.Err)
	}
	return ""
}
